//! The Servers pane: which servers are shown in which order, and which one is selected.

use std::cmp::Reverse;
use std::sync::Arc;

use super::rows::contains_ignoring_case;
use crate::domain::{AppState, ServerName, ServerSnapshot, Status};

/// How many lines of the screen a server takes.
pub const LINES_EACH: usize = 2;

/// The order of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As in the config files.
    #[default]
    Config,
    /// What needs a person first, then what is connected, then what is off.
    Status,
    /// By name.
    Name,
}

impl Sort {
    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Config => Self::Status,
            Self::Status => Self::Name,
            Self::Name => Self::Config,
        }
    }

    /// What it sorts by, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Config => "config order",
            Self::Status => "status",
            Self::Name => "name",
        }
    }
}

/// The pane's state. The selection is a name, so it follows the server wherever it moves.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// Places in `AppState.servers`, in the order shown.
    order: Vec<usize>,
    selected: Option<ServerName>,
    /// The server that was selected when it vanished, or that is about to appear: when it is there,
    /// it is selected.
    lost: Option<ServerName>,
    cursor: usize,
    offset: usize,
    height: usize,
    needle: String,
    sort: Sort,
}

impl Servers {
    /// Takes the servers of a newer snapshot.
    pub fn put(&mut self, state: &AppState) {
        let needle = self.needle.to_lowercase();
        let words: Vec<&str> = needle.split_whitespace().collect();
        let servers = &state.servers;
        self.order.clear();
        self.order.extend((0..servers.len()).filter(|index| {
            let server = &servers[*index];
            words.iter().all(|word| {
                contains_ignoring_case(server.name.as_str(), word)
                    || server.status.word().contains(word)
            })
        }));
        match self.sort {
            Sort::Config => {}
            Sort::Status => self
                .order
                .sort_by_key(|index| urgency(&servers[*index].status)),
            Sort::Name => self
                .order
                .sort_by(|a, b| servers[*a].name.cmp(&servers[*b].name)),
        }
        let place = |name: &Option<ServerName>| {
            let name = name.as_ref()?;
            self.order
                .iter()
                .position(|index| servers[*index].name == *name)
        };
        if let Some(place) = place(&self.lost) {
            self.cursor = place;
            self.lost = None;
        } else if let Some(place) = place(&self.selected) {
            self.cursor = place;
        } else if self.lost.is_none() {
            self.lost = self.selected.take();
        }
        self.settle(state);
    }

    /// The selected server.
    #[must_use]
    pub const fn selected(&self) -> Option<&ServerName> {
        self.selected.as_ref()
    }

    /// The snapshot of the selected server.
    #[must_use]
    pub fn snapshot<'a>(&self, state: &'a AppState) -> Option<&'a Arc<ServerSnapshot>> {
        self.at(self.cursor, state)
    }

    /// The server at a place among those shown.
    #[must_use]
    pub fn at<'a>(&self, place: usize, state: &'a AppState) -> Option<&'a Arc<ServerSnapshot>> {
        state.servers.get(*self.order.get(place)?)
    }

    /// How many are shown.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether none is shown.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The selected server's place among those shown.
    #[must_use]
    pub const fn cursor(&self) -> usize {
        self.cursor
    }

    /// The first place on screen.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// How many servers fit on the screen.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The filter's text; empty: none.
    #[must_use]
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// The order.
    #[must_use]
    pub const fn sort(&self) -> Sort {
        self.sort
    }

    /// Shows only servers whose name or status has all words of the needle.
    pub fn set_needle(&mut self, needle: &str, state: &AppState) {
        needle.clone_into(&mut self.needle);
        self.put(state);
        // What the filter hides did not vanish.
        self.lost = None;
    }

    /// Goes to the next order.
    pub fn sort_next(&mut self, state: &AppState) {
        self.sort = self.sort.next();
        self.put(state);
    }

    /// Tells how many servers fit on the screen.
    pub fn set_height(&mut self, height: usize, state: &AppState) {
        self.height = height;
        self.settle(state);
    }

    /// Selects the server at a place among those shown.
    pub fn select(&mut self, place: usize, state: &AppState) {
        self.cursor = place;
        self.lost = None;
        self.settle(state);
    }

    /// Selects the server of the name, if it is shown.
    pub fn select_name(&mut self, name: &ServerName, state: &AppState) -> bool {
        let place = (0..self.len()).find(|place| {
            self.at(*place, state)
                .is_some_and(|server| server.name == *name)
        });
        if let Some(place) = place {
            self.select(place, state);
        }
        place.is_some()
    }

    /// Selects the server of the name as soon as there is one; the filter does not hide it.
    pub fn expect(&mut self, name: ServerName) {
        self.needle.clear();
        self.lost = Some(name);
    }

    /// Moves the selection by so many servers.
    pub fn step(&mut self, servers: isize, state: &AppState) {
        self.select(self.cursor.saturating_add_signed(servers), state);
    }

    fn settle(&mut self, state: &AppState) {
        let len = self.len();
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let height = self.height.max(1);
        self.offset = self
            .offset
            .max((self.cursor + 1).saturating_sub(height))
            .min(self.cursor)
            .min(len.saturating_sub(height));
        self.selected = self.snapshot(state).map(|server| server.name.clone());
    }
}

/// What needs a person comes first.
const fn urgency(status: &Status) -> Reverse<u8> {
    Reverse(match status {
        Status::Failed(_) => 6,
        Status::NeedsAuth(_) => 5,
        Status::Reconnecting { .. } => 4,
        Status::Untrusted => 3,
        Status::Connecting => 2,
        Status::Connected(_) => 1,
        Status::Disabled => 0,
    })
}
