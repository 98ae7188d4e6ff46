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

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connecting::Connecting;
use super::discovery::{Moment, Shelf};
use super::handle::ClientHandle;
use super::live::Live;
use super::message::{Loss, Opened, Refreshed, Report, Request};
use super::report::{ActorId, Update};
use super::show::Shown;
use super::slots::{ConnectSlots, Seat};
use super::stage::{Next, Rest, Retry, Stage, at, ended, judge, signalled};
use super::waiting::Waiter;
use crate::app::definition::Definition;
use crate::app::engine::{EngineOptions, Face};
use crate::domain::backoff::{Backoff, STABLE_AFTER};
use crate::domain::{Epoch, EventKind, Failure, FailureKind, Generation, RefreshReport};
use crate::mcp::auth::TokenStore;
use crate::mcp::masking::mask_of;
use crate::mcp::negotiate::Era;
use crate::mcp::process::{Ladder, Launch};
use crate::mcp::{ConnectOptions, LineRing};

/// How many requests may wait for an actor.
const MAILBOX: usize = 64;

/// How many reports of child tasks may wait for their actor.
const REPORTS: usize = 64;

/// What all actors of an engine share.
#[derive(Debug, Clone)]
pub(in crate::app) struct Context {
    pub(in crate::app) options: Arc<EngineOptions>,
    pub(in crate::app) launcher: Arc<dyn Launch>,
    pub(in crate::app) slots: Arc<ConnectSlots>,
    pub(in crate::app) logins: Option<Arc<TokenStore>>,
    pub(in crate::app) ladder: watch::Receiver<Ladder>,
    pub(in crate::app) updates: mpsc::Sender<Update>,
}

