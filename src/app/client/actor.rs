//! The client actor: the one task that owns a server's connection and state.
//!
//! ```text
//!            +--------------------------- turn ----------------------------+
//!            v                                                             |
//!  Resting  -->  Connecting  -->  Up  -->  Closing  -->  Resting | Waiting | Connecting | end
//!                                           ^   |
//!                                           +---+  a later turn wins
//! ```
//!
//! Nothing is awaited here but what comes in; connecting, traversals, calls and closing run as
//! child tasks and report back. Whatever changes the course goes through [`ClientActor::turn`],
//! which first invalidates what is shown, then closes what is alive, and only then goes on.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connecting::Connecting;
use super::discovery::{Moment, Shelf};
use super::handle::{ClientHandle, Demand};
use super::live::Live;
use super::message::{Opened, Refreshed, Report, Request};
use super::refresh::Ticket;
use super::report::{ActorId, Update};
use super::slots::{ConnectSlots, Seat};
use crate::app::definition::Definition;
use crate::app::engine::EngineOptions;
use crate::domain::backoff::Backoff;
use crate::domain::server::Mask;
use crate::domain::{
    DiscoveryError, Epoch, EventKind, Failure, FailureKind, Freshness, Generation, Group,
    RefreshReport, ServerConfig, ServerSnapshot, Status,
};
use crate::mcp::process::{Ladder, Launch};
use crate::mcp::{ConnectOptions, LineRing};

/// How many requests may wait for an actor.
const MAILBOX: usize = 64;

/// How many reports of child tasks may wait for their actor.
const REPORTS: usize = 64;

/// Snapshots that differ only in counters (noise, stderr) follow each other no faster than this.
const COUNTER_SPACING: Duration = Duration::from_millis(100);

/// What all actors of an engine share.
#[derive(Debug, Clone)]
pub(in crate::app) struct Context {
    pub(in crate::app) options: Arc<EngineOptions>,
    pub(in crate::app) launcher: Arc<dyn Launch>,
    pub(in crate::app) slots: Arc<ConnectSlots>,
    pub(in crate::app) updates: mpsc::Sender<Update>,
}

/// One server's actor.
#[derive(Debug)]
pub(in crate::app) struct ClientActor {
    id: ActorId,
    context: Context,
    seat: Seat,
    definition: Arc<Definition>,
    mailbox: mpsc::Receiver<Request>,
    reports: mpsc::Receiver<Report>,
    report_to: mpsc::Sender<Report>,
    stage: Stage,
    backoff: Backoff,
    epoch: Epoch,
    generation: Generation,
    shelf: Shelf,
    lines: Arc<LineRing>,
    waiters: Vec<Waiter>,
    events: Vec<(SystemTime, EventKind)>,
    shown: Shown,
}

/// Where the actor stands. Only `Up` and what is behind `Connecting` and `Closing` is alive.
#[derive(Debug)]
enum Stage {
    Resting(Rest),
    Waiting(Retry),
    Connecting {
        cancel: CancellationToken,
        retry: Option<Retry>,
    },
    Up(Box<Live>),
    Closing(Next),
    Ended,
}

/// Why nothing is alive.
#[derive(Debug, Clone)]
enum Rest {
    Disabled,
    Untrusted,
    NeedsAuth(Failure),
    Failed(Failure),
}

/// A connection that was lost and will be tried again.
#[derive(Debug, Clone)]
struct Retry {
    attempt: u32,
    due: Instant,
    cause: Failure,
}

/// What follows when nothing is alive any more.
#[derive(Debug)]
enum Next {
    Rest(Rest),
    Retry(Retry),
    Connect,
    /// The connection was lost `life` after it was established; how is still being found out.
    Judge {
        life: Duration,
    },
    End,
}

/// Somebody waits for a clean catalog.
#[derive(Debug)]
struct Waiter {
    group: Group,
    /// The refresh to wait for, once there is a connection.
    ticket: Option<Ticket>,
    reply: oneshot::Sender<Demand>,
}

