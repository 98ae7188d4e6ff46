//! Takes a picture of a terminal program: runs it in a pseudo-terminal, types, waits for a text,
//! and writes what is on the screen as an SVG.
//!
//! ```text
//! picture OUT.svg COLUMNSxROWS STEP... -- COMMAND ARGS...
//! ```
//!
//! A step is `wait:TEXT` (until the text is on the screen), `key:KEYS` (typed as they are; `\r`,
//! `\t` and `\e` stand for Enter, Tab and Escape). The last screen is the picture.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use vt100::{Cell, Color, Parser};

/// How long a step may take, and how long a screen must have been still to be taken.
const PATIENCE: Duration = Duration::from_secs(20);
const STILL: Duration = Duration::from_millis(400);

/// The size of a cell, in pixels.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 16.5;
const PADDING: f64 = 12.0;

const FOREGROUND: &str = "#d8dee9";
const BACKGROUND: &str = "#1b1f27";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let split = arguments
        .iter()
        .position(|argument| argument == "--")
        .context("usage: picture OUT.svg COLUMNSxROWS STEP... -- COMMAND ARGS...")?;
    let ([out, size, steps @ ..], [_, program, rest @ ..]) = arguments.split_at(split) else {
        bail!("usage: picture OUT.svg COLUMNSxROWS STEP... -- COMMAND ARGS...");
    };
    let (columns, rows) = size.split_once('x').context("the size is COLUMNSxROWS")?;
    let (columns, rows): (u16, u16) = (columns.parse()?, rows.parse()?);

    let pair = native_pty_system().openpty(PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    })?;
    let mut command = CommandBuilder::new(program);
    command.args(rest);
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    command.cwd(std::env::current_dir()?);
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader()?;
    let mut keys = pair.master.take_writer()?;
    let (chunks, screen) = mpsc::sync_channel::<Vec<u8>>(64);
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if chunks.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });

    let mut parser = Parser::new(rows, columns, 0);
    for step in steps {
        match step.split_once(':') {
            Some(("wait", text)) => {
                let deadline = Instant::now() + PATIENCE;
                while !parser.screen().contents().contains(text) {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let chunk = screen.recv_timeout(left).with_context(|| {
                        format!("{text:?} did not appear:\n{}", parser.screen().contents())
                    })?;
                    parser.process(&chunk);
                }
            }
            Some(("key", typed)) => {
                let typed = typed
                    .replace("\\r", "\r")
                    .replace("\\t", "\t")
                    .replace("\\e", "\u{1b}");
                keys.write_all(typed.as_bytes())?;
                keys.flush()?;
            }
            _ => bail!("{step}: a step is wait:TEXT or key:KEYS"),
        }
    }
    while let Ok(chunk) = screen.recv_timeout(STILL) {
        parser.process(&chunk);
    }
    std::fs::write(out, svg(parser.screen(), columns, rows)?)?;
    keys.write_all(b"\x03")?;
    drop(keys);
    child.wait()?;
    Ok(())
}

/// The screen as SVG: a rectangle for each run of one background, a text for each run of one style.
fn svg(screen: &vt100::Screen, columns: u16, rows: u16) -> Result<String> {
    let width = f64::from(columns) * CELL_WIDTH + 2.0 * PADDING;
    let height = f64::from(rows) * CELL_HEIGHT + 2.0 * PADDING;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
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
                writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{run:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{}\"/>",
                    style.background
                )?;
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
                writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{run:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{}\"{weight}{slant}{fade}{line}>{}</text>",
                    y + 12.8,
                    style.foreground,
                    escape(&text),
                )?;
            }
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg)
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
