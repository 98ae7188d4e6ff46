//! Finds a server or an item by what one remembers of it, over all servers at once.
//!
//! The search runs beside the deck (`search`); the layer shows what was found last until the
//! next result is there.

mod search;
#[cfg(test)]
mod tests;

pub use search::{Found, Hit, Query, What};

use super::action::{Edit, Effect};
use super::ask::{Answer, Ask, Ticket};
use super::field::Field;
use super::layer::Reply;
use super::model::Model;
use crate::domain::AppState;

/// The layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Find {
    /// What is looked for, as typed.
    pub field: Field,
    /// What was found last.
    pub found: Found,
    /// The selected hit.
    pub cursor: usize,
    /// The first hit on screen.
    pub offset: usize,
    height: usize,
    search: Search,
}

/// Where the search stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Search {
    /// What is shown was found in this.
    Done(Query),
    /// A newer result is awaited; should one go to the first hit as soon as it is there?
    Running {
        ticket: Ticket,
        query: Query,
        go: bool,
    },
}

impl Find {
    /// Looks for nothing yet: the servers are shown.
    #[must_use]
    pub fn asking(model: &mut Model, state: &AppState) -> (Self, Effect) {
        let query = Query::new("", &state.servers);
        let ticket = model.next_ticket();
        let effect = Effect::Ask(ticket, Ask::Find(query.clone()));
        let find = Self {
            field: Field::default(),
            found: Found::default(),
            cursor: 0,
            offset: 0,
            height: 0,
            search: Search::Running {
                ticket,
                query,
                go: false,
            },
        };
        (find, effect)
    }

    /// A key in the field.
    pub fn edit(&mut self, model: &mut Model, state: &AppState, edit: &Edit) -> Reply {
        match edit {
            Edit::Cancel => return Reply::Close(None),
            Edit::Accept => return self.accept(),
            Edit::Up | Edit::PreviousField => self.step(-1),
            Edit::Down | Edit::NextField => self.step(1),
            edit => self.field.apply(edit),
        }
        if self.query().needle() == self.field.text() {
            return Reply::Stay(None);
        }
        (self.cursor, self.offset) = (0, 0);
        Reply::Stay(Some(self.ask(model, state)))
    }

    /// Goes to the selected hit; to the first one for what was typed, where that is still awaited.
    fn accept(&mut self) -> Reply {
        match &mut self.search {
            Search::Running { go, .. } => {
                *go = true;
                Reply::Stay(None)
            }
            Search::Done(_) => match self.found.hits.get(self.cursor) {
                Some(hit) => Reply::Close(Some(Effect::Jump(hit.clone()))),
                None => Reply::Stay(None),
            },
        }
    }

    /// There is a newer snapshot: what is found may be other than before.
    pub fn renew(&mut self, model: &mut Model, state: &AppState) -> Reply {
        match &self.search {
            Search::Done(query) if !query.is_about(&state.servers) => {
                Reply::Stay(Some(self.ask(model, state)))
            }
            Search::Done(_) | Search::Running { .. } => Reply::Stay(None),
        }
    }

    fn ask(&mut self, model: &mut Model, state: &AppState) -> Effect {
        let query = Query::new(self.field.text(), &state.servers);
        let ticket = model.next_ticket();
        self.search = Search::Running {
            ticket,
            query: query.clone(),
            go: false,
        };
        Effect::Ask(ticket, Ask::Find(query))
    }

    const fn query(&self) -> &Query {
        match &self.search {
            Search::Done(query) | Search::Running { query, .. } => query,
        }
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        matches!(&self.search, Search::Running { ticket: awaited, .. } if *awaited == ticket)
    }

    /// Whether what is shown was found for something else than what is typed.
    #[must_use]
    pub const fn is_searching(&self) -> bool {
        matches!(self.search, Search::Running { .. })
    }

    /// Takes what was found. The cursor stays on its hit where it moved.
    pub fn take(&mut self, answer: Answer) -> Reply {
        let Answer::Hits(found) = answer else {
            return Reply::Stay(None);
        };
        let go = matches!(self.search, Search::Running { go: true, .. });
        self.search = Search::Done(self.query().clone());
        if self.cursor > 0 {
            let selected = self.found.hits.get(self.cursor);
            let place = selected.and_then(|hit| found.hits.iter().position(|other| other == hit));
            self.cursor = place.unwrap_or(self.cursor);
        }
        self.found = found;
        self.step(0);
        if go { self.accept() } else { Reply::Stay(None) }
    }

    /// Moves the cursor by so many hits.
    pub fn step(&mut self, hits: isize) {
        let last = self.found.hits.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(hits).min(last);
        let bottom = (self.cursor + 1).saturating_sub(self.height.max(1));
        self.offset = self.offset.clamp(bottom, self.cursor);
    }

    /// Tells how many hits the screen has room for.
    pub fn set_height(&mut self, height: usize) {
        self.height = height;
        self.step(0);
    }

    /// How many hits the screen has room for.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }
}
