//! A screen of a terminal as SVG.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// The size of a cell, in pixels.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 16.5;
const PADDING: f64 = 12.0;

const FOREGROUND: &str = "#d8dee9";
const BACKGROUND: &str = "#1b1f27";

/// How long a frame of a recording is shown, in seconds.
const FRAME: usize = 3;

/// One screen.
pub fn picture(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    around(columns, rows, &cells(screen))
}

/// One screen after the other, for ever. All have the same size.
pub fn recording(screens: &[Screen]) -> String {
    let Some(first) = screens.first() else {
        return around(0, 0, "");
    };
    let (rows, columns) = first.size();
    let all = screens.len() * FRAME;
    let mut body = String::new();
    for (number, screen) in screens.iter().enumerate() {
        let values: Vec<&str> = (0..screens.len())
            .map(|frame| if frame == number { "inline" } else { "none" })
            .collect();
        let shown = if number == 0 { "inline" } else { "none" };
        let _ = writeln!(
            body,
            "<g display=\"{shown}\"><animate attributeName=\"display\" calcMode=\"discrete\" \
             values=\"{}\" dur=\"{all}s\" repeatCount=\"indefinite\"/>\n{}</g>",
            values.join(";"),
            cells(screen)
        );
    }
    around(columns, rows, &body)
}

/// The window around what is on it.
fn around(columns: u16, rows: u16, body: &str) -> String {
    let width = f64::from(columns) * CELL_WIDTH + 2.0 * PADDING;
    let height = f64::from(rows) * CELL_HEIGHT + 2.0 * PADDING;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{BACKGROUND}\"/>\n{body}</svg>\n"
    )
}

/// What is on the screen: a rectangle for each run of one background, a text for each run of one style.
fn cells(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let mut svg = String::new();
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let Some(cell) = screen.cell(row, column) else {
                break;
            };
            let style = Style::of(cell);
            let start = column;
            let mut text = String::new();
            while column < columns {
                match screen.cell(row, column) {
                    Some(cell) if Style::of(cell) == style => {
                        if !cell.is_wide_continuation() {
                            text.push_str(if cell.has_contents() {
                                cell.contents()
                            } else {
                                " "
                            });
                        }
                        column += 1;
                    }
                    _ => break,
                }
            }
            let x = PADDING + f64::from(start) * CELL_WIDTH;
            let y = PADDING + f64::from(row) * CELL_HEIGHT;
            let run = f64::from(column - start) * CELL_WIDTH;
            if style.background != BACKGROUND {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{run:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{}\"/>",
                    style.background
                );
            }
            if !text.trim().is_empty() {
                let weight = if style.bold {
                    " font-weight=\"bold\""
                } else {
                    ""
                };
                let slant = if style.italic {
                    " font-style=\"italic\""
                } else {
                    ""
                };
                let fade = if style.dim { " opacity=\"0.6\"" } else { "" };
                let line = if style.underline {
                    " text-decoration=\"underline\""
                } else {
                    ""
                };
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{run:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{}\"{weight}{slant}{fade}{line}>{}</text>",
                    y + 12.8,
                    style.foreground,
                    escape(&text),
                );
            }
        }
    }
    svg
}

#[derive(PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a cell of a terminal has these attributes, and any may go with any"
)]
struct Style {
    foreground: String,
    background: String,
    bold: bool,
    italic: bool,
    dim: bool,
    underline: bool,
}

impl Style {
    fn of(cell: &Cell) -> Self {
        let mut foreground = colour(cell.fgcolor(), FOREGROUND);
        let mut background = colour(cell.bgcolor(), BACKGROUND);
        if cell.inverse() {
            std::mem::swap(&mut foreground, &mut background);
        }
        Self {
            foreground,
            background,
            bold: cell.bold(),
            italic: cell.italic(),
            dim: cell.dim(),
            underline: cell.underline(),
        }
    }
}

fn colour(colour: Color, default: &str) -> String {
    const NAMED: [&str; 16] = [
        "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
        "#7f8796", "#ff7b86", "#b5e890", "#ffd68a", "#7cc4ff", "#de8cf2", "#6fd3e0", "#ffffff",
    ];
    match colour {
        Color::Default => default.to_owned(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Idx(index @ 0..16) => NAMED[usize::from(index)].to_owned(),
        Color::Idx(index @ 16..232) => {
            let index = index - 16;
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            format!(
                "#{:02x}{:02x}{:02x}",
                level(index / 36),
                level(index / 6 % 6),
                level(index % 6)
            )
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
