//! What a refresh changed: counts and the first names for the events, and a mark for each row.

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

/// So many names of each kind are told with an event; there are up to 1,000 events.
pub const MOST_NAMES: usize = 5;

/// Of a longer name the rest is left out, in bytes.
const LONGEST_NAME: usize = 120;

/// The keys of the first rows that a refresh added, removed and changed: at most [`MOST_NAMES`] of
/// each, in the order of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Of rows that were not there before.
    pub added: Vec<Box<str>>,
    /// Of rows that are gone.
    pub removed: Vec<Box<str>>,
    /// Of rows that say something else now.
    pub changed: Vec<Box<str>>,
}

impl Names {
    /// The first names of a listing that is all new.
    #[must_use]
    pub fn added<T: Item>(new: &[T]) -> Self {
        Self {
            added: new.iter().take(MOST_NAMES).map(name).collect(),
            ..Self::default()
        }
    }
}

fn name<T: Item>(item: &T) -> Box<str> {
    let key = item.key();
    if key.len() <= LONGEST_NAME {
        return key.into();
    }
    format!("{}…", &key[..key.floor_char_boundary(LONGEST_NAME)]).into()
}

/// The difference between two listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// A mark for each row of the new listing.
    pub marks: Box<[Mark]>,
    /// The sums.
    pub counts: Counts,
    /// The first names.
    pub names: Names,
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
    let mut names = Names::default();
    for (item, mark) in new.iter().zip(&mut marks) {
        if *mark == Mark::Added {
            let (sum, first) = if before.get_mut(item.key()).and_then(Vec::pop).is_some() {
                *mark = Mark::Changed;
                (&mut counts.changed, &mut names.changed)
            } else {
                (&mut counts.added, &mut names.added)
            };
            *sum += 1;
            if first.len() < MOST_NAMES {
                first.push(name(item));
            }
        }
    }
    counts.removed = before.values().map(Vec::len).sum();
    if counts.removed > 0 {
        let gone = |item: &&T| before.get_mut(item.key()).and_then(Vec::pop).is_some();
        names.removed = old.iter().filter(gone).take(MOST_NAMES).map(name).collect();
    }
    Changes {
        marks: marks.into(),
        counts,
        names,
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

    #[test]
    fn the_first_rows_of_each_kind_are_named() {
        let old = "a=1 old0 old1 old2 old3 old4 old5 old6 b";
        let new = "new0 new1 new2 new3 new4 new5 new6 b a=2";
        let changes = diff(&prompts(old), &prompts(new), Instant::now());
        let joined = |keys: &[Box<str>]| keys.join(" ");
        assert_eq!(joined(&changes.names.added), "new0 new1 new2 new3 new4");
        assert_eq!(joined(&changes.names.removed), "old0 old1 old2 old3 old4");
        assert_eq!(joined(&changes.names.changed), "a");
        assert_eq!((changes.counts.added, changes.counts.removed), (7, 7));
        let long = prompts(&"é".repeat(100));
        let changes = diff(&[], &long, Instant::now());
        assert_eq!(&*changes.names.added[0], format!("{}…", "é".repeat(60)));
    }
}
