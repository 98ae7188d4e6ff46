//! What is found in all servers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::paint;
use super::question::boxed;
use crate::domain::{ListMethod, text};
use crate::tui::find::{Find, Hit, What};
use crate::tui::format;
use crate::tui::layout::{cover_area, inside};
use crate::tui::view_model::ViewModel;

/// The widths of the columns: what it is, its name, its server, its URI.
type Widths = [u16; 4];

/// Draws the hits. The field is in the footer.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, find: &Find) {
    let Some(areas) = view.areas else {
        return;
    };
    let area = cover_area(areas.window);
    boxed(buffer, area, "Find in all servers", view.theme.focus);
    let inner = inside(area);
    let hits = &find.found.hits;
    if hits.is_empty() {
        let why = match (find.is_searching(), find.field.text().trim().is_empty()) {
            (true, _) => "Looking ...".to_owned(),
            (false, true) => "There is no server.".to_owned(),
            (false, false) => format!("Nothing has {}.", format::safe(find.field.text())),
        };
        paint::explain(buffer, inner, &why, view.theme.dim);
        return;
    }
    let widths = widths(inner.width.saturating_sub(2));
    let titles = ["", "Name", "Server", "URI"].map(|title| (title, view.theme.dim));
    cells(
        buffer,
        paint::skip(paint::line(inner, 0), 2),
        widths,
        titles,
    );
    for index in 0..find.height() {
        let place = find.offset + index;
        let Some(hit) = hits.get(place) else {
            break;
        };
        let line = paint::line(inner, index + 1);
        let selected = place == find.cursor;
        if selected {
            buffer.set_style(line, view.theme.selected);
            paint::put(buffer, line, "▌", view.theme.focus);
        }
        let dim = if selected {
            Style::new()
        } else {
            view.theme.dim
        };
        row(buffer, paint::skip(line, 2), widths, hit, dim);
    }
}

fn row(buffer: &mut Buffer, line: Rect, widths: Widths, hit: &Hit, dim: Style) {
    let plain = Style::new();
    let server = hit.server.as_str();
    match &hit.what {
        What::Server => {
            let texts = [("server", dim), (server, plain), ("", dim), ("", dim)];
            cells(buffer, line, widths, texts);
        }
        What::Item {
            method, key, label, ..
        } => {
            let uri = match method {
                ListMethod::Resources | ListMethod::ResourceTemplates => format::exact(key),
                ListMethod::Tools | ListMethod::Prompts => "".into(),
            };
            let uri = text::fit_middle(&uri, usize::from(widths[3]));
            let texts = [
                (one(*method), dim),
                (label, plain),
                (server, dim),
                (&*uri, dim),
            ];
            cells(buffer, line, widths, texts);
        }
    }
}

/// What one item of the listing is.
const fn one(method: ListMethod) -> &'static str {
    match method {
        ListMethod::Resources => "resource",
        ListMethod::ResourceTemplates => "template",
        ListMethod::Tools => "tool",
        ListMethod::Prompts => "prompt",
    }
}

/// In a narrow window the URI is left out.
fn widths(columns: u16) -> Widths {
    let kind = 8;
    let rest = columns.saturating_sub(kind + 2);
    if rest < 56 {
        let server = (rest / 3).min(20);
        return [kind, rest.saturating_sub(server + 2), server, 0];
    }
    let server = (rest / 5).min(20);
    let name = (rest - server) * 2 / 5;
    [kind, name, server, rest - name - server - 4]
}

fn cells(buffer: &mut Buffer, line: Rect, widths: Widths, texts: [(&str, Style); 4]) {
    let mut rest = line;
    for (width, (value, style)) in widths.into_iter().zip(texts) {
        let cell = Rect {
            width: width.min(rest.width),
            ..rest
        };
        paint::put(buffer, cell, value, style);
        rest = paint::skip(rest, width + 2);
    }
}
