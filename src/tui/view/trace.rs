//! A row of the Trace tab.

use ratatui::style::Style;

use super::listing::Cells;
use crate::mcp::{Direction, Message, MessageKind};
use crate::tui::format;
use crate::tui::view_model::ViewModel;

/// When, which way, how long an answer took, how large it is, what it is, and its method.
pub fn row(cells: &mut Cells<'_>, view: &ViewModel<'_>, message: &Message) {
    let dim = cells.dim;
    let (way, plain) = match message.direction {
        Direction::Out => ("out", view.theme.accent),
        Direction::In => ("in", Style::new()),
    };
    let style = if message.kind == MessageKind::Error {
        view.theme.bad
    } else {
        plain
    };
    if cells.is_next("When") {
        cells.put(&view.clock.time(message.at), dim);
    }
    cells.put(way, plain);
    if cells.is_next("Latency") {
        let latency = message.latency.map(format::brief);
        cells.put_right(&latency.unwrap_or_default(), dim);
    }
    if cells.is_next("Size") {
        cells.put_right(&format::size(message.size as u64), dim);
    }
    let kind = format::message_kind(message.kind);
    let method = if message.method.is_empty() {
        "-"
    } else {
        &message.method
    };
    if cells.is_next("What") {
        cells.put(kind, if style == plain { dim } else { style });
        cells.put_uri(method, style);
    } else if message.kind == MessageKind::Error {
        cells.put_uri(&format!("error {method}"), style);
    } else {
        cells.put_uri(method, style);
    }
}
