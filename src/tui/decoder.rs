//! The bytes of a terminal as keys, mouse and pasted text.
//!
//! crossterm's reader spins for ever on a terminal that hung up, and loses a key that comes
//! together with a change of the window's size, so the deck reads for itself. What it takes is
//! what xterm and its kin send (ECMA-48; T. Dickey, "xterm control sequences").

use super::action::Action;
use super::event::Input;
use super::key::{Code, Key};

/// The most bytes of a pasted text that are kept.
const MOST_PASTED: usize = 64 * 1_024;

/// No sequence is longer than this many bytes.
const MOST_SEQUENCE: usize = 64;

/// Lines that a turn of the wheel scrolls.
const WHEEL_LINES: i32 = 3;

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";

/// Takes bytes as they come, and keeps what is not complete yet.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    pasted: Option<Vec<u8>>,
}

/// What stands at the start of the pending bytes.
enum Token {
    /// So many bytes, which mean this.
    Complete(usize, Option<Input>),
    /// So many bytes, behind which a pasted text begins.
    Paste(usize),
    /// The beginning of something.
    Incomplete,
}

impl Decoder {
    /// Takes the bytes and returns what is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.pending.extend_from_slice(bytes);
        self.decode(false)
    }

    /// Whether the beginning of a sequence waits for its end. A lone Esc looks like that too.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.pasted.is_none() && !self.pending.is_empty()
    }

    /// Takes what waits for what it is: nothing more came in time.
    pub fn flush(&mut self) -> Vec<Input> {
        self.decode(true)
    }

    fn decode(&mut self, last: bool) -> Vec<Input> {
        let mut inputs = Vec::new();
        let mut at = 0;
        loop {
            if let Some(pasted) = &mut self.pasted {
                let (used, ended) = paste(&self.pending[at..], pasted);
                at += used;
                if !ended {
                    break;
                }
                let text = String::from_utf8_lossy(pasted).into_owned();
                inputs.push(Input::Paste(text));
                self.pasted = None;
            }
            let rest = &self.pending[at..];
            match token(rest) {
                Token::Complete(used, input) => {
                    at += used;
                    inputs.extend(input);
                }
                Token::Paste(used) => {
                    at += used;
                    self.pasted = Some(Vec::new());
                }
                Token::Incomplete if rest.is_empty() || !last => break,
                Token::Incomplete => {
                    if rest[0] == ESC {
                        inputs.push(Input::Key(Key::plain(Code::Esc)));
                    }
                    at += 1;
                }
            }
        }
        self.pending.drain(..at);
        inputs
    }
}

/// Moves what was pasted into the text; returns the bytes used, and whether the end was among them.
fn paste(bytes: &[u8], text: &mut Vec<u8>) -> (usize, bool) {
    let end = bytes
        .windows(PASTE_END.len())
        .position(|window| window == PASTE_END);
    // The end may have come in part.
    let used = end.unwrap_or_else(|| {
        let kept = (1..PASTE_END.len())
            .rev()
            .find(|length| bytes.ends_with(&PASTE_END[..*length]));
        bytes.len() - kept.unwrap_or(0)
    });
    let room = MOST_PASTED.saturating_sub(text.len());
    text.extend_from_slice(&bytes[..used.min(room)]);
    match end {
        Some(end) => (end + PASTE_END.len(), true),
        None => (used, false),
    }
}

fn token(bytes: &[u8]) -> Token {
    match bytes {
        [] | [ESC] => Token::Incomplete,
        // Two in a row: the first stands alone.
        [ESC, ESC, ..] => key(1, Code::Esc),
        [ESC, b'[', rest @ ..] => csi(rest),
        [ESC, b'O', rest @ ..] => match rest {
            [] => Token::Incomplete,
            [last, ..] => Token::Complete(3, keypad(*last).map(press)),
        },
        [ESC, rest @ ..] => match character(rest) {
            Token::Complete(used, Some(Input::Key(key))) => {
                let key = Key { alt: true, ..key };
                Token::Complete(used + 1, Some(Input::Key(key)))
            }
            Token::Complete(used, input) => Token::Complete(used + 1, input),
            token @ (Token::Paste(_) | Token::Incomplete) => token,
        },
        _ => character(bytes),
    }
}

fn press(code: Code) -> Input {
    Input::Key(Key::plain(code))
}

fn key(used: usize, code: Code) -> Token {
    Token::Complete(used, Some(press(code)))
}

