//! Servers of other tools: finds their files, compares what is in them with what we have, and
//! copies what is chosen into our own file. Files of other tools are read and never written.
//!
//! Everything here blocks, as in [`config_store`](super::config_store).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config_store::{
    LONGEST_FILE, LoadRequest, Outcome, apply_all, inspect, is_missing, read_text, refuse_special,
    write_path,
};
use crate::config::edit::Edit;
use crate::config::import::{
    Candidate, Import, ImportInput, LeftOut, Place, Platform, Scope, Tool, part_matches, places,
    read, recognise,
};
use crate::config::{
    ConfigError, ConfigFile, Definition, Entry, Format, Precedence, Role, io_reason, merge,
};
use crate::domain::ServerName;

/// How a server of another tool compares with what we have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// We have none of the name.
    New,
    /// We have the same.
    Equal,
    /// We have another one of the name.
    Different,
}

impl State {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Equal => "equal",
            Self::Different => "different",
        }
    }
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The server.
    pub candidate: Candidate,
    /// How it compares with ours.
    pub state: State,
    /// The file that defines ours, if we have one of the name.
    pub ours: Option<Arc<Path>>,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Whose it is, where that is known.
    pub tool: Option<Tool>,
    /// For whom it holds.
    pub scope: Scope,
    /// Where it is.
    pub file: PathBuf,
    /// Its servers.
    pub servers: Vec<Found>,
    /// The servers that are not taken over.
    pub left_out: Vec<LeftOut>,
    /// Why it cannot be read.
    pub error: Option<ConfigError>,
}

impl Source {
    /// Whether the other has the same servers of the same lines.
    fn is_same_as(&self, other: &Self) -> bool {
        let lines = |source: &Self| -> Vec<(ServerName, usize)> {
            let found = source.servers.iter().map(|found| &found.candidate);
            found.map(|it| (it.name.clone(), it.line)).collect()
        };
        (self.tool, &self.file) == (other.tool, &other.file) && lines(self) == lines(other)
    }

    /// The word for it: that of the tool, else the path.
    #[must_use]
    pub fn word(&self) -> String {
        match self.tool {
            Some(tool) => tool.word().to_owned(),
            None => self.file.display().to_string(),
        }
    }
}

/// How the chosen servers are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct How {
    /// Whether they take the place of different ones of ours.
    pub replace: bool,
    /// Whether variables take the place of secrets in plain text.
    pub secrets_to_env: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// What became of a chosen server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// It is new in the file.
    Added(PathBuf),
    /// It took the place of ours in the file.
    Replaced(PathBuf),
    /// We had the same.
    Unchanged,
    /// We have another one of the name, and keep it.
    Different,
    /// It is chosen twice, with two definitions.
    Ambiguous,
    /// The file could not be written.
    Failed(Arc<str>),
}

/// Where [`scan`] looks: whose files would be there, and their paths, of which a part may be a
/// pattern.
#[must_use]
pub fn looked_at(request: &LoadRequest) -> Vec<(Tool, PathBuf)> {
    let places = places(Platform::current(), &request.environment).into_iter();
    let mut paths: Vec<(Tool, PathBuf)> = places
        .map(|place| (place.tool, place.folder.join(place.pattern)))
        .collect();
    paths.dedup();
    paths
}

/// Looks at every place of every tool. Files without servers are left out.
///
/// # Errors
///
/// One of our own files cannot be used, so that nothing can be compared.
pub fn scan(request: &LoadRequest) -> Result<Vec<Source>, ConfigError> {
    let ours = Ours::read(request)?;
    let places = places(Platform::current(), &request.environment);
    let sources = places.iter().flat_map(|place| {
        let files = files(place).into_iter();
        files.filter_map(|file| {
            let path = request.environment.cwd().join(&file);
            let text = match refuse_special(&path).and_then(|()| text_of(&file, request)) {
                Err(error) if is_missing(&error) => return None,
                text => text,
            };
            source(
                &file,
                (Some(place.tool), &place.scope),
                text,
                request,
                &ours,
            )
        })
    });
    let sources = sources.filter(|source| {
        source.error.is_some() || !source.servers.is_empty() || !source.left_out.is_empty()
    });
    // In the home folder a file of the user is also where one of a project would be.
    let mut distinct: Vec<Source> = Vec::new();
    for source in sources {
        if !distinct.iter().any(|known| known.is_same_as(&source)) {
            distinct.push(source);
        }
    }
    Ok(distinct)
}

