//! What every headless command does first and last: read the config, start an engine, wait, end.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::args::Args;
use super::exit::Exit;
use super::progress;
use crate::app::config_store::{LoadRequest, Loaded, load, process_environment};
use crate::app::signal::signal;
use crate::app::{Definition, Engine, EngineHandle, EngineOptions, Face, Ladder};
use crate::config::{AdHoc, adhoc, nearest};
use crate::domain::{AppState, Interest, ServerName, text};

/// The servers that a run is about, and with what settings.
#[derive(Debug)]
pub struct Prepared {
    /// All that the files say.
    pub loaded: Loaded,
    /// The servers, in config order, those of `--server` only.
    pub definitions: Vec<Definition>,
    /// Whether the one server is given on the command line.
    pub adhoc: bool,
}

/// Reads the config, and the server of the command line if there is one. What is wrong is said on
/// stderr.
///
/// # Errors
///
/// [`Exit::Usage`] for a wrong config or command line, [`Exit::NotFound`] for an unknown server.
pub fn prepare(args: &Args) -> Result<Prepared, Exit> {
    let command = args.server_command();
    let is_adhoc = !command.is_empty() || args.adhoc.url.is_some();
    let usage = |message: String| {
        complain(&message);
        Exit::Usage
    };
    if is_adhoc && !args.global.server.is_empty() {
        return Err(usage(
            "--server chooses among configured servers; a server given on the command line is the only one".into(),
        ));
    }
    let request = load_request(args, is_adhoc);
    let mut loaded = load(&request).map_err(|error| usage(error.to_string()))?;
    if is_adhoc {
        let entry =
            adhoc(&given(args), &loaded.environment).map_err(|error| usage(error.to_string()))?;
        loaded.entries = vec![entry];
    } else if let Some(exit) = refuse_adhoc(args) {
        return Err(exit);
    }
    if args.global.trust {
        for entry in &mut loaded.entries {
            entry.trusted = true;
        }
    }
    choose(&mut loaded, &args.global.server)?;
    let environment = Arc::new(loaded.environment.clone());
    let definitions = loaded
        .entries
        .iter()
        .map(|entry| Definition::of_entry(Arc::new(entry.clone()), Arc::clone(&environment)))
        .collect();
    if !args.global.quiet {
        for note in &loaded.notes {
            complain(&note.to_string());
        }
    }
    Ok(Prepared {
        loaded,
        definitions,
        adhoc: is_adhoc,
    })
}

/// What is to be loaded by what the command line says.
#[must_use]
pub fn load_request(args: &Args, settings_only: bool) -> LoadRequest {
    LoadRequest {
        files: args.global.config.clone(),
        settings_only,
        check_keys: args.check_keys,
        environment: process_environment(),
    }
}

/// Reads the config of a command that takes no server of the command line, and keeps the servers
/// of `--server`.
pub fn load_chosen(args: &Args) -> Result<Loaded, Exit> {
    let mut loaded = load(&load_request(args, false)).map_err(|error| {
        complain(&error.to_string());
        Exit::Usage
    })?;
    choose(&mut loaded, &args.global.server)?;
    Ok(loaded)
}

/// The server that the command line describes.
pub fn given(args: &Args) -> AdHoc<'_> {
    let options = &args.adhoc;
    AdHoc {
        command: args.server_command(),
        url: options.url.as_deref(),
        env: &options.env,
        inherit_env: options.inherit_env,
        cwd: options.cwd.as_deref(),
        headers: &options.header,
        transport: options.transport.as_deref(),
        protocol: options.protocol.as_deref(),
    }
}

/// Says that options of a server given on the command line stand where there is none.
pub fn refuse_adhoc(args: &Args) -> Option<Exit> {
    let url = args.adhoc.url.is_some().then_some("--url");
    let option = url.or_else(|| adhoc_option(args))?;
    complain(&format!(
        "{option} belongs to a server given on the command line: with -- COMMAND or --url URL, of a command that takes one"
    ));
    Some(Exit::Usage)
}

/// The first option that only a server of the command line can have.
fn adhoc_option(args: &Args) -> Option<&'static str> {
    let options = &args.adhoc;
    [
        (!options.env.is_empty(), "--env"),
        (options.inherit_env, "--inherit-env"),
        (options.cwd.is_some(), "--cwd"),
        (!options.header.is_empty(), "--header"),
        (options.transport.is_some(), "--transport"),
        (options.protocol.is_some(), "--protocol"),
    ]
    .into_iter()
    .find_map(|(given, option)| given.then_some(option))
}

/// Keeps the servers of `--server`, in config order.
pub fn choose(loaded: &mut Loaded, wanted: &[String]) -> Result<(), Exit> {
    choose_names(wanted, &names(loaded))?;
    if !wanted.is_empty() {
        loaded
            .entries
            .retain(|entry| wanted.iter().any(|name| entry.name.as_str() == name));
    }
    Ok(())
}

/// Whether all wanted servers are among the names; what is not is said on stderr.
pub fn choose_names(wanted: &[String], names: &[&str]) -> Result<(), Exit> {
    match wanted.iter().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            complain(&unknown_server(name, names));
            Err(Exit::NotFound)
        }
    }
}

/// Says that there is no such server, and which there are.
pub fn not_found(name: &str, loaded: &Loaded) -> String {
    unknown_server(name, &names(loaded))
}

/// Says that there is no such server among these, which one may be meant, and which there are.
pub fn unknown_server(name: &str, names: &[&str]) -> String {
    let meant = match nearest(name, names.iter().copied()) {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None => String::new(),
    };
    format!(
        "server \"{name}\" not found{meant}; available servers: {}",
        listed(names)
    )
}

