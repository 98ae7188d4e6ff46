//! JSON, one value a line, of which objects and arrays can be folded.
//!
//! The text is laid out by its tokens and not parsed, so that what was cut off in the middle is
//! laid out too. Whether it is JSON at all is for the caller to know.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::aside::Wanted;
use super::super::format;
use super::line::{Ink, Line, readable};
use super::text::LONGEST;

/// A text of more lines is not laid out: it would take many times its own size.
const MOST_ROWS: usize = 2_000_000;

/// What is laid out may be so many times as long as the text, and a little more: brackets alone
/// are nothing but indentation.
const GROWTH: usize = 4;
const SMALL: usize = 1_024 * 1_024;

/// A level deeper is not indented any further.
const DEEPEST: usize = 64;

/// The lines of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    rows: Vec<Row>,
}

/// A line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    start: u32,
    /// The line with the closing bracket of what opens here; 0: nothing does.
    close: u32,
    /// The line that opens what closes here, and how many values that has.
    open: u32,
    items: u32,
    /// Whether it is the rest of a long line.
    rest: bool,
}

/// The lines whose objects and arrays are folded.
pub type Folds = BTreeSet<usize>;

impl Json {
    /// Lays the text out; `None` where that would take far more than the text itself, or is not
    /// wanted any more.
    #[must_use]
    pub fn new(json: &str, wanted: &Wanted) -> Option<Self> {
        let longest = GROWTH * json.len() + SMALL;
        let mut layout = Layout::default();
        layout.start_row();
        let mut tokens = Tokens(json).peekable();
        while let Some(token) = tokens.next() {
            if layout.rows.len() > MOST_ROWS || layout.text.len() > longest || !wanted.holds() {
                return None;
            }
            match token {
                "{" | "[" => {
                    let closing = if token == "{" { "}" } else { "]" };
                    layout.write(token);
                    if tokens.peek() == Some(&closing) {
                        tokens.next();
                        layout.write(closing);
                    } else {
                        layout.open();
                    }
                }
                "}" | "]" => layout.close(token),
                "," => {
                    layout.write(",");
                    layout.count();
                    layout.start_row();
                }
                ":" => layout.write(": "),
                token => layout.write(token),
            }
        }
        Some(Self {
            text: layout.text,
            rows: layout.rows,
        })
    }

    /// How many lines there are, unfolded.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The line below, `None` below the last.
    #[must_use]
    pub fn next(&self, line: usize, folds: &Folds) -> Option<usize> {
        let row = self.rows.get(line)?;
        let next = if row.close > 0 && folds.contains(&line) {
            row.close as usize + 1
        } else {
            line + 1
        };
        (next < self.rows.len()).then_some(next)
    }

    /// The line above, `None` above the first.
    #[must_use]
    pub fn previous(&self, line: usize, folds: &Folds) -> Option<usize> {
        let above = line.checked_sub(1)?;
        let open = self.rows.get(above)?.open as usize;
        let closes = self.rows[open].close as usize == above;
        Some(if closes && folds.contains(&open) {
            open
        } else {
            above
        })
    }

    /// The line that opens what the line belongs to: itself where something opens on it.
    #[must_use]
    pub fn opening(&self, line: usize) -> Option<usize> {
        if self.rows.get(line)?.close > 0 {
            return Some(line);
        }
        let mut above = line;
        loop {
            let row = &self.rows[above];
            if row.close as usize >= line && row.close > 0 {
                return Some(above);
            }
            let open = row.open as usize;
            let closes = above != line && self.rows[open].close as usize == above;
            above = if closes { open } else { above }.checked_sub(1)?;
        }
    }

    /// All lines on which something opens inside of the outermost value.
    pub fn openings(&self) -> impl Iterator<Item = usize> {
        let rows = self.rows.iter().enumerate().skip(1);
        rows.filter(|(_, row)| row.close > 0).map(|(line, _)| line)
    }

    /// The line that is seen where the line is folded away.
    #[must_use]
    pub fn seen(&self, line: usize, folds: &Folds) -> usize {
        let over = |open: &usize| self.rows[*open].close as usize >= line && *open < line;
        folds.iter().copied().find(over).unwrap_or(line)
    }

