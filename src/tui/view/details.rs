//! The details pane: labels on the left, values on the right.

use ratatui::buffer::Buffer;
use ratatui::text::Span;

use super::{document, paint};
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
    let (first, total) = (details.offset, details.rows.len());
    let below = (total > details.height).then(|| {
        let last = (first + details.height).min(total);
        format!(" {}-{last} of {total} ", first + 1)
    });
    let title = vec![Span::styled(" Details ", title_style)];
    paint::frame(buffer, areas.details, view, Pane::Details, title, below);
    let area = paint::skip(inside(areas.details), 1);
    let shown = details.rows.iter().skip(first).take(details.height);
    for (index, (number, range)) in shown.enumerate() {
        let line = details.rich.line(*number);
        let row = paint::line(area, index);
        document::row(buffer, row, theme, &line, range.clone(), "");
    }
}
