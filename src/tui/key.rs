//! One key press: how it is written in the config, shown to a person, and read from the terminal.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers. Shift is part of a character (`D`), and told only of `Tab`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Whether Ctrl is held.
    pub ctrl: bool,
    /// Whether Alt is held.
    pub alt: bool,
}

/// Which key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those on the keys")]
pub enum Code {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    F(u8),
}

/// The keys with a name: as in the config, and as shown.
const NAMES: [(&str, &str, Code); 17] = [
    ("space", "Space", Code::Char(' ')),
    ("enter", "Enter", Code::Enter),
    ("esc", "Esc", Code::Esc),
    ("tab", "Tab", Code::Tab),
    ("shift-tab", "Shift-Tab", Code::BackTab),
    ("backspace", "Backspace", Code::Backspace),
    ("delete", "Delete", Code::Delete),
    ("insert", "Insert", Code::Insert),
    ("home", "Home", Code::Home),
    ("end", "End", Code::End),
    ("pgup", "PgUp", Code::PageUp),
    ("pgdn", "PgDn", Code::PageDown),
    ("up", "Up", Code::Up),
    ("down", "Down", Code::Down),
    ("left", "Left", Code::Left),
    ("right", "Right", Code::Right),
    ("return", "Enter", Code::Enter),
];

impl Key {
    /// The key without modifiers.
    #[must_use]
    pub const fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
        }
    }

    /// Reads a key as the config writes it: `q`, `D`, `space`, `ctrl-r`, `alt-x`, `f5`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut key = Self::plain(Code::Esc);
        let mut rest = text;
        loop {
            if let Some(after) = strip_prefix(rest, "ctrl-") {
                key.ctrl = true;
                rest = after;
            } else if let Some(after) = strip_prefix(rest, "alt-") {
                key.alt = true;
                rest = after;
            } else {
                break;
            }
        }
        key.code = parse_code(rest)?;
        if key.ctrl
            && let Code::Char(c) = key.code
        {
            key.code = Code::Char(c.to_ascii_lowercase());
        }
        Some(key)
    }

    /// The key that a terminal sends in place of this one, where it cannot tell them apart.
    #[must_use]
    pub const fn indistinct(self) -> Option<&'static str> {
        match (self.ctrl, self.code) {
            (true, Code::Char('i')) => Some("Tab"),
            (true, Code::Char('m' | 'j')) => Some("Enter"),
            (true, Code::Char('h')) => Some("Backspace"),
            (true, Code::Char('[')) => Some("Esc"),
            _ => None,
        }
    }

    /// Whether the key writes something in a text field.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self.code, Code::Char(_)) && !self.ctrl && !self.alt
    }
}

/// Strips an ASCII prefix whatever its case, where something is left behind it.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    let rest = text.get(prefix.len()..)?;
    (head.eq_ignore_ascii_case(prefix) && !rest.is_empty()).then_some(rest)
}

fn parse_code(text: &str) -> Option<Code> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(Code::Char(c));
    }
    let lower = text.to_ascii_lowercase();
    if let Some((_, _, code)) = NAMES.iter().find(|(name, _, _)| *name == lower) {
        return Some(*code);
    }
    let number = lower.strip_prefix('f')?.parse::<u8>().ok()?;
    (1..=12).contains(&number).then_some(Code::F(number))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        if let Some((_, shown, _)) = NAMES.iter().find(|(_, _, code)| *code == self.code) {
            return f.write_str(shown);
        }
        match self.code {
            Code::F(number) => write!(f, "F{number}"),
            Code::Char(c) if self.ctrl => write!(f, "{}", c.to_ascii_uppercase()),
            Code::Char(c) => write!(f, "{c}"),
            // Every other key has a name.
            _ => Ok(()),
        }
    }
}

/// Reads a key press of the terminal; `None` for keys that mean nothing here.
impl TryFrom<KeyEvent> for Key {
    type Error = ();

    fn try_from(event: KeyEvent) -> Result<Self, ()> {
        let code = match event.code {
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => {
                Code::Char(c.to_ascii_lowercase())
            }
            KeyCode::Char(c) => Code::Char(c),
            KeyCode::Enter => Code::Enter,
            KeyCode::Esc => Code::Esc,
            KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => Code::BackTab,
            KeyCode::Tab => Code::Tab,
            KeyCode::BackTab => Code::BackTab,
            KeyCode::Backspace => Code::Backspace,
            KeyCode::Delete => Code::Delete,
            KeyCode::Insert => Code::Insert,
            KeyCode::Home => Code::Home,
            KeyCode::End => Code::End,
            KeyCode::PageUp => Code::PageUp,
            KeyCode::PageDown => Code::PageDown,
            KeyCode::Up => Code::Up,
            KeyCode::Down => Code::Down,
            KeyCode::Left => Code::Left,
            KeyCode::Right => Code::Right,
            KeyCode::F(number) => Code::F(number),
            _ => return Err(()),
        };
        Ok(Self {
            code,
            ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
            alt: event.modifiers.contains(KeyModifiers::ALT),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(
            Key::parse(text).map(|key| key.to_string()).as_deref(),
            Some(shown),
            "{text}"
        );
    }

    #[test]
    fn keys_are_read_as_the_config_writes_them() {
        check("q", "q");
        check("D", "D");
        check("-", "-");
        check("space", "Space");
        check("ctrl-r", "Ctrl-R");
        check("Ctrl-R", "Ctrl-R");
        check("ctrl--", "Ctrl--");
        check("alt-x", "Alt-x");
        check("ctrl-alt-f5", "Ctrl-Alt-F5");
        check("shift-tab", "Shift-Tab");
        check("pgdn", "PgDn");
        check("ä", "ä");
        for bad in ["", "ctrl-", "f13", "f0", "hello", "qq"] {
            assert_eq!(Key::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_of_the_terminal_is_the_key_of_the_config() {
        let check = |code, modifiers, text: &str| {
            assert_eq!(
                Key::try_from(KeyEvent::new(code, modifiers)).ok(),
                Key::parse(text),
                "{text}"
            );
        };
        check(KeyCode::Char('D'), KeyModifiers::SHIFT, "D");
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, "ctrl-c");
        check(KeyCode::BackTab, KeyModifiers::SHIFT, "shift-tab");
        check(KeyCode::Char(' '), KeyModifiers::NONE, "space");
    }
}
