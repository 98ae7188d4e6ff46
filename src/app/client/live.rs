//! A connection while it is up: its refreshes, its calls, and the tasks that make them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::discovery::discover;
use super::message::{Loss, Opened, Refreshed, Report};
use super::refresh::{RefreshQueue, Ticket};
use crate::app::engine::EngineOptions;
use crate::domain::server::Mask;
use crate::domain::{Epoch, Failure, Group, ListMethod, Session, TransportKind};
use crate::mcp::alive;
use crate::mcp::listen::listen;
use crate::mcp::negotiate::Era;
use crate::mcp::process::Ladder;
use crate::mcp::{Connection, Requester, Signals, Subscription};

/// How many calls run at once; the rest wait.
const CALLS: usize = 16;

/// How long the first catalog waits for listings that are slower than the first of them.
const FIRST_CATALOG_GRACE: Duration = Duration::from_millis(250);

/// An established connection. Dropping it stops its tasks and kills its process; the gentle way
/// is [`Live::close`].
#[derive(Debug)]
pub(super) struct Live {
    epoch: Epoch,
    connection: Box<Connection>,
    mask: Mask,
    tasks: JoinSet<()>,
    reports: mpsc::Sender<Report>,
    queues: [RefreshQueue; 3],
    done: [Ticket; 3],
    succeeded: [Option<Success>; 3],
    methods: Arc<[ListMethod]>,
    traversal_timeout: Duration,
    calls: Arc<Semaphore>,
    /// Whether notifications lead to refreshes.
    follows: bool,
    first_catalog: FirstCatalog,
    subscription: Listening,
    /// When the connection was established.
    pub(super) since: Instant,
}

/// The first catalog of a connection is published whole, unless a listing keeps it waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstCatalog {
    /// No listing has ended yet.
    Awaited,
    /// Some have; what there is will be published then at the latest.
    Held(Instant),
    /// It was published.
    Published,
}

/// A refresh that succeeded.
#[derive(Debug, Clone, Copy)]
struct Success {
    at: Instant,
    good_until: Option<Instant>,
}

/// Whether the lists wait for a subscription: in the era without `initialize` it is opened before
/// the first list, so that no change is missed in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listening {
    /// Nothing to wait for.
    No,
    /// The lists start when it is answered, or then at the latest.
    Awaited(Instant),
    /// The lists have started without an answer; one that still comes makes them dirty once.
    Late,
}

/// How long the lists wait for the answer to a subscription.
const SUBSCRIPTION_GRACE: Duration = Duration::from_secs(2);

/// How long they wait for the stream of a server of the era with `initialize`. It is answered at
/// once, unless something in between holds it back.
const STREAM_GRACE: Duration = Duration::from_millis(500);

impl Live {
    pub(super) fn new(
        epoch: Epoch,
        opened: Opened,
        options: &EngineOptions,
        traversal_timeout: Duration,
        reports: mpsc::Sender<Report>,
    ) -> Self {
        let interest = options.interest;
        let session = &opened.connection.session;
        let methods: Vec<ListMethod> = ListMethod::ALL
            .into_iter()
            .filter(|method| interest.wants(*method) && session.declares(method.group()))
            .collect();
        let now = Instant::now();
        let mut live = Self {
            epoch,
            connection: opened.connection,
            mask: opened.mask,
            tasks: JoinSet::new(),
            reports,
            queues: [(); 3].map(|()| RefreshQueue::new(options.settings.debounce)),
            done: [0; 3],
            succeeded: [None; 3],
            methods: methods.into(),
            traversal_timeout,
            calls: Arc::new(Semaphore::new(CALLS)),
            follows: options.live,
            first_catalog: FirstCatalog::Awaited,
            subscription: Listening::No,
            since: now,
        };
        if options.live && live.transport() != TransportKind::Stdio {
            let requester = live.connection.requester();
            let signals = Arc::clone(live.signals());
            live.tasks
                .spawn(async move { alive::watch_over(&requester, &signals).await });
        }
        let groups: Vec<Group> = Group::ALL
            .into_iter()
            .filter(|group| live.asks(*group))
            .collect();
        if live.era() == Era::Modern && options.live && !groups.is_empty() {
            live.subscription = Listening::Awaited(now + SUBSCRIPTION_GRACE);
            let requester = live.connection.requester();
            let signals = Arc::clone(live.signals());
            live.tasks
                .spawn(async move { listen(&requester, &signals, &groups).await });
        } else if live.connection.awaits_stream && !groups.is_empty() {
            live.subscription = Listening::Awaited(now + STREAM_GRACE);
        } else {
            live.request_all();
        }
        live
    }

