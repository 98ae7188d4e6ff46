//! What became of the servers that were to be copied, and what is left to do.

use std::path::{Path, PathBuf};

use super::window::Window;
use crate::app::import::{Copied, How};
use crate::config::import::{Candidate, LiteralSecret};
use crate::domain::{ServerName, text};
use crate::tui::format;

/// The result, line by line: what failed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The lines.
    pub lines: Vec<Told>,
    /// The selected line.
    pub window: Window,
    /// In a sentence.
    pub summary: String,
    /// How many columns the widest name takes.
    pub name_columns: usize,
    /// Whether the new servers start in this run.
    pub followed: bool,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// It is in the file.
    Done(ServerName, &'static str, PathBuf),
    /// It is not, and why.
    Not(ServerName, &'static str, String),
    /// What to know or to do about the one above.
    Remark(String),
}

impl Outcome {
    /// What is to be told of the servers.
    #[must_use]
    pub fn new(
        copied: &[(ServerName, Copied)],
        chosen: &[Candidate],
        how: How,
        (home, followed): (Option<&Path>, bool),
    ) -> Self {
        let mut lines = Vec::new();
        let mut failed = Vec::new();
        let (mut added, mut replaced) = (0, 0);
        for (name, copied) in copied {
            let (word, file) = match copied {
                Copied::Added(file) => {
                    added += 1;
                    ("added", file)
                }
                Copied::Replaced(file) => {
                    replaced += 1;
                    ("replaced", file)
                }
                copied => {
                    let (word, why) = why_not(copied);
                    failed.push(Told::Not(name.clone(), word, why));
                    continue;
                }
            };
            lines.push(Told::Done(name.clone(), word, file.clone()));
            if let Some(candidate) = chosen.iter().find(|candidate| candidate.name == *name) {
                lines.extend(remarks(candidate, how, home).map(Told::Remark));
            }
        }
        let summary = summary(added, replaced, failed.len());
        failed.append(&mut lines);
        let names = copied.iter().map(|(name, _)| text::width(name.as_str()));
        Self {
            name_columns: names.max().unwrap_or(0),
            lines: failed,
            window: Window::default(),
            summary,
            followed,
        }
    }
}

fn summary(added: usize, replaced: usize, failed: usize) -> String {
    let mut parts = Vec::new();
    for (count, word) in [
        (added, "added"),
        (replaced, "replaced"),
        (failed, "not imported"),
    ] {
        if count > 0 {
            parts.push(format!("{} {word}", format::grouped(count)));
        }
    }
    parts.join(", ")
}

/// Why it is not in the file.
fn why_not(copied: &Copied) -> (&'static str, String) {
    match copied {
        Copied::Unchanged => ("equal", "you have the same already".to_owned()),
        Copied::Different => (
            "skipped",
            "there is another one of this name by now; scan again to see it".to_owned(),
        ),
        Copied::Ambiguous => (
            "skipped",
            "two files define it differently; choose one".to_owned(),
        ),
        Copied::Failed(reason) => ("failed", reason.to_string()),
        Copied::Added(_) | Copied::Replaced(_) => ("", String::new()),
    }
}

/// What a person has to know of a server that was copied.
fn remarks<'a>(
    candidate: &'a Candidate,
    how: How,
    home: Option<&'a Path>,
) -> impl Iterator<Item = String> + 'a {
    let secrets = candidate.secrets.iter().map(move |secret| {
        let place = place(candidate, secret, home);
        if how.secrets_to_env {
            let variable = &secret.variable;
            format!("set the environment variable {variable}; its value stands in {place}")
        } else {
            format!("a secret stands in plain text in {place} and was copied")
        }
    });
    candidate.remarks.iter().cloned().chain(secrets)
}

/// Where the secret stands: file, line and what it is the value of.
#[must_use]
pub fn place(candidate: &Candidate, secret: &LiteralSecret, home: Option<&Path>) -> String {
    let file = format::path(&candidate.file, home);
    let line = secret.line.unwrap_or(candidate.line);
    format!("{file}:{line} ({})", secret.place)
}
