//! What Enter does: it opens a server's list, reads a resource, shows a row in full.

use super::action::{Effect, Notice};
use super::details::Lines;
use super::document::Document;
use super::find::{Hit, What};
use super::format::{self, Clock};
use super::layer::Layer;
use super::layout::Pane;
use super::log_in;
use super::model::Model;
use super::question::Question;
use super::reader::Reader;
use super::rows::{Anchor, Rows, Tab};
use crate::domain::{AppState, ListMethod, ServerSnapshot, Status};
use crate::mcp::{Direction, Message};

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
    let server = model.servers.selected().cloned();
    match model.list.rows() {
        Rows::Resources(items) => {
            let uri = items.get(row)?.uri.clone();
            let (reader, effect) = Reader::asking(model, server?, &uri, clock);
            model.layers.push(Layer::Reader(Box::new(reader)));
            Some(effect)
        }
        Rows::Messages(messages) => {
            let message = messages.get(row)?;
            let reader = Reader::showing(
                &title(message),
                server,
                Document::json("message.json", &message.text),
            );
            model.layers.push(Layer::Reader(Box::new(reader)));
            None
        }
        rows => {
            let title = format::safe(&row_title(rows, row)?).into_owned();
            let mut lines = Lines::default();
            lines.row(rows, row, clock, model.logs.stderr());
            let document = Document::rich(&format!("{title}.txt"), lines.finish());
            let reader = Reader::showing(&title, server, document);
            model.layers.push(Layer::Reader(Box::new(reader)));
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

/// `answer to tools/list, from the server`.
fn title(message: &Message) -> String {
    let method = format::safe(&message.method);
    let kind = format::message_kind(message.kind);
    let way = match message.direction {
        Direction::Out => "to the server",
        Direction::In => "from the server",
    };
    let cut = if message.is_cut() {
        let whole = format::size(message.size as u64);
        format!(", the beginning of {whole}")
    } else {
        String::new()
    };
    format!("{kind} {method} {way}{cut}")
}

/// What the row is called in full.
fn row_title(rows: &Rows, row: usize) -> Option<String> {
    Some(match rows {
        Rows::Resources(items) => items.get(row)?.uri.to_string(),
        Rows::Templates(items) => items.get(row)?.uri_template.to_string(),
        Rows::Tools(items) => format!("tool {}", items.get(row)?.name),
        Rows::Prompts(items) => format!("prompt {}", items.get(row)?.name),
        Rows::Errors(rows) => format!("error of {}", rows.get(row)?.asked()),
        Rows::Stderr(lines) => format!("line {}", lines.get(row)?.number),
        Rows::Events(_) => "event".to_owned(),
        Rows::Messages(messages) => title(messages.get(row)?),
    })
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
        Tab::Errors | Tab::Events | Tab::Stderr | Tab::Trace => Tab::Items(ListMethod::Resources),
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
