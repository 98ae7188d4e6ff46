//! The form for a new server. It is tested before it is written: Enter connects to it, and what
//! answers is on the list and in the file at once; what does not can be mended, or added all the
//! same.

pub mod draft;
mod shown;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use ratatui::layout::Rect;

use self::draft::{Draft, Fault, KINDS, Slot};
use self::shown::kind_at;
use super::action::{Edit, Effect};
use super::ask::{Answer, Ask, Ticket};
use super::form::places::{Places, Spot};
use super::format::Clock;
use super::layer::Reply;
use super::layout::Pane;
use super::model::Model;
use crate::app::NewServer;
use crate::domain::{AppState, Failure, ServerName};

/// The layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Add {
    draft: Draft,
    focus: Slot,
    stage: Stage,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// It is being filled in.
    Filling,
    /// Nothing can be made of what is filled in.
    Faulty(Fault),
    /// It is being connected to, or only written.
    Busy {
        ticket: Ticket,
        since: Instant,
        name: ServerName,
        tested: bool,
    },
    /// It was not added; it may be changed meanwhile.
    Failed(Failure),
}

/// What Enter and its kin do at the moment, for the footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// A choice is to be made.
    Choose,
    /// A text is to be typed.
    Fill,
    /// It is under way, and can be called off.
    Cancel,
    /// It has failed, and can be tried again.
    Retry,
    /// It has failed, and can be added all the same.
    Anyway,
}

impl Add {
    /// A form with what was given up last, if anything was.
    #[must_use]
    pub fn new(model: &mut Model) -> Self {
        let draft = model
            .draft
            .take()
            .map_or_else(Draft::default, |draft| *draft);
        Self {
            focus: draft.target(),
            draft,
            stage: Stage::Filling,
        }
    }

    /// What it offers.
    #[must_use]
    pub const fn offer(&self) -> Offer {
        match (&self.stage, self.focus) {
            (Stage::Busy { .. }, _) => Offer::Cancel,
            (Stage::Failed(_), Slot::Anyway) => Offer::Anyway,
            (Stage::Failed(_), _) => Offer::Retry,
            (Stage::Filling | Stage::Faulty(_), Slot::Transport) => Offer::Choose,
            (Stage::Filling | Stage::Faulty(_), _) => Offer::Fill,
        }
    }

    /// A key in the form.
    pub fn edit(
        &mut self,
        model: &mut Model,
        state: &AppState,
        edit: &Edit,
        clock: &Clock,
    ) -> Reply {
        if matches!(self.stage, Stage::Busy { .. }) {
            if *edit == Edit::Cancel {
                // Nobody awaits the answer any more, which ends what was begun.
                self.stage = Stage::Filling;
            }
            return Reply::Stay(None);
        }
        match edit {
            Edit::Cancel => {
                let is_empty = self.draft == Draft::default();
                model.draft = (!is_empty).then(|| Box::new(self.draft.clone()));
                return Reply::Close(None);
            }
            Edit::Accept => {
                let tested = self.focus != Slot::Anyway;
                return self.submit(model, state, clock, tested);
            }
            Edit::Up => self.go(-1, false),
            Edit::Down => self.go(1, false),
            Edit::NextField => self.go(1, true),
            Edit::PreviousField => self.go(-1, true),
            edit => self.write(edit),
        }
        Reply::Stay(None)
    }

    /// The lines that can have the focus, in the order shown.
    fn slots(&self) -> Vec<Slot> {
        let mut slots = self.draft.slots();
        if matches!(self.stage, Stage::Failed(_)) {
            slots.push(Slot::Anyway);
        }
        slots
    }

    /// Goes so many fields further, and from one end to the other where it may.
    fn go(&mut self, by: isize, goes_round: bool) {
        let slots = self.slots();
        let place = slots.iter().position(|slot| *slot == self.focus);
        let next = place.unwrap_or(0).checked_add_signed(by);
        let next = next.filter(|next| *next < slots.len());
        let end = if by < 0 { slots.last() } else { slots.first() };
        match (next, goes_round) {
            (Some(next), _) => self.focus = slots[next],
            (None, true) => self.focus = end.copied().unwrap_or(self.focus),
            (None, false) => {}
        }
    }

