//! One list on screen: which rows are shown, which is selected, and how both survive a refresh.

use super::rows::{Anchor, Rows};

/// The list of the open tab. It holds the rows it shows, so that an old selection can be found
/// among new rows.
#[derive(Debug, Clone, Default)]
pub struct List {
    rows: Rows,
    needle: String,
    /// The rows that the needle matches, ascending; `None`: all.
    shown: Option<Vec<usize>>,
    /// The selected row's place among those shown.
    cursor: usize,
    /// The first place on screen.
    offset: usize,
    /// How many rows the screen has for it.
    height: usize,
    /// Whether the cursor stays at the last row.
    follow: bool,
    /// The item that was selected when it vanished: should it come back, it is selected again.
    lost: Option<Anchor>,
}

/// What is remembered of a list that is not on screen.
#[derive(Debug, Clone, Default)]
pub struct Parked {
    anchor: Option<Anchor>,
    needle: String,
    follow: bool,
}

impl Parked {
    /// A list that was never open; it stays at its last row if it is to follow.
    #[must_use]
    pub fn new(follow: bool) -> Self {
        Self {
            follow,
            ..Self::default()
        }
    }

    /// A list whose selection is to be the item.
    #[must_use]
    pub fn at(anchor: Anchor) -> Self {
        Self {
            anchor: Some(anchor),
            ..Self::default()
        }
    }
}

impl List {
    /// A list that takes up where the parked one was left. Its rows are still to be put.
    #[must_use]
    pub fn resume(parked: Parked, height: usize) -> Self {
        Self {
            needle: parked.needle,
            follow: parked.follow,
            lost: parked.anchor,
            height,
            ..Self::default()
        }
    }

    /// What to remember of it.
    #[must_use]
    pub fn park(&self) -> Parked {
        Parked {
            anchor: self
                .lost
                .clone()
                .or_else(|| self.rows.anchor(self.selected()?)),
            needle: self.needle.clone(),
            follow: self.follow,
        }
    }

    /// The rows behind the list.
    #[must_use]
    pub const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many rows are shown.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shown.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// Whether no row is shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The filter's text; empty: none.
    #[must_use]
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// The selected row's place among those shown.
    #[must_use]
    pub const fn cursor(&self) -> usize {
        self.cursor
    }

    /// The first place on screen.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the cursor stays at the last row.
    #[must_use]
    pub const fn follows(&self) -> bool {
        self.follow
    }

    /// The row at a place among those shown.
    #[must_use]
    pub fn row_at(&self, place: usize) -> Option<usize> {
        match &self.shown {
            Some(shown) => shown.get(place).copied(),
            None => (place < self.rows.len()).then_some(place),
        }
    }

    /// The selected row.
    #[must_use]
    pub fn selected(&self) -> Option<usize> {
        self.row_at(self.cursor)
    }

    /// What the selected row is known by.
    #[must_use]
    pub fn anchor(&self) -> Option<Anchor> {
        self.rows.anchor(self.selected()?)
    }

    /// Takes newer rows. The cursor stays on its item and, where it can, at its height on screen.
    pub fn put(&mut self, rows: Rows) {
        if self.rows.same(&rows) && self.lost.is_none() {
            return;
        }
        let current = self.anchor();
        self.rows = rows;
        self.sift();
        if self.follow {
            self.cursor = usize::MAX;
            self.lost = None;
        } else {
            let wanted = self.lost.take().into_iter().chain(current);
            let mut first = None;
            for anchor in wanted {
                if let Some(place) = self.rows.find(&anchor).and_then(|row| self.place_of(row)) {
                    self.stand_at(place);
                    first = None;
                    break;
                }
                first.get_or_insert(anchor);
            }
            self.lost = first;
        }
        self.settle();
    }

    /// Shows only rows that have all words of the needle. The cursor stays on its item if that is
    /// still shown.
    pub fn set_needle(&mut self, needle: &str) {
        if self.needle == needle {
            return;
        }
        let selected = self.selected();
        needle.clone_into(&mut self.needle);
        self.sift();
        self.cursor = selected.and_then(|row| self.place_of(row)).unwrap_or(0);
        self.lost = None;
        self.settle();
    }

    /// Looks for the item among the rows that are put next, and shows all of them.
    pub fn seek(&mut self, anchor: Anchor) {
        self.set_needle("");
        self.lost = Some(anchor);
    }

    /// Tells how many rows the screen has for it.
    pub fn set_height(&mut self, height: usize) {
        self.height = height;
        self.settle();
    }

    /// Stays at the last row from now on, or stays where it is.
    pub fn set_follow(&mut self, follow: bool) {
        self.follow = follow;
        if follow {
            self.cursor = usize::MAX;
            self.settle();
        }
    }

