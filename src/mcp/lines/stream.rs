//! Cuts a stream of bytes into lines, and shows the one that is not at its end yet.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use memchr::{memchr, memrchr};

use super::ring::{Ring, is_continuation};
use super::{LineKind, LineRing, MAX_LINE};
use crate::domain::text;

/// A stream that writes lines. What has no line break yet is a line all the same, a prompt say,
/// and becomes longer as more of it comes. A line longer than [`MAX_LINE`] is taken as several.
pub struct LineStream {
    ring: Arc<LineRing>,
    kind: LineKind,
    /// The beginning of a line.
    begun: Vec<u8>,
    /// Its number, where it is in the ring.
    shown: Option<u64>,
}

impl LineStream {
    /// A stream of lines of the kind.
    #[must_use]
    pub const fn new(ring: Arc<LineRing>, kind: LineKind) -> Self {
        Self {
            ring,
            kind,
            begun: Vec::new(),
            shown: None,
        }
    }

    /// Adds the lines of a chunk, all at once.
    pub fn push(&mut self, chunk: &[u8]) {
        let ring = Arc::clone(&self.ring);
        let mut lines = ring.lock();
        let at = SystemTime::now();
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            if self.begun.is_empty() && end <= MAX_LINE {
                lines.push(self.kind, at, &rest[..end], false);
            } else {
                self.extend(&mut lines, at, &rest[..end]);
                self.put(&mut lines, at, false);
                self.begun.clear();
            }
            rest = &rest[end + 1..];
        }
        self.extend(&mut lines, at, rest);
        if !self.begun.trim_ascii().is_empty() {
            self.put(&mut lines, at, true);
        }
        drop(lines);
        ring.tell();
    }

    /// Adds to the line that has begun, and takes off what is too long.
    fn extend(&mut self, lines: &mut Ring, at: SystemTime, mut part: &[u8]) {
        loop {
            let room = MAX_LINE.saturating_sub(self.begun.len());
            let (taken, rest) = part.split_at(part.len().min(room));
            self.begun.extend_from_slice(taken);
            part = rest;
            if part.is_empty() {
                return;
            }
            let end = end_of_piece(&self.begun, lines);
            let next = self.begun.split_off(end);
            self.put(lines, at, false);
            self.begun = next;
        }
    }

    /// Puts into the ring what has begun.
    fn put(&mut self, lines: &mut Ring, at: SystemTime, open: bool) {
        let kept = self
            .shown
            .take()
            .filter(|seq| lines.replace(*seq, &self.begun, open));
        let seq = kept.unwrap_or_else(|| lines.push(self.kind, at, &self.begun, open));
        self.shown = open.then_some(seq);
    }
}

impl fmt::Debug for LineStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineStream")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Drop for LineStream {
    /// Nothing follows.
    fn drop(&mut self) {
        if let Some(seq) = self.shown.take() {
            self.ring.lock().replace(seq, &self.begun, false);
            self.ring.tell();
        }
    }
}

/// Where a line that is too long is best cut: behind a word, and within no character, terminal
/// sequence or secret.
fn end_of_piece(line: &[u8], lines: &Ring) -> usize {
    let half = line.len() / 2;
    let is_gap = |byte: &u8| byte.is_ascii_whitespace() || b",;\"'".contains(byte);
    let gap = line[half..].iter().rposition(is_gap);
    let character = line.iter().rposition(|byte| !is_continuation(*byte));
    let character = character.unwrap_or(line.len());
    let end = gap.map_or(character, |gap| half + gap + 1);
    let end = match memrchr(0x1b, &line[..end]) {
        Some(escape) if text::is_open_sequence(&String::from_utf8_lossy(&line[escape..end])) => {
            escape
        }
        _ => end,
    };
    match lines.mask.before(line, end) {
        0 => line.len(),
        end => end,
    }
}