    /// A key in the field with the focus.
    fn write(&mut self, edit: &Edit) {
        if self.focus == Slot::Anyway {
            return;
        }
        let Some(field) = self.draft.field_mut(self.focus) else {
            match edit {
                Edit::Left | Edit::Backspace => self.draft.turn(-1),
                Edit::Right => self.draft.turn(1),
                Edit::Insert(text) => self.choose(text),
                _ => {}
            }
            return;
        };
        field.apply(edit);
        self.focus = self.draft.settle(self.focus);
        if matches!(self.stage, Stage::Faulty(_)) {
            self.stage = Stage::Filling;
        }
    }

    /// The space bar takes the next transport, a letter the next one that begins with it.
    fn choose(&mut self, typed: &str) {
        let now = KINDS.iter().position(|kind| *kind == self.draft.kind);
        let after = KINDS.iter().cycle().skip(now.unwrap_or(0) + 1);
        let mut after = after.take(KINDS.len());
        let typed = typed.to_lowercase();
        if let Some(kind) = after.find(|kind| typed == " " || kind.word().starts_with(&typed)) {
            self.draft.kind = *kind;
        }
    }

    /// Begins to add it, or says what is missing.
    fn submit(
        &mut self,
        model: &mut Model,
        state: &AppState,
        clock: &Clock,
        tested: bool,
    ) -> Reply {
        let (name, definition) = match self.draft.finish(taken_in(state)) {
            Ok(server) => server,
            Err(fault) => {
                self.focus = fault.slot;
                self.stage = Stage::Faulty(fault);
                return Reply::Stay(None);
            }
        };
        if self.focus == Slot::Anyway {
            self.focus = self.draft.target();
        }
        let ticket = model.next_ticket();
        self.stage = Stage::Busy {
            ticket,
            since: clock.now,
            name: name.clone(),
            tested,
        };
        let server = NewServer {
            name,
            definition,
            tested,
        };
        Reply::Stay(Some(Effect::Ask(ticket, Ask::Add(Box::new(server)))))
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, awaited: Ticket) -> bool {
        matches!(self.stage, Stage::Busy { ticket, .. } if ticket == awaited)
    }

    /// Takes an answer that it awaits.
    pub fn take(&mut self, model: &mut Model, answer: Answer) -> Reply {
        let Answer::Added(outcome) = answer else {
            return Reply::Stay(None);
        };
        let stage = std::mem::replace(&mut self.stage, Stage::Filling);
        match (outcome, stage) {
            (Ok(told), Stage::Busy { name, .. }) => {
                model.tell(told.into());
                model.focus = Pane::Servers;
                model.servers.expect(name);
                Reply::Close(None)
            }
            (Ok(_), _) => Reply::Close(None),
            (Err(failure), _) => {
                self.stage = Stage::Failed(failure);
                Reply::Stay(None)
            }
        }
    }

    /// The left mouse button went down at the place.
    pub fn click(&mut self, state: &AppState, window: Rect, at: (u16, u16)) {
        if matches!(self.stage, Stage::Busy { .. }) {
            return;
        }
        let places = Places::of(&self.sheet(state, Duration::ZERO), window);
        let Some(Spot::Blank(place)) = places.spot(at) else {
            return;
        };
        let Some(slot) = self.slots().get(place).copied() else {
            return;
        };
        self.focus = slot;
        if slot == Slot::Transport
            && let Some(input) = places.blank(place).map(|line| line.input)
            && let Some(kind) = kind_at(at.0.saturating_sub(input.x))
        {
            self.draft.kind = kind;
        }
    }

    /// When something of it will change by itself.
    #[must_use]
    pub fn next_change(&self, clock: &Clock) -> Option<Instant> {
        match self.stage {
            Stage::Busy { since, .. } => {
                Some(since + Duration::from_secs(clock.since(since).as_secs() + 1))
            }
            Stage::Filling | Stage::Faulty(_) | Stage::Failed(_) => None,
        }
    }
}

/// Whether a server of the name is there.
fn taken_in(state: &AppState) -> impl Fn(&str) -> bool {
    |name| {
        state
            .servers
            .iter()
            .any(|server| server.name.as_str() == name)
    }
}
