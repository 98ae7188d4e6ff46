//! The help screen: the whole key map.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::paint;
use super::question::boxed;
use crate::tui::keymap::{CHOICES, CHOOSING, Scope, TABLE};
use crate::tui::layout::{help_area, inside};
use crate::tui::view_model::ViewModel;

/// The columns of the keys.
const KEYS: u16 = 16;

/// Draws the help screen from the line on.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, offset: usize) {
    let Some(areas) = view.areas else {
        return;
    };
    let theme = view.theme;
    let area = help_area(areas.window);
    boxed(buffer, area, "Keys", theme.focus);
    let inner = paint::skip(inside(area), 2);
    let mut index = 0;
    let mut next = || {
        index += 1;
        let row: usize = index - 1;
        row.checked_sub(offset)
            .map(|row| paint::line(inner, row))
            .unwrap_or_default()
    };
    let bold = theme.accent.add_modifier(Modifier::BOLD);
    let row = |buffer: &mut Buffer, line: Rect, keys: &str, help: &str| {
        let width = KEYS.min(line.width);
        paint::put(buffer, Rect { width, ..line }, keys, theme.text);
        paint::put(buffer, paint::skip(line, KEYS + 1), help, theme.dim);
    };
    for scope in Scope::ALL {
        paint::put(buffer, next(), scope.heading(), bold);
        for binding in TABLE.iter().filter(|binding| binding.scope == scope) {
            let keys = view.keymap.all_shown(binding.command);
            row(buffer, next(), &keys, binding.help);
        }
        next();
    }
    paint::put(buffer, next(), CHOOSING, bold);
    for (letter, _, help) in CHOICES {
        row(buffer, next(), letter.encode_utf8(&mut [0; 4]), help);
    }
}
