//! What a person changes in the deck: the running engine first, then the file that defines the
//! server, so that the next run agrees.

mod add;
mod import;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::config_store::{
    Following, LoadRequest, Loaded, Outcome, StoreError, apply, approve, follow, load,
};
use super::definition::Definition;
use super::engine::EngineHandle;
use crate::config::edit::{Edit, Removed};
use crate::config::{Environment, describe};
use crate::domain::{Origin, ServerName, text};

pub use self::add::NewServer;
pub use self::import::Findings;

/// What became of a change, for the person who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// One line.
    pub text: Arc<str>,
    /// Whether it is not as they wished.
    pub bad: bool,
}

/// Where a server is defined, for a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file that a removal edits; `None` where it holds for this run only.
    pub file: Option<Arc<Path>>,
    /// The file whose definition of the same name applies again after a removal.
    pub uncovers: Option<Arc<Path>>,
}

/// The engine and the files, as one. Cheap to clone; all clones share what can be undone.
#[derive(Debug, Clone)]
pub struct Manager {
    engine: EngineHandle,
    files: Arc<Files>,
    removals: Arc<Mutex<Vec<Removal>>>,
    /// Held while the files are changed: one change after the other, in the order of the keys.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The definition that a person was asked about last.
    asked: Arc<Mutex<Option<Definition>>>,
}

#[derive(Debug)]
struct Files {
    request: LoadRequest,
    environment: Arc<Environment>,
    /// What the files said last.
    latest: watch::Sender<Arc<Loaded>>,
}

/// A removal that can be undone.
#[derive(Debug)]
struct Removal {
    name: ServerName,
    index: usize,
    definition: Definition,
    /// The file and what was taken out of it.
    cut: Option<(Arc<Path>, Removed)>,
}

