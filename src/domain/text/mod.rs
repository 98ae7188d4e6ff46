//! The sanitizer: nothing that a server wrote is kept, printed or given to a model before it
//! went through here.
//!
//! [`sanitize`] and [`metadata`] are for what is kept, [`error_text`] for error messages and
//! stderr. What belongs to drawing (escapes for URIs, cells, widths, the contents of a read) is in
//! `screen`. URIs and cursors are never sanitized: they go back to the server byte for byte.

mod escape;
mod screen;
mod shell;

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

pub use screen::{Contents, cell, contents, fit, fit_middle, fit_with, readable, visible, width};

pub use shell::{LineError, command_line, literal_word, shell_word, words};

use escape::{Piece, Pieces};

/// The most characters of a name, title, description or MIME type, and of an error message.
pub const MAX_CHARS: usize = 2_048;

/// How often a text is normalized until it has to be stable.
const MAX_ROUNDS: usize = 10;

/// How many characters of a text are looked at for each that may be kept. Normalization makes
/// at most one character of four, so nothing that could be kept is lost, and a hostile text of
/// many megabytes is not normalized whole.
const LOOK_AHEAD: usize = 16;

/// Which controls a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: names, titles, MIME types.
    Line,
    /// Newline and tab: descriptions, instructions, messages.
    Block,
}

/// The text was still changing after ten rounds of normalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text does not settle under normalization")]
pub struct Unstable;

/// Makes a text safe: without terminal sequences, controls, and invisible, unassigned or private
/// characters, in NFKC. What is printable ASCII is returned as it is, without an allocation.
///
/// # Errors
///
/// [`Unstable`] where ten rounds are not enough.
pub fn sanitize(text: &str, keep: Keep) -> Result<Cow<'_, str>, Unstable> {
    settle(text, keep, usize::MAX)
}

/// Makes a text of at most `max` characters safe, as [`sanitize`] does; the rest is cut.
///
/// # Errors
///
/// [`Unstable`] where ten rounds are not enough.
pub fn sanitize_within(text: &str, keep: Keep, max: usize) -> Result<Cow<'_, str>, Unstable> {
    Ok(match settle(text, keep, max.saturating_mul(LOOK_AHEAD))? {
        Cow::Borrowed(text) => Cow::Borrowed(cut(text, max)),
        Cow::Owned(mut text) => {
            text.truncate(cut(&text, max).len());
            Cow::Owned(text)
        }
    })
}

/// Makes a name, title, description or MIME type of a server safe, and cuts it at [`MAX_CHARS`].
///
/// # Errors
///
/// [`Unstable`] where ten rounds are not enough.
pub fn metadata(text: &str, keep: Keep) -> Result<Box<str>, Unstable> {
    sanitize_within(text, keep, MAX_CHARS).map(Box::from)
}

/// Makes an error message or a line of stderr safe: newline and tab stay, and it is cut at
/// [`MAX_CHARS`]. Of a text that does not settle only the ASCII part is left.
#[must_use]
pub fn error_text(text: &str) -> String {
    match sanitize_within(text, Keep::Block, MAX_CHARS) {
        Ok(text) => text.into_owned(),
        Err(Unstable) => printable(text, Keep::Block)
            .filter(char::is_ascii)
            .take(MAX_CHARS)
            .collect(),
    }
}

/// The text without terminal sequences, and otherwise as it is.
#[must_use]
pub fn without_sequences(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    rest.extend(Pieces::new(text).filter_map(|piece| match piece {
        Piece::Char(c) => Some(c),
        Piece::Sequence => None,
    }));
    rest
}

/// Whether the text ends within a terminal sequence, so that what follows belongs to that.
#[must_use]
pub fn is_open_sequence(text: &str) -> bool {
    let length = |text: &str| without_sequences(text).len();
    length(&format!("{text}m")) == length(text)
}

/// Normalizes and removes until nothing changes; looks at the first `look_at` characters only.
fn settle(text: &str, keep: Keep, look_at: usize) -> Result<Cow<'_, str>, Unstable> {
    if is_plain(text, keep) {
        return Ok(Cow::Borrowed(text));
    }
    if text.chars().all(|c| is_kept(c, keep)) && is_nfkc(text) {
        return Ok(Cow::Borrowed(text));
    }
    let mut text: String = printable(text, keep).take(look_at).collect();
    for _ in 0..MAX_ROUNDS {
        if is_plain(&text, keep) {
            return Ok(Cow::Owned(text));
        }
        let normal: String = text.nfkc().collect();
        let next: String = printable(&normal, keep).collect();
        if next == text {
            return Ok(Cow::Owned(text));
        }
        text = next;
    }
    Err(Unstable)
}

/// The characters that may be kept, outside of terminal sequences.
fn printable(text: &str, keep: Keep) -> impl Iterator<Item = char> {
    Pieces::new(text).filter_map(move |piece| match piece {
        Piece::Char(c) if is_kept(c, keep) => Some(c),
        Piece::Char(_) | Piece::Sequence => None,
    })
}

fn is_plain(text: &str, keep: Keep) -> bool {
    let is_plain = |byte: &u8| match byte {
        b' '..=b'~' => true,
        b'\n' | b'\t' => keep == Keep::Block,
        _ => false,
    };
    // Without a branch for each byte, so that a chunk is looked at all at once.
    let mut chunks = text.as_bytes().chunks(32);
    chunks.all(|chunk| {
        chunk
            .iter()
            .fold(true, |plain, byte| plain & is_plain(byte))
    })
}

fn is_nfkc(text: &str) -> bool {
    matches!(is_nfkc_quick(text.chars()), IsNormalized::Yes)
}

fn is_kept(c: char, keep: Keep) -> bool {
    match c {
        ' '..='~' => true,
        '\n' | '\t' => keep == Keep::Block,
        _ => !c.is_control() && !is_invisible(c),
    }
}

/// Whether a character has no visible form of its own, or none that is known: format, private
/// and unassigned ones (Cf, Co, Cn, with bidi controls and tags among them), and those that
/// Unicode lets a renderer ignore (`Default_Ignorable_Code_Point`: variation selectors, fillers,
/// joiners), which can smuggle text past a reader.
fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    matches!(
        get_general_category(c),
        GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
    ) || matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The first characters of a text.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

#[cfg(test)]
mod tests;
