//! What a server wrote beside its messages: stderr, noise on stdout, and log notifications, in one
//! bounded ring; and in another the messages themselves, where a face shows them.

mod ring;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::cursors::Cursors;
use super::decode::Cursor;
use super::trace::{Direction, Head, MAX_MESSAGE, Message, TraceRing};
use crate::domain::ListMethod;
use crate::domain::server::Mask;
use ring::Ring;
pub use stream::LineStream;

/// The most lines that are kept.
pub const MAX_LINES: usize = 1_000;

/// The most bytes that are kept.
pub const MAX_BYTES: usize = 256 * 1024;

/// The longest line that is kept, in bytes. A longer one of stderr is taken as several; of another
/// one the rest is dropped.
pub const MAX_LINE: usize = 8 * 1024;

/// How long what is said during a walk may be held back: a server may quote a cursor before it
/// sends it.
const HELD_AT_MOST: Duration = Duration::from_millis(200);

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The server's stderr.
    Stderr,
    /// A line on stdout that is no message.
    Noise,
    /// A `notifications/message` (MCP, logging).
    Log,
}

/// One line, sanitized, without secrets and cursors.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its number, from 1, over all lines of the server in this run.
    pub seq: u64,
    /// The number of its last change, from 1, over all lines. A line that is told again, because
    /// it became longer or because something in it must not be shown, keeps its own number.
    pub change: u64,
    /// When it came.
    pub at: SystemTime,
    /// Where it came from.
    pub kind: LineKind,
    /// What it says.
    pub text: Arc<str>,
}

/// The last lines of one server. A pipe's reader writes here and the actor reads, so a flood of a
/// gigabyte wakes no one: only the ring turns. Lines are kept as they came and cleaned for whoever
/// reads them, because of a flood hardly any is ever read.
#[derive(Debug, Default)]
pub struct LineRing {
    inner: Mutex<Ring>,
    trace: Option<TraceRing>,
    /// What is in none of the lines and messages. Locked before them.
    cursors: Mutex<Cursors>,
    /// Tells those who wait that something was added. It costs nothing while nobody does.
    news: Notify,
    /// Tells those who wait that a walk has ended.
    walked: Notify,
}

/// A walk over a listing, whose cursors must not be shown. They are remembered until the next walk
/// over the listing.
#[derive(Debug)]
pub struct Walk {
    ring: Arc<LineRing>,
    method: ListMethod,
}

impl Walk {
    /// A walk begins.
    pub fn begin(ring: &Arc<LineRing>, method: ListMethod) -> Self {
        let mut cursors = ring.cursors();
        let former: Vec<&str> = cursors.of(method).collect();
        if !former.is_empty() {
            ring.lock().settle(&former);
            if let Some(trace) = &ring.trace {
                trace.settle(&former);
            }
        }
        cursors.begin(method);
        drop(cursors);
        Self {
            ring: Arc::clone(ring),
            method,
        }
    }

    /// It meets a cursor.
    pub fn meet(&self, cursor: &Cursor) {
        let mut cursors = self.ring.cursors();
        let known = cursors.meet(self.method, cursor);
        if known.is_some_and(|known| self.ring.lock().tell_again(known)) {
            drop(cursors);
            self.ring.tell();
        }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        self.ring.cursors().end();
        self.ring.walked.notify_waiters();
    }
}

impl LineRing {
    /// A ring that keeps messages too.
    #[must_use]
    pub fn with_trace() -> Self {
        Self {
            trace: Some(TraceRing::default()),
            ..Self::default()
        }
    }

    /// From now on these values are masked.
    pub fn set_mask(&self, mask: Mask) {
        if let Some(trace) = &self.trace {
            trace.set_mask(mask.clone());
        }
        self.lock().mask = mask;
    }

    /// Whether messages are kept.
    #[must_use]
    pub const fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// A message goes to the server.
    pub fn sent(&self, bytes: &[u8]) {
        if let Some(trace) = &self.trace {
            let bytes = bytes.trim_ascii_end();
            trace.push(Direction::Out, Head::sent(bytes), bytes, bytes.len());
            self.news.notify_waiters();
        }
    }

    /// A message of the size has come, of which this is the beginning, or all.
    pub fn received(&self, head: Head, beginning: &[u8], size: usize) {
        if let Some(trace) = &self.trace {
            trace.push(Direction::In, head, beginning, size);
            self.news.notify_waiters();
        }
    }

    /// What [`received`](Self::received) wants of a message that is taken apart; nothing where
    /// messages are not kept.
    #[must_use]
    pub fn beginning_of(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let bytes = &bytes[..bytes.len().min(MAX_MESSAGE)];
        self.trace.is_some().then(|| bytes.to_vec())
    }

    /// The kept lines that came or changed after the change, oldest first, as soon as there are
    /// some.
    pub async fn lines_after(&self, change: u64) -> Vec<Line> {
        self.news(|| self.lock().last_change() > change).await;
        self.hold_back().await;
        self.since(change)
    }

    /// The kept messages after the number, oldest first, as soon as there are some; never where
    /// messages are not kept.
    pub async fn messages_after(&self, seq: u64) -> Vec<Message> {
        let Some(trace) = &self.trace else {
            return std::future::pending().await;
        };
        self.news(|| trace.last_seq() > seq).await;
        self.hold_back().await;
        let cursors = self.cursors();
        trace.since(seq, &cursors)
    }

    /// Waits a moment for the end of a walk.
    async fn hold_back(&self) {
        let walked = async {
            loop {
                let walked = self.walked.notified();
                if !self.cursors().are_growing() {
                    return;
                }
                walked.await;
            }
        };
        // What is said during a long walk is shown while it goes on.
        let _ = timeout(HELD_AT_MOST, walked).await;
    }

    /// Waits until it is so. It is looked at after every addition.
    async fn news(&self, is_so: impl Fn() -> bool) {
        loop {
            let news = self.news.notified();
            if is_so() {
                return;
            }
            news.await;
        }
    }

    /// Adds a line as it came.
    pub fn push(&self, kind: LineKind, bytes: &[u8]) {
        self.lock().push(kind, SystemTime::now(), bytes, false);
        self.tell();
    }

    fn tell(&self) {
        self.news.notify_waiters();
    }

    /// The number of the last line; 0 if there was none.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.lock().last_seq()
    }

    /// The kept lines that came or changed after the change, oldest first.
    #[must_use]
    pub fn since(&self, change: u64) -> Vec<Line> {
        let cursors = self.cursors();
        self.lock().since(change, &cursors)
    }

    /// The last lines of stderr that came after the number and are not blank, oldest first.
    #[must_use]
    pub fn stderr_tail(&self, after: u64, count: usize) -> Vec<Arc<str>> {
        let cursors = self.cursors();
        let ring = self.lock();
        let lines = ring.after(after, LineKind::Stderr, &cursors);
        let texts = lines.map(|line| line.text);
        let mut tail: Vec<Arc<str>> = texts
            .filter(|text| !text.trim().is_empty())
            .take(count)
            .collect();
        tail.reverse();
        tail
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cursors(&self) -> MutexGuard<'_, Cursors> {
        self.cursors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
