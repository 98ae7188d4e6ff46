//! Takes terminal sequences out of a text, whole, as a terminal would swallow them.
//!
//! The parser is that of a VT500 (Paul Williams' state diagram) with xterm's BEL for OSC: 7-bit
//! and C1 introducers, controls inside a sequence are executed, CAN and SUB cancel, ESC starts
//! anew. It differs in one place, so that nobody can hide the rest of a text: a string (OSC, DCS,
//! SOS, PM, APC) that nothing ends is taken out up to the end of its line only.

use std::str::Chars;

const BEL: char = '\u{7}';
const CAN: char = '\u{18}';
const SUB: char = '\u{1a}';
const ESC: char = '\u{1b}';
const DEL: char = '\u{7f}';
/// The string terminator in its C1 form.
const ST: char = '\u{9c}';

/// What is met on the way through a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A character outside of sequences, or a control that a terminal executes inside of one.
    Char(char),
    /// A terminal sequence, or an introducer that begins none.
    Sequence,
}

/// Walks over a text and swallows terminal sequences.
#[derive(Debug, Clone)]
pub(super) struct Pieces<'a> {
    rest: Chars<'a>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte.
    Intermediate,
    /// After the introducer of a control sequence.
    Csi,
    /// After a single shift: the next character is one of another set.
    Shift,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars(),
            state: State::Ground,
        }
    }

    /// Skips the rest of a string sequence; `bel` where BEL ends it too.
    fn skip_string(&mut self, bel: bool) {
        let text = self.rest.as_str();
        let ends = |c: char| matches!(c, ESC | CAN | SUB) || is_c1(c) || (bel && c == BEL);
        let skipped = match text.char_indices().find(|(_, c)| ends(*c)) {
            Some((at, ESC)) if text[at + 1..].starts_with('\\') => at + 2,
            Some((at, ESC)) => at,
            Some((at, c)) if is_c1(c) && c != ST => at,
            Some((at, c)) => at + c.len_utf8(),
            None => text.find(['\n', '\r']).unwrap_or(text.len()),
        };
        self.rest = text[skipped..].chars();
        self.state = State::Ground;
    }

    fn c1(&mut self, c: char) {
        match c {
            '\u{8e}' | '\u{8f}' => self.state = State::Shift,
            '\u{9b}' => self.state = State::Csi,
            '\u{9d}' => self.skip_string(true),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => self.skip_string(false),
            _ => self.state = State::Ground,
        }
    }

    /// One printable ASCII character inside a sequence.
    fn inside(&mut self, c: char) {
        match (self.state, c) {
            (State::Escape, '[') => self.state = State::Csi,
            (State::Escape, ']') => self.skip_string(true),
            (State::Escape, 'P' | 'X' | '^' | '_') => self.skip_string(false),
            (State::Escape, 'N' | 'O') => self.state = State::Shift,
            (State::Escape | State::Intermediate, ' '..='/') => self.state = State::Intermediate,
            (State::Csi, ' '..='?') => {}
            _ => self.state = State::Ground,
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let c = self.rest.next()?;
            if c == ESC {
                self.state = State::Escape;
                return Some(Piece::Sequence);
            }
            if is_c1(c) {
                self.c1(c);
                return Some(Piece::Sequence);
            }
            if self.state == State::Ground {
                return Some(Piece::Char(c));
            }
            match c {
                CAN | SUB => self.state = State::Ground,
                DEL => {}
                ' '..='~' => self.inside(c),
                '\0'..='\u{1f}' => return Some(Piece::Char(c)),
                _ => {
                    self.state = State::Ground;
                    return Some(Piece::Char(c));
                }
            }
        }
    }
}

const fn is_c1(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, left: &str, sequences: usize) {
        let pieces: Vec<_> = Pieces::new(input).collect();
        let text: String = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Char(c) => Some(*c),
                Piece::Sequence => None,
            })
            .collect();
        assert_eq!(text, left, "{input:?}");
        assert_eq!(pieces.len() - text.chars().count(), sequences, "{input:?}");
    }

    #[test]
    fn sequences_go_whole() {
        check("plain", "plain", 0);
        check("a\x1b[31mb\x1b[0mc", "abc", 2);
        check("a\u{9b}38;5;1mb", "ab", 1);
        check("a\x1b[?25lb\x1b[>0 qc", "abc", 2);
        check("a\x1b]0;title\x07b", "ab", 1);
        check("a\x1b]8;;http://x\x1b\\b", "ab", 1);
        check("a\u{9d}52;c;eA==\u{9c}b", "ab", 1);
        check("a\x1bPq#0\n#1\x1b\\b", "ab", 1);
        check(
            "a\u{90}x\u{9c}b\x1b_y\x1b\\c\x1b^z\x1b\\d\x1bXs\u{9c}e",
            "abcde",
            4,
        );
        check("a\x1bcb\x1b7c\x1b(Bd\x1b#8e\x1b%Gf", "abcdef", 5);
        check("a\x1bOPb\x1bNxc\u{8f}yd", "abcd", 3);
        check("a\u{85}b\u{84}c", "abc", 2);
    }

    #[test]
    fn controls_inside_are_executed_cancel_or_start_anew() {
        check("a\x1b[3\n1mb", "a\nb", 1);
        check("a\x1b[3\x18b", "ab", 1);
        check("a\x1b[3\x1ab", "ab", 1);
        check("a\x1b\x1b[31mb", "ab", 2);
        check("a\x1b[3\x1b[1mb", "ab", 2);
        check("a\x1b]0;t\x18b", "ab", 1);
        check("a\x1b]0;t\x1b[1mb", "ab", 2);
        check("a\x1b]0;t\u{9b}1mb", "ab", 2);
        check("a\x1bPt\x07u\x1b\\b", "ab", 1);
        check("a\x1b[3\x7f1mb", "ab", 1);
        check("a\x1b[3é1mb", "aé1mb", 1);
        check("aé\x1béb", "aééb", 1);
    }

    #[test]
    fn what_nothing_ends_hides_no_more_than_its_line() {
        check("a\x1b", "a", 1);
        check("a\x1b[", "a", 1);
        check("a\x1b[12", "a", 1);
        check("a\x1b]0;title", "a", 1);
        check("a\x1b]0;title\nb", "a\nb", 1);
        check("a\x1bPq\r\nb", "a\r\nb", 1);
        check("\x1b]1\x1b]2\x1b]3\nb", "\nb", 3);
    }
}
