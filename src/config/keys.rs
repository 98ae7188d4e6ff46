//! The `[keys]` table: actions and the keys bound to them, with their places.
//!
//! Which actions and keys there are is known to the deck alone, which checks them.

use std::sync::Arc;

use super::entry::Written;
use super::fields::Fields;
use super::problem::{ConfigProblem, ProblemKind};
use super::source::{Source, Spot};
use super::suggest::nearest;
use super::tree::Pair;

/// Says what is wrong with key lists, if something is. Which actions and keys there are is known to
/// the deck alone.
pub type KeyCheck = fn(&Keys) -> Option<ConfigProblem>;

/// The key lists of all files, one for each action, in the order of the first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keys {
    /// One list for each action that a file binds.
    pub actions: Vec<KeysOfAction>,
}

/// The keys of one action: they replace the default ones, and an empty list unbinds.
#[derive(Debug, Clone)]
pub struct KeysOfAction {
    /// The name of the action as written.
    pub action: String,
    /// The keys as written.
    pub keys: Vec<Written>,
    spot: Spot,
}

impl PartialEq for KeysOfAction {
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action && self.keys == other.keys
    }
}

impl KeysOfAction {
    /// A problem at the name of the action. One of a key is [`Written::problem`].
    #[must_use]
    pub fn problem(&self, message: impl Into<String>) -> ConfigProblem {
        self.spot.problem(ProblemKind::Other(message.into()))
    }

    /// The problem that there is no such action.
    #[must_use]
    pub fn unknown<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> ConfigProblem {
        self.spot.problem(ProblemKind::UnknownKey {
            key: self.action.clone(),
            nearest: nearest(&self.action, known).map(str::to_owned),
        })
    }
}

impl Keys {
    /// The list of the action, if a file has one.
    #[must_use]
    pub fn of(&self, action: &str) -> Option<&KeysOfAction> {
        self.actions.iter().find(|keys| keys.action == action)
    }

    /// Takes over the lists of a file that wins.
    pub(super) fn override_with(&mut self, winner: &Self) {
        for keys in &winner.actions {
            match self
                .actions
                .iter_mut()
                .find(|old| old.action == keys.action)
            {
                Some(old) => *old = keys.clone(),
                None => self.actions.push(keys.clone()),
            }
        }
    }
}

/// Reads the table. An error in it is an error of the file.
pub(super) fn read(source: &Arc<Source>, pairs: &[Pair]) -> Result<Keys, ConfigProblem> {
    let mut fields = Fields::new(source, pairs);
    let actions = pairs.iter().map(|pair| KeysOfAction {
        action: pair.key.clone(),
        keys: fields.texts(&pair.key),
        spot: Spot::new(source, &pair.key_span),
    });
    let actions = actions.collect();
    match fields.first_problem() {
        Some(problem) => Err(problem),
        None => Ok(Keys { actions }),
    }
}
