//! The brushes: every text on screen goes through [`put`], which cleans and cuts it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget as _};

use crate::domain::text;
use crate::tui::format::safe;
use crate::tui::layout::Pane;
use crate::tui::view_model::ViewModel;

/// Writes a text into the first line of the area, and returns the columns it took.
pub fn put(buffer: &mut Buffer, area: Rect, value: &str, style: Style) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let value = safe(value);
    let value = text::fit(&value, usize::from(area.width));
    let (end, _) = buffer.set_stringn(area.x, area.y, &value, usize::from(area.width), style);
    end - area.x
}

/// Writes texts one after the other, and returns the area that is left.
pub fn row<'a>(
    buffer: &mut Buffer,
    area: Rect,
    parts: impl IntoIterator<Item = (&'a str, Style)>,
) -> Rect {
    let mut rest = area;
    for (value, style) in parts {
        let used = put(buffer, rest, value, style);
        rest = skip(rest, used);
    }
    rest
}

/// The area without its first columns.
#[must_use]
pub fn skip(area: Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    Rect {
        x: area.x + columns,
        width: area.width - columns,
        ..area
    }
}

/// One line of the area, empty where the area ends above it.
#[must_use]
pub fn line(area: Rect, index: usize) -> Rect {
    match u16::try_from(index) {
        Ok(index) if index < area.height => Rect {
            y: area.y + index,
            height: 1,
            ..area
        },
        _ => Rect {
            height: 0,
            width: 0,
            ..area
        },
    }
}

/// Writes a text at the right end of the line, if it has room.
pub fn put_right(buffer: &mut Buffer, area: Rect, value: &str, style: Style) {
    let value = safe(value);
    let width = u16::try_from(text::width(&value)).unwrap_or(u16::MAX);
    if width <= area.width {
        put(buffer, skip(area, area.width - width), &value, style);
    }
}

/// Draws the frame of a pane, with spans above and a text below.
pub fn frame(
    buffer: &mut Buffer,
    area: Rect,
    view: &ViewModel<'_>,
    pane: Pane,
    title: Vec<Span<'_>>,
    below: Option<String>,
) {
    if area.is_empty() {
        return;
    }
    let style = if view.has_focus(pane) {
        view.theme.focus
    } else {
        view.theme.border
    };
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(style)
        .title_top(Line::from(title));
    if let Some(below) = below {
        block = block.title_bottom(Line::styled(below, view.theme.dim).right_aligned());
    }
    block.render(area, buffer);
}

/// What stands at the lower right of a list: the filter and how many rows it leaves, else the
/// place in a list that is longer than the screen.
#[must_use]
pub fn place(
    needle: &str,
    shown: usize,
    total: usize,
    cursor: usize,
    height: usize,
) -> Option<String> {
    if !needle.is_empty() {
        let needle = safe(needle);
        let needle = text::fit(&needle, 24);
        Some(format!(" /{needle} {shown} of {total} "))
    } else if shown > height && shown > 0 {
        Some(format!(" {} of {shown} ", cursor + 1))
    } else {
        None
    }
}

/// Writes wrapped text into the middle of nothing: why a list is empty.
pub fn explain(buffer: &mut Buffer, area: Rect, value: &str, style: Style) {
    let inner = skip(area, 2);
    let columns = usize::from(inner.width.saturating_sub(1)).max(1);
    let lines = crate::tui::wrap::wrap(value, columns, usize::from(area.height));
    let first = usize::from(area.height > 3);
    for (index, text) in lines.iter().enumerate() {
        put(buffer, line(inner, first + index), text, style);
    }
}
