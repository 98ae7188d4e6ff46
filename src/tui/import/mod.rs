//! Copies servers of other tools: what was found of them, which are chosen, and what became of
//! them. It never changes a file of another tool.
//!
//! What reads and writes files is asked for ([`Ask`]) and done beside the deck.

pub mod choices;
#[cfg(test)]
pub(super) mod fixture;
pub mod listing;
pub mod outcome;
#[cfg(test)]
mod tests;
pub mod window;

use std::path::Path;
use std::sync::Arc;

use ratatui::layout::Rect;

use self::choices::Choices;
use self::listing::Listing;
use self::outcome::Outcome;
use self::window::Window;
use super::action::{Choice, Command, Effect, Notice};
use super::ask::{Answer, Ask, Ticket};
use super::field::Field;
use super::keymap::Context;
use super::layer::{Layer, Reply};
use super::layout::{cover_area, inside};
use super::model::Model;
use crate::config::ConfigError;

/// The layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Where it stands.
    pub stage: Stage,
    home: Option<Arc<Path>>,
}

/// Where the import stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// The files are looked for and read.
    Scanning(Ticket),
    /// One of our own files cannot be used, so that nothing can be compared or written.
    Broken(ConfigError),
    /// One chooses; there may be nothing to choose from.
    Choosing(Choices),
    /// One is asked whether to copy what is chosen.
    Asking(Choices),
    /// It is being copied.
    Copying(Ticket, Choices),
    /// What became of it.
    Done(Outcome),
}

/// Where the parts of the layer stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// What is chosen, and where to it is copied.
    pub summary: Rect,
    /// The lines.
    pub list: Rect,
    /// What is to be said of the selected line, below a rule; empty in a low window.
    pub details: Rect,
}

impl Parts {
    /// The parts in a window, with so many lines of summary where there is room for them.
    #[must_use]
    fn of(window: Rect, lines: u16) -> Self {
        let inner = inside(cover_area(window));
        let above = match inner.height {
            0..=7 => 1,
            8..=13 => lines,
            // And a gap.
            _ => lines + 1,
        };
        let details = match inner.height {
            0..=13 => 0,
            14..=29 => 6,
            _ => 9,
        };
        let above = above.min(inner.height);
        let height = inner.height.saturating_sub(above + details);
        Self {
            summary: Rect {
                height: above,
                ..inner
            },
            list: Rect {
                y: inner.y + above,
                height,
                ..inner
            },
            details: Rect {
                y: inner.y + above + height,
                height: details,
                ..inner
            },
        }
    }
}

impl Import {
    /// Looks for what can be imported.
    #[must_use]
    pub fn asking(model: &mut Model) -> (Self, Effect) {
        let ticket = model.next_ticket();
        let import = Self {
            stage: Stage::Scanning(ticket),
            home: model.home.clone(),
        };
        (import, Effect::Ask(ticket, Ask::Scan))
    }

    /// Which keys mean what.
    #[must_use]
    pub const fn context(&self) -> Context {
        match self.stage {
            Stage::Choosing(_) => Context::Choices,
            Stage::Asking(_) => Context::Question,
            Stage::Scanning(_) | Stage::Broken(_) | Stage::Copying(..) | Stage::Done(_) => {
                Context::Deck
            }
        }
    }

    /// Whether it has to be seen to its end.
    #[must_use]
    pub const fn must_stay(&self) -> bool {
        matches!(self.stage, Stage::Copying(..))
    }

    /// A bound key.
    pub fn command(&mut self, model: &mut Model, command: Command) -> Reply {
        if self.must_stay() {
            return Reply::Stay(None);
        }
        match command {
            Command::Back => return self.back(),
            Command::Refresh => {
                let (again, effect) = Self::asking(model);
                *self = again;
                return Reply::Stay(Some(effect));
            }
            Command::Filter => {
                if let Stage::Choosing(choices) = &self.stage
                    && !choices.listing.is_empty()
                {
                    let field = Field::new(choices.needle());
                    return Reply::Open(Layer::Search(field), None);
                }
            }
            Command::Toggle => self.choose(model, Choices::toggle),
            Command::Open => match &self.stage {
                Stage::Choosing(_) => self.ask(model),
                Stage::Done(_) | Stage::Broken(_) => return Reply::Close(None),
                Stage::Scanning(_) | Stage::Asking(_) | Stage::Copying(..) => {}
            },
            command => self.walk(command),
        }
        Reply::Stay(None)
    }

    /// A key that works here alone.
    pub fn choice(&mut self, model: &mut Model, choice: Choice) {
        match choice {
            Choice::Source => self.choose(model, Choices::toggle_source),
            Choice::Variables => {
                if let Stage::Choosing(choices) = &mut self.stage
                    && choices.listing.has_secrets
                {
                    choices.to_variables = !choices.to_variables;
                }
            }
        }
    }

    /// One thing at a time: the filter, then the layer.
    fn back(&mut self) -> Reply {
        match &mut self.stage {
            Stage::Choosing(choices) if !choices.needle().is_empty() => {
                choices.set_needle("");
                Reply::Stay(None)
            }
            _ => Reply::Close(None),
        }
    }

    fn choose(&mut self, model: &mut Model, change: fn(&mut Choices) -> Result<(), String>) {
        if let Stage::Choosing(choices) = &mut self.stage
            && let Err(why) = change(choices)
        {
            model.notice = Some(Notice::bad(why));
        }
    }

