//! The Servers pane: two lines a server.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::listing::no_server;
use super::paint;
use crate::domain::{ServerSnapshot, Status, text};
use crate::tui::format;
use crate::tui::layout::{Pane, inside};
use crate::tui::servers::{LINES_EACH, Sort};
use crate::tui::view_model::ViewModel;

/// Draws the pane.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let Some(areas) = view.areas else {
        return;
    };
    let (theme, servers) = (view.theme, &view.model.servers);
    let title_style = if view.has_focus(Pane::Servers) {
        theme.accent
    } else {
        theme.dim
    };
    let mut title = vec![Span::styled(" Servers ", title_style)];
    if servers.sort() != Sort::Config {
        let words = format!("by {} ", servers.sort().words());
        title.push(Span::styled(words, theme.dim));
    }
    let below = paint::place(
        servers.needle(),
        servers.len(),
        view.state.servers.len(),
        servers.cursor(),
        servers.height(),
    );
    paint::frame(buffer, areas.servers, view, Pane::Servers, title, below);
    let inner = inside(areas.servers);
    if servers.is_empty() {
        let why = if areas.main.is_empty() || !view.state.servers.is_empty() {
            no_server(view)
        } else {
            "No servers.".to_owned()
        };
        paint::explain(buffer, inner, &why, theme.dim);
        return;
    }
    for index in 0..servers.height() {
        let place = servers.offset() + index;
        let Some(server) = servers.at(place, view.state) else {
            break;
        };
        let top = paint::line(inner, index * LINES_EACH);
        let bottom = paint::line(inner, index * LINES_EACH + 1);
        let selected = place == servers.cursor();
        if selected {
            let area = Rect {
                height: top.height + bottom.height,
                ..top
            };
            buffer.set_style(area, selected_style(view));
            for line in [top, bottom] {
                paint::put(buffer, line, "▌", view.bar(Pane::Servers));
            }
        }
        first_line(buffer, view, server, paint::skip(top, 1), selected);
        second_line(buffer, view, server, paint::skip(bottom, 3), selected);
    }
}

const fn selected_style(view: &ViewModel<'_>) -> Style {
    match view.model.focus {
        Pane::Servers => view.theme.selected,
        Pane::List | Pane::Details => view.theme.selected_dim,
    }
}

/// Glyph, name, status, and a mark while refreshing.
fn first_line(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    server: &ServerSnapshot,
    area: Rect,
    selected: bool,
) {
    let theme = view.theme;
    let (glyph, style) = theme.glyph(&server.status);
    let word = server.status.word();
    let word_columns = u16::try_from(text::width(word)).unwrap_or(0);
    let rest = paint::row(buffer, area, [(glyph, style), (" ", Style::new())]);
    // A gap on both sides of the word, and a column for the mark.
    let name = Rect {
        width: rest.width.saturating_sub(word_columns + 3),
        ..rest
    };
    let is_off = server.status == Status::Disabled;
    let name_style = if is_off && !selected {
        theme.dim
    } else {
        Style::new()
    };
    paint::put(buffer, name, server.name.as_str(), name_style);
    let behind = paint::skip(rest, name.width + 1);
    let behind = paint::skip(behind, paint::put(buffer, behind, word, style));
    if !server.refreshing.is_empty() {
        paint::put(buffer, paint::skip(behind, 1), "↻", theme.warn);
    }
}

/// Counts, or why there are none.
fn second_line(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    server: &ServerSnapshot,
    area: Rect,
    selected: bool,
) {
    let theme = view.theme;
    let dim = if selected { Style::new() } else { theme.dim };
    match &server.status {
        Status::Connected(_) => {
            let rest = paint::row(buffer, area, [(format::counts(server).as_str(), dim)]);
            let errors = server.errors.len();
            if errors > 0 {
                let text = format!("  {}", format::plural(errors, "error"));
                paint::put(buffer, rest, &text, theme.bad);
            }
        }
        Status::Reconnecting {
            attempt,
            limit,
            due,
            cause,
        } => {
            let text = format::attempt(*attempt, *limit, *due, &view.clock);
            let rest = paint::row(buffer, area, [(text.as_str(), theme.warn)]);
            let cause = format!("  {}", format::reason(cause));
            paint::put(buffer, rest, &cause, dim);
        }
        Status::Failed(failure) | Status::NeedsAuth(failure) => {
            let style = if selected { dim } else { theme.bad };
            paint::put(buffer, area, &format::reason(failure), style);
        }
        Status::Connecting | Status::Disabled | Status::Untrusted => {
            paint::put(buffer, area, &server.target, dim);
        }
    }
}