/// What was published last, as far as the next publication depends on it.
#[derive(Debug, Default)]
struct Shown {
    status: Option<(&'static str, u32)>,
    counters: (u64, u64),
    counters_at: Option<Instant>,
    counters_due: Option<Instant>,
    dirty: bool,
}

impl ClientActor {
    /// Spawns the actor of a definition.
    pub(in crate::app) fn spawn(
        id: u64,
        definition: Definition,
        seat: Seat,
        context: Context,
    ) -> ClientHandle {
        let (requests, mailbox) = mpsc::channel(MAILBOX);
        let (report_to, reports) = mpsc::channel(REPORTS);
        let actor = Self {
            id: ActorId(id),
            seat,
            definition: Arc::new(definition),
            mailbox,
            reports,
            report_to,
            stage: Stage::Resting(Rest::Disabled),
            backoff: Backoff::new(context.options.settings.reconnect_attempts),
            epoch: Epoch::default(),
            generation: Generation::default(),
            shelf: Shelf::default(),
            lines: Arc::default(),
            waiters: Vec::new(),
            events: Vec::new(),
            shown: Shown::default(),
            context,
        };
        tokio::spawn(actor.run());
        ClientHandle::new(requests)
    }

    async fn run(mut self) {
        let next = self.as_defined();
        self.turn(next, Ladder::PATIENT);
        self.publish().await;
        while !matches!(self.stage, Stage::Ended) {
            self.step().await;
            self.answer_waiters();
            self.publish().await;
        }
    }

    /// Waits for one thing to happen and takes it.
    async fn step(&mut self) {
        let wake = self.next_wake();
        tokio::select! {
            biased;
            request = self.mailbox.recv() => match request {
                Some(request) => self.take_request(request),
                // Nobody can ask for anything any more.
                None => self.turn(Next::End, Ladder::PATIENT),
            },
            Some(report) = self.reports.recv() => self.take_report(report),
            () = ended(&self.stage) => self.take_end(),
            () = signalled(&self.stage) => self.take_notifications(),
            () = at(wake) => {}
        }
        self.take_time();
    }

