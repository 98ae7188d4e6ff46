//! What can be copied from other tools, and what became of it.

mod about;
mod done;
mod row;
#[cfg(test)]
mod tests;

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::paint;
use super::question::{ask, boxed};
use crate::tui::action::Command;
use crate::tui::format;
use crate::tui::import::choices::Choices;
use crate::tui::import::listing::can_be_chosen;
use crate::tui::import::window::Window;
use crate::tui::import::{Import, Parts, Stage};
use crate::tui::layout::{cover_area, inside};
use crate::tui::view_model::ViewModel;
use crate::tui::wrap::wrap;

/// Draws the layer.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, import: &Import) {
    let Some(areas) = view.areas else {
        return;
    };
    let area = cover_area(areas.window);
    boxed(buffer, area, "Import from other tools", view.theme.focus);
    let parts = import.parts(areas.window);
    match &import.stage {
        Stage::Scanning(_) => {
            let words = "Looking for servers of other tools ...";
            paint::explain(buffer, inside(area), words, view.theme.dim);
        }
        Stage::Broken(error) => {
            let again = view.keymap.shown(Command::Refresh);
            let again = again.map_or_else(String::new, |key| format!("\n\n{key} looks again."));
            let why = at_home(&error.one_line(), view.model.home.as_deref());
            let first = "A file of mcpdeck itself has to be right first:";
            let words = format!("{first}\n\n{why}{again}");
            paint::explain(buffer, inside(area), &words, view.theme.bad);
        }
        Stage::Choosing(choices) => self::choices(buffer, view, parts, choices),
        Stage::Asking(choices) => {
            self::choices(buffer, view, parts, choices);
            question(buffer, view, choices);
        }
        Stage::Copying(_, choices) => {
            self::choices(buffer, view, parts, choices);
            let line = paint::skip(paint::line(parts.summary, 0), 1);
            let blank = " ".repeat(usize::from(line.width));
            buffer.set_string(line.x, line.y, blank, Style::new());
            paint::put(buffer, line, "Copying ...", view.theme.warn);
        }
        Stage::Done(outcome) => done::draw(buffer, view, parts, outcome),
    }
}

fn choices(buffer: &mut Buffer, view: &ViewModel<'_>, parts: Parts, choices: &Choices) {
    summary(buffer, view, parts.summary, choices);
    if choices.is_empty() && !choices.listing.is_empty() {
        let why = format!("Nothing matches /{}.", choices.needle());
        paint::explain(buffer, parts.list, &why, view.theme.dim);
    }
    let listed = (&choices.window, choices.len());
    lines(
        buffer,
        view,
        parts.list,
        listed,
        |buffer, place, area, selected| {
            let Some(number) = choices.at(place) else {
                return;
            };
            if let Some(line) = choices.listing.line(number) {
                let marks = (choices.is_chosen(number), selected);
                row::draw(buffer, view, area, (&choices.listing, line), marks);
            }
        },
    );
    below(buffer, view, choices);
    let Some(selected) = choices.selected() else {
        return;
    };
    details(
        buffer,
        view,
        parts.details,
        &about::lines(view, choices, selected),
    );
}

/// Draws the lines on screen, with a bar beside the selected one.
fn lines(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    (window, len): (&Window, usize),
    draw: impl Fn(&mut Buffer, usize, Rect, bool),
) {
    for index in 0..usize::from(area.height) {
        let Some(place) = window.at(index, len) else {
            return;
        };
        let line = paint::line(area, index);
        let selected = place == window.cursor;
        if selected {
            buffer.set_style(line, view.theme.selected);
            paint::put(buffer, line, "▌", view.theme.focus);
        }
        draw(buffer, place, paint::skip(line, 2), selected);
    }
}

/// The filter and what it leaves, or the place in a long list.
fn below(buffer: &mut Buffer, view: &ViewModel<'_>, choices: &Choices) {
    let Some(areas) = view.areas else {
        return;
    };
    let window = &choices.window;
    let (shown, total) = (choices.len(), choices.listing.len());
    let words = paint::place(choices.needle(), shown, total, window.cursor, window.height);
    corner(buffer, view, cover_area(areas.window), words);
}