/// The names, as many as a person reads.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 20;
    match names {
        [] => "none".to_owned(),
        [first @ .., _] if first.len() >= MOST => {
            let (shown, rest) = names.split_at(MOST);
            format!("{} and {} more", shown.join(", "), rest.len())
        }
        names => names.join(", "),
    }
}

fn names(loaded: &Loaded) -> Vec<&str> {
    let entries = loaded.entries.iter();
    entries.map(|entry| entry.name.as_str()).collect()
}

/// The name as it stands behind a command of ours on the line of a shell.
pub fn quoted(name: &ServerName) -> String {
    let word = text::literal_word(name.as_str());
    if word.starts_with('-') {
        format!("-- {word}")
    } else {
        word.into_owned()
    }
}

/// Says on stderr that a server was not started because nobody approved it.
pub fn complain_untrusted(name: &ServerName) {
    complain(&format!(
        "{name}: not started: it is of a project file that was not approved; approve it with: mcpdeck trust {word}; --trust starts it this once",
        word = quoted(name)
    ));
}

/// Says which servers will not be started because nobody approved them.
pub fn hint_if_untrusted(args: &Args, prepared: &Prepared) {
    let definitions = prepared.definitions.iter();
    let waiting = definitions.filter(|it| it.enabled && !it.trusted);
    for definition in waiting.filter(|_| !args.global.quiet) {
        complain_untrusted(&definition.name);
    }
}

/// Says on stderr that there is no server at all, and how to get one.
pub fn hint_if_empty(args: &Args, prepared: &Prepared) {
    if prepared.definitions.is_empty() && !args.global.quiet {
        complain(&empty_hint(prepared.loaded.write_path.as_deref()));
    }
}

/// How to get a first server.
pub fn empty_hint(path: Option<&Path>) -> String {
    let place = path.map_or_else(String::new, |path| format!(" to {}", path.display()));
    format!(
        "no servers are configured; add some{place}, see what other tools have with: mcpdeck import, name a file with --config, or try: mcpdeck list all -- mcpdeck demo-server"
    )
}

/// A message on stderr, of one line or more. Whatever it quotes, nothing in it steers the
/// terminal. If nobody reads it, there is nobody to tell.
pub fn complain(message: &str) {
    let lines: Vec<_> = message.split('\n').map(text::visible).collect();
    let _ = writeln!(std::io::stderr().lock(), "mcpdeck: {}", lines.join("\n"));
}

/// What an engine of a command is for.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    interest: Interest,
    live: bool,
    ladder: Ladder,
}

impl Run {
    /// Asked once, and ended quickly.
    pub const fn once(interest: Interest) -> Self {
        Self {
            interest,
            live: false,
            ladder: Ladder::BRISK,
        }
    }

    /// Changes are followed, and servers have time to end.
    pub const fn live(interest: Interest) -> Self {
        Self {
            interest,
            live: true,
            ladder: Ladder::PATIENT,
        }
    }
}

/// Runs the task over an engine with the servers, on this thread; then ends the servers, quickly
/// and all at once. A signal ends the task first.
///
/// # Errors
///
/// The runtime could not be started, or the task failed.
pub fn with_engine<F>(
    prepared: &Prepared,
    interest: Interest,
    task: impl FnOnce(EngineHandle) -> F,
) -> anyhow::Result<Exit>
where
    F: Future<Output = anyhow::Result<Exit>>,
{
    run_engine(prepared, Run::once(interest), async |handle| {
        handle.put(prepared.definitions.clone()).await;
        task(handle).await
    })
}

/// Runs the task over an engine that has no servers yet, as [`with_engine`].
///
/// # Errors
///
/// As of [`with_engine`].
pub fn run_engine<F>(
    prepared: &Prepared,
    run: Run,
    task: impl FnOnce(EngineHandle) -> F,
) -> anyhow::Result<Exit>
where
    F: Future<Output = anyhow::Result<Exit>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let options = EngineOptions {
        face: Face::Cli,
        interest: run.interest,
        live: run.live,
        settings: prepared.loaded.settings.clone(),
    };
    let exit = runtime.block_on(async {
        let engine = Engine::start(options);
        let exit = tokio::select! {
            exit = task(engine.handle()) => exit,
            ended = signal() => ended.map(Exit::from).map_err(Into::into),
        };
        engine.shutdown(run.ladder).await;
        exit
    });
    // Printing that was given up, or a blocking read of a config file, must not keep us.
    runtime.shutdown_background();
    exit
}

/// Prints in a thread of its own: a pipe that nobody reads must keep neither a signal nor the
/// servers waiting.
///
/// # Errors
///
/// What the printing says, or that it panicked.
pub async fn printing(
    print: impl FnOnce() -> anyhow::Result<Exit> + Send + 'static,
) -> anyhow::Result<Exit> {
    tokio::task::spawn_blocking(print).await?
}

/// Waits until nothing is under way any more, or until `--timeout` is over.
pub async fn settled(args: &Args, handle: &EngineHandle, servers: usize) -> Arc<AppState> {
    let mut states = handle.state();
    let all_settled = states.wait_for(|state| {
        state.servers.len() == servers && state.servers.iter().all(|server| server.is_settled())
    });
    let deadline = async {
        match args.global.timeout {
            Some(within) => tokio::time::sleep(within).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = all_settled => {}
        () = deadline => {}
        () = progress::show(handle, args.global.quiet) => {}
    }
    handle.snapshot()
}

/// The server's place among those of the run.
pub fn is_named(name: &ServerName, wanted: &str) -> bool {
    name.as_str() == wanted
}
