//! What a server wrote beside its messages: stderr, noise on stdout, and log notifications, in one
//! bounded ring; and in another the messages themselves, where a face shows them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memchr::memchr;
use tokio::sync::Notify;

use super::trace::{Direction, Head, MAX_MESSAGE, Message, TraceRing};
use crate::domain::server::Mask;
use crate::domain::text;

/// The most lines that are kept.
pub const MAX_LINES: usize = 1_000;

/// The most bytes that are kept.
pub const MAX_BYTES: usize = 256 * 1024;

/// The longest line that is kept, in bytes; the rest of a longer one is dropped.
pub const MAX_LINE: usize = 8 * 1024;

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

/// One line, sanitized, secrets masked.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its number, from 1, over all lines of the server in this run.
    pub seq: u64,
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
    /// Tells those who wait that something was added. It costs nothing while nobody does.
    news: Notify,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<RawLine>,
    bytes: usize,
    seq: u64,
    mask: Mask,
}

/// A line as it came. It must not be shown, nor be in a Debug output.
struct RawLine {
    seq: u64,
    at: SystemTime,
    kind: LineKind,
    bytes: Box<[u8]>,
    /// What was secret when it came.
    mask: Mask,
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

    /// The kept lines after the number, oldest first, as soon as there are some.
    pub async fn lines_after(&self, seq: u64) -> Vec<Line> {
        self.news(|| self.last_seq() > seq).await;
        self.since(seq)
    }

    /// The kept messages after the number, oldest first, as soon as there are some; never where
    /// messages are not kept.
    pub async fn messages_after(&self, seq: u64) -> Vec<Message> {
        let Some(trace) = &self.trace else {
            return std::future::pending().await;
        };
        self.news(|| trace.last_seq() > seq).await;
        trace.since(seq)
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
        self.lock().push(kind, SystemTime::now(), bytes);
        self.news.notify_waiters();
    }

    /// Adds the lines of a chunk, all at once. `unfinished` is the beginning of the first one, and
    /// then of the line that goes on behind the chunk.
    pub fn push_chunk(&self, kind: LineKind, unfinished: &mut Vec<u8>, chunk: &[u8]) {
        let mut ring = self.lock();
        let at = SystemTime::now();
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            if unfinished.is_empty() {
                ring.push(kind, at, &rest[..end]);
            } else {
                extend_line(unfinished, &rest[..end]);
                ring.push(kind, at, unfinished);
                unfinished.clear();
            }
            rest = &rest[end + 1..];
        }
        extend_line(unfinished, rest);
        drop(ring);
        self.news.notify_waiters();
    }

    /// The number of the last line; 0 if there was none.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.lock().seq
    }

    /// The kept lines after the number, oldest first.
    #[must_use]
    pub fn since(&self, seq: u64) -> Vec<Line> {
        let ring = self.lock();
        let lines = ring.lines.iter().filter(|line| line.seq > seq);
        lines.map(RawLine::clean).collect()
    }

    /// The last lines of stderr that came after the number and are not blank, oldest first.
    #[must_use]
    pub fn stderr_tail(&self, after: u64, count: usize) -> Vec<Arc<str>> {
        let ring = self.lock();
        let mut tail: Vec<Arc<str>> = ring
            .lines
            .iter()
            .rev()
            .take_while(|line| line.seq > after)
            .filter(|line| line.kind == LineKind::Stderr)
            .map(|line| line.clean().text)
            .filter(|text| !text.trim().is_empty())
            .take(count)
            .collect();
        tail.reverse();
        tail
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ring> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, kind: LineKind, at: SystemTime, bytes: &[u8]) {
        let bytes = bytes[..bytes.len().min(MAX_LINE)].trim_ascii_end();
        self.seq += 1;
        self.bytes += bytes.len();
        self.lines.push_back(RawLine {
            seq: self.seq,
            at,
            kind,
            bytes: bytes.into(),
            mask: self.mask.clone(),
        });
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            match self.lines.pop_front() {
                Some(oldest) => self.bytes -= oldest.bytes.len(),
                None => break,
            }
        }
    }
}

impl RawLine {
    /// The line for people.
    fn clean(&self) -> Line {
        let text = text::error_text(&String::from_utf8_lossy(&self.bytes));
        Line {
            seq: self.seq,
            at: self.at,
            kind: self.kind,
            text: self.mask.apply(text).into(),
        }
    }
}

impl fmt::Debug for RawLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawLine")
            .field("seq", &self.seq)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

fn extend_line(line: &mut Vec<u8>, part: &[u8]) {
    let room = MAX_LINE.saturating_sub(line.len());
    line.extend_from_slice(&part[..part.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_bounded_in_lines_and_bytes() {
        let ring = LineRing::default();
        for number in 0..MAX_LINES + 10 {
            ring.push(LineKind::Stderr, number.to_string().as_bytes());
        }
        let lines = ring.since(0);
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(&*lines[0].text, "10");
        assert_eq!(ring.last_seq(), (MAX_LINES + 10) as u64);
        for _ in 0..100 {
            ring.push(LineKind::Stderr, &vec![b'x'; 100_000]);
        }
        let bytes: usize = ring.since(0).iter().map(|line| line.text.len()).sum();
        assert!(bytes <= MAX_BYTES, "{bytes}");
    }

    #[test]
    fn a_tail_is_of_stderr_after_a_number() {
        let ring = LineRing::default();
        ring.push(LineKind::Stderr, b"old");
        let start = ring.last_seq();
        ring.push(LineKind::Noise, b"noise");
        ring.push(LineKind::Stderr, b"one");
        ring.push(LineKind::Stderr, b"  ");
        ring.push(LineKind::Stderr, b"two");
        assert_eq!(
            ring.stderr_tail(start, 5),
            [Arc::from("one"), Arc::from("two")]
        );
        assert_eq!(ring.stderr_tail(start, 1), [Arc::from("two")]);
    }

    #[test]
    fn a_chunk_is_cut_at_line_breaks_and_may_end_within_a_line() {
        let ring = LineRing::default();
        let mut unfinished = Vec::new();
        let check = |unfinished: &mut Vec<u8>, chunk: &str, expected: &[&str]| {
            let before = ring.last_seq();
            ring.push_chunk(LineKind::Stderr, unfinished, chunk.as_bytes());
            let texts: Vec<Arc<str>> = ring.since(before).into_iter().map(|it| it.text).collect();
            let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
            assert_eq!(texts, expected, "{chunk:?}");
        };
        check(&mut unfinished, "one\ntwo\r\nthr", &["one", "two"]);
        check(&mut unfinished, "", &[]);
        check(&mut unfinished, "ee\n\n", &["three", ""]);
        check(&mut unfinished, &"x".repeat(MAX_LINE), &[]);
        check(&mut unfinished, "xxx", &[]);
        assert_eq!(unfinished.len(), MAX_LINE);
    }

    #[test]
    fn a_line_keeps_the_mask_with_which_it_came_and_is_never_in_debug_output() {
        let secret = |text: &str| Mask::new(&[crate::domain::Secret::new(text)]);
        let ring = LineRing::default();
        ring.set_mask(secret("first-secret"));
        ring.push(LineKind::Stderr, b"token first-secret");
        ring.set_mask(secret("other-secret"));
        ring.push(LineKind::Stderr, b"token other-secret");
        assert_eq!(
            ring.stderr_tail(0, 5),
            [Arc::from("token ***"), Arc::from("token ***")]
        );
        assert!(!format!("{ring:?}").contains("secret"));
    }
}
