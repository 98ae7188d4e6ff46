//! The text of one file, and places in it.
//!
//! A source line that is shown in a message must not carry a secret. So a source knows which of
//! its ranges hold values that may be one, and shows `***` in their place.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use unicode_width::UnicodeWidthChar;

use super::problem::{ConfigProblem, Place, ProblemKind};

/// How many characters of a source line are shown: minified JSON has one endless line.
const SHOWN: usize = 120;

/// The text of one file.
pub(super) struct Source {
    file: Arc<Path>,
    text: Box<str>,
    /// Where each line begins.
    lines: Vec<usize>,
    /// What must not be shown, sorted.
    hidden: Vec<Range<usize>>,
}

impl Source {
    /// The text, of which the ranges are not shown.
    pub(super) fn new(file: Arc<Path>, text: &str, mut hidden: Vec<Range<usize>>) -> Arc<Self> {
        hidden.sort_by_key(|range| range.start);
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Arc::new(Self {
            file,
            lines: std::iter::once(0).chain(breaks).collect(),
            text: text.into(),
            hidden,
        })
    }

    /// The text that could not be parsed: everything that looks like a value is not shown.
    pub(super) fn unparsed(file: Arc<Path>, text: &str) -> Arc<Self> {
        Self::new(file, text, values_by_look(text))
    }

    /// The folder of the file.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// The line of the byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1)
    }

    /// The place of the range, from 1.
    pub(super) fn place(&self, range: &Range<usize>) -> Place {
        let start = floor(&self.text, range.start);
        let line = self.line(start);
        let line_start = self.lines[line - 1];
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |at| start + at);
        let line_text = self.text[line_start..line_end].trim_end_matches('\r');
        let line_end = line_start + line_text.len();
        let (shown, caret, width) = self.shown(line_start..line_end, start, range.end);
        Place {
            file: Arc::clone(&self.file),
            line,
            column: self.text[line_start..start].chars().count() + 1,
            source_line: shown.into(),
            caret,
            width,
        }
    }

    /// The line without what is hidden, and where on it the range stands.
    fn shown(&self, line: Range<usize>, start: usize, end: usize) -> (String, usize, usize) {
        // What is wrong may be the line's end, which is no part of it.
        let place = start.min(line.end) - line.start;
        let from = window_start(&self.text[line.clone()], place) + line.start;
        let mut shown = String::new();
        let (mut caret, mut caret_end) = (None, None);
        if from > line.start {
            shown.push_str("...");
        }
        let mut columns = shown.len();
        let mut count = 0;
        let mut at = from;
        while at < line.end && count < SHOWN {
            if at >= start && caret.is_none() {
                caret = Some(columns);
            }
            if at >= end && caret_end.is_none() {
                caret_end = Some(columns);
            }
            let hidden = self.hidden.iter().find(|range| range.contains(&at));
            if let Some(range) = hidden {
                shown.push_str("***");
                columns += 3;
                count += 3;
                at = range.end;
                continue;
            }
            let Some(c) = self.text[at..].chars().next() else {
                break;
            };
            at += c.len_utf8();
            let c = match c {
                '\t' => ' ',
                c if c.is_control() => '\u{fffd}',
                c => c,
            };
            shown.push(c);
            columns += c.width().unwrap_or(1);
            count += 1;
        }
        if at < line.end {
            shown.push_str("...");
        }
        let caret = caret.unwrap_or(columns);
        let caret_end = caret_end.unwrap_or(columns);
        (shown, caret, caret_end.saturating_sub(caret).max(1))
    }
}

/// A place in a source, or none for what was given on the command line.
#[derive(Clone, Default)]
pub(super) struct Spot {
    at: Option<(Arc<Source>, Range<usize>)>,
}

impl Spot {
    /// The range of the source.
    pub(super) fn new(source: &Arc<Source>, range: &Range<usize>) -> Self {
        Self {
            at: Some((Arc::clone(source), range.clone())),
        }
    }

    /// The line, from 1.
    pub(super) fn line(&self) -> Option<usize> {
        let (source, range) = self.at.as_ref()?;
        Some(source.line(range.start))
    }

    /// A problem at this place.
    pub(super) fn problem(&self, kind: ProblemKind) -> ConfigProblem {
        let place = self.at.as_ref().map(|(source, range)| source.place(range));
        ConfigProblem::new(kind, place)
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some((source, range)) => {
                write!(
                    f,
                    "{}:{}..{}",
                    source.file.display(),
                    range.start,
                    range.end
                )
            }
            None => f.write_str("nowhere"),
        }
    }
}

