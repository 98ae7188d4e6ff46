//! An engine whose stdio servers are fakes of this process, so that it runs in paused time: every
//! wait of the engine and of its servers is over as soon as nothing else is left to do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpdeck::app::{
    ClientHandle, Definition, Engine, EngineHandle, EngineOptions, Face, Ladder, Launch, Launched,
};
use mcpdeck::domain::catalog::Slot;
use mcpdeck::domain::{
    AppState, EventKind, Freshness, Interest, Item, ListMethod, Prompt, ProtocolChoice,
    RefreshReport, Resource, ResourceTemplate, ServerConfig, ServerName, ServerSnapshot, Settings,
    StdioConfig, Tool, TransportConfig,
};
use mcpdeck::mcp::{LineRing, Signals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::fake::Script;
use super::handle::FakeHandle;
use super::launch::in_process;

/// Longer than anything that the engine waits for.
const DEADLINE: Duration = Duration::from_mins(10);

/// The name of the server, where a test has only one.
pub const NAME: &str = "fake";

/// A running engine and its fakes.
#[derive(Debug)]
pub struct Rig {
    engine: Engine,
    /// What faces have of the engine.
    pub handle: EngineHandle,
    scripts: Arc<Scripts>,
    arrivals: UnboundedReceiver<FakeHandle>,
}

/// What each server is when it is started: the next script of its command; the last one stays.
#[derive(Debug)]
struct Scripts {
    of: Mutex<BTreeMap<String, VecDeque<Script>>>,
    arrivals: UnboundedSender<FakeHandle>,
}

impl Launch for Scripts {
    fn launch(
        &self,
        config: &StdioConfig,
        _lines: &Arc<LineRing>,
        _signals: &Arc<Signals>,
    ) -> Result<Launched, String> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let scripts = of.get_mut(&config.command).ok_or("no such script")?;
        let script = match scripts.len() {
            1 => scripts.front().cloned(),
            _ => scripts.pop_front(),
        };
        let (stream, fake) = in_process(script.ok_or("no script is left")?);
        let _ = self.arrivals.send(fake);
        Ok(Launched::InProcess(stream))
    }
}

/// The options of a program that stays, with the default settings.
pub fn live() -> EngineOptions {
    EngineOptions {
        face: Face::Deck,
        interest: Interest::ALL,
        live: true,
        settings: Settings::default(),
    }
}

/// The definition of a server that speaks over stdio and is started by this command.
pub fn definition(name: &str, command: &str, args: Vec<String>) -> Definition {
    Definition::from(ServerConfig {
        name: ServerName::new(name).unwrap(),
        transport: TransportConfig::Stdio(StdioConfig {
            command: command.to_owned(),
            args,
            ..StdioConfig::default()
        }),
        protocol: ProtocolChoice::Legacy,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    })
}

impl Rig {
    /// An engine without servers.
    pub fn start(options: EngineOptions) -> Self {
        let (sender, arrivals) = unbounded_channel();
        let scripts = Arc::new(Scripts {
            of: Mutex::default(),
            arrivals: sender,
        });
        let engine = Engine::start_with(options, Arc::clone(&scripts) as Arc<dyn Launch>);
        Self {
            handle: engine.handle(),
            engine,
            scripts,
            arrivals,
        }
    }

    /// A live engine with one server, once its first catalog is there.
    pub async fn with(script: Script) -> (Self, FakeHandle) {
        let mut rig = Self::start(live());
        rig.add(NAME, vec![script]).await;
        let fake = rig.arrival().await;
        rig.settled().await;
        (rig, fake)
    }

    /// Adds a server, or replaces it; each of its starts plays the next script.
    pub async fn add(&mut self, name: &str, scripts: Vec<Script>) {
        self.script(name, scripts);
        self.handle
            .put(vec![definition(name, name, Vec::new())])
            .await;
    }

    /// Lets the next starts of a server play other scripts.
    pub fn script(&mut self, name: &str, scripts: Vec<Script>) {
        let mut of = self
            .scripts
            .of
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        of.insert(name.to_owned(), scripts.into());
    }

