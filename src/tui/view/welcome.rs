//! The welcome: a box over the demo. In a low window what it says makes room for the keys.

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use super::paint;
use super::question::{boxed, middle};
use crate::domain::text;
use crate::tui::action::Command;
use crate::tui::layout::inside;
use crate::tui::view_model::ViewModel;
use crate::tui::welcome::Welcome;
use crate::tui::wrap::wrap;

/// The most columns of the box: longer lines are hard to read.
const COLUMNS: u16 = 68;

const WHAT: &str = "All your MCP servers on one screen, live: what each of them offers, what \
    changes, and why one fails.";
const NOW: &str = "Nothing is configured yet, so you see the built-in demo server. Look around: \
    nothing here can break anything.";

/// Draws the box in the middle of the window.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, welcome: &Welcome) {
    let Some(areas) = view.areas else {
        return;
    };
    let (window, theme) = (areas.window, view.theme);
    let columns = window.width.saturating_sub(2).min(COLUMNS);
    let width = usize::from(columns.saturating_sub(4));
    let keys = keys(view, welcome, width);
    // The title and the footer stay seen, and the frame takes two rows.
    let mut room = usize::from(window.height.saturating_sub(4)).saturating_sub(keys.len());
    // What is there now is worth more than what it is for.
    let mut said = Vec::new();
    for text in [NOW, WHAT] {
        let mut lines = wrap(text, width, 8);
        lines.push(String::new());
        if lines.len() > room {
            break;
        }
        room -= lines.len();
        said.splice(0..0, lines);
    }
    let gap = usize::from(room >= 6);
    let height = said.len() + keys.len() + 2 + 2 * gap;
    let height = u16::try_from(height).unwrap_or(u16::MAX);
    let area = middle(window, columns, height.min(window.height));
    boxed(buffer, area, "Welcome to mcpdeck", theme.focus);
    let inner = paint::skip(inside(area), 1);
    let bold = theme.accent.add_modifier(Modifier::BOLD);
    for (index, line) in said.iter().enumerate() {
        paint::put(buffer, paint::line(inner, gap + index), line, theme.text);
    }
    for (index, (key, words)) in keys.iter().enumerate() {
        let line = paint::line(inner, gap + said.len() + index);
        paint::put(buffer, line, key, bold);
        paint::put(
            buffer,
            paint::skip(line, text_start(view)),
            words,
            theme.text,
        );
    }
}

/// The keys and what they do, line by line.
fn keys(view: &ViewModel<'_>, welcome: &Welcome, width: usize) -> Vec<(String, String)> {
    let rest = width.saturating_sub(usize::from(text_start(view)));
    let mut lines = Vec::new();
    for (command, words) in [
        (Command::Import, welcome.offer()),
        (Command::Add, "add a server by hand".to_owned()),
        (
            Command::Help,
            "all keys; any other key closes this".to_owned(),
        ),
    ] {
        let Some(key) = view.keymap.shown(command) else {
            continue;
        };
        for (index, words) in wrap(&words, rest, 4).into_iter().enumerate() {
            let key = if index == 0 {
                key.clone()
            } else {
                String::new()
            };
            lines.push((key, words));
        }
    }
    lines
}

/// The column behind the widest key.
fn text_start(view: &ViewModel<'_>) -> u16 {
    let keys = [Command::Import, Command::Add, Command::Help].map(|it| view.keymap.shown(it));
    let widths = keys.iter().flatten().map(|key| text::width(key));
    u16::try_from(widths.max().unwrap_or(0) + 2).unwrap_or(u16::MAX)
}
