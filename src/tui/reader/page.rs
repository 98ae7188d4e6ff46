//! Where a person is in a part of a document: what is on screen, and how far it scrolls.
//!
//! Nothing here costs more than the rows of a screen, however long the document is.

use std::ops::Range;

use crate::tui::document::json::Folds;
use crate::tui::document::line::Line;
use crate::tui::document::{Part, View};

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// Columns of the text, line numbers included.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// A row of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    line: usize,
    row: usize,
}

/// The place in a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    top: Place,
    /// The selected line, where lines can be folded.
    cursor: usize,
    folds: Folds,
}

/// A row on screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// The line that it is of.
    pub index: usize,
    /// Whether it is the first of the line.
    pub first: bool,
    /// The line.
    pub line: Line<'a>,
    /// The part of the text that stands in the row.
    pub range: Range<usize>,
}

impl Page {
    /// What of the objects and arrays is folded.
    #[must_use]
    pub const fn folds(&self) -> &Folds {
        &self.folds
    }

    /// The selected line, where lines can be selected.
    #[must_use]
    pub fn selected(&self, part: &Part) -> Option<usize> {
        matches!(part.view, View::Json(_)).then_some(self.cursor)
    }

    /// The first line on screen.
    #[must_use]
    pub const fn first(&self) -> usize {
        self.top.line
    }

    /// The rows on screen.
    #[must_use]
    pub fn rows<'a>(&self, part: &'a Part, room: Room) -> Vec<Row<'a>> {
        let mut rows = Vec::with_capacity(room.rows);
        let mut next = (part.len(room.columns) > 0).then_some(self.top.line);
        let mut skipped = self.top.row;
        while let Some(index) = next {
            let line = part.line(index, room.columns, &self.folds);
            let ranges = line.rows(text_columns(part, room));
            for (number, range) in ranges.into_iter().enumerate().skip(skipped) {
                if rows.len() >= room.rows {
                    return rows;
                }
                rows.push(Row {
                    index,
                    first: number == 0,
                    line: line.clone(),
                    range,
                });
            }
            skipped = 0;
            next = part.next(index, room.columns, &self.folds);
        }
        rows
    }

    /// Moves by so many rows, or the selected line by so many lines.
    pub fn step(&mut self, part: &Part, room: Room, rows: isize) {
        if self.selected(part).is_none() {
            self.scroll(part, room, rows);
            return;
        }
        for _ in 0..rows.unsigned_abs() {
            let next = if rows > 0 {
                part.next(self.cursor, room.columns, &self.folds)
            } else {
                part.previous(self.cursor, &self.folds)
            };
            match next {
                Some(line) => self.cursor = line,
                None => break,
            }
        }
        self.show_cursor(part, room);
    }

    /// Moves the rows on screen by so many.
    pub fn scroll(&mut self, part: &Part, room: Room, rows: isize) {
        self.top = if rows > 0 {
            self.below(part, room, self.top, rows.unsigned_abs())
        } else {
            self.above(part, room, self.top, rows.unsigned_abs())
        };
        self.settle(part, room);
        self.follow_screen(part, room);
    }

    /// To the first row.
    pub fn to_start(&mut self) {
        self.top = Place::default();
        self.cursor = 0;
    }

    /// To the last row.
    pub fn to_end(&mut self, part: &Part, room: Room) {
        let last = part.len(room.columns).saturating_sub(1);
        self.cursor = match &part.view {
            View::Json(json) => json.seen(last, &self.folds),
            _ => last,
        };
        self.top = Place {
            line: self.cursor,
            row: 0,
        };
        self.settle(part, room);
    }

    /// To the line, which is unfolded where it has to be, and shown a little below the top.
    pub fn to_line(&mut self, part: &Part, room: Room, line: usize) {
        if let View::Json(json) = &part.view {
            while json.seen(line, &self.folds) != line {
                let fold = json.seen(line, &self.folds);
                self.folds.remove(&fold);
            }
        }
        self.cursor = line;
        let on_screen = self.rows(part, room).iter().any(|row| row.index == line);
        if !on_screen {
            let place = Place { line, row: 0 };
            self.top = self.above(part, room, place, room.rows / 3);
            self.settle(part, room);
        }
    }

    /// Folds what the selected line belongs to, or unfolds it; on the first line, everything
    /// inside of it.
    pub fn fold(&mut self, part: &Part, room: Room) {
        let View::Json(json) = &part.view else {
            return;
        };
        match json.opening(self.cursor) {
            None | Some(0) if self.folds.is_empty() => self.folds = json.openings().collect(),
            None | Some(0) => self.folds.clear(),
            Some(line) => {
                if !self.folds.remove(&line) {
                    self.folds.insert(line);
                    self.cursor = line;
                }
            }
        }
        self.top.line = json.seen(self.top.line, &self.folds);
        self.cursor = json.seen(self.cursor, &self.folds);
        self.show_cursor(part, room);
    }

    /// Keeps the screen full: what is above the end fills it.
    pub fn settle(&mut self, part: &Part, room: Room) {
        let len = part.len(room.columns);
        if self.top.line >= len {
            self.top = Place {
                line: len.saturating_sub(1),
                row: 0,
            };
        }
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let rows = self.rows_of(part, room, self.top.line);
        self.top.row = self.top.row.min(rows.saturating_sub(1));
        let missing = room.rows.saturating_sub(self.rows(part, room).len());
        self.top = self.above(part, room, self.top, missing);
    }

    /// Scrolls until the selected line is on screen.
    fn show_cursor(&mut self, part: &Part, room: Room) {
        if self.cursor < self.top.line {
            self.top = Place {
                line: self.cursor,
                row: 0,
            };
        }
        let needed = self.rows_of(part, room, self.cursor).min(room.rows);
        let cursor = Place {
            line: self.cursor,
            row: 0,
        };
        // The highest row that the screen may begin with and still show the line.
        let first = self.above(part, room, cursor, room.rows - needed);
        self.top = self.top.max(first);
        self.settle(part, room);
    }

    /// Keeps the selected line on screen after scrolling.
    fn follow_screen(&mut self, part: &Part, room: Room) {
        let rows = self.rows(part, room);
        if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            self.cursor = self.cursor.clamp(first.index, last.index);
        }
    }

    fn rows_of(&self, part: &Part, room: Room, line: usize) -> usize {
        let line = part.line(line, room.columns, &self.folds);
        line.rows(text_columns(part, room)).len()
    }

    /// The place so many rows below, or the last one.
    fn below(&self, part: &Part, room: Room, place: Place, rows: usize) -> Place {
        let mut left = rows;
        let Place { mut line, mut row } = place;
        loop {
            let last = self.rows_of(part, room, line).saturating_sub(1);
            if row + left <= last {
                row += left;
                return Place { line, row };
            }
            match part.next(line, room.columns, &self.folds) {
                Some(next) => {
                    left -= last - row.min(last) + 1;
                    (line, row) = (next, 0);
                }
                None => return Place { line, row: last },
            }
        }
    }

    /// The place so many rows above, or the first one.
    fn above(&self, part: &Part, room: Room, place: Place, rows: usize) -> Place {
        let mut left = rows;
        let Place { mut line, mut row } = place;
        loop {
            if left <= row {
                row -= left;
                return Place { line, row };
            }
            match part.previous(line, &self.folds) {
                Some(previous) => {
                    left -= row + 1;
                    line = previous;
                    row = self.rows_of(part, room, line).saturating_sub(1);
                }
                None => return Place { line, row: 0 },
            }
        }
    }
}