    /// Takes what the server has notified; a program that does not stay does not follow it.
    fn take_notifications(&mut self) {
        if let Stage::Up(live) = &mut self.stage
            && self.context.options.live
        {
            live.take_notifications();
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let stage = match &self.stage {
            Stage::Waiting(retry) => Some(retry.due),
            Stage::Up(live) => live.next_wake(),
            Stage::Resting(_) | Stage::Connecting { .. } | Stage::Closing(_) | Stage::Ended => None,
        };
        stage.into_iter().chain(self.shown.counters_due).min()
    }

    /// Does what has become due.
    fn take_time(&mut self) {
        match &mut self.stage {
            Stage::Waiting(retry) if retry.due <= Instant::now() => {
                let retry = retry.clone();
                self.connect(Some(retry));
            }
            Stage::Up(live) => {
                for (group, count) in live.start_due() {
                    self.shown.dirty = true;
                    if count > 0 {
                        self.events
                            .push((SystemTime::now(), EventKind::ListChanged { group, count }));
                    }
                }
            }
            Stage::Resting(_)
            | Stage::Waiting(_)
            | Stage::Connecting { .. }
            | Stage::Closing(_)
            | Stage::Ended => {}
        }
    }

    fn take_request(&mut self, request: Request) {
        match request {
            Request::Read { uri, reply } => match &mut self.stage {
                Stage::Up(live) => live.read(uri, reply),
                _ => {
                    let _ = reply.send(Err(self.not_connected()));
                }
            },
            Request::Demand { group, reply } => {
                // What came before the demand counts, whichever of the two woke us.
                self.take_notifications();
                let ticket = self.awaited(group);
                self.waiters.push(Waiter {
                    group,
                    ticket,
                    reply,
                });
            }
            Request::Refresh => {
                if let Stage::Up(live) = &mut self.stage {
                    live.request_all();
                }
            }
            Request::SetEnabled(enabled) => {
                if self.definition.enabled != enabled {
                    let mut definition = (*self.definition).clone();
                    definition.enabled = enabled;
                    self.redefine(Arc::new(definition));
                }
            }
            Request::Reconnect => self.redefine(Arc::clone(&self.definition)),
            Request::Replace(definition) => self.redefine(definition),
            Request::LinesSince { seq, reply } => {
                let _ = reply.send(self.lines.since(seq));
            }
            Request::Shutdown(ladder) => self.turn(Next::End, ladder),
        }
    }

    /// Starts over with the definition, by a person's will: earlier attempts do not count.
    fn redefine(&mut self, definition: Arc<Definition>) {
        self.definition = definition;
        self.backoff = Backoff::new(self.backoff.limit());
        let next = self.as_defined();
        self.turn(next, Ladder::PATIENT);
    }

    fn as_defined(&self) -> Next {
        if !self.definition.enabled {
            Next::Rest(Rest::Disabled)
        } else if self.definition.trusted {
            Next::Connect
        } else {
            Next::Rest(Rest::Untrusted)
        }
    }

    fn take_report(&mut self, report: Report) {
        match report {
            Report::Connected(epoch, outcome) => self.take_connected(epoch, outcome),
            Report::Refreshed(epoch, refreshed) => {
                if epoch == self.epoch {
                    self.take_refreshed(refreshed);
                }
            }
            Report::Lost(epoch, cause) => {
                if let Stage::Closing(next) = &mut self.stage
                    && let Next::Judge { life } = *next
                    && epoch == self.epoch
                {
                    self.backoff.lived(life);
                    *next = judge(&mut self.backoff, self.context.options.live, cause);
                    self.shown.dirty = true;
                }
            }
            Report::Closed => {
                if let Stage::Closing(next) = &mut self.stage {
                    let next = std::mem::replace(next, Next::End);
                    self.proceed(next);
                }
            }
        }
    }

    fn take_connected(&mut self, epoch: Epoch, outcome: Option<Result<Opened, Failure>>) {
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Connecting { retry, .. } => match outcome {
                Some(Ok(opened)) => self.go_up(epoch, opened),
                Some(Err(failure)) => self.take_failure(failure, retry.is_some()),
                None => self.turn(Next::Connect, Ladder::PATIENT),
            },
            // It was called off. If the handshake was faster, what it opened is closed first.
            Stage::Closing(next) => match outcome {
                Some(Ok(opened)) => {
                    self.stage = Stage::Closing(next);
                    self.live(epoch, opened).close(Ladder::PATIENT);
                }
                Some(Err(_)) | None => self.proceed(next),
            },
            stage @ (Stage::Resting(_) | Stage::Waiting(_) | Stage::Up(_) | Stage::Ended) => {
                self.stage = stage;
            }
        }
    }

    fn live(&self, epoch: Epoch, opened: Opened) -> Live {
        let settings = &self.context.options.settings;
        let timeout = self
            .config()
            .ok()
            .and_then(|config| config.traversal_timeout)
            .unwrap_or(settings.traversal_timeout);
        Live::new(
            epoch,
            opened,
            self.context.options.interest,
            settings,
            timeout,
            self.report_to.clone(),
        )
    }

    fn go_up(&mut self, epoch: Epoch, opened: Opened) {
        let live = self.live(epoch, opened);
        for waiter in &mut self.waiters {
            waiter.ticket = Some(1);
        }
        self.stage = Stage::Up(Box::new(live));
        self.shown.dirty = true;
    }

    /// An attempt to connect failed. Only a lost connection is tried again.
    fn take_failure(&mut self, failure: Failure, was_retry: bool) {
        let next = match failure.kind {
            FailureKind::Auth => Next::Rest(Rest::NeedsAuth(failure)),
            FailureKind::Config => Next::Rest(Rest::Failed(failure)),
            _ if was_retry => judge(&mut self.backoff, self.context.options.live, failure),
            _ => Next::Rest(Rest::Failed(failure)),
        };
        self.proceed(next);
    }

