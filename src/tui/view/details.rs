//! The details pane: labels on the left, values on the right.

use ratatui::buffer::Buffer;
use ratatui::text::Span;

use super::paint;
use crate::tui::details::LABEL_COLUMNS;
use crate::tui::layout::{Pane, inside};
use crate::tui::view_model::ViewModel;

/// Draws the pane.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let Some(areas) = view.areas else {
        return;
    };
    let (theme, details) = (view.theme, &view.model.details);
    let title_style = if view.has_focus(Pane::Details) {
        theme.accent
    } else {
        theme.dim
    };
    let (first, total) = (details.offset, details.lines.len());
    let below = (total > details.height).then(|| {
        let last = (first + details.height).min(total);
        format!(" {}-{last} of {total} ", first + 1)
    });
    let title = vec![Span::styled(" Details ", title_style)];
    paint::frame(buffer, areas.details, view, Pane::Details, title, below);
    let area = paint::skip(inside(areas.details), 1);
    for (index, line) in details
        .lines
        .iter()
        .skip(first)
        .take(details.height)
        .enumerate()
    {
        let row = paint::line(area, index);
        paint::put(buffer, row, line.label, theme.dim);
        let style = theme.tone(line.tone);
        let columns = u16::try_from(LABEL_COLUMNS).unwrap_or(0);
        paint::put(buffer, paint::skip(row, columns), &line.text, style);
    }
}
