//! The config files: which ones there are, what is in them together, and edits of them.
//!
//! Everything here blocks: it is called before the runtime starts or through `spawn_blocking`.
//! What the texts mean is the business of [`crate::config`].

mod foresee;
mod trust;
mod watch;
mod write;

pub use foresee::foresee;
pub use trust::{approvals, approvals_path, approve, revoke};
pub use watch::{Following, follow};
pub use write::{Outcome, StoreError, apply, apply_all};

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::theme::{self, ThemeFile};
use crate::config::{
    ConfigError, ConfigFile, Entry, Environment, FileInput, Format, IgnoredKey, KeyCheck, Keys,
    Note, Precedence, Role, io_reason, merge, read,
};
use crate::domain::{ServerName, Settings};

/// Our own project file of the working directory. It wins over [`FOREIGN_PROJECT_FILE`].
const PROJECT_FILE: &str = ".mcpdeck.toml";

/// The project file of the working directory that other tools have in common. It has servers and
/// nothing else.
const FOREIGN_PROJECT_FILE: &str = ".mcp.json";

/// No config file is longer. `~/.claude.json` keeps whole histories and has megabytes.
pub(super) const LONGEST_FILE: u64 = 64 << 20;

/// No theme is longer.
const LONGEST_THEME: u64 = 64 << 10;

/// What is to be loaded.
#[derive(Debug, Clone)]
pub struct LoadRequest {
    /// The files of `--config`, in order. Where there is none, `$MCPDECK_CONFIG` counts, else the
    /// user's file and the project files of the working directory.
    pub files: Vec<PathBuf>,
    /// Whether servers are left out: an ad-hoc server takes only `[settings]` and `[keys]`.
    pub settings_only: bool,
    /// What checks the key lists: a wrong one is an error of its file.
    pub check_keys: KeyCheck,
    /// The environment of the process.
    pub environment: Environment,
}

/// A file in use.
#[derive(Debug, Clone)]
pub struct FileInUse {
    /// Where it is.
    pub path: Arc<Path>,
    /// How it came to be read.
    pub role: Role,
    /// Whose file it is.
    pub format: Format,
    /// Keys in it that nothing reads.
    pub ignored: Vec<IgnoredKey>,
}

/// One place and what is there.
#[derive(Debug, Clone)]
pub struct Inspected {
    /// The place.
    pub path: PathBuf,
    /// How it came to be looked at.
    pub role: Role,
    /// What the file says; `None` where there is none and need not be.
    pub file: Result<Option<ConfigFile>, ConfigError>,
}

/// Everything that the files say together.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The key lists, not checked yet.
    pub keys: Keys,
    /// The servers in config order.
    pub entries: Vec<Entry>,
    /// What a person should know: hidden definitions above all.
    pub notes: Vec<Note>,
    /// The files that were read, in config order.
    pub files: Vec<FileInUse>,
    /// The places that were looked at, whether there is a file or not: what is to be watched.
    pub places: Vec<PathBuf>,
    /// Where a new server is written: the last TOML of ours that was named, else the default
    /// place. `None` where there is no home folder.
    pub write_path: Option<PathBuf>,
    /// The environment that the entries are resolved with.
    pub environment: Environment,
}

impl LoadRequest {
    /// What is wrong with the key lists, if something is.
    pub(super) fn checked(&self, keys: &Keys) -> Result<(), ConfigError> {
        (self.check_keys)(keys).map_or(Ok(()), |problem| Err(problem.into()))
    }
}

impl Loaded {
    /// The file whose definition of the name applies when the one in effect is gone.
    #[must_use]
    pub fn hidden(&self, name: &ServerName) -> Option<Arc<Path>> {
        let entry = self.entries.iter().find(|entry| entry.name == *name)?;
        let in_effect = &entry.origin.as_ref()?.file;
        self.notes.iter().find_map(|note| match note {
            Note::Hidden {
                name: hidden,
                hidden_in,
                by,
            } if hidden == name && **by == **in_effect => Some(Arc::clone(hidden_in)),
            Note::Hidden { .. } | Note::ProjectInheritsEnv { .. } | Note::NoApprovals { .. } => {
                None
            }
        })
    }
}