    /// The line as it is laid out.
    #[must_use]
    pub fn raw(&self, line: usize) -> &str {
        let Some(row) = self.rows.get(line) else {
            return "";
        };
        let end = match self.rows.get(line + 1) {
            Some(next) => next.start as usize,
            None => self.text.len(),
        };
        &self.text[row.start as usize..end]
    }

    /// The line as it is shown.
    #[must_use]
    pub fn line(&self, index: usize, folds: &Folds) -> Line<'_> {
        let Some(row) = self.rows.get(index) else {
            return Line::plain("", Ink::Plain);
        };
        let raw = self.raw(index);
        let (indent, raw) = raw.split_at(raw.len() - raw.trim_start_matches(' ').len());
        let mut line = if row.rest {
            Line::plain(readable(raw), Ink::String)
        } else {
            coloured(raw)
        };
        // What goes on below stands a little to the right of where it began.
        line.lead = Cow::Borrowed(indent);
        line.hang = Cow::Owned(format!("{indent}  "));
        if row.close > 0 && folds.contains(&index) {
            self.fold(&mut line, row);
        }
        line
    }

    /// `"tools": { … 12 items },`.
    fn fold(&self, line: &mut Line<'_>, row: &Row) {
        let closing = self.raw(row.close as usize).trim_start();
        let text = line.text.to_mut();
        // Writing to a string does not fail.
        let _ = write!(text, " … {} ", format::plural(row.items as usize, "item"));
        line.inks.push((text.len(), Ink::Dim));
        text.push_str(closing);
        line.inks.push((text.len(), Ink::Plain));
    }
}

/// The lines as they are made.
#[derive(Debug, Default)]
struct Layout {
    text: String,
    rows: Vec<Row>,
    /// The lines whose brackets are open, each with the values counted so far.
    open: Vec<(usize, u32)>,
}

impl Layout {
    fn start_row(&mut self) {
        let rest = false;
        self.push_row(rest);
        let indent = self.open.len().min(DEEPEST);
        self.text.extend(std::iter::repeat_n("  ", indent));
    }

    fn push_row(&mut self, rest: bool) {
        self.rows.push(Row {
            // A text of 4 GiB or more does not come through any transport.
            start: u32::try_from(self.text.len()).unwrap_or(u32::MAX),
            close: 0,
            open: 0,
            items: 0,
            rest,
        });
    }

    /// Adds the token to the line, in pieces where it is long.
    fn write(&mut self, token: &str) {
        let mut rest = token;
        while rest.len() > LONGEST {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(LONGEST));
            self.text.push_str(piece);
            self.push_row(true);
            rest = behind;
        }
        self.text.push_str(rest);
    }

    fn open(&mut self) {
        self.open.push((self.rows.len() - 1, 0));
        self.start_row();
    }

    fn count(&mut self) {
        if let Some((_, items)) = self.open.last_mut() {
            *items += 1;
        }
    }

    fn close(&mut self, bracket: &str) {
        self.count();
        let opened = self.open.pop();
        self.start_row();
        self.text.push_str(bracket);
        let last = self.rows.len() - 1;
        if let Some((open, items)) = opened {
            self.rows[open].close = u32::try_from(last).unwrap_or(u32::MAX);
            self.rows[open].items = items;
            self.rows[last].open = u32::try_from(open).unwrap_or(0);
        }
    }
}

