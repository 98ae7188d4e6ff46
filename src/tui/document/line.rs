//! One line of a document, and how it is broken into rows of the screen.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::domain::text;

/// What a part of a line is, so that a theme can colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what the parts are")]
pub enum Ink {
    Plain,
    Dim,
    Heading,
    Strong,
    Emphasis,
    Code,
    Link,
    Key,
    String,
    Number,
    Good,
    Warn,
    Bad,
}

/// A line, made when it is drawn: as long as it may be, it is broken only then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, where lines are counted and it is not the rest of a line.
    pub number: Option<usize>,
    /// What stands before the first row: a label, a bullet.
    pub lead: Cow<'a, str>,
    /// What stands before further rows.
    pub hang: Cow<'a, str>,
    /// How both are to be read.
    pub lead_ink: Ink,
    /// What it says, on one line and without anything invisible.
    pub text: Cow<'a, str>,
    /// Where each ink ends, ascending; the last one is for the rest.
    pub inks: Vec<(usize, Ink)>,
}

impl<'a> Line<'a> {
    /// A line of one ink, without anything before it.
    #[must_use]
    pub fn plain(text: impl Into<Cow<'a, str>>, ink: Ink) -> Self {
        let text = text.into();
        Self {
            number: None,
            lead: Cow::Borrowed(""),
            hang: Cow::Borrowed(""),
            lead_ink: Ink::Dim,
            inks: vec![(text.len(), ink)],
            text,
        }
    }

    /// The parts of the range, each of one ink.
    pub fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (&str, Ink)> {
        let mut start = 0;
        let rest = self.inks.last().map_or(Ink::Plain, |(_, ink)| *ink);
        let all = self.inks.iter().copied();
        all.chain([(self.text.len(), rest)])
            .filter_map(move |(end, ink)| {
                let part = start.max(range.start)..end.min(range.end);
                start = end.max(start);
                let text = self.text.get(part).filter(|text| !text.is_empty())?;
                Some((text, ink))
            })
    }

    /// The rows of a screen of so many columns: at least one.
    #[must_use]
    pub fn rows(&self, columns: usize) -> Vec<Range<usize>> {
        let taken = text::width(&self.lead).max(text::width(&self.hang));
        rows(&self.text, columns.saturating_sub(taken))
    }
}

/// Breaks a text between words, and inside a word that fits on no row.
fn rows(value: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    if text::width(value) <= columns {
        return std::iter::once(0..value.len()).collect();
    }
    if value.is_ascii() {
        let bytes = value.bytes().enumerate();
        let pieces = bytes.map(|(at, byte)| (at, 1, byte == b' '));
        broken(pieces, value.len(), columns)
    } else {
        let graphemes = value.grapheme_indices(true);
        let pieces = graphemes.map(|(at, piece)| (at, text::width(piece), piece == " "));
        broken(pieces, value.len(), columns)
    }
}

/// Breaks what consists of pieces: where each begins, how wide it is, and whether it is a space.
fn broken(
    pieces: impl Iterator<Item = (usize, usize, bool)>,
    len: usize,
    columns: usize,
) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Where the row can be broken, and the columns up to there.
    let mut gap = None;
    for (at, width, is_space) in pieces {
        // A space at the end of a row is not seen, so it may stand beyond it.
        if used + width > columns && at > start && !is_space {
            let (end, before) = gap.take().unwrap_or((at, used));
            rows.push(start..end);
            start = end;
            used -= before;
        }
        used += width;
        if is_space {
            gap = Some((at + 1, used));
        }
    }
    rows.push(start..len);
    rows
}

/// A text for one line of a document: tabs become spaces up to the next stop, what is invisible
/// and joins nothing becomes an escape.
#[must_use]
pub fn readable(value: &str) -> Cow<'_, str> {
    const STOP: usize = 4;
    if !value.contains('\t') {
        return text::readable(value);
    }
    let mut line = String::with_capacity(value.len() + 16);
    let mut columns = 0;
    for (index, part) in value.split('\t').enumerate() {
        if index > 0 {
            let spaces = STOP - columns % STOP;
            line.extend(std::iter::repeat_n(' ', spaces));
            columns += spaces;
        }
        let part = text::readable(part);
        columns += text::width(&part);
        line.push_str(&part);
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words_or_inside_long_ones_and_lose_nothing() {
        let check = |value: &str, columns: usize, expected: &[&str]| {
            let rows = rows(value, columns);
            let texts: Vec<&str> = rows
                .iter()
                .map(|row| value[row.clone()].trim_end())
                .collect();
            assert_eq!(texts, expected, "{value} at {columns}");
            let whole: String = rows.into_iter().map(|row| &value[row]).collect();
            assert_eq!(whole, value);
        };
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 100, &["one two three"]);
        check("abcdefgh ij", 3, &["abc", "def", "gh", "ij"]);
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("a    b", 3, &["a", "b"]);
        check("", 5, &[""]);
        check("ab cd", 1, &["a", "b", "c", "d"]);
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        let check = |value: &str, expected: &str| assert_eq!(readable(value), expected);
        check("a\tb", "a   b");
        check("abcd\tb", "abcd    b");
        check("\t\tx", "        x");
    }

    #[test]
    fn parts_are_cut_to_the_row() {
        let line = Line {
            inks: vec![(3, Ink::Key), (5, Ink::Dim)],
            ..Line::plain("abc: def", Ink::Plain)
        };
        let parts = |range| line.parts(range).collect::<Vec<_>>();
        assert_eq!(
            parts(0..8),
            [("abc", Ink::Key), (": ", Ink::Dim), ("def", Ink::Dim)]
        );
        assert_eq!(parts(1..4), [("bc", Ink::Key), (":", Ink::Dim)]);
    }
}
