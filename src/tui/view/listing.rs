//! The pane of the selected server: header, tabs, and the open tab's list.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::{errors, events, header, paint, stderr, tabs, trace};
use crate::domain::item::Item as _;
use crate::domain::text;
use crate::domain::{Freshness, ListMethod, Mark, ServerSnapshot, Session, Status};
use crate::tui::action::Command;
use crate::tui::format;
use crate::tui::layout::{Areas, Pane};
use crate::tui::rows::{Rows, Tab};
use crate::tui::view_model::ViewModel;

/// A column: its title and its width.
pub type Column = (&'static str, u16);

/// The gap between two columns.
const GAP: u16 = 2;

/// The bar of the selection, the mark, and a gap.
const LEAD: u16 = 3;

/// Draws the pane.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let Some(areas) = view.areas else {
        return;
    };
    if areas.main.is_empty() {
        return;
    }
    let title = match view.server {
        Some(server) => header::server(view, server, areas.main.width - 2),
        None => vec![Span::styled(" no server ", view.theme.dim)],
    };
    let list = &view.model.list;
    let below = paint::place(
        list.needle(),
        list.len(),
        list.rows().len(),
        list.cursor(),
        list.height(),
    );
    paint::frame(buffer, areas.main, view, Pane::List, title, below);
    tabs::draw(buffer, view, areas.tabs());
    if list.is_empty() {
        let why = why_nothing(view);
        paint::explain(buffer, areas.rows(), &why, view.theme.dim);
    } else {
        rows(buffer, view, &areas);
    }
}

/// Why the list is empty, as it is.
fn why_nothing(view: &ViewModel<'_>) -> String {
    let list = &view.model.list;
    if !list.needle().is_empty() && !list.rows().is_empty() {
        return format!("Nothing matches /{}.", list.needle());
    }
    match (view.model.tab, view.server) {
        (Tab::Events, _) => "Nothing has happened yet.".to_owned(),
        (_, None) => no_server(view),
        (Tab::Items(method), Some(server)) => match server.status.session() {
            Some(session) => why_no_item(server, session, method),
            None => why_not_connected(view, &server.status),
        },
        (Tab::Errors, Some(_)) => "No errors.".to_owned(),
        (Tab::Stderr, Some(_)) => "Nothing was written to stderr.".to_owned(),
        (Tab::Trace, Some(_)) if view.model.logs.shows_only_errors() => {
            "No error among the messages.".to_owned()
        }
        (Tab::Trace, Some(_)) => "No message has gone either way yet.".to_owned(),
    }
}

/// How to get a server.
#[must_use]
pub fn no_server(view: &ViewModel<'_>) -> String {
    let servers = &view.model.servers;
    if view.state.servers.is_empty() {
        format!(
            "No servers. Add some to {}:\n\n  [servers.NAME]\n  command = \"...\"",
            view.model.label
        )
    } else {
        format!("No server matches /{}.", servers.needle())
    }
}

fn why_no_item(server: &ServerSnapshot, session: &Session, method: ListMethod) -> String {
    let noun = method.noun();
    if !session.declares(method.group()) {
        return format!("The server does not declare {}.", method.group().word());
    }
    match server.catalog.freshness(method) {
        Freshness::Absent => format!("Asking for {noun} ..."),
        Freshness::Failed => {
            let why = server
                .error(Some(method))
                .map(|error| format::failure(&error.failure))
                .unwrap_or_default();
            format!("{} failed: {why}", method.name())
        }
        Freshness::Fresh | Freshness::Old { .. } => format!("The server has no {noun}."),
    }
}

