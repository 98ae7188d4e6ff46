//! `mcpdeck watch`: a line for everything that happens, until interrupted or `--for` is over.
//!
//! Lines are written outside the engine's thread: a reader that is slow makes us lose events, and
//! that is said, but it never holds up a server.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Local, SecondsFormat};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::args::Args;
use super::exit::Exit;
use super::run::{
    Run, complain, hint_if_empty, hint_if_untrusted, load_request, prepare, run_engine,
};
use crate::app::config_store::{self, Following};
use crate::app::report::ErrorJson;
use crate::domain::{Event, EventKind, Interest, RefreshReport, ServerName, text};

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(args: &Args, within: Option<Duration>) -> anyhow::Result<Exit> {
    let prepared = match prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    hint_if_empty(args, &prepared);
    hint_if_untrusted(args, &prepared);
    let within = [within, args.global.timeout].into_iter().flatten().min();
    run_engine(&prepared, Run::live(Interest::ALL), async |handle| {
        // A server of the command line is in no file.
        if !prepared.adhoc {
            let following = Following {
                servers: args.global.server.clone(),
                trust: args.global.trust,
                stand_in: None,
            };
            let latest = watch::Sender::new(Arc::new(prepared.loaded.clone()));
            let request = load_request(args, false);
            tokio::spawn(config_store::follow(
                handle.clone(),
                request,
                following,
                latest,
            ));
        }
        // Nothing happens before there is somebody to see it.
        let events = handle.events();
        handle.put(prepared.definitions.clone()).await;
        let over = async {
            match within {
                Some(within) => tokio::time::sleep(within).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            exit = follow(args, events) => exit,
            () = over => Ok(Exit::Success),
            () = stdout_closed() => Ok(Exit::Success),
        }
    })
}

/// Prints every event.
async fn follow(args: &Args, mut events: Receiver<Arc<Event>>) -> anyhow::Result<Exit> {
    let mut out = tokio::io::stdout();
    let form = match (args.global.json, io::stdout().is_terminal()) {
        (true, _) => Form::Json,
        (false, true) => Form::Terminal,
        (false, false) => Form::Lines,
    };
    loop {
        let line = match events.recv().await {
            Ok(event) => match &event.kind {
                EventKind::Note(note) => {
                    if !args.global.quiet {
                        complain(&said(event.server.as_ref(), note));
                    }
                    continue;
                }
                kind => form.line(event.at, event.server.as_ref(), &Happened::Event(kind)),
            },
            Err(RecvError::Lagged(count)) => {
                form.line(SystemTime::now(), None, &Happened::Lost(count))
            }
            Err(RecvError::Closed) => anyhow::bail!("the engine ended; the log file says why"),
        };
        let written = async {
            out.write_all(line.as_bytes()).await?;
            out.flush().await
        };
        match written.await {
            Ok(()) => {}
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Success),
            Err(error) => return Err(error.into()),
        }
    }
}

fn said(server: Option<&ServerName>, note: &str) -> String {
    match server {
        Some(server) => format!("{server}: {note}"),
        None => note.to_owned(),
    }
}

/// How a line is written.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// One JSON object.
    Json,
    /// For a person: the time of day first.
    Terminal,
    /// Tab-separated: time, server, what happened.
    Lines,
}

/// What a line is about.
#[derive(Debug)]
enum Happened<'a> {
    Event(&'a EventKind),
    /// So many events were not read in time.
    Lost(u64),
}

impl Form {
    fn line(self, at: SystemTime, server: Option<&ServerName>, what: &Happened<'_>) -> String {
        let at = DateTime::<Local>::from(at);
        let time = at.to_rfc3339_opts(SecondsFormat::Millis, true);
        let name = server.map_or("-", ServerName::as_str);
        match self {
            Self::Json => {
                let mut object = Map::new();
                object.insert("time".to_owned(), time.into());
                object.insert("server".to_owned(), json!(server));
                what.fill(name, &mut object);
                format!("{}\n", Value::Object(object))
            }
            Self::Terminal => format!("{} {name} {}\n", at.format("%H:%M:%S"), what.shown()),
            Self::Lines => format!("{time}\t{name}\t{}\n", what.shown()),
        }
    }
}