impl Manager {
    /// A manager of the servers that were loaded.
    #[must_use]
    pub fn new(engine: EngineHandle, request: LoadRequest, loaded: &Loaded) -> Self {
        Self {
            engine,
            files: Arc::new(Files {
                request,
                environment: Arc::new(loaded.environment.clone()),
                latest: watch::Sender::new(Arc::new(loaded.clone())),
            }),
            removals: Arc::default(),
            turn: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &EngineHandle {
        &self.engine
    }

    /// Follows the files until the engine ends: what changes in them takes effect. To be spawned
    /// once, on a runtime that lives as long as the face.
    pub fn follow(&self, following: Following) -> impl Future<Output = ()> + Send + use<> {
        let (engine, files) = (self.engine.clone(), Arc::clone(&self.files));
        async move {
            let latest = files.latest.clone();
            follow(engine, files.request.clone(), following, latest).await;
        }
    }

    /// What would be started or called, line by line, for the question whether to approve it;
    /// `None` where there is no such server, or nothing to approve.
    pub async fn describe(&self, name: &ServerName) -> Option<Vec<Arc<str>>> {
        let definition = self.engine.definition(name).await?;
        let lines = describe(definition.entry()?);
        let shown = lines
            .iter()
            .map(|line| text::visible(&text::cell(line)).into());
        Some(shown.collect())
    }

    /// Approves the server of a project file, for all later runs, and starts it. Where it is no
    /// longer what [`Manager::describe`] showed, it is not approved.
    pub async fn trust(&self, name: ServerName) -> Option<Told> {
        let mut definition = self.engine.definition(&name).await?;
        if definition.trusted {
            return Some(good(format!("{name} is trusted already")));
        }
        let asked = self.asked().take().filter(|asked| asked.name == name);
        if asked.is_some_and(|asked| !asked.is_same(&definition)) {
            return Some(bad(format!(
                "{name} has changed in the meantime and was not approved; look at it again"
            )));
        }
        definition.trusted = true;
        let entry = definition.entry().map(Arc::clone);
        let environment = Arc::clone(&self.files.environment);
        let approved = tokio::task::spawn_blocking(move || {
            entry.map_or(Ok(()), |entry| approve(&entry, &environment))
        });
        let approved = approved.await;
        self.engine.put(vec![definition]).await;
        Some(match approved {
            Ok(Ok(())) => good(format!(
                "approved {name}; a change of its definition asks again"
            )),
            Ok(Err(error)) => bad(format!("approved {name} for this run only: {error}")),
            Err(error) => bad(format!("approved {name} for this run only: {error}")),
        })
    }

    /// Switches the server on or off, and writes it.
    pub async fn set_enabled(&self, name: ServerName, enabled: bool) -> Option<Told> {
        self.engine.set_enabled(&name, enabled).await;
        let _turn = self.turn.lock().await;
        let word = if enabled { "enabled" } else { "disabled" };
        let Some(origin) = self.origin(&name) else {
            return Some(good(format!("{word} {name} for this run")));
        };
        let change = Edit::SetEnabled {
            name: name.clone(),
            enabled,
        };
        Some(match self.write(&origin, change).await {
            Ok(Outcome::Written { .. } | Outcome::Unchanged) => {
                good(format!("{word} {name} in {}", origin.file.display()))
            }
            Ok(Outcome::ThisRunOnly { reason }) => {
                bad(format!("{word} {name} for this run only: {reason}"))
            }
            Err(error) => bad(format!("{word} {name} for this run only: {error}")),
        })
    }

    /// Where the server is defined.
    #[must_use]
    pub fn place(&self, name: &ServerName) -> Place {
        let file = self
            .origin(name)
            .filter(|origin| origin.editable)
            .map(|origin| origin.file.as_path().into());
        let uncovers = file.as_ref().and_then(|_| self.files.hidden(name));
        Place { file, uncovers }
    }

    /// Removes the server, from its file too.
    pub async fn remove(&self, name: ServerName) -> Option<Told> {
        let _turn = self.turn.lock().await;
        let (index, definition) = self.engine.remove(&name).await?;
        let origin = definition.origin.clone();
        let mut cut = None;
        let told = match &origin {
            None => good(format!("removed {name} for this run; u takes it back")),
            Some(origin) => {
                let change = Edit::Remove { name: name.clone() };
                let file = origin.file.display();
                match self.write(origin, change).await {
                    Ok(Outcome::Written { removed }) => {
                        cut = removed.map(|removed| (origin.file.as_path().into(), removed));
                        good(format!("removed {name} from {file}; u takes it back"))
                    }
                    Ok(Outcome::Unchanged) => good(format!("removed {name}; u takes it back")),
                    Ok(Outcome::ThisRunOnly { reason }) => {
                        bad(format!("removed {name} for this run only: {reason}"))
                    }
                    Err(error) => bad(format!("removed {name} for this run only: {error}")),
                }
            }
        };
        if cut.is_some() && self.files.hidden(&name).is_some() {
            self.uncover(&name, index).await;
        }
        self.removals().push(Removal {
            name,
            index,
            definition,
            cut,
        });
        Some(told)
    }

    /// Takes the last removal back, at its old place.
    pub async fn undo(&self) -> Option<Told> {
        let _turn = self.turn.lock().await;
        let Some(removal) = self.removals().pop() else {
            return Some(bad("nothing to undo".to_owned()));
        };
        let name = removal.name.clone();
        if self.engine.snapshot().server(&name).is_some() {
            if self.files.hidden(&name).is_none() {
                return Some(bad(format!("{name} is there again, so nothing was undone")));
            }
            self.engine.put(vec![removal.definition]).await;
        } else {
            self.engine.insert(removal.index, removal.definition).await;
        }
        let Some((file, removed)) = removal.cut else {
            return Some(good(format!("{name} is back")));
        };
        let (request, path) = (self.files.request.clone(), Arc::clone(&file));
        let written = blocking(move || apply(&path, &Edit::Insert(removed), &request)).await;
        Some(match written {
            Ok(Outcome::Written { .. } | Outcome::Unchanged) => {
                good(format!("{name} is back in {}", file.display()))
            }
            Ok(Outcome::ThisRunOnly { reason }) => {
                bad(format!("{name} is back for this run only: {reason}"))
            }
            Err(error) => bad(format!("{name} is back for this run only: {error}")),
        })
    }

    /// Puts the definition that the removed one had hidden in its place.
    async fn uncover(&self, name: &ServerName, index: usize) {
        let request = self.files.request.clone();
        let Ok(loaded) = tokio::task::spawn_blocking(move || load(&request)).await else {
            return;
        };
        match loaded {
            Ok(loaded) => {
                if let Some(entry) = loaded.entries.into_iter().find(|entry| &entry.name == name) {
                    let environment = Arc::clone(&self.files.environment);
                    let definition = Definition::of_entry(Arc::new(entry), environment);
                    self.engine.insert(index, definition).await;
                }
            }
            Err(error) => self.engine.note(None, error.one_line()).await,
        }
    }

    fn origin(&self, name: &ServerName) -> Option<Arc<Origin>> {
        self.engine.snapshot().server(name)?.origin.clone()
    }

    async fn write(&self, origin: &Origin, change: Edit) -> Result<Outcome, StoreError> {
        if !origin.editable {
            return Ok(Outcome::ThisRunOnly {
                reason: format!("{} is another tool's file", origin.file.display()).into(),
            });
        }
        let (file, request) = (origin.file.clone(), self.files.request.clone());
        blocking(move || apply(&file, &change, &request)).await
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Option<Definition>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn removals(&self) -> std::sync::MutexGuard<'_, Vec<Removal>> {
        self.removals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    /// The file with a definition of the name that another one hides.
    fn hidden(&self, name: &ServerName) -> Option<Arc<Path>> {
        self.latest.borrow().hidden(name)
    }
}

/// Runs what waits for a disk on a thread where it may.
async fn blocking(
    task: impl FnOnce() -> Result<Outcome, StoreError> + Send + 'static,
) -> Result<Outcome, StoreError> {
    match tokio::task::spawn_blocking(task).await {
        Ok(outcome) => outcome,
        Err(error) => Ok(Outcome::ThisRunOnly {
            reason: error.to_string().into(),
        }),
    }
}

fn good(text: String) -> Told {
    Told {
        text: text.into(),
        bad: false,
    }
}

fn bad(text: String) -> Told {
    Told {
        text: text.into(),
        bad: true,
    }
}
