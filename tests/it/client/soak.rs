//! A long run: random orders and random misbehaviour over ten servers, in paused time, seeded.
//! Every state that is published keeps what the contract promises.
//!
//! Each answer of a server to a list method carries its number, in every item. A refresh asks for
//! each listing once, so the numbers of what is shown together must be equal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpdeck::app::{Engine, EngineHandle, Ladder, Launch, Launched};
use mcpdeck::domain::catalog::Slot;
use mcpdeck::domain::{
    AppState, Freshness, Group, ListMethod, Prompt, ProtocolChoice, Resource, ResourceTemplate,
    ServerName, ServerSnapshot, Status, StdioConfig, Tool,
};
use mcpdeck::mcp::{LineRing, Signals};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::stdio;
use crate::support::fake::listing::item;
use crate::support::fake::script::LIST_METHODS;
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::in_process;
use crate::support::random::fastrand;
use crate::support::rig;

const STEPS: u64 = 10_000;
const SERVERS: usize = 10;

/// How many answers of one process to one list method have a number of their own.
const ANSWERS: u64 = 40;

/// The command of a server that behaves well.
const GOOD: &str = "good";

/// What starts the servers, each with another script, and knows the last one of each command.
#[derive(Debug, Default)]
struct Servers {
    last: Mutex<HashMap<String, FakeHandle>>,
    seed: Mutex<u64>,
}

impl Launch for Servers {
    fn launch(
        &self,
        config: &StdioConfig,
        _lines: &Arc<LineRing>,
        _signals: &Arc<Signals>,
    ) -> Result<Launched, String> {
        let mut seed = self.seed.lock().unwrap_or_else(PoisonError::into_inner);
        *seed += 1;
        let script = if config.command == GOOD {
            Script::both().sample()
        } else {
            moody(*seed)
        };
        if config.command != GOOD && seed.is_multiple_of(17) {
            return Err("no such file".to_owned());
        }
        let (stream, fake) = in_process(script);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(config.command.clone(), fake);
        Ok(Launched::InProcess(stream))
    }
}

impl Servers {
    fn last(&self, command: &str) -> Option<FakeHandle> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(command).cloned()
    }
}

/// A server of either era, whose answers are numbered, and some of which come late, fail, or are
/// its last.
fn moody(seed: u64) -> Script {
    let mut random = fastrand(seed);
    let mut script = match random() % 4 {
        0 => Script::modern().sample(),
        1 => Script::both().sample(),
        _ => Script::legacy().sample(),
    };
    script = match random() % 12 {
        0 => script.on("initialize", Reply::exit(1, "")),
        1 => script.on("initialize", Reply::silence()),
        2 => script.on("initialize", Reply::delay(random() % 5_000)),
        3 => script.on("subscriptions/listen", Reply::error(-32603, "no")),
        4 => script.on("subscriptions/listen", Reply::delay(random() % 5_000)),
        5 => script.discover_silent(),
        6 => script.process(|process| process.ignore_eof = true),
        7 => script.after_each_list(Action::list_changed("tools", 2)),
        _ => script,
    };
    for method in LIST_METHODS {
        for nth in 1..=ANSWERS {
            let reply = match random() % 12 {
                0 => Reply::error(-32603, "not now"),
                1 => numbered(method, nth).delayed(random() % 2_000),
                2 => Reply::result(json!({"resultType": "complete"})),
                3 if random().is_multiple_of(8) => Reply::silence(),
                3 if random().is_multiple_of(8) => Reply::exit(1, ""),
                4 => numbered(method, nth).before(Action::list_changed("resources", 1)),
                _ => numbered(method, nth),
            };
            script = script.on_nth(method, nth, reply);
        }
        let last = numbered(method, ANSWERS + 1);
        script = script.rule(Rule::on(method, last).from(ANSWERS + 1));
    }
    script
}

/// The nth answer to a list method.
fn numbered(method: &str, nth: u64) -> Reply {
    let items: Vec<_> = ["a", "b", "c"]
        .iter()
        .map(|name| item(method, &format!("{nth}-{name}")))
        .collect();
    let array = match method {
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        "tools/list" => "tools",
        _ => "prompts",
    };
    Reply::result(json!({array: items, "resultType": "complete"}))
}

