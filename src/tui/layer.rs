//! What lies over the panes, one layer over the other: the topmost one gets the keys.
//!
//! A layer is a variant of [`Layer`] with a type of its own. To add one: a variant here, an arm in
//! each match below (which keys it listens to, what they do, what it awaits), one in
//! `view::layer` (how it looks) and one in `view::footer` (which keys it names). What takes time
//! is asked for with a [`Ticket`]: the answer comes back to the layer that
//! awaits it, and a layer that closes cancels what it has asked for.

use std::time::Instant;

use ratatui::layout::Rect;

use super::action::{Choice, Command, Edit, Effect};
use super::add::Add;
use super::ask::{Answer, Ticket};
use super::field::Field;
use super::find::Find;
use super::form::Form;
use super::format::Clock;
use super::import::Import;
use super::keymap::{Context, HELP_LINES};
use super::layout::{cover_area, help_area, inside};
use super::log_in::LogIn;
use super::model::Model;
use super::question::Question;
use super::reader::Reader;
use super::save::Save;
use super::update;
use super::welcome::Welcome;
use crate::domain::AppState;

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The filter field of the list or of Servers.
    Filter(Field),
    /// What is found in all servers.
    Find(Box<Find>),
    /// What can be copied from other tools.
    Import(Box<Import>),
    /// A document over the whole window.
    Reader(Box<Reader>),
    /// The fields of a template or a prompt.
    Form(Box<Form>),
    /// The fields of a new server.
    Add(Box<Add>),
    /// The field for what is looked for in the reader or the import below.
    Search(Field),
    /// The field for the name of a file.
    Save(Save),
    /// What one sees first where nothing is configured.
    Welcome(Welcome),
    /// The help screen, scrolled by so many lines.
    Help(usize),
    /// A log-in under way.
    LogIn(LogIn),
    /// A question; only `y` is yes.
    Question(Question),
}

/// What becomes of a layer after a key.
#[derive(Debug)]
pub enum Reply {
    /// It stays, and something may be to be done.
    Stay(Option<Effect>),
    /// It closes, and something may be to be done.
    Close(Option<Effect>),
    /// It stays, another one is laid over it, and something may be to be done.
    Open(Layer, Option<Effect>),
}

impl Layer {
    /// Which keys mean what.
    #[must_use]
    pub const fn context(&self) -> Context {
        match self {
            Self::Help(_) | Self::Welcome(_) => Context::Deck,
            Self::Import(import) => import.context(),
            Self::Reader(_) => Context::Reader,
            Self::Filter(_)
            | Self::Find(_)
            | Self::Form(_)
            | Self::Add(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_) => Context::Field,
            Self::Question(_) => Context::Question,
        }
    }

    /// Whether nothing of the panes is seen beside it.
    #[must_use]
    pub const fn covers(&self) -> bool {
        matches!(self, Self::Find(_) | Self::Import(_) | Self::Reader(_))
    }

