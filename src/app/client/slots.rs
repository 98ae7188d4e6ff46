//! How many servers connect at once, and that one name has one process at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::domain::{ServerConfig, Settings, TransportConfig};

/// How many servers connect to one host at once.
const PER_HOST: usize = 4;

/// A slot is given back after this long, whether or not the handshake has ended: a silent server
/// must not keep others waiting.
pub const HELD_AT_MOST: Duration = Duration::from_secs(2);

/// The slots of one engine.
#[derive(Debug)]
pub struct ConnectSlots {
    local: Arc<Semaphore>,
    remote: Arc<Semaphore>,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A slot; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    _all: Option<OwnedSemaphorePermit>,
    _host: Option<OwnedSemaphorePermit>,
}

impl ConnectSlots {
    /// As many slots as the settings say.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            local: Arc::new(Semaphore::new(settings.local_concurrency)),
            remote: Arc::new(Semaphore::new(settings.remote_concurrency)),
            hosts: Mutex::default(),
        }
    }

    /// Waits for a slot. The host's comes first, so that servers of one busy host leave the
    /// others' slots alone.
    pub async fn take(&self, config: &ServerConfig) -> Slot {
        let (host, all) = match &config.transport {
            TransportConfig::Stdio(_) => (None, &self.local),
            TransportConfig::Http(http) => (Some(self.host(&http.url)), &self.remote),
        };
        let host = match host {
            Some(host) => host.acquire_owned().await.ok(),
            None => None,
        };
        Slot {
            _all: Arc::clone(all).acquire_owned().await.ok(),
            _host: host,
        }
    }

    fn host(&self, url: &str) -> Arc<Semaphore> {
        let host = url
            .parse::<http::Uri>()
            .ok()
            .and_then(|uri| uri.host().map(str::to_ascii_lowercase))
            .unwrap_or_default();
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let semaphore = hosts
            .entry(host)
            .or_insert_with(|| Arc::new(Semaphore::new(PER_HOST)));
        Arc::clone(semaphore)
    }
}

/// The place of one name: whoever has it may have a process. It outlives an actor that was
/// removed, so that a server of the same name waits until the old process is reaped.
#[derive(Debug, Clone, Default)]
pub struct Seat(Arc<tokio::sync::Mutex<()>>);

/// The right to have a process.
pub type SeatGuard = OwnedMutexGuard<()>;

impl Seat {
    /// Waits until nobody else has it.
    pub async fn take(&self) -> SeatGuard {
        Arc::clone(&self.0).lock_owned().await
    }

    /// Whether nobody has it or waits for it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}