    fn take_refreshed(&mut self, refreshed: Refreshed) {
        let Stage::Up(live) = &mut self.stage else {
            return;
        };
        let Refreshed {
            group,
            start,
            took,
            outcome,
        } = refreshed;
        let wall = SystemTime::now();
        let opening = live.first_catalog_is_open() && self.shelf.is_published();
        let applied = self.shelf.apply(
            outcome,
            Moment {
                mono: Instant::now().into_std(),
                wall,
            },
        );
        live.finished(group, start.ticket, applied.failures.is_empty());
        // The listings of a first catalog share its generation.
        if !applied.counts.is_empty() && !opening {
            self.generation = self.generation.next();
            self.shelf.published();
        }
        self.events.push((
            wall,
            EventKind::Refresh(RefreshReport {
                group,
                notifications: start.notifications,
                generation: self.generation,
                took,
                counts: applied.counts,
                failures: applied.failures,
            }),
        ));
        self.shown.dirty = true;
    }

    /// The other side has ended the connection.
    fn take_end(&mut self) {
        if let Stage::Up(live) = std::mem::replace(&mut self.stage, Stage::Ended) {
            let life = live.since.elapsed();
            self.invalidate();
            self.stage = Stage::Closing(Next::Judge { life });
            live.bury();
        }
    }

    /// Changes the course: invalidates what is shown, closes what is alive, and goes on with
    /// `next` when nothing is. A turn during the closing replaces what follows.
    fn turn(&mut self, next: Next, ladder: Ladder) {
        self.invalidate();
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Resting(_) | Stage::Waiting(_) | Stage::Ended => self.proceed(next),
            Stage::Connecting { cancel, .. } => {
                cancel.cancel();
                self.stage = Stage::Closing(next);
            }
            Stage::Up(live) => {
                self.stage = Stage::Closing(next);
                live.close(ladder);
            }
            Stage::Closing(_) => self.stage = Stage::Closing(next),
        }
    }

    /// Nothing is alive: goes on.
    fn proceed(&mut self, next: Next) {
        self.shown.dirty = true;
        match next {
            Next::Rest(rest) => self.stage = Stage::Resting(rest),
            Next::Retry(retry) => self.stage = Stage::Waiting(retry),
            Next::Connect => self.connect(None),
            Next::Judge { .. } => {
                // The connection's end was reported before its cause: it has none to tell.
                let cause = Failure::new(FailureKind::Closed, "the connection closed");
                let next = judge(&mut self.backoff, self.context.options.live, cause);
                self.proceed(next);
            }
            Next::End => self.stage = Stage::Ended,
        }
    }

    fn connect(&mut self, retry: Option<Retry>) {
        self.shown.dirty = true;
        let config = match self.config() {
            Ok(config) => config,
            Err(failure) => {
                self.stage = Stage::Resting(Rest::Failed(failure));
                return;
            }
        };
        self.epoch = self.epoch.next();
        self.lines.set_mask(Mask::new(config.secrets()));
        let connecting = Connecting {
            epoch: self.epoch,
            options: ConnectOptions::of(
                &config,
                &self.context.options.settings,
                Arc::clone(&self.context.launcher),
            ),
            config,
            slots: Arc::clone(&self.context.slots),
            seat: self.seat.clone(),
            lines: Arc::clone(&self.lines),
            reports: self.report_to.clone(),
        };
        self.stage = Stage::Connecting {
            cancel: connecting.start(),
            retry,
        };
    }

    fn config(&self) -> Result<Arc<ServerConfig>, Failure> {
        self.definition.config.get()
    }

    /// Nothing that is shown holds any more.
    fn invalidate(&mut self) {
        self.shelf.reconnected();
        self.shown.dirty = true;
        for waiter in &mut self.waiters {
            waiter.ticket = None;
        }
    }

    fn awaited(&mut self, group: Group) -> Option<Ticket> {
        let Stage::Up(live) = &mut self.stage else {
            return None;
        };
        let catalog = &self.shelf.catalog;
        let clean = live
            .methods()
            .iter()
            .filter(|method| method.group() == group)
            .all(|method| catalog.freshness(*method) == Freshness::Fresh);
        live.awaited(group, clean).or(Some(0))
    }

