//! The answers of the three listing tools.
//!
//! The list stands in the first text block and, equal, in the structured content; failures stand
//! in a second block and beside the list, so that a server that failed is never taken for one
//! that is empty. A list that is too long is an error, never a part of itself.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value};

use super::desk::{Desk, METHODS, Problem, Seen};
use super::text::{self, FirstBlock};
use crate::app::report::{ItemJson, ServerJson};
use crate::domain::catalog::Slot;

/// The room of each part beside the list; together they and their frame stay below
/// [`text::REST`].
const ROOM_OF_LINES: usize = 5_000;
const ROOM_OF_ERRORS: usize = 6_000;
const ROOM_OF_SERVERS: usize = 8_500;

/// The items of one kind, of all servers or of one.
pub(super) async fn list<T: Slot>(desk: &Desk, only: Option<&str>) -> CallToolResult {
    let name = only.map(|wanted| desk.name(wanted).ok_or(wanted));
    let name = match name.transpose() {
        Ok(name) => name,
        Err(wanted) => return refused(desk.unknown(wanted), &desk.now()),
    };
    let seen = desk.look(name.as_ref()).await;
    match (only, seen.as_slice()) {
        // It was removed meanwhile.
        (Some(wanted), []) => return refused(desk.unknown(wanted), &desk.now()),
        (Some(_), [one]) if !one.counts() => {
            return refused(one.unable().unwrap_or_default(), &seen);
        }
        _ => {}
    }
    let problems: Vec<Problem> = seen
        .iter()
        .filter_map(|seen| {
            let connection = seen.connection_problem();
            connection.or_else(|| seen.listing_problem(T::METHOD))
        })
        .collect();
    let asked = seen.iter().filter(|seen| seen.counts()).count();
    let lacking = seen.iter().filter(|seen| seen.lacks(T::METHOD)).count();
    let mut answer = Answer::new(&seen, problems);
    match first_block::<T>(&seen) {
        Ok(list) => {
            let is_empty = list == "[]";
            answer.list = serde_json::from_str(&list).ok();
            answer.field = T::METHOD.field();
            answer.is_error = asked > 0 && lacking == asked;
            answer.first = if is_empty && answer.problems.is_empty() {
                text::nothing_found(T::METHOD).to_owned()
            } else {
                list
            };
        }
        Err(size) => {
            answer.first = text::list_too_large(size, only.is_some());
            answer.is_error = true;
        }
    }
    answer.finish()
}

/// All servers, and how each stands.
pub(super) async fn servers(desk: &Desk) -> CallToolResult {
    let seen = desk.look_around().await;
    let problems: Vec<Problem> = seen
        .iter()
        .flat_map(|seen| {
            let listings = METHODS.iter().map(|method| seen.listing_problem(*method));
            std::iter::once(seen.connection_problem())
                .chain(listings)
                .flatten()
        })
        .collect();
    let connections: Vec<Option<Problem>> = seen.iter().map(Seen::connection_problem).collect();
    let rows: Vec<ServerJson<'_>> = seen
        .iter()
        .zip(&connections)
        .map(|(seen, problem)| ServerJson {
            error: problem.as_ref().map(|problem| problem.json(text::MESSAGE)),
            ..ServerJson::new(&seen.server)
        })
        .collect();
    let list = json_within_bound(&rows);
    let mut answer = Answer::new(&[], problems);
    match list {
        Ok(list) => {
            answer.list = serde_json::from_str(&list).ok();
            answer.field = "servers";
            answer.first = list;
        }
        Err(size) => {
            answer.servers = compact_servers(&seen);
            answer.first = text::list_too_large(size, false);
            answer.is_error = true;
        }
    }
    answer.finish()
}

fn first_block<T: Slot>(seen: &[Seen]) -> Result<String, usize> {
    let rows = seen.iter().flat_map(|seen| {
        let server = seen.server.name.as_str();
        let items = T::of(&seen.server.catalog).items.iter();
        items.map(move |item| ItemJson { server, item })
    });
    json_within_bound(&rows.collect::<Vec<_>>())
}

pub(super) fn json_within_bound(value: &impl Serialize) -> Result<String, usize> {
    let mut block = FirstBlock::default();
    match serde_json::to_writer(&mut block, value) {
        Ok(()) => block.finish(),
        // A writer in memory and values of our own do not fail.
        Err(error) => {
            tracing::error!(%error, "a list cannot be written as JSON");
            Err(0)
        }
    }
}

/// An error that is a message alone; the structured content tells of the servers all the same.
fn refused(message: String, seen: &[Seen]) -> CallToolResult {
    let mut answer = Answer::new(seen, Vec::new());
    answer.first = message;
    answer.is_error = true;
    answer.finish()
}

/// The parts of an answer.
#[derive(Default)]
struct Answer {
    first: String,
    is_error: bool,
    /// The list again, under its name.
    list: Option<Value>,
    field: &'static str,
    servers: (Vec<String>, usize),
    problems: Vec<Problem>,
}

impl Answer {
    fn new(seen: &[Seen], problems: Vec<Problem>) -> Self {
        Self {
            servers: compact_servers(seen),
            problems,
            ..Self::default()
        }
    }

    fn finish(self) -> CallToolResult {
        let mut blocks = vec![ContentBlock::text(self.first)];
        let problems = &self.problems;
        if !problems.is_empty() {
            let lines = |most| problems.iter().map(|problem| problem.line(most)).collect();
            let (mut lines, left_out) = text::fitting(ROOM_OF_LINES, lines);
            if left_out > 0 {
                lines.push(format!("{left_out} more failures are left out"));
            }
            blocks.push(ContentBlock::text(lines.join("\n")));
        }
        let (errors, errors_left_out) = text::fitting(ROOM_OF_ERRORS, |most| {
            let errors = problems.iter().map(|problem| json(&problem.json(most)));
            errors.collect()
        });
        let (servers, servers_left_out) = self.servers;
        let mut structured = Map::new();
        structured.insert("servers".to_owned(), values(&servers));
        structured.insert("errors".to_owned(), values(&errors));
        if let Some(list) = self.list {
            structured.insert(self.field.to_owned(), list);
        }
        if errors_left_out + servers_left_out > 0 {
            let omitted = serde_json::json!({
                "servers": servers_left_out,
                "errors": errors_left_out,
            });
            structured.insert("omitted".to_owned(), omitted);
        }
        let mut result = CallToolResult::success(blocks);
        result.structured_content = Some(Value::Object(structured));
        result.is_error = Some(self.is_error);
        result
    }
}

/// Name, status and error of each server, as far as there is room.
fn compact_servers(seen: &[Seen]) -> (Vec<String>, usize) {
    let problems: Vec<Option<Problem>> = seen.iter().map(Seen::connection_problem).collect();
    text::fitting(ROOM_OF_SERVERS, |most| {
        seen.iter()
            .zip(&problems)
            .map(|(seen, problem)| {
                json(&serde_json::json!({
                    "name": seen.server.name.as_str(),
                    "status": seen.server.status.word(),
                    "error": problem.as_ref().map(|problem| problem.json(most)),
                }))
            })
            .collect()
    })
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn values(texts: &[String]) -> Value {
    let parsed = texts.iter().map(|text| serde_json::from_str::<Value>(text));
    parsed.filter_map(Result::ok).collect()
}
