//! Adds a server that a person has defined in the deck: tried out first, then on the list, then in
//! the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Manager, Told, bad, blocking, good};
use crate::app::config_store::{Outcome, StoreError, apply, foresee};
use crate::app::definition::Definition;
use crate::config;
use crate::config::edit::{Edit, EditError};
use crate::domain::{Failure, FailureKind, ServerName, ServerSnapshot, Session, Status};

/// A server that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServer {
    /// Its name, which no other server has.
    pub name: ServerName,
    /// What is started or called.
    pub definition: config::Definition,
    /// Whether it is added only if it can be connected to.
    pub tested: bool,
}

impl Manager {
    /// Adds the server where `mcpdeck add` would write it. Dropping the future while it is tried
    /// out closes the connection, and nothing is added.
    ///
    /// # Errors
    ///
    /// Why it was not added: it cannot be connected to, its name is taken, or the file is wrong.
    /// Where only the file cannot be written, it is added for this run, and told so.
    pub async fn add(&self, server: NewServer) -> Result<Told, Failure> {
        let (name, tested) = (server.name.clone(), server.tested);
        let path = self.free_place(&name)?;
        let change = Edit::Add {
            name: server.name,
            definition: Box::new(server.definition),
            enabled: true,
        };
        let definition = self.foreseen(&path, &change).await?;
        let session = if tested {
            Some(self.try_out(definition.clone()).await?)
        } else {
            self.engine.put(vec![definition.clone()]).await;
            None
        };
        let (file, request) = (path.clone(), self.files.request.clone());
        let why = match blocking(move || apply(&file, &change, &request)).await {
            Ok(Outcome::Written { .. } | Outcome::Unchanged) => {
                return Ok(good(added(&name, &path, session.as_deref())));
            }
            Ok(Outcome::ThisRunOnly { reason }) => reason.to_string(),
            Err(error) => error.to_string(),
        };
        // It stands in no file after all.
        let definition = Definition {
            origin: None,
            ..definition
        };
        self.engine.adopt(vec![definition]).await;
        Ok(bad(format!("added {name} for this run only: {why}")))
    }

    /// The file that the server of this name would be written to.
    fn free_place(&self, name: &ServerName) -> Result<PathBuf, Failure> {
        let latest = self.files.latest.borrow();
        let mut entries = latest.entries.iter();
        let entry = entries.find(|entry| entry.name == *name);
        if entry.is_some() || self.engine.snapshot().server(name).is_some() {
            let origin = entry.and_then(|entry| entry.origin.as_ref());
            let place = origin.map_or_else(String::new, |origin| {
                format!(", in {}:{}", origin.file.display(), origin.line)
            });
            return Err(refused(format!(
                "server \"{name}\" is there already{place}; take another name"
            )));
        }
        let path = latest.write_path.clone();
        path.ok_or_else(|| {
            refused("there is no home folder to write to; name a file with --config".to_owned())
        })
    }

    /// The definition as the file will have it: what is tried out is what the next run will start.
    async fn foreseen(&self, path: &Path, change: &Edit) -> Result<Definition, Failure> {
        let latest = Arc::clone(&self.files.latest.borrow());
        let (file, edit) = (path.to_owned(), change.clone());
        let foreseen = tokio::task::spawn_blocking(move || foresee(&latest, &file, &edit)).await;
        let entry = match foreseen {
            Ok(Ok(entry)) => entry,
            Ok(Err(error)) => return Err(refused(not_written(&error))),
            Err(error) => return Err(refused(error.to_string())),
        };
        let entry = entry.ok_or_else(|| refused(format!("{}: not ours", path.display())))?;
        let environment = Arc::clone(&self.files.environment);
        Ok(Definition::of_entry(Arc::new(entry), environment))
    }

    /// Connects to the server, and puts it on the list with its connection.
    async fn try_out(&self, definition: Definition) -> Result<Arc<Session>, Failure> {
        let ended = || Failure::new(FailureKind::Closed, "the engine has ended");
        let mut trial = self.engine.try_out(definition).await.ok_or_else(ended)?;
        let server = trial.outcome().await.ok_or_else(ended)?;
        let session = session(&server)?;
        trial.keep().await;
        Ok(session)
    }
}

/// The session, or why there is none.
fn session(server: &ServerSnapshot) -> Result<Arc<Session>, Failure> {
    match &server.status {
        Status::Connected(session) => Ok(Arc::clone(session)),
        Status::Failed(failure) | Status::NeedsAuth(failure) => Err(failure.clone()),
        Status::Reconnecting { cause, .. } => Err(cause.clone()),
        Status::Connecting | Status::Disabled | Status::Untrusted => Err(Failure::new(
            FailureKind::Connect,
            format!("it is {}", server.status.word()),
        )),
    }
}

/// `added everything: Everything Server 2.0.0, protocol 2025-11-25; written to FILE`.
fn added(name: &ServerName, path: &Path, session: Option<&Session>) -> String {
    let file = path.display();
    let Some(session) = session else {
        return format!("added {name} without a test; written to {file}");
    };
    let title = session.server_title.as_deref();
    let title = title.unwrap_or(&session.server_name);
    format!(
        "added {name}: {title} {}, protocol {}; written to {file}",
        session.server_version, session.protocol_version
    )
}

fn not_written(error: &StoreError) -> String {
    match error {
        StoreError::Edit {
            file,
            error: EditError::Exists(name),
        } => format!(
            "server \"{name}\" is there already, in {}; take another name",
            file.display()
        ),
        error => error.to_string(),
    }
}

fn refused(why: String) -> Failure {
    Failure::new(FailureKind::Config, why)
}