/// What a server may not fall behind while its name is there.
#[derive(Debug, Clone, Copy, Default)]
struct Floor {
    epoch: u64,
    generation: u64,
    /// The number of the newest answer of each listing on this connection.
    answers: [u64; 4],
}

/// Looks at every state that is published.
#[derive(Debug, Default)]
struct Checker {
    revision: u64,
    states: u64,
    event: u64,
    floors: HashMap<ServerName, Floor>,
    connected: u64,
    old: u64,
}

impl Checker {
    fn look(&mut self, state: &AppState) {
        assert!(state.revision.0 > self.revision, "the revision grows");
        self.revision = state.revision.0;
        self.states += 1;
        self.floors.retain(|name, _| state.server(name).is_some());
        for server in state.servers.iter() {
            let floor = self.floors.entry(server.name.clone()).or_default();
            let (epoch, generation) = (server.epoch.0, server.generation.0);
            assert!(epoch >= floor.epoch, "{server:#?}");
            assert!(generation >= floor.generation, "{server:#?}");
            if epoch > floor.epoch {
                floor.answers = [0; 4];
            }
            (floor.epoch, floor.generation) = (epoch, generation);
            if server.status.session().is_some() {
                self.connected += 1;
                self.old += u64::from(server.catalog.old_since().is_some());
                check_connected(server, floor);
            } else {
                check_unconnected(server);
            }
        }
        let mut last = None;
        assert!(state.events.len() <= 1_000);
        for event in state.events.iter() {
            assert!(last.is_none_or(|last| event.seq == last + 1));
            last = Some(event.seq);
        }
        assert!(last.unwrap_or(0) >= self.event);
        self.event = last.unwrap_or(0);
    }
}

fn check_connected(server: &ServerSnapshot, floor: &mut Floor) {
    let answers = [
        answer::<Resource>(server),
        answer::<ResourceTemplate>(server),
        answer::<Tool>(server),
        answer::<Prompt>(server),
    ];
    for (method, answer) in ListMethod::ALL.into_iter().zip(answers) {
        let floor = &mut floor.answers[method as usize];
        let Some(answer) = answer else { continue };
        assert!(answer >= *floor, "an older list over a newer: {server:#?}");
        *floor = answer;
        assert!(server.generation.0 > 0, "{server:#?}");
    }
    let fresh = |method| server.catalog.freshness(method) == Freshness::Fresh;
    if fresh(ListMethod::Resources) && fresh(ListMethod::ResourceTemplates) {
        assert_eq!(answers[0], answers[1], "a mixture: {server:#?}");
    }
    for error in server.errors.iter() {
        let method = error.method.unwrap();
        assert!(!fresh(method), "an error beside a fresh list: {server:#?}");
        let shown = server.catalog.count(method).is_some();
        assert_eq!(error.kept, shown, "{server:#?}");
    }
}

fn check_unconnected(server: &ServerSnapshot) {
    for method in ListMethod::ALL {
        assert_eq!(server.catalog.freshness(method), Freshness::Absent);
    }
    assert!(server.refreshing.is_empty() && server.asked.is_empty());
    let failure = server.status.failure();
    let errors: Vec<_> = server.errors.iter().map(|error| error.method).collect();
    assert_eq!(errors, vec![None; usize::from(failure.is_some())]);
    if let Status::Reconnecting { attempt, limit, .. } = &server.status {
        assert!((1..=*limit).contains(attempt), "{server:#?}");
    }
}

/// Which answer a listing shows; it shows one whole.
fn answer<T: Slot>(server: &ServerSnapshot) -> Option<u64> {
    let listing = T::of(&server.catalog);
    let shown: Vec<(u64, &str)> = listing
        .items
        .iter()
        .filter_map(|item| item.label().split_once('-'))
        .filter_map(|(number, name)| Some((number.parse().ok()?, name)))
        .collect();
    let (first, _) = shown.first()?;
    let whole: Vec<(u64, &str)> = ["a", "b", "c"].iter().map(|name| (*first, *name)).collect();
    assert_eq!(shown, whole, "{server:#?}");
    Some(*first)
}

