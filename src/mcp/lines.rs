//! What a server wrote beside its messages: stderr, noise on stdout, and log notifications, in one
//! bounded ring.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

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
/// gigabyte wakes no one: only the ring turns.
#[derive(Debug, Default)]
pub struct LineRing {
    inner: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<Line>,
    bytes: usize,
    seq: u64,
    mask: Mask,
}

impl LineRing {
    /// From now on these values are masked.
    pub fn set_mask(&self, mask: Mask) {
        self.lock().mask = mask;
    }

    /// Adds a line as it came.
    pub fn push(&self, kind: LineKind, bytes: &[u8]) {
        let cut = &bytes[..bytes.len().min(MAX_LINE)];
        let raw = String::from_utf8_lossy(cut);
        let text = text::error_text(raw.trim_end());
        let mut ring = self.lock();
        let text = ring.mask.apply(text);
        ring.seq += 1;
        ring.bytes += text.len();
        let line = Line {
            seq: ring.seq,
            at: SystemTime::now(),
            kind,
            text: text.into(),
        };
        ring.lines.push_back(line);
        while ring.lines.len() > MAX_LINES || ring.bytes > MAX_BYTES {
            match ring.lines.pop_front() {
                Some(oldest) => ring.bytes -= oldest.text.len(),
                None => break,
            }
        }
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
        ring.lines
            .iter()
            .filter(|line| line.seq > seq)
            .cloned()
            .collect()
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
            .filter(|line| line.kind == LineKind::Stderr && !line.text.trim().is_empty())
            .take(count)
            .map(|line| Arc::clone(&line.text))
            .collect();
        tail.reverse();
        tail
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ring> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
}
