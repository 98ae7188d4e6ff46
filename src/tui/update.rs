//! What each action does to the model, and what it asks for.

use std::sync::Arc;

use super::action::{Action, Command, Edit, Effect, Notice};
use super::add::Add;
use super::field::Field;
use super::find::Find;
use super::format::{self, Clock};
use super::import::Import;
use super::keymap::Context;
use super::layer::{Layer, Reply, renew_top, take_answer, with_top};
use super::layout::Pane;
use super::log_in;
use super::model::Model;
use super::mouse;
use super::open;
use super::question::Question;
use super::rows::{Rows, Tab, Trouble};
use super::welcome::{self, Welcome};
use crate::domain::item::Item;
use crate::domain::text;
use crate::domain::{AppState, ListMethod, ServerSnapshot, Status};

/// What the deck listens for.
#[must_use]
pub fn context(model: &Model) -> Context {
    model.layers.top().map_or(Context::Deck, Layer::context)
}

/// Applies the action. Afterwards the model is in line with the snapshot again.
pub fn update(
    model: &mut Model,
    state: &AppState,
    action: Action,
    clock: &Clock,
) -> Option<Effect> {
    let effect = apply(model, state, action, clock);
    model.show_waiting_notice();
    model.settle(state, clock);
    effect
}

fn apply(model: &mut Model, state: &AppState, action: Action, clock: &Clock) -> Option<Effect> {
    match action {
        Action::Leave => return Some(Effect::Quit),
        Action::Command(command) => {
            model.notice = None;
            if welcome::closes(model, command) {
                return None;
            }
            return if model.layers.is_empty() {
                deck_command(model, state, command, clock)
            } else {
                with_top(model, |layer, model| layer.command(model, command, clock))
            };
        }
        Action::Edit(edit) => {
            model.notice = None;
            return with_top(model, |layer, model| layer.edit(model, state, &edit, clock));
        }
        Action::Answer(yes) => {
            model.notice = None;
            return with_top(model, |layer, model| layer.answer(model, yes));
        }
        Action::Choice(choice) => {
            model.notice = None;
            return with_top(model, |layer, model| {
                layer.choice(model, choice);
                Reply::Stay(None)
            });
        }
        Action::Nothing => {
            model.notice = None;
            model
                .layers
                .close(|layer| matches!(layer, Layer::Welcome(_)));
        }
        Action::Welcome => {
            let (welcome, effect) = Welcome::asking(model);
            model.layers.push(Layer::Welcome(welcome));
            return Some(effect);
        }
        Action::Click(x, y) => return mouse::click(model, state, x, y),
        Action::Scroll(x, y, rows) => mouse::scroll(model, state, x, y, rows),
        Action::Resize(columns, rows) => model.size = (columns, rows),
        Action::State => return renew_top(model, state),
        Action::Jump(hit) => open::jump(model, state, &hit),
        Action::Place(name, place) => {
            if state.server(&name).is_some() && model.layers.is_empty() {
                let question = Question::Remove(name, place);
                model.layers.push(Layer::Question(question));
            }
        }
        Action::Described(name, lines) => {
            let server = state.server(&name);
            let waits = server.is_some_and(|server| server.status == Status::Untrusted);
            if waits && model.layers.is_empty() {
                let question = Question::Trust(name, lines);
                model.layers.push(Layer::Question(question));
            }
        }
        Action::Notice(notice) => model.tell(notice),
        Action::Lines(server, lines) => model.logs.take_lines(&server, lines),
        Action::Messages(server, messages) => model.logs.take_messages(&server, messages),
        Action::Exists(file) => {
            let question = Question::Replace(file);
            model.layers.push(Layer::Question(question));
        }
        Action::Answered(ticket, answer) => return take_answer(model, ticket, answer),
        Action::LogIn(progress) => log_in::take(model, progress),
        Action::LoggedIn(outcome) => log_in::ended(model, &outcome),
    }
    None
}

