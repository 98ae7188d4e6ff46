//! What a connection tells its actor: counters that are raised, and one wake-up.
//!
//! Order and number of notifications do not matter to a refresh, so none of them is a message;
//! a storm costs a few atomic additions.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::domain::{Failure, FailureKind, Group};

/// Counters of one connection.
#[derive(Debug, Default)]
pub struct Signals {
    list_changed: [AtomicU64; 3],
    suspect: [AtomicBool; 3],
    noise: AtomicU64,
    latency_micros: AtomicU64,
    subscription: Mutex<Subscription>,
    changed: Notify,
    awake: AtomicBool,
    closed: CancellationToken,
    expired: AtomicBool,
    cause: Mutex<Option<Failure>>,
}

/// How the subscription of the era without `initialize` stands (MCP 2026-07-28,
/// `subscriptions/listen`), or the stream of the other era's HTTP servers that stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subscription {
    /// There is none, or it was not answered yet.
    #[default]
    Unanswered,
    /// Its stream ended, and it was asked for anew.
    Reopening,
    /// The server will notify about these groups.
    Acknowledged([bool; 3]),
    /// The server does not take subscriptions.
    Refused,
}

impl Signals {
    /// The other side has ended the connection; the first cause that is told stays.
    pub fn end(&self, cause: Option<Failure>) {
        let mut told = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        *told = told.take().or(cause);
        drop(told);
        self.closed.cancel();
    }

    /// The server has forgotten the session, and a fresh one will do (MCP 2025-11-25, transports,
    /// session management).
    pub fn expire(&self) {
        self.expired.store(true, Ordering::Release);
        self.end(Some(Failure::new(
            FailureKind::Closed,
            "the server has forgotten the session",
        )));
    }

    /// Whether the connection ended because the session did.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Acquire)
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Waits until the other side has ended the connection.
    pub async fn ended(&self) {
        self.closed.cancelled().await;
    }

    /// Why the connection ended, where the transport knows.
    #[must_use]
    pub fn cause(&self) -> Option<Failure> {
        self.cause
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The subscription stands otherwise now.
    pub fn set_subscription(&self, subscription: Subscription) {
        *self
            .subscription
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = subscription;
        self.wake();
    }

    /// The server will notify about these groups. What changed while nobody listened is unknown.
    pub fn acknowledged(&self, groups: [bool; 3]) {
        if self.subscription() == Subscription::Reopening {
            for group in Group::ALL {
                if groups[group as usize] {
                    self.suspect(group);
                }
            }
        }
        self.set_subscription(Subscription::Acknowledged(groups));
    }

    /// How the subscription stands.
    #[must_use]
    pub fn subscription(&self) -> Subscription {
        *self
            .subscription
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The server said that lists of the group changed.
    pub fn list_changed(&self, group: Group) {
        self.list_changed[group as usize].fetch_add(1, Ordering::Relaxed);
        self.wake();
    }

    /// The number of notifications for the group since the last call.
    #[must_use]
    pub fn take_list_changed(&self, group: Group) -> u64 {
        self.list_changed[group as usize].swap(0, Ordering::Relaxed)
    }

    /// Lists of the group may have changed without a word.
    pub fn suspect(&self, group: Group) {
        self.suspect[group as usize].store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether [`Signals::suspect`] was called for the group since the last call.
    #[must_use]
    pub fn take_suspect(&self, group: Group) -> bool {
        self.suspect[group as usize].swap(false, Ordering::Relaxed)
    }

    /// Something came that is no message, or answers no request.
    pub fn noise(&self) {
        self.noise.fetch_add(1, Ordering::Relaxed);
        self.wake();
    }

    /// How often [`Signals::noise`] was called.
    #[must_use]
    pub fn noise_count(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    /// An answer took this long.
    pub fn answered_after(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros())
            .unwrap_or(u64::MAX)
            .max(1);
        self.latency_micros.store(micros, Ordering::Relaxed);
    }

    /// How long the last answer took.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match self.latency_micros.load(Ordering::Relaxed) {
            0 => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }

    /// Something else changed that a snapshot shows: a line in the ring.
    pub fn wake(&self) {
        if !self.awake.swap(true, Ordering::AcqRel) {
            self.changed.notify_one();
        }
    }

    /// Waits until something was signalled since the last call.
    pub async fn changed(&self) {
        self.changed.notified().await;
        // What was counted before the last wake-up is seen after this.
        self.awake.swap(false, Ordering::AcqRel);
    }
}
