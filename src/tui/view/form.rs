//! The form: a box over the panes, a line for each field, and the URI that comes of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};

use super::{document, field, paint};
use crate::domain::text;
use crate::tui::document::line::Line as Written;
use crate::tui::form::places::{LABEL, Places, Popup};
use crate::tui::form::sheet::{Input, Row, Sheet, Tone, Word};
use crate::tui::form::suggestions::Suggestions;
use crate::tui::format;
use crate::tui::view_model::ViewModel;
use crate::tui::wrap::wrap;

/// Draws the form, and says where the cursor belongs.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, sheet: &Sheet<'_>) -> Option<(u16, u16)> {
    let places = Places::of(sheet, view.areas?.window);
    let theme = view.theme;
    Clear.render(places.frame, buffer);
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.focus)
        .title_top(title(view, sheet, places.frame.width))
        .render(places.frame, buffer);
    lines(buffer, places.about, &sheet.about, theme.dim);
    let mut cursor = None;
    for (index, row) in sheet.rows.iter().enumerate() {
        let at = row_line(buffer, view, &places, (index, row), sheet.focus == index);
        cursor = cursor.or(at);
    }
    hint(buffer, view, sheet, &places);
    if let Some(line) = sheet.preview {
        preview(buffer, view, places.preview, line);
    }
    if let (Some(popup), Some(suggestions)) = (places.popup, sheet.suggestions) {
        suggested(buffer, view, suggestions, popup);
    }
    cursor
}

/// ` everything  Dynamic text `.
fn title(view: &ViewModel<'_>, sheet: &Sheet<'_>, columns: u16) -> Line<'static> {
    let room = usize::from(columns.saturating_sub(6));
    let owner = format::safe(sheet.owner);
    let owner = text::fit(&owner, room / 3).into_owned();
    let left = room.saturating_sub(text::width(&owner) + 2);
    let title = format::safe(sheet.title);
    let title = text::fit(&title, left).into_owned();
    let bold = view.theme.accent.add_modifier(Modifier::BOLD);
    let gap = if owner.is_empty() { "" } else { "  " };
    Line::from(vec![
        Span::raw(" "),
        Span::styled(owner, view.theme.dim),
        Span::raw(gap),
        Span::styled(title, bold),
        Span::raw(" "),
    ])
}

/// Wraps the text into the area.
fn lines(buffer: &mut Buffer, area: Rect, value: &str, style: Style) {
    let wrapped = wrap(value, usize::from(area.width), usize::from(area.height));
    for (index, text) in wrapped.iter().enumerate() {
        paint::put(buffer, paint::line(area, index), text, style);
    }
}

fn row_line(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    places: &Places,
    (index, row): (usize, &Row<'_>),
    has_focus: bool,
) -> Option<(u16, u16)> {
    let places = places.blank(index)?;
    let theme = view.theme;
    let label = if has_focus {
        paint::put(buffer, places.line, "▌", theme.accent);
        theme.accent.add_modifier(Modifier::BOLD)
    } else {
        theme.text
    };
    paint::put(buffer, places.label, row.label, label);
    // Where no word stands behind it, it has the whole line.
    let input = match row.word {
        Word::None => Rect {
            width: places.line.right().saturating_sub(places.input.x),
            ..places.input
        },
        _ => places.input,
    };
    let (word, style) = match row.word {
        Word::None => ("", theme.dim),
        Word::Required if row.is_missing() => ("required", theme.warn),
        Word::Required => ("required", theme.dim),
        Word::Optional => ("optional", theme.dim),
        Word::Proposed => ("proposed", theme.dim),
        Word::Wrong(word) => (word, theme.warn),
    };
    paint::put(buffer, places.word, word, style);
    let shade = theme.selected_dim;
    match &row.input {
        Input::Text(field) => {
            buffer.set_style(input, shade);
            if field.text().is_empty() {
                let style = match row.word {
                    Word::Proposed => shade,
                    _ => shade.patch(theme.dim),
                };
                paint::put(buffer, input, &row.about, style);
            }
            let cursor = field::draw(buffer, input, field, shade);
            has_focus.then_some(cursor)
        }
        Input::Masked(text) => {
            buffer.set_style(input, shade);
            paint::put(buffer, input, text, shade);
            None
        }
        Input::Choice(words, chosen) => {
            choice(buffer, view, input, words, *chosen);
            None
        }
        Input::Deed(deed) => {
            let style = if has_focus {
                theme.selected
            } else {
                theme.text
            };
            let deed = format!("[ {deed} ]");
            let rest = paint::row(buffer, input, [(deed.as_str(), style)]);
            paint::put(buffer, paint::skip(rest, 2), &row.about, theme.dim);
            None
        }
    }
}

/// The words side by side; the chosen one is marked.
fn choice(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, words: &[&str], chosen: usize) {
    let theme = view.theme;
    let mut rest = area;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            rest = paint::skip(rest, 2);
        }
        let (mark, style) = if index == chosen {
            ("● ", theme.accent.add_modifier(Modifier::BOLD))
        } else {
            ("○ ", theme.dim)
        };
        rest = paint::row(buffer, rest, [(mark, style), (word, style)]);
    }
}

