//! What the configuration may know of the process: its variables, home and working directory.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The environment of the process, as it was when it was read. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    variables: Arc<[(OsString, OsString)]>,
    home: Option<Arc<Path>>,
    cwd: Arc<Path>,
}

/// A variable that cannot be used as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUnicode;

impl Environment {
    /// An environment of these variables, home folder and working directory.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        home: Option<PathBuf>,
        cwd: PathBuf,
    ) -> Self {
        Self {
            variables: variables.into_iter().collect(),
            home: home.map(Into::into),
            cwd: cwd.into(),
        }
    }

    /// The variable as the system has it.
    #[must_use]
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .iter()
            .find(|(key, _)| same_name(key, name))
            .map(|(_, value)| value.as_os_str())
    }

    /// The variable as text; `None` where it is not set.
    ///
    /// # Errors
    ///
    /// [`NotUnicode`] where its value is no valid Unicode.
    pub fn var(&self, name: &str) -> Result<Option<&str>, NotUnicode> {
        self.var_os(name)
            .map(|value| value.to_str().ok_or(NotUnicode))
            .transpose()
    }

    /// The variable as a path, where it is set and not empty.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }

    /// Every variable.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The home folder.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The working directory, shared.
    #[must_use]
    pub fn shared_cwd(&self) -> Arc<Path> {
        Arc::clone(&self.cwd)
    }
}

/// Values of variables are often secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.len())
            .field("home", &self.home)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// On Windows the names of variables have no case.
fn same_name(key: &OsStr, name: &str) -> bool {
    if cfg!(windows) {
        key.eq_ignore_ascii_case(name)
    } else {
        key == name
    }
}