    /// The next server that is started.
    pub async fn arrival(&mut self) -> FakeHandle {
        let arrival = timeout(DEADLINE, self.arrivals.recv()).await;
        arrival.expect("a server is started").unwrap()
    }

    /// Waits for a state.
    pub async fn state(&self, what: &str, is: impl Fn(&AppState) -> bool) -> Arc<AppState> {
        let mut states = self.handle.state();
        let found = timeout(DEADLINE, states.wait_for(|state| is(state))).await;
        match found {
            Ok(Ok(state)) => Arc::clone(&state),
            _ => panic!("not {what}: {:#?}", self.handle.snapshot()),
        }
    }

    /// Waits for a state of the one server.
    pub async fn until(
        &self,
        what: &str,
        is: impl Fn(&ServerSnapshot) -> bool,
    ) -> Arc<ServerSnapshot> {
        let name = ServerName::new(NAME).unwrap();
        let is = |state: &AppState| state.server(&name).is_some_and(|server| is(server));
        let state = self.state(what, is).await;
        Arc::clone(state.server(&name).unwrap())
    }

    /// Waits until nothing is under way.
    pub async fn settled(&self) -> Arc<ServerSnapshot> {
        self.until("settled", ServerSnapshot::is_settled).await
    }

    /// Lets paused time pass.
    pub async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// The one server's latest snapshot.
    pub fn server(&self) -> Arc<ServerSnapshot> {
        let state = self.handle.snapshot();
        Arc::clone(state.server(&ServerName::new(NAME).unwrap()).unwrap())
    }

    /// The handle of the one server's client.
    pub async fn client(&self) -> ClientHandle {
        let name = ServerName::new(NAME).unwrap();
        self.handle.client(&name).await.unwrap()
    }

    /// All refreshes so far, oldest first.
    pub fn refreshes(&self) -> Vec<RefreshReport> {
        let state = self.handle.snapshot();
        state
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Refresh(report) => Some(report.clone()),
                _ => None,
            })
            .collect()
    }

    /// Ends the engine.
    pub async fn end(self) {
        self.engine.shutdown(Ladder::BRISK).await;
    }
}

/// How a listing stands, in short: `a b`, `old: a b`, `failed`, `-` where there is none; and
/// behind it its error, if it has one: `failed !rpc -32603: no such method`.
pub fn listing(server: &ServerSnapshot, method: ListMethod) -> String {
    let items = match method {
        ListMethod::Resources => items::<Resource>(server),
        ListMethod::ResourceTemplates => items::<ResourceTemplate>(server),
        ListMethod::Tools => items::<Tool>(server),
        ListMethod::Prompts => items::<Prompt>(server),
    };
    let mut shown = match server.catalog.freshness(method) {
        Freshness::Absent => format!("-{items}"),
        Freshness::Failed => format!("failed{items}"),
        Freshness::Fresh => items,
        Freshness::Old { .. } => format!("old: {items}"),
    };
    if let Some(error) = server.error(Some(method)) {
        let kind = error.failure.kind;
        let code = kind
            .code()
            .map_or_else(String::new, |code| format!(" {code}"));
        shown = format!("{shown} !{}{code}: {}", kind.word(), error.failure);
    }
    shown
}

fn items<T: Slot>(server: &ServerSnapshot) -> String {
    let items = T::of(&server.catalog).items.iter();
    items.map(Item::label).collect::<Vec<_>>().join(" ")
}

/// The four listings, as [`listing`] shows them.
pub fn listings(server: &ServerSnapshot) -> [String; 4] {
    ListMethod::ALL.map(|method| listing(server, method))
}

/// What a server with this script shows after its first discovery, and the fake to be asked how
/// often it was asked.
pub async fn discovered(script: Script) -> (Arc<ServerSnapshot>, FakeHandle) {
    let mut rig = Rig::start(EngineOptions {
        live: false,
        ..live()
    });
    rig.add(NAME, vec![script]).await;
    let fake = rig.arrival().await;
    let server = rig.settled().await;
    // What was not asked for by now shall not be asked for later either.
    rig.pass(Duration::from_secs(1)).await;
    fake.settle().await;
    rig.end().await;
    (server, fake)
}