/// A character of one or more bytes (RFC 3629), or a control.
fn character(bytes: &[u8]) -> Token {
    let Some(&first) = bytes.first() else {
        return Token::Incomplete;
    };
    match first {
        b'\r' => return key(1, Code::Enter),
        b'\t' => return key(1, Code::Tab),
        0x7f => return key(1, Code::Backspace),
        0x00..=0x1f => {
            // Ctrl-A is 1 and so on; Ctrl-Space is 0.
            let letter = if first == 0 {
                b' '
            } else {
                (first + 0x40).to_ascii_lowercase()
            };
            let key = Key {
                ctrl: true,
                ..Key::plain(Code::Char(char::from(letter)))
            };
            return Token::Complete(1, Some(Input::Key(key)));
        }
        _ => {}
    }
    let length = match first {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Token::Complete(1, None),
    };
    let Some(whole) = bytes.get(..length) else {
        let continued = bytes[1..].iter().all(|byte| byte & 0xc0 == 0x80);
        return if continued {
            Token::Incomplete
        } else {
            Token::Complete(1, None)
        };
    };
    match std::str::from_utf8(whole) {
        Ok(text) => {
            let typed = text.chars().next().filter(|c| !c.is_control());
            Token::Complete(length, typed.map(|c| press(Code::Char(c))))
        }
        Err(_) => Token::Complete(1, None),
    }
}

/// What follows `ESC [`.
fn csi(bytes: &[u8]) -> Token {
    const LEAD: usize = 2;
    // The Linux console's F1 to F5.
    if let [b'[', rest @ ..] = bytes {
        return match rest {
            [] => Token::Incomplete,
            [last @ b'A'..=b'E', ..] => key(LEAD + 2, Code::F(last - b'A' + 1)),
            [_, ..] => Token::Complete(LEAD + 2, None),
        };
    }
    let end = bytes
        .iter()
        .take(MOST_SEQUENCE)
        .position(|byte| !matches!(byte, 0x20..=0x3f));
    let Some(end) = end else {
        return if bytes.len() < MOST_SEQUENCE {
            Token::Incomplete
        } else {
            Token::Complete(LEAD + MOST_SEQUENCE, None)
        };
    };
    let (parameters, last) = (&bytes[..end], bytes[end]);
    let used = LEAD + end + 1;
    if !matches!(last, 0x40..=0x7e) {
        // No sequence after all: what broke it is looked at anew.
        return Token::Complete(used - 1, None);
    }
    // A mouse report of old: three bytes follow.
    if last == b'M' && parameters.is_empty() {
        return if bytes.len() < 4 {
            Token::Incomplete
        } else {
            Token::Complete(used + 3, None)
        };
    }
    if let [b'<', report @ ..] = parameters {
        return Token::Complete(used, mouse(&numbers(report), last));
    }
    let numbers = numbers(parameters);
    if last == b'~' && numbers == [200] {
        return Token::Paste(used);
    }
    let code = match last {
        b'~' => numbered(numbers.first().copied().unwrap_or(0)),
        b'Z' => Some(Code::BackTab),
        _ => keypad(last),
    };
    // The second number is 1 and the sum of Shift 1, Alt 2 and Ctrl 4.
    let modifiers = numbers.get(1).map_or(0, |sum| sum.saturating_sub(1));
    let pressed = code.map(|code| {
        Input::Key(Key {
            code,
            alt: modifiers & 2 > 0,
            ctrl: modifiers & 4 > 0,
        })
    });
    Token::Complete(used, pressed)
}

/// The numbers between semicolons; what is no number is 0.
fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes
        .split(|byte| *byte == b';')
        .map(|part| {
            std::str::from_utf8(part)
                .ok()
                .and_then(|part| part.parse().ok())
                .unwrap_or(0)
        })
        .collect()
}

/// The key of a sequence that ends with a letter.
const fn keypad(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        b'P' => Code::F(1),
        b'Q' => Code::F(2),
        b'R' => Code::F(3),
        b'S' => Code::F(4),
        _ => return None,
    })
}

