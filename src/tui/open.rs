//! What Enter does: it opens a server's list, reads a resource, shows a row in full.

use super::action::{Effect, Notice};
use super::find::{Hit, What};
use super::format::Clock;
use super::layer::Layer;
use super::layout::Pane;
use super::log_in;
use super::model::Model;
use super::question::Question;
use super::reader::Reader;
use super::rows::{Anchor, Rows, Tab};
use crate::domain::{AppState, ListMethod, ServerSnapshot, Status};

/// Opens the selected row of the pane with the focus.
pub fn open(model: &mut Model, state: &AppState, clock: &Clock) -> Option<Effect> {
    match model.focus {
        Pane::Servers => {
            if let Some(server) = model.servers.snapshot(state) {
                let server = std::sync::Arc::clone(server);
                return open_server(model, &server);
            }
        }
        Pane::List => match event_server(model) {
            Some(name) if model.servers.select_name(&name, state) => model.focus = Pane::Servers,
            Some(name) => {
                model.notice = Some(Notice::bad(format!(
                    "{name} is not among the servers shown"
                )));
            }
            None => return open_row(model, clock),
        },
        Pane::Details => return open_row(model, clock),
    }
    None
}

/// A resource is read; everything else is shown in full.
fn open_row(model: &mut Model, clock: &Clock) -> Option<Effect> {
    let row = model.list.selected()?;
    match model.list.rows() {
        Rows::Resources(items) => {
            let uri = items.get(row)?.uri.clone();
            let server = model.servers.selected()?.clone();
            let (reader, effect) = Reader::asking(model, server, &uri, clock);
            model.layers.push(Layer::Reader(Box::new(reader)));
            Some(effect)
        }
        Rows::Templates(_)
        | Rows::Tools(_)
        | Rows::Prompts(_)
        | Rows::Errors(_)
        | Rows::Events(_)
        | Rows::Stderr(_) => {
            model.focus = Pane::Details;
            None
        }
    }
}

/// Selects what was found, wherever it is. A filter that hides it is cleared.
pub fn jump(model: &mut Model, state: &AppState, hit: &Hit) {
    if !model.servers.select_name(&hit.server, state) {
        model.servers.set_needle("", state);
        if !model.servers.select_name(&hit.server, state) {
            model.notice = Some(Notice::bad(format!("{} is no longer there", hit.server)));
            return;
        }
    }
    match &hit.what {
        What::Server => model.focus = Pane::Servers,
        What::Item {
            method, key, nth, ..
        } => {
            model.tab = Tab::Items(*method);
            model.focus = Pane::List;
            model.seek(&hit.server, Anchor::Item(key.clone(), *nth));
        }
    }
}

fn open_server(model: &mut Model, server: &ServerSnapshot) -> Option<Effect> {
    match &server.status {
        Status::Connected(_) | Status::Connecting => {
            model.tab = list_worth_opening(model.tab, server);
            model.focus = Pane::List;
        }
        Status::NeedsAuth(_) => return log_in::begin(model, server),
        Status::Failed(_) | Status::Reconnecting { .. } => {
            model.tab = Tab::Errors;
            model.focus = Pane::List;
        }
        Status::Disabled => {
            let question = Question::Enable(server.name.clone());
            model.layers.push(Layer::Question(question));
        }
        Status::Untrusted => return Some(Effect::AskTrust(server.name.clone())),
    }
    None
}

/// The open list, or the first one that has rows.
fn list_worth_opening(open: Tab, server: &ServerSnapshot) -> Tab {
    let has_rows = |method: ListMethod| server.catalog.count(method).is_some_and(|rows| rows > 0);
    let fallback = match open {
        Tab::Items(method) if has_rows(method) => return open,
        Tab::Items(_) => open,
        Tab::Errors | Tab::Events | Tab::Stderr => Tab::Items(ListMethod::Resources),
    };
    ListMethod::ALL
        .into_iter()
        .find(|method| has_rows(*method))
        .map_or(fallback, Tab::Items)
}

/// The server of the selected event, where Events is open.
fn event_server(model: &Model) -> Option<crate::domain::ServerName> {
    match model.list.rows() {
        Rows::Events(events) => events.get(model.list.selected()?)?.server.clone(),
        _ => None,
    }
}
