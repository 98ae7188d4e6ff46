//! The help screen: the whole key map.

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use super::paint;
use super::question::boxed;
use crate::tui::keymap::{Scope, TABLE};
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
    for (number, scope) in Scope::ALL.into_iter().enumerate() {
        if number > 0 {
            next();
        }
        let bold = theme.accent.add_modifier(Modifier::BOLD);
        paint::put(buffer, next(), scope.heading(), bold);
        for binding in TABLE.iter().filter(|binding| binding.scope == scope) {
            let line = next();
            let keys = view.keymap.all_shown(binding.command);
            paint::put(
                buffer,
                ratatui::layout::Rect {
                    width: KEYS.min(line.width),
                    ..line
                },
                &keys,
                theme.text,
            );
            paint::put(buffer, paint::skip(line, KEYS + 1), binding.help, theme.dim);
        }
    }
}