    /// Whether the footer is where its text is typed, or how it is answered.
    #[must_use]
    pub const fn has_footer(&self) -> bool {
        match self {
            Self::Filter(_)
            | Self::Find(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Question(_) => true,
            Self::Import(import) => matches!(import.context(), Context::Question),
            Self::Reader(_) | Self::Form(_) | Self::Add(_) | Self::Help(_) | Self::Welcome(_) => {
                false
            }
        }
    }

    /// A bound key. Of the model the layer itself is taken out meanwhile.
    pub fn command(&mut self, model: &mut Model, command: Command, clock: &Clock) -> Reply {
        match command {
            Command::Suspend => return Reply::Stay(Some(Effect::Suspend)),
            Command::Mouse => return Reply::Stay(Some(update::switch_mouse(model))),
            Command::Quit if !self.must_stay() => return Reply::Close(None),
            Command::Help if !matches!(self, Self::Help(_)) => {
                return Reply::Open(Self::Help(0), None);
            }
            _ => {}
        }
        match self {
            Self::Help(offset) => help(model, offset, command),
            // Every key closes it before it gets here.
            Self::Welcome(_) => Reply::Close(None),
            Self::Import(import) => import.command(model, command),
            Self::Reader(reader) => reader.command(model, command, clock),
            Self::Filter(_)
            | Self::Find(_)
            | Self::Form(_)
            | Self::Add(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Question(_) => Reply::Stay(None),
        }
    }

    /// Whether it has to be seen to its end.
    const fn must_stay(&self) -> bool {
        matches!(self, Self::Import(import) if import.must_stay())
    }

    /// A key that works only where one chooses what to import.
    pub fn choice(&mut self, model: &mut Model, choice: Choice) {
        if let Self::Import(import) = self {
            import.choice(model, choice);
        }
    }

    /// A key in a text field.
    pub fn edit(
        &mut self,
        model: &mut Model,
        state: &AppState,
        edit: &Edit,
        clock: &Clock,
    ) -> Reply {
        match self {
            Self::Form(form) => form.edit(model, edit, clock),
            Self::Add(add) => add.edit(model, state, edit, clock),
            Self::Filter(field) => update::edit_filter(model, state, field, edit),
            Self::Find(find) => find.edit(model, state, edit),
            Self::Search(field) => search(model, field, edit),
            Self::Save(save) => save.edit(edit),
            Self::LogIn(log_in) => log_in.edit(model, edit),
            Self::Import(_)
            | Self::Reader(_)
            | Self::Help(_)
            | Self::Welcome(_)
            | Self::Question(_) => Reply::Stay(None),
        }
    }

    /// The answer to a question.
    #[must_use]
    pub fn answer(&mut self, model: &mut Model, yes: bool) -> Reply {
        match self {
            Self::Import(import) => import.answer(model, yes),
            Self::Question(question) => Reply::Close(yes.then(|| question.effect())),
            Self::Filter(_)
            | Self::Find(_)
            | Self::Reader(_)
            | Self::Form(_)
            | Self::Add(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Help(_)
            | Self::Welcome(_) => Reply::Stay(None),
        }
    }

    /// The left mouse button went down at the place. It is never yes.
    #[must_use]
    pub fn click(
        &mut self,
        model: &mut Model,
        state: &AppState,
        window: Rect,
        at: (u16, u16),
    ) -> Reply {
        match self {
            Self::Form(form) => Reply::Stay(form.click(model, window, at)),
            Self::Add(add) => {
                add.click(state, window, at);
                Reply::Stay(None)
            }
            Self::Import(import) => {
                import.click(model, window, at);
                Reply::Stay(None)
            }
            Self::Filter(_)
            | Self::Find(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::Help(_)
            | Self::Welcome(_)
            | Self::Question(_) => Reply::Close(None),
            // A click may be what brings the window back from behind the browser.
            Self::Reader(_) | Self::LogIn(_) => Reply::Stay(None),
        }
    }

    /// Whether a click goes on to the panes.
    #[must_use]
    pub const fn lets_clicks_through(&self) -> bool {
        matches!(self, Self::Filter(_))
    }

    /// The wheel was turned; positive is down. Returns whether it was for the layer.
    pub fn scroll(&mut self, rows: isize) -> bool {
        match self {
            Self::Help(offset) => *offset = offset.saturating_add_signed(rows),
            Self::Reader(reader) => reader.scroll(rows),
            Self::Find(find) => find.step(rows),
            Self::Import(import) => import.scroll(rows),
            Self::Form(form) => form.scroll(rows),
            Self::Filter(_) => return false,
            Self::Add(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Welcome(_)
            | Self::Question(_) => {}
        }
        true
    }

    /// Brings it in line with the window.
    pub fn settle(&mut self, window: Rect) {
        match self {
            Self::Help(offset) => {
                let height = usize::from(inside(help_area(window)).height);
                *offset = (*offset).min(HELP_LINES.saturating_sub(height));
            }
            Self::Reader(reader) => reader.settle(window),
            Self::Import(import) => import.settle(window),
            Self::Find(find) => {
                // Below the titles of the columns.
                let rows = inside(cover_area(window)).height.saturating_sub(1);
                find.set_height(usize::from(rows));
            }
            Self::Welcome(_)
            | Self::Filter(_)
            | Self::Form(_)
            | Self::Add(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Question(_) => {}
        }
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        match self {
            Self::Welcome(welcome) => welcome.awaits(ticket),
            Self::Reader(reader) => reader.awaits(ticket),
            Self::Find(find) => find.awaits(ticket),
            Self::Import(import) => import.awaits(ticket),
            Self::Form(form) => form.awaits(ticket),
            Self::Add(add) => add.awaits(ticket),
            Self::Filter(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Help(_)
            | Self::Question(_) => false,
        }
    }

    /// Takes an answer that it awaits.
    pub fn take(&mut self, model: &mut Model, answer: Answer) -> Reply {
        match self {
            Self::Welcome(welcome) => welcome.take(answer),
            Self::Reader(reader) => reader.take(answer),
            Self::Find(find) => return find.take(answer),
            Self::Import(import) => import.take(answer),
            Self::Form(form) => form.take(answer),
            Self::Add(add) => return add.take(model, answer),
            Self::Filter(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Help(_)
            | Self::Question(_) => {}
        }
        Reply::Stay(None)
    }

    /// When something of it will change by itself.
    #[must_use]
    pub fn next_change(&self, clock: &Clock) -> Option<Instant> {
        match self {
            Self::Reader(reader) => reader.next_change(clock),
            Self::Add(add) => add.next_change(clock),
            Self::Filter(_)
            | Self::Find(_)
            | Self::Import(_)
            | Self::Form(_)
            | Self::Search(_)
            | Self::Save(_)
            | Self::LogIn(_)
            | Self::Help(_)
            | Self::Welcome(_)
            | Self::Question(_) => None,
        }
    }
}

/// There is a newer snapshot, which the topmost layer may show.
pub fn renew_top(model: &mut Model, state: &AppState) -> Option<Effect> {
    with_top(model, |layer, model| match layer {
        Layer::Find(find) => find.renew(model, state),
        _ => Reply::Stay(None),
    })
}

/// What is typed is looked for at once, in the reader or the import below.
fn search(model: &mut Model, field: &mut Field, edit: &Edit) -> Reply {
    field.apply(edit);
    let needle = match edit {
        Edit::Cancel => "",
        _ => field.text(),
    };
    let effect = with_top(model, |layer, model| {
        Reply::Stay(match layer {
            Layer::Reader(reader) => reader.search(model, needle),
            Layer::Import(import) => {
                import.filter(needle);
                None
            }
            _ => None,
        })
    });
    match edit {
        Edit::Accept | Edit::Cancel => Reply::Close(effect),
        _ => Reply::Stay(effect),
    }
}

fn help(model: &Model, offset: &mut usize, command: Command) -> Reply {
    let page = usize::from(model.size.1.saturating_sub(4)).max(1);
    *offset = match command {
        Command::Up => offset.saturating_sub(1),
        Command::Down => *offset + 1,
        Command::PageUp | Command::HalfPageUp => offset.saturating_sub(page),
        Command::PageDown | Command::HalfPageDown => *offset + page,
        Command::First => 0,
        Command::Last => usize::MAX,
        Command::Help | Command::Back | Command::Open => return Reply::Close(None),
        _ => *offset,
    };
    Reply::Stay(None)
}

/// The layers, the topmost last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    /// Lays one over all others.
    pub fn push(&mut self, layer: Layer) {
        self.0.push(layer);
    }

    /// The one that gets the keys.
    #[must_use]
    pub fn top(&self) -> Option<&Layer> {
        self.0.last()
    }

    /// The one that gets the keys, to be changed.
    pub fn top_mut(&mut self) -> Option<&mut Layer> {
        self.0.last_mut()
    }

    /// Takes away those that are like this.
    pub fn close(&mut self, is: impl Fn(&Layer) -> bool) {
        self.0.retain(|layer| !is(layer));
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether nothing of the panes is seen.
    #[must_use]
    pub fn cover(&self) -> bool {
        self.0.iter().any(Layer::covers)
    }

    /// Whether one of them waits for the answer.
    #[must_use]
    pub fn await_answer(&self, ticket: Ticket) -> bool {
        self.0.iter().any(|layer| layer.awaits(ticket))
    }

    /// All that are seen, the lowest first: what is below one that covers all is not.
    pub fn seen(&self) -> impl Iterator<Item = &Layer> {
        let first = self.0.iter().rposition(Layer::covers).unwrap_or(0);
        self.0[first..].iter()
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Layer> {
        self.0.iter_mut()
    }
}

/// Gives the topmost layer something to do, and does with it what it replies.
pub fn with_top(
    model: &mut Model,
    act: impl FnOnce(&mut Layer, &mut Model) -> Reply,
) -> Option<Effect> {
    let top = model.layers.0.len().checked_sub(1)?;
    with(model, top, act)
}

/// Gives the layer that awaits it the answer; one that nobody awaits any more is dropped.
pub fn take_answer(model: &mut Model, ticket: Ticket, answer: Answer) -> Option<Effect> {
    let mut layers = model.layers.0.iter();
    let place = layers.position(|layer| layer.awaits(ticket))?;
    with(model, place, |layer, model| layer.take(model, answer))
}

/// The layer is taken out meanwhile, so that it may change the rest of the model.
fn with(
    model: &mut Model,
    place: usize,
    act: impl FnOnce(&mut Layer, &mut Model) -> Reply,
) -> Option<Effect> {
    let mut layer = model.layers.0.remove(place);
    match act(&mut layer, model) {
        Reply::Stay(effect) => {
            model.layers.0.insert(place, layer);
            effect
        }
        Reply::Close(effect) => effect,
        Reply::Open(another, effect) => {
            model.layers.0.insert(place, layer);
            model.layers.push(another);
            effect
        }
    }
}
