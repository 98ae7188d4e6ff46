//! What Enter does: it opens a server's list, reads a resource, asks for what a template or a
//! prompt needs, shows a row in full.

use std::sync::Arc;

use super::action::{Effect, Notice};
use super::ask::Source;
use super::details::Lines;
use super::document::Document;
use super::document::line::Ink;
use super::document::rich::Rich;
use super::find::{Hit, What};
use super::form::Form;
use super::format::{self, Clock};
use super::layer::Layer;
use super::layout::Pane;
use super::log_in;
use super::model::Model;
use super::question::Question;
use super::reader::Reader;
use super::rows::{Anchor, Rows, Tab};
use crate::domain::item::{Item as _, ResourceTemplate};
use crate::domain::uri_template::TemplateError;
use crate::domain::{AppState, ListMethod, ServerSnapshot, Status, text};
use crate::mcp::{Direction, Message};

/// Opens the selected row of the pane with the focus.
pub fn open(model: &mut Model, state: &AppState, clock: &Clock) -> Option<Effect> {
    match model.focus {
        Pane::Servers => {
            if let Some(server) = model.servers.snapshot(state) {
                let server = Arc::clone(server);
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
            None => return open_row(model, state, clock),
        },
        Pane::Details => return open_row(model, state, clock),
    }
    None
}

/// A resource is read, a template or a prompt filled in before; everything else is shown in full.
fn open_row(model: &mut Model, state: &AppState, clock: &Clock) -> Option<Effect> {
    let row = model.list.selected()?;
    let server = model.servers.snapshot(state).cloned();
    let title = match model.list.rows().clone() {
        Rows::Resources(items) => {
            let (server, item) = (server?, items.get(row)?);
            let source = Source::Resource(item.uri.to_string());
            return Some(read(model, &server, source, clock));
        }
        Rows::Templates(items) => {
            let (server, item) = (server?, items.get(row)?);
            match Form::of_template(model, &server, item) {
                Ok(opened) => return open_form(model, &server, opened, clock),
                Err(error) => show(model, Some(server), item.label(), broken(item, &error)),
            }
            return None;
        }
        Rows::Prompts(items) => {
            let (server, item) = (server?, items.get(row)?);
            let opened = Form::of_prompt(model, &server, item);
            return open_form(model, &server, opened, clock);
        }
        Rows::Messages(messages) => {
            let message = messages.get(row)?;
            let document = Document::json("message.json", &message.text);
            show(model, server, &title(message), document);
            return None;
        }
        Rows::Tools(items) => format!("tool {}", items.get(row)?.name),
        Rows::Errors(rows) => format!("error of {}", rows.get(row)?.asked()),
        Rows::Events(_) => "event".to_owned(),
        Rows::Stderr(lines) => format!("line {}", lines.get(row)?.number),
    };
    let title = format::safe(&title);
    let mut lines = Lines::default();
    lines.row(model.list.rows(), row, clock, model.logs.stderr());
    let document = Document::rich(&format!("{title}.txt"), lines.finish());
    show(model, server, &title, document);
    None
}

fn show(model: &mut Model, server: Option<Arc<ServerSnapshot>>, title: &str, document: Document) {
    let reader = Reader::showing(title, server.map(|server| server.name.clone()), document);
    model.layers.push(Layer::Reader(Box::new(reader)));
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

fn read(model: &mut Model, server: &ServerSnapshot, source: Source, clock: &Clock) -> Effect {
    let (reader, effect) = Reader::asking(model, server.name.clone(), source, clock);
    model.layers.push(Layer::Reader(Box::new(reader)));
    effect
}

/// What has nothing to fill in is read at once.
fn open_form(
    model: &mut Model,
    server: &ServerSnapshot,
    (form, effect): (Form, Option<Effect>),
    clock: &Clock,
) -> Option<Effect> {
    if form.blanks().is_empty()
        && let Ok(source) = form.source()
    {
        return Some(read(model, server, source, clock));
    }
    model.layers.push(Layer::Form(Box::new(form)));
    effect
}

/// A template that no URI can be made of: what is wrong with it, and where.
fn broken(item: &ResourceTemplate, error: &TemplateError) -> Document {
    let template = text::visible(&item.uri_template);
    let mut rich = Rich::default();
    rich.text("", "", "This template cannot be filled in.", Ink::Bad);
    rich.gap();
    rich.labelled("Template", &template, Ink::Plain);
    rich.labelled("Problem", &error.to_string(), Ink::Plain);
    let at = match error {
        TemplateError::Syntax(byte) => item.uri_template.get(byte - 1..),
        TemplateError::Variables | TemplateError::PrefixOfMany(_) | TemplateError::Long => None,
    };
    if let Some(rest) = at {
        let rest = text::visible(rest);
        rich.labelled("There", &text::fit(&rest, 60), Ink::Bad);
    }
    rich.labelled(
        "What now",
        "whoever wrote the server has to correct it; y copies this for them",
        Ink::Dim,
    );
    Document::rich("template.txt", rich)
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