    fn ask(&mut self, model: &mut Model) {
        let Stage::Choosing(choices) = &self.stage else {
            return;
        };
        if choices.listing.is_empty() {
            return;
        }
        if choices.chosen().next().is_none() {
            model.notice = Some(Notice::bad("nothing is chosen"));
        } else if choices.listing.findings.target.is_none() {
            let why = "there is no home folder; name a file with --config";
            model.notice = Some(Notice::bad(why));
        } else {
            self.stage = Stage::Asking(choices.clone());
        }
    }

    /// The answer to the question.
    pub fn answer(&mut self, model: &mut Model, yes: bool) -> Reply {
        let Stage::Asking(choices) = &self.stage else {
            return Reply::Stay(None);
        };
        let choices = choices.clone();
        if !yes {
            self.stage = Stage::Choosing(choices);
            return Reply::Stay(None);
        }
        let (chosen, how) = choices.order();
        let ticket = model.next_ticket();
        self.stage = Stage::Copying(ticket, choices);
        Reply::Stay(Some(Effect::Ask(ticket, Ask::Import(chosen, how))))
    }

    fn walk(&mut self, command: Command) {
        let Some((window, len)) = self.window() else {
            return;
        };
        let page = isize::try_from(window.height.max(1)).unwrap_or(isize::MAX);
        let lines = match command {
            Command::Up => -1,
            Command::Down => 1,
            Command::PageUp => -page,
            Command::PageDown => page,
            Command::HalfPageUp => -(page / 2).max(1),
            Command::HalfPageDown => (page / 2).max(1),
            Command::First => isize::MIN,
            Command::Last => isize::MAX,
            _ => return,
        };
        window.step(lines, len);
    }

    /// The place in what is listed, and how long it is.
    const fn window(&mut self) -> Option<(&mut Window, usize)> {
        match &mut self.stage {
            Stage::Choosing(choices) => {
                let len = choices.len();
                Some((&mut choices.window, len))
            }
            Stage::Done(outcome) => Some((&mut outcome.window, outcome.lines.len())),
            Stage::Scanning(_) | Stage::Broken(_) | Stage::Asking(_) | Stage::Copying(..) => None,
        }
    }

    /// Lists only what has the words.
    pub fn filter(&mut self, needle: &str) {
        if let Stage::Choosing(choices) = &mut self.stage {
            choices.set_needle(needle);
        }
    }

    /// How many of the lines the filter leaves.
    #[must_use]
    pub fn left(&self) -> String {
        match &self.stage {
            Stage::Choosing(choices) => {
                format!("{} of {}", choices.len(), choices.listing.len())
            }
            _ => String::new(),
        }
    }

    /// Where its parts stand in a window.
    #[must_use]
    pub fn parts(&self, area: Rect) -> Parts {
        let has_second_line = match &self.stage {
            Stage::Choosing(choices) | Stage::Asking(choices) | Stage::Copying(_, choices) => {
                choices.listing.has_secrets
            }
            Stage::Done(outcome) => !outcome.followed,
            Stage::Scanning(_) | Stage::Broken(_) => false,
        };
        Parts::of(area, 1 + u16::from(has_second_line))
    }

    /// The line at the place is selected; its mark, chosen or no longer.
    pub fn click(&mut self, model: &mut Model, area: Rect, (x, y): (u16, u16)) {
        if let Stage::Asking(choices) = &self.stage {
            self.stage = Stage::Choosing(choices.clone());
            return;
        }
        let list = self.parts(area).list;
        if !list.contains((x, y).into()) {
            return;
        }
        let Some((window, len)) = self.window() else {
            return;
        };
        if let Some(line) = window.at(usize::from(y - list.y), len) {
            window.select(line, len);
            if x < list.x + MARK_END {
                self.choose(model, Choices::toggle);
            }
        }
    }

    /// The wheel was turned.
    pub fn scroll(&mut self, lines: isize) {
        if let Some((window, len)) = self.window() {
            window.scroll(lines, len);
        }
    }

    /// Brings it in line with the window.
    pub fn settle(&mut self, area: Rect) {
        let height = usize::from(self.parts(area).list.height);
        match &mut self.stage {
            Stage::Choosing(choices) | Stage::Asking(choices) | Stage::Copying(_, choices) => {
                let len = choices.len();
                choices.window.set_height(height, len);
            }
            Stage::Done(outcome) => outcome.window.set_height(height, outcome.lines.len()),
            Stage::Scanning(_) | Stage::Broken(_) => {}
        }
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        match &self.stage {
            Stage::Scanning(awaited) | Stage::Copying(awaited, _) => *awaited == ticket,
            Stage::Broken(_) | Stage::Choosing(_) | Stage::Asking(_) | Stage::Done(_) => false,
        }
    }

    /// Takes what was found, or what became of the copies.
    pub fn take(&mut self, answer: Answer) {
        self.stage = match (&self.stage, answer) {
            (Stage::Scanning(_), Answer::Scanned(Ok(listing))) => {
                Stage::Choosing(Choices::new(listing))
            }
            (Stage::Copying(_, choices), Answer::Imported(Ok(copied))) => {
                let (chosen, how) = choices.order();
                let followed = choices.listing.findings.followed;
                let about = (self.home.as_deref(), followed);
                Stage::Done(Outcome::new(&copied, &chosen, how, about))
            }
            (_, Answer::Scanned(Err(error)) | Answer::Imported(Err(error))) => Stage::Broken(error),
            _ => return,
        };
    }
}

/// How far the mark of a line reaches: the bar, a gap, and `[x]`.
pub const MARK_END: u16 = 5;

/// What [`Ask::Scan`] answers.
pub type Scanned = Result<Arc<Listing>, ConfigError>;
