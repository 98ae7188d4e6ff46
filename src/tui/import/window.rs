//! Which line of a list is selected, and which are on screen.

/// The place in a list. The list says how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The selected line.
    pub cursor: usize,
    /// The first line on screen.
    pub offset: usize,
    /// How many lines fit on screen.
    pub height: usize,
}

impl Window {
    /// Moves the cursor by so many lines.
    pub fn step(&mut self, lines: isize, len: usize) {
        self.select(self.cursor.saturating_add_signed(lines), len);
    }

    /// Moves the cursor to the line, or to the last one.
    pub fn select(&mut self, line: usize, len: usize) {
        self.cursor = line.min(len.saturating_sub(1));
        let height = self.height.max(1);
        self.offset = self
            .offset
            .max((self.cursor + 1).saturating_sub(height))
            .min(self.cursor)
            .min(len.saturating_sub(height));
    }

    /// Scrolls without moving the cursor, except to keep it on screen.
    pub fn scroll(&mut self, lines: isize, len: usize) {
        let last = len.saturating_sub(self.height);
        self.offset = self.offset.saturating_add_signed(lines).min(last);
        let bottom = self.offset + self.height.saturating_sub(1);
        self.select(self.cursor.clamp(self.offset, bottom), len);
    }

    /// Tells how many lines fit on screen.
    pub fn set_height(&mut self, height: usize, len: usize) {
        self.height = height;
        self.step(0, len);
    }

    /// The line at so many lines below the first one on screen, if there is one.
    #[must_use]
    pub const fn at(&self, below: usize, len: usize) -> Option<usize> {
        let line = self.offset + below;
        if below < self.height && line < len {
            Some(line)
        } else {
            None
        }
    }
}