/// The tokens of a JSON text, without what is between them.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_ascii_start();
        let bytes = text.as_bytes();
        let end = match bytes.first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => end_of_string(bytes),
            _ => {
                let ends = |byte: &u8| {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
                };
                bytes.iter().position(ends).unwrap_or(bytes.len())
            }
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// Where the string at the beginning ends; at the end of the text if nothing ends it.
fn end_of_string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// A line with its tokens coloured.
fn coloured(raw: &str) -> Line<'_> {
    let shown = readable(raw);
    let mut inks = Vec::new();
    let (mut rest, mut at) = (&*shown, 0);
    loop {
        let mut tokens = Tokens(rest);
        let Some(token) = tokens.next() else {
            break;
        };
        at += rest.len() - tokens.0.len();
        let is_key = tokens.0.trim_start().starts_with(':');
        let ink = match token.as_bytes() {
            [b'"', ..] if is_key => Ink::Key,
            [b'"', ..] => Ink::String,
            [b'{' | b'}' | b'[' | b']' | b',' | b':', ..] => Ink::Plain,
            _ => Ink::Number,
        };
        inks.push((at, ink));
        rest = tokens.0;
    }
    Line {
        inks,
        ..Line::plain(shown, Ink::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &Json, folds: &Folds) -> Vec<String> {
        let mut lines = Vec::new();
        let mut at = Some(0);
        while let Some(index) = at {
            let line = json.line(index, folds);
            lines.push(format!("{}{}", line.lead, line.text));
            at = json.next(index, folds);
            if let Some(below) = at {
                assert_eq!(json.previous(below, folds), Some(index), "above {below}");
            }
        }
        lines
    }

    const SAMPLE: &str = r#"{"a":[1,{"b":"x, y"},[]],"c":{},"d":-1.5e3}"#;

    #[test]
    fn each_value_has_a_line() {
        let check = |json: &str, expected: &[&str]| {
            let json_lines = Json::new(json, &Wanted::default()).unwrap();
            assert_eq!(shown(&json_lines, &Folds::new()), expected, "{json}");
        };
        check(
            SAMPLE,
            &[
                "{",
                r#"  "a": ["#,
                "    1,",
                "    {",
                r#"      "b": "x, y""#,
                "    },",
                "    []",
                "  ],",
                r#"  "c": {},"#,
                r#"  "d": -1.5e3"#,
                "}",
            ],
        );
        check("7", &["7"]);
        check("", &[""]);
        // What is cut off, or is no JSON, is laid out as far as it goes.
        check(r#"{"a":"b\"c"#, &["{", r#"  "a": "b\"c"#]);
        check("]]}", &["", "]", "]", "}"]);
    }

    #[test]
    fn what_is_folded_takes_one_line() {
        let json = Json::new(SAMPLE, &Wanted::default()).unwrap();
        let check = |folds: &[usize], expected: &[&str]| {
            let folds: Folds = folds.iter().copied().collect();
            assert_eq!(shown(&json, &folds), expected, "{folds:?}");
        };
        check(
            &[1, 3],
            &[
                "{",
                r#"  "a": [ … 3 items ],"#,
                r#"  "c": {},"#,
                r#"  "d": -1.5e3"#,
                "}",
            ],
        );
        check(&[0], &["{ … 3 items }"]);
        let openings: Vec<usize> = json.openings().collect();
        assert_eq!(openings, [1, 3]);
    }

    #[test]
    fn a_line_knows_what_it_belongs_to() {
        let json = Json::new(SAMPLE, &Wanted::default()).unwrap();
        let openings: Vec<_> = (0..json.len()).map(|line| json.opening(line)).collect();
        let expected = [0, 1, 1, 3, 3, 3, 1, 1, 0, 0, 0].map(Some);
        assert_eq!(openings, expected);
        let folds = Folds::from([1]);
        assert_eq!((json.seen(4, &folds), json.seen(9, &folds)), (1, 9));
    }

    #[test]
    fn a_long_string_is_taken_in_pieces() {
        let json = format!(r#"{{"a":"{}"}}"#, "x".repeat(2 * LONGEST));
        let json = Json::new(&json, &Wanted::default()).unwrap();
        assert_eq!(json.len(), 5);
        assert!((0..5).all(|line| json.raw(line).len() <= LONGEST + 16));
    }

    #[test]
    fn what_would_take_far_more_than_its_text_is_not_laid_out() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(Json::new(&deep, &Wanted::default()), None);
        let many = format!("[{}1]", "1,".repeat(MOST_ROWS + 1));
        assert_eq!(Json::new(&many, &Wanted::default()), None);
    }
}
