//! Texts for the screen: escapes for URIs, cells, widths, and the contents of a read.
//!
//! What is kept and printed elsewhere does not go through here. Widths are those that ratatui
//! draws with: grapheme by grapheme.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::escape::{Piece, Pieces};
use super::is_invisible;

/// The most combining marks of one grapheme on screen.
const MAX_MARKS: usize = 4;

/// A URI for the screen: control and invisible characters as escapes, `\u{200b}` say.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) || !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A text for one line: every control and line break becomes a space, and a grapheme has at most
/// four combining marks.
#[must_use]
pub fn cell(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for grapheme in text.graphemes(true) {
        let mut marks = 0;
        // A line break is one grapheme, CR LF too.
        for c in grapheme.strip_prefix('\r').unwrap_or(grapheme).chars() {
            if is_mark(c) {
                marks += 1;
                if marks > MAX_MARKS {
                    continue;
                }
            }
            shown.push(if is_break(c) { ' ' } else { c });
        }
        if grapheme == "\r" {
            shown.push(' ');
        }
    }
    if shown == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(shown)
    }
}

/// A line of a text that [`contents`] has cleaned: what is invisible and joins nothing is an escape,
/// and a grapheme has at most four combining marks. An emoji of several characters stays whole.
#[must_use]
pub fn readable(text: &str) -> Cow<'_, str> {
    let text = match cell(text) {
        Cow::Borrowed(text) if is_printable_ascii(text) => return Cow::Borrowed(text),
        text => text,
    };
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for grapheme in text.graphemes(true) {
        if grapheme.chars().all(char::is_whitespace) {
            shown.push_str(if grapheme_width(grapheme) == 2 {
                "  "
            } else {
                " "
            });
        } else if grapheme.chars().all(is_hidden) {
            shown.push_str(&visible(grapheme));
        } else {
            shown.push_str(grapheme);
        }
    }
    Cow::Owned(shown)
}

/// How many columns a text takes on screen.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_printable_ascii(text) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// A text of at most so many columns: cut between graphemes, with `…` at the end.
#[must_use]
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    fit_with(text, columns, "…")
}

/// As [`fit`], with another ellipsis, `...` say where the screen has only ASCII. Where the ellipsis
/// itself has no room, the text is cut without it.
#[must_use]
pub fn fit_with<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    let (mut used, mut kept, mut end) = (0, 0, None);
    let mark = width(ellipsis);
    let room = columns.saturating_sub(mark);
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme_width(grapheme);
        if used > columns {
            let end = end.unwrap_or(at);
            return if mark <= columns {
                Cow::Owned(format!("{}{ellipsis}", &text[..end]))
            } else {
                Cow::Borrowed(&text[..at])
            };
        }
        if used <= room {
            kept = at + grapheme.len();
        }
        end = Some(kept);
    }
    Cow::Borrowed(text)
}

/// A text of at most so many columns: its beginning and its end, with `…` where the middle was.
/// What tells URIs apart is most often their end, which gets two thirds of the room.
#[must_use]
pub fn fit_middle(text: &str, columns: usize) -> Cow<'_, str> {
    /// With less room a beginning says nothing.
    const LEAST: usize = 12;
    if width(text) <= columns || columns < LEAST {
        return fit(text, columns);
    }
    let room = columns - 1;
    let head = fit_with(text, room / 3, "");
    let mut tail = text.len();
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += grapheme_width(grapheme);
        if used > room - width(&head) {
            break;
        }
        tail = at;
    }
    Cow::Owned(format!("{head}…{}", &text[tail..]))
}

/// The contents of a read, cleaned for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// What is left; otherwise exactly as it came.
    pub text: String,
    /// How many sequences and characters were removed; a whole sequence counts once.
    pub removed: usize,
}

