//! Several files together: one ordered list of servers, the settings, the key lists.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::entry::Entry;
use super::file::{ConfigFile, Role};
use super::keys::Keys;
use crate::domain::{ServerName, Settings};

/// Which of two files wins where both say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The later one: files named with `--config`.
    LastWins,
    /// The earlier one: the user's file over those of the project.
    FirstWins,
}

/// Something about the files that a person should know, and that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A definition that another one of the same name hides.
    Hidden {
        /// The server.
        name: ServerName,
        /// The file with the definition that is hidden.
        hidden_in: Arc<Path>,
        /// The file with the definition that counts.
        by: Arc<Path>,
    },
    /// A project file that would give every server our whole environment.
    ProjectInheritsEnv {
        /// The file.
        file: Arc<Path>,
    },
    /// The approvals of project files cannot be read, so that none holds.
    NoApprovals {
        /// Why, with the name of the file.
        reason: Arc<str>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hidden {
                name,
                hidden_in,
                by,
            } => write!(
                f,
                "server \"{name}\" of {} is hidden by the one of {}",
                hidden_in.display(),
                by.display()
            ),
            Self::ProjectInheritsEnv { file } => write!(
                f,
                "inherit_env in [settings] of {} is ignored: a project file cannot pass on the environment",
                file.display()
            ),
            Self::NoApprovals { reason } => {
                write!(f, "no approval of a project file holds: {reason}")
            }
        }
    }
}

/// What several files say together.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// The settings.
    pub settings: Settings,
    /// The key lists.
    pub keys: Keys,
    /// The servers in config order: that of the files, then that in the file. A definition that
    /// wins over an earlier one takes the place of the first.
    pub entries: Vec<Entry>,
    /// What a person should know.
    pub notes: Vec<Note>,
}

/// Puts the files together.
#[must_use]
pub fn merge(files: &[ConfigFile], precedence: Precedence) -> Merged {
    let mut merged = Merged::default();
    // Settings and keys are laid over each other, the winner last.
    let by_rank: Vec<&ConfigFile> = match precedence {
        Precedence::LastWins => files.iter().collect(),
        Precedence::FirstWins => files.iter().rev().collect(),
    };
    for file in by_rank {
        let mut patch = file.settings.clone();
        // What is started is approved server by server; a setting would change all of them.
        if file.role == Role::Project && patch.inherit_env.take() == Some(true) {
            let file = Arc::clone(&file.path);
            merged.notes.push(Note::ProjectInheritsEnv { file });
        }
        patch.apply(&mut merged.settings);
        merged.keys.override_with(&file.keys);
    }
    let mut places: HashMap<ServerName, (usize, Arc<Path>)> = HashMap::new();
    for file in files {
        for entry in &file.entries {
            let mut entry = entry.clone();
            entry.inherit_env = merged.settings.inherit_env;
            let Some((place, winner)) = places.get_mut(&entry.name) else {
                let place = (merged.entries.len(), Arc::clone(&file.path));
                places.insert(entry.name.clone(), place);
                merged.entries.push(entry);
                continue;
            };
            let mut loser = Arc::clone(&file.path);
            let name = entry.name.clone();
            if precedence == Precedence::LastWins {
                merged.entries[*place] = entry;
                std::mem::swap(winner, &mut loser);
            }
            merged.notes.push(Note::Hidden {
                name,
                hidden_in: loser,
                by: Arc::clone(winner),
            });
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, FileInput, read};

    fn file(path: &str, role: Role, text: &str) -> ConfigFile {
        let environment = Environment::new([], None, "/".into());
        let path = Path::new(path);
        let input = FileInput {
            path,
            text,
            role,
            environment: &environment,
        };
        read(input).unwrap()
    }

    fn targets(merged: &Merged) -> Vec<String> {
        let entries = merged.entries.iter();
        let shown = entries.map(|entry| {
            format!(
                "{}={}",
                entry.name,
                entry.definition.as_ref().unwrap().target()
            )
        });
        shown.collect()
    }

    const ONE: &str = "[settings]\nmouse = false\nascii = true\n[keys]\nquit = ['x']\n[servers.a]\ncommand = 'a1'\n[servers.b]\ncommand = 'b1'\n";
    const TWO: &str = "[settings]\nmouse = true\ninherit_env = true\n[keys]\nquit = ['y']\nhelp = ['h']\n[servers.c]\ncommand = 'c2'\n[servers.a]\ncommand = 'a2'\n";

    #[test]
    fn of_named_files_the_last_wins_at_the_first_place() {
        let files = [
            file("1.toml", Role::Named, ONE),
            file("2.toml", Role::Named, TWO),
        ];
        let merged = merge(&files, Precedence::LastWins);
        assert_eq!(targets(&merged), ["a=a2", "b=b1", "c=c2"]);
        let note = merged.notes[0].to_string();
        assert_eq!(
            note,
            "server \"a\" of 1.toml is hidden by the one of 2.toml"
        );
        assert!(merged.settings.mouse && merged.settings.ascii && merged.settings.inherit_env);
        assert!(merged.entries[0].inherit_env);
        assert_eq!(merged.keys.of("quit").unwrap().keys[0].text(), "y");
    }

    #[test]
    fn the_users_file_wins_over_the_project() {
        let files = [
            file("u.toml", Role::User, ONE),
            file("p.toml", Role::Project, TWO),
        ];
        let merged = merge(&files, Precedence::FirstWins);
        assert_eq!(targets(&merged), ["a=a1", "b=b1", "c=c2"]);
        let notes: Vec<String> = merged.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("inherit_env in [settings] of p.toml is ignored"));
        assert_eq!(
            notes[1],
            "server \"a\" of p.toml is hidden by the one of u.toml"
        );
        assert!(!merged.settings.mouse && !merged.settings.inherit_env);
        assert_eq!(merged.keys.of("quit").unwrap().keys[0].text(), "x");
        assert_eq!(merged.keys.of("help").unwrap().keys[0].text(), "h");
        let trusted: Vec<bool> = merged.entries.iter().map(|entry| entry.trusted).collect();
        assert_eq!(trusted, [true, true, false]);
    }
}
