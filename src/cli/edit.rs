//! `mcpdeck add`, `remove`, `enable` and `disable`: edits of the config file, without a question.

use std::path::{Path, PathBuf};

use super::args::Args;
use super::exit::Exit;
use super::run::{complain, given, load_chosen, load_request, not_found, quoted, refuse_adhoc};
use crate::app::config_store::{Loaded, Outcome, StoreError, apply};
use crate::config::edit::{Edit, EditError};
use crate::config::{Entry, adhoc};
use crate::domain::{ServerName, text};

/// What is done to a server that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Taken out.
    Remove,
    /// Switched on.
    Enable,
    /// Switched off.
    Disable,
}

/// Adds a server to the config file.
pub fn add(args: &Args, name: &str) -> Exit {
    if !args.global.server.is_empty() {
        return usage("--server chooses among configured servers; add makes a new one");
    }
    let name = match ServerName::new(name) {
        Ok(name) => name,
        Err(error) => return usage(&error.to_string()),
    };
    let definition = match adhoc::definition(&given(args)) {
        Ok(definition) => definition,
        Err(error) => return usage(&error.to_string()),
    };
    let loaded = match load_chosen(args) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    if let Some(there) = find(&loaded, name.as_str()) {
        let is_ours = there.origin.as_ref().is_some_and(|origin| origin.editable);
        let or = if is_ours {
            format!(", or first: mcpdeck remove {}", quoted(&name))
        } else {
            String::new()
        };
        return usage(&format!(
            "server \"{name}\" is there already, in {}; take another name{or}",
            place_of(there)
        ));
    }
    let Some(path) = loaded.write_path.clone() else {
        return usage("there is no home folder; name a file with --config");
    };
    let change = Edit::Add {
        name: name.clone(),
        definition: Box::new(definition),
        enabled: true,
    };
    write(args, &path, &change, &loaded, &format!("added {name} to"))
}

/// Changes a server in the file that defines it.
pub fn change(args: &Args, name: &str, change: Change) -> Exit {
    if let Some(exit) = refuse_adhoc(args) {
        return exit;
    }
    let loaded = match load_chosen(args) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let Some(entry) = find(&loaded, name) else {
        complain(&not_found(name, &loaded));
        return Exit::NotFound;
    };
    let Some(origin) = &entry.origin else {
        return usage(&format!("{name} is written in no file"));
    };
    if !origin.editable {
        return usage(&format!(
            "{} is another tool's file, which mcpdeck only reads; {name} stays as it is; \
             copy it to a config file of mcpdeck with: mcpdeck import {}",
            origin.file.display(),
            text::literal_word(&origin.file.to_string_lossy())
        ));
    }
    let path: PathBuf = origin.file.clone();
    let name = entry.name.clone();
    let (edit, done) = match change {
        Change::Remove => (Edit::Remove { name: name.clone() }, "removed"),
        Change::Enable => (enabled(&name, true), "enabled"),
        Change::Disable => (enabled(&name, false), "disabled"),
    };
    let preposition = if change == Change::Remove {
        "from"
    } else {
        "in"
    };
    write(
        args,
        &path,
        &edit,
        &loaded,
        &format!("{done} {name} {preposition}"),
    )
}

fn enabled(name: &ServerName, enabled: bool) -> Edit {
    Edit::SetEnabled {
        name: name.clone(),
        enabled,
    }
}

/// Makes the edit, and says on stderr what was done where.
fn write(args: &Args, path: &Path, change: &Edit, loaded: &Loaded, done: &str) -> Exit {
    match apply(path, change, &load_request(args, false)) {
        Ok(Outcome::Written { .. } | Outcome::Unchanged) => {
            if !args.global.quiet {
                complain(&format!("{done} {}", path.display()));
                if let Edit::Remove { name } = change {
                    say_uncovered(name, loaded);
                }
            }
            Exit::Success
        }
        Ok(Outcome::ThisRunOnly { reason }) => usage(&reason),
        Err(StoreError::Edit {
            error: EditError::NoSuchServer(name),
            ..
        }) => {
            complain(&format!(
                "server \"{name}\" is no longer in {}",
                path.display()
            ));
            Exit::NotFound
        }
        Err(error) => usage(&error.to_string()),
    }
}

/// After a removal the definition that was hidden counts again.
fn say_uncovered(name: &ServerName, loaded: &Loaded) {
    if let Some(file) = loaded.hidden(name) {
        complain(&format!("the entry in {} will apply again", file.display()));
    }
}

fn find<'a>(loaded: &'a Loaded, name: &str) -> Option<&'a Entry> {
    let mut entries = loaded.entries.iter();
    entries.find(|entry| entry.name.as_str() == name)
}

fn place_of(entry: &Entry) -> String {
    entry.origin.as_ref().map_or_else(String::new, |origin| {
        format!("{}:{}", origin.file.display(), origin.line)
    })
}

fn usage(message: &str) -> Exit {
    complain(message);
    Exit::Usage
}
