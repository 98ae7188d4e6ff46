//! One line of what was found.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::paint;
use crate::app::import::{Source, State};
use crate::config::import::Scope;
use crate::domain::text;
use crate::tui::format;
use crate::tui::import::listing::{Line, Listing, has_secret};
use crate::tui::view_model::ViewModel;

/// No name takes more columns.
const WIDEST_NAME: usize = 28;

/// The widths of the columns of a server: its name, its state, a remark, and the rest.
pub struct Widths {
    /// Of the name.
    pub name: u16,
    state: u16,
    remark: u16,
}

impl Widths {
    /// In so many columns, with a widest name.
    pub fn of(columns: u16, widest: usize, has_secrets: bool) -> Self {
        let state = 9;
        let remark = match (has_secrets, columns) {
            (false, _) => 0,
            (true, 0..60) => 1,
            (true, _) => 6,
        };
        // In a narrow window the command or URL is left out.
        let least = if columns < 56 { 0 } else { 24 };
        let room = columns.saturating_sub(MARK + 2 + state + 2 + remark + least);
        let widest = u16::try_from(widest.min(WIDEST_NAME)).unwrap_or(u16::MAX);
        Self {
            name: widest.min(room),
            state,
            remark,
        }
    }
}

/// `[x]` and a gap.
const MARK: u16 = 4;

/// Draws one line of what was found.
pub fn draw(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    (listing, line): (&Listing, Line<'_>),
    (is_chosen, selected): (bool, bool),
) {
    let theme = view.theme;
    let on = |style: Style| if selected { Style::new() } else { style };
    let widths = Widths::of(area.width, listing.name_columns, listing.has_secrets);
    match line {
        Line::Source(source) => heading(buffer, view, area, source, selected),
        Line::Broken(source) => {
            let words = format!("cannot be read: {}", why(source));
            paint::put(buffer, paint::skip(area, MARK), &words, on(theme.bad));
        }
        Line::Server(_, found) => {
            let candidate = &found.candidate;
            let (mark, state) = match (is_chosen, found.state) {
                (_, State::Equal) => ("", "equal"),
                (true, State::Different) => ("[x]", "replaces"),
                (false, State::Different) => ("[ ]", "different"),
                (true, State::New) => ("[x]", "new"),
                (false, State::New) => ("[ ]", "new"),
            };
            let style = match (found.state, is_chosen) {
                (State::Equal, _) => theme.dim,
                (State::Different, true) => theme.warn,
                (State::New | State::Different, _) => theme.text,
            };
            let name = if found.state == State::Equal {
                theme.dim
            } else {
                theme.text
            };
            let remark = match (has_secret(found), widths.remark) {
                (false, _) => "",
                (true, 1) => "!",
                (true, _) => "secret",
            };
            let target = candidate.definition.target();
            let cells = [
                (MARK, mark, on(theme.accent)),
                (widths.name + 2, candidate.name.as_str(), on(name)),
                (widths.state + 2, state, on(style)),
                (gap(widths.remark), remark, on(theme.warn)),
                (u16::MAX, target.as_str(), on(theme.dim)),
            ];
            columns(buffer, area, cells);
        }
        Line::LeftOut(_, out) => {
            let cells = [
                (MARK, "", theme.dim),
                (widths.name + 2, out.name.as_str(), on(theme.dim)),
                (widths.state + 2, "left out", on(theme.dim)),
                (gap(widths.remark), "", theme.dim),
                (u16::MAX, out.reason.as_str(), on(theme.dim)),
            ];
            columns(buffer, area, cells);
        }
        Line::LookedAt((tool, path)) => {
            let home = view.model.home.as_deref();
            let path = format::path(path, home);
            let cells = [
                (16, tool.word(), on(theme.text)),
                (u16::MAX, path.as_str(), on(theme.dim)),
            ];
            columns(buffer, area, cells);
        }
    }
}

const fn gap(columns: u16) -> u16 {
    if columns == 0 { 0 } else { columns + 2 }
}

/// Texts in columns, each of its width with the gap behind it.
pub fn columns<const N: usize>(buffer: &mut Buffer, area: Rect, cells: [(u16, &str, Style); N]) {
    let mut rest = area;
    for (width, value, style) in cells {
        let is_last = width == u16::MAX;
        let shown = if is_last {
            width
        } else {
            width.saturating_sub(1)
        };
        let cell = Rect {
            width: shown.min(rest.width),
            ..rest
        };
        paint::put(buffer, cell, value, style);
        rest = paint::skip(rest, width);
    }
}

/// Whose file it is, where it is, and for which project.
fn heading(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, source: &Source, selected: bool) {
    let theme = view.theme;
    let on = |style: Style| if selected { Style::new() } else { style };
    let bold = on(theme.accent).add_modifier(Modifier::BOLD);
    let word = source.tool.map_or("", |tool| tool.word());
    let rest = paint::row(buffer, area, [(word, bold), ("  ", theme.dim)]);
    let note = match source.scope {
        Scope::User => "",
        Scope::Project(_) => "  this project",
    };
    let home = view.model.home.as_deref();
    let room = usize::from(rest.width).saturating_sub(note.len());
    let file = format::path(&source.file, home);
    let file = text::fit_middle(&file, room);
    paint::row(
        buffer,
        rest,
        [(&*file, on(theme.dim)), (note, on(theme.text))],
    );
}

/// Why the file cannot be read, without its name, which stands above.
fn why(source: &Source) -> String {
    let Some(error) = &source.error else {
        return String::new();
    };
    let whole = error.one_line();
    let file = source.file.display().to_string();
    match whole.strip_prefix(&file) {
        Some(rest) => rest.trim_start_matches([':', ' ']).to_owned(),
        None => whole,
    }
}
