//! Lines of several inks, with something before them: rendered Markdown, details, messages.

use std::borrow::Cow;
use std::ops::Range;

use super::line::{Ink, Line, readable};
use super::text::LONGEST;
use crate::domain::text;

/// The columns of a label and the gap behind it.
pub const LABEL_COLUMNS: usize = 12;

/// The lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rich {
    lines: Vec<RichLine>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RichLine {
    lead: Box<str>,
    hang: Box<str>,
    text: Box<str>,
    inks: Box<[(usize, Ink)]>,
}

impl Rich {
    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The line's text, without what is before it.
    #[must_use]
    pub fn raw(&self, index: usize) -> &str {
        self.lines.get(index).map_or("", |line| &line.text)
    }

    /// The line as it is shown.
    #[must_use]
    pub fn line(&self, index: usize) -> Line<'_> {
        let Some(line) = self.lines.get(index) else {
            return Line::plain("", Ink::Plain);
        };
        Line {
            number: None,
            lead: Cow::Borrowed(&line.lead),
            hang: Cow::Borrowed(&line.hang),
            lead_ink: Ink::Dim,
            text: Cow::Borrowed(&line.text),
            inks: line.inks.to_vec(),
        }
    }

    /// The first rows of a screen of so many columns: which line, and which part of it.
    #[must_use]
    pub fn rows(&self, columns: usize, most: usize) -> Vec<(usize, Range<usize>)> {
        let lines = (0..self.lines.len()).flat_map(|index| {
            let rows = self.line(index).rows(columns);
            rows.into_iter().map(move |row| (index, row))
        });
        lines.take(most).collect()
    }

    /// Adds a line of several inks, in pieces where it is long.
    pub fn push(&mut self, lead: &str, hang: &str, parts: &[(impl AsRef<str>, Ink)]) {
        let mut line = Part::default();
        let mut lead = lead;
        for (part, ink) in parts {
            let shown = readable(part.as_ref());
            let mut rest = &*shown;
            while line.text.len() + rest.len() > LONGEST {
                let room = rest.floor_char_boundary(LONGEST - line.text.len().min(LONGEST));
                let (piece, behind) = rest.split_at(room);
                line.add(piece, *ink);
                self.lines
                    .push(std::mem::take(&mut line).finish(lead, hang));
                lead = hang;
                rest = behind;
            }
            line.add(rest, *ink);
        }
        self.lines.push(line.finish(lead, hang));
    }

    /// Adds a text of one ink, each of its lines as one.
    pub fn text(&mut self, lead: &str, hang: &str, value: &str, ink: Ink) {
        let mut lead = lead;
        for line in value.trim_end().split('\n') {
            self.push(
                lead,
                hang,
                &[(line.strip_suffix('\r').unwrap_or(line), ink)],
            );
            lead = hang;
        }
    }

    /// Adds a value with its label.
    pub fn labelled(&mut self, label: &str, value: &str, ink: Ink) {
        let gap = " ".repeat(LABEL_COLUMNS);
        let lead = format!("{label:<LABEL_COLUMNS$}");
        self.text(&lead, &gap, value, ink);
    }

    /// Adds a heading, with a gap above it.
    pub fn heading(&mut self, value: &str) {
        self.gap();
        self.push("", "", &[(value, Ink::Heading)]);
    }

    /// Adds an empty line, unless there is one or nothing is above it.
    pub fn gap(&mut self) {
        let last = self.lines.last();
        if last.is_some_and(|line| !line.text.is_empty()) {
            self.push("", "", &[("", Ink::Plain)]);
        }
    }

    /// Takes an empty line at the end away.
    pub fn trim_end(&mut self) {
        if self.lines.last().is_some_and(|line| line.text.is_empty()) {
            self.lines.pop();
        }
    }
}

/// A line while it is made.
#[derive(Debug, Default)]
struct Part {
    text: String,
    inks: Vec<(usize, Ink)>,
}

impl Part {
    fn add(&mut self, text: &str, ink: Ink) {
        self.text.push_str(text);
        self.inks.push((self.text.len(), ink));
    }

    fn finish(self, lead: &str, hang: &str) -> RichLine {
        RichLine {
            lead: text::readable(lead).into(),
            hang: text::readable(hang).into(),
            text: self.text.into(),
            inks: self.inks.into(),
        }
    }
}
