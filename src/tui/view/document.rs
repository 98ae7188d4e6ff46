//! Rows of a document, wherever they are drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::paint;
use crate::domain::text;
use crate::tui::document::line::Line;
use crate::tui::reader::search::places;
use crate::tui::theme::Theme;

/// Draws a row of the line: what stands before it, and the part of its text.
pub fn row(
    buffer: &mut Buffer,
    area: Rect,
    theme: &Theme,
    line: &Line<'_>,
    range: std::ops::Range<usize>,
    needle: &str,
) {
    let lead = if range.start == 0 {
        &line.lead
    } else {
        &line.hang
    };
    let before = exact(buffer, area, lead, theme.ink(line.lead_ink));
    let area = paint::skip(area, before);
    let mut rest = area;
    for (part, ink) in line.parts(range.clone()) {
        let used = exact(buffer, rest, part, theme.ink(ink));
        rest = paint::skip(rest, used);
    }
    if needle.is_empty() {
        return;
    }
    for place in places(&line.text, needle) {
        let (start, end) = (place.start.max(range.start), place.end.min(range.end));
        if start < end {
            let before = text::width(&line.text[range.start..start]);
            let width = text::width(&line.text[start..end]);
            let fit = |columns| u16::try_from(columns).unwrap_or(u16::MAX);
            let found = paint::skip(area, fit(before));
            let found = Rect {
                width: found.width.min(fit(width)),
                ..found
            };
            buffer.set_style(found, theme.found);
        }
    }
}

/// Writes a text of a document, which was made fit for the screen when its line was made: what
/// joins the parts of an emoji stays.
fn exact(buffer: &mut Buffer, area: Rect, value: &str, style: Style) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let columns = usize::from(area.width);
    let (end, _) = buffer.set_stringn(area.x, area.y, value, columns, style);
    end - area.x
}
