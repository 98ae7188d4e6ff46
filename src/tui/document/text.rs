//! A text of any length as lines. Where they begin is found out once; what is on screen is broken
//! into rows when it is drawn.

use std::sync::Arc;

use memchr::memchr_iter;

use super::super::aside::Wanted;
use super::line::{Ink, Line, readable};

/// A line that is longer, in bytes, is taken as several: no row of the screen costs more than
/// this, whatever the text.
pub const LONGEST: usize = 4_096;

/// A text and where its lines begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    whole: Arc<str>,
    starts: Vec<Start>,
    numbered: bool,
}

/// Where a line begins, and its number from 1; the rest of a long line has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Start {
    at: u32,
    number: u32,
}

impl Text {
    /// The lines of a text as long as they are wanted, `numbered` where a person counts them.
    #[must_use]
    pub fn new(text: Arc<str>, numbered: bool, wanted: &Wanted) -> Self {
        let mut starts = Vec::new();
        let (mut number, mut start) = (0, 0);
        let ends = memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
        for end in ends.take_while(|_| wanted.holds()) {
            number += 1;
            push_line(&mut starts, &text, start..end, number);
            start = end + 1;
        }
        // What ends with a line break has no line behind it.
        if text.ends_with('\n') {
            starts.pop();
        }
        Self {
            whole: text,
            starts,
            numbered,
        }
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The columns of the numbers and the gap behind them; 0 without numbers.
    #[must_use]
    pub fn gutter(&self) -> usize {
        match self.starts.last() {
            Some(last) if self.numbered => last.number.to_string().len() + 2,
            _ => 0,
        }
    }

    /// The line as it came.
    #[must_use]
    pub fn raw(&self, index: usize) -> &str {
        let Some(start) = self.starts.get(index) else {
            return "";
        };
        let end = match self.starts.get(index + 1) {
            Some(next) => next.at as usize,
            None => self.whole.len(),
        };
        let line = &self.whole[start.at as usize..end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The line as it is shown.
    #[must_use]
    pub fn line(&self, index: usize) -> Line<'_> {
        let mut line = Line::plain(readable(self.raw(index)), Ink::Plain);
        let number = self.starts.get(index).map(|start| start.number);
        let before = index
            .checked_sub(1)
            .and_then(|index| self.starts.get(index));
        let is_rest = before.map(|start| start.number) == number;
        if self.numbered && !is_rest {
            line.number = number.map(|number| number as usize);
        }
        line
    }

    /// The whole text.
    #[must_use]
    pub const fn text(&self) -> &Arc<str> {
        &self.whole
    }
}

/// Adds the line, in pieces where it is long.
fn push_line(starts: &mut Vec<Start>, text: &str, range: std::ops::Range<usize>, number: u32) {
    let mut at = range.start;
    loop {
        // A text of 4 GiB or more does not come through any transport.
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        starts.push(Start { at: start, number });
        if range.end - at <= LONGEST {
            return;
        }
        at = text.floor_char_boundary(at + LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(Option<usize>, usize)> {
        let text = Text::new(text.into(), true, &Wanted::default());
        let shown = (0..text.len()).map(|index| text.line(index));
        shown.map(|line| (line.number, line.text.len())).collect()
    }

    #[test]
    fn lines_are_counted_and_long_ones_taken_in_pieces() {
        assert_eq!(
            lines("a\r\n\nbc"),
            [(Some(1), 1), (Some(2), 0), (Some(3), 2)]
        );
        assert_eq!(lines("a\n"), [(Some(1), 1)]);
        assert_eq!(lines(""), [(Some(1), 0)]);
        let long = format!("{}\nb", "ä".repeat(LONGEST));
        assert_eq!(
            lines(&long),
            [(Some(1), LONGEST), (None, LONGEST), (Some(2), 1)]
        );
    }

    #[test]
    fn the_gutter_is_as_wide_as_the_last_number() {
        let gutter =
            |text: &str, numbered| Text::new(text.into(), numbered, &Wanted::default()).gutter();
        assert_eq!(gutter(&"x\n".repeat(100), true), 5);
        assert_eq!(gutter("x", true), 3);
        assert_eq!(gutter("x", false), 0);
    }
}
