//! The reader: a document in a frame, with what it is above and how far one is below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};

use super::{document, paint};
use crate::domain::{Failure, text};
use crate::tui::action::Command;
use crate::tui::document::View;
use crate::tui::document::picture::Dots;
use crate::tui::format;
use crate::tui::layout::{cover_area, inside};
use crate::tui::reader::page::Row;
use crate::tui::reader::{Reader, Shown, Stage};
use crate::tui::theme::{Paint, nearest};
use crate::tui::view_model::ViewModel;

/// Draws the reader.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, reader: &Reader) {
    let Some(areas) = view.areas else {
        return;
    };
    let area = cover_area(areas.window);
    Clear.render(area, buffer);
    let theme = view.theme;
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.focus)
        .title_top(Line::from(title(view, reader, area.width)));
    let shown_rows = reader.shown().map(|shown| {
        let rows = shown.page().rows(shown.part(), reader.room());
        (shown, rows)
    });
    if let Some((shown, rows)) = &shown_rows {
        let place = place(reader, shown, rows);
        let taken = place.as_deref().map_or(0, text::width);
        let room = usize::from(area.width.saturating_sub(3)).saturating_sub(taken);
        let facts = facts(view, shown, room);
        if !facts.is_empty() {
            block = block.title_bottom(Line::from(facts));
        }
        if let Some(place) = place {
            block = block.title_bottom(Line::styled(place, theme.dim).right_aligned());
        }
    }
    block.render(area, buffer);
    let inner = paint::skip(inside(area), 1);
    let inner = Rect {
        width: inner.width.saturating_sub(1),
        ..inner
    };
    match &reader.stage {
        Stage::Asking { since, .. } => {
            let waited = view.clock.since(*since).as_secs();
            let so_far = if waited > 0 {
                format!(" {waited} s")
            } else {
                String::new()
            };
            let cancel = view.keymap.shown(Command::Back);
            let cancel = cancel.map_or(String::new(), |key| format!("   {key} cancels."));
            let words = format!("reading…{so_far}{cancel}");
            paint::explain(buffer, inner, &words, theme.warn);
        }
        Stage::Failed(failure) => failed(buffer, view, inner, reader, failure),
        Stage::Shown(shown) => match &shown.part().view {
            View::Nothing(why) => paint::explain(buffer, inner, why, theme.dim),
            View::Picture(_) => {
                if let Some(dots) = &shown.dots {
                    picture(buffer, inner, dots, theme.paint);
                }
            }
            View::Text(_) | View::Json(_) | View::Rich(_) | View::Hex => {
                let rows = shown_rows.map(|(_, rows)| rows).unwrap_or_default();
                draw_rows(buffer, view, inner, shown, rows);
            }
        },
    }
}

