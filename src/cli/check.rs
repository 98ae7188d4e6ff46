//! `mcpdeck check`: connects to all servers, and says of each how it went, how long it took, and
//! what to do where it failed.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::args::Args;
use super::exit::Exit;
use super::hint;
use super::list::{How, judge, say_untrusted, within_timeout};
use super::output;
use super::run::{complain, hint_if_empty, prepare, printing, settled, with_engine};
use super::table::Table;
use crate::app::EngineHandle;
use crate::app::report::{ErrorJson, ServerJson, all_errors, error_line};
use crate::domain::{AppState, Interest, ListMethod, ServerName, ServerSnapshot, Status};

/// How long each server took until nothing was under way any more.
type Times = HashMap<ServerName, Duration>;

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let prepared = match prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let how = How::new(args);
    hint_if_empty(args, &prepared);
    if prepared.definitions.is_empty() {
        if !how.quiet {
            complain("nothing was checked: there are no servers");
        }
        return print(how, &AppState::default(), &Times::new());
    }
    let servers = prepared.definitions.len();
    with_engine(&prepared, Interest::ALL, async |handle| {
        let started = Instant::now();
        let mut times = Times::new();
        let state = tokio::select! {
            state = settled(args, &handle, servers) => state,
            () = measure(&handle, started, &mut times) => handle.snapshot(),
        };
        let state = within_timeout(args, state);
        note_settled(&state, started, &mut times);
        printing(move || print(how, &state, &times)).await
    })
}

/// Notes when each server settles, until it is dropped.
async fn measure(handle: &EngineHandle, started: Instant, times: &mut Times) {
    let mut states = handle.state();
    loop {
        note_settled(&states.borrow_and_update(), started, times);
        if states.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn note_settled(state: &AppState, started: Instant, times: &mut Times) {
    for server in state.servers.iter().filter(|server| server.is_settled()) {
        times
            .entry(server.name.clone())
            .or_insert_with(|| started.elapsed());
    }
}

#[derive(Serialize)]
struct CheckJson<'a> {
    servers: Vec<CheckedJson<'a>>,
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct CheckedJson<'a> {
    #[serde(flatten)]
    server: ServerJson<'a>,
    ms: Option<u64>,
    hint: Option<String>,
}

fn print(how: How, state: &AppState, times: &Times) -> anyhow::Result<Exit> {
    let printed = if how.json {
        print_json(state, times)
    } else {
        print_table(state, times)
    };
    output::quiet_if_closed(printed)?;
    if !how.json {
        for (server, error) in all_errors(state) {
            complain(&error_line(server, error));
            if !how.quiet {
                complain(&format!("  {}", hint::of_error(server, error)));
            }
        }
    }
    say_untrusted(how, state);
    if let (false, Some(why)) = (how.quiet, nothing_checked(state)) {
        complain(&format!("nothing was checked: {why}"));
    }
    Ok(judge(state))
}

/// Why no server was connected to, and what to do, where none was. Without any server at all that
/// has been said.
fn nothing_checked(state: &AppState) -> Option<String> {
    let count = |status: &Status| {
        let same = |server: &&Arc<ServerSnapshot>| server.status == *status;
        state.servers.iter().filter(same).count()
    };
    let (off, untrusted) = (count(&Status::Disabled), count(&Status::Untrusted));
    if off + untrusted < state.servers.len() {
        return None;
    }
    let all = |count: usize| {
        if count == 1 {
            "the only server is"
        } else {
            "all servers are"
        }
    };
    match (off, untrusted) {
        (0, 0) => None,
        (off, 0) => Some(format!(
            "{} disabled; switch one on with: mcpdeck enable NAME",
            all(off)
        )),
        (0, untrusted) => Some(format!(
            "{} untrusted; approve one with: mcpdeck trust NAME, or all this once with --trust",
            all(untrusted)
        )),
        (off, untrusted) => Some(format!(
            "{off} disabled, {untrusted} untrusted; switch one on with: mcpdeck enable NAME, or approve one with: mcpdeck trust NAME"
        )),
    }
}

fn print_json(state: &AppState, times: &Times) -> io::Result<()> {
    let servers = state.servers.iter().map(|server| CheckedJson {
        server: ServerJson::new(server),
        ms: took(server, times).map(millis),
        hint: hint::hint(server),
    });
    output::print_object(&CheckJson {
        servers: servers.collect(),
        errors: all_errors(state)
            .map(|(server, error)| ErrorJson::new(server, error))
            .collect(),
    })
}

fn print_table(state: &AppState, times: &Times) -> io::Result<()> {
    let mut table = Table::new([
        "NAME",
        "STATUS",
        "TIME",
        "PROTOCOL",
        "SERVER",
        "RESOURCES",
        "TEMPLATES",
        "TOOLS",
        "PROMPTS",
    ]);
    for server in state.servers.iter() {
        let session = server.status.session();
        let time = took(server, times).map(|time| format!("{} ms", millis(time)));
        let protocol = session.map(|session| &*session.protocol_version);
        let software = session.map(|session| {
            let both = format!("{} {}", session.server_name, session.server_version);
            both.trim().to_owned()
        });
        let [resources, templates, tools, prompts] = ListMethod::ALL.map(|method| {
            let count = server.catalog.count(method);
            count.map(|count| count.to_string())
        });
        table.row([
            server.name.as_str(),
            server.status.word(),
            or_dash(time.as_deref()),
            or_dash(protocol),
            or_dash(software.as_deref()),
            or_dash(resources.as_deref()),
            or_dash(templates.as_deref()),
            or_dash(tools.as_deref()),
            or_dash(prompts.as_deref()),
        ]);
    }
    table.print()
}

fn or_dash(cell: Option<&str>) -> &str {
    cell.filter(|cell| !cell.is_empty()).unwrap_or("-")
}

/// A server that was never asked took no time.
fn took(server: &ServerSnapshot, times: &Times) -> Option<Duration> {
    match server.status {
        Status::Disabled | Status::Untrusted => None,
        Status::Connecting
        | Status::Connected(_)
        | Status::Reconnecting { .. }
        | Status::NeedsAuth(_)
        | Status::Failed(_) => times.get(&server.name).copied(),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
