//! What happened, as values: the Events tab and `watch` read the same ones.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::diff::{Counts, Names};
use super::error::Failure;
use super::ids::{Generation, Group, ListMethod, ServerName};

/// Something that happened. `seq` grows by one with each event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place in the run's order, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: SystemTime,
    /// Which server it is about; `None` for the program itself.
    pub server: Option<ServerName>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The server has another status.
    Status {
        /// The status word.
        word: &'static str,
        /// Why, where it is a bad one.
        failure: Option<Failure>,
    },
    /// The server said that lists of the group changed.
    ListChanged {
        /// Which lists.
        group: Group,
        /// How many notifications were merged.
        count: u64,
    },
    /// A refresh ended.
    Refresh(RefreshReport),
    /// Something the person should know that is neither: a hidden definition, a file that could not be written.
    Note(Arc<str>),
}

/// How a refresh of one group ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshReport {
    /// Which group.
    pub group: Group,
    /// The notifications that led to it; 0 for a first catalog or a refresh by hand.
    pub notifications: u64,
    /// The generation that is shown now: the new one, or the one that was kept.
    pub generation: Generation,
    /// How long it took.
    pub took: Duration,
    /// For each listing that succeeded what changed.
    pub counts: Vec<(ListMethod, Counts)>,
    /// For each of those the first names of what changed.
    pub names: Vec<(ListMethod, Names)>,
    /// Each listing that failed.
    pub failures: Vec<(ListMethod, Failure)>,
}

impl RefreshReport {
    /// Whether every listing succeeded.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.failures.is_empty()
    }
}