/// One server's actor.
#[derive(Debug)]
pub(in crate::app) struct ClientActor {
    pub(super) id: ActorId,
    pub(super) context: Context,
    seat: Seat,
    pub(super) definition: Arc<Definition>,
    mailbox: mpsc::Receiver<Request>,
    reports: mpsc::Receiver<Report>,
    report_to: mpsc::Sender<Report>,
    pub(super) stage: Stage,
    pub(super) backoff: Backoff,
    pub(super) epoch: Epoch,
    /// The era that a connection of this definition found out.
    pub(super) known_era: Option<Era>,
    /// Whether the connection has a fresh session in place of one that the server had forgotten.
    renewed: bool,
    pub(super) generation: Generation,
    pub(super) shelf: Shelf,
    pub(super) lines: Arc<LineRing>,
    /// Those who wait for lines or messages; they end with the actor.
    pub(super) followers: JoinSet<()>,
    pub(super) waiters: Vec<Waiter>,
    pub(super) events: Vec<(SystemTime, EventKind)>,
    pub(super) shown: Shown,
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
        let lines = Arc::new(match context.options.face {
            Face::Deck => LineRing::with_trace(),
            Face::Cli | Face::Serve(_) => LineRing::default(),
        });
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
            known_era: None,
            renewed: false,
            generation: Generation::default(),
            shelf: Shelf::default(),
            lines,
            followers: JoinSet::new(),
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
        self.turn(next);
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
                None => self.turn(Next::End),
            },
            Some(report) = self.reports.recv() => self.take_report(report),
            () = ended(&self.stage) => self.take_end(),
            () = signalled(&self.stage) => self.take_notifications(),
            () = at(wake) => {}
        }
        self.take_time();
    }

    /// Takes what the server has notified.
    pub(super) fn take_notifications(&mut self) {
        if let Stage::Up(live) = &mut self.stage {
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
                live.take_subscription();
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

    /// Starts over with the definition, by a person's will: earlier attempts do not count.
    pub(super) fn redefine(&mut self, definition: Arc<Definition>) {
        self.definition = definition;
        self.renewed = false;
        self.backoff = Backoff::new(self.backoff.limit());
        let next = self.as_defined();
        self.turn(next);
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
            Report::Lost(epoch, loss) => {
                if let Stage::Closing(Next::Judge { life }) = self.stage
                    && epoch == self.epoch
                {
                    self.stage = Stage::Closing(self.after_loss(loss, life));
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
                None => self.turn(Next::Connect),
            },
            // It was called off. If the handshake was faster, what it opened is closed first.
            Stage::Closing(next) => match outcome {
                Some(Ok(opened)) => {
                    self.stage = Stage::Closing(next);
                    let ladder = self.context.ladder.clone();
                    self.live(epoch, opened).close(ladder);
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
            .definition
            .config_for(self.context.options.face)
            .ok()
            .and_then(|config| config.traversal_timeout)
            .unwrap_or(settings.traversal_timeout);
        Live::new(
            epoch,
            opened,
            &self.context.options,
            timeout,
            self.report_to.clone(),
        )
    }

    fn go_up(&mut self, epoch: Epoch, opened: Opened) {
        let live = self.live(epoch, opened);
        self.known_era = Some(live.era());
        for waiter in &mut self.waiters {
            waiter.ticket = Some(live.first_ticket(waiter.group));
        }
        self.stage = Stage::Up(Box::new(live));
        self.shown.dirty = true;
    }

    /// An attempt to connect failed. Only a lost connection is tried again.
    fn take_failure(&mut self, failure: Failure, was_retry: bool) {
        let next = match failure.kind {
            FailureKind::Auth => Next::Rest(Rest::NeedsAuth(failure)),
            FailureKind::Config => Next::Rest(Rest::Failed(failure)),
            _ if was_retry || std::mem::take(&mut self.renewed) => {
                judge(&mut self.backoff, self.context.options.live, failure)
            }
            _ => Next::Rest(Rest::Failed(failure)),
        };
        self.proceed(next);
    }

    /// A session that the server has forgotten is replaced at once, by one fresh session: if that
    /// one is forgotten too soon, it counts as any other loss.
    fn after_loss(&mut self, loss: Loss, life: Duration) -> Next {
        self.backoff.lived(life);
        if loss.expired && !(self.renewed && life < STABLE_AFTER) {
            self.renewed = true;
            return Next::Connect;
        }
        self.renewed = false;
        if loss.cause.kind == FailureKind::Auth {
            return Next::Rest(Rest::NeedsAuth(loss.cause));
        }
        judge(&mut self.backoff, self.context.options.live, loss.cause)
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
        let good_until = outcome.good_until();
        let opening = live.first_catalog_is_open() && self.shelf.is_published();
        let applied = self.shelf.apply(
            outcome,
            Moment {
                mono: Instant::now().into_std(),
                wall,
            },
        );
        if applied.failures.is_empty() {
            live.succeeded(group, good_until);
        }
        live.finished(group, start.ticket);
        for (method, failure) in &applied.failures {
            self.log(Some(*method), failure);
        }
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
                names: applied.names,
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
            live.bury(self.context.ladder.clone());
        }
    }

    /// Changes the course: invalidates what is shown, closes what is alive, and goes on with
    /// `next` when nothing is. A turn during the closing replaces what follows.
    pub(super) fn turn(&mut self, next: Next) {
        self.invalidate();
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Resting(_) | Stage::Waiting(_) | Stage::Ended => self.proceed(next),
            Stage::Connecting { cancel, .. } => {
                cancel.cancel();
                self.stage = Stage::Closing(next);
            }
            Stage::Up(live) => {
                self.stage = Stage::Closing(next);
                live.close(self.context.ladder.clone());
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
        let config = match self.definition.config_for(self.context.options.face) {
            Ok(config) => config,
            Err(failure) => {
                self.stage = Stage::Resting(Rest::Failed(failure));
                return;
            }
        };
        self.epoch = self.epoch.next();
        let ours = std::env::vars_os();
        let ours = ours.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mask = mask_of(&config, ours);
        self.lines.set_mask(mask.clone());
        let connecting = Connecting {
            epoch: self.epoch,
            options: ConnectOptions {
                known_era: self.known_era,
                listens: self.context.options.live,
                mask: mask.clone(),
                logins: self.context.logins.clone(),
                ..ConnectOptions::of(
                    &config,
                    &self.context.options.settings,
                    Arc::clone(&self.context.launcher),
                    self.context.ladder.clone(),
                )
            },
            config,
            slots: Arc::clone(&self.context.slots),
            seat: self.seat.clone(),
            lines: Arc::clone(&self.lines),
            mask,
            reports: self.report_to.clone(),
        };
        self.stage = Stage::Connecting {
            cancel: connecting.start(),
            retry,
        };
    }

    /// Nothing that is shown holds any more.
    fn invalidate(&mut self) {
        self.shelf.reconnected();
        self.shown.dirty = true;
        for waiter in &mut self.waiters {
            waiter.ticket = None;
        }
    }
}
