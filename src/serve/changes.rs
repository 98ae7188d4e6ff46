//! Tells our own clients when the resources or templates that we offer have changed.
//!
//! A client of the era of `initialize` is told on its connection, one of the later era on the
//! subscription that it opened. Changes of many servers at once are told once.

use std::sync::Arc;
use std::time::Duration;

use rmcp::{Peer, RoleServer};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::app::EngineHandle;
use crate::domain::{AppState, Resource, ResourceTemplate, ServerName};

/// How long a change waits for more of its kind.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// How long a client may take to accept a notification.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many new clients may wait to be known.
const NEWCOMERS: usize = 64;

/// What a connection needs to hear of changes.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    newcomers: mpsc::Sender<Peer<RoleServer>>,
    version: watch::Receiver<u64>,
}

/// The task that sees changes.
#[derive(Debug)]
pub(super) struct Watcher {
    engine: EngineHandle,
    newcomers: mpsc::Receiver<Peer<RoleServer>>,
    version: watch::Sender<u64>,
    peers: Vec<Peer<RoleServer>>,
    telling: JoinSet<()>,
}

/// Both sides.
pub(super) fn changes(engine: EngineHandle) -> (Changes, Watcher) {
    let (newcomers, arrivals) = mpsc::channel(NEWCOMERS);
    let (sender, version) = watch::channel(0);
    let watcher = Watcher {
        engine,
        newcomers: arrivals,
        version: sender,
        peers: Vec::new(),
        telling: JoinSet::new(),
    };
    (Changes { newcomers, version }, watcher)
}

impl Changes {
    /// Tells the client of every change from now on.
    pub(super) async fn tell(&self, peer: Peer<RoleServer>) {
        // A failed send: we are ending.
        let _ = self.newcomers.send(peer).await;
    }

    /// The number of changes so far, as it grows.
    pub(super) fn version(&self) -> watch::Receiver<u64> {
        let mut version = self.version.clone();
        version.mark_unchanged();
        version
    }
}

impl Watcher {
    /// Runs until the engine ends.
    pub(super) async fn run(mut self) {
        let mut states = self.engine.state();
        let mut offered = offer(&states.borrow_and_update());
        loop {
            tokio::select! {
                Some(peer) = self.newcomers.recv() => {
                    self.peers.retain(|peer| !peer.is_transport_closed());
                    self.peers.push(peer);
                }
                changed = states.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let now = offer(&states.borrow_and_update());
                    if same(&offered, &now) {
                        continue;
                    }
                    sleep(DEBOUNCE).await;
                    offered = offer(&states.borrow_and_update());
                    self.tell_all();
                }
            }
            while self.telling.try_join_next().is_some() {}
        }
    }

    fn tell_all(&mut self) {
        self.version.send_modify(|version| *version += 1);
        self.peers.retain(|peer| !peer.is_transport_closed());
        for peer in self.peers.clone() {
            self.telling.spawn(async move {
                let told = timeout(PATIENCE, peer.notify_resource_list_changed()).await;
                if !matches!(told, Ok(Ok(()))) {
                    tracing::debug!("a client could not be told of a change");
                }
            });
        }
    }
}

/// What is offered of each server that offers anything.
type Offer = Vec<(ServerName, Arc<[Resource]>, Arc<[ResourceTemplate]>)>;

fn offer(state: &AppState) -> Offer {
    let servers = state.servers.iter().filter_map(|server| {
        let resources = Arc::clone(&server.catalog.resources.items);
        let templates = Arc::clone(&server.catalog.templates.items);
        let is_empty = resources.is_empty() && templates.is_empty();
        (!is_empty).then(|| (server.name.clone(), resources, templates))
    });
    servers.collect()
}

/// Whether both offers are equal; most refreshes bring nothing new.
fn same(before: &Offer, now: &Offer) -> bool {
    fn equal<T: PartialEq>(a: &Arc<[T]>, b: &Arc<[T]>) -> bool {
        Arc::ptr_eq(a, b) || a == b
    }
    before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| {
            before.0 == now.0 && equal(&before.1, &now.1) && equal(&before.2, &now.2)
        })
}