/// The environment of this process.
#[must_use]
pub fn process_environment() -> Environment {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    Environment::new(std::env::vars_os(), etcetera::home_dir().ok(), cwd)
}

/// The user's own file: `$XDG_CONFIG_HOME/mcpdeck/config.toml`, by default in `~/.config`, on
/// Windows in the folder of application data.
#[must_use]
pub fn default_path(environment: &Environment) -> Option<PathBuf> {
    let folder = base_folder(environment, "XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("mcpdeck").join("config.toml"))
}

/// The folder for what should survive but is no configuration: `$XDG_STATE_HOME/mcpdeck`, by
/// default in `~/.local/state`, on Windows in the folder of application data.
#[must_use]
pub fn state_folder(environment: &Environment) -> Option<PathBuf> {
    Some(base_folder(environment, "XDG_STATE_HOME", ".local/state")?.join("mcpdeck"))
}

/// The XDG specification wants relative paths to be ignored.
fn base_folder(environment: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = environment.path(variable).filter(|path| path.is_absolute());
    let platform = || {
        if cfg!(windows) {
            environment.path("APPDATA")
        } else {
            environment.home().map(|home| home.join(below_home))
        }
    };
    named.or_else(platform)
}

/// Finds and reads the files.
///
/// # Errors
///
/// [`ConfigError`] where a named file is missing, or a file cannot be read or used. What is wrong
/// with one server is kept in its entry.
pub fn load(request: &LoadRequest) -> Result<Loaded, ConfigError> {
    let environment = &request.environment;
    let (wanted, precedence) = wanted_files(request);
    let mut files = Vec::with_capacity(wanted.len());
    for (path, role) in &wanted {
        files.extend(read_one(path, *role, environment)?);
    }
    for file in &files {
        request.checked(&file.keys)?;
    }
    if request.settings_only {
        for file in &mut files {
            file.entries.clear();
        }
    }
    let merged = merge(&files, precedence);
    request.checked(&merged.keys)?;
    let last_named = files
        .iter()
        .rfind(|file| file.role == Role::Named && file.format == Format::Ours)
        .map(|file| file.path.to_path_buf());
    let (mut entries, mut notes) = (merged.entries, merged.notes);
    // Nobody else reads the approvals: a start without project files does nothing more.
    if entries.iter().any(|entry| !entry.trusted) {
        match approvals(environment) {
            Ok(approvals) => {
                for entry in entries.iter_mut().filter(|entry| !entry.trusted) {
                    entry.trusted = approvals.holds_for(entry);
                }
            }
            Err(error) => notes.push(Note::NoApprovals {
                reason: error.to_string().into(),
            }),
        }
    }
    Ok(Loaded {
        settings: merged.settings,
        keys: merged.keys,
        entries,
        notes,
        files: files.into_iter().map(FileInUse::from).collect(),
        places: wanted.into_iter().map(|(path, _)| path).collect(),
        write_path: last_named.or_else(|| default_path(environment)),
        environment: environment.clone(),
    })
}

/// Reads the file of a theme, where the settings name one.
///
/// # Errors
///
/// [`ConfigError`] where the file cannot be read or used.
pub fn load_theme(settings: &Settings) -> Result<Option<ThemeFile>, ConfigError> {
    let path = Path::new(&settings.theme);
    if path.extension().is_none() {
        return Ok(None);
    }
    let text = refuse_special(path).and_then(|()| read_text(path, LONGEST_THEME));
    let text = text.map_err(|error| ConfigError::Unreadable {
        file: path.into(),
        reason: io_reason(&error).into(),
    })?;
    Ok(Some(theme::read(path, &text)?))
}

/// Each place that [`load`] looks at, with what is there or why it cannot be used: one file that
/// is wrong does not hide the others.
#[must_use]
pub fn inspect(request: &LoadRequest) -> Vec<Inspected> {
    let (wanted, _) = wanted_files(request);
    let inspected = wanted.into_iter().map(|(path, role)| Inspected {
        file: read_one(&path, role, &request.environment),
        path,
        role,
    });
    inspected.collect()
}

/// Where a new server is written, as [`Loaded::write_path`], also where a file cannot be used.
#[must_use]
pub fn write_path(request: &LoadRequest) -> Option<PathBuf> {
    let ours = inspect(request).into_iter().rfind(|inspected| {
        let file = inspected.file.as_ref();
        let is_ours = file.map_or(true, |file| {
            file.as_ref()
                .is_some_and(|file| file.format == Format::Ours)
        });
        inspected.role == Role::Named && is_ours
    });
    ours.map(|inspected| inspected.path)
        .or_else(|| default_path(&request.environment))
}

/// The places that are looked at, in config order, and which of two files wins.
fn wanted_files(request: &LoadRequest) -> (Vec<(PathBuf, Role)>, Precedence) {
    let named = named_files(request);
    if named.is_empty() {
        (default_files(request), Precedence::FirstWins)
    } else {
        let named = named.into_iter().map(|path| (path, Role::Named));
        (named.collect(), Precedence::LastWins)
    }
}

fn named_files(request: &LoadRequest) -> Vec<PathBuf> {
    if request.files.is_empty() {
        request
            .environment
            .path("MCPDECK_CONFIG")
            .into_iter()
            .collect()
    } else {
        request.files.clone()
    }
}

fn default_files(request: &LoadRequest) -> Vec<(PathBuf, Role)> {
    let environment = &request.environment;
    let user = default_path(environment).map(|path| (path, Role::User));
    let foreign = (!request.settings_only).then_some(FOREIGN_PROJECT_FILE);
    let project = std::iter::once(PROJECT_FILE).chain(foreign);
    let project = project.map(|name| (environment.cwd().join(name), Role::Project));
    user.into_iter().chain(project).collect()
}

/// Reads the file; `None` where it is missing and need not be there.
fn read_one(
    path: &Path,
    role: Role,
    environment: &Environment,
) -> Result<Option<ConfigFile>, ConfigError> {
    // A relative path counts from the working directory that the environment was read with.
    let place = environment.cwd().join(path);
    // Whoever names a pipe wants it to be read; one that lies in a folder may never end.
    let regular = match role {
        Role::Named => Ok(()),
        _ => refuse_special(&place),
    };
    let text = match regular.and_then(|()| read_text(&place, LONGEST_FILE)) {
        Ok(text) => text,
        Err(error) if role != Role::Named && is_missing(&error) => return Ok(None),
        Err(error) => {
            return Err(ConfigError::Unreadable {
                file: path.into(),
                reason: io_reason(&error).into(),
            });
        }
    };
    let input = FileInput {
        path,
        text: &text,
        role,
        environment,
    };
    read(input).map(Some)
}

pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Reads an `env_file`, for [`crate::config::resolve`].
///
/// # Errors
///
/// What the system says, or that the file is no text or far too long.
pub fn read_env_file(path: &Path) -> io::Result<String> {
    refuse_special(path)?;
    read_text(path, 1 << 20)
}

/// A pipe or a device is no file that anybody has written: reading it may never end.
pub(super) fn refuse_special(path: &Path) -> io::Result<()> {
    let kind = std::fs::metadata(path)?;
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    Err(io::Error::other("it is no regular file"))
}

pub(super) fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(longest + 1);
    file.read_to_string(&mut text).map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            io::Error::new(error.kind(), "the file is not valid UTF-8")
        } else {
            error
        }
    })?;
    if file.limit() == 0 {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the file is too long",
        ));
    }
    Ok(text)
}