/// What there is to say.
fn hint(buffer: &mut Buffer, view: &ViewModel<'_>, sheet: &Sheet<'_>, places: &Places) {
    let theme = view.theme;
    let columns = places.blank(sheet.focus).map_or(0, |at| at.input.width);
    let (value, tone) = sheet.hint(columns);
    let style = match tone {
        Tone::Quiet => theme.dim,
        Tone::Warn | Tone::Fault => theme.warn,
        Tone::Busy => theme.text,
        Tone::Failed => theme.bad,
    };
    if tone == Tone::Failed {
        both_ends(buffer, places.hint, value, style);
    } else {
        lines(buffer, places.hint, value, style);
    }
}

/// Wraps the text into the area; of a long one the middle is left out: what went wrong stands at
/// its beginning, and often why at its end.
fn both_ends(buffer: &mut Buffer, area: Rect, value: &str, style: Style) {
    /// So many rows of a text are looked at.
    const MOST: usize = 200;
    let rows = usize::from(area.height);
    let mut wrapped = wrap(value, usize::from(area.width), MOST);
    if wrapped.len() > rows && rows > 2 {
        let first = (rows - 1) / 2;
        let last = rows - 1 - first;
        let gap = first..wrapped.len() - last;
        wrapped.splice(gap, ["…".to_owned()]);
    }
    for (index, text) in wrapped.iter().enumerate() {
        paint::put(buffer, paint::line(area, index), text, style);
    }
}

/// The URI; of a long one the end, where it is being written.
fn preview(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, line: &Written<'_>) {
    let theme = view.theme;
    paint::put(buffer, paint::line(area, 0), "URI", theme.dim);
    let area = paint::skip(area, LABEL);
    let rows = line.rows(usize::from(area.width));
    let hidden = rows.len().saturating_sub(usize::from(area.height));
    for (index, range) in rows.into_iter().skip(hidden).enumerate() {
        document::row(buffer, paint::line(area, index), theme, line, range, "");
    }
    if hidden > 0 {
        paint::put(buffer, paint::line(area, 0), "…", theme.dim);
    }
}

/// What the server suggests.
fn suggested(buffer: &mut Buffer, view: &ViewModel<'_>, suggestions: &Suggestions, popup: Popup) {
    let theme = view.theme;
    Clear.render(popup.area, buffer);
    let plain = if popup.is_framed() {
        let count = format!(" {} ", suggestions.count());
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.border)
            .title_bottom(Line::styled(count, theme.dim).right_aligned())
            .render(popup.area, buffer);
        theme.text
    } else {
        theme.selected_dim
    };
    let values = suggestions.values().iter().enumerate().skip(popup.first);
    for (row, (index, value)) in values.take(usize::from(popup.rows.height)).enumerate() {
        let line = paint::line(popup.rows, row);
        let is_chosen = suggestions.place() == Some(index);
        let (mark, style) = if is_chosen {
            ("›", theme.selected)
        } else {
            (" ", plain)
        };
        buffer.set_style(line, style);
        let line = paint::row(buffer, line, [(mark, style)]);
        paint::put(buffer, line, &format::exact(value), style);
    }
}
