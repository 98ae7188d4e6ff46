//! Follows the config files: what changes in them takes effect, and nothing else.
//!
//! ```text
//!  files --notify--> Bell --> quiet for a moment --> load --> difference to the last load --> engine
//! ```
//!
//! Only the difference between two loads is applied, so what a person changed for this run stays,
//! and what we wrote ourselves is in effect already when it is read. A file that cannot be used,
//! half-written say, changes nothing and is told.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout_at};

use super::{LoadRequest, Loaded, approvals_path, load};
use crate::app::definition::Definition;
use crate::app::engine::EngineHandle;
use crate::config::{ConfigError, Entry};
use crate::domain::ServerName;

/// How long files are left alone after a change: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// A file that never rests is read all the same after this time.
const LONGEST_UNREST: Duration = Duration::from_secs(1);

/// How long a file may be gone, or without servers, before that is taken to be meant.
const GRACE: Duration = Duration::from_secs(1);

/// How often files are looked at where the system does not tell.
const POLL: Duration = Duration::from_secs(2);

/// What is followed, beyond the files themselves.
#[derive(Debug, Clone, Default)]
pub struct Following {
    /// Only these servers; empty: all.
    pub servers: Vec<String>,
    /// Whether servers of project files may be started without approval.
    pub trust: bool,
    /// A server that stands in for a config; it goes when there is one.
    pub stand_in: Option<ServerName>,
}

/// Follows the files until the engine ends. `latest` is what they said last; a new reading is
/// published there when it is in effect.
pub async fn follow(
    engine: EngineHandle,
    request: LoadRequest,
    following: Following,
    latest: watch::Sender<Arc<Loaded>>,
) {
    let follower = Follower {
        engine: engine.clone(),
        request,
        following,
        latest,
        told: None,
    };
    tokio::select! {
        () = follower.run() => {}
        () = engine.ended() => {}
    }
}

struct Follower {
    engine: EngineHandle,
    request: LoadRequest,
    following: Following,
    latest: watch::Sender<Arc<Loaded>>,
    /// The error that was told last, until a load succeeds.
    told: Option<String>,
}

impl Follower {
    async fn run(mut self) {
        let (ring, mut bell) = mpsc::channel(1);
        let mut polls = false;
        loop {
            // It listens before the files are read, so that no change is missed.
            let places = self.places();
            let (heard, ring) = (places.clone(), ring.clone());
            let Some(listening) = blocking(move || Listening::new(&heard, ring)).await else {
                return;
            };
            if let (Err(error), false) = (&listening, polls) {
                polls = true;
                let seconds = POLL.as_secs();
                let note = format!("config files are looked at every {seconds} s: {error}");
                self.engine.note(None, note).await;
            }
            self.reload().await;
            // A first project file makes the approvals matter too.
            if self.places() != places {
                continue;
            }
            if listening.is_err() {
                sleep(POLL).await;
                continue;
            }
            if bell.recv().await.is_none() {
                return;
            }
            let latest = Instant::now() + LONGEST_UNREST;
            while let Ok(Some(())) =
                timeout_at(latest.min(Instant::now() + QUIET), bell.recv()).await
            {}
        }
    }

    /// Every file whose change matters.
    fn places(&self) -> Vec<PathBuf> {
        let latest = self.latest.borrow();
        let environment = &self.request.environment;
        let has_project = latest
            .files
            .iter()
            .any(|file| file.role == crate::config::Role::Project);
        let approvals = approvals_path(environment).filter(|_| has_project);
        let places = latest
            .places
            .iter()
            .map(|path| environment.cwd().join(path));
        places.chain(approvals).collect()
    }

    async fn reload(&mut self) {
        let old = Arc::clone(&self.latest.borrow());
        let Some(mut loaded) = self.load().await else {
            return;
        };
        if is_interrupted(&old, &loaded) {
            sleep(GRACE).await;
            let Some(again) = self.load().await else {
                return;
            };
            loaded = again;
        }
        match loaded {
            Ok(new) => {
                let recovered = self.told.take().is_some();
                self.apply(&old, self.chosen(new), recovered).await;
            }
            Err(error) => self.tell(&error).await,
        }
    }

    /// `None` where the runtime ends.
    async fn load(&self) -> Option<Result<Loaded, ConfigError>> {
        let request = self.request.clone();
        blocking(move || load(&request)).await
    }

    /// Says once what is wrong; what was in effect stays.
    async fn tell(&mut self, error: &ConfigError) {
        let error = error.one_line();
        if self.told.as_ref() != Some(&error) {
            let note = format!("config kept as it was: {error}");
            self.engine.note(None, note).await;
            self.told = Some(error);
        }
    }

