//! What a refresh changed: counts for the events, and a mark for each row.

use std::collections::HashMap;
use std::time::Instant;

use serde::Serialize;

use super::item::Item;

/// What a refresh did to one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It was there and says the same.
    Same,
    /// It was not there before.
    Added,
    /// It was there and says something else now.
    Changed,
}

/// How many rows a refresh added, removed and changed, and how many there are now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Rows that were not there before.
    pub added: usize,
    /// Rows that are gone.
    pub removed: usize,
    /// Rows that say something else now.
    pub changed: usize,
    /// Rows there are now.
    pub total: usize,
}

impl Counts {
    /// Whether the refresh changed nothing.
    #[must_use]
    pub const fn is_unchanged(&self) -> bool {
        self.added == 0 && self.removed == 0 && self.changed == 0
    }
}

/// The difference between two listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// A mark for each row of the new listing.
    pub marks: Box<[Mark]>,
    /// The sums.
    pub counts: Counts,
    /// When the refresh ended; marks are shown for 5 s from here.
    pub at: Instant,
}

/// Compares two listings by key, as multisets: of three equal keys where there were two, one is new.
/// An item that only moved is the same.
#[must_use]
pub fn diff<T: Item>(old: &[T], new: &[T], at: Instant) -> Changes {
    let mut before: HashMap<&str, Vec<&T>> = HashMap::with_capacity(old.len());
    for item in old.iter().rev() {
        before.entry(item.key()).or_default().push(item);
    }
    let mut marks: Vec<Mark> = new
        .iter()
        .map(|item| {
            let left = before.get_mut(item.key());
            if left.is_some_and(|left| take_same(left, item)) {
                Mark::Same
            } else {
                Mark::Added
            }
        })
        .collect();
    // What is left of the old is changed into what is left of the new.
    let mut counts = Counts {
        total: new.len(),
        ..Counts::default()
    };
    for (item, mark) in new.iter().zip(&mut marks) {
        if *mark == Mark::Added {
            if before.get_mut(item.key()).and_then(Vec::pop).is_some() {
                *mark = Mark::Changed;
                counts.changed += 1;
            } else {
                counts.added += 1;
            }
        }
    }
    counts.removed = before.values().map(Vec::len).sum();
    Changes {
        marks: marks.into(),
        counts,
        at,
    }
}

/// Takes an item that says the same, if there is one.
fn take_same<T: Item>(left: &mut Vec<&T>, item: &T) -> bool {
    match left.iter().rposition(|former| former.same(item)) {
        Some(index) => {
            left.remove(index);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::item::Prompt;

    fn prompts(spec: &str) -> Vec<Prompt> {
        spec.split_whitespace()
            .map(|word| {
                let (name, description) = word.split_once('=').unwrap_or((word, ""));
                Prompt {
                    name: name.into(),
                    title: None,
                    description: (!description.is_empty()).then(|| description.into()),
                    arguments: None,
                }
            })
            .collect()
    }

    fn check(old: &str, new: &str, marks: &str, removed: usize) {
        let changes = diff(&prompts(old), &prompts(new), Instant::now());
        let drawn: String = changes
            .marks
            .iter()
            .map(|mark| match mark {
                Mark::Same => '.',
                Mark::Added => '+',
                Mark::Changed => '~',
            })
            .collect();
        assert_eq!(
            (drawn.as_str(), changes.counts.removed),
            (marks, removed),
            "{old} -> {new}"
        );
    }

    #[test]
    fn rows_are_matched_by_key_as_multisets() {
        check("", "", "", 0);
        check("a b", "a b", "..", 0);
        check("a b", "b a", "..", 0);
        check("a b", "a c", ".+", 1);
        check("a=1 b", "a=2 b", "~.", 0);
        check("a a", "a a a", "..+", 0);
        check("a=1 a=2", "a=2", ".", 1);
        check("a=1 a=2", "a=3 a=1", "~.", 0);
        check("a b c", "", "", 3);
    }
}
