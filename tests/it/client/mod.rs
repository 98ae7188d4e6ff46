//! What happens after the first listing: notifications, failures, reconnects, toggles and
//! replacements, as a table: one row for each hostile behaviour, with the server's script, the
//! steps, and the snapshots that are expected.
//!
//! The rows run the whole engine against fakes of the same process, in paused time; those of
//! [`processes`] that count processes, and those over HTTP, run in real time with real fakes.

mod epochs;
mod eras;
mod eras_http;
mod library;
mod listen;
mod processes;
mod reconnect;
mod refreshes;
mod soak;
mod storms;

use std::time::Duration;

use mcpdeck::app::{Definition, EngineOptions};
use mcpdeck::domain::{
    Interest, ListMethod, ProtocolChoice, ServerConfig, ServerName, ServerSnapshot, StdioConfig,
    TransportConfig,
};
use tokio::time::timeout;

use crate::support::fake::{Action, Script};
use crate::support::handle::FakeHandle;
use crate::support::rig::{self, NAME, Rig, listings};

/// Longer than anything that the engine waits for, and endless in no test.
const DEADLINE: Duration = Duration::from_mins(10);

/// One row of the table.
struct Row {
    what: &'static str,
    /// What the server is at its first start, its second, and so on; the last one stays.
    scripts: Vec<Script>,
    protocol: ProtocolChoice,
    steps: Vec<Step>,
}

/// A step of a row.
enum Step {
    /// The server does something.
    Server(Action),
    /// A person or a program wants something.
    Order(Order),
    /// Time passes.
    Pass(u64),
    /// From now on the server is the one that was started next.
    Started,
    /// No other server was started.
    NoneStarted,
    /// The snapshot will show this, sooner or later.
    Shows(&'static str),
    /// The snapshot shows this now.
    Still(&'static str),
    /// The server has received so many messages of the method.
    Asked(&'static str, usize),
}

/// What a handle can be told.
#[derive(Clone, Copy)]
enum Order {
    Refresh,
    Reconnect,
    Enable,
    Disable,
    Replace,
    Remove,
}

/// A legacy server's row.
fn row(what: &'static str, scripts: Vec<Script>, steps: Vec<Step>) -> Row {
    Row {
        what,
        scripts,
        protocol: ProtocolChoice::Legacy,
        steps,
    }
}

/// A modern server's row.
fn modern_row(what: &'static str, scripts: Vec<Script>, steps: Vec<Step>) -> Row {
    Row {
        protocol: ProtocolChoice::Modern,
        ..row(what, scripts, steps)
    }
}

/// Plays the rows.
async fn play(rows: Vec<Row>) {
    for row in rows {
        play_one(row).await;
    }
}

async fn play_one(row: Row) {
    let what = row.what;
    let mut rig = Rig::start(rig::live());
    rig.script(NAME, row.scripts);
    let definition = stdio(NAME, row.protocol);
    rig.handle.put(vec![definition.clone()]).await;
    let mut fake = rig.arrival().await;
    for (number, step) in row.steps.into_iter().enumerate() {
        let at = format!("{what}, step {}", number + 1);
        match step {
            Step::Server(action) => fake.send(action).await,
            Step::Order(order) => tell(&rig, order, &definition).await,
            Step::Pass(ms) => rig.pass(Duration::from_millis(ms)).await,
            Step::Started => fake = rig.arrival().await,
            Step::NoneStarted => assert!(rig.try_arrival().is_none(), "{at}: one was started"),
            Step::Shows(expected) => shows(&rig, &at, expected).await,
            Step::Still(expected) => {
                fake.settle().await;
                let shown = now(&rig);
                assert!(
                    fits(&shown, expected),
                    "{at}: not {expected:?} but {shown:?}"
                );
            }
            Step::Asked(method, expected) => {
                assert_eq!(fake.count(method).await, expected, "{at}: {method}");
            }
        }
    }
    rig.end().await;
}

async fn tell(rig: &Rig, order: Order, definition: &Definition) {
    let name = &definition.name;
    match order {
        Order::Refresh => rig.handle.refresh(name).await,
        Order::Reconnect => rig.handle.reconnect(name).await,
        Order::Enable => rig.handle.set_enabled(name, true).await,
        Order::Disable => rig.handle.set_enabled(name, false).await,
        Order::Replace => rig.handle.put(vec![definition.clone()]).await,
        Order::Remove => {
            rig.handle.remove(name).await;
        }
    }
}

/// Waits until the snapshot shows it.
async fn shows(rig: &Rig, at: &str, expected: &str) {
    let mut states = rig.handle.state();
    let found = timeout(
        DEADLINE,
        states.wait_for(|state| {
            let server = state.servers.iter().find(|it| it.name.as_str() == NAME);
            let shown = server.map_or_else(|| "gone".to_owned(), |it| shown(it));
            fits(&shown, expected)
        }),
    );
    let came = found.await.is_ok();
    assert!(came, "{at}: not {expected:?} but {:?}", now(rig));
}

/// Whether this is shown; `connected *: ...` is any generation.
fn fits(shown: &str, expected: &str) -> bool {
    let lists = |text: &str| text.split_once(": ").map(|(_, lists)| lists.to_owned());
    if expected.starts_with("connected *") {
        shown.starts_with("connected ") && lists(shown) == lists(expected)
    } else {
        shown == expected
    }
}

/// What the snapshot of the one server shows now.
fn now(rig: &Rig) -> String {
    let state = rig.handle.snapshot();
    let server = state.servers.iter().find(|it| it.name.as_str() == NAME);
    server.map_or_else(|| "gone".to_owned(), |it| shown(it))
}

/// A server in short: status and generation, then resources, templates, tools and prompts. The
/// lists of a server that is not connected are not there.
fn shown(server: &ServerSnapshot) -> String {
    let word = server.status.word();
    if server.status.session().is_some() {
        let quiet = if server.no_live_updates {
            ", no live updates"
        } else {
            ""
        };
        let listings = listings(server).join(" | ");
        return format!("{word} {}{quiet}: {listings}", server.generation);
    }
    for method in ListMethod::ALL {
        assert_eq!(server.catalog.count(method), None, "{word}, but listed");
    }
    assert!(server.refreshing.is_empty(), "{word}, but refreshing");
    match server.status.failure() {
        Some(failure) => format!("{word}: {}: {failure}", failure.kind.word()),
        None => word.to_owned(),
    }
}

/// The definition of a server that speaks over stdio; its name is its command.
fn stdio(name: &str, protocol: ProtocolChoice) -> Definition {
    Definition::from(ServerConfig {
        name: ServerName::new(name).unwrap(),
        transport: TransportConfig::Stdio(StdioConfig {
            command: name.to_owned(),
            ..StdioConfig::default()
        }),
        protocol,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    })
}

/// The options of a program that stays and lists nothing.
fn listless() -> EngineOptions {
    EngineOptions {
        interest: Interest::NONE,
        ..rig::live()
    }
}

/// What the fake was asked and told, in order: `server/discover initialize ...`.
async fn heard(fake: &FakeHandle) -> String {
    fake.methods().await.join(" ")
}
