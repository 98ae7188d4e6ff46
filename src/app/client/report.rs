//! What an actor tells the supervisor: its snapshot, and the events that led to it.

use std::sync::Arc;
use std::time::SystemTime;

use crate::domain::{EventKind, ServerSnapshot};

/// Tells apart actors that had the same name one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActorId(pub u64);

/// A snapshot and what happened since the last one, in one message: whoever sees an event sees a
/// state that has it.
#[derive(Debug)]
pub struct Update {
    /// Who says it.
    pub from: ActorId,
    /// How the server stands now.
    pub snapshot: Arc<ServerSnapshot>,
    /// What happened, oldest first.
    pub events: Vec<(SystemTime, EventKind)>,
}
