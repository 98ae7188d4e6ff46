//! What a tab lists, whatever its kind: how many rows, what a row is known by, what a filter sees.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lines::StderrLine;
use crate::domain::item::Item;
use crate::domain::{
    DiscoveryError, Event, EventKind, ListMethod, Mark, Prompt, Resource, ResourceTemplate,
    ServerSnapshot, Tool,
};
use crate::mcp::Message;

/// The tabs of the selected server, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tab {
    /// One of the four listings.
    Items(ListMethod),
    /// What went wrong with the server.
    Errors,
    /// What happened, of all servers.
    Events,
    /// What the server wrote to stderr.
    Stderr,
    /// The messages in both directions.
    Trace,
}

impl Tab {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Items(ListMethod::Resources),
        Self::Items(ListMethod::ResourceTemplates),
        Self::Items(ListMethod::Tools),
        Self::Items(ListMethod::Prompts),
        Self::Errors,
        Self::Events,
        Self::Stderr,
        Self::Trace,
    ];

    /// Its title, and a short one for narrow windows.
    #[must_use]
    pub const fn titles(self) -> (&'static str, &'static str) {
        match self {
            Self::Items(ListMethod::Resources) => ("Resources", "Res"),
            Self::Items(ListMethod::ResourceTemplates) => ("Templates", "Tpl"),
            Self::Items(ListMethod::Tools) => ("Tools", "Tool"),
            Self::Items(ListMethod::Prompts) => ("Prompts", "Pro"),
            Self::Errors => ("Errors", "Err"),
            Self::Events => ("Events", "Ev"),
            Self::Stderr => ("Stderr", "Std"),
            Self::Trace => ("Trace", "Tr"),
        }
    }

    /// Its place among all.
    #[must_use]
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|tab| *tab == self).unwrap_or(0)
    }

    /// Whether its newest row is the last, and worth staying at.
    #[must_use]
    pub const fn is_log(self) -> bool {
        matches!(self, Self::Events | Self::Stderr | Self::Trace)
    }
}

/// A row of the Errors tab.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRow {
    /// The list method; `None` for the connection.
    pub method: Option<ListMethod>,
    /// What there is to tell.
    pub what: Trouble,
}

/// An error, or a note on something that was left out without failing.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// It failed.
    Error(DiscoveryError),
    /// It went on.
    Note(Arc<str>),
}

impl ErrorRow {
    /// What was asked, in MCP's words.
    #[must_use]
    pub const fn asked(&self) -> &'static str {
        match self.method {
            Some(method) => method.name(),
            None => "connect",
        }
    }

    /// What came back, or what was left out.
    #[must_use]
    pub fn message(&self) -> &str {
        match &self.what {
            Trouble::Error(error) => &error.failure.message,
            Trouble::Note(text) => text,
        }
    }

    /// The rows of the server: errors first, then notes, in the order of the list methods.
    #[must_use]
    pub fn of(server: &ServerSnapshot) -> Vec<Self> {
        let catalog = &server.catalog;
        let errors = server.errors.iter().map(|error| Self {
            method: error.method,
            what: Trouble::Error(error.clone()),
        });
        let session = server
            .status
            .session()
            .map_or(&[][..], |session| &session.notes);
        let listings = [
            (None, session),
            (Some(ListMethod::Resources), &catalog.resources.notes[..]),
            (
                Some(ListMethod::ResourceTemplates),
                &catalog.templates.notes[..],
            ),
            (Some(ListMethod::Tools), &catalog.tools.notes[..]),
            (Some(ListMethod::Prompts), &catalog.prompts.notes[..]),
        ];
        let notes = listings.into_iter().flat_map(|(method, notes)| {
            notes.iter().map(move |text| Self {
                method,
                what: Trouble::Note(Arc::clone(text)),
            })
        });
        errors.chain(notes).collect()
    }
}

/// The events that are shown. That a list changed is told by the refresh that follows.
#[must_use]
pub fn shown_events(events: &VecDeque<Arc<Event>>) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
    events
        .iter()
        .filter(|event| !matches!(event.kind, EventKind::ListChanged { .. }))
}

