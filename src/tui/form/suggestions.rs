//! The values that a server suggests for what is being typed, and which of them is chosen.
//!
//! Only the answer to the last question counts: whoever types on asks anew.

use crate::domain::Failure;
use crate::mcp::decode::completion::Completion;
use crate::tui::ask::Ticket;
use crate::tui::format;

/// The suggestions for the field with the focus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Suggestions {
    /// Whose answer is awaited.
    asked: Option<Ticket>,
    values: Vec<Box<str>>,
    has_more: bool,
    chosen: Option<usize>,
    problem: Option<Box<str>>,
}

impl Suggestions {
    /// The values were asked for once more, as more was typed: those that still fit stay until
    /// the answer comes.
    pub fn ask_again(&mut self, ticket: Ticket, typed: &str) {
        let typed = typed.to_lowercase();
        self.values
            .retain(|value| value.to_lowercase().starts_with(&typed));
        self.chosen = None;
        self.problem = None;
        self.asked = Some(ticket);
    }

    /// The values were asked for.
    pub fn ask(&mut self, ticket: Ticket) {
        *self = Self {
            asked: Some(ticket),
            ..Self::default()
        };
    }

    /// Forgets the values, and what was asked for.
    pub fn close(&mut self) {
        *self = Self::default();
    }

    /// Whether the answer that the ticket stands for is awaited.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.asked == Some(ticket)
    }

    /// Takes the answer for what is typed. What was chosen meanwhile of those that still fitted
    /// stays chosen.
    pub fn take(&mut self, answer: Result<Completion, Failure>, typed: &str) {
        let chosen = self.chosen().map(Box::from);
        self.close();
        match answer {
            // What is there already needs no list.
            Ok(answer) if matches!(&*answer.values, [only] if &**only == typed) => {}
            Ok(answer) => {
                self.chosen = chosen.and_then(|chosen: Box<str>| {
                    let mut values = answer.values.iter();
                    values.position(|value| *value == chosen)
                });
                self.values = answer.values;
                self.has_more = answer.has_more;
            }
            Err(failure) => {
                let why = format!("no suggestions: {}", format::failure(&failure));
                self.problem = Some(why.into());
            }
        }
    }

    /// Whether there are any.
    #[must_use]
    pub const fn are_open(&self) -> bool {
        !self.values.is_empty()
    }

    /// The values, best first, exactly as the server sent them.
    #[must_use]
    pub fn values(&self) -> &[Box<str>] {
        &self.values
    }

    /// The place of the chosen one.
    #[must_use]
    pub const fn place(&self) -> Option<usize> {
        self.chosen
    }

    /// The chosen one.
    #[must_use]
    pub fn chosen(&self) -> Option<&str> {
        self.values.get(self.chosen?).map(|value| &**value)
    }

    /// Why there are none, where the server could not say.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// How many there are, and which one is chosen: `3 of 12`, `100+`.
    #[must_use]
    pub fn count(&self) -> String {
        let more = if self.has_more { "+" } else { "" };
        let all = self.values.len();
        match self.chosen {
            Some(chosen) => format!("{} of {all}{more}", chosen + 1),
            None => format!("{all}{more}"),
        }
    }

    /// Chooses the next one.
    pub fn down(&mut self) {
        let last = self.values.len().saturating_sub(1);
        self.chosen = Some(self.chosen.map_or(0, |chosen| chosen + 1).min(last));
    }

    /// Chooses the one before; before the first there is none. Returns whether one was chosen.
    pub const fn up(&mut self) -> bool {
        let Some(chosen) = self.chosen else {
            return false;
        };
        self.chosen = chosen.checked_sub(1);
        true
    }

    /// Chooses the one at the place, if there is one.
    pub const fn choose(&mut self, place: usize) {
        if place < self.values.len() {
            self.chosen = Some(place);
        }
    }
}
