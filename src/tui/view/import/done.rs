//! What became of the servers that were to be copied.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::paint;
use super::row::{Widths, columns};
use super::{corner, details, lines};
use crate::tui::format;
use crate::tui::import::Parts;
use crate::tui::import::outcome::{Outcome, Told};
use crate::tui::layout::cover_area;
use crate::tui::view_model::ViewModel;

/// What became of the copies, with how the servers are by now.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, parts: Parts, outcome: &Outcome) {
    let theme = view.theme;
    let first = paint::skip(paint::line(parts.summary, 0), 1);
    let bold = theme.text.add_modifier(Modifier::BOLD);
    paint::put(buffer, first, &outcome.summary, bold);
    if !outcome.followed {
        let second = paint::skip(paint::line(parts.summary, 1), 1);
        let words = "This run keeps to the server of the command line; the next one has them.";
        paint::put(buffer, second, words, theme.warn);
    }
    let window = &outcome.window;
    let listed = (window, outcome.lines.len());
    lines(
        buffer,
        view,
        parts.list,
        listed,
        |buffer, place, area, selected| {
            if let Some(line) = outcome.lines.get(place) {
                told(buffer, view, area, outcome, (line, selected));
            }
        },
    );
    if let Some(areas) = view.areas {
        let len = outcome.lines.len();
        let words = paint::place("", len, len, window.cursor, window.height);
        corner(buffer, view, cover_area(areas.window), words);
    }
    let home = view.model.home.as_deref();
    let texts = match outcome.lines.get(window.cursor) {
        None => return,
        Some(Told::Done(name, word, file)) => {
            let mut texts = vec![(
                format!("{name} was {word} in {}", format::path(file, home)),
                theme.text,
            )];
            let server = view.state.server(name);
            if let Some(failure) = server.and_then(|server| server.status.failure()) {
                texts.push((format::failure(failure), theme.bad));
            }
            texts
        }
        Some(Told::Not(name, word, why)) => vec![(format!("{name} {word}: {why}"), theme.bad)],
        Some(Told::Remark(words)) => vec![(words.clone(), theme.text)],
    };
    details(buffer, view, parts.details, &texts);
}

fn told(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    outcome: &Outcome,
    (line, selected): (&Told, bool),
) {
    let theme = view.theme;
    let on = |style: Style| if selected { Style::new() } else { style };
    let name = Widths::of(area.width, outcome.name_columns, false).name + 2;
    match line {
        Told::Done(server, word, _) => {
            let cells = [
                (name, server.as_str(), on(theme.text)),
                (10, word, on(theme.good)),
                (u16::MAX, "", theme.dim),
            ];
            columns(buffer, area, cells);
            // How it is by now: the files are followed, and it starts by itself.
            let Some(server) = view.state.server(server) else {
                return;
            };
            let (glyph, style) = theme.glyph(&server.status);
            let counts = match server.status.session() {
                Some(_) => format::counts(server),
                None => String::new(),
            };
            let rest = paint::skip(area, name + 10);
            paint::row(
                buffer,
                rest,
                [
                    (glyph, on(style)),
                    (" ", theme.dim),
                    (server.status.word(), on(style)),
                    ("  ", theme.dim),
                    (&*counts, on(theme.dim)),
                ],
            );
        }
        Told::Not(server, word, why) => {
            let cells = [
                (name, server.as_str(), on(theme.text)),
                (10, word, on(theme.bad)),
                (u16::MAX, why.as_str(), on(theme.bad)),
            ];
            columns(buffer, area, cells);
        }
        Told::Remark(words) => {
            paint::put(buffer, paint::skip(area, 2), words, on(theme.warn));
        }
    }
}
