//! Writes an edit to its file: under a lock, on a fresh read, and never half.
//!
//! The new text goes to a temporary file beside the old one, which then takes its place. A reader
//! sees the old file or the new one. Mode, owner and a symbolic link are kept.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{LONGEST_FILE, LoadRequest, read_text, state_folder};
use crate::config::edit::{Edit, EditError, Made, Removed, edit_all};
use crate::config::{ConfigError, Environment, FileInput, Format, Role, io_reason, read};

/// How long another mcpdeck may hold the lock. An edit takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(5);

/// How often an edit starts anew because an editor wrote the file in between.
const MOST_ATTEMPTS: usize = 5;

/// What became of an edit.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It is in the file.
    Written {
        /// What was taken out, after [`Edit::Remove`]; [`Edit::Insert`] puts it back.
        removed: Option<Removed>,
    },
    /// The file says so already.
    Unchanged,
    /// The file cannot be changed: the edit holds for this run only.
    ThisRunOnly {
        /// Why, with the name of the file.
        reason: Arc<str>,
    },
}

/// Why an edit was not made. The file is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The file has an error, or cannot be read.
    #[error("{0}")]
    Config(ConfigError),
    /// The edit is not possible in this file.
    #[error("{file}: {error}", file = .file.display())]
    Edit {
        /// The file.
        file: PathBuf,
        /// Why.
        error: EditError,
    },
    /// The file cannot be written.
    #[error("{file}: {reason}", file = .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        reason: Arc<str>,
    },
}

/// Makes the edit in the file. A file that is not there yet is created for [`Edit::Add`] and
/// [`Edit::Insert`], readable for its owner alone, with its folder. Of the request only the
/// environment and the check of key lists count.
///
/// # Errors
///
/// [`StoreError`]; the file is untouched. A file that cannot be written because it or its folder
/// is read-only, or is another tool's, is no error but [`Outcome::ThisRunOnly`].
pub fn apply(path: &Path, change: &Edit, request: &LoadRequest) -> Result<Outcome, StoreError> {
    let mut outcomes = apply_all(path, std::slice::from_ref(change), request)?;
    outcomes.pop().unwrap_or(Ok(Outcome::Unchanged))
}

/// Makes the edits in the file, one after the other, and writes it once. The outcomes are in the
/// order of the edits; one that cannot be made does not hinder the others.
///
/// # Errors
///
/// As of [`apply`], where none of them can be made.
pub fn apply_all(
    path: &Path,
    changes: &[Edit],
    request: &LoadRequest,
) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
    let environment = &request.environment;
    let target = link_target(&environment.cwd().join(path));
    let _lock = lock(&target, environment).map_err(|error| io_error(path, &error))?;
    let may_create = changes.iter().any(creates);
    for _ in 0..MOST_ATTEMPTS {
        let old = match read_text(&target, LONGEST_FILE) {
            Ok(text) => Some(text),
            Err(error) if may_create && error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_error(path, &error)),
        };
        let text = old.clone().unwrap_or_default();
        let all = |outcome: Outcome| changes.iter().map(|_| Ok(outcome.clone())).collect();
        if belongs_to_other(path, &text, request)? {
            return Ok(all(this_run_only(path, "it belongs to another tool")));
        }
        let (text, made) = edit_all(&text, changes);
        let outcomes: Vec<Result<Outcome, StoreError>> = made
            .into_iter()
            .map(|made| match made {
                // A file that is not there says nothing yet.
                Ok(Made::Nothing) if old.is_some() => Ok(Outcome::Unchanged),
                Ok(Made::Nothing) => Ok(Outcome::Written { removed: None }),
                Ok(Made::Change(removed)) => Ok(Outcome::Written { removed }),
                Err(error) => Err(StoreError::Edit {
                    file: path.to_owned(),
                    error,
                }),
            })
            .collect();
        let is_written = |it: &Result<Outcome, _>| matches!(it, Ok(Outcome::Written { .. }));
        if !outcomes.iter().any(is_written) {
            return Ok(outcomes);
        }
        let refused = match read_only(&target) {
            Some(reason) => reason,
            None => match replace(&target, old.as_deref(), &text) {
                Ok(true) => return Ok(outcomes),
                Ok(false) => continue,
                Err(error) if is_denied(&error) => io_reason(&error),
                Err(error) => return Err(io_error(path, &error)),
            },
        };
        return Ok(all(this_run_only(path, &refused)));
    }
    Err(StoreError::Io {
        file: path.to_owned(),
        reason: "another program keeps writing it".into(),
    })
}