/// The next character boundary at or before the index.
fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Where a long line begins to be shown, so that the place is seen.
fn window_start(line: &str, place: usize) -> usize {
    if line.chars().count() <= SHOWN {
        return 0;
    }
    line[..place]
        .char_indices()
        .rev()
        .take(SHOWN / 2)
        .last()
        .map_or(0, |(at, _)| at)
}

/// The ranges of a text with wrong syntax that may be values: on each line, behind the first `=`
/// or `:` (or from its start, where it has none and is no header), what stands in quotes and
/// every word that is long enough to be a secret.
fn values_by_look(text: &str) -> Vec<Range<usize>> {
    const SECRET_FROM: usize = 8;
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let header = trimmed.starts_with('[') && !trimmed.contains(['=', ':', '"', '\'']);
        let value_at = line.find(['=', ':']).map_or(0, |at| at + 1);
        let mut quoted: Option<(char, usize)> = None;
        let mut word: Option<usize> = None;
        let body = line.trim_end_matches(['\n', '\r']);
        let end = start + body.len();
        let rest = body.get(value_at..).unwrap_or("");
        for (at, c) in rest.char_indices().filter(|_| !header) {
            let at = start + value_at + at;
            match quoted {
                Some((quote, from)) if quote == c => {
                    ranges.push(from..at);
                    quoted = None;
                }
                Some(_) => {}
                None if matches!(c, '"' | '\'') => {
                    push_word(&mut ranges, word.take(), at, SECRET_FROM);
                    quoted = Some((c, at + 1));
                }
                None if c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | '=') => {
                    push_word(&mut ranges, word.take(), at, SECRET_FROM);
                }
                None => word = word.or(Some(at)),
            }
        }
        if let Some((_, from)) = quoted {
            ranges.push(from..end);
        }
        push_word(&mut ranges, word, end, SECRET_FROM);
        start += line.len();
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}

fn push_word(ranges: &mut Vec<Range<usize>>, from: Option<usize>, end: usize, least: usize) {
    if let Some(from) = from.filter(|from| end - from >= least) {
        ranges.push(from..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(source: &Source, text: &str, needle: &str) -> Place {
        let at = text.find(needle).unwrap();
        source.place(&(at..at + needle.len()))
    }

    #[test]
    fn the_end_of_a_long_line_is_a_place_too() {
        for end in ["\r\n", "\r\r\r\n", "\n", ""] {
            let text = format!("{}{end}", "ä".repeat(2 * SHOWN));
            let source = Source::new(Path::new("f").into(), &text, Vec::new());
            for at in 0..=end.len() {
                let at = text.len() - at;
                let place = source.place(&(at..text.len()));
                assert!(
                    place.caret <= place.source_line.chars().count(),
                    "{place:?}"
                );
            }
        }
    }

    #[test]
    fn a_place_has_line_column_and_the_line_itself() {
        let text = "a = 1\r\nä\tbc = 2\r\n";
        let source = Source::new(Path::new("f").into(), text, Vec::new());
        let place = place(&source, text, "bc");
        assert_eq!((place.line, place.column), (2, 3));
        assert_eq!(&*place.source_line, "ä bc = 2");
        assert_eq!((place.caret, place.width), (2, 2));
    }

    #[test]
    fn what_is_hidden_is_not_shown() {
        let text = "k = \"secret\" x";
        let hidden = std::iter::once(5..11).collect();
        let source = Source::new(Path::new("f").into(), text, hidden);
        let place = place(&source, text, "x");
        assert_eq!(&*place.source_line, "k = \"***\" x");
        assert_eq!(place.caret, 10);
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}here{}", "x".repeat(500), "y".repeat(500));
        let source = Source::new(Path::new("f").into(), &text, Vec::new());
        let place = place(&source, &text, "here");
        assert!(place.source_line.len() < 130);
        assert_eq!(&place.source_line[place.caret..place.caret + 4], "here");
    }

    #[test]
    fn a_line_with_wrong_syntax_shows_no_value() {
        let check = |text: &str, expected: &str| {
            let source = Source::unparsed(Path::new("f").into(), text);
            assert_eq!(&*source.place(&(0..1)).source_line, expected);
        };
        check("TOKEN = \"sk-12345", "TOKEN = \"***");
        check("TOKEN = sk-12345678", "TOKEN = ***");
        check("args = [\"a\" \"b\"]", "args = [\"***\" \"***\"]");
        check("[servers.files", "[servers.files");
        check("enabled = yes", "enabled = yes");
        check("sk-1234567890", "***");
        check("\"T\": \"it's a secret\"", "\"T\": \"***\"");
    }
}