fn deck_command(
    model: &mut Model,
    state: &AppState,
    command: Command,
    clock: &Clock,
) -> Option<Effect> {
    match command {
        Command::Up => step(model, state, -1),
        Command::Down => step(model, state, 1),
        Command::PageUp => step(model, state, -page(model)),
        Command::PageDown => step(model, state, page(model)),
        Command::HalfPageUp => step(model, state, -(page(model) / 2).max(1)),
        Command::HalfPageDown => step(model, state, (page(model) / 2).max(1)),
        Command::First => step(model, state, isize::MIN),
        Command::Last => last(model, state),
        Command::NextPane => model.focus = right_of(model.focus).unwrap_or(Pane::Servers),
        Command::PreviousPane => model.focus = left_of(model.focus).unwrap_or(Pane::Details),
        Command::LeftPane => model.focus = left_of(model.focus).unwrap_or(model.focus),
        Command::RightPane => model.focus = right_of(model.focus).unwrap_or(model.focus),
        Command::Resources => open_tab(model, Tab::Items(ListMethod::Resources)),
        Command::Templates => open_tab(model, Tab::Items(ListMethod::ResourceTemplates)),
        Command::Tools => open_tab(model, Tab::Items(ListMethod::Tools)),
        Command::Prompts => open_tab(model, Tab::Items(ListMethod::Prompts)),
        Command::Errors => open_tab(model, Tab::Errors),
        Command::Events => open_tab(model, Tab::Events),
        Command::Stderr => open_tab(model, Tab::Stderr),
        Command::Trace => open_tab(model, Tab::Trace),
        Command::PreviousTab => turn_tab(model, Tab::ALL.len() - 1),
        Command::NextTab => turn_tab(model, 1),
        Command::Open => return open::open(model, state, clock),
        Command::Back => back(model, state),
        Command::Filter => start_filter(model),
        Command::Find => {
            let (find, effect) = Find::asking(model, state);
            model.layers.push(Layer::Find(Box::new(find)));
            return Some(effect);
        }
        Command::Add => {
            let add = Add::new(model);
            model.layers.push(Layer::Add(Box::new(add)));
        }
        Command::Import => {
            let (import, effect) = Import::asking(model);
            model.layers.push(Layer::Import(Box::new(import)));
            return Some(effect);
        }
        Command::Toggle
        | Command::Remove
        | Command::Trust
        | Command::LogIn
        | Command::Edit
        | Command::Sort => {
            return servers_command(model, state, command);
        }
        Command::Undo => return Some(Effect::Undo),
        Command::RefreshAll => return Some(Effect::RefreshAll),
        Command::Refresh | Command::Reconnect => return server_command(model, state, command),
        Command::Copy => return copy(model, clock),
        Command::Save => model.notice = Some(Notice::bad("open the resource first")),
        Command::Fold | Command::NextMatch | Command::PreviousMatch => {}
        Command::Follow => follow(model),
        Command::OnlyErrors => only_errors(model),
        Command::Mouse => return Some(switch_mouse(model)),
        Command::Help => model.layers.push(Layer::Help(0)),
        Command::Suspend => return Some(Effect::Suspend),
        Command::Quit => return Some(Effect::Quit),
    }
    None
}

const fn right_of(pane: Pane) -> Option<Pane> {
    match pane {
        Pane::Servers => Some(Pane::List),
        Pane::List => Some(Pane::Details),
        Pane::Details => None,
    }
}

const fn left_of(pane: Pane) -> Option<Pane> {
    match pane {
        Pane::Servers => None,
        Pane::List => Some(Pane::Servers),
        Pane::Details => Some(Pane::List),
    }
}

/// How many rows a page of the pane with the focus has.
fn page(model: &Model) -> isize {
    let rows = match model.focus {
        Pane::Servers => model.servers.height(),
        Pane::List => model.list.height(),
        Pane::Details => model.details.height,
    };
    isize::try_from(rows.max(1)).unwrap_or(isize::MAX)
}

