//! Spawns the actors, merges their snapshots and publishes [`AppState`].

use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::client::ClientHandle;
use super::definition::Definition;
use super::engine::{EngineOptions, Ladder};
use crate::domain::{AppState, Event, ServerName};

/// What the supervisor is asked to do.
#[derive(Debug)]
pub(super) enum Command {
    Put(Vec<Definition>),
    Insert(usize, Definition),
    Remove(ServerName),
    SetEnabled(ServerName, bool),
    Refresh(ServerName),
    RefreshAll,
    Reconnect(ServerName),
    Note(Option<ServerName>, Arc<str>),
    Client(ServerName, oneshot::Sender<Option<ClientHandle>>),
    Shutdown(Ladder),
}

pub(super) struct Supervisor {}

impl Supervisor {
    pub(super) fn new(
        _options: EngineOptions,
        _mailbox: mpsc::Receiver<Command>,
        _publish: watch::Sender<Arc<AppState>>,
        _events: broadcast::Sender<Arc<Event>>,
    ) -> Self {
        Self {}
    }

    pub(super) async fn run(self) {}
}
