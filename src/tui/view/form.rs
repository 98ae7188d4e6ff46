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
use crate::tui::form::{Blank, Form};
use crate::tui::format;
use crate::tui::view_model::ViewModel;
use crate::tui::wrap::wrap;

/// Draws the form, and says where the cursor belongs.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, form: &Form) -> Option<(u16, u16)> {
    let places = Places::of(form, view.areas?.window);
    let theme = view.theme;
    Clear.render(places.frame, buffer);
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.focus)
        .title_top(title(view, form, places.frame.width))
        .render(places.frame, buffer);
    lines(buffer, places.about, &form.about, theme.dim);
    let mut cursor = None;
    for (index, blank) in form.blanks().iter().enumerate() {
        let at = blank_line(buffer, view, &places, (index, blank), form.focus() == index);
        cursor = cursor.or(at);
    }
    hint(buffer, view, form, &places);
    if let Some(line) = form.preview() {
        preview(buffer, view, places.preview, line);
    }
    if let Some(popup) = places.popup {
        suggested(buffer, view, form, popup);
    }
    cursor
}

/// ` everything  Dynamic text `.
fn title(view: &ViewModel<'_>, form: &Form, columns: u16) -> Line<'static> {
    let room = usize::from(columns.saturating_sub(6));
    let server = format::safe(form.server.as_str());
    let server = text::fit(&server, room / 3).into_owned();
    let left = room.saturating_sub(text::width(&server) + 2);
    let title = format::safe(&form.title);
    let title = text::fit(&title, left).into_owned();
    let bold = view.theme.accent.add_modifier(Modifier::BOLD);
    Line::from(vec![
        Span::raw(" "),
        Span::styled(server, view.theme.dim),
        Span::raw("  "),
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

fn blank_line(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    places: &Places,
    (index, blank): (usize, &Blank),
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
    paint::put(buffer, places.label, &blank.label, label);
    buffer.set_style(places.input, theme.selected_dim);
    let is_missing = blank.required && blank.field.text().is_empty();
    let (word, style) = match (blank.required, is_missing) {
        (true, true) => ("required", theme.warn),
        (true, false) => ("required", theme.dim),
        (false, _) => ("optional", theme.dim),
    };
    paint::put(buffer, places.word, word, style);
    if blank.field.text().is_empty() {
        let style = theme.selected_dim.patch(theme.dim);
        paint::put(buffer, places.input, &blank.about, style);
    }
    let cursor = field::draw(buffer, places.input, &blank.field, theme.selected_dim);
    has_focus.then_some(cursor)
}

/// What there is to say on the field with the focus.
fn hint(buffer: &mut Buffer, view: &ViewModel<'_>, form: &Form, places: &Places) {
    let columns = places.blank(form.focus()).map_or(0, |at| at.input.width);
    let style = match form.suggestions().problem() {
        Some(_) => view.theme.warn,
        None => view.theme.dim,
    };
    lines(buffer, places.hint, form.hint(columns), style);
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
fn suggested(buffer: &mut Buffer, view: &ViewModel<'_>, form: &Form, popup: Popup) {
    let theme = view.theme;
    let suggestions = form.suggestions();
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
        paint::put(buffer, line, value, style);
    }
}