/// Cleans the contents of a read for a terminal, the deck or a model: whole terminal sequences,
/// controls (save newline, tab, and CR before newline), bidi controls and tag characters go, and
/// nothing else.
#[must_use]
pub fn contents(text: &str) -> Contents {
    let mut kept = String::with_capacity(text.len());
    let mut removed = 0;
    let mut pieces = Pieces::new(text).peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Char('\r') if pieces.peek() == Some(&Piece::Char('\n')) => kept.push('\r'),
            Piece::Char(c) if matches!(c, '\n' | '\t') => kept.push(c),
            Piece::Char(c) if !c.is_control() && !is_bidi_or_tag(c) => kept.push(c),
            Piece::Char(_) | Piece::Sequence => removed += 1,
        }
    }
    Contents {
        text: kept,
        removed,
    }
}

fn grapheme_width(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) {
        return 0;
    }
    // ratatui adds a column for each halfwidth sound mark.
    let marks = |c: &char| matches!(c, '\u{ff9e}' | '\u{ff9f}');
    grapheme.width() + grapheme.chars().filter(marks).count()
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn is_hidden(c: char) -> bool {
    c.is_control() || is_invisible(c) || (c != ' ' && c.is_whitespace())
}

fn is_break(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_mark(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            get_general_category(c),
            GeneralCategory::NonspacingMark
                | GeneralCategory::EnclosingMark
                | GeneralCategory::SpacingMark
        )
}

const fn is_bidi_or_tag(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_shows_what_is_hidden_in_it() {
        let check = |input, expected| assert_eq!(visible(input), expected);
        check("file:///{path}", "file:///{path}");
        check("file:///ä", "file:///ä");
        check("a\u{200b}b", "a\\u{200b}b");
        check("a\u{202e}\x1b[1m\n", "a\\u{202e}\\u{1b}[1m\\u{a}");
        check("a\u{e0041}\u{a0}\u{fe0f}", "a\\u{e0041}\\u{a0}\\u{fe0f}");
    }

    #[test]
    fn a_cell_has_one_line_and_few_marks() {
        let check = |input: &str, expected: &str| assert_eq!(cell(input), expected, "{input:?}");
        check("plain", "plain");
        check("a\nb\tc", "a b c");
        check("a\r\nb\rc\u{2028}d", "a b c d");
        check(
            &format!("a{}b", "\u{301}".repeat(9)),
            &format!("a{}b", "\u{301}".repeat(4)),
        );
        check("ä ö 漢字", "ä ö 漢字");
    }

    #[test]
    fn a_line_shows_what_is_hidden_and_keeps_what_is_joined() {
        let check = |input, expected| assert_eq!(readable(input), expected);
        check("plain", "plain");
        check("a\u{200b}b\u{ad}c", "a\\u{200b}b\\u{ad}c");
        check("✔\u{fe0f} 👩\u{200d}💻", "✔\u{fe0f} 👩\u{200d}💻");
        check("10\u{a0}000\u{3000}x", "10 000  x");
        check("ä 漢字", "ä 漢字");
    }

    #[test]
    fn width_is_measured_as_drawn_and_texts_are_cut_between_graphemes() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("漢字"), 4);
        assert_eq!(width("e\u{301}"), 1);
        let check = |input, columns, expected| assert_eq!(fit(input, columns), expected);
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("漢字", 4, "漢字");
        check("漢字漢", 4, "漢…");
        check("漢字漢", 5, "漢字…");
        check("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…");
        check("abc", 1, "…");
        check("abc", 0, "");
        check("", 0, "");
        assert_eq!(fit_with("abcdef", 5, "..."), "ab...");
        assert_eq!(fit_with("abcdef", 2, "..."), "ab");
    }

    #[test]
    fn contents_lose_what_steers_a_terminal_and_nothing_else() {
        let check = |input: &str, text: &str, removed| {
            let expected = Contents {
                text: text.to_owned(),
                removed,
            };
            assert_eq!(contents(input), expected, "{input:?}");
        };
        check("a\tb\r\nc\nd", "a\tb\r\nc\nd", 0);
        check("a\rb", "ab", 1);
        check("\x1b[31mred\x1b[0m\x07", "red", 3);
        check("a\u{202e}b\u{e0041}c\u{85}", "abc", 3);
        check(
            "ﬁ e\u{301} \u{200d} \u{fe0f} \u{e000}",
            "ﬁ e\u{301} \u{200d} \u{fe0f} \u{e000}",
            0,
        );
        check("a\x1b]0;t\nb", "a\nb", 1);
    }
}