/// Does one random thing to one server.
async fn step(handle: &EngineHandle, servers: &Servers, random: &mut impl FnMut() -> u64) {
    let index = usize::try_from(random()).unwrap_or_default() % SERVERS;
    let command = format!("s{index}");
    let name = ServerName::new(&command).unwrap();
    let fake = servers.last(&command).filter(|fake| !fake.has_ended());
    match random() % 20 {
        0 => handle.set_enabled(&name, false).await,
        1 | 2 => handle.set_enabled(&name, true).await,
        3 => handle.reconnect(&name).await,
        4 => handle.refresh(&name).await,
        5 => handle.refresh_all().await,
        6 => {
            handle.remove(&name).await;
            // The checker sees that it is gone before it is there again.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
        7 | 8 => {
            handle
                .put(vec![stdio(&command, ProtocolChoice::Auto)])
                .await;
        }
        9 | 10 => {
            if let Some(client) = handle.client(&name).await {
                let group = Group::ALL[usize::try_from(random()).unwrap_or_default() % 3];
                let deadline = Instant::now() + Duration::from_millis(random() % 5_000);
                tokio::spawn(async move { client.demand(group, deadline).await });
            }
        }
        11 => {
            if let Some(fake) = fake {
                fake.send(Action::exit(1, "")).await;
            }
        }
        12 => {
            if let Some(fake) = fake {
                fake.send(Action::CloseStdout).await;
            }
        }
        13 => {
            if let Some(fake) = fake {
                fake.send(Action::stdout("noise\n")).await;
                fake.send(Action::EndSubscriptions { graceful: true }).await;
            }
        }
        _ => {
            if let Some(fake) = fake {
                let kind = ["resources", "tools", "prompts"];
                let kind = kind[usize::try_from(random()).unwrap_or_default() % 3];
                fake.send(Action::list_changed(kind, 1 + random() % 20))
                    .await;
            }
        }
    }
    let pause = match random() % 50 {
        0 => 20_000,
        1..=10 => random() % 3_000,
        11..=30 => random() % 200,
        _ => 0,
    };
    tokio::time::sleep(Duration::from_millis(pause)).await;
}

#[tokio::test(start_paused = true)]
async fn every_state_of_a_long_run_keeps_its_promises() {
    let servers = Arc::new(Servers::default());
    let engine = Engine::start_with(rig::live(), Arc::clone(&servers) as Arc<dyn Launch>);
    let handle = engine.handle();
    let mut states = handle.state();
    let (done, mut is_done) = watch::channel(false);
    let checking = tokio::spawn(async move {
        let mut checker = Checker::default();
        loop {
            tokio::select! {
                biased;
                changed = states.changed() => {
                    if changed.is_err() {
                        return checker;
                    }
                    let state = states.borrow_and_update().clone();
                    checker.look(&state);
                }
                _ = is_done.wait_for(|done| *done) => return checker,
            }
        }
    });
    let names: Vec<String> = (0..SERVERS).map(|index| format!("s{index}")).collect();
    let definitions = names
        .iter()
        .map(|name| stdio(name, ProtocolChoice::Auto))
        .collect();
    handle.put(definitions).await;
    let mut random = fastrand(2_026);
    for _ in 0..STEPS {
        step(&handle, &servers, &mut random).await;
        assert!(!checking.is_finished(), "a promise was broken");
    }
    // Whatever happened: a server that behaves well is connected and listed in the end.
    let good = names.iter().map(|name| {
        let mut definition = stdio(GOOD, ProtocolChoice::Auto);
        definition.name = ServerName::new(name).unwrap();
        definition
    });
    handle.put(good.collect()).await;
    let mut states = handle.state();
    let well = states.wait_for(|state| {
        state.servers.len() == SERVERS
            && state.servers.iter().all(|server| {
                server.is_settled()
                    && ListMethod::ALL
                        .iter()
                        .all(|method| server.catalog.freshness(*method) == Freshness::Fresh)
            })
    });
    let well = timeout(Duration::from_mins(5), well).await;
    assert!(well.is_ok(), "{:#?}", handle.snapshot());
    drop(well);
    done.send_replace(true);
    let checker = checking.await.unwrap();
    // Hardly a state was passed over, and the run was no idle one.
    let (seen, published) = (checker.states, checker.revision);
    assert!(seen * 10 >= published * 9, "{seen} of {published}");
    assert!(
        checker.connected > 10_000 && checker.old > 1_000,
        "{checker:?}"
    );
    engine.shutdown(Ladder::BRISK).await;
}
