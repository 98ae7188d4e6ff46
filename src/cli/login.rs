//! `mcpdeck login NAME` and `logout NAME`.
//!
//! The URL of the log-in goes to stderr, and to a browser where there is one. The redirect comes
//! back over the loopback interface, or, where the browser is on another machine, as a line that
//! is pasted into stdin.

use std::io::BufRead as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::args::Args;
use super::exit::Exit;
use super::hint;
use super::run::{Prepared, complain, is_named, not_found, prepare, quoted};
use crate::app::Definition;
use crate::app::login::{self, NO_URL, Page, Progress};
use crate::app::signal::signal;
use crate::domain::{Failure, FailureKind, ServerConfig};

/// How long a person may take, unless `--timeout` says otherwise.
const PATIENCE: Duration = Duration::from_mins(5);

/// Logs in at the server, or at the one that is given on the command line.
///
/// # Errors
///
/// The runtime could not be started.
pub fn log_in(args: &Args, name: Option<&str>, browser: bool) -> anyhow::Result<Exit> {
    let config = match server(args, name) {
        Ok(config) => config,
        Err(exit) => return Ok(exit),
    };
    let within = args.global.timeout.unwrap_or(PATIENCE);
    let quiet = args.global.quiet;
    block_on(async {
        let flow = timeout(within, run(&config, browser, quiet));
        let outcome = flow.await.unwrap_or_else(|_| {
            Err(Failure::new(
                FailureKind::Auth,
                "nobody logged in in time; try again",
            ))
        });
        Ok(match outcome {
            Ok(()) => {
                if !quiet {
                    complain(&format!("logged in at {}", config.name));
                }
                Exit::Success
            }
            Err(failure) => {
                complain(&format!("{}: {failure}", config.name));
                exit_of(&failure)
            }
        })
    })
}

/// Forgets the log-in at the server. Nothing of it is needed for that but its URL.
///
/// # Errors
///
/// The runtime could not be started.
pub fn log_out(args: &Args, name: Option<&str>) -> anyhow::Result<Exit> {
    let definition = match chosen(args, name) {
        Ok(definition) => definition,
        Err(exit) => return Ok(exit),
    };
    let name = &definition.name;
    let url = match definition.url() {
        Ok(Some(url)) => url,
        Ok(None) => {
            complain(&format!("{name}: {NO_URL}"));
            return Ok(Exit::Usage);
        }
        Err(failure) => {
            let told = hint::with_next_step(&definition.first_snapshot(), &failure, true);
            complain(&format!(
                "{name}: its URL is needed to find the log-in, and cannot be told: {told}"
            ));
            return Ok(Exit::Failed);
        }
    };
    let quiet = args.global.quiet;
    block_on(async {
        Ok(match login::log_out(&url).await {
            Ok(was_in) => {
                let what = if was_in {
                    "logged out"
                } else {
                    "nobody was logged in"
                };
                if !quiet {
                    complain(&format!("{what} at {name}"));
                }
                Exit::Success
            }
            Err(failure) => {
                complain(&format!("{name}: {failure}"));
                exit_of(&failure)
            }
        })
    })
}

const fn exit_of(failure: &Failure) -> Exit {
    match failure.kind {
        FailureKind::Auth => Exit::NeedsAuth,
        FailureKind::Config => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// The server that is meant.
fn chosen(args: &Args, name: Option<&str>) -> Result<Definition, Exit> {
    let mut prepared = prepare(args)?;
    match (name, prepared.adhoc) {
        (Some(name), false) => {
            let mut definitions = prepared.definitions.iter();
            let found = definitions.find(|definition| is_named(&definition.name, name));
            found.cloned().ok_or_else(|| unknown(name, &prepared))
        }
        (None, true) => prepared.definitions.pop().ok_or(Exit::Internal),
        (Some(_), true) => {
            complain("name a server, or give one with --url, but not both");
            Err(Exit::Usage)
        }
        (None, false) => {
            complain("name a server, or give one with --url");
            Err(Exit::Usage)
        }
    }
}

/// The finished definition of the server.
fn server(args: &Args, name: Option<&str>) -> Result<Arc<ServerConfig>, Exit> {
    let definition = chosen(args, name)?;
    if !definition.trusted {
        complain(&format!(
            "{} is of a project file that was not approved; trust it first: mcpdeck trust {}",
            definition.name,
            quoted(&definition.name)
        ));
        return Err(Exit::Failed);
    }
    definition.config.get().map_err(|failure| {
        let told = hint::with_next_step(&definition.first_snapshot(), &failure, true);
        complain(&format!("{}: {told}", definition.name));
        Exit::Failed
    })
}

fn unknown(name: &str, prepared: &Prepared) -> Exit {
    complain(&not_found(name, &prepared.loaded));
    Exit::NotFound
}

fn block_on(task: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let exit = runtime.block_on(async {
        tokio::select! {
            exit = task => exit,
            ended = signal() => ended.map(Exit::from).map_err(Into::into),
        }
    });
    // The blocking read of stdin cannot be interrupted.
    runtime.shutdown_background();
    exit
}

async fn run(config: &ServerConfig, browser: bool, quiet: bool) -> Result<(), Failure> {
    login::log_in(config, browser, &mut stdin_lines(), |progress| match progress {
        Progress::Page(page) if page.opened && quiet => {}
        Progress::Page(Page {
            url,
            redirect,
            opened,
        }) => {
            let what = if opened {
                "a browser was opened; if it shows nothing, open"
            } else {
                "open in a browser"
            };
            complain(&format!("{what}: {url}"));
            complain(&format!(
                "if the browser is on another machine, paste the address that it ends at ({redirect}?...) here"
            ));
        }
        Progress::Foreign => complain(
            "that is not the address that this log-in ends at; paste the whole of it",
        ),
    })
    .await
}

/// Lines of stdin, read by a thread of their own: a terminal cannot be read otherwise.
fn stdin_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if line.trim().is_empty() {
                continue;
            }
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