/// ` everything  demo://resource/static/1 `.
fn title(view: &ViewModel<'_>, reader: &Reader, columns: u16) -> Vec<Span<'static>> {
    let room = usize::from(columns.saturating_sub(6));
    let mut spans = vec![Span::raw(" ")];
    let mut left = room;
    if let Some(server) = &reader.server {
        let name = format::safe(server.as_str());
        let name = text::fit(&name, room / 3).into_owned();
        left = room.saturating_sub(text::width(&name) + 2);
        spans.push(Span::styled(name, view.theme.dim));
        spans.push(Span::raw("  "));
    }
    let title = format::safe(&reader.title);
    let title = text::fit_middle(&title, left).into_owned();
    spans.push(Span::styled(
        title,
        view.theme.accent.add_modifier(Modifier::BOLD),
    ));
    spans.push(Span::raw(" "));
    spans
}

/// What it is, and what of it is not shown, on so many columns: what matters less is left out.
fn facts(view: &ViewModel<'_>, shown: &Shown, columns: usize) -> Vec<Span<'static>> {
    let theme = view.theme;
    let mut left = columns.saturating_sub(2);
    let mut fits = |value: &str| match left.checked_sub(text::width(value) + 2) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut facts = Vec::new();
    let parts = shown.document.parts.len();
    if parts > 1 {
        let which = format!("part {} of {parts}", shown.part + 1);
        if fits(&which) {
            facts.push((which, theme.accent));
        }
    }
    let removed = match shown.part().removed {
        0 => None,
        removed => {
            let long = format!("{} not shown", format::plural(removed, "control character"));
            let short = format!("{removed} not shown");
            [long, short].into_iter().find(|words| fits(words))
        }
    };
    for fact in shown.part().facts() {
        let fact = format::safe(&fact).into_owned();
        if !fits(&fact) {
            break;
        }
        facts.push((fact, theme.dim));
    }
    facts.extend(removed.map(|words| (words, theme.warn)));
    let mut spans = Vec::new();
    for (words, style) in facts {
        spans.push(Span::raw(if spans.is_empty() { " " } else { "  " }));
        spans.push(Span::styled(words, style));
    }
    if !spans.is_empty() {
        spans.push(Span::raw(" "));
    }
    spans
}

/// How far one is, or what was looked for.
fn place(reader: &Reader, shown: &Shown, rows: &[Row<'_>]) -> Option<String> {
    if !shown.search.needle.is_empty() {
        let words = shown.search.words();
        return Some(format!(" {} ", format::safe(&words)));
    }
    let part = shown.part();
    let room = reader.room();
    let (first, last) = (rows.first()?.index, rows.last()?.index);
    let total = part.len(room.columns);
    let whole = first == 0
        && part
            .next(last, room.columns, shown.page().folds())
            .is_none();
    (!whole).then(|| {
        let percent = (last + 1) * 100 / total.max(1);
        format!(
            " {}-{} of {}  {percent} % ",
            first + 1,
            last + 1,
            format::grouped(total)
        )
    })
}

fn failed(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    reader: &Reader,
    failure: &Failure,
) {
    let theme = view.theme;
    let name = reader.server.as_ref().map_or("", |name| name.as_str());
    let why = format!("{name} did not give the {}:", reader.noun());
    let columns = usize::from(area.width.saturating_sub(3)).max(1);
    let mut line = usize::from(area.height > 4);
    let inner = paint::skip(area, 2);
    paint::put(buffer, paint::line(inner, line), &why, theme.text);
    line += 1;
    let room = usize::from(area.height).saturating_sub(line);
    let message = format::failure(failure);
    for text in crate::tui::wrap::wrap(&message, columns, room) {
        paint::put(buffer, paint::line(inner, line), &text, theme.bad);
        line += 1;
    }
    let kind = format!("kind {}", failure.kind.word());
    paint::put(buffer, paint::line(inner, line + 1), &kind, theme.dim);
}

fn draw_rows(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    shown: &Shown,
    rows: Vec<Row<'_>>,
) {
    let (part, page, theme) = (shown.part(), shown.page(), view.theme);
    let gutter = u16::try_from(part.gutter()).unwrap_or(u16::MAX);
    let selected = page.selected(part);
    for (index, row) in rows.into_iter().enumerate() {
        let line = paint::line(area, index);
        if selected == Some(row.index) {
            buffer.set_style(line, theme.selected_dim);
        }
        if let Some(number) = row.line.number.filter(|_| row.first) {
            let width = part.gutter().saturating_sub(2);
            paint::put(buffer, line, &format!("{number:>width$}"), theme.dim);
        }
        document::row(
            buffer,
            paint::skip(line, gutter),
            theme,
            &row.line,
            row.range,
            &shown.search.needle,
        );
    }
}

/// Two dots in each cell, one above the other; in the middle of the area.
fn picture(buffer: &mut Buffer, area: Rect, dots: &Dots, how: Paint) {
    let columns = u16::try_from(dots.columns)
        .unwrap_or(u16::MAX)
        .min(area.width);
    let rows = u16::try_from(dots.rows().div_ceil(2))
        .unwrap_or(u16::MAX)
        .min(area.height);
    let left = area.x + (area.width - columns) / 2;
    let top = area.y + (area.height - rows) / 2;
    for row in 0..rows {
        for column in 0..columns {
            let at = |below: u16| dots.at(column.into(), (row * 2 + below).into());
            let (upper, lower) = (at(0), at(1));
            let cell = &mut buffer[(left + column, top + row)];
            if how == Paint::Characters {
                cell.set_symbol(shade(upper.or(lower)));
                continue;
            }
            let ink = |dot: [u8; 3]| nearest(dot, how);
            match (upper, lower) {
                (None, None) => {}
                (Some(upper), None) => {
                    cell.set_symbol("▀").set_fg(ink(upper));
                }
                (None, Some(lower)) => {
                    cell.set_symbol("▄").set_fg(ink(lower));
                }
                (Some(upper), Some(lower)) => {
                    cell.set_symbol("▀").set_fg(ink(upper)).set_bg(ink(lower));
                }
            }
        }
    }
}

/// A character that is as dense as the dot is light.
fn shade(dot: Option<[u8; 3]>) -> &'static str {
    const SHADES: [&str; 10] = [" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"];
    let Some([red, green, blue]) = dot.map(|dot| dot.map(usize::from)) else {
        return " ";
    };
    // The eye sees green best (ITU-R BT.601).
    let light = (red * 299 + green * 587 + blue * 114) / 1_000;
    SHADES[light * (SHADES.len() - 1) / 255]
}