impl From<ConfigFile> for FileInUse {
    fn from(file: ConfigFile) -> Self {
        Self {
            path: file.path,
            role: file.role,
            format: file.format,
            ignored: file.ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A home, a working directory, and the files in them.
    struct Place {
        folder: tempfile::TempDir,
        variables: Vec<(&'static str, PathBuf)>,
    }

    impl Place {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["home", "cwd"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let variables = Vec::new();
            Self { folder, variables }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn request(&self, files: &[&str]) -> LoadRequest {
            let variables = self.variables.iter();
            let variables = variables.map(|(name, value)| ((*name).into(), value.clone().into()));
            LoadRequest {
                files: files.iter().map(PathBuf::from).collect(),
                settings_only: false,
                check_keys: |_| None,
                environment: Environment::new(variables, Some(self.path("home")), self.path("cwd")),
            }
        }

        fn servers(&self, files: &[&str]) -> Result<String, String> {
            let loaded = load(&self.request(files)).map_err(|error| error.one_line())?;
            let names = loaded.entries.iter().map(|entry| {
                let target = entry.definition.as_ref().unwrap().target();
                format!(
                    "{}={target}{}",
                    entry.name,
                    if entry.trusted { "" } else { "?" }
                )
            });
            Ok(names.collect::<Vec<_>>().join(" "))
        }
    }

    const USER: &str = "home/.config/mcpdeck/config.toml";

    #[test]
    fn without_any_file_there_is_nothing() {
        let place = Place::new(&[]);
        let loaded = load(&place.request(&[])).unwrap();
        assert_eq!(loaded.settings, Settings::default());
        assert!(loaded.entries.is_empty() && loaded.files.is_empty());
        assert_eq!(loaded.write_path, Some(place.path(USER)));
        assert_eq!(loaded.places.len(), 3);
    }

    #[test]
    fn the_default_files_are_found_and_ranked() {
        let place = Place::new(&[
            (USER, "servers.a = { command = 'user' }"),
            (
                "cwd/.mcpdeck.toml",
                "servers.a = { command = 'ours' }\nservers.b = { command = 'ours' }",
            ),
            (
                "cwd/.mcp.json",
                r#"{"mcpServers": {"b": {"command": "json"}, "c": {"command": "json"}}}"#,
            ),
        ]);
        assert_eq!(place.servers(&[]).unwrap(), "a=user b=ours? c=json?");
        let notes = load(&place.request(&[])).unwrap().notes;
        assert_eq!(notes.len(), 2);
        // A project file that is named is trusted.
        assert_eq!(place.servers(&[".mcp.json"]).unwrap(), "b=json c=json");
    }

    #[test]
    fn xdg_and_the_variable_are_honoured() {
        let mut place = Place::new(&[
            (USER, "servers.a = { command = 'home' }"),
            ("xdg/mcpdeck/config.toml", "servers.a = { command = 'xdg' }"),
            ("named.toml", "servers.a = { command = 'variable' }"),
        ]);
        place.variables.push(("XDG_CONFIG_HOME", "relative".into()));
        assert_eq!(place.servers(&[]).unwrap(), "a=home");
        place.variables = vec![("XDG_CONFIG_HOME", place.path("xdg"))];
        assert_eq!(place.servers(&[]).unwrap(), "a=xdg");
        place
            .variables
            .push(("MCPDECK_CONFIG", place.path("named.toml")));
        assert_eq!(place.servers(&[]).unwrap(), "a=variable");
    }

    #[test]
    fn of_named_files_the_last_wins_and_takes_new_servers() {
        let place = Place::new(&[
            (
                "cwd/1.toml",
                "servers.a = { command = '1' }\n[settings]\nmouse = false",
            ),
            ("cwd/2.toml", "servers.a = { command = '2' }"),
            ("cwd/3.json", r#"{"servers": {"b": {"command": "3"}}}"#),
        ]);
        let names = ["1.toml", "2.toml", "3.json"];
        assert_eq!(place.servers(&names).unwrap(), "a=2 b=3");
        let loaded = load(&place.request(&names)).unwrap();
        assert_eq!(loaded.write_path, Some("2.toml".into()));
        let request = LoadRequest {
            settings_only: true,
            ..place.request(&names)
        };
        let loaded = load(&request).unwrap();
        assert!(loaded.entries.is_empty() && loaded.notes.is_empty());
        assert!(!loaded.settings.mouse);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_an_error() {
        let place = Place::new(&[("cwd/bad.toml", "a ="), ("cwd/folder/x", "")]);
        fs::write(place.path("cwd/latin.toml"), b"\xff").unwrap();
        let check = |file: &str, expected: &str| {
            let error = place.servers(&[file]).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        check("no.toml", "no.toml: no such file or directory");
        check("bad.toml", "bad.toml:1:4: ");
        check("folder", "folder: ");
        check("latin.toml", "latin.toml: the file is not valid UTF-8");
        let place = Place::new(&[(USER, "[setings]")]);
        assert!(
            place
                .servers(&[])
                .unwrap_err()
                .contains("config.toml:1:2: unknown key `setings`")
        );
    }
}
