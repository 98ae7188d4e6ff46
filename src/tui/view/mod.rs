//! Drawing: each pane in a file of its own, all of them pure functions of the view model.

mod details;
mod document;
mod errors;
mod events;
mod field;
mod find;
mod footer;
mod form;
mod header;
mod help;
mod import;
mod layer;
mod listing;
mod log_in;
mod paint;
mod question;
mod reader;
#[cfg(test)]
mod reader_tests;
mod servers;
mod stderr;
mod tabs;
#[cfg(test)]
mod tests;
mod trace;
mod welcome;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use super::layout::SMALLEST;
use super::theme;
use super::view_model::ViewModel;

/// Draws the frame.
pub fn render(frame: &mut Frame<'_>, view: &ViewModel<'_>) {
    let window = frame.area();
    let buffer = frame.buffer_mut();
    let mut cursor = None;
    match view.areas {
        Some(areas) if window.contains(areas.window.as_position()) && areas.window == window => {
            cursor = draw(buffer, view);
        }
        _ => too_small(buffer, window, view),
    }
    paint_ground(buffer, view.theme.text);
    if view.theme.ascii {
        only_ascii(buffer);
    }
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// Draws everything, and says where the cursor belongs.
fn draw(buffer: &mut Buffer, view: &ViewModel<'_>) -> Option<(u16, u16)> {
    header::title(buffer, view);
    if !view.model.layers.cover() {
        servers::draw(buffer, view);
        listing::draw(buffer, view);
        details::draw(buffer, view);
        footer::hint(buffer, view);
        events::newest(buffer, view);
    }
    let mut cursor = None;
    for layer in view.model.layers.seen() {
        cursor = layer::draw(buffer, view, layer);
    }
    footer::draw(buffer, view).or(cursor)
}

fn too_small(buffer: &mut Buffer, window: Rect, view: &ViewModel<'_>) {
    let (columns, rows) = SMALLEST;
    let text = format!("window too small: {columns}x{rows} needed");
    for (index, line) in
        super::wrap::wrap(&text, usize::from(window.width), usize::from(window.height))
            .iter()
            .enumerate()
    {
        let y = window.y + u16::try_from(index).unwrap_or(0);
        paint::put(
            buffer,
            Rect::new(window.x, y, window.width, 1),
            line,
            view.theme.warn,
        );
    }
}

/// Gives what has no colour of its own that of the theme, the empty parts of the window too.
fn paint_ground(buffer: &mut Buffer, text: Style) {
    if text == Style::new() {
        return;
    }
    let (fg, bg) = (text.fg.unwrap_or_default(), text.bg.unwrap_or_default());
    for cell in &mut buffer.content {
        if cell.fg == Color::Reset {
            cell.fg = fg;
        }
        if cell.bg == Color::Reset {
            cell.bg = bg;
        }
    }
}

/// Replaces what is not ASCII. A wide symbol leaves a space behind it.
fn only_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let symbol = theme::ascii(cell.symbol());
            cell.set_symbol(symbol);
        }
    }
}