    /// What counts of it, as at the start.
    fn chosen(&self, mut loaded: Loaded) -> Loaded {
        let Following { servers, trust, .. } = &self.following;
        if !servers.is_empty() {
            loaded
                .entries
                .retain(|entry| servers.iter().any(|name| entry.name.as_str() == name));
        }
        if *trust {
            for entry in &mut loaded.entries {
                entry.trusted = true;
            }
        }
        loaded
    }

    async fn apply(&mut self, old: &Loaded, new: Loaded, recovered: bool) {
        let changes = Changes::between(&old.entries, &new.entries);
        for name in &changes.removed {
            self.engine.remove(name).await;
        }
        if let Some(stand_in) = self.following.stand_in.take_if(|_| !new.entries.is_empty()) {
            self.engine.remove(&stand_in).await;
        }
        let environment = Arc::new(new.environment.clone());
        let definitions = changes.put.iter().map(|entry| {
            Definition::of_entry(Arc::new((*entry).clone()), Arc::clone(&environment))
        });
        let definitions: Vec<Definition> = definitions.collect();
        if !definitions.is_empty() {
            self.engine.adopt(definitions).await;
        }
        let order = |loaded: &Loaded| -> Vec<ServerName> {
            loaded
                .entries
                .iter()
                .map(|entry| entry.name.clone())
                .collect()
        };
        if order(old) != order(&new) {
            self.engine.arrange(order(&new)).await;
        }
        if let Some(told) = changes.told(recovered) {
            self.engine.note(None, told).await;
        }
        for note in new.notes.iter().filter(|note| !old.notes.contains(note)) {
            self.engine.note(None, note.to_string()).await;
        }
        if old.settings != new.settings || old.keys != new.keys {
            let note = "settings and keys of the config take effect at the next start";
            self.engine.note(None, note).await;
        }
        self.latest.send_replace(Arc::new(new));
    }
}

/// What one reading of the files says differently from another.
#[derive(Debug, Default)]
struct Changes<'a> {
    /// Entries that are new or different.
    put: Vec<&'a Entry>,
    removed: Vec<ServerName>,
    added: Vec<ServerName>,
    changed: Vec<ServerName>,
}

impl<'a> Changes<'a> {
    fn between(old: &[Entry], new: &'a [Entry]) -> Self {
        let find = |entries: &'_ [Entry], name: &ServerName| {
            entries.iter().position(|entry| entry.name == *name)
        };
        let mut changes = Self::default();
        for entry in new {
            let Some(before) = find(old, &entry.name).map(|at| &old[at]) else {
                changes.added.push(entry.name.clone());
                changes.put.push(entry);
                continue;
            };
            let is_same = before.same_definition(entry)
                && before.enabled == entry.enabled
                && before.trusted == entry.trusted;
            if !is_same {
                changes.changed.push(entry.name.clone());
            }
            if !is_same || before.origin != entry.origin {
                changes.put.push(entry);
            }
        }
        let gone = old.iter().filter(|entry| find(new, &entry.name).is_none());
        changes.removed = gone.map(|entry| entry.name.clone()).collect();
        changes
    }

    /// For a person, if there is something to tell.
    fn told(&self, recovered: bool) -> Option<String> {
        let parts = [
            ("added", &self.added),
            ("removed", &self.removed),
            ("changed", &self.changed),
        ];
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let parts = parts.map(|(word, names)| {
            let names: Vec<&str> = names.iter().map(ServerName::as_str).collect();
            format!("{word} {}", names.join(", "))
        });
        let parts: Vec<String> = parts.collect();
        match (parts.is_empty(), recovered) {
            (true, false) => None,
            (true, true) => Some("config reloaded: nothing changed".to_owned()),
            (false, _) => Some(format!("config reloaded: {}", parts.join("; "))),
        }
    }
}

/// Whether a file that had servers was read without any, or cannot be read as it is gone or empty:
/// most likely somebody is writing it. What was read decides, not a second look, which may come
/// earlier or later than the reading.
fn is_interrupted(old: &Loaded, new: &Result<Loaded, ConfigError>) -> bool {
    let had_servers = |path: &Path| has_servers(old, path);
    let mut files = old.files.iter().map(|file| &*file.path);
    match new {
        Ok(new) => files.any(|path| had_servers(path) && !has_servers(new, path)),
        Err(_) => files.any(|path| {
            let metadata = fs::metadata(old.environment.cwd().join(path));
            had_servers(path) && metadata.map_or(true, |metadata| metadata.len() == 0)
        }),
    }
}

fn has_servers(loaded: &Loaded, path: &Path) -> bool {
    let mut origins = loaded
        .entries
        .iter()
        .filter_map(|entry| entry.origin.as_ref());
    origins.any(|origin| *origin.file == *path)
}

