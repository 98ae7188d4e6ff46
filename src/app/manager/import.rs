//! Servers of other tools: what there is of them, and copies of those that a person has chosen.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::{JoinError, spawn_blocking};

use super::Manager;
use crate::app::config_store::write_path;
use crate::app::import::{self, Copied, How, Source};
use crate::config::ConfigError;
use crate::config::import::{Candidate, Tool};
use crate::domain::ServerName;

/// What was found, and where a copy would be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// The files with servers, and those that cannot be read.
    pub sources: Vec<Source>,
    /// Where was looked.
    pub places: Vec<(Tool, PathBuf)>,
    /// The file for servers that are new; `None` where there is no home folder.
    pub target: Option<PathBuf>,
    /// Whether this run follows the file: one of a server given on the command line does not.
    pub followed: bool,
}

impl Manager {
    /// Looks for the servers of other tools.
    ///
    /// # Errors
    ///
    /// One of our own files cannot be used, so that nothing can be compared.
    pub async fn scan(&self) -> Result<Findings, ConfigError> {
        let files = Arc::clone(&self.files);
        let found = spawn_blocking(move || {
            let request = &files.request;
            Ok(Findings {
                sources: import::scan(request)?,
                places: import::looked_at(request),
                target: write_path(request),
                followed: !request.settings_only,
            })
        });
        found.await.unwrap_or_else(|error| Err(broken(&error)))
    }

    /// Copies the servers into our files. What follows the files starts them. Once begun it goes
    /// on to the end, whether somebody waits for it or not.
    ///
    /// # Errors
    ///
    /// One of our own files cannot be used, or there is none to write to.
    pub async fn import(
        &self,
        chosen: Vec<Candidate>,
        how: How,
    ) -> Result<Vec<(ServerName, Copied)>, ConfigError> {
        let files = Arc::clone(&self.files);
        let copied = spawn_blocking(move || {
            let chosen: Vec<&Candidate> = chosen.iter().collect();
            import::apply(&files.request, &chosen, how)
        });
        copied.await.unwrap_or_else(|error| Err(broken(&error)))
    }
}

fn broken(error: &JoinError) -> ConfigError {
    ConfigError::Usage(format!("the files could not be looked at: {error}").into())
}