    /// Starts the lists when the subscription is answered, or has been waited for long enough.
    pub(super) fn take_subscription(&mut self) {
        let answered = match self.signals().subscription() {
            Subscription::Acknowledged(_) | Subscription::Refused => true,
            Subscription::Unanswered | Subscription::Reopening => false,
        };
        match self.subscription {
            Listening::Awaited(_) if answered => {
                self.subscription = Listening::No;
                self.request_all();
            }
            Listening::Awaited(until) if until <= Instant::now() => {
                self.subscription = Listening::Late;
                self.request_all();
            }
            Listening::Late if answered => {
                self.subscription = Listening::No;
                if self.signals().subscription() != Subscription::Refused {
                    self.request_all();
                }
            }
            Listening::No | Listening::Awaited(_) | Listening::Late => {}
        }
    }

    /// Whether no list is asked for yet, whoever wants it.
    const fn lists_wait(&self) -> bool {
        matches!(self.subscription, Listening::Awaited(_))
    }

    /// Whether the server will not tell when its lists change.
    pub(super) fn has_no_live_updates(&self) -> bool {
        self.signals().subscription() == Subscription::Refused
    }

    pub(super) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.connection.session)
    }

    /// The transport that the connection came to.
    pub(super) fn transport(&self) -> TransportKind {
        self.connection.transport
    }

    pub(super) fn era(&self) -> Era {
        if self.connection.session.modern {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    pub(super) fn signals(&self) -> &Arc<Signals> {
        &self.connection.signals
    }

    /// The listings that are asked for.
    pub(super) fn methods(&self) -> &Arc<[ListMethod]> {
        &self.methods
    }

    /// Waits until the other side has ended the connection.
    pub(super) async fn ended(&self) {
        self.connection.ended().await;
    }

    fn asks(&self, group: Group) -> bool {
        self.methods.iter().any(|method| method.group() == group)
    }

    /// Wants all listings now.
    pub(super) fn request_all(&mut self) {
        for group in Group::ALL {
            self.request(group);
        }
    }

    /// Wants the group's listings now.
    pub(super) fn request(&mut self, group: Group) {
        if self.asks(group) {
            self.queues[group as usize].request(Instant::now().into_std());
        }
    }

    /// Takes what the server has notified since the last call. A program that does not stay does
    /// not follow it.
    pub(super) fn take_notifications(&mut self) {
        if !self.follows {
            return;
        }
        let now = Instant::now().into_std();
        for group in Group::ALL {
            let count = self.connection.signals.take_list_changed(group);
            let suspect = self.connection.signals.take_suspect(group);
            if !self.asks(group) {
                continue;
            }
            let queue = &mut self.queues[group as usize];
            if count > 0 {
                queue.notify(count, now);
            }
            if suspect {
                queue.suspect(now);
            }
        }
    }

    /// The next moment at which something is to be done.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let held = match self.first_catalog {
            FirstCatalog::Held(until) => Some(until),
            FirstCatalog::Awaited | FirstCatalog::Published => None,
        };
        let subscription = match self.subscription {
            Listening::Awaited(until) => Some(until),
            Listening::No | Listening::Late => None,
        };
        let queues = self.queues.iter().filter(|_| !self.lists_wait());
        queues
            .filter_map(|queue| queue.due().map(Instant::from_std))
            .chain(held)
            .chain(subscription)
            .min()
    }

    /// Starts the refreshes that are due; returns for each the notifications that led to it.
    pub(super) fn start_due(&mut self) -> Vec<(Group, u64)> {
        let now = Instant::now();
        let mut started = Vec::new();
        if self.lists_wait() {
            return started;
        }
        for group in Group::ALL {
            let Some(start) = self.queues[group as usize].start(now.into_std()) else {
                continue;
            };
            started.push((group, start.notifications));
            let (epoch, within) = (self.epoch, self.traversal_timeout);
            let requester = self.connection.requester();
            let methods = Arc::clone(&self.methods);
            let reports = self.reports.clone();
            let mask = self.mask.clone();
            self.tasks.spawn(async move {
                let outcome = discover(&requester, group, &methods, within, &mask).await;
                let refreshed = Refreshed {
                    group,
                    start,
                    took: now.elapsed(),
                    outcome,
                };
                // The actor is gone only when nobody is left to tell.
                let _ = reports.send(Report::Refreshed(epoch, refreshed)).await;
            });
        }
        started
    }

    /// The listings of the group are complete, and good until then where the server says so.
    pub(super) fn succeeded(&mut self, group: Group, good_until: Option<Instant>) {
        self.succeeded[group as usize] = Some(Success {
            at: Instant::now(),
            good_until,
        });
    }

    /// Whether the group's listings are older than the server thinks good, and it does not tell
    /// when they change: a modern server whose acknowledged filter lacks them.
    pub(super) fn has_expired(&self, group: Group) -> bool {
        let untold = match self.signals().subscription() {
            Subscription::Acknowledged(groups) => !groups[group as usize],
            Subscription::Unanswered | Subscription::Reopening | Subscription::Refused => false,
        };
        let good_until = self.succeeded[group as usize].and_then(|success| success.good_until);
        untold
            && self.era() == Era::Modern
            && good_until.is_some_and(|until| until <= Instant::now())
    }

    /// A refresh of the group ended.
    pub(super) fn finished(&mut self, group: Group, ticket: Ticket) {
        let now = Instant::now();
        self.queues[group as usize].finished(now.into_std());
        self.done[group as usize] = ticket;
        while self.tasks.try_join_next().is_some() {}
        if self.first_catalog == FirstCatalog::Awaited {
            self.first_catalog = FirstCatalog::Held(now + FIRST_CATALOG_GRACE);
        }
        if self
            .done
            .iter()
            .zip(Group::ALL)
            .all(|(done, group)| *done > 0 || !self.asks(group))
        {
            self.first_catalog = FirstCatalog::Published;
        }
    }

    /// Whether the first catalog still waits for its other listings.
    pub(super) fn holds_first_catalog(&mut self) -> bool {
        match self.first_catalog {
            FirstCatalog::Held(until) if until <= Instant::now() => {
                self.first_catalog = FirstCatalog::Published;
                false
            }
            FirstCatalog::Held(_) => true,
            FirstCatalog::Awaited | FirstCatalog::Published => false,
        }
    }

    /// Whether the first catalog was published: from then on every catalog is a generation more.
    pub(super) fn first_catalog_is_open(&self) -> bool {
        self.first_catalog != FirstCatalog::Published
    }

    /// The groups that are being refreshed.
    pub(super) fn refreshing(&self) -> Vec<Group> {
        Group::ALL
            .into_iter()
            .filter(|group| self.queues[*group as usize].is_running())
            .collect()
    }

    /// The refresh that a demand made now has to wait for; starts one if the last one failed, or
    /// is too old. `None` where the catalog is healthy, or the group is not asked for.
    pub(super) fn awaited(&mut self, group: Group, healthy: bool) -> Option<Ticket> {
        if !self.asks(group) {
            return None;
        }
        if !healthy && !self.queues[group as usize].is_dirty() {
            self.request(group);
        }
        self.queues[group as usize].awaited()
    }

    /// The refresh that is the first of the group; none has to be waited for where it is not
    /// asked for.
    pub(super) fn first_ticket(&self, group: Group) -> Ticket {
        Ticket::from(self.asks(group))
    }

    /// Whether the refresh has ended.
    pub(super) fn is_done(&self, group: Group, ticket: Ticket) -> bool {
        self.done[group as usize] >= ticket
    }

    /// How long ago a refresh of the group last succeeded.
    pub(super) fn age(&self, group: Group) -> Duration {
        self.succeeded[group as usize].map_or(Duration::ZERO, |success| success.at.elapsed())
    }

    /// Makes a call in a task of its own; nobody waiting any more cancels it.
    pub(super) fn call<T, F>(
        &mut self,
        mut reply: oneshot::Sender<Result<T, Failure>>,
        call: impl FnOnce(Requester) -> F,
    ) where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let calls = Arc::clone(&self.calls);
        let mask = self.mask.clone();
        let called = call(self.connection.requester());
        self.tasks.spawn(async move {
            let outcome = async {
                let _call = calls.acquire().await;
                called.await.map_err(|failure| mask.failure(failure))
            };
            tokio::select! {
                outcome = outcome => {
                    // A failed send: nobody waits for it any more.
                    let _ = reply.send(outcome);
                }
                () = reply.closed() => {}
            }
        });
    }

    /// Asks a remote server for a sign of life; without one the connection ends.
    pub(super) fn check_alive(&mut self) {
        if self.transport() != TransportKind::Stdio {
            let requester = self.connection.requester();
            let signals = Arc::clone(self.signals());
            self.tasks
                .spawn(async move { alive::ensure(&requester, &signals).await });
        }
    }

    /// Stops everything and closes the connection in a task of its own, which reports the end.
    pub(super) fn close(mut self, ladder: watch::Receiver<Ladder>) {
        self.tasks.abort_all();
        let (connection, reports) = (self.connection, self.reports);
        tokio::spawn(async move {
            connection.close(ladder).await;
            let _ = reports.send(Report::Closed).await;
        });
    }

    /// The other side has ended the connection: tells why, then closes what is left of it.
    pub(super) fn bury(mut self, ladder: watch::Receiver<Ladder>) {
        self.tasks.abort_all();
        let (mut connection, reports) = (self.connection, self.reports);
        let (epoch, mask) = (self.epoch, self.mask);
        tokio::spawn(async move {
            let loss = Loss {
                cause: mask.failure(connection.cause_of_end().await),
                expired: connection.signals.is_expired(),
            };
            let _ = reports.send(Report::Lost(epoch, loss)).await;
            connection.close(ladder).await;
            let _ = reports.send(Report::Closed).await;
        });
    }
}
