//! A text field: the part of its text around the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use super::paint;
use crate::domain::text;
use crate::tui::field::Field;
use crate::tui::format::safe;

/// Draws the field, and says where its cursor is.
pub fn draw(buffer: &mut Buffer, area: Rect, field: &Field, style: Style) -> (u16, u16) {
    let (before, behind) = field.halves();
    let columns = usize::from(area.width);
    // The cursor has a column for itself, and something of what is behind it is seen too.
    let kept = beginning(behind, columns / 3) + 1;
    let mut start = end(before, columns.saturating_sub(kept));
    let mut rest = area;
    if start > 0 {
        start = end(before, columns.saturating_sub(kept + 1));
        rest = paint::row(buffer, rest, [("…", style)]);
    }
    let rest = paint::row(buffer, rest, [(&before[start..], style)]);
    paint::put(buffer, rest, behind, style);
    (rest.x.min(area.right().saturating_sub(1)), rest.y)
}

fn width(grapheme: &str) -> usize {
    text::width(&safe(grapheme))
}

/// The columns of the text's beginning, of so many at most.
fn beginning(value: &str, columns: usize) -> usize {
    let widths = value.graphemes(true).map(width);
    let sums = widths.scan(0, |sum, width| {
        *sum += width;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= columns).last().unwrap_or(0)
}

/// Where the text's end begins that fits into so many columns.
fn end(value: &str, columns: usize) -> usize {
    let mut used = 0;
    let graphemes = value.grapheme_indices(true).rev();
    let fitting = graphemes.take_while(|(_, grapheme)| {
        used += width(grapheme);
        used <= columns
    });
    fitting.last().map_or(value.len(), |(at, _)| at)
}
