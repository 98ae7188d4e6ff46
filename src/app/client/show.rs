//! What an actor shows: its status, its snapshot, and when they are published.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::actor::ClientActor;
use super::report::Update;
use super::stage::{Next, Rest, Retry, Stage};
use crate::domain::{DiscoveryError, EventKind, Failure, ListMethod, ServerSnapshot, Status};

/// Snapshots that differ only in counters (noise, stderr) follow each other no faster than this.
const COUNTER_SPACING: Duration = Duration::from_millis(100);

/// What was published last, as far as the next publication depends on it.
#[derive(Debug, Default)]
pub(super) struct Shown {
    status: Option<(&'static str, u32)>,
    counters: Counters,
    counters_at: Option<Instant>,
    pub(super) counters_due: Option<Instant>,
    pub(super) dirty: bool,
}

/// What changes without anything having happened to the connection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counters {
    /// Lines that were no message, and answers to nothing.
    noise: u64,
    /// The number of the last line of stderr, noise or log.
    lines: u64,
    /// Whether the server refused to tell when its lists change.
    no_live_updates: bool,
}

impl ClientActor {
    pub(super) fn status(&self) -> Status {
        let reconnecting = |retry: &Retry, due: Option<Instant>| Status::Reconnecting {
            attempt: retry.attempt,
            limit: self.backoff.limit(),
            due: due.map(Instant::into_std),
            cause: retry.cause.clone(),
        };
        let resting = |rest: &Rest| match rest {
            Rest::Disabled => Status::Disabled,
            Rest::Untrusted => Status::Untrusted,
            Rest::NeedsAuth(failure) => Status::NeedsAuth(failure.clone()),
            Rest::Failed(failure) => Status::Failed(failure.clone()),
        };
        match &self.stage {
            Stage::Resting(rest) | Stage::Closing(Next::Rest(rest)) => resting(rest),
            Stage::Waiting(retry) | Stage::Closing(Next::Retry(retry)) => {
                reconnecting(retry, Some(retry.due))
            }
            Stage::Connecting {
                retry: Some(retry), ..
            } => reconnecting(retry, None),
            Stage::Up(live) => Status::Connected(live.session()),
            Stage::Connecting { retry: None, .. }
            | Stage::Closing(Next::Connect | Next::Judge { .. }) => Status::Connecting,
            Stage::Closing(Next::End) | Stage::Ended => Status::Disabled,
        }
    }

    /// Publishes if something that is shown has changed.
    pub(super) async fn publish(&mut self) {
        let counters = self.counters();
        let now = Instant::now();
        // What is due needs no further wake-up, whether or not it can be shown already.
        self.shown.counters_due = self.shown.counters_due.filter(|due| *due > now);
        if counters != self.shown.counters {
            let due = self
                .shown
                .counters_at
                .map_or(now, |at| at + COUNTER_SPACING);
            if due <= now {
                self.shown.dirty = true;
            } else {
                self.shown.counters_due = Some(due);
            }
        }
        let held = match &mut self.stage {
            Stage::Up(live) => live.holds_first_catalog(),
            _ => false,
        };
        if !self.shown.dirty || held {
            return;
        }
        let status = self.status();
        self.note_status(&status);
        self.shown.dirty = false;
        self.shown.counters = counters;
        self.shown.counters_at = Some(Instant::now());
        self.shown.counters_due = None;
        let update = Update {
            from: self.id,
            snapshot: Arc::new(self.snapshot(status)),
            events: std::mem::take(&mut self.events),
        };
        if self.context.updates.send(update).await.is_err() {
            tracing::debug!("a snapshot came after the engine had ended");
        }
    }

    /// Adds an event if the status is another one, or another attempt.
    fn note_status(&mut self, status: &Status) {
        let attempt = match status {
            Status::Reconnecting { attempt, .. } => *attempt,
            _ => 0,
        };
        let now = (status.word(), attempt);
        let passing = matches!(self.stage, Stage::Closing(Next::Judge { .. } | Next::End));
        if self.shown.status == Some(now) || passing {
            return;
        }
        self.shown.status = Some(now);
        if let Some(failure) = status.failure() {
            self.log(None, failure);
        }
        // Before the refreshes of the same publication: they happened in it.
        let event = EventKind::Status {
            word: status.word(),
            failure: status.failure().cloned(),
        };
        self.events.insert(0, (SystemTime::now(), event));
    }

    /// Logs a failure by kind and code. What the server said about it is not for a file: it may
    /// hold anything.
    pub(super) fn log(&self, method: Option<ListMethod>, failure: &Failure) {
        tracing::warn!(
            server = %self.definition.name,
            method = method.map(ListMethod::name),
            kind = failure.kind.word(),
            code = failure.kind.code(),
            "{} failed", if method.is_some() { "a listing" } else { "a connection" },
        );
    }

    fn counters(&self) -> Counters {
        let (noise, no_live_updates) = match &self.stage {
            Stage::Up(live) => (live.signals().noise_count(), live.has_no_live_updates()),
            _ => (self.shown.counters.noise, false),
        };
        Counters {
            noise,
            lines: self.lines.last_seq(),
            no_live_updates,
        }
    }

    pub(super) fn snapshot(&self, status: Status) -> ServerSnapshot {
        let (asked, refreshing, latency) = match &self.stage {
            Stage::Up(live) => (
                Arc::clone(live.methods()),
                live.refreshing(),
                live.signals().latency(),
            ),
            _ => (Arc::default(), Vec::new(), None),
        };
        let connection_error = status.failure().map(|failure| DiscoveryError {
            method: None,
            failure: failure.clone(),
            at: SystemTime::now(),
            count: 1,
            kept: false,
        });
        let definition = &self.definition;
        let transport = match &self.stage {
            Stage::Up(live) => live.transport(),
            _ => definition.transport,
        };
        ServerSnapshot {
            name: definition.name.clone(),
            transport,
            target: Arc::clone(&definition.target),
            origin: definition.origin.clone(),
            status,
            epoch: self.epoch,
            generation: self.generation,
            catalog: Arc::new(self.shelf.catalog.clone()),
            asked,
            refreshing: refreshing.into(),
            errors: connection_error
                .into_iter()
                .chain(self.shelf.errors.iter().cloned())
                .collect(),
            latency,
            no_live_updates: self.shown.counters.no_live_updates,
            noise: self.shown.counters.noise,
            stderr_lines: self.shown.counters.lines,
        }
    }
}
