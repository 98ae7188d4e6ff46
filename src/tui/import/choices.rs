//! Which of the servers that were found are to be copied.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::listing::{Line, Listing, can_be_chosen, has_secret};
use super::window::Window;
use crate::app::import::{Found, How, State};
use crate::config::import::Candidate;
use crate::domain::ServerName;

/// What was found, and which of it is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// What was found.
    pub listing: Arc<Listing>,
    /// Whether variables are to take the place of secrets in plain text.
    pub to_variables: bool,
    /// The selected line among those shown.
    pub window: Window,
    /// The chosen lines: of one name never two.
    chosen: BTreeSet<usize>,
    needle: String,
    /// The lines that the needle leaves.
    shown: Vec<usize>,
}

/// What would be done to a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'a> {
    /// The file.
    pub file: &'a Path,
    /// How many servers are added to it.
    pub added: usize,
    /// The servers in it that others take the place of.
    pub replaced: Vec<&'a ServerName>,
}

impl Choices {
    /// Everything new is chosen.
    #[must_use]
    pub fn new(listing: Arc<Listing>) -> Self {
        let mut names = BTreeSet::new();
        let is_first_new = |line: &usize| {
            let found = listing.found(*line);
            found.is_some_and(|found| {
                found.state == State::New && names.insert(&found.candidate.name)
            })
        };
        let chosen = (0..listing.len()).filter(is_first_new).collect();
        // Below the first heading.
        let window = Window {
            cursor: usize::from(!listing.is_empty()),
            ..Window::default()
        };
        Self {
            shown: listing.with(&[]),
            chosen,
            to_variables: false,
            window,
            needle: String::new(),
            listing,
        }
    }