const fn creates(change: &Edit) -> bool {
    matches!(change, Edit::Add { .. } | Edit::Insert(_))
}

/// Whether the file is another tool's. A file with an error is never overwritten.
fn belongs_to_other(path: &Path, text: &str, request: &LoadRequest) -> Result<bool, StoreError> {
    let input = FileInput {
        path,
        text,
        role: Role::Named,
        environment: &request.environment,
    };
    let file = read(input).map_err(StoreError::Config)?;
    request.checked(&file.keys).map_err(StoreError::Config)?;
    Ok(file.format != Format::Ours)
}

pub(super) fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Io {
        file: path.to_owned(),
        reason: io_reason(error).into(),
    }
}

fn this_run_only(path: &Path, reason: &str) -> Outcome {
    Outcome::ThisRunOnly {
        reason: format!("{} is read-only: {reason}", path.display()).into(),
    }
}

fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// The file that a symbolic link leads to, so that the link itself stays.
pub(super) fn link_target(path: &Path) -> PathBuf {
    if let Ok(target) = fs::canonicalize(path) {
        return target;
    }
    // The target may be missing: then one step is taken by hand.
    match (fs::read_link(path), path.parent()) {
        (Ok(target), Some(folder)) => folder.join(target),
        _ => path.to_owned(),
    }
}

/// Why the file cannot be replaced, judged by its mode and that of its folder: what is marked
/// read-only is left alone even where the system would let us.
fn read_only(target: &Path) -> Option<String> {
    if let Ok(metadata) = fs::metadata(target)
        && (metadata.permissions().readonly() || !is_writable(target))
    {
        return Some("the file does not allow writing".to_owned());
    }
    let folder = target.parent()?;
    let metadata = fs::metadata(folder).ok()?;
    let denied = metadata.permissions().readonly() || !is_writable(folder);
    denied.then(|| "its folder does not allow writing".to_owned())
}

#[cfg(unix)]
fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_path: &Path) -> bool {
    true
}

/// The lock that every mcpdeck takes to edit a file; it ends with the handle. It is a file in the
/// state folder; where that cannot be had, the folder of the edited file serves.
pub(super) fn lock(target: &Path, environment: &Environment) -> io::Result<Option<File>> {
    let state = state_folder(environment).and_then(|folder| {
        create_folder(&folder).ok()?;
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true);
        options.open(folder.join("config.lock")).ok()
    });
    let folder = || target.parent().and_then(|folder| File::open(folder).ok());
    let Some(file) = state.or_else(folder) else {
        return Ok(None);
    };
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another mcpdeck is editing it",
                ));
            }
            // Some network file systems have no locks; the comparison before the rename is left.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Creates the folder and those above it, for its owner alone.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Puts the text in the place of the file; `false` where the file is no longer the old one.
pub(super) fn replace(target: &Path, old: Option<&str>, text: &str) -> io::Result<bool> {
    let folder = target.parent().unwrap_or(Path::new("."));
    if old.is_none() {
        create_folder(folder)?;
    }
    let temporary = Temporary::create(target)?;
    (&temporary.file).write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(target) {
        keep_owner(&temporary.file, &metadata);
        temporary.file.set_permissions(metadata.permissions())?;
    }
    temporary.file.sync_all()?;
    let now = match read_text(target, LONGEST_FILE) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if now.as_deref() != old {
        return Ok(false);
    }
    temporary.rename_to(target)?;
    // The file is in place; that its folder cannot be synchronised must not undo the edit.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(true)
}

/// Only root can give a file away; for everybody else the owner is the same anyway.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _metadata: &fs::Metadata) {}

