//! The last lines of a server as they came, bounded in number and bytes.

use std::collections::VecDeque;
use std::fmt;
use std::time::SystemTime;

use super::{Line, LineKind, MAX_BYTES, MAX_LINE, MAX_LINES};
use crate::domain::server::Mask;
use crate::domain::text;
use crate::mcp::cursors::{self, Cursors};

/// The lines.
#[derive(Debug, Default)]
pub(super) struct Ring {
    lines: VecDeque<RawLine>,
    bytes: usize,
    seq: u64,
    change: u64,
    pub(super) mask: Mask,
}

/// A line as it came. It must not be shown, nor be in a Debug output.
struct RawLine {
    seq: u64,
    change: u64,
    at: SystemTime,
    kind: LineKind,
    bytes: Box<[u8]>,
    /// Whether more of it may come or was dropped, so that its end may be the beginning of
    /// something that must not be shown.
    open: bool,
    /// What was secret when it came.
    mask: Mask,
}

impl Ring {
    /// Adds a line and tells its number. `open`: more of it may come.
    pub(super) fn push(&mut self, kind: LineKind, at: SystemTime, bytes: &[u8], open: bool) -> u64 {
        let kept = bytes[..bytes.len().min(MAX_LINE)].trim_ascii_end();
        self.seq += 1;
        self.change += 1;
        self.bytes += kept.len();
        self.lines.push_back(RawLine {
            seq: self.seq,
            change: self.change,
            at,
            kind,
            bytes: kept.into(),
            open: open || bytes.len() > MAX_LINE,
            mask: self.mask.clone(),
        });
        self.shrink();
        self.seq
    }

    /// Puts more in place of an open line; `false` if it is not kept any more.
    pub(super) fn replace(&mut self, seq: u64, bytes: &[u8], open: bool) -> bool {
        let Some(line) = self.at(seq) else {
            return false;
        };
        let bytes = bytes.trim_ascii_end();
        let former = line.bytes.len();
        line.bytes = bytes.into();
        line.open = open;
        self.bytes = self.bytes - former + bytes.len();
        self.touch(seq);
        self.shrink();
        true
    }

    /// The line changed.
    fn touch(&mut self, seq: u64) {
        let change = self.change + 1;
        if let Some(line) = self.at(seq) {
            line.change = change;
            self.change = change;
        }
    }

    /// The numbers have no gaps.
    fn at(&mut self, seq: u64) -> Option<&mut RawLine> {
        let first = self.lines.front()?.seq;
        let index = usize::try_from(seq.checked_sub(first)?).ok()?;
        self.lines.get_mut(index)
    }

    fn shrink(&mut self) {
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            match self.lines.pop_front() {
                Some(oldest) => self.bytes -= oldest.bytes.len(),
                None => break,
            }
        }
    }

    /// A cursor is known from now on: lines that may have quoted it are told again.
    pub(super) fn tell_again(&mut self, cursor: &str) -> bool {
        let quotes = |line: &&RawLine| cursors::may_be_in(&line.bytes, cursor);
        let quoting: Vec<u64> = self.lines.iter().filter(quotes).map(|it| it.seq).collect();
        for seq in &quoting {
            self.touch(*seq);
        }
        !quoting.is_empty()
    }

    /// Takes cursors out of the lines for good, before they are forgotten.
    pub(super) fn settle(&mut self, cursors: &[&str]) {
        let mut bytes = 0;
        for line in &mut self.lines {
            if cursors.iter().any(|it| cursors::may_be_in(&line.bytes, it)) {
                let text = String::from_utf8_lossy(&line.bytes);
                let hidden = cursors::hide(&text, cursors.iter().copied(), false).into_owned();
                line.bytes = hidden.into_bytes().into();
            }
            bytes += line.bytes.len();
        }
        self.bytes = bytes;
        self.shrink();
    }

    pub(super) const fn last_seq(&self) -> u64 {
        self.seq
    }

    pub(super) const fn last_change(&self) -> u64 {
        self.change
    }

    #[cfg(test)]
    pub(super) fn raw(&self) -> Vec<(Box<[u8]>, Mask)> {
        let lines = self.lines.iter();
        lines
            .map(|line| (line.bytes.clone(), line.mask.clone()))
            .collect()
    }

    /// The lines that came or changed after the change, oldest first.
    pub(super) fn since(&self, change: u64, cursors: &Cursors) -> Vec<Line> {
        let lines = self.lines.iter().filter(|line| line.change > change);
        lines.map(|line| line.clean(cursors)).collect()
    }

    /// The lines after the number, newest first.
    pub(super) fn after<'a>(
        &'a self,
        seq: u64,
        kind: LineKind,
        cursors: &'a Cursors,
    ) -> impl Iterator<Item = Line> + 'a {
        let lines = self.lines.iter().rev();
        lines
            .take_while(move |line| line.seq > seq)
            .filter(move |line| line.kind == kind)
            .map(|line| line.clean(cursors))
    }
}

impl RawLine {
    /// The line for people. Secrets are looked for before and after the text is made safe: that
    /// may tear one apart, or put one together.
    fn clean(&self, cursors: &Cursors) -> Line {
        let raw = String::from_utf8_lossy(whole_characters(&self.bytes));
        let text = cursors::hide(&raw, cursors.all(), self.open);
        let text = self.mask.apply(text.into_owned());
        let mut text = self.mask.apply(text::error_text(&text));
        if self.open {
            text = self.mask.apply_to_beginning(text);
        }
        Line {
            seq: self.seq,
            change: self.change,
            at: self.at,
            kind: self.kind,
            text: text.into(),
        }
    }
}

/// The bytes without a character at the end that was cut off.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let Some(start) = bytes.iter().rposition(|byte| !is_continuation(*byte)) else {
        return bytes;
    };
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.error_len().is_none() => &bytes[..start],
        Ok(_) | Err(_) => bytes,
    }
}

/// Whether the byte goes on with a character (RFC 3629, section 3).
pub(super) const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

impl fmt::Debug for RawLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawLine")
            .field("seq", &self.seq)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
