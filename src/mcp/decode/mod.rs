//! Strict, streaming, bounded decoding of what a server answers.
//!
//! A page of a listing ([`page`]) goes item by item into the accumulator of its traversal, and
//! reading stops to keep anything at the first item that breaks a rule, so a hostile page costs no
//! memory beside its own text. Every failure says page, item and reason, and never a cursor.
//!
//! [`handshake`] reads the results of `initialize` and `server/discover`, tolerantly; [`contents`]
//! that of `resources/read`, exactly.

pub mod completion;
pub mod contents;
mod date;
mod fields;
pub mod handshake;
mod lenient;
pub mod prompt;
mod reader;
mod rules;
mod schema;
mod strict;
mod surrogates;
mod texts;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::catalog::MAX_NOTES;
use crate::domain::item::Item;
use crate::domain::text;
use crate::domain::{Failure, FailureKind};

pub use surrogates::{repair_bytes, repair_surrogates};

use lenient::MAX_ARGUMENTS;
use rules::Rules;

/// The most items of one traversal.
pub const MAX_ITEMS: usize = 10_000;

/// An item of a listing that can be decoded: one of the four kinds.
pub trait Decode: Item + Rules {}

impl<T: Item + Rules> Decode for T {}

/// Decodes one page, the JSON text of the `result` member, into the accumulator of its traversal.
/// After a failure the accumulator is of no use.
///
/// # Errors
///
/// A [`Failure`] of kind `malformed`, `item_limit` or `byte_limit`.
pub fn page<T: Decode>(
    json: &str,
    number: usize,
    into: &mut Accumulator<T>,
) -> Result<Page, Failure> {
    reader::read(&repair_surrogates(json), number, into)
}

/// What a page says beside its items.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    /// Where the next page begins; `None` at the end.
    pub next: Option<Cursor>,
    /// How long the server thinks the page good (MCP 2026-07-28, `ttlMs`); `None` where it does
    /// not say, or says something odd or 0.
    pub ttl: Option<Duration>,
}

/// An opaque cursor. Its value is for the next request and for nothing else: `Debug` hides it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// The value to be sent, byte for byte.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Cursor {
    fn from(value: &str) -> Self {
        Self(value.into())
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What a traversal has read so far.
#[derive(Debug)]
pub struct Accumulator<T> {
    items: Vec<T>,
    bytes: usize,
    notes: Vec<Arc<str>>,
    arguments_left: usize,
}

impl<T> Default for Accumulator<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            bytes: 0,
            notes: Vec::new(),
            arguments_left: MAX_ARGUMENTS,
        }
    }
}

impl<T> Accumulator<T> {
    /// The items, in the server's order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// How many bytes of compact JSON the items have.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves out items that are of no use, and notes why.
    pub fn leave_out(&mut self, misfit: impl Fn(&T) -> Option<(&str, &'static str)>) {
        let notes = &mut self.notes;
        self.items.retain(|item| {
            let Some((name, why)) = misfit(item) else {
                return true;
            };
            if notes.len() < MAX_NOTES {
                let name = text::cell(name);
                notes.push(format!("{name}: x-mcp-header is wrong, {why}; left out").into());
            }
            false
        });
    }

    /// Items and notes of the complete traversal.
    #[must_use]
    pub fn finish(self) -> (Arc<[T]>, Arc<[Arc<str>]>) {
        (self.items.into(), self.notes.into())
    }
}

/// A malformed result, told as a failure.
fn malformed(message: String) -> Failure {
    Failure::new(FailureKind::Malformed, message)
}

#[cfg(test)]
mod tests;
