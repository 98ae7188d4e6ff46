//! How an item is made of its JSON fields, and how it is noted that one was left out.

use std::fmt::{self, Display};
use std::sync::Arc;

use crate::domain::catalog::MAX_NOTES;
use crate::domain::item::Item;
use crate::domain::text::{cell, fit};

use super::fields::{Defect, Fields};

/// The most columns of an item's name in a note.
const LABEL_COLUMNS: usize = 64;

/// What one item of a kind must be.
pub trait Rules: Item {
    /// The fields that are looked at.
    const KEYS: &'static [&'static str];
    /// How many bytes of compact JSON all items of a listing may have.
    const MAX_BYTES: usize;

    /// Makes the item.
    ///
    /// # Errors
    ///
    /// A [`Defect`] where the item is malformed.
    fn decode(fields: &Fields<'_>, notes: &mut Notes<'_>) -> Result<Self, Defect>;

    /// Why the item is of no use over HTTP in the era without `initialize`, and its name.
    fn misfit_over_http(&self) -> Option<(&str, &'static str)> {
        None
    }
}

/// Where an item stands, and what was left out of it and of others.
#[derive(Debug)]
pub struct Notes<'a> {
    pub(super) place: Place,
    pub(super) list: &'a mut Vec<Arc<str>>,
    /// How many more prompt arguments the listing may have.
    pub(super) arguments_left: &'a mut usize,
    /// Whether the item has more bytes than the whole listing may.
    pub(super) too_large: bool,
}

impl Notes<'_> {
    /// Notes that something was left out of the item of this name.
    pub(super) fn left_out(&mut self, name: &str, what: &dyn Display) {
        if self.list.len() < MAX_NOTES {
            let name = cell(name);
            let name = fit(&name, LABEL_COLUMNS);
            let note = format!("{} ({name}): {what}, left out", self.place);
            self.list.push(note.into());
        }
    }

    /// The field; or nothing, and a note.
    pub(super) fn lenient<T>(&mut self, name: &str, field: Result<Option<T>, Defect>) -> Option<T> {
        field.unwrap_or_else(|defect| {
            self.left_out(name, &defect);
            None
        })
    }
}

/// Where an item stands in its traversal; both counted from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) page: usize,
    pub(super) item: usize,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {}, item {}", self.page, self.item)
    }
}
