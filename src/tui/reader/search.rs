//! Words that are looked for in a document.

use super::super::aside::Wanted;
use super::super::document::{Document, Part};
use crate::tui::rows::contains_ignoring_case;

/// What is looked for, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// The text, as typed; empty: none.
    pub needle: String,
    /// The lines that have it, ascending; `None` while they are looked for.
    pub lines: Option<Vec<usize>>,
    /// Which of them was gone to.
    pub current: usize,
}

impl Search {
    /// Goes to the first line from here on, or to the first of all.
    pub fn start_at(&mut self, line: usize) -> Option<usize> {
        let lines = self.lines.as_ref()?;
        let place = lines.partition_point(|found| *found < line);
        self.current = if place < lines.len() { place } else { 0 };
        lines.get(self.current).copied()
    }

    /// Goes so many lines on; behind the last is the first.
    pub fn go_on(&mut self, by: isize) -> Option<usize> {
        let lines = self.lines.as_ref().filter(|lines| !lines.is_empty())?;
        let len = isize::try_from(lines.len()).ok()?;
        let current = isize::try_from(self.current).ok()?;
        self.current = usize::try_from((current + by).rem_euclid(len)).ok()?;
        lines.get(self.current).copied()
    }

    /// `/needle 3 of 120`.
    #[must_use]
    pub fn words(&self) -> String {
        let found = match &self.lines {
            None => "…".to_owned(),
            Some(lines) if lines.is_empty() => "not found".to_owned(),
            Some(lines) => format!("{} of {}", self.current + 1, lines.len()),
        };
        format!("/{} {found}", self.needle)
    }
}

/// The lines of a part that have the text, whatever the case. This takes time for long ones, and
/// stops halfway where it is not wanted any more.
#[must_use]
pub fn find(document: &Document, part: usize, needle: &str, wanted: &Wanted) -> Vec<usize> {
    let needle = needle.to_lowercase();
    let Some(part) = document.parts.get(part).filter(|part| part.is_text()) else {
        return Vec::new();
    };
    let has = |index: &usize| contains_ignoring_case(part.searched(*index), &needle);
    let lines = (0..lines(part)).take_while(|_| wanted.holds());
    lines.filter(has).collect()
}

/// The lines of a text do not depend on the columns.
fn lines(part: &Part) -> usize {
    part.len(usize::MAX)
}

/// Where in the text the needle stands, whatever the case.
#[must_use]
pub fn places(text: &str, needle: &str) -> Vec<std::ops::Range<usize>> {
    let needle = needle.to_lowercase();
    let lower = text.to_lowercase();
    // Where the lower-case text has other lengths, places in it are none in the text.
    if needle.is_empty() || lower.len() != text.len() {
        return Vec::new();
    }
    lower
        .match_indices(&needle)
        .map(|(at, found)| at..at + found.len())
        .filter(|range| text.get(range.clone()).is_some())
        .collect()
}
