//! What is said to a model: the fixed messages, and how long each part of an answer may be.

use std::fmt::Write as _;
use std::io;

use crate::domain::{Failure, FailureKind, ListMethod, ServerName, Status};

/// The most characters (Unicode scalar values) of the first text block.
pub const FIRST_BLOCK: usize = 100_000;

/// The most characters of everything else in a result, save the list that equals the first block.
pub const REST: usize = 20_000;

/// The most characters of a message.
pub const MESSAGE: usize = 300;

/// Nothing to list, and nothing failed.
#[must_use]
pub const fn nothing_found(method: ListMethod) -> &'static str {
    match method {
        ListMethod::ResourceTemplates => "No resource templates found.",
        ListMethod::Resources | ListMethod::Tools | ListMethod::Prompts => {
            "No resources found. MCP servers may still provide tools even if they have no resources."
        }
    }
}

/// There is no such server. Names that have no room are counted.
#[must_use]
pub fn unknown(wanted: &str, names: &[&ServerName]) -> String {
    let mut message = format!(
        "Server \"{}\" not found. Available servers: ",
        cut(wanted, ServerName::MAX_CHARS)
    );
    if names.is_empty() {
        message.push_str("none");
    }
    let mut room = REST / 2;
    for (index, name) in names.iter().enumerate() {
        let length = name.as_str().chars().count() + 2;
        if length > room {
            // Writing to a string does not fail.
            let _ = write!(message, " and {} more", names.len() - index);
            break;
        }
        room -= length;
        if index > 0 {
            message.push_str(", ");
        }
        message.push_str(name.as_str());
    }
    message
}

/// The server cannot be asked, and why.
#[must_use]
pub fn not_connected(name: &ServerName, status: &Status, why: Option<&str>) -> String {
    let word = status.word();
    match why {
        Some(why) => format!("Server \"{name}\" is not connected ({word}: {why})"),
        None => format!("Server \"{name}\" is not connected ({word})"),
    }
}

/// The server offers no resources at all.
#[must_use]
pub fn no_resources(name: &ServerName) -> String {
    format!("Server \"{name}\" does not support resources")
}

/// A list has more characters than the first block may have.
#[must_use]
pub fn list_too_large(size: usize, of_one_server: bool) -> String {
    let next = if of_one_server {
        "This is the list of one server alone: read what you need by its URI."
    } else {
        "Name one \"server\" to get a shorter list."
    };
    format!("The result has {size} characters, and {FIRST_BLOCK} is the limit. {next}")
}

/// A resource has more characters than the first block may have.
#[must_use]
pub fn resource_too_large(size: usize) -> String {
    format!("The resource has {size} characters with its frame, and {FIRST_BLOCK} is the limit.")
}

/// A failure in one line, the code before the message.
#[must_use]
pub fn coded(failure: &Failure, most: usize) -> String {
    let message = cut(&failure.message, most);
    match failure.kind {
        FailureKind::Rpc { code: Some(code) } => format!("error {code}: {message}"),
        _ => message.to_owned(),
    }
}

/// The first characters of a text.
#[must_use]
pub fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// JSON that is kept up to [`FIRST_BLOCK`] characters and counted beyond.
#[derive(Debug, Default)]
pub struct FirstBlock {
    kept: Vec<u8>,
    characters: usize,
}

impl FirstBlock {
    /// The text.
    ///
    /// # Errors
    ///
    /// It is too long: how many characters it has.
    pub fn finish(self) -> Result<String, usize> {
        if self.characters > FIRST_BLOCK {
            return Err(self.characters);
        }
        String::from_utf8(self.kept).map_err(|error| error.as_bytes().len())
    }
}

impl io::Write for FirstBlock {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_start = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        self.characters += bytes.iter().filter(is_start).count();
        if self.characters <= FIRST_BLOCK {
            self.kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Texts that have room, each taken whole; the others are counted.
///
/// `make` gives them with messages of at most so many characters: where all of them have no room
/// with [`MESSAGE`] characters, shorter messages are tried before any is left out.
pub fn fitting(room: usize, make: impl Fn(usize) -> Vec<String>) -> (Vec<String>, usize) {
    let length = |text: &String| text.chars().count() + 1;
    let mut texts = make(MESSAGE);
    for most in [120, 60] {
        if texts.iter().map(length).sum::<usize>() <= room {
            break;
        }
        texts = make(most);
    }
    let mut used = 0;
    let kept = texts
        .iter()
        .take_while(|text| {
            used += length(text);
            used <= room
        })
        .count();
    let left_out = texts.len() - kept;
    texts.truncate(kept);
    (texts, left_out)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_first_block_of_100_000_characters_passes_and_one_more_is_counted() {
        let check = |characters: usize, expected: Result<usize, usize>| {
            let mut block = FirstBlock::default();
            // In two writes that part a character in the middle.
            let text = "ä".repeat(characters);
            block.write_all(&text.as_bytes()[..1]).unwrap();
            block.write_all(&text.as_bytes()[1..]).unwrap();
            let counted = block.finish().map(|text| text.chars().count());
            assert_eq!(counted, expected);
        };
        check(99_999, Ok(99_999));
        check(100_000, Ok(100_000));
        check(100_001, Err(100_001));
        check(250_000, Err(250_000));
    }

    #[test]
    fn an_unknown_server_is_told_the_names() {
        let names: Vec<ServerName> = ["a", "b"].map(|name| ServerName::new(name).unwrap()).into();
        let names: Vec<&ServerName> = names.iter().collect();
        assert_eq!(
            unknown("x", &names),
            "Server \"x\" not found. Available servers: a, b"
        );
        assert_eq!(
            unknown("x", &[]),
            "Server \"x\" not found. Available servers: none"
        );
        let long = ServerName::new(&"n".repeat(128)).unwrap();
        let message = unknown("x", &vec![&long; 1_000]);
        assert!(message.ends_with(" and 924 more"), "{message}");
        assert!(message.chars().count() < 11_000);
    }

    #[test]
    fn messages_are_shortened_before_any_is_left_out() {
        let check = |count: usize, expected: (usize, usize)| {
            let (kept, left_out) = fitting(6_000, |most| {
                vec![cut(&"m".repeat(2_000), most).to_owned(); count]
            });
            assert!(kept.iter().map(|text| text.len() + 1).sum::<usize>() <= 6_000);
            assert_eq!((kept.len(), left_out), expected);
        };
        check(0, (0, 0));
        check(19, (19, 0));
        check(40, (40, 0));
        check(98, (98, 0));
        check(100, (98, 2));
    }
}
