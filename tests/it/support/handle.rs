//! The test's side of a fake: what it received, and what it shall do.
//!
//! Every wait is for a condition and has a deadline. A count is taken only after the fake has
//! told all it had read, so that "no more than two requests" means it. Paused time is for
//! in-process fakes only: with a thread or process at the other end every deadline would be over
//! at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::fake::{Action, Logged, Record};

/// How long a fake may take to tell what it has read.
const SETTLE: Duration = Duration::from_secs(10);

/// A running fake, in this process or another. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct FakeHandle {
    commands: UnboundedSender<Action>,
    book: Book,
    syncs: Arc<AtomicU64>,
}

/// The entries of one fake so far.
#[derive(Debug, Clone)]
pub struct Book {
    entries: Arc<Mutex<Vec<Logged>>>,
    progress: watch::Receiver<()>,
}

/// The writing side of a [`Book`]; its drop says that nothing more will come.
#[derive(Debug)]
pub struct BookWriter {
    entries: Arc<Mutex<Vec<Logged>>>,
    progress: watch::Sender<()>,
}

impl Book {
    /// An empty book.
    pub fn new() -> (BookWriter, Self) {
        let entries = Arc::new(Mutex::new(Vec::new()));
        let (sender, progress) = watch::channel(());
        let writer = BookWriter {
            entries: Arc::clone(&entries),
            progress: sender,
        };
        (writer, Self { entries, progress })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Logged>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the entries satisfy this, and returns whether they do; `false` also when the
    /// fake ends before.
    async fn until(&self, satisfied: impl Fn(&[Logged]) -> bool) -> bool {
        let mut progress = self.progress.clone();
        loop {
            if satisfied(&self.lock()) {
                return true;
            }
            if progress.changed().await.is_err() {
                return satisfied(&self.lock());
            }
        }
    }
}

impl Record for BookWriter {
    fn record(&mut self, entry: &Logged) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(entry.clone());
        drop(entries);
        self.progress.send_replace(());
    }
}

impl FakeHandle {
    /// A handle over a book and a way to send commands.
    pub fn new(commands: UnboundedSender<Action>, book: Book) -> Self {
        Self {
            commands,
            book,
            syncs: Arc::default(),
        }
    }

    /// Makes the fake do something; it is in effect before anything that is sent to it later.
    pub async fn send(&self, action: Action) {
        let _ = self.commands.send(action);
        self.settle().await;
    }

    /// Waits until the fake has told everything that it had read, or has ended.
    pub async fn settle(&self) {
        let number = self.syncs.fetch_add(1, Ordering::Relaxed);
        let wanted = i64::try_from(number).unwrap_or(i64::MAX);
        let _ = self.commands.send(Action::Sync(number));
        let told = self.book.until(|entries| {
            let is = |entry: &Logged| entry.is_event("sync") && entry.value == Some(wanted);
            entries.iter().rev().any(is)
        });
        let told = tokio::time::timeout(SETTLE, told).await;
        assert!(told.is_ok(), "the fake did not settle: {}", self.summary());
    }

    /// Everything that it received, events included (but for `sync`).
    pub async fn received(&self) -> Vec<Logged> {
        self.settle().await;
        let entries = self.book.lock();
        entries
            .iter()
            .filter(|entry| !entry.is_event("sync"))
            .cloned()
            .collect()
    }

    /// All messages of one method (or `GET`, `DELETE`).
    pub async fn of(&self, method: &str) -> Vec<Logged> {
        let mut entries = self.received().await;
        entries.retain(|entry| entry.is(method));
        entries
    }

    /// How many messages of one method it received.
    pub async fn count(&self, method: &str) -> usize {
        self.of(method).await.len()
    }

    /// All events of one kind.
    pub async fn events(&self, event: &str) -> Vec<Logged> {
        let mut entries = self.received().await;
        entries.retain(|entry| entry.is_event(event));
        entries
    }

    /// Whether it has told of this event by now.
    pub fn has_heard(&self, event: &str) -> bool {
        self.book.lock().iter().any(|entry| entry.is_event(event))
    }

    /// The methods of all requests and notifications, in order.
    pub async fn methods(&self) -> Vec<String> {
        let entries = self.received().await;
        let method = |entry: Logged| entry.method.clone().filter(|method| entry.is(method));
        entries.into_iter().filter_map(method).collect()
    }

    /// Waits for the nth message of a method (from 1) and returns it.
    ///
    /// # Panics
    /// When it does not come within the deadline, or the fake ends before.
    pub async fn wait_for(&self, method: &str, nth: usize, deadline: Duration) -> Logged {
        let what = format!("{method} x{nth}");
        self.wait_nth(&what, nth, deadline, |entry| entry.is(method))
            .await
    }

    /// Waits for the nth event of a kind (from 1) and returns it.
    ///
    /// # Panics
    /// As [`Self::wait_for`].
    pub async fn wait_event(&self, event: &str, nth: usize, deadline: Duration) -> Logged {
        let what = format!("event {event} x{nth}");
        self.wait_nth(&what, nth, deadline, |entry| entry.is_event(event))
            .await
    }

    /// Waits for the client's answer to the nth request (from 1) that the server made with this
    /// method, and returns it.
    ///
    /// # Panics
    /// As [`Self::wait_for`].
    pub async fn wait_answer(&self, method: &str, nth: usize, deadline: Duration) -> Logged {
        let what = format!("answer to {method} x{nth}");
        self.wait_nth(&what, nth, deadline, |entry| {
            entry.method.as_deref() == Some(method)
                && (entry.result.is_some() || entry.error.is_some())
        })
        .await
    }

    /// Waits until the fake has ended.
    ///
    /// # Panics
    /// When it has not within the deadline.
    pub async fn wait_end(&self, deadline: Duration) {
        let ended = tokio::time::timeout(deadline, self.book.until(|_| false)).await;
        assert!(ended.is_ok(), "the fake still runs: {}", self.summary());
    }

    /// Whether the fake has ended.
    pub fn has_ended(&self) -> bool {
        self.book.progress.has_changed().is_err()
    }

    /// The process id, once the fake has started.
    ///
    /// # Panics
    /// When it does not start within 10 s.
    pub async fn pid(&self) -> u32 {
        let started = self.wait_event("started", 1, SETTLE).await;
        started
            .value
            .and_then(|pid| u32::try_from(pid).ok())
            .unwrap_or_default()
    }

    async fn wait_nth(
        &self,
        what: &str,
        nth: usize,
        deadline: Duration,
        is: impl Fn(&Logged) -> bool,
    ) -> Logged {
        let find = |entries: &[Logged]| entries.iter().filter(|it| is(it)).nth(nth - 1).cloned();
        let came = self.book.until(|entries| find(entries).is_some());
        let came = tokio::time::timeout(deadline, came).await;
        let found = find(&self.book.lock());
        found.unwrap_or_else(|| {
            let why = if came.is_ok() {
                "the fake ended"
            } else {
                "too late"
            };
            panic!("{what} did not come ({why}): {}", self.summary())
        })
    }

    /// What came so far, in short, for messages of failed tests.
    fn summary(&self) -> String {
        let entries = self.book.lock();
        let words = entries
            .iter()
            .filter(|entry| !entry.is_event("sync"))
            .map(|entry| {
                let name = entry
                    .event
                    .as_deref()
                    .or(entry.method.as_deref())
                    .unwrap_or("answer");
                format!("{}ms {name}", entry.at_ms)
            });
        words.collect::<Vec<_>>().join(", ")
    }
}