/// A file beside the target that is gone when it is dropped.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    fn create(target: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{name}.{}-{count}.tmp", std::process::id());
        let path = target.with_file_name(name);
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok(Self { path, file })
    }

    fn rename_to(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::config::{ProblemKind, Stdio, Transport, Written};
    use crate::domain::ServerName;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new(text: &str) -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            fs::write(place.path("config.toml"), text).unwrap();
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.path("config.toml")).unwrap()
        }

        fn request(&self) -> LoadRequest {
            let (home, cwd) = (self.path("home"), self.0.path().to_owned());
            LoadRequest {
                files: Vec::new(),
                settings_only: false,
                check_keys: |_| None,
                environment: Environment::new([], Some(home), cwd),
            }
        }

        fn apply(&self, change: &Edit) -> Result<Outcome, StoreError> {
            apply(Path::new("config.toml"), change, &self.request())
        }

        /// The names in the folder, without the one for the state.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|name| name != "home").collect();
            names.sort();
            names
        }
    }

    fn name(name: &str) -> ServerName {
        ServerName::new(name).unwrap()
    }

    fn off(server: &str) -> Edit {
        Edit::SetEnabled {
            name: name(server),
            enabled: false,
        }
    }

    fn add(server: &str) -> Edit {
        let command = Written::plain("c");
        let stdio = Stdio {
            command,
            ..Stdio::default()
        };
        Edit::Add {
            name: name(server),
            definition: Box::new(Transport::Stdio(stdio).into()),
            enabled: true,
        }
    }

    const TEXT: &str = "# mine\n[servers.a]\ncommand = 'a'\n";

    #[test]
    fn an_edit_is_written_and_undone() {
        let place = Place::new(TEXT);
        let Outcome::Written { removed } = place.apply(&Edit::Remove { name: name("a") }).unwrap()
        else {
            panic!("not written");
        };
        assert_eq!(place.text(), "# mine\n");
        place.apply(&Edit::Insert(removed.unwrap())).unwrap();
        assert_eq!(place.text(), TEXT);
        assert!(matches!(
            place.apply(&off("a")),
            Ok(Outcome::Written { .. })
        ));
        assert!(matches!(place.apply(&off("a")), Ok(Outcome::Unchanged)));
        assert_eq!(place.names(), ["config.toml"]);
    }

    #[test]
    fn mode_and_link_are_kept() {
        let place = Place::new(TEXT);
        fs::create_dir(place.path("dots")).unwrap();
        let file = place.path("dots/real.toml");
        fs::rename(place.path("config.toml"), &file).unwrap();
        symlink("dots/real.toml", place.path("config.toml")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        place.apply(&off("a")).unwrap();
        assert!(
            fs::symlink_metadata(place.path("config.toml"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        assert!(place.text().contains("enabled = false"));
    }

    #[test]
    fn what_is_read_only_holds_for_this_run_only() {
        let check = |place: &Place| {
            let outcome = place.apply(&off("a")).unwrap();
            let Outcome::ThisRunOnly { reason } = outcome else {
                panic!("{outcome:?}");
            };
            assert!(reason.starts_with("config.toml is read-only: "), "{reason}");
        };
        let place = Place::new(TEXT);
        fs::set_permissions(place.path("config.toml"), Permissions::from_mode(0o444)).unwrap();
        check(&place);
        let place = Place::new(TEXT);
        fs::create_dir_all(place.path("home/.local/state")).unwrap();
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o555)).unwrap();
        check(&place);
        assert_eq!(place.text(), TEXT);
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
        check(&Place::new("[mcp_servers.a]\ncommand = 'a'\n"));
    }

    #[test]
    fn a_file_with_an_error_is_never_overwritten() {
        for text in [
            "[servers.a",
            "[servers.a]\ncommand = 'a'\n[settings]\nx = 1\n",
        ] {
            let place = Place::new(text);
            let error = place.apply(&off("a")).unwrap_err();
            assert!(matches!(error, StoreError::Config(_)), "{error}");
            assert_eq!(place.text(), text);
        }
        let place = Place::new(TEXT);
        let error = place.apply(&off("b")).unwrap_err().to_string();
        assert_eq!(error, "config.toml: there is no server \"b\" in the file");
        // Key lists are checked by the deck.
        let request = LoadRequest {
            check_keys: |_| Some(Written::plain("x").problem(ProblemKind::Other("no key".into()))),
            ..place.request()
        };
        let error = apply(Path::new("config.toml"), &off("a"), &request).unwrap_err();
        assert_eq!((&*error.to_string(), &*place.text()), ("no key", TEXT));
    }

    #[test]
    fn a_new_file_is_for_its_owner_alone() {
        let place = Place::new("");
        let path = place.path("home/.config/mcpdeck/config.toml");
        apply(&path, &add("a"), &place.request()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let folder = path.parent().unwrap();
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
        let error = apply(&place.path("no.toml"), &off("a"), &place.request()).unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{error}");
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let place = Place::new(TEXT);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let place = &place;
                scope.spawn(move || {
                    for count in 0..10 {
                        place.apply(&add(&format!("w{writer}-{count}"))).unwrap();
                    }
                });
            }
        });
        let text = place.text();
        assert_eq!(text.matches("[servers.w").count(), 40);
        assert!(text.starts_with(TEXT));
        assert_eq!(place.names(), ["config.toml"]);
    }
}
