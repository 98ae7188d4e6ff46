//! The approvals in the state folder: read at a start where a project file asks for it, and
//! changed under the lock.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, Local, SecondsFormat};

use super::write::{StoreError, io_error, lock, replace};
use super::{LONGEST_FILE, is_missing, read_text, state_folder};
use crate::config::{Approval, Approvals, Entry, Environment};

/// Where the approvals are. A folder of their own: who watches it is not woken by the log.
#[must_use]
pub fn approvals_path(environment: &Environment) -> Option<PathBuf> {
    let folder = state_folder(environment)?;
    Some(folder.join("trust").join("approvals.json"))
}

/// The approvals; none where there is no file.
///
/// # Errors
///
/// The file cannot be read, or is none of ours.
pub fn approvals(environment: &Environment) -> Result<Approvals, StoreError> {
    let Some(path) = approvals_path(environment) else {
        return Ok(Approvals::default());
    };
    let text = match read_text(&path, LONGEST_FILE) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => return Ok(Approvals::default()),
        Err(error) => return Err(io_error(&path, &error)),
    };
    Approvals::parse(&text).map_err(|reason| StoreError::Io {
        file: path,
        reason: reason.into(),
    })
}

/// Approves the definition, for this and all later runs.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn approve(entry: &Entry, environment: &Environment) -> Result<(), StoreError> {
    let now = DateTime::<Local>::from(SystemTime::now());
    let now = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    change(environment, |approvals| {
        approvals.approve(entry, now.clone());
    })
}

/// Takes approvals of the name back: those of one file, or all. Returns which.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn revoke(
    name: &str,
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Vec<Approval>, StoreError> {
    change(environment, |approvals| approvals.revoke(name, file))
}

fn change<T>(
    environment: &Environment,
    change: impl Fn(&mut Approvals) -> T,
) -> Result<T, StoreError> {
    let Some(path) = approvals_path(environment) else {
        return Err(StoreError::Io {
            file: PathBuf::from("approvals.json"),
            reason: "there is no home folder to keep it in".into(),
        });
    };
    let wrong = |error: io::Error| io_error(&path, &error);
    let _lock = lock(&path, environment).map_err(wrong)?;
    // Under the lock nobody but a person with an editor writes in between.
    loop {
        let mut list = approvals(environment)?;
        let old = match read_text(&path, LONGEST_FILE) {
            Ok(text) => Some(text),
            Err(error) if is_missing(&error) => None,
            Err(error) => return Err(wrong(error)),
        };
        let result = change(&mut list);
        let text = list.to_text();
        let unchanged = match &old {
            Some(old) => *old == text,
            None => list.iter().next().is_none(),
        };
        if unchanged || replace(&path, old.as_deref(), &text).map_err(wrong)? {
            return Ok(result);
        }
    }
}