/// The key of a sequence that ends with `~`.
fn numbered(number: u16) -> Option<Code> {
    let function =
        |low: u16, first: u8| u8::try_from(number - low).ok().map(|n| Code::F(first + n));
    match number {
        1 | 7 => Some(Code::Home),
        2 => Some(Code::Insert),
        3 => Some(Code::Delete),
        4 | 8 => Some(Code::End),
        5 => Some(Code::PageUp),
        6 => Some(Code::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23 | 24 => function(23, 11),
        _ => None,
    }
}

/// A mouse report: button, column and row from 1; `M` for down, `m` for up.
fn mouse(numbers: &[u16], last: u8) -> Option<Input> {
    let [button, column, row] = numbers else {
        return None;
    };
    let (x, y) = (column.saturating_sub(1), row.saturating_sub(1));
    let action = match (button, last) {
        (0, b'M') => Action::Click(x, y),
        (64, b'M') => Action::Scroll(x, y, -WHEEL_LINES),
        (65, b'M') => Action::Scroll(x, y, WHEEL_LINES),
        _ => return None,
    };
    Some(Input::Action(action))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> Vec<Input> {
        let mut decoder = Decoder::default();
        let mut inputs = decoder.feed(bytes);
        inputs.extend(decoder.flush());
        inputs
    }

    fn check(bytes: &str, keys: &[&str]) {
        let expected: Vec<Input> = keys
            .iter()
            .map(|key| Input::Key(Key::parse(key).unwrap()))
            .collect();
        assert_eq!(all(bytes.as_bytes()), expected, "{bytes:?}");
    }

    #[test]
    fn keys_are_told_apart() {
        check("aZ ä漢", &["a", "Z", "space", "ä", "漢"]);
        check(
            "\r\t\x7f\x03\x1a",
            &["enter", "tab", "backspace", "ctrl-c", "ctrl-z"],
        );
        check("\x1b", &["esc"]);
        check("\x1b\x1b", &["esc", "esc"]);
        check("\x1bx", &["alt-x"]);
        check("\x1b\x1b[A", &["esc", "up"]);
        check("\x1b[A\x1b[B\x1b[C\x1b[D", &["up", "down", "right", "left"]);
        check("\x1bOA\x1bOF\x1bOP", &["up", "end", "f1"]);
        check("\x1b[1;5A\x1b[1;3B", &["ctrl-up", "alt-down"]);
        check(
            "\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~",
            &["home", "end", "pgup", "pgdn", "delete"],
        );
        check(
            "\x1b[Z\x1b[15~\x1b[17~\x1b[24~\x1b[[A",
            &["shift-tab", "f5", "f6", "f12", "f1"],
        );
        check("\x1b[I\x1b[O\x1b[99~\x1b[?1;2cq", &["q"]);
        // A sequence that is cut is Esc and what follows.
        check("\x1b[", &["esc", "["]);
        check("\x1bO", &["esc", "O"]);
    }

    #[test]
    fn the_mouse_clicks_and_scrolls() {
        assert_eq!(
            all(b"\x1b[<0;5;7M\x1b[<0;5;7m\x1b[<65;1;1M\x1b[<35;9;9M\x1b[M !!x"),
            [
                Input::Action(Action::Click(4, 6)),
                Input::Action(Action::Scroll(0, 0, 3)),
                Input::Key(Key::parse("x").unwrap()),
            ]
        );
    }

    #[test]
    fn pasted_text_is_no_keys() {
        assert_eq!(
            all(b"\x1b[200~D y\r\x1b[Aq\x1b[201~z"),
            [
                Input::Paste("D y\r\x1b[Aq".to_owned()),
                Input::Key(Key::parse("z").unwrap()),
            ]
        );
        let mut decoder = Decoder::default();
        let long = vec![b'x'; MOST_PASTED + 9];
        assert_eq!(decoder.feed(b"\x1b[200~"), []);
        assert_eq!(decoder.feed(&long), []);
        assert!(!decoder.is_waiting());
        let Some(Input::Paste(text)) = decoder.feed(b"\x1b[201~").pop() else {
            panic!("nothing was pasted");
        };
        assert_eq!(text.len(), MOST_PASTED);
    }

    proptest! {
        /// Where the bytes are cut does not matter, and nothing is kept for ever.
        #[test]
        fn any_bytes_may_come_in_any_pieces(
            bytes in proptest::collection::vec(
                prop_oneof![Just(ESC), Just(b'['), Just(b'O'), Just(b'~'), Just(b'2'), any::<u8>()],
                0..200,
            ),
            piece in 1_usize..9,
        ) {
            let mut decoder = Decoder::default();
            let mut inputs = Vec::new();
            for chunk in bytes.chunks(piece) {
                inputs.extend(decoder.feed(chunk));
                prop_assert!(decoder.pending.len() <= MOST_SEQUENCE + PASTE_END.len());
            }
            inputs.extend(decoder.flush());
            prop_assert_eq!(inputs, all(&bytes));
        }
    }
}
