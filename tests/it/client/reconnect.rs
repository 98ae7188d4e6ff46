//! Lost connections: how often and when they are tried again, and who wins meanwhile (4.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpdeck::app::{Definition, Resolve};
use mcpdeck::domain::{
    EventKind, Failure, FailureKind, ListMethod, ProtocolChoice, ServerName, Status,
};
use tokio::time::Instant;

use super::Step::{NoneStarted, Order as Tell, Pass, Server, Shows, Started, Still};
use super::{Order, listless, play, row, stdio, tell};
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::rig::{self, NAME, Rig};

const INITIALIZE: &str = "initialize";

fn dies_on_start() -> Script {
    Script::legacy().on(INITIALIZE, Reply::exit(1, ""))
}

/// A server that lives for a while after its handshake.
fn lives(ms: u64) -> Script {
    let script = Script::legacy().sample();
    script
        .after_initialized(Action::WaitMs(ms))
        .after_initialized(Action::exit(1, ""))
}

/// Starts a server and watches it until it rests: when each of its processes was started, in
/// milliseconds after the one before, and the words of its statuses.
async fn watch(scripts: Vec<Script>) -> (Vec<u64>, Vec<String>) {
    let mut rig = Rig::start(listless());
    rig.script(NAME, scripts);
    let definition = stdio(NAME, ProtocolChoice::Legacy);
    let mut last = Instant::now();
    rig.handle.put(vec![definition]).await;
    let mut gaps = Vec::new();
    let long = Duration::from_mins(5);
    while let Ok(fake) = tokio::time::timeout(long, rig.arrival()).await {
        drop(fake);
        gaps.push(u64::try_from(last.elapsed().as_millis()).unwrap());
        last = Instant::now();
        if gaps.len() > 50 {
            break;
        }
    }
    let state = rig.handle.snapshot();
    let words = state.events.iter().filter_map(|event| match &event.kind {
        EventKind::Status { word, .. } => Some((*word).to_owned()),
        _ => None,
    });
    let words = words.collect();
    rig.end().await;
    (gaps, words)
}

