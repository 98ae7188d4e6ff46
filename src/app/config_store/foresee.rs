//! What the files would say after an edit that is not made yet.

use std::path::Path;

use super::write::{StoreError, io_error, link_target};
use super::{LONGEST_FILE, Loaded, is_missing, read_text};
use crate::config::edit::{Edit, edit};
use crate::config::{Entry, FileInput, Role, read};

/// The entry of the server that the edit adds to the file, as it will be read from there.
///
/// # Errors
///
/// [`StoreError`] where the edit could not be made in the file as it is.
pub fn foresee(loaded: &Loaded, path: &Path, change: &Edit) -> Result<Option<Entry>, StoreError> {
    let environment = &loaded.environment;
    let old = match read_text(&link_target(&environment.cwd().join(path)), LONGEST_FILE) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => String::new(),
        Err(error) => return Err(io_error(path, &error)),
    };
    let role = |file: &&super::FileInUse| *file.path == *path;
    let input = |text| FileInput {
        path,
        text,
        role: loaded
            .files
            .iter()
            .find(role)
            .map_or(Role::User, |file| file.role),
        environment,
    };
    // What is wrong with the file is told with its line.
    read(input(&old)).map_err(StoreError::Config)?;
    let edited = edit(&old, change).map_err(|error| StoreError::Edit {
        file: path.to_owned(),
        error,
    })?;
    let file = read(input(&edited.text)).map_err(StoreError::Config)?;
    let mut entries = file.entries.into_iter();
    let entry = entries.find(|entry| entry.name == *change.name());
    Ok(entry.map(|entry| Entry {
        inherit_env: loaded.settings.inherit_env,
        ..entry
    }))
}
