//! A row of the Events tab, and the line with the newest event.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::listing::Cells;
use super::paint;
use crate::domain::{Event, EventKind};
use crate::tui::format;
use crate::tui::rows::shown_events;
use crate::tui::theme::Theme;
use crate::tui::view_model::ViewModel;

/// When, and what.
pub fn row(cells: &mut Cells<'_>, view: &ViewModel<'_>, event: &Event) {
    let dim = cells.dim;
    cells.put(&view.clock.time(event.at), dim);
    cells.put(&format::event(event), tone(event, view.theme, Style::new()));
}

/// Draws the newest event.
pub fn newest(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let newest = shown_events(&view.state.events).next_back();
    let (Some(areas), Some(event)) = (view.areas, newest) else {
        return;
    };
    let theme = view.theme;
    let time = view.clock.time(event.at);
    let text = format::event(event);
    paint::row(
        buffer,
        paint::skip(areas.event, 1),
        [
            (time.as_str(), theme.dim),
            (" ", theme.dim),
            (text.as_str(), tone(event, theme, theme.dim)),
        ],
    );
}

fn tone(event: &Event, theme: &Theme, well: Style) -> Style {
    let bad = match &event.kind {
        EventKind::Status { failure, .. } => failure.is_some(),
        EventKind::Refresh(report) => !report.is_ok(),
        EventKind::ListChanged { .. } | EventKind::Note(_) => false,
    };
    if bad { theme.bad } else { well }
}