impl Happened<'_> {
    /// The members of the JSON object behind `time` and `server`.
    fn fill(&self, server: &str, object: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        match self {
            Self::Event(EventKind::Status { word, failure }) => {
                put("event", "status".into());
                put("status", (*word).into());
                let error = failure.as_ref();
                put(
                    "error",
                    json!(error.map(|error| ErrorJson::of(server, None, error))),
                );
            }
            Self::Event(EventKind::ListChanged { group, count }) => {
                put("event", "list_changed".into());
                put("kind", group.word().into());
                put("count", (*count).into());
            }
            Self::Event(EventKind::Refresh(report)) => {
                put("event", "refresh".into());
                put("kind", report.group.word().into());
                put("ok", report.is_ok().into());
                put("generation", report.generation.0.into());
                put("ms", millis(report.took).into());
                let first = report.failures.first();
                let error =
                    first.map(|(method, failure)| ErrorJson::of(server, Some(*method), failure));
                put("error", json!(error));
                if report.is_ok() {
                    for (method, counts) in &report.counts {
                        put(method.field(), json!(counts));
                    }
                }
            }
            // A note is no event of a server; it goes to stderr.
            Self::Event(EventKind::Note(_)) => {}
            Self::Lost(count) => {
                put("event", "lost".into());
                put("count", (*count).into());
            }
        }
    }

    /// For a person, on one line.
    fn shown(&self) -> String {
        let line = match self {
            Self::Event(EventKind::Status { word, failure }) => match failure {
                Some(failure) => format!("{word}: {failure}"),
                None => (*word).to_owned(),
            },
            Self::Event(EventKind::ListChanged { group, count }) => {
                format!("list_changed {} (x{count})", group.word())
            }
            Self::Event(EventKind::Refresh(report)) => refreshed(report),
            Self::Event(EventKind::Note(note)) => note.to_string(),
            Self::Lost(count) => format!("lost {count} events: they were not read in time"),
        };
        text::visible(&text::cell(&line)).into_owned()
    }
}

/// `resources +2 -1 ~1, templates 0, generation 5, 38 ms`.
fn refreshed(report: &RefreshReport) -> String {
    let mut line = String::new();
    if let Some((method, failure)) = report.failures.first() {
        // Writing to a string cannot fail.
        let _ = write!(line, "refresh failed: {}: {failure}, ", method.name());
    }
    for (method, counts) in &report.counts {
        let _ = write!(line, "{}", method.noun());
        for (sign, count) in [
            ('+', counts.added),
            ('-', counts.removed),
            ('~', counts.changed),
        ] {
            if count > 0 {
                let _ = write!(line, " {sign}{count}");
            }
        }
        if counts.is_unchanged() {
            line.push_str(" 0");
        }
        line.push_str(", ");
    }
    let kept = if report.counts.is_empty() {
        "kept "
    } else {
        ""
    };
    let _ = write!(
        line,
        "{kept}generation {}, {} ms",
        report.generation,
        millis(report.took)
    );
    line
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// Waits until nobody can read stdout any more: `watch | head -1` ends also while nothing happens.
#[cfg(unix)]
async fn stdout_closed() {
    use rustix::event::{PollFd, PollFlags, poll};
    // A terminal that goes away is told by a signal.
    if !io::stdout().is_terminal() {
        let closed = tokio::task::spawn_blocking(|| {
            let stdout = io::stdout();
            // Nothing is waited for but what is always told: an error, or that nobody reads.
            let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
            while poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
        });
        if closed.await.is_ok() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(not(unix))]
async fn stdout_closed() {
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Failure, FailureKind, Generation, Group, ListMethod};

    #[test]
    fn a_refresh_is_told_in_one_line() {
        let check = |counts: &[(usize, usize, usize)], failed: bool, expected: &str| {
            let methods = Group::Resources.methods().iter().copied();
            let counts =
                counts
                    .iter()
                    .map(|(added, removed, changed)| crate::domain::diff::Counts {
                        added: *added,
                        removed: *removed,
                        changed: *changed,
                        total: 9,
                    });
            let failure = Failure::new(FailureKind::Rpc { code: Some(-1) }, "no\nidea");
            let report = RefreshReport {
                group: Group::Resources,
                notifications: 14,
                generation: Generation(5),
                took: Duration::from_millis(38),
                counts: methods.zip(counts).collect(),
                names: Vec::new(),
                failures: failed
                    .then_some((ListMethod::Resources, failure))
                    .into_iter()
                    .collect(),
            };
            let kind = EventKind::Refresh(report);
            assert_eq!(Happened::Event(&kind).shown(), expected);
        };
        check(
            &[(2, 1, 1), (0, 0, 0)],
            false,
            "resources +2 -1 ~1, templates 0, generation 5, 38 ms",
        );
        check(
            &[],
            true,
            "refresh failed: resources/list: no idea, kept generation 5, 38 ms",
        );
    }
}
