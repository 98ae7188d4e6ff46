//! `mcpdeck read`: prints what one resource holds.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use tokio::time::Instant;

use super::args::Args;
use super::exit::Exit;
use super::hint;
use super::output::{print_object, quiet_if_closed};
use super::run::{
    Prepared, complain, is_named, not_found, prepare, printing, quoted, settled, with_engine,
};
use crate::app::EngineHandle;
use crate::app::report::failure_line;
use crate::config::io_reason;
use crate::domain::text;
use crate::domain::{Failure, FailureKind, Interest, ServerName, Status};
use crate::mcp::decode::contents::{Body, Content};
use crate::mcp::traverse::seconds;

/// MCP 2025-11-25, resources, error handling: the resource does not exist. Since 2026-07-28 it is
/// JSON-RPC's "invalid params".
const NOT_FOUND: [i64; 2] = [-32002, -32602];

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside, or stdout cannot be written.
pub fn run(args: &Args, target: &[String], output: Option<&Path>) -> anyhow::Result<Exit> {
    let mut prepared = match prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let (name, uri) = match (prepared.adhoc, target) {
        (true, [uri]) => (prepared.definitions[0].name.clone(), uri),
        (false, [server, uri]) => {
            prepared
                .definitions
                .retain(|definition| is_named(&definition.name, server));
            let Some(definition) = prepared.definitions.first() else {
                complain(&not_found(server, &prepared.loaded));
                return Ok(Exit::NotFound);
            };
            (definition.name.clone(), uri)
        }
        (true, _) => {
            complain("with a server given on the command line, read takes the URI alone");
            return Ok(Exit::Usage);
        }
        (false, _) => {
            complain("read takes a server and a URI: mcpdeck read SERVER URI");
            return Ok(Exit::Usage);
        }
    };
    with_engine(&prepared, Interest::NONE, async |handle| {
        match fetch(args, &prepared, &handle, &name, uri).await {
            Ok(contents) => {
                let result = Read {
                    server: name,
                    uri: uri.clone(),
                    contents,
                    json: args.global.json,
                    quiet: args.global.quiet,
                };
                let output = output.map(Path::to_path_buf);
                printing(move || result.print(output.as_deref())).await
            }
            Err(failure) => {
                let told = match handle.snapshot().server(&name) {
                    Some(server) => {
                        let is_connected = server.status.session().is_some();
                        hint::with_next_step(server, &failure, !is_connected)
                    }
                    None => failure.to_string(),
                };
                complain(&failure_line(&name, &told));
                Ok(judge(&failure))
            }
        }
    })
}

async fn fetch(
    args: &Args,
    prepared: &Prepared,
    handle: &EngineHandle,
    name: &ServerName,
    uri: &str,
) -> Result<Vec<Content>, Failure> {
    let settings = &prepared.loaded.settings;
    let timed_out = |within| {
        Failure::new(
            FailureKind::Timeout,
            format!("not finished within --timeout {}", seconds(within)),
        )
    };
    let started = Instant::now();
    let state = settled(args, handle, 1).await;
    let status = state.server(name).map(|server| &server.status);
    match (status, args.global.timeout) {
        (Some(Status::Connected(_)), _) => {}
        (Some(Status::Disabled), _) => {
            return Err(Failure::new(
                FailureKind::Config,
                format!(
                    "the server is disabled; switch it on with: mcpdeck enable {}",
                    quoted(name)
                ),
            ));
        }
        (Some(Status::Untrusted), _) => {
            return Err(Failure::new(
                FailureKind::Config,
                format!(
                    "the server is of a project file that was not approved; approve it with: mcpdeck trust {}; --trust starts it this once",
                    quoted(name)
                ),
            ));
        }
        (Some(Status::Failed(failure) | Status::NeedsAuth(failure)), _) => {
            return Err(failure.clone());
        }
        (Some(Status::Connecting | Status::Reconnecting { .. }) | None, within) => {
            return Err(timed_out(within.unwrap_or_default()));
        }
    }
    let Some(client) = handle.client(name).await else {
        return Err(Failure::new(FailureKind::Closed, "the server was removed"));
    };
    // A request has its own bound in the client; this one is only there if that fails.
    let own = started + settings.connect_timeout + settings.request_timeout * 5;
    let deadline = args.global.timeout.map_or(own, |within| started + within);
    match (client.read(uri, deadline).await, args.global.timeout) {
        (Err(failure), Some(within)) if Instant::now() >= deadline => {
            tracing::debug!(kind = failure.kind.word(), "a read was given up");
            Err(timed_out(within))
        }
        (outcome, _) => outcome,
    }
}

fn judge(failure: &Failure) -> Exit {
    match failure.kind {
        FailureKind::Auth => Exit::NeedsAuth,
        FailureKind::Rpc { code: Some(code) } if NOT_FOUND.contains(&code) => Exit::NotFound,
        _ => Exit::Failed,
    }
}

/// What was read, and how it is printed.
#[derive(Debug)]
struct Read {
    server: ServerName,
    uri: String,
    contents: Vec<Content>,
    json: bool,
    quiet: bool,
}

#[derive(Serialize)]
struct ReadJson<'a> {
    server: &'a ServerName,
    uri: &'a str,
    contents: &'a [Content],
}

/// The bytes of all contents, and how many characters were left out of them.
struct Bytes {
    bytes: Vec<u8>,
    removed: usize,
}

impl Read {
    fn print(&self, output: Option<&Path>) -> anyhow::Result<Exit> {
        if self.json && output.is_none() {
            return quiet_if_closed(print_object(&ReadJson {
                server: &self.server,
                uri: &self.uri,
                contents: &self.contents,
            }));
        }
        let to_terminal = output.is_none() && io::stdout().is_terminal();
        let is_blob = |content: &Content| matches!(content.body, Body::Blob(_));
        if to_terminal && self.contents.iter().any(is_blob) {
            complain("the resource is binary; write it to a file with -o FILE, or pipe it");
            return Ok(Exit::Usage);
        }
        let Bytes { mut bytes, removed } = match self.bytes(to_terminal) {
            Ok(bytes) => bytes,
            Err(error) => {
                complain(&format!("{}: the blob is no base64: {error}", self.server));
                return Ok(Exit::Failed);
            }
        };
        if let Some(path) = output {
            if let Err(error) = fs::write(path, &bytes) {
                let reason = io_reason(&error);
                complain(&format!("{} cannot be written: {reason}", path.display()));
                return Ok(Exit::Failed);
            }
            return Ok(Exit::Success);
        }
        if to_terminal && !bytes.ends_with(b"\n") && !bytes.is_empty() {
            bytes.push(b'\n');
        }
        let mut stdout = io::stdout().lock();
        let exit = quiet_if_closed(stdout.write_all(&bytes).and_then(|()| stdout.flush()))?;
        if removed > 0 && !self.quiet {
            complain(&format!(
                "{removed} control or invisible characters were left out; a pipe or -o FILE has them all"
            ));
        }
        Ok(exit)
    }

    fn bytes(&self, to_terminal: bool) -> Result<Bytes, base64::DecodeError> {
        let mut bytes = Vec::new();
        let mut removed = 0;
        for content in &self.contents {
            match &content.body {
                Body::Text(text) if to_terminal => {
                    let clean = text::contents(text);
                    removed += clean.removed;
                    bytes.extend_from_slice(clean.text.as_bytes());
                }
                Body::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Body::Blob(blob) => STANDARD.decode_vec(&**blob, &mut bytes)?,
            }
        }
        Ok(Bytes { bytes, removed })
    }
}