    /// How many lines are shown.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether no line is shown.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The number of the line at a place among those shown.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<usize> {
        self.shown.get(place).copied()
    }

    /// The selected line.
    #[must_use]
    pub fn selected(&self) -> Option<Line<'_>> {
        self.listing.line(self.at(self.window.cursor)?)
    }

    /// Whether the line is chosen.
    #[must_use]
    pub fn is_chosen(&self, line: usize) -> bool {
        self.chosen.contains(&line)
    }

    /// The text of the filter; empty: none.
    #[must_use]
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// Shows only lines that have all words of the needle. The cursor stays on its line if that
    /// is still shown.
    pub fn set_needle(&mut self, needle: &str) {
        if needle == self.needle {
            return;
        }
        let selected = self.at(self.window.cursor);
        needle.clone_into(&mut self.needle);
        let needle = needle.to_lowercase();
        let words: Vec<&str> = needle.split_whitespace().collect();
        self.shown = self.listing.with(&words);
        let place = selected.and_then(|line| self.shown.binary_search(&line).ok());
        self.window.select(place.unwrap_or(0), self.shown.len());
    }

    /// Chooses the selected line, or no longer; of a file, all that is shown of it.
    ///
    /// # Errors
    ///
    /// Why it cannot be chosen.
    pub fn toggle(&mut self) -> Result<(), String> {
        let Some(line) = self.at(self.window.cursor) else {
            return Ok(());
        };
        match self.listing.line(line) {
            Some(Line::Server(_, found)) if !can_be_chosen(found) => {
                let name = &found.candidate.name;
                Err(format!("you have the same {name} already"))
            }
            Some(Line::Server(..)) => {
                if !self.chosen.remove(&line) {
                    self.choose(&[line]);
                }
                Ok(())
            }
            Some(Line::LeftOut(_, out)) => {
                Err(format!("{} cannot be imported: {}", out.name, out.reason))
            }
            Some(Line::Source(_) | Line::Broken(_)) => self.toggle_source(),
            Some(Line::LookedAt(_)) | None => Ok(()),
        }
    }

    /// Whether [`Choices::toggle`] does something on the selected line.
    #[must_use]
    pub fn can_toggle(&self) -> bool {
        match self.selected() {
            Some(Line::Server(_, found)) => can_be_chosen(found),
            Some(Line::Source(_) | Line::Broken(_)) => self.can_toggle_source(),
            Some(Line::LeftOut(..) | Line::LookedAt(_)) | None => false,
        }
    }

    /// Whether [`Choices::toggle_source`] does something on the selected line.
    #[must_use]
    pub fn can_toggle_source(&self) -> bool {
        !self.of_source().is_empty()
    }

    /// What is shown of the selected line's file and can be chosen.
    fn of_source(&self) -> Vec<usize> {
        let line = self.at(self.window.cursor);
        let Some(source) = line.and_then(|line| self.listing.source_of(line)) else {
            return Vec::new();
        };
        let is_of_it = |line: &usize| {
            let found = self.listing.found(*line);
            self.listing.source_of(*line) == Some(source) && found.is_some_and(can_be_chosen)
        };
        self.shown.iter().copied().filter(is_of_it).collect()
    }

    /// Chooses all that is shown of the selected line's file; nothing of it where all is chosen.
    ///
    /// # Errors
    ///
    /// Why nothing of it can be chosen.
    pub fn toggle_source(&mut self) -> Result<(), String> {
        let lines = self.of_source();
        if lines.is_empty() {
            return Err("nothing of it can be chosen".to_owned());
        }
        if lines.iter().all(|line| self.is_chosen(*line)) {
            self.chosen
                .retain(|line| lines.binary_search(line).is_err());
        } else {
            self.choose(&lines);
        }
        Ok(())
    }

    /// Chooses the lines, in the place of others of their names.
    fn choose(&mut self, lines: &[usize]) {
        let listing = Arc::clone(&self.listing);
        let name = |line: &usize| Some(&listing.found(*line)?.candidate.name);
        let mut names = BTreeSet::new();
        let first: Vec<usize> = lines
            .iter()
            .copied()
            .filter(|line| names.insert(name(line)))
            .collect();
        self.chosen.retain(|other| !names.contains(&name(other)));
        self.chosen.extend(first);
    }

    /// The chosen ones.
    pub fn chosen(&self) -> impl Iterator<Item = &Found> {
        self.chosen
            .iter()
            .filter_map(|line| self.listing.found(*line))
    }

    /// What is to be copied, and how.
    #[must_use]
    pub fn order(&self) -> (Vec<Candidate>, How) {
        let candidates = self.chosen().map(|found| found.candidate.clone());
        let how = How {
            // Where one is chosen that is different, it was said that it replaces ours.
            replace: self.chosen().any(|found| found.state == State::Different),
            secrets_to_env: self.to_variables,
            dry_run: false,
        };
        (candidates.collect(), how)
    }

    /// How many of the chosen have a secret in plain text.
    #[must_use]
    pub fn secrets(&self) -> usize {
        self.chosen().filter(|found| has_secret(found)).count()
    }

    /// What would be done to which file.
    #[must_use]
    pub fn changes(&self) -> Vec<Change<'_>> {
        let mut changes: Vec<Change<'_>> = Vec::new();
        for found in self.chosen() {
            let replaced = (found.state == State::Different).then_some(&found.candidate.name);
            let ours = replaced.and(found.ours.as_deref());
            let Some(file) = ours.or(self.listing.findings.target.as_deref()) else {
                continue;
            };
            let place = changes.iter().position(|change| change.file == file);
            let place = place.unwrap_or_else(|| {
                changes.push(Change {
                    file,
                    added: 0,
                    replaced: Vec::new(),
                });
                changes.len() - 1
            });
            let change = &mut changes[place];
            change.added += usize::from(replaced.is_none());
            change.replaced.extend(replaced);
        }
        changes
    }

    /// The words of the other files that define a server of this name.
    #[must_use]
    pub fn others(&self, found: &Found) -> Vec<String> {
        let sources = self.listing.findings.sources.iter();
        let others = sources.filter(|source| {
            let mut servers = source.servers.iter();
            servers.any(|other| {
                other.candidate.name == found.candidate.name && !std::ptr::eq(other, found)
            })
        });
        others.map(crate::app::import::Source::word).collect()
    }
}
