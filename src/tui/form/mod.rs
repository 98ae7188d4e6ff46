//! The form: asks for the variables of a resource template or the arguments of a prompt, and then
//! opens the reader over itself. A server is asked for suggestions while a person types.

pub mod places;
pub mod sheet;
pub mod suggestions;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use ratatui::layout::Rect;

use self::places::{Places, Spot};
use self::sheet::{Input, Remark, Row, Sheet, Tone, Word};
use self::suggestions::Suggestions;
use super::action::{Edit, Effect, Notice};
use super::ask::{Answer, Argument, Ask, Source, Ticket};
use super::document::line::{Ink, Line};
use super::field::Field;
use super::format::Clock;
use super::layer::{Layer, Reply};
use super::model::Model;
use super::reader::Reader;
use crate::domain::item::{Item as _, Prompt, ResourceTemplate};
use crate::domain::uri_template::{Piece, TemplateError, UriTemplate, Variable};
use crate::domain::{ServerName, ServerSnapshot};
use crate::mcp::calls::ArgumentOf;

/// What the server declares if it has suggestions.
const COMPLETIONS: &str = "completions";

/// The form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Whose template or prompt it is.
    pub server: ServerName,
    /// What it is called, for people.
    pub title: Box<str>,
    /// What it is.
    pub about: Box<str>,
    subject: Subject,
    blanks: Vec<Blank>,
    focus: usize,
    /// Whether the server has suggestions.
    completes: bool,
    suggestions: Suggestions,
}

/// What is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Template {
        text: Box<str>,
        template: UriTemplate,
        /// The URI as it is so far.
        preview: Line<'static>,
    },
    Prompt(Box<str>),
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blank {
    /// As the server knows it.
    name: Box<str>,
    /// As people know it.
    pub label: Box<str>,
    /// What it means.
    pub about: Box<str>,
    /// Whether nothing can be asked for without it.
    pub required: bool,
    /// What is typed.
    pub field: Field,
}

/// What was filled in during this run, by the server and what it was for.
pub type Filled = HashMap<(ServerName, ArgumentOf), Vec<(Box<str>, String)>>;

impl Form {
    /// A form for the variables of the template, and what it asks for at once.
    ///
    /// # Errors
    ///
    /// What is wrong with the template.
    pub fn of_template(
        model: &mut Model,
        server: &ServerSnapshot,
        item: &ResourceTemplate,
    ) -> Result<(Self, Option<Effect>), TemplateError> {
        let template = UriTemplate::new(&item.uri_template)?;
        let blanks = template.variables().iter().map(Blank::of_variable);
        let blanks = blanks.collect();
        let subject = Subject::Template {
            text: item.uri_template.clone(),
            template,
            preview: Line::plain("", Ink::Plain),
        };
        Ok(Self::new(
            model,
            server,
            (item.label(), item.about()),
            subject,
            blanks,
        ))
    }

    /// A form for the arguments of the prompt, and what it asks for at once.
    #[must_use]
    pub fn of_prompt(
        model: &mut Model,
        server: &ServerSnapshot,
        item: &Prompt,
    ) -> (Self, Option<Effect>) {
        let arguments = item.arguments.iter().flatten();
        let blanks = arguments.map(|argument| Blank {
            name: argument.name.clone(),
            label: argument.title.as_ref().unwrap_or(&argument.name).clone(),
            about: argument.description.clone().unwrap_or_default(),
            required: argument.required == Some(true),
            field: Field::default(),
        });
        let blanks = blanks.collect();
        let subject = Subject::Prompt(item.name.clone());
        let words = (item.label(), item.about());
        Self::new(model, server, words, subject, blanks)
    }

    /// Fills in what was filled in before, and goes to the first field where something is missing.
    fn new(
        model: &mut Model,
        server: &ServerSnapshot,
        (title, about): (&str, Option<&str>),
        subject: Subject,
        blanks: Vec<Blank>,
    ) -> (Self, Option<Effect>) {
        let completes = server.status.session().is_some_and(|session| {
            let mut words = session.capabilities.iter();
            words.any(|word| &**word == COMPLETIONS)
        });
        let mut form = Self {
            server: server.name.clone(),
            title: title.into(),
            about: about.unwrap_or_default().into(),
            subject,
            blanks,
            focus: 0,
            completes,
            suggestions: Suggestions::default(),
        };
        let former = model.filled.get(&(form.server.clone(), form.of()));
        for (name, text) in former.into_iter().flatten() {
            if let Some(blank) = form.blanks.iter_mut().find(|it| it.name == *name) {
                blank.field = Field::new(text);
            }
        }
        form.preview_again();
        let effect = form.go_to(model, form.missing().unwrap_or(0));
        (form, effect)
    }

    /// The fields.
    #[must_use]
    pub fn blanks(&self) -> &[Blank] {
        &self.blanks
    }

    /// The place of the field with the focus.
    #[must_use]
    pub const fn focus(&self) -> usize {
        self.focus
    }

