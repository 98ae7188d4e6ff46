//! The line of tabs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::paint;
use crate::tui::tab_bar;
use crate::tui::view_model::ViewModel;

/// Draws the line.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect) {
    let theme = view.theme;
    let area = paint::skip(area, 1);
    let columns = usize::from(area.width.saturating_sub(1));
    let server = view.server.map(std::convert::AsRef::as_ref);
    for label in tab_bar::labels(server, view.model.tab, columns) {
        let open = label.tab == view.model.tab;
        let start = u16::try_from(label.columns.start).unwrap_or(u16::MAX);
        let rest = paint::skip(area, start);
        let style = if open {
            theme
                .accent
                .add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        } else if label.bad {
            theme.bad
        } else if label.old {
            theme.warn
        } else {
            theme.dim
        };
        paint::put(buffer, rest, &label.text(), style);
    }
}