/// Why there is no connection, and what to do.
fn why_not_connected(view: &ViewModel<'_>, status: &Status) -> String {
    let key = |command| view.keymap.shown(command);
    let next = match status {
        Status::NeedsAuth(_) => key(Command::LogIn)
            .map(|key| format!("{key} in Servers logs in."))
            .unwrap_or_default(),
        Status::Failed(_) | Status::Reconnecting { .. } => {
            let again = key(Command::Reconnect).map(|key| format!("{key} tries again."));
            let errors = key(Command::Errors).map(|key| format!("{key} shows the errors."));
            [again, errors]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        }
        Status::Disabled => key(Command::Toggle)
            .map(|key| format!("{key} in Servers switches it on."))
            .unwrap_or_default(),
        Status::Untrusted => key(Command::Trust)
            .map(|key| format!("{key} in Servers shows what it would start, and asks."))
            .unwrap_or_default(),
        Status::Connecting | Status::Connected(_) => String::new(),
    };
    let why = status.failure().map(format::failure).unwrap_or_default();
    let parts = [format::absence(status), &why, &next];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Draws the rows that are on screen, and no other.
fn rows(buffer: &mut Buffer, view: &ViewModel<'_>, areas: &Areas) {
    let list = &view.model.list;
    let area = areas.rows();
    let columns = columns(view.model.tab, area.width.saturating_sub(LEAD + 1));
    let mut head = paint::skip(areas.columns(), LEAD);
    for (title, width) in &columns {
        let cell = Rect {
            width: (*width).min(head.width),
            ..head
        };
        paint::put(buffer, cell, title, view.theme.dim);
        head = paint::skip(head, width + GAP);
    }
    for index in 0..list.height() {
        let place = list.offset() + index;
        let Some(row) = list.row_at(place) else {
            break;
        };
        let line = paint::line(area, index);
        let selected = place == list.cursor();
        if selected {
            let style = match view.model.focus {
                Pane::List => view.theme.selected,
                Pane::Servers | Pane::Details => view.theme.selected_dim,
            };
            buffer.set_style(line, style);
            paint::put(buffer, line, "▌", view.bar(Pane::List));
        }
        mark(buffer, view, paint::skip(line, 1), row);
        let mut cells = Cells {
            buffer,
            rest: paint::skip(line, LEAD),
            columns: &columns,
            dim: if selected {
                Style::new()
            } else {
                view.theme.dim
            },
        };
        match list.rows() {
            Rows::Errors(rows) => errors::row(&mut cells, view, &rows[row]),
            Rows::Events(events) => events::row(&mut cells, view, &events[row]),
            Rows::Stderr(lines) => stderr::row(&mut cells, &lines[row]),
            Rows::Messages(messages) => trace::row(&mut cells, view, &messages[row]),
            items => item(&mut cells, items, row),
        }
    }
}

fn mark(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, row: usize) {
    let (symbol, style) = match view.mark(row) {
        Mark::Same => return,
        Mark::Added => ("+", view.theme.good),
        Mark::Changed => ("~", view.theme.warn),
    };
    paint::put(buffer, area, symbol, style);
}

/// The cells of a row, filled from left to right.
pub struct Cells<'a> {
    buffer: &'a mut Buffer,
    rest: Rect,
    columns: &'a [Column],
    /// The style of what is secondary.
    pub dim: Style,
}

impl Cells<'_> {
    /// Writes the next cell, if there is a column for it.
    pub fn put(&mut self, value: &str, style: Style) {
        let Some(((_, width), columns)) = self.columns.split_first() else {
            return;
        };
        let cell = Rect {
            width: (*width).min(self.rest.width),
            ..self.rest
        };
        paint::put(self.buffer, cell, value, style);
        self.rest = paint::skip(self.rest, width + GAP);
        self.columns = columns;
    }

    /// As [`put`](Self::put); of a long URI beginning and end are shown.
    pub fn put_uri(&mut self, uri: &str, style: Style) {
        let width = self.columns.first().map_or(0, |(_, width)| *width);
        let safe = format::exact(uri);
        let uri = text::fit_middle(&safe, usize::from(width.min(self.rest.width)));
        self.put(&uri, style);
    }

    /// As [`put`](Self::put), at the right end of the cell.
    pub fn put_right(&mut self, value: &str, style: Style) {
        let width = self.columns.first().map_or(0, |(_, width)| *width);
        self.put(
            &format!("{value:>width$}", width = usize::from(width)),
            style,
        );
    }

    /// Whether the next cell has this title.
    #[must_use]
    pub fn is_next(&self, title: &str) -> bool {
        self.columns.first().is_some_and(|(next, _)| *next == title)
    }
}

