//! What was found of other tools, line by line: each file, below it its servers, and what of it
//! cannot be taken over.

use crate::app::import::{Found, Source};
use crate::app::manager::Findings;
use crate::config::import::{LeftOut, Tool};
use crate::domain::text;
use crate::tui::rows::contains_ignoring_case;

/// All lines. It is made beside the deck, since there may be thousands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// What was found.
    pub findings: Findings,
    /// Where each line of it comes from.
    lines: Vec<Place>,
    /// How many columns the widest name takes.
    pub name_columns: usize,
    /// Whether a secret stands in plain text in a server that can be chosen.
    pub has_secrets: bool,
}

/// Where a line comes from: places in the lists of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Source(usize),
    Broken(usize),
    Server(usize, usize),
    LeftOut(usize, usize),
    LookedAt(usize),
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub enum Line<'a> {
    /// The heading of a file.
    Source(&'a Source),
    /// The file cannot be read.
    Broken(&'a Source),
    /// A server of the file.
    Server(&'a Source, &'a Found),
    /// A server of the file that is not taken over.
    LeftOut(&'a Source, &'a LeftOut),
    /// Nothing at all was found, here neither.
    LookedAt(&'a (Tool, std::path::PathBuf)),
}

impl Listing {
    /// The lines of what was found; of the places that were looked at, if that is nothing.
    #[must_use]
    pub fn new(findings: Findings) -> Self {
        let mut lines = Vec::new();
        for (index, source) in findings.sources.iter().enumerate() {
            lines.push(Place::Source(index));
            lines.extend(source.error.iter().map(|_| Place::Broken(index)));
            lines.extend((0..source.servers.len()).map(|nth| Place::Server(index, nth)));
            lines.extend((0..source.left_out.len()).map(|nth| Place::LeftOut(index, nth)));
        }
        if lines.is_empty() {
            lines.extend((0..findings.places.len()).map(Place::LookedAt));
        }
        let servers = || findings.sources.iter().flat_map(|source| &source.servers);
        let left_out = findings.sources.iter().flat_map(|source| &source.left_out);
        let names = servers().map(|found| found.candidate.name.as_str());
        let names = names.chain(left_out.map(|out| out.name.as_str()));
        Self {
            name_columns: names.map(text::width).max().unwrap_or(0),
            has_secrets: servers().any(|found| can_be_chosen(found) && has_secret(found)),
            lines,
            findings,
        }
    }

    /// Whether nothing was found.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.findings.sources.is_empty()
    }

    /// How many lines there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line.
    #[must_use]
    pub fn line(&self, line: usize) -> Option<Line<'_>> {
        let sources = &self.findings.sources;
        Some(match *self.lines.get(line)? {
            Place::Source(source) => Line::Source(sources.get(source)?),
            Place::Broken(source) => Line::Broken(sources.get(source)?),
            Place::Server(source, nth) => {
                let source = sources.get(source)?;
                Line::Server(source, source.servers.get(nth)?)
            }
            Place::LeftOut(source, nth) => {
                let source = sources.get(source)?;
                Line::LeftOut(source, source.left_out.get(nth)?)
            }
            Place::LookedAt(place) => Line::LookedAt(self.findings.places.get(place)?),
        })
    }

    /// The server of the line, if it is one of a server that can be taken over.
    #[must_use]
    pub fn found(&self, line: usize) -> Option<&Found> {
        match self.line(line)? {
            Line::Server(_, found) => Some(found),
            Line::Source(_) | Line::Broken(_) | Line::LeftOut(..) | Line::LookedAt(_) => None,
        }
    }

    /// The number of the file that the line belongs to.
    #[must_use]
    pub fn source_of(&self, line: usize) -> Option<usize> {
        match *self.lines.get(line)? {
            Place::Source(source)
            | Place::Broken(source)
            | Place::Server(source, _)
            | Place::LeftOut(source, _) => Some(source),
            Place::LookedAt(_) => None,
        }
    }

    /// The lines that have all the words, in lower case, and the headings above them.
    #[must_use]
    pub fn with(&self, words: &[&str]) -> Vec<usize> {
        let mut shown = Vec::new();
        let mut heading = None;
        for line in 0..self.lines.len() {
            let matches = words.is_empty() || self.matches(line, words);
            match self.lines[line] {
                Place::Source(_) => heading = Some(line),
                _ if matches => {
                    shown.extend(heading.take());
                    shown.push(line);
                }
                _ => {}
            }
        }
        shown
    }

    fn matches(&self, line: usize, words: &[&str]) -> bool {
        let of_source = |source: &Source| vec![source.word(), source.file.display().to_string()];
        let texts: Vec<String> = match self.line(line) {
            None => Vec::new(),
            Some(Line::Source(source)) => of_source(source),
            Some(Line::Broken(source)) => {
                let why = source.error.as_ref().map(ToString::to_string);
                of_source(source).into_iter().chain(why).collect()
            }
            Some(Line::Server(source, found)) => {
                let candidate = &found.candidate;
                let own = [
                    candidate.name.to_string(),
                    found.state.word().to_owned(),
                    candidate.definition.target(),
                ];
                of_source(source).into_iter().chain(own).collect()
            }
            Some(Line::LeftOut(source, out)) => {
                let own = [out.name.to_string(), out.reason.clone()];
                of_source(source).into_iter().chain(own).collect()
            }
            Some(Line::LookedAt((tool, path))) => {
                vec![tool.word().to_owned(), path.display().to_string()]
            }
        };
        let has = |word: &&str| texts.iter().any(|text| contains_ignoring_case(text, word));
        words.iter().all(has)
    }
}

/// Whether a server can be chosen: one that we have already cannot.
#[must_use]
pub fn can_be_chosen(found: &Found) -> bool {
    found.state != crate::app::import::State::Equal
}

/// Whether a secret stands in it in plain text.
#[must_use]
pub const fn has_secret(found: &Found) -> bool {
    !found.candidate.secrets.is_empty()
}