fn step(model: &mut Model, state: &AppState, rows: isize) {
    match model.focus {
        Pane::Servers => model.servers.step(rows, state),
        Pane::List => {
            if rows < 0 {
                model.list.set_follow(false);
            }
            model.list.step(rows);
        }
        Pane::Details => model.details.scroll(rows),
    }
}

/// To the end; a log is followed from there on.
fn last(model: &mut Model, state: &AppState) {
    if model.focus == Pane::List && model.tab.is_log() {
        model.list.set_follow(true);
    } else {
        step(model, state, isize::MAX);
    }
}

/// Opens the tab. Of one pane at a time it is the one that shows the tab.
fn open_tab(model: &mut Model, tab: Tab) {
    model.tab = tab;
    let one_pane = model.areas().is_some_and(|areas| areas.main.height == 0);
    if one_pane {
        model.focus = Pane::List;
    }
}

fn turn_tab(model: &mut Model, by: usize) {
    let index = (model.tab.index() + by) % Tab::ALL.len();
    open_tab(model, Tab::ALL[index]);
}

fn back(model: &mut Model, state: &AppState) {
    match model.focus {
        Pane::Details => model.focus = Pane::List,
        Pane::List if model.list.needle().is_empty() => model.focus = Pane::Servers,
        Pane::List => model.list.set_needle(""),
        Pane::Servers => model.servers.set_needle("", state),
    }
}

fn start_filter(model: &mut Model) {
    if model.focus == Pane::Details {
        model.focus = Pane::List;
    }
    let needle = match model.focus {
        Pane::Servers => model.servers.needle(),
        Pane::List | Pane::Details => model.list.needle(),
    };
    let field = Field::new(needle);
    model.layers.push(Layer::Filter(field));
}

/// The list follows each key. Enter keeps the filter, Esc clears it.
pub(super) fn edit_filter(
    model: &mut Model,
    state: &AppState,
    field: &mut Field,
    edit: &Edit,
) -> Reply {
    field.apply(edit);
    let needle = match edit {
        Edit::Cancel => "",
        _ => field.text(),
    };
    match model.focus {
        Pane::Servers => model.servers.set_needle(needle, state),
        Pane::List | Pane::Details => model.list.set_needle(needle),
    }
    match edit {
        Edit::Accept | Edit::Cancel => Reply::Close(None),
        _ => Reply::Stay(None),
    }
}

/// Listens to the mouse, or no longer.
pub(super) fn switch_mouse(model: &mut Model) -> Effect {
    model.mouse = !model.mouse;
    let word = if model.mouse { "on" } else { "off" };
    model.notice = Some(Notice::good(format!("the mouse is {word}")));
    Effect::Mouse(model.mouse)
}

/// Commands that act only where one sees which server they act on.
fn servers_command(model: &mut Model, state: &AppState, command: Command) -> Option<Effect> {
    if command == Command::Sort {
        model.servers.sort_next(state);
        let words = model.servers.sort().words();
        model.notice = Some(Notice::good(format!("sorted by {words}")));
        return None;
    }
    if model.focus != Pane::Servers {
        model.notice = Some(Notice::bad("go to Servers first"));
        return None;
    }
    let server = model.servers.snapshot(state)?;
    let (name, status) = (server.name.clone(), &server.status);
    match command {
        Command::Remove => Some(Effect::AskRemoval(name)),
        Command::LogIn => log_in::begin(model, server),
        Command::Edit => edit(model, server),
        Command::Trust => match status {
            Status::Untrusted => Some(Effect::AskTrust(name)),
            Status::Disabled => {
                let words = format!("{name} is switched off, so nothing is started");
                model.notice = Some(Notice::bad(words));
                None
            }
            Status::Connecting
            | Status::Connected(_)
            | Status::Reconnecting { .. }
            | Status::NeedsAuth(_)
            | Status::Failed(_) => {
                model.notice = Some(Notice::good(format!("{name} needs no approval")));
                None
            }
        },
        _ => {
            let enabled = *status == Status::Disabled;
            Some(Effect::SetEnabled(name, enabled))
        }
    }
}

