//! After a disable, a removal, a reconnect, a replacement or a timeout no late answer changes
//! anything (4.8).

use std::time::Duration;

use mcpdeck::app::EngineOptions;
use mcpdeck::domain::{FailureKind, Settings};
use tokio::time::Instant;

use super::Step::{NoneStarted, Order as Tell, Pass, Server, Shows, Started, Still};
use super::{Order, play, row, shown, stdio};
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::rig::{self, NAME, Rig};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";
const TOOLS: &str = "tools/list";
const INITIALIZE: &str = "initialize";

/// A server whose lists hold one name, and which does not care about being told to end.
fn stubborn(name: &str) -> Script {
    let mut script = Script::legacy().process(|process| process.ignore_eof = true);
    for method in [RESOURCES, TEMPLATES, TOOLS, "prompts/list"] {
        script = script.named(method, &[name]);
    }
    script
}

/// The same, with lists that come late, whether or not they are still wanted.
fn late(name: &str) -> Script {
    let mut script = stubborn(name);
    for method in [RESOURCES, TEMPLATES, TOOLS] {
        script = script.on(method, Reply::late(5_000));
    }
    script
}

const OPEN: &str = "connected 0: - | - | - | -";

#[tokio::test(start_paused = true)]
async fn late_lists_change_nothing_any_more() {
    let fresh = "connected *: new | new | new | new";
    play(vec![
        row(
            "disabled",
            vec![late("old")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Disable),
                Shows("disabled"),
                Pass(60_000),
                Still("disabled"),
                NoneStarted,
            ],
        ),
        row(
            "removed",
            vec![late("old")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Remove),
                Shows("gone"),
                Pass(60_000),
                Still("gone"),
            ],
        ),
        row(
            "removed and added again",
            vec![late("old"), stubborn("new")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Remove),
                Tell(Order::Replace),
                Started,
                Shows(fresh),
                Pass(60_000),
                Still(fresh),
            ],
        ),
        row(
            "reconnected",
            vec![late("old"), stubborn("new")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Reconnect),
                Started,
                Shows(fresh),
                Pass(60_000),
                Still(fresh),
            ],
        ),
        row(
            "replaced",
            vec![late("old"), stubborn("new")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Replace),
                Started,
                Shows(fresh),
                Pass(60_000),
                Still(fresh),
            ],
        ),
        row(
            "disabled and enabled again",
            vec![late("old"), stubborn("new")],
            vec![
                Shows(OPEN),
                Pass(1_000),
                Tell(Order::Disable),
                Tell(Order::Enable),
                Started,
                Shows(fresh),
                Pass(60_000),
                Still(fresh),
            ],
        ),
        row(
            "lost",
            vec![late("old"), stubborn("new")],
            vec![
                Shows(OPEN),
                Server(Action::CloseStdout),
                Shows("reconnecting: closed: fake: the connection closed"),
                Started,
                Shows(fresh),
                Pass(60_000),
                Still(fresh),
            ],
        ),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_late_handshake_changes_nothing_any_more() {
    let hanging = || stubborn("old").on(INITIALIZE, Reply::late(5_000));
    let fresh = "connected *: new | new | new | new";
    let mut rows = vec![row(
        "disabled",
        vec![hanging()],
        vec![
            Shows("connecting"),
            Pass(1_000),
            Tell(Order::Disable),
            Shows("disabled"),
            Pass(60_000),
            Still("disabled"),
            NoneStarted,
        ],
    )];
    for (what, orders) in [
        ("reconnected", vec![Order::Reconnect]),
        ("replaced", vec![Order::Replace]),
        ("toggled", vec![Order::Disable, Order::Enable]),
        ("removed and added", vec![Order::Remove, Order::Replace]),
        (
            "changed their mind",
            vec![
                Order::Disable,
                Order::Enable,
                Order::Reconnect,
                Order::Replace,
            ],
        ),
    ] {
        let mut steps = vec![Shows("connecting"), Pass(1_000)];
        steps.extend(orders.into_iter().map(Tell));
        steps.extend([
            Started,
            Shows(fresh),
            Pass(60_000),
            Still(fresh),
            NoneStarted,
        ]);
        rows.push(row(what, vec![hanging(), stubborn("new")], steps));
    }
    play(rows).await;
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_after_a_timeout_is_counted_and_dropped() {
    let settings = Settings {
        request_timeout: Duration::from_secs(2),
        ..Settings::default()
    };
    let mut rig = Rig::start(EngineOptions {
        settings,
        ..rig::live()
    });
    let script = stubborn("one").on_nth(TOOLS, 2, Reply::late(5_000));
    rig.script(NAME, vec![script]);
    let definition = stdio(NAME, mcpdeck::domain::ProtocolChoice::Legacy);
    rig.handle.put(vec![definition.clone()]).await;
    let fake = rig.arrival().await;
    rig.settled().await;
    rig.handle.refresh(&definition.name).await;
    let failed = "old: one !timeout: no answer within 2 s";
    let expected = format!("connected 3: one | one | {failed} | one");
    rig.until("timed out", |server| shown(server) == expected)
        .await;
    fake.send(Action::set_pages(TOOLS, Listing::named(TOOLS, &["two"])))
        .await;
    // The request was cancelled, the answer came all the same, and it says what was true before.
    rig.until("counted", |server| server.noise == 1).await;
    assert_eq!(fake.count("notifications/cancelled").await, 1);
    rig.pass(Duration::from_mins(1)).await;
    assert_eq!(shown(&rig.server()), expected);
    rig.handle.refresh(&definition.name).await;
    rig.until("renewed", |server| {
        shown(server) == "connected 6: one | one | two | one"
    })
    .await;
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_connect_that_took_too_long_stays_failed() {
    let hanging = stubborn("old").on(INITIALIZE, Reply::late(31_000));
    let failed = "failed: timeout: fake: no answer to the handshake within 30 s";
    play(vec![row(
        "the answer comes a second later",
        vec![hanging],
        vec![
            Shows("connecting"),
            Pass(29_900),
            Still("connecting"),
            Shows(failed),
            Pass(60_000),
            Still(failed),
            NoneStarted,
        ],
    )])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_of_a_former_connection_ends_with_it() {
    let reading = Script::legacy()
        .sample()
        .on("resources/read", Reply::late(5_000));
    for order in [
        Order::Disable,
        Order::Reconnect,
        Order::Replace,
        Order::Remove,
    ] {
        let (rig, fake) = Rig::with(reading.clone()).await;
        let client = rig.client().await;
        let deadline = Instant::now() + Duration::from_secs(30);
        let started = Instant::now();
        let read = client.read("fake:///one", deadline);
        let turned = async {
            let soon = Duration::from_secs(5);
            fake.wait_for("resources/read", 1, soon).await;
            let definition = stdio(NAME, mcpdeck::domain::ProtocolChoice::Legacy);
            super::tell(&rig, order, &definition).await;
        };
        let (answer, ()) = tokio::join!(read, turned);
        assert_eq!(answer.unwrap_err().kind, FailureKind::Closed);
        assert!(started.elapsed() < Duration::from_secs(1));
        rig.end().await;
    }
}