/// The columns beside the line numbers, or beside the bar of the selected line.
fn text_columns(part: &Part, room: Room) -> usize {
    room.columns.saturating_sub(part.gutter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::decode::contents::{Body, Content};
    use crate::tui::aside::Wanted;
    use crate::tui::document::Document;
    use proptest::prelude::*;

    fn part(mime_type: &str, text: &str) -> Part {
        let content = Content {
            uri: "x".into(),
            mime_type: Some(mime_type.into()),
            body: Body::Text(text.into()),
        };
        Document::of(vec![content], &Wanted::default())
            .parts
            .remove(0)
    }

    fn parts() -> [Part; 3] {
        let long = format!("one\n{}\n\nlast 漢字 line", "a word and ".repeat(600));
        let many: Vec<String> = (1..40).map(|line| format!("line {line}")).collect();
        let json = r#"{"a":[1,[2,{"b":"a rather long text that has to go on"}],[]],"c":{"d":{}}}"#;
        [
            part("text/x-log", &long),
            part("text/plain", &many.join("\n")),
            part("application/json", json),
        ]
    }

    /// All rows of the part, as they are without a screen.
    fn all(page: &Page, part: &Part, columns: usize) -> usize {
        let room = Room {
            columns,
            rows: usize::MAX / 2,
        };
        let whole = Page {
            folds: page.folds.clone(),
            ..Page::default()
        };
        let mut rows = 0;
        let mut next = Some(0);
        while let Some(line) = next {
            rows += whole.rows_of(part, room, line);
            next = part.next(line, columns, &whole.folds);
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever is done, the screen is full, the selected line is on it, and a line that is
        /// gone to is shown.
        #[test]
        fn the_screen_is_full_whatever_is_done(
            which in 0_usize..3,
            columns in 8_usize..60,
            rows in 1_usize..30,
            steps in prop::collection::vec((0_u8..7, 0_usize..100), 1..40),
        ) {
            let part = &parts()[which];
            let mut room = Room { columns, rows };
            let mut page = Page::default();
            for (what, size) in steps {
                let by = isize::try_from(size).unwrap_or(0) - 50;
                match what {
                    0 => page.step(part, room, by),
                    1 => page.scroll(part, room, by),
                    2 => page.to_start(),
                    3 => page.to_end(part, room),
                    4 => page.fold(part, room),
                    5 => {
                        room.columns = 8 + size / 2;
                        page.settle(part, room);
                    }
                    _ => {
                        let line = size % part.len(room.columns);
                        page.to_line(part, room, line);
                        let shown = page.rows(part, room);
                        prop_assert!(shown.iter().any(|row| row.index == line));
                    }
                }
                let shown = page.rows(part, room);
                prop_assert_eq!(shown.len(), room.rows.min(all(&page, part, room.columns)));
                if let Some(selected) = page.selected(part) {
                    let is_hidden = what == 5;
                    prop_assert!(is_hidden || shown.iter().any(|row| row.index == selected));
                }
            }
        }
    }
}
