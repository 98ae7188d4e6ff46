//! What is asked before something is done.

use std::sync::Arc;

use super::action::Effect;
use super::save::File;
use crate::app::Place;
use crate::domain::ServerName;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Whether to remove the server.
    Remove(ServerName, Place),
    /// Whether to switch the server on.
    Enable(ServerName),
    /// Whether to approve the server, and what it would start or call.
    Trust(ServerName, Vec<Arc<str>>),
    /// Whether to replace the file.
    Replace(File),
}

impl Question {
    /// What yes means.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Remove(name, _) => Effect::Remove(name.clone()),
            Self::Enable(name) => Effect::SetEnabled(name.clone(), true),
            Self::Trust(name, _) => Effect::Trust(name.clone()),
            Self::Replace(file) => Effect::Save(File {
                replace: true,
                ..file.clone()
            }),
        }
    }
}
