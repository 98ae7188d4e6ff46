//! 5.12: what makes a catalog invalid, and that it is so before anything is cleaned up.

use std::path::PathBuf;
use std::time::Duration;

use mcpdeck::app::{Engine, Ladder};
use mcpdeck::domain::{
    Group, HttpConfig, HttpFlavour, ListMethod, ServerName, ServerSnapshot, TransportConfig,
};
use mcpdeck::domain::{ProtocolChoice, ServerConfig};

use crate::support::fake::{Action, Listing, Reply, Rule, Script, Sigterm};
use crate::support::launch::{Control, http_server};
use crate::support::rig::{NAME, Rig, definition, listings, live};

const TOOLS: &str = "tools/list";
const RESOURCES: &str = "resources/list";
const NOTHING: [&str; 4] = ["-"; 4];
const SOON: Duration = Duration::from_secs(20);

/// Checks that a server that is not connected shows, counts and refreshes nothing.
#[track_caller]
fn assert_empty(server: &ServerSnapshot) {
    assert_eq!(listings(server), NOTHING, "{}", server.status.word());
    let counts = ListMethod::ALL.map(|method| server.catalog.count(method));
    assert_eq!(counts, [None; 4]);
    assert!(server.refreshing.is_empty() && server.asked.is_empty());
    assert!(server.errors.iter().all(|error| error.method.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_takes_its_lists_along() {
    let mut rig = Rig::start(live());
    let changed = Script::legacy().sample().named(RESOURCES, &["one", "two"]);
    rig.add(NAME, vec![Script::legacy().sample(), changed])
        .await;
    let first = rig.arrival().await;
    let before = rig.settled().await;
    first.send(Action::exit(1, "")).await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    assert_empty(&lost);
    rig.arrival().await;
    let after = rig
        .until("back", |server| server.status.word() == "connected")
        .await;
    let after = if after.is_settled() {
        after
    } else {
        rig.settled().await
    };
    assert_eq!(listings(&after), ["one two", "one", "one", "one"]);
    assert!(after.epoch > before.epoch);
    assert_eq!((before.generation.0, after.generation.0), (1, 2));
    // The last catalog was kept to tell what is new.
    let reports = rig.refreshes();
    let report = reports
        .iter()
        .rfind(|report| report.group == Group::Resources)
        .unwrap();
    let (_, counts) = report.counts[0];
    assert_eq!((counts.added, counts.removed, counts.total), (1, 0, 2));
    assert!(after.catalog.resources.changes.is_some());
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn errors_of_a_connection_end_with_it() {
    let mut rig = Rig::start(live());
    let broken = Script::legacy()
        .sample()
        .on(TOOLS, Reply::error(-32603, "no"));
    rig.add(NAME, vec![broken, Script::legacy().sample()]).await;
    let first = rig.arrival().await;
    assert_eq!(rig.settled().await.errors.len(), 1);
    first.send(Action::exit(1, "")).await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    assert_empty(&lost);
    rig.arrival().await;
    let back = rig
        .until("back", |server| {
            server.status.word() == "connected" && server.is_settled()
        })
        .await;
    assert_eq!(back.errors.len(), 0);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn switching_replacing_and_reconnecting_start_anew() {
    let (mut rig, first) = Rig::with(Script::legacy().sample()).await;
    let name = rig.server().name.clone();
    rig.handle.set_enabled(&name, false).await;
    let disabled = rig
        .until("disabled", |server| server.status.word() == "disabled")
        .await;
    assert_empty(&disabled);
    first.wait_end(SOON).await;
    rig.handle.set_enabled(&name, true).await;
    let second = rig.arrival().await;
    let enabled = rig
        .until("enabled", |server| server.status.word() == "connected")
        .await;
    assert!(enabled.epoch > disabled.epoch);

    // What was asked of the old one is of no concern any more.
    second
        .send(Action::rule(Rule::on(TOOLS, Reply::hold())))
        .await;
    second
        .send(Action::set_pages(TOOLS, Listing::named(TOOLS, &["late"])))
        .await;
    rig.handle.refresh(&name).await;
    second.wait_for(TOOLS, 2, SOON).await;
    rig.script(NAME, vec![Script::legacy().named(TOOLS, &["new"])]);
    rig.handle.reconnect(&name).await;
    let third = rig.arrival().await;
    assert!(second.has_ended());
    second.send(Action::release(TOOLS)).await;
    let reconnected = rig
        .until("reconnected", |server| {
            server.epoch.0 == 3 && server.is_settled()
        })
        .await;
    assert_eq!(listings(&reconnected), ["-", "-", "new", "-"]);

    rig.add(NAME, vec![Script::legacy().named(TOOLS, &["newest"])])
        .await;
    rig.arrival().await;
    assert!(third.has_ended());
    let replaced = rig
        .until("replaced", |server| {
            server.epoch.0 == 4 && server.is_settled()
        })
        .await;
    assert_eq!(listings(&replaced), ["-", "-", "newest", "-"]);
    rig.handle.remove(&name).await;
    rig.state("removed", |state| state.servers.is_empty()).await;
    rig.end().await;
}

/// A handshake that ends after its server was switched off changes nothing.
#[tokio::test(start_paused = true)]
async fn a_handshake_that_is_called_off_leaves_nothing() {
    let mut rig = Rig::start(live());
    let slow = Script::legacy().sample().on("initialize", Reply::hold());
    rig.add(NAME, vec![slow]).await;
    let fake = rig.arrival().await;
    fake.wait_for("initialize", 1, SOON).await;
    let name = ServerName::new(NAME).unwrap();
    rig.handle.set_enabled(&name, false).await;
    fake.send(Action::release("initialize")).await;
    let disabled = rig
        .until("disabled", |server| server.status.word() == "disabled")
        .await;
    assert_empty(&disabled);
    rig.pass(SOON).await;
    assert_eq!(rig.server().status.word(), "disabled");
    assert_eq!(fake.count(TOOLS).await, 0);
    rig.end().await;
}

/// Whether a process is alive (a zombie is not).
fn is_alive(pid: u32) -> bool {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    let state = |stat: String| stat.rsplit(')').next()?.trim().chars().next();
    std::fs::read_to_string(stat)
        .ok()
        .and_then(state)
        .is_some_and(|state| state != 'Z')
}

/// An old process that refuses to go, in real time: its lists are gone before it is, and the next
/// process does not start before it is gone.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn lists_go_before_the_process_and_the_next_one_comes_after_it() {
    let stubborn = Script::legacy().sample().process(|process| {
        process.ignore_eof = true;
        process.sigterm = Sigterm::Ignore;
    });
    let mut control = Control::listen().await;
    let start = |control: &mut Control, script: &Script| {
        let line = control.command(script);
        definition(NAME, &line.program.to_string_lossy(), line.arguments)
    };
    let engine = Engine::start(live());
    let handle = engine.handle();
    let mut states = handle.state();
    let name = ServerName::new(NAME).unwrap();
    let mut until = async |is: &dyn Fn(&ServerSnapshot) -> bool| {
        let state = states.wait_for(|state| state.server(&name).is_some_and(|server| is(server)));
        let state = tokio::time::timeout(SOON, state).await.unwrap().unwrap();
        state.server(&name).unwrap().clone()
    };
    handle.put(vec![start(&mut control, &stubborn)]).await;
    let first = control.accept().await;
    let first_pid = first.pid().await;
    until(&ServerSnapshot::is_settled).await;

    let next = Script::legacy().named(TOOLS, &["next"]);
    handle.put(vec![start(&mut control, &next)]).await;
    let gone = until(&|server| server.status.word() == "connecting").await;
    assert_empty(&gone);
    assert!(is_alive(first_pid));
    let second = control.accept().await;
    assert!(!is_alive(first_pid), "two processes of one name are alive");
    assert!(!first.events("signal").await.is_empty());
    let after = until(&|server| server.epoch.0 == 2 && server.is_settled()).await;
    assert_eq!(listings(&after), ["-", "-", "next", "-"]);
    let second_pid = second.pid().await;

    // A switch-off that comes while it is being replaced wins.
    handle.put(vec![start(&mut control, &stubborn)]).await;
    handle.set_enabled(&name, false).await;
    until(&|server| server.status.word() == "disabled").await;
    second.wait_end(SOON).await;
    engine.shutdown(Ladder::BRISK).await;
    assert!(!is_alive(second_pid));
    assert!(
        control.try_accept().is_none(),
        "it was started all the same"
    );
}

/// 5.12 over HTTP, in real time: a session that the server forgot is another connection.
#[tokio::test]
async fn an_expired_session_is_a_new_epoch() {
    let (address, fake) = http_server(Script::legacy().sample());
    let config = ServerConfig {
        name: ServerName::new(NAME).unwrap(),
        transport: TransportConfig::Http(HttpConfig {
            url: format!("http://{address}/mcp"),
            headers: Vec::new(),
            headers_command: Vec::new(),
            flavour: HttpFlavour::Streamable,
            oauth: None,
        }),
        protocol: ProtocolChoice::Legacy,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    };
    let engine = Engine::start(live());
    let handle = engine.handle();
    handle.put(vec![config.into()]).await;
    let mut states = handle.state();
    let mut epoch = async |epoch: u64| {
        let there = states.wait_for(|state| {
            let server = state.servers.first();
            server.is_some_and(|server| server.epoch.0 == epoch && server.is_settled())
        });
        let state = tokio::time::timeout(SOON, there).await.unwrap().unwrap();
        listings(&state.servers[0])
    };
    assert_eq!(epoch(1).await, ["one"; 4]);
    fake.send(Action::ExpireSessions).await;
    handle.refresh(&ServerName::new(NAME).unwrap()).await;
    assert_eq!(epoch(2).await, ["one"; 4]);
    assert_eq!(fake.count("initialize").await, 2);
    engine.shutdown(Ladder::BRISK).await;
}