/// Opens the server's entry in the person's editor, if it has one.
fn edit(model: &mut Model, server: &ServerSnapshot) -> Option<Effect> {
    let Some(origin) = &server.origin else {
        let name = &server.name;
        let words = format!("{name} is written in no file, so there is nothing to edit");
        model.notice = Some(Notice::bad(words));
        return None;
    };
    Some(Effect::Edit(Arc::clone(origin)))
}

/// Commands on the selected server, from any pane.
fn server_command(model: &mut Model, state: &AppState, command: Command) -> Option<Effect> {
    let server = model.servers.snapshot(state)?;
    let name = server.name.clone();
    if let Some(why) = refusal(server, command) {
        model.notice = Some(Notice::bad(format!("{name} {why}")));
        return None;
    }
    Some(if command == Command::Refresh {
        Effect::Refresh(name)
    } else {
        Effect::Reconnect(name)
    })
}

/// Why the command does nothing with the server, if so.
pub(super) fn refusal(server: &ServerSnapshot, command: Command) -> Option<&'static str> {
    match &server.status {
        Status::Disabled => Some("is switched off"),
        Status::Untrusted => Some("is not approved"),
        Status::Connected(_) => None,
        Status::Connecting
        | Status::Reconnecting { .. }
        | Status::NeedsAuth(_)
        | Status::Failed(_) => (command == Command::Refresh).then_some("is not connected"),
    }
}

fn follow(model: &mut Model) {
    if model.tab.is_log() {
        let follow = !model.list.follows();
        model.list.set_follow(follow);
        let words = if follow {
            "following the newest line"
        } else {
            "not following"
        };
        model.notice = Some(Notice::good(words));
    } else {
        model.notice = Some(Notice::bad("only Events, Stderr and Trace can be followed"));
    }
}

fn only_errors(model: &mut Model) {
    model.notice = Some(if model.tab == Tab::Trace {
        model.logs.switch_only_errors();
        Notice::good(if model.logs.shows_only_errors() {
            "only errors"
        } else {
            "all messages"
        })
    } else {
        Notice::bad("only Trace can show errors alone")
    });
}

fn copy(model: &mut Model, clock: &Clock) -> Option<Effect> {
    let value = match model.focus {
        Pane::Servers => model.servers.selected()?.to_string(),
        Pane::List | Pane::Details => row_text(model.list.rows(), model.list.selected()?, clock)?,
    };
    // What is hidden in a URI must not get into a shell by way of the clipboard.
    let shown = text::visible(&value);
    let note = if shown == value {
        ""
    } else {
        ", hidden characters as escapes"
    };
    model.notice = Some(Notice::good(format!("copied {shown}{note}")));
    Some(Effect::Copy(shown.into_owned()))
}

/// The row's URI, template or name, an error with what was asked, or a message.
fn row_text(rows: &Rows, row: usize, clock: &Clock) -> Option<String> {
    match rows {
        Rows::Resources(items) => items.get(row).map(|item| item.key().to_owned()),
        Rows::Templates(items) => items.get(row).map(|item| item.key().to_owned()),
        Rows::Tools(items) => items.get(row).map(|item| item.key().to_owned()),
        Rows::Prompts(items) => items.get(row).map(|item| item.key().to_owned()),
        Rows::Errors(rows) => rows.get(row).map(|row| {
            let message = match &row.what {
                Trouble::Error(error) => format::failure(&error.failure),
                Trouble::Note(text) => text.to_string(),
            };
            format!("{}: {}", row.asked(), text::cell(&message))
        }),
        Rows::Events(events) => events
            .get(row)
            .map(|event| format!("{} {}", clock.time(event.at), format::event(event))),
        Rows::Stderr(lines) => lines.get(row).map(|line| line.text.to_string()),
        Rows::Messages(messages) => messages.get(row).map(|message| message.text.to_string()),
    }
}