/// Runs what waits for a disk on a thread where it may; `None` where the runtime ends.
async fn blocking<T: Send + 'static>(task: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(task).await.ok()
}

/// Listens for changes of files until it is dropped. Whatever else happens in their folders wakes
/// nobody but the thread that the system tells.
struct Listening {
    _watcher: RecommendedWatcher,
}

impl Listening {
    fn new(places: &[PathBuf], ring: mpsc::Sender<()>) -> notify::Result<Self> {
        let mut folders = BTreeSet::new();
        let mut paths = BTreeSet::new();
        for place in places {
            // A symbolic link and what it leads to may both change.
            for path in [Some(place.clone()), fs::canonicalize(place).ok()]
                .into_iter()
                .flatten()
            {
                let folder = path.ancestors().skip(1).find(|folder| folder.is_dir());
                folders.extend(folder.map(Path::to_path_buf));
                // A folder that does not exist yet, or goes away, matters as much as the file.
                paths.extend(path.ancestors().map(Path::to_path_buf));
            }
        }
        let real = paths.iter().filter_map(|path| fs::canonicalize(path).ok());
        let real: Vec<PathBuf> = real.collect();
        paths.extend(real);
        let heard = move |event: notify::Result<notify::Event>| {
            let matters = match &event {
                Ok(event) => {
                    is_change(event.kind)
                        && (event.need_rescan()
                            || event.paths.iter().any(|path| paths.contains(path)))
                }
                Err(_) => true,
            };
            if matters {
                // A failed send: it rings already.
                let _ = ring.try_send(());
            }
        };
        let mut watcher = notify::recommended_watcher(heard)?;
        for folder in &folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(Self { _watcher: watcher })
    }
}

/// Whether something may have changed. Our own reading does not count.
const fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => matches!(access, AccessKind::Close(AccessMode::Write)),
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, FileInput, Role, read};

    fn entries(text: &str) -> Vec<Entry> {
        let environment = Environment::new([], None, "/".into());
        let input = FileInput {
            path: Path::new("c.toml"),
            text,
            role: Role::Named,
            environment: &environment,
        };
        read(input).unwrap().entries
    }

    #[test]
    fn a_file_that_is_read_without_its_servers_is_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new([], None, folder.path().into());
        let [a, b] = ["a", "b"].map(|name| folder.path().join(format!("{name}.toml")));
        let request = LoadRequest {
            files: vec![a.clone(), b.clone()],
            settings_only: false,
            check_keys: |_| None,
            environment,
        };
        let servers = |name: &str| format!("servers.{name} = {{ command = 'x' }}\n");
        let read = |first: &str, second: &str| {
            fs::write(&a, first).unwrap();
            fs::write(&b, second).unwrap();
            load(&request)
        };
        let old = read(&servers("a"), &servers("b")).unwrap();
        for (first, second, wanted) in [
            (servers("a"), servers("b"), false),
            (servers("c"), servers("b"), false),
            (String::new(), servers("b"), true),
            (servers("a"), "# nothing yet\n".to_owned(), true),
            ("[servers.a\n".to_owned(), servers("b"), false),
            ("[servers.a\n".to_owned(), String::new(), true),
        ] {
            let new = read(&first, &second);
            // Written whole by now: what was read before counts.
            if new.is_ok() {
                read(&servers("a"), &servers("b")).unwrap();
            }
            assert_eq!(is_interrupted(&old, &new), wanted, "{first:?} {second:?}");
        }
    }

    #[test]
    fn only_what_is_different_is_put() {
        let check = |old: &str, new: &str, put: &[&str], told: Option<&str>| {
            let (old, new) = (entries(old), entries(new));
            let changes = Changes::between(&old, &new);
            let names: Vec<&str> = changes
                .put
                .iter()
                .map(|entry| entry.name.as_str())
                .collect();
            assert_eq!(names, put);
            assert_eq!(changes.told(false).as_deref(), told);
        };
        let (a, b) = (
            "servers.a = { command = 'a' }\n",
            "servers.b = { command = 'b' }\n",
        );
        check(a, a, &[], None);
        check(
            a,
            &format!("{a}{b}"),
            &["b"],
            Some("config reloaded: added b"),
        );
        check(
            &format!("{a}{b}"),
            a,
            &[],
            Some("config reloaded: removed b"),
        );
        // One that only moved is told its new line, and that is all.
        check(a, &format!("\n{a}"), &["a"], None);
        let off = "servers.a = { command = 'a', enabled = false }\n";
        check(a, off, &["a"], Some("config reloaded: changed a"));
        check(a, b, &["b"], Some("config reloaded: added b; removed a"));
    }
}