    /// What the server suggests for it.
    #[must_use]
    pub const fn suggestions(&self) -> &Suggestions {
        &self.suggestions
    }

    /// The URI so far; none for a prompt.
    #[must_use]
    pub const fn preview(&self) -> Option<&Line<'static>> {
        match &self.subject {
            Subject::Template { preview, .. } => Some(preview),
            Subject::Prompt(_) => None,
        }
    }

    /// What Enter does with what is filled in, in a word or two.
    #[must_use]
    pub const fn deed(&self) -> &'static str {
        match &self.subject {
            Subject::Template { .. } => "read",
            Subject::Prompt(_) => "get the prompt",
        }
    }

    /// What is shown of it.
    #[must_use]
    pub fn sheet(&self) -> Sheet<'_> {
        let rows = self.blanks.iter().map(|blank| Row {
            label: &blank.label,
            about: Cow::Borrowed(&blank.about),
            input: Input::Text(&blank.field),
            word: if blank.required {
                Word::Required
            } else {
                Word::Optional
            },
        });
        let problem = self.suggestions.problem();
        Sheet {
            owner: self.server.as_str(),
            title: &self.title,
            about: Cow::Borrowed(&self.about),
            rows: rows.collect(),
            focus: self.focus,
            preview: self.preview(),
            remark: problem.map(|problem| Remark {
                text: Cow::Borrowed(problem),
                tone: Tone::Warn,
            }),
            suggestions: Some(&self.suggestions),
        }
    }

    /// What a server knows the arguments by.
    fn of(&self) -> ArgumentOf {
        match &self.subject {
            Subject::Template { text, .. } => ArgumentOf::Template(text.to_string()),
            Subject::Prompt(name) => ArgumentOf::Prompt(name.to_string()),
        }
    }

    /// What is filled in.
    fn texts(&self) -> impl Iterator<Item = (&Blank, &str)> {
        let texts = self.blanks.iter().map(|blank| (blank, blank.field.text()));
        texts.filter(|(_, text)| !text.is_empty())
    }

    /// The first field that has to be filled in.
    fn missing(&self) -> Option<usize> {
        let is_missing = |blank: &Blank| blank.required && blank.field.text().is_empty();
        self.blanks.iter().position(is_missing)
    }

    /// What is to be read.
    ///
    /// # Errors
    ///
    /// Why no URI can be made of what is filled in.
    pub fn source(&self) -> Result<Source, TemplateError> {
        let pairs = |(blank, text): (&Blank, &str)| (blank.name.to_string(), text.to_owned());
        match &self.subject {
            Subject::Template { .. } => {
                let uri = self.pieces()?.into_iter().filter_map(|piece| match piece {
                    Piece::Literal(text) | Piece::Value(text) => Some(text),
                    Piece::Gap(_) => None,
                });
                Ok(Source::Resource(uri.collect()))
            }
            Subject::Prompt(name) => {
                let arguments = self.texts().map(pairs).collect();
                Ok(Source::Prompt(name.to_string(), arguments))
            }
        }
    }

    /// The URI in pieces; none for a prompt.
    fn pieces(&self) -> Result<Vec<Piece>, TemplateError> {
        let Subject::Template { template, .. } = &self.subject else {
            return Ok(Vec::new());
        };
        let values = template.variables().iter().zip(&self.blanks);
        let values = values.filter_map(|(variable, blank)| {
            Some((variable.name.clone(), variable.value(blank.field.text())?))
        });
        template.pieces(&values.collect())
    }

    fn preview_again(&mut self) {
        let line = match self.pieces() {
            Ok(pieces) => previewed(&pieces),
            Err(error) => Line::plain(error.to_string(), Ink::Bad),
        };
        if let Subject::Template { preview, .. } = &mut self.subject {
            *preview = line;
        }
    }

    /// A key in the form.
    pub fn edit(&mut self, model: &mut Model, edit: &Edit, clock: &Clock) -> Reply {
        let last = self.blanks.len().saturating_sub(1);
        let effect = match edit {
            Edit::Accept | Edit::NextField if self.suggestions.chosen().is_some() => {
                self.take_chosen();
                None
            }
            Edit::Accept => return self.submit(model, clock),
            Edit::Cancel if self.suggestions.are_open() => {
                self.suggestions.close();
                None
            }
            Edit::Cancel => {
                self.remember(model);
                return Reply::Close(None);
            }
            Edit::Up if self.suggestions.up() => None,
            Edit::Down if self.suggestions.are_open() => {
                self.suggestions.down();
                None
            }
            Edit::Up if self.focus == 0 => None,
            Edit::Down if self.focus == last => None,
            Edit::Up => self.go_to(model, self.focus - 1),
            Edit::Down => self.go_to(model, self.focus + 1),
            Edit::NextField => self.go_to(model, (self.focus + 1) % (last + 1)),
            Edit::PreviousField => self.go_to(model, (self.focus + last) % (last + 1)),
            edit => self.write(model, edit),
        };
        Reply::Stay(effect)
    }

    /// The field changes, and with it what is suggested.
    fn write(&mut self, model: &mut Model, edit: &Edit) -> Option<Effect> {
        let blank = self.blanks.get_mut(self.focus)?;
        let before = blank.field.text().len();
        blank.field.apply(edit);
        // A key inserts or deletes, never both.
        if blank.field.text().len() == before {
            return None;
        }
        let typed = blank.field.text().to_owned();
        self.preview_again();
        let ticket = self.completes.then(|| model.next_ticket())?;
        self.suggestions.ask_again(ticket, &typed);
        self.question(ticket)
    }

    /// Goes to the field, and asks what it may hold.
    fn go_to(&mut self, model: &mut Model, place: usize) -> Option<Effect> {
        self.focus = place;
        self.suggestions.close();
        let ticket = self.completes.then(|| model.next_ticket())?;
        self.suggestions.ask(ticket);
        self.question(ticket)
    }

    fn question(&self, ticket: Ticket) -> Option<Effect> {
        let blank = self.blanks.get(self.focus)?;
        let others = self.texts().filter(|(it, _)| it.name != blank.name);
        let argument = Argument {
            of: self.of(),
            name: blank.name.to_string(),
            typed: blank.field.text().to_owned(),
            others: others
                .map(|(it, text)| (it.name.to_string(), text.to_owned()))
                .collect(),
        };
        let ask = Ask::Complete(self.server.clone(), argument);
        Some(Effect::Ask(ticket, ask))
    }

    /// The chosen suggestion becomes the text.
    fn take_chosen(&mut self) {
        let chosen = self.suggestions.chosen().map(Field::new);
        if let (Some(field), Some(blank)) = (chosen, self.blanks.get_mut(self.focus)) {
            blank.field = field;
        }
        self.suggestions.close();
        self.preview_again();
    }

    /// Asks the server, or says what is missing.
    fn submit(&mut self, model: &mut Model, clock: &Clock) -> Reply {
        if let Some(place) = self.missing() {
            let label = &self.blanks[place].label;
            model.notice = Some(Notice::bad(format!("{label} is required")));
            return Reply::Stay(self.go_to(model, place));
        }
        let source = match self.source() {
            Ok(source) => source,
            Err(error) => {
                model.notice = Some(Notice::bad(error.to_string()));
                return Reply::Stay(None);
            }
        };
        self.remember(model);
        self.suggestions.close();
        let (reader, effect) = Reader::asking(model, self.server.clone(), source, clock);
        Reply::Open(Layer::Reader(Box::new(reader)), Some(effect))
    }

    /// For when the same is opened again.
    fn remember(&self, model: &mut Model) {
        let texts = self.texts();
        let texts = texts.map(|(blank, text)| (blank.name.clone(), text.to_owned()));
        let key = (self.server.clone(), self.of());
        model.filled.insert(key, texts.collect());
    }

    /// The left mouse button went down at the place.
    pub fn click(&mut self, model: &mut Model, window: Rect, at: (u16, u16)) -> Option<Effect> {
        match Places::of(&self.sheet(), window).spot(at)? {
            Spot::Blank(place) if place == self.focus => None,
            Spot::Blank(place) => self.go_to(model, place),
            Spot::Suggestion(place) => {
                self.suggestions.choose(place);
                self.take_chosen();
                None
            }
        }
    }

    /// The wheel was turned over the suggestions or the fields.
    pub fn scroll(&mut self, rows: isize) {
        if self.suggestions.are_open() {
            if rows > 0 {
                self.suggestions.down();
            } else {
                self.suggestions.up();
            }
        }
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.suggestions.awaits(ticket)
    }

    /// Takes an answer that it awaits.
    pub fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Completed(answer) => {
                let typed = self.blanks.get(self.focus).map(|blank| blank.field.text());
                self.suggestions.take(answer, typed.unwrap_or_default());
            }
            Answer::Read(_)
            | Answer::Found(_)
            | Answer::Hits(_)
            | Answer::Added(_)
            | Answer::Scanned(_)
            | Answer::Imported(_) => {}
        }
    }
}

impl Blank {
    fn of_variable(variable: &Variable) -> Self {
        let about = if variable.explodes {
            "several values: a, b, c  or with names: x=1, y=2"
        } else {
            ""
        };
        Self {
            name: variable.name.as_str().into(),
            label: variable.name.as_str().into(),
            about: about.into(),
            required: variable.required,
            field: Field::default(),
        }
    }
}

/// The pieces of a URI as one line: what is filled in stands out, what is missing even more.
fn previewed(pieces: &[Piece]) -> Line<'static> {
    let mut text = String::new();
    let mut inks = Vec::new();
    for piece in pieces {
        text.push_str(piece.text());
        let ink = match piece {
            Piece::Literal(_) => Ink::Plain,
            Piece::Value(_) => Ink::Key,
            Piece::Gap(_) => Ink::Warn,
        };
        inks.push((text.len(), ink));
    }
    Line {
        inks,
        ..Line::plain(text, Ink::Plain)
    }
}
