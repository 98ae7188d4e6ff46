//! `mcpdeck list`: connects to all servers, asks for what is wanted, prints, and says how it went.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::args::Args;
use super::command::What;
use super::exit::Exit;
use super::hint;
use super::output;
use super::run::{
    complain, complain_untrusted, hint_if_empty, prepare, printing, quoted, settled, with_engine,
};
use crate::app::report::{all_errors, error_line};
use crate::domain::{
    AppState, DiscoveryError, Failure, FailureKind, Interest, ListMethod, ServerSnapshot, Status,
};
use crate::mcp::traverse::seconds;

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(args: &Args, what: What) -> anyhow::Result<Exit> {
    let prepared = match prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let how = How::new(args);
    hint_if_empty(args, &prepared);
    if prepared.definitions.is_empty() {
        return print(how, &AppState::default(), what);
    }
    let interest = what.method().map_or(Interest::ALL, Interest::only);
    let servers = prepared.definitions.len();
    with_engine(&prepared, interest, async |handle| {
        let state = settled(args, &handle, servers).await;
        let state = within_timeout(args, state);
        printing(move || print(how, &state, what)).await
    })
}

/// How a result is printed.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// As one JSON object.
    pub json: bool,
    /// Without hints.
    pub quiet: bool,
    /// Whether the servers were asked for by name.
    pub named: bool,
}

impl How {
    /// What the command line says of it.
    pub fn new(args: &Args) -> Self {
        Self {
            json: args.global.json,
            quiet: args.global.quiet,
            named: !args.global.server.is_empty(),
        }
    }
}

/// Prints the state and judges it.
fn print(how: How, state: &AppState, what: What) -> anyhow::Result<Exit> {
    let printed = if how.json {
        output::print_json(state, what)
    } else {
        output::print_text(state, what)
    };
    output::quiet_if_closed(printed)?;
    if !how.json {
        for (server, error) in all_errors(state) {
            let hint = hint::next_step(server, &error.failure, error.method.is_none());
            // The table of servers has the connection's error already.
            let is_shown = what == What::Servers && error.method.is_none();
            match (is_shown, hint) {
                (false, None) => complain(&error_line(server, error)),
                (false, Some(hint)) => {
                    complain(&format!("{}; {hint}", error_line(server, error)));
                }
                (true, Some(hint)) if !how.quiet => complain(&format!("{}: {hint}", server.name)),
                (true, _) => {}
            }
        }
    }
    say_untrusted(how, state);
    if how.quiet {
        return Ok(judge(state));
    }
    let reasons = state.servers.iter().filter(|_| how.named);
    let reasons: Vec<String> = reasons
        .filter_map(|server| why_empty(server, what))
        .collect();
    for reason in &reasons {
        complain(reason);
    }
    let is_told = !reasons.is_empty() || all_errors(state).next().is_some();
    if !is_told && !how.json && io::stdout().is_terminal() {
        say_nothing_there(state, what);
    }
    Ok(judge(state))
}

/// Why a server that was asked for by its name shows no row, if that is not told yet: an untrusted
/// one has been told of, and so has one that failed.
fn why_empty(server: &ServerSnapshot, what: What) -> Option<String> {
    let name = &server.name;
    match (&server.status, what.method()) {
        (Status::Disabled, _) if what != What::Servers => Some(format!(
            "{name}: not started: it is disabled; switch it on with: mcpdeck enable {}",
            quoted(name)
        )),
        (Status::Connected(session), Some(method)) => {
            let needed = method.group().word();
            let is_declared = session.capabilities.iter().any(|it| &**it == needed);
            (!is_declared).then(|| {
                let noun = method.noun();
                format!("{name}: it has no {noun}: it does not declare the capability {needed}")
            })
        }
        _ => None,
    }
}

/// Says to a person that there is nothing, where nothing failed and an empty screen would leave
/// them guessing.
fn say_nothing_there(state: &AppState, what: What) {
    let asked = ListMethod::ALL.map(|method| what.shows(method).then_some(method));
    let asked: Vec<ListMethod> = asked.into_iter().flatten().collect();
    let is_connected =
        |server: &&Arc<ServerSnapshot>| matches!(server.status, Status::Connected(_));
    let connected: Vec<_> = state.servers.iter().filter(is_connected).collect();
    let has_items = |server: &&Arc<ServerSnapshot>| {
        let counts = asked.iter().map(|method| server.catalog.count(*method));
        counts.flatten().any(|count| count > 0)
    };
    if asked.is_empty() || connected.is_empty() || connected.iter().any(has_items) {
        return;
    }
    let nouns: Vec<&str> = asked.iter().map(|method| method.noun()).collect();
    let servers = match connected.as_slice() {
        [only] => only.name.to_string(),
        many => format!("{} connected servers", many.len()),
    };
    complain(&format!("no {} on {servers}", nouns.join(", no ")));
}

/// Says which servers were not started because nobody approved them.
pub fn say_untrusted(how: How, state: &AppState) {
    if how.quiet {
        return;
    }
    for server in state.servers.iter() {
        if server.status == Status::Untrusted {
            complain_untrusted(&server.name);
        }
    }
}

/// The state after `--timeout`, if one was given.
pub fn within_timeout(args: &Args, state: Arc<AppState>) -> Arc<AppState> {
    match args.global.timeout {
        Some(within) => unfinished_failed(&state, within),
        None => state,
    }
}

/// Servers that did not finish in time have failed, and show nothing of what they had begun.
fn unfinished_failed(state: &AppState, within: Duration) -> Arc<AppState> {
    let servers = state
        .servers
        .iter()
        .map(|server| {
            if server.is_settled() {
                Arc::clone(server)
            } else {
                Arc::new(failed(server, within))
            }
        })
        .collect();
    Arc::new(AppState {
        servers,
        ..state.clone()
    })
}

fn failed(server: &ServerSnapshot, within: Duration) -> ServerSnapshot {
    let failure = Failure::new(
        FailureKind::Timeout,
        format!("not finished within --timeout {}", seconds(within)),
    );
    let error = DiscoveryError {
        method: None,
        failure: failure.clone(),
        at: SystemTime::now(),
        count: 1,
        kept: false,
    };
    ServerSnapshot {
        status: Status::Failed(failure),
        catalog: Arc::default(),
        errors: [error].into(),
        ..server.clone()
    }
}

/// The exit code for what is shown.
pub fn judge(state: &AppState) -> Exit {
    let mut exit = Exit::Success;
    for (_, error) in all_errors(state) {
        if error.failure.kind == FailureKind::Auth {
            exit = Exit::NeedsAuth;
        } else {
            return Exit::Failed;
        }
    }
    exit
}