/// The rows of a tab.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names are those of the tabs")]
pub enum Rows {
    Resources(Arc<[Resource]>),
    Templates(Arc<[ResourceTemplate]>),
    Tools(Arc<[Tool]>),
    Prompts(Arc<[Prompt]>),
    Errors(Arc<[ErrorRow]>),
    Events(Arc<[Arc<Event>]>),
    Stderr(Arc<VecDeque<StderrLine>>),
    Messages(Arc<VecDeque<Message>>),
}

/// What a row is known by when the list around it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// The key of an item, and how many with the same key stand before it.
    Item(Box<str>, usize),
    /// The running number of an event or a line.
    Number(u64),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Errors(Arc::new([]))
    }
}

impl Rows {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Resources(items) => items.len(),
            Self::Templates(items) => items.len(),
            Self::Tools(items) => items.len(),
            Self::Prompts(items) => items.len(),
            Self::Errors(rows) => rows.len(),
            Self::Events(events) => events.len(),
            Self::Stderr(lines) => lines.len(),
            Self::Messages(messages) => messages.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the others are the very same rows.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Resources(a), Self::Resources(b)) => Arc::ptr_eq(a, b),
            (Self::Templates(a), Self::Templates(b)) => Arc::ptr_eq(a, b),
            (Self::Tools(a), Self::Tools(b)) => Arc::ptr_eq(a, b),
            (Self::Prompts(a), Self::Prompts(b)) => Arc::ptr_eq(a, b),
            (Self::Errors(a), Self::Errors(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Events(a), Self::Events(b)) => Arc::ptr_eq(a, b),
            (Self::Stderr(a), Self::Stderr(b)) => Arc::ptr_eq(a, b),
            (Self::Messages(a), Self::Messages(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The key of the row; events and lines are known by number instead.
    fn key(&self, row: usize) -> Option<&str> {
        match self {
            Self::Resources(items) => items.get(row).map(Item::key),
            Self::Templates(items) => items.get(row).map(Item::key),
            Self::Tools(items) => items.get(row).map(Item::key),
            Self::Prompts(items) => items.get(row).map(Item::key),
            Self::Errors(rows) => rows.get(row).map(|row| match &row.what {
                Trouble::Error(_) => row.asked(),
                Trouble::Note(text) => text,
            }),
            Self::Events(_) | Self::Stderr(_) | Self::Messages(_) => None,
        }
    }

    fn number(&self, row: usize) -> Option<u64> {
        match self {
            Self::Events(events) => events.get(row).map(|event| event.seq),
            Self::Stderr(lines) => lines.get(row).map(|line| line.number),
            Self::Messages(messages) => messages.get(row).map(|message| message.seq),
            Self::Resources(_)
            | Self::Templates(_)
            | Self::Tools(_)
            | Self::Prompts(_)
            | Self::Errors(_) => None,
        }
    }

    /// What the row is known by.
    #[must_use]
    pub fn anchor(&self, row: usize) -> Option<Anchor> {
        if let Some(number) = self.number(row) {
            return Some(Anchor::Number(number));
        }
        let key = self.key(row)?;
        let before = (0..row).filter(|other| self.key(*other) == Some(key));
        Some(Anchor::Item(key.into(), before.count()))
    }

    /// The row that is known by the anchor.
    #[must_use]
    pub fn find(&self, anchor: &Anchor) -> Option<usize> {
        match anchor {
            Anchor::Item(key, nth) => (0..self.len())
                .filter(|row| self.key(*row) == Some(key))
                .nth(*nth),
            Anchor::Number(number) => {
                let row = match self {
                    Self::Events(events) => events.partition_point(|event| event.seq < *number),
                    Self::Stderr(lines) => lines.partition_point(|line| line.number < *number),
                    Self::Messages(messages) => {
                        messages.partition_point(|message| message.seq < *number)
                    }
                    Self::Resources(_)
                    | Self::Templates(_)
                    | Self::Tools(_)
                    | Self::Prompts(_)
                    | Self::Errors(_) => return None,
                };
                (self.number(row) == Some(*number)).then_some(row)
            }
        }
    }

    /// Whether every word stands somewhere in the row, whatever the case.
    #[must_use]
    pub fn matches(&self, row: usize, words: &[&str]) -> bool {
        let all = |texts: &[Option<&str>]| {
            words.iter().all(|word| {
                texts
                    .iter()
                    .flatten()
                    .any(|text| contains_ignoring_case(text, word))
            })
        };
        match self {
            Self::Resources(items) => items.get(row).is_some_and(|item| {
                all(&[
                    Some(&item.uri),
                    Some(&item.name),
                    item.title.as_deref(),
                    item.mime_type.as_deref(),
                ])
            }),
            Self::Templates(items) => items.get(row).is_some_and(|item| {
                all(&[
                    Some(&item.uri_template),
                    Some(&item.name),
                    item.title.as_deref(),
                    item.mime_type.as_deref(),
                ])
            }),
            Self::Tools(items) => items.get(row).is_some_and(|item| {
                all(&[
                    Some(&item.name),
                    item.title.as_deref(),
                    item.description.as_deref(),
                ])
            }),
            Self::Prompts(items) => items.get(row).is_some_and(|item| {
                all(&[
                    Some(&item.name),
                    item.title.as_deref(),
                    item.description.as_deref(),
                ])
            }),
            Self::Errors(rows) => rows
                .get(row)
                .is_some_and(|row| all(&[Some(row.asked()), Some(row.message())])),
            Self::Events(events) => events
                .get(row)
                .is_some_and(|event| all(&[Some(&super::format::event(event))])),
            Self::Stderr(lines) => lines.get(row).is_some_and(|line| all(&[Some(&line.text)])),
            Self::Messages(messages) => messages.get(row).is_some_and(|message| {
                all(&[
                    Some(&message.method),
                    Some(super::format::message_kind(message.kind)),
                ])
            }),
        }
    }

    /// What the last refresh did to the row.
    #[must_use]
    pub fn mark(&self, server: &ServerSnapshot, row: usize) -> Mark {
        let catalog = &server.catalog;
        let changes = match self {
            Self::Resources(_) => &catalog.resources.changes,
            Self::Templates(_) => &catalog.templates.changes,
            Self::Tools(_) => &catalog.tools.changes,
            Self::Prompts(_) => &catalog.prompts.changes,
            Self::Errors(_) | Self::Events(_) | Self::Stderr(_) | Self::Messages(_) => {
                return Mark::Same;
            }
        };
        changes
            .as_ref()
            .and_then(|changes| changes.marks.get(row).copied())
            .unwrap_or(Mark::Same)
    }
}

/// Whether the text has the word, whatever the case. The word is lower-case already.
#[must_use]
pub fn contains_ignoring_case(text: &str, word: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(word);
    }
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let Some(first) = word.first() else {
        return true;
    };
    text.len() >= word.len()
        && (0..=text.len() - word.len()).any(|start| {
            text[start].to_ascii_lowercase() == *first
                && text[start..start + word.len()].eq_ignore_ascii_case(word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::LineKind;

    fn prompts(names: &str) -> Rows {
        Rows::Prompts(
            names
                .split_whitespace()
                .map(|name| Prompt {
                    name: name.into(),
                    title: None,
                    description: None,
                    arguments: None,
                })
                .collect(),
        )
    }

    #[test]
    fn an_anchor_finds_its_row_among_equal_keys() {
        let rows = prompts("a b a c a");
        let anchor = rows.anchor(2).unwrap();
        assert_eq!(anchor, Anchor::Item("a".into(), 1));
        assert_eq!(prompts("x a y a").find(&anchor), Some(3));
        assert_eq!(prompts("x a y").find(&anchor), None);
    }

    #[test]
    fn words_match_in_any_case_and_order() {
        let check = |text: &str, words: &[&str], expected: bool| {
            let rows = Rows::Stderr(Arc::new(VecDeque::from([StderrLine {
                number: 1,
                change: 1,
                kind: LineKind::Stderr,
                text: text.into(),
            }])));
            assert_eq!(rows.matches(0, words), expected, "{text} {words:?}");
        };
        check("Connection Refused", &["refused", "conn"], true);
        check("Connection Refused", &["refused", "x"], false);
        check("Überraschung", &["über"], true);
        check("ab", &["abc"], false);
        check("", &[], true);
    }
}