/// A text at the lower right of the frame.
fn corner(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, words: Option<String>) {
    let Some(words) = words else {
        return;
    };
    let line = Rect {
        x: area.x + 1,
        y: area.bottom().saturating_sub(1),
        width: area.width.saturating_sub(2),
        height: 1,
    };
    paint::put_right(buffer, line, &words, view.theme.dim);
}

/// What is chosen, and where it is copied to.
fn summary(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, choices: &Choices) {
    let theme = view.theme;
    let home = view.model.home.as_deref();
    let first = paint::skip(paint::line(area, 0), 1);
    let second = paint::skip(paint::line(area, 1), 1);
    if choices.listing.is_empty() {
        let words = "No servers of other tools were found. These places were looked at:";
        paint::put(buffer, first, words, theme.warn);
        return;
    }
    let chosen = choices.chosen().count();
    if chosen == 0 {
        let sources = &choices.listing.findings.sources;
        let mut servers = sources.iter().flat_map(|source| &source.servers).peekable();
        let words = if servers.peek().is_none() {
            "Nothing of this can be imported."
        } else if servers.any(can_be_chosen) {
            "Nothing is chosen."
        } else {
            "You have all of these already."
        };
        paint::put(buffer, first, words, theme.text);
        return;
    }
    let bold = theme.text.add_modifier(Modifier::BOLD);
    let count = format!("{} chosen", format::grouped(chosen));
    let files: Vec<String> = choices
        .changes()
        .iter()
        .map(|change| format::path(change.file, home))
        .collect();
    let to = format!(" for {}", files.join(" and "));
    paint::row(buffer, first, [(&*count, bold), (&*to, theme.dim)]);
    let secrets = choices.secrets();
    if secrets > 0 {
        let have = if secrets == 1 { "has" } else { "have" };
        let what = if choices.to_variables {
            "variables take their place; v copies them"
        } else {
            "they are copied as they are; v uses variables"
        };
        let words = format!("{secrets} {have} secrets in plain text: {what}");
        paint::put(buffer, second, &words, theme.warn);
    }
}

/// Texts below a rule, each with its style, wrapped.
fn details(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, texts: &[(String, Style)]) {
    if area.height < 2 {
        return;
    }
    let rule = "─".repeat(usize::from(area.width));
    paint::put(buffer, paint::line(area, 0), &rule, view.theme.border);
    let columns = usize::from(area.width.saturating_sub(3));
    let mut index = 1;
    for (value, style) in texts {
        for line in wrap(value, columns, usize::from(area.height)) {
            let place = paint::skip(paint::line(area, index), 2);
            paint::put(buffer, place, &line, *style);
            index += 1;
        }
    }
}

/// Whether to copy what is chosen: how many, to which file, and what they bring along.
fn question(buffer: &mut Buffer, view: &ViewModel<'_>, choices: &Choices) {
    let home = view.model.home.as_deref();
    let mut lines = Vec::new();
    for change in choices.changes() {
        let file = format::path(change.file, home);
        let added = format::plural(change.added, "server");
        let replaced = match change.replaced.as_slice() {
            [name] => name.to_string(),
            names => format::plural(names.len(), "server"),
        };
        lines.push(match (change.added, change.replaced.len()) {
            (_, 0) => format!("Add {added} to {file}?"),
            (0, _) => format!("Replace {replaced} in {file}?"),
            (_, _) => format!("Add {added} to {file}, and replace {replaced} there?"),
        });
    }
    let secrets = choices.secrets();
    if secrets > 0 {
        lines.push(String::new());
        lines.push(if choices.to_variables {
            "Their secrets are left out; the variables to set are told afterwards.".to_owned()
        } else {
            let servers = format::plural(secrets, "server");
            format!("The secrets of {servers} are copied in plain text.")
        });
    }
    ask(buffer, view, "Import?", &lines);
}

/// The text, with `~` for the home folder where a path begins it.
fn at_home(text: &str, home: Option<&Path>) -> String {
    let home = home.map(|home| home.display().to_string());
    let rest = home.and_then(|home| text.strip_prefix(&home)?.strip_prefix('/'));
    rest.map_or_else(|| text.to_owned(), |rest| format!("~/{rest}"))
}