/// Looks at one file, whoever it belongs to; more than one source where it has several parts.
///
/// # Errors
///
/// The file cannot be read or has no servers, or one of our own cannot be used.
pub fn open(request: &LoadRequest, file: &Path) -> Result<Vec<Source>, ConfigError> {
    let ours = Ours::read(request)?;
    let mut kinds = recognise(file, Platform::current(), &request.environment);
    let kinds: Vec<(Option<Tool>, Scope)> = if kinds.is_empty() {
        vec![(None, Scope::User)]
    } else {
        kinds
            .drain(..)
            .map(|(tool, scope)| (Some(tool), scope))
            .collect()
    };
    let mut sources = Vec::with_capacity(kinds.len());
    for (tool, scope) in kinds {
        let text = text_of(file, request).map_err(|error| unreadable(file, &error))?;
        let source = source(file, (tool, &scope), Ok(text), request, &ours);
        let source = source.ok_or_else(|| {
            let reason = "no servers in it, in none of the forms that mcpdeck knows".into();
            let file = file.into();
            ConfigError::Unreadable { file, reason }
        })?;
        if let Some(error) = source.error {
            return Err(error);
        }
        sources.push(source);
    }
    Ok(sources)
}

/// Copies the servers into our files: those that are new into `config path`, those that take the
/// place of ours into the file that defines it.
///
/// # Errors
///
/// One of our own files cannot be used, or there is none to write to.
pub fn apply(
    request: &LoadRequest,
    chosen: &[&Candidate],
    how: How,
) -> Result<Vec<(ServerName, Copied)>, ConfigError> {
    let ours = Ours::read(request)?;
    let target = write_path(request).ok_or_else(|| {
        ConfigError::Usage("there is no home folder; name a file with --config".into())
    })?;
    let mut by_name: HashMap<&ServerName, Vec<&Candidate>> = HashMap::new();
    for candidate in chosen {
        by_name.entry(&candidate.name).or_default().push(candidate);
    }
    let mut done: Vec<(ServerName, Copied)> = Vec::with_capacity(by_name.len());
    // Each file is written once. The places are those in `done`.
    let mut changes: BTreeMap<PathBuf, (Vec<usize>, Vec<Edit>)> = BTreeMap::new();
    for candidate in chosen {
        // Each name once, at its first place.
        let Some(all) = by_name.remove(&candidate.name) else {
            continue;
        };
        let is_other = |other: &&Candidate| !same(&other.definition, &candidate.definition);
        let copied = if all.iter().skip(1).any(is_other) {
            Copied::Ambiguous
        } else {
            let (copied, change) = plan(candidate, how, &target, &ours);
            if let (Some(change), Copied::Added(file) | Copied::Replaced(file)) = (change, &copied)
            {
                let (places, edits) = changes.entry(file.clone()).or_default();
                places.push(done.len());
                edits.push(change);
            }
            copied
        };
        done.push((candidate.name.clone(), copied));
    }
    if how.dry_run {
        return Ok(done);
    }
    for (file, (places, edits)) in changes {
        let outcomes = match apply_all(&file, &edits, request) {
            Ok(outcomes) => outcomes,
            Err(error) => edits.iter().map(|_| Err(error.clone())).collect(),
        };
        for (place, outcome) in places.into_iter().zip(outcomes) {
            let failed = match outcome {
                Ok(Outcome::Written { .. } | Outcome::Unchanged) => continue,
                Ok(Outcome::ThisRunOnly { reason }) => reason,
                Err(error) => error.to_string().into(),
            };
            if let Some((_, copied)) = done.get_mut(place) {
                *copied = Copied::Failed(failed);
            }
        }
    }
    Ok(done)
}

