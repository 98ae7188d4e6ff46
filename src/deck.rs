//! The deck as the program starts it: config, engine on a thread of its own, screen on this one.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use futures::FutureExt as _;
use mcpdeck::app::config_store::{LoadRequest, load_theme};
use mcpdeck::app::signal::Signals;
use mcpdeck::app::{Definition, EngineOptions, EngineThread, Face, Following, Ladder, Manager};
use mcpdeck::cli::{self, Args, Exit};
use mcpdeck::config::{ConfigProblem, Keys, ProblemKind};
use mcpdeck::domain::{
    Interest, ProtocolChoice, ServerConfig, ServerName, StdioConfig, TransportConfig,
};
use mcpdeck::tui::keymap::{KeyError, Keymap, TABLE};
use mcpdeck::tui::{self, DeckError, DeckOptions, Ending};

/// The name of the server that stands in for a config.
const DEMO: &str = "demo";

/// Runs the deck over an engine on a thread of its own.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        cli::complain("the deck needs a terminal; for scripts there is: mcpdeck list --json");
        return Ok(Exit::Usage);
    }
    let prepared = match cli::prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let loaded = &prepared.loaded;
    let mut settings = loaded.settings.clone();
    settings.ascii |= args.global.ascii;
    let keys = key_lists(&loaded.keys);
    let theme = match load_theme(&settings) {
        Ok(theme) => theme,
        Err(error) => {
            cli::complain(&error.to_string());
            return Ok(Exit::Usage);
        }
    };
    let demo = prepared.definitions.is_empty() && !prepared.adhoc;
    let servers = if demo {
        vec![demo_definition()?]
    } else {
        prepared.definitions.clone()
    };
    let engine = EngineThread::start(
        EngineOptions {
            face: Face::Deck,
            interest: Interest::ALL,
            live: true,
            settings: settings.clone(),
        },
        servers,
    )?;
    let request = LoadRequest {
        environment: loaded.environment.clone(),
        ..cli::load_request(args, prepared.adhoc)
    };
    let options = DeckOptions {
        settings,
        keys,
        theme,
        file: args
            .global
            .config
            .last()
            .or(loaded.write_path.as_ref())
            .cloned(),
        home: std::env::home_dir(),
        demo,
    };
    let manager = Manager::new(engine.handle(), request, loaded);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let following = Following {
        servers: args.global.server.clone(),
        trust: args.global.trust,
        stand_in: demo.then(|| ServerName::new(DEMO)).transpose()?,
    };
    let ended = runtime.block_on(async {
        if !prepared.adhoc {
            tokio::spawn(manager.follow(following));
        }
        let mut signals = Signals::listen()?;
        let ended = tui::run(manager, options).await;
        if matches!(ended, Ok(Ending::Interrupted)) {
            // That one is obeyed already.
            signals.interrupt().now_or_never();
        }
        // Ctrl-C is a signal now that the terminal is given back.
        engine.stop(Ladder::PATIENT, signals.interrupt()).await;
        ended
    });
    runtime.shutdown_background();
    match ended {
        Ok(Ending::Quit) => Ok(Exit::Success),
        Ok(Ending::HungUp) => Ok(Exit::HungUp),
        Ok(Ending::Interrupted) => Ok(Exit::Interrupted),
        Ok(Ending::Terminated) => Ok(Exit::Terminated),
        // A terminal that is gone may be noticed by a frame before the hang-up arrives.
        Err(DeckError::Terminal(error)) if tui::is_gone(&error) => Ok(Exit::HungUp),
        Err(error) => Err(error.into()),
    }
}

/// What is wrong with the key lists of config files, if something is, and where.
pub fn wrong_keys(keys: &Keys) -> Option<ConfigProblem> {
    let error = Keymap::new(&key_lists(keys)).err()?;
    let told = || ProblemKind::Other(error.to_string());
    let lists = || error.actions().into_iter().filter_map(|name| keys.of(name));
    let wrong = lists().find_map(|list| {
        let key = list.keys.iter().find(|key| error.is_about(key.text()))?;
        Some(key.problem(told()))
    });
    let wrong = wrong.or_else(|| {
        let list = lists().next()?;
        Some(match error {
            KeyError::UnknownAction { .. } => list.unknown(TABLE.iter().map(|row| row.name)),
            _ => list.problem(error.to_string()),
        })
    });
    Some(wrong.unwrap_or_else(|| ConfigProblem::new(told(), None)))
}

/// The key lists of the config files.
fn key_lists(keys: &Keys) -> BTreeMap<String, Vec<String>> {
    let lists = keys.actions.iter().map(|list| {
        let keys = list.keys.iter().map(|key| key.text().to_owned()).collect();
        (list.action.clone(), keys)
    });
    lists.collect()
}

/// Ourselves as the demo server.
fn demo_definition() -> anyhow::Result<Definition> {
    let config = ServerConfig {
        name: ServerName::new(DEMO)?,
        transport: TransportConfig::Stdio(StdioConfig {
            command: std::env::current_exe()?.to_string_lossy().into_owned(),
            args: vec!["demo-server".to_owned()],
            ..StdioConfig::default()
        }),
        protocol: ProtocolChoice::Auto,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    };
    Ok(Definition {
        // Where we are installed is of no interest.
        target: "mcpdeck demo-server".into(),
        ..Definition::from(config)
    })
}