    /// Moves the cursor to a place among those shown.
    pub fn select(&mut self, place: usize) {
        self.cursor = place;
        self.lost = None;
        self.settle();
    }

    /// Moves the cursor by so many rows.
    pub fn step(&mut self, rows: isize) {
        self.select(self.cursor.saturating_add_signed(rows));
    }

    /// Scrolls without moving the cursor, except to keep it on screen.
    pub fn scroll(&mut self, rows: isize) {
        let last = self.len().saturating_sub(self.height);
        self.offset = self.offset.saturating_add_signed(rows).min(last);
        let bottom = self.offset + self.height.saturating_sub(1);
        self.select(self.cursor.clamp(self.offset, bottom));
    }

    /// How many rows the screen has for it.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    fn sift(&mut self) {
        let needle = self.needle.to_lowercase();
        let words: Vec<&str> = needle.split_whitespace().collect();
        self.shown = (!words.is_empty()).then(|| {
            (0..self.rows.len())
                .filter(|row| self.rows.matches(*row, &words))
                .collect()
        });
    }

    fn place_of(&self, row: usize) -> Option<usize> {
        match &self.shown {
            Some(shown) => shown.binary_search(&row).ok(),
            None => Some(row),
        }
    }

    /// Moves the cursor and the window by as much.
    const fn stand_at(&mut self, place: usize) {
        let height_on_screen = self.cursor.saturating_sub(self.offset);
        self.cursor = place;
        self.offset = place.saturating_sub(height_on_screen);
    }

    /// Keeps the cursor on a row and on screen, and the screen full.
    fn settle(&mut self) {
        let len = self.len();
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let height = self.height.max(1);
        self.offset = self
            .offset
            .max((self.cursor + 1).saturating_sub(height))
            .min(self.cursor)
            .min(len.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Prompt;

    fn rows(names: &str) -> Rows {
        Rows::Prompts(
            names
                .split_whitespace()
                .map(|name| Prompt {
                    name: name.into(),
                    title: None,
                    description: None,
                    arguments: None,
                })
                .collect(),
        )
    }

    fn list(names: &str, cursor: usize, height: usize) -> List {
        let mut list = List::resume(Parked::default(), height);
        list.put(rows(names));
        list.select(cursor);
        list
    }

    fn selected(list: &List) -> String {
        match list.anchor() {
            Some(Anchor::Item(key, nth)) => format!("{key}{nth} at {}", list.cursor - list.offset),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_selection_follows_the_item_and_keeps_its_height_on_screen() {
        let check = |before: &str, cursor, after: &str, expected: &str| {
            let mut list = list(before, cursor, 3);
            list.put(rows(after));
            assert_eq!(selected(&list), expected, "{before} -> {after}");
        };
        check("a b c d e", 2, "x y a b c d e", "c0 at 2");
        check("a b c d e", 2, "c d e a b", "c0 at 0");
        check("a b c d e", 4, "b c d e", "e0 at 2");
        check("a a a", 1, "a b a a", "a1 at 1");
        // A vanished item leaves the cursor on the row that took its place.
        check("a b c", 1, "a c", "c0 at 1");
        check("a b c", 2, "a b", "b0 at 1");
    }

    #[test]
    fn an_item_that_comes_back_is_selected_again() {
        let mut list = list("a b c", 1, 3);
        list.put(rows(""));
        list.put(rows("c b a"));
        assert_eq!(selected(&list), "b0 at 1");
        list.put(rows("a"));
        list.step(0);
        list.put(rows("a b"));
        assert_eq!(selected(&list), "a0 at 0", "a key settles it");
    }

    #[test]
    fn a_parked_list_takes_up_where_it_was() {
        let mut former = list("a b c d", 2, 2);
        former.set_needle("c");
        let mut list = List::resume(former.park(), 2);
        list.put(rows("x c y"));
        assert_eq!((selected(&list).as_str(), list.len()), ("c0 at 0", 1));
        list.set_needle("");
        assert_eq!(selected(&list), "c0 at 1");
    }

    #[test]
    fn a_follower_stays_at_the_last_row() {
        let mut list = list("a b", 0, 2);
        list.set_follow(true);
        list.put(rows("a b c d"));
        assert_eq!(selected(&list), "d0 at 1");
    }

    #[test]
    fn the_window_is_always_full_and_has_the_cursor() {
        let mut list = list("a b c d e f", 0, 3);
        list.scroll(2);
        assert_eq!((list.offset(), list.cursor()), (2, 2));
        list.scroll(100);
        assert_eq!((list.offset(), list.cursor()), (3, 3));
        list.step(-100);
        assert_eq!((list.offset(), list.cursor()), (0, 0));
        list.step(isize::MAX);
        assert_eq!((list.offset(), list.cursor()), (3, 5));
        list.set_height(5);
        assert_eq!((list.offset(), list.cursor()), (1, 5));
    }
}