/// What is to become of the server, and the edit for it.
fn plan(candidate: &Candidate, how: How, target: &Path, ours: &Ours) -> (Copied, Option<Edit>) {
    let (name, enabled) = (candidate.name.clone(), candidate.enabled);
    let definition = if how.secrets_to_env {
        &candidate.without_secrets
    } else {
        &candidate.definition
    };
    let definition = Box::new(definition.clone());
    let there = ours.of(&name);
    match (ours.compare(candidate), there) {
        (State::Equal, _) => (Copied::Unchanged, None),
        (State::Different, _) if !how.replace => (Copied::Different, None),
        (
            State::Different,
            Some(Entry {
                origin: Some(origin),
                ..
            }),
        ) => {
            let change = Edit::Replace {
                name,
                definition,
                // Whether ours is switched on stays as it is.
                enabled: there.is_none_or(|entry| entry.enabled),
            };
            (Copied::Replaced(origin.file.clone()), Some(change))
        }
        (State::New | State::Different, _) => {
            let change = Edit::Add {
                name,
                definition,
                enabled,
            };
            (Copied::Added(target.to_owned()), Some(change))
        }
    }
}

/// What our own files define.
struct Ours(HashMap<ServerName, Entry>);

impl Ours {
    fn read(request: &LoadRequest) -> Result<Self, ConfigError> {
        let mut files: Vec<ConfigFile> = Vec::new();
        let mut precedence = Precedence::FirstWins;
        for inspected in inspect(request) {
            if inspected.role == Role::Named {
                precedence = Precedence::LastWins;
            }
            match inspected.file {
                Ok(file) => files.extend(file),
                // A file of another tool is none of ours, whatever is wrong with it.
                Err(_) if inspected.path.extension().is_some_and(|end| end == "json") => {}
                Err(error) => return Err(error),
            }
        }
        files.retain(|file| file.format == Format::Ours);
        for file in &files {
            request.checked(&file.keys)?;
        }
        let entries = merge(&files, precedence).entries.into_iter();
        Ok(Self(
            entries.map(|entry| (entry.name.clone(), entry)).collect(),
        ))
    }

    fn of(&self, name: &ServerName) -> Option<&Entry> {
        self.0.get(name)
    }

    fn file(&self, name: &ServerName) -> Option<Arc<Path>> {
        let origin = self.of(name)?.origin.as_ref()?;
        Some(origin.file.as_path().into())
    }

    /// Whether a secret stands in plain text makes no difference.
    fn compare(&self, candidate: &Candidate) -> State {
        match self.of(&candidate.name).map(|entry| &entry.definition) {
            None => State::New,
            Some(Ok(ours))
                if same(ours, &candidate.definition) || same(ours, &candidate.without_secrets) =>
            {
                State::Equal
            }
            Some(_) => State::Different,
        }
    }
}

/// The order of variables and headers makes no difference.
fn same(one: &Definition, two: &Definition) -> bool {
    one.to_json(false) == two.to_json(false)
}

/// The source of the text; `None` where there are no servers of any form in it.
fn source(
    file: &Path,
    (tool, scope): (Option<Tool>, &Scope),
    text: io::Result<String>,
    request: &LoadRequest,
    ours: &Ours,
) -> Option<Source> {
    let import = text
        .map_err(|error| unreadable(file, &error))
        .and_then(|text| {
            read(ImportInput {
                path: file,
                text: &text,
                tool,
                scope,
                platform: Platform::current(),
                environment: &request.environment,
            })
        });
    let (import, error) = match import {
        Ok(import) => (import?, None),
        Err(error) => (Import::default(), Some(error)),
    };
    let servers = import.servers.into_iter().map(|candidate| Found {
        state: ours.compare(&candidate),
        ours: ours.file(&candidate.name),
        candidate,
    });
    Some(Source {
        tool,
        scope: scope.clone(),
        file: file.to_owned(),
        servers: servers.collect(),
        left_out: import.left_out,
        error,
    })
}

fn text_of(file: &Path, request: &LoadRequest) -> io::Result<String> {
    read_text(&request.environment.cwd().join(file), LONGEST_FILE)
}

fn unreadable(file: &Path, error: &io::Error) -> ConfigError {
    ConfigError::Unreadable {
        file: file.into(),
        reason: io_reason(error).into(),
    }
}

/// The paths that the place means, in order; they need not be there.
fn files(place: &Place) -> Vec<PathBuf> {
    let mut found = vec![place.folder.clone()];
    for part in place.pattern.split('/') {
        found = found
            .into_iter()
            .flat_map(|folder| {
                if part.starts_with('*') {
                    entries(&folder, part)
                } else {
                    vec![folder.join(part)]
                }
            })
            .collect();
    }
    found
}

/// What in the folder has a name that matches, sorted; nothing where it cannot be read.
fn entries(folder: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| part_matches(&entry.file_name().to_string_lossy(), part))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}