    /// Answers those who waited for what has come, or cannot come.
    fn answer_waiters(&mut self) {
        if self.waiters.is_empty() {
            return;
        }
        let unreachable = match &self.stage {
            Stage::Resting(_) | Stage::Ended => Some(self.not_connected()),
            Stage::Waiting(_) | Stage::Connecting { .. } | Stage::Up(_) | Stage::Closing(_) => None,
        };
        let catalog = Arc::new(self.shelf.catalog.clone());
        for waiter in std::mem::take(&mut self.waiters) {
            let Waiter {
                group,
                ticket,
                reply,
            } = waiter;
            let (error, age) = match (&self.stage, ticket) {
                (Stage::Up(live), Some(ticket)) if live.is_done(group, ticket) => {
                    let in_group = |error: &&DiscoveryError| {
                        error.method.is_some_and(|method| method.group() == group)
                    };
                    match self.shelf.errors.iter().find(in_group) {
                        Some(error) => (Some(error.failure.clone()), live.age(group)),
                        None => (None, Duration::ZERO),
                    }
                }
                _ if unreachable.is_some() => (unreachable.clone(), Duration::ZERO),
                _ => {
                    if !reply.is_closed() {
                        self.waiters.push(Waiter {
                            group,
                            ticket,
                            reply,
                        });
                    }
                    continue;
                }
            };
            let _ = reply.send(Demand {
                catalog: Arc::clone(&catalog),
                error,
                age,
            });
        }
    }

    fn not_connected(&self) -> Failure {
        let status = self.status();
        let kind = status
            .failure()
            .map_or(FailureKind::Connect, |failure| failure.kind);
        let what = match &status {
            Status::Disabled => "the server is disabled; enable it first".to_owned(),
            Status::Untrusted => {
                "the server is of a project file that was not approved; trust it first".to_owned()
            }
            other => match other.failure() {
                Some(failure) => format!("not connected ({}: {failure})", other.word()),
                None => format!("not connected ({})", other.word()),
            },
        };
        Failure::new(kind, what)
    }

    fn status(&self) -> Status {
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
    async fn publish(&mut self) {
        let counters = self.counters();
        if counters != self.shown.counters {
            let now = Instant::now();
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
        // Before the refreshes of the same publication: they happened in it.
        let event = EventKind::Status {
            word: status.word(),
            failure: status.failure().cloned(),
        };
        self.events.insert(0, (SystemTime::now(), event));
    }

    /// Noise and lines so far.
    fn counters(&self) -> (u64, u64) {
        let noise = match &self.stage {
            Stage::Up(live) => live.signals().noise_count(),
            _ => self.shown.counters.0,
        };
        (noise, self.lines.last_seq())
    }

    fn snapshot(&self, status: Status) -> ServerSnapshot {
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
        ServerSnapshot {
            name: definition.name.clone(),
            transport: definition.transport,
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
            noise: self.shown.counters.0,
            stderr_lines: self.shown.counters.1,
        }
    }
}

/// What follows a lost connection: another attempt, or the end of trying.
fn judge(backoff: &mut Backoff, live: bool, cause: Failure) -> Next {
    let jitter = RandomState::new().hash_one(0_u8) % 1_000;
    #[expect(clippy::cast_precision_loss, reason = "the number is below 1,000")]
    let jitter = jitter as f64 / 1_000.0;
    match backoff.next(jitter).filter(|_| live) {
        Some((attempt, wait)) => Next::Retry(Retry {
            attempt,
            due: Instant::now() + wait,
            cause,
        }),
        None => Next::Rest(Rest::Failed(cause)),
    }
}

async fn ended(stage: &Stage) {
    match stage {
        Stage::Up(live) => live.ended().await,
        _ => std::future::pending().await,
    }
}

async fn signalled(stage: &Stage) {
    match stage {
        Stage::Up(live) => live.signals().changed().await,
        _ => std::future::pending().await,
    }
}

async fn at(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