fn item(cells: &mut Cells<'_>, rows: &Rows, row: usize) {
    let plain = Style::new();
    let dim = cells.dim;
    match rows {
        Rows::Resources(items) => {
            let item = &items[row];
            cells.put_uri(&item.uri, plain);
            cells.put(item.label(), plain);
            if cells.is_next("Type") {
                cells.put(item.mime_type.as_deref().unwrap_or_default(), dim);
            }
            cells.put_right(&item.size.map(format::size).unwrap_or_default(), dim);
        }
        Rows::Templates(items) => {
            let item = &items[row];
            cells.put_uri(&item.uri_template, plain);
            cells.put(item.label(), plain);
            cells.put(item.mime_type.as_deref().unwrap_or_default(), dim);
        }
        Rows::Tools(items) => {
            let item = &items[row];
            cells.put(&item.name, plain);
            cells.put(about(item.about(), item.title.as_deref()), dim);
        }
        Rows::Prompts(items) => {
            let item = &items[row];
            cells.put(&item.name, plain);
            if cells.is_next("Takes") {
                let names: Vec<&str> = item
                    .arguments
                    .iter()
                    .flatten()
                    .map(|argument| &*argument.name)
                    .collect();
                cells.put(&names.join(", "), dim);
            }
            cells.put(about(item.about(), item.title.as_deref()), dim);
        }
        Rows::Errors(_) | Rows::Events(_) | Rows::Stderr(_) | Rows::Messages(_) => {}
    }
}

/// The first line of a description, or the title.
fn about<'a>(description: Option<&'a str>, title: Option<&'a str>) -> &'a str {
    let text = description.or(title).unwrap_or_default();
    text.trim_start().lines().next().unwrap_or_default()
}

/// The columns of a tab that has so many columns of screen.
fn columns(tab: Tab, width: u16) -> Vec<Column> {
    match tab {
        Tab::Items(ListMethod::Resources) => {
            let size = if width >= 56 { 8 } else { 0 };
            let kind = kind_columns(width);
            uri_columns("URI", width, kind, size)
        }
        Tab::Items(ListMethod::ResourceTemplates) => {
            uri_columns("URI template", width, kind_columns(width), 0)
        }
        Tab::Items(ListMethod::Tools) => {
            let name = (width * 3 / 10).clamp(18, 40).min(width);
            vec![("Name", name), ("About", width.saturating_sub(name + GAP))]
        }
        Tab::Items(ListMethod::Prompts) => {
            let name = (width * 3 / 10).clamp(18, 40).min(width);
            let takes = if width >= 64 { width / 5 } else { 0 };
            with_rest(&[("Name", name), ("Takes", takes)], "About", width)
        }
        Tab::Errors => {
            let when = if width >= 64 { 8 } else { 0 };
            let times = if width >= 72 { 5 } else { 0 };
            let shown = if width >= 90 { 10 } else { 0 };
            let asked = if width >= 44 { 24 } else { 16 };
            with_rest(
                &[
                    ("When", when),
                    ("Asked", asked),
                    ("Times", times),
                    ("Shown", shown),
                ],
                "Came back",
                width,
            )
        }
        Tab::Events => with_rest(&[("When", 8)], "What", width),
        Tab::Stderr => with_rest(&[("", 5)], "Line", width),
        Tab::Trace => {
            let when = if width >= 50 { 8 } else { 0 };
            let kind = if width >= 66 { 12 } else { 0 };
            let latency = if width >= 40 { 7 } else { 0 };
            let size = if width >= 58 { 7 } else { 0 };
            let columns = [
                ("When", when),
                ("Way", 3),
                ("Latency", latency),
                ("Size", size),
                ("What", kind),
            ];
            with_rest(&columns, "Method", width)
        }
    }
}

const fn kind_columns(width: u16) -> u16 {
    match width {
        0..76 => 0,
        76..110 => 16,
        _ => 24,
    }
}

/// An address, a name, and what is left out in a narrow list.
fn uri_columns(title: &'static str, width: u16, kind: u16, size: u16) -> Vec<Column> {
    let behind: u16 = [kind, size]
        .iter()
        .filter(|width| **width > 0)
        .map(|width| width + GAP)
        .sum();
    let rest = width - behind;
    if rest < 30 {
        return vec![(title, rest)];
    }
    let uri = (rest - GAP) * 6 / 10;
    [
        (title, uri),
        ("Name", rest - GAP - uri),
        ("Type", kind),
        ("Size", size),
    ]
    .into_iter()
    .filter(|(_, width)| *width > 0)
    .collect()
}

/// The columns that have a width, and one that gets the rest.
fn with_rest(columns: &[Column], last: &'static str, width: u16) -> Vec<Column> {
    let mut shown: Vec<Column> = columns
        .iter()
        .copied()
        .filter(|(_, width)| *width > 0)
        .collect();
    let used: u16 = shown.iter().map(|(_, width)| width + GAP).sum();
    shown.push((last, width.saturating_sub(used)));
    shown
}