/// Whether each gap is its wait, shortened by up to 20 %, after a process that lived so long.
fn assert_waits(gaps: &[u64], life: u64, waits: &[u64]) {
    assert_eq!(gaps.len(), waits.len(), "{gaps:?}");
    for (gap, wait) in gaps.iter().zip(waits) {
        let wait = wait * 1_000;
        let most = life + wait + 20;
        let least = life + wait * 8 / 10;
        assert!((least..=most).contains(gap), "{gap} ms: {gaps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_is_tried_five_times_and_then_given_up() {
    let scripts = vec![lives(10), dies_on_start()];
    let (gaps, words) = watch(scripts).await;
    assert_waits(&gaps[1..2], 10, &[1]);
    assert_waits(&gaps[2..], 0, &[2, 4, 8, 16]);
    let mut expected = vec!["connecting", "connected"];
    expected.extend(["reconnecting"; 5]);
    expected.push("failed");
    assert_eq!(words, expected);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_succeeds_and_dies_again_counts() {
    let (gaps, words) = watch(vec![lives(59_000)]).await;
    assert_waits(&gaps[1..], 59_000, &[1, 2, 4, 8, 16]);
    assert_eq!(words.iter().filter(|word| *word == "connected").count(), 6);
    assert_eq!(words.last().unwrap(), "failed");
}

#[tokio::test(start_paused = true)]
async fn a_minute_of_being_connected_resets_the_count() {
    let (gaps, words) = watch(vec![lives(60_000)]).await;
    assert!(gaps.len() > 50, "{gaps:?}");
    assert_waits(&gaps[1..], 60_000, &[1; 50]);
    assert!(!words.iter().any(|word| word == "failed"));
}

#[tokio::test(start_paused = true)]
async fn a_first_connect_that_fails_is_failed_at_once() {
    let failed = "failed: connect: fake: the connection closed during the handshake";
    let up = "connected 1: one | one | one | one";
    let good = || Script::legacy().sample();
    let mut rows = vec![row(
        "and stays so",
        vec![dies_on_start(), good()],
        vec![Shows(failed), Pass(3_600_000), Still(failed), NoneStarted],
    )];
    for (what, orders) in [
        ("until a reconnect", vec![Order::Reconnect]),
        ("until a change", vec![Order::Replace]),
        ("until it is toggled", vec![Order::Disable, Order::Enable]),
    ] {
        let mut steps = vec![Shows(failed)];
        steps.extend(orders.into_iter().map(Tell));
        steps.extend([Started, Shows(up)]);
        rows.push(row(what, vec![dies_on_start(), good()], steps));
    }
    rows.push(row(
        "a reconnect by hand that fails is a first connect too",
        vec![good(), dies_on_start(), good()],
        vec![
            Shows(up),
            Tell(Order::Reconnect),
            Started,
            Shows(failed),
            Pass(3_600_000),
            Still(failed),
            NoneStarted,
        ],
    ));
    play(rows).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_cause_is_told_and_the_attempt_shown() {
    let hanging = Script::legacy().on(INITIALIZE, Reply::silence());
    let (mut rig, fake) = Rig::with(Script::legacy().sample()).await;
    rig.script(NAME, vec![dies_on_start(), hanging]);
    fake.send(Action::exit(1, "")).await;
    let reconnecting = |attempt: u32, runs: bool, cause: &'static str| {
        move |server: &mcpdeck::domain::ServerSnapshot| match &server.status {
            Status::Reconnecting {
                attempt: is,
                limit: 5,
                due,
                cause: why,
            } => *is == attempt && due.is_none() == runs && &*why.message == cause,
            _ => false,
        }
    };
    let closed = "fake: the connection closed";
    let died = "fake: the connection closed during the handshake";
    rig.until("waiting", reconnecting(1, false, closed)).await;
    rig.until("waiting again", reconnecting(2, false, died))
        .await;
    rig.until("the second runs", reconnecting(2, true, died))
        .await;
    let hung = "fake: no answer to the handshake within 30 s";
    rig.until("it hung", reconnecting(3, false, hung)).await;
    let server = rig
        .until("given up", |server| server.status.word() == "failed")
        .await;
    let failure = server.status.failure().unwrap();
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Timeout, hung)
    );
    let error = server.error(None).unwrap();
    assert_eq!(error.failure, *failure);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_the_definition_is_not_retried() {
    let mut rig = Rig::start(listless());
    rig.script(NAME, vec![lives(1_000)]);
    let good = stdio(NAME, ProtocolChoice::Legacy);
    let config = good.config.get().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // Like a variable that was there at the start and is not any more.
    let expand = move || {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            Ok((*config).clone())
        } else {
            Err(Failure::new(FailureKind::Config, "variable X is not set"))
        }
    };
    let definition = Definition {
        config: Resolve::Lazy(Arc::new(expand)),
        ..good
    };
    rig.handle.put(vec![definition]).await;
    let server = rig
        .until("failed", |server| server.status.word() == "failed")
        .await;
    assert_eq!(server.status.failure().unwrap().kind, FailureKind::Config);
    let before = asked.load(Ordering::Relaxed);
    rig.pass(Duration::from_hours(1)).await;
    assert_eq!(asked.load(Ordering::Relaxed), before);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn it_comes_back_with_its_lists_and_says_what_changed() {
    let (mut rig, fake) = Rig::with(
        Script::legacy()
            .named("resources/list", &["same", "gone", "other"])
            .named("resources/templates/list", &["one"]),
    )
    .await;
    let mut other = Script::legacy()
        .named("resources/list", &["same", "new", "other"])
        .named("resources/templates/list", &["one"]);
    if let Some(Listing::Pages(pages)) = other.listings.get_mut("resources/list") {
        pages[0].items[2]["title"] = "Another".into();
    }
    rig.script(NAME, vec![other]);
    fake.send(Action::exit(1, "")).await;
    rig.until("lost", |server| server.status.word() == "reconnecting")
        .await;
    let server = rig.settled().await;
    let changes = server.catalog.resources.changes.as_ref().unwrap();
    let counts = changes.counts;
    assert_eq!(
        (counts.added, counts.removed, counts.changed, counts.total),
        (1, 1, 1, 3)
    );
    assert_eq!(server.catalog.count(ListMethod::Resources), Some(3));
    assert_eq!((server.epoch.0, server.generation.0), (2, 2));
    let report = rig.refreshes().pop().unwrap();
    assert_eq!(report.counts[0], (ListMethod::Resources, counts));
    assert!(report.counts[1].1.is_unchanged());
    rig.end().await;
}

/// A server and the steps until it is in that stage.
fn stages() -> Vec<(&'static str, Script, Vec<super::Step>)> {
    let sample = || Script::legacy().sample();
    let stubborn = || sample().process(|process| process.ignore_eof = true);
    let closed = "reconnecting: closed: fake: the connection closed";
    vec![
        (
            "connecting",
            sample().on(INITIALIZE, Reply::silence()),
            vec![Shows("connecting"), Pass(500)],
        ),
        (
            "listing",
            sample().on("tools/list", Reply::silence()),
            vec![Shows("connected 1: one | one | - | one")],
        ),
        (
            "connected",
            stubborn(),
            vec![Shows("connected 1: one | one | one | one")],
        ),
        ("waiting", lives(500), vec![Shows(closed), Pass(300)]),
        (
            "closing",
            stubborn(),
            vec![
                Shows("connected 1: one | one | one | one"),
                Tell(Order::Reconnect),
            ],
        ),
        (
            "lost",
            stubborn(),
            vec![
                Shows("connected 1: one | one | one | one"),
                Server(Action::CloseStdout),
            ],
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn whoever_speaks_last_wins_in_every_stage() {
    let fresh = || Script::legacy().named("tools/list", &["new"]);
    for (orders, expected) in [
        (vec![Order::Disable], "disabled"),
        (vec![Order::Remove], "gone"),
        (vec![Order::Reconnect], "new"),
        (vec![Order::Replace], "new"),
        (vec![Order::Disable, Order::Enable], "new"),
        (vec![Order::Reconnect, Order::Disable], "disabled"),
        (
            vec![Order::Replace, Order::Reconnect, Order::Replace],
            "new",
        ),
        (vec![Order::Remove, Order::Replace], "new"),
        (
            vec![Order::Enable, Order::Disable, Order::Enable, Order::Disable],
            "disabled",
        ),
    ] {
        for (stage, script, mut steps) in stages() {
            steps.extend(orders.iter().copied().map(Tell));
            match expected {
                "new" => steps.extend([
                    Shows("connected *: - | - | new | -"),
                    Pass(120_000),
                    Still("connected *: - | - | new | -"),
                ]),
                word => steps.extend([Shows(word), Pass(120_000), Still(word)]),
            }
            play(vec![row(stage, vec![script, fresh()], steps)]).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_silent_server_delays_no_other() {
    let silent = || Script::legacy().on(INITIALIZE, Reply::silence());
    let good = || Script::legacy().sample();
    let check = async |silent_ones: usize, within: Duration| {
        let mut rig = Rig::start(rig::live());
        let started = Instant::now();
        let mut definitions = Vec::new();
        for index in 0..silent_ones + 3 {
            let name = format!("s{index}");
            let script = if index < silent_ones {
                silent()
            } else {
                good()
            };
            rig.script(&name, vec![script]);
            definitions.push(stdio(&name, ProtocolChoice::Legacy));
        }
        rig.handle.put(definitions).await;
        rig.state("the good ones are there", |state| {
            let good = state.servers.iter().skip(silent_ones);
            good.filter(|it| it.catalog.count(ListMethod::Tools) == Some(1))
                .count()
                == 3
        })
        .await;
        let took = started.elapsed();
        assert!(took <= within, "{silent_ones} silent: {took:?}");
        rig.end().await;
    };
    check(1, Duration::from_millis(100)).await;
    check(7, Duration::from_millis(100)).await;
    check(8, Duration::from_millis(2_100)).await;
    check(20, Duration::from_millis(4_100)).await;
}

#[tokio::test(start_paused = true)]
async fn eight_connect_at_once() {
    let slow = || Script::legacy().on(INITIALIZE, Reply::delay(1_000));
    let mut rig = Rig::start(listless());
    let mut definitions = Vec::new();
    for index in 0..20 {
        let name = format!("s{index}");
        rig.script(&name, vec![slow()]);
        definitions.push(stdio(&name, ProtocolChoice::Legacy));
    }
    let started = Instant::now();
    rig.handle.put(definitions).await;
    let mut waves = Vec::new();
    for _ in 0..20 {
        rig.arrival().await;
        waves.push(started.elapsed().as_secs());
    }
    let wave = |second: u64| waves.iter().filter(|is| **is == second).count();
    assert_eq!((wave(0), wave(1), wave(2)), (8, 8, 4));
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn refresh_all_reconnects_what_failed_and_refreshes_the_rest() {
    let mut rig = Rig::start(rig::live());
    rig.script("bad", vec![dies_on_start(), Script::legacy().sample()]);
    rig.script("good", vec![Script::legacy().sample()]);
    let of = |name: &str| stdio(name, ProtocolChoice::Legacy);
    rig.handle.put(vec![of("bad"), of("good")]).await;
    rig.state("settled", |state| {
        state.servers.len() == 2 && state.servers.iter().all(|server| server.is_settled())
    })
    .await;
    rig.handle.refresh_all().await;
    let connected = |name: &'static str, generation: u64| {
        move |state: &mcpdeck::domain::AppState| {
            let server = state.server(&ServerName::new(name).unwrap()).unwrap();
            server.status.session().is_some() && server.generation.0 == generation
        }
    };
    rig.state("reconnected", connected("bad", 1)).await;
    rig.state("refreshed", connected("good", 4)).await;
    let name = ServerName::new("good").unwrap();
    assert_eq!(rig.handle.snapshot().server(&name).unwrap().epoch.0, 1);
    tell(&rig, Order::Refresh, &of("nobody")).await;
    rig.end().await;
}
