//! `subscriptions/listen` of the modern era (5.13), and what `ttlMs` says where nobody notifies
//! (5.15).

use std::time::Duration;

use mcpdeck::app::{Demand, EngineOptions};
use mcpdeck::domain::{Group, ProtocolChoice};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Step::{Asked, Order as Tell, Pass, Server, Shows, Still};
use super::{Order, modern_row, play, stdio};
use crate::support::fake::{Action, Listing, Notice, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::rig::{self, NAME, Rig};

const LISTEN: &str = "subscriptions/listen";
const RESOURCES: &str = "resources/list";
const TOOLS: &str = "tools/list";

fn modern() -> Script {
    Script::modern().sample()
}

fn end_subscriptions() -> Action {
    Action::EndSubscriptions { graceful: true }
}

fn changes(names: &[&str]) -> Action {
    Action::set_pages(TOOLS, Listing::named(TOOLS, names))
}

/// Milliseconds of all messages of a method, since the fake was started.
async fn times(fake: &FakeHandle, method: &str) -> Vec<u64> {
    let messages = fake.of(method).await;
    messages.iter().map(|entry| entry.at_ms).collect()
}

/// A live engine with one modern server.
async fn start(options: EngineOptions, script: Script) -> (Rig, FakeHandle) {
    let mut rig = Rig::start(options);
    rig.script(NAME, vec![script]);
    let definition = stdio(NAME, ProtocolChoice::Modern);
    rig.handle.put(vec![definition]).await;
    let fake = rig.arrival().await;
    (rig, fake)
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_opened_before_the_first_list_with_a_flag_for_each_capability() {
    let check = async |script: Script, live: bool, flags: Option<Value>| {
        let options = EngineOptions {
            live,
            ..rig::live()
        };
        let (rig, fake) = start(options, script).await;
        rig.settled().await;
        rig.pass(Duration::from_secs(5)).await;
        let heard = fake.methods().await;
        let listens = fake.of(LISTEN).await;
        let asked = listens
            .first()
            .and_then(|entry| Some(entry.params.as_ref()?["notifications"].clone()));
        assert_eq!(asked, flags);
        if live {
            assert_eq!(heard[..2], ["server/discover", LISTEN]);
        }
        rig.end().await;
    };
    let all = json!({
        "resourcesListChanged": true, "toolsListChanged": true, "promptsListChanged": true,
    });
    check(modern(), true, Some(all)).await;
    let tools = Script::modern().named(TOOLS, &["one"]);
    check(tools.clone(), true, Some(json!({"toolsListChanged": true}))).await;
    // A one-shot command does not stay to hear of changes.
    check(tools, false, None).await;
}

#[tokio::test(start_paused = true)]
async fn lists_wait_for_the_answer_to_the_subscription() {
    let held = || modern().on(LISTEN, Reply::hold());
    let full = "connected 1: one | one | one | one";
    let none = "connected 0: - | - | - | -";
    play(vec![
        modern_row(
            "they start on the acknowledgment",
            vec![held()],
            vec![
                Shows(none),
                Pass(1_900),
                Asked(RESOURCES, 0),
                Server(Action::release(LISTEN)),
                Shows(full),
                Pass(10_000),
                Asked(RESOURCES, 1),
                Asked(TOOLS, 1),
            ],
        ),
        modern_row(
            "nothing makes them start earlier",
            vec![held()],
            vec![
                Shows(none),
                Tell(Order::Refresh),
                Server(Action::Notify(Notice {
                    method: "notifications/tools/list_changed".to_owned(),
                    unsolicited: true,
                    ..Notice::default()
                })),
                Pass(1_900),
                Asked(RESOURCES, 0),
                Asked(TOOLS, 0),
                Server(Action::release(LISTEN)),
                Shows(full),
                Pass(10_000),
                Asked(TOOLS, 1),
            ],
        ),
        modern_row(
            "after 2 s they start without it; one that comes late marks all dirty, once",
            vec![held()],
            vec![
                Shows(none),
                Pass(2_100),
                Still(full),
                Asked(RESOURCES, 1),
                Server(changes(&["two"])),
                Server(Action::release(LISTEN)),
                Shows("connected 4: one | one | two | one"),
                Pass(10_000),
                Asked(RESOURCES, 2),
                Asked(TOOLS, 2),
            ],
        ),
        modern_row(
            "a refusal lets them start, is shown, and is not retried",
            vec![modern().on(LISTEN, Reply::error(-32601, "no"))],
            vec![
                Shows("connected 1, no live updates: one | one | one | one"),
                Pass(120_000),
                Asked(LISTEN, 1),
                Asked(RESOURCES, 1),
                Still("connected 1, no live updates: one | one | one | one"),
            ],
        ),
        modern_row(
            "a late refusal asks for nothing again",
            vec![modern().on(LISTEN, Reply::error(-32603, "no").delayed(5_000))],
            vec![
                Shows(full),
                Pass(60_000),
                Still("connected 1, no live updates: one | one | one | one"),
                Asked(LISTEN, 1),
                Asked(RESOURCES, 1),
            ],
        ),
        modern_row(
            "a refusal holds for its connection only",
            vec![modern().on(LISTEN, Reply::error(-32601, "no")), modern()],
            vec![
                Shows("connected 1, no live updates: one | one | one | one"),
                Tell(Order::Reconnect),
                Shows("connected 2: one | one | one | one"),
            ],
        ),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn changes_are_followed_for_as_long_as_the_connection_lives() {
    play(vec![
        modern_row(
            "the subscription is no request with a bound",
            vec![modern()],
            vec![
                Shows("connected 1: one | one | one | one"),
                Pass(3_600_000),
                Server(changes(&["two"])),
                Server(Action::list_changed("tools", 1_000)),
                Shows("connected 2: one | one | two | one"),
                Pass(10_000),
                Asked(LISTEN, 1),
                Asked(TOOLS, 2),
                Asked(RESOURCES, 1),
            ],
        ),
        modern_row(
            "a stream that ends is reopened, and what it was for is asked for again",
            vec![modern()],
            vec![
                Shows("connected 1: one | one | one | one"),
                Pass(30_000),
                Server(changes(&["two"])),
                Server(end_subscriptions()),
                Pass(90),
                Asked(LISTEN, 1),
                Pass(20),
                Asked(LISTEN, 2),
                Shows("connected 4: one | one | two | one"),
                Asked(TOOLS, 2),
                Asked(RESOURCES, 2),
                Server(changes(&["three"])),
                Server(Action::list_changed("tools", 1)),
                Shows("connected 5: one | one | three | one"),
            ],
        ),
        modern_row(
            "what changes before a slow reopening is acknowledged is not missed",
            vec![modern().on_nth(LISTEN, 2, Reply::hold())],
            vec![
                Shows("connected 1: one | one | one | one"),
                Server(end_subscriptions()),
                Pass(5_000),
                Asked(TOOLS, 2),
                Server(changes(&["two"])),
                Server(Action::list_changed("tools", 1)),
                Pass(5_000),
                Asked(TOOLS, 2),
                Server(Action::release(LISTEN)),
                Pass(1_000),
                Asked(TOOLS, 3),
                Still("connected 7: one | one | two | one"),
            ],
        ),
        modern_row(
            "a refusal of the reopening is a refusal",
            vec![modern().rule(Rule::on(LISTEN, Reply::error(-32603, "no more")).from(2))],
            vec![
                Shows("connected 1: one | one | one | one"),
                Server(end_subscriptions()),
                Shows("connected 4, no live updates: one | one | one | one"),
                Pass(120_000),
                Asked(LISTEN, 2),
            ],
        ),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn reopenings_are_ever_further_apart_until_one_lives_for_a_minute() {
    let script = modern().after_listening(end_subscriptions());
    let (rig, fake) = start(rig::live(), script).await;
    rig.pass(Duration::from_secs(150)).await;
    let opened = times(&fake, LISTEN).await;
    let gaps: Vec<u64> = opened.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let expected = [
        100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000,
    ];
    for (index, gap) in gaps.iter().enumerate() {
        let wanted = expected[index];
        assert!((wanted..wanted + 20).contains(gap), "{gaps:?}");
    }
    assert!(gaps.len() >= 11, "{gaps:?}");
    rig.end().await;

    let (rig, fake) = start(rig::live(), modern()).await;
    for life in [59, 59, 61] {
        rig.pass(Duration::from_secs(life)).await;
        fake.send(end_subscriptions()).await;
    }
    rig.pass(Duration::from_secs(1)).await;
    // Those that lived for less than a minute double the wait; the third begins anew.
    let opened = times(&fake, LISTEN).await;
    for (at, expected) in opened.iter().zip([0, 59_100, 118_200, 179_100]) {
        assert!(at.abs_diff(expected) < 50, "{opened:?}");
    }
    assert_eq!(opened.len(), 4);
    rig.end().await;
}

/// Asks for the tools, and says how old they are and what is wrong with them.
async fn demand(rig: &Rig) -> Demand {
    let deadline = Instant::now() + Duration::from_secs(30);
    let client = rig.client().await;
    client.demand(Group::Tools, deadline).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_demand_does_not_start_the_lists_earlier_and_shares_them() {
    let check = async |reply: Reply, released: bool| {
        let options = rig::live();
        let (rig, fake) = start(options, modern().on(LISTEN, reply)).await;
        rig.until("connected", |server| server.status.word() == "connected")
            .await;
        let (demanded, ()) = tokio::join!(demand(&rig), async {
            rig.pass(Duration::from_millis(1_900)).await;
            assert_eq!(fake.count(TOOLS).await + fake.count(RESOURCES).await, 0);
            if released {
                fake.send(Action::release(LISTEN)).await;
            }
        });
        assert_eq!(demanded.catalog.tools.items.len(), 1);
        assert_eq!(demanded.error, None);
        rig.pass(Duration::from_secs(10)).await;
        assert_eq!(fake.count(TOOLS).await, 1);
        rig.end().await;
    };
    check(Reply::hold(), true).await;
    check(Reply::silence(), false).await;
}

/// How often the tools were asked for when a demand comes before and after 5 s.
async fn asked_around_ttl(script: Script, protocol: ProtocolChoice) -> [usize; 3] {
    let mut rig = Rig::start(rig::live());
    rig.script(NAME, vec![script]);
    rig.handle.put(vec![stdio(NAME, protocol)]).await;
    let fake = rig.arrival().await;
    rig.settled().await;
    let mut counts = [0; 3];
    for count in &mut counts {
        rig.pass(Duration::from_millis(3_500)).await;
        assert!(demand(&rig).await.error.is_none());
        *count = fake.count(TOOLS).await;
    }
    rig.end().await;
    counts
}

#[tokio::test(start_paused = true)]
async fn a_catalog_that_nobody_watches_is_good_for_its_ttl() {
    use ProtocolChoice::{Legacy, Modern};
    let ttl = |ms: u64, acknowledge: Value| Script {
        ttl_ms: Some(ms),
        acknowledge: Some(acknowledge),
        ..modern()
    };
    let check = async |what: &str, script: Script, protocol, expected: [usize; 3]| {
        assert_eq!(asked_around_ttl(script, protocol).await, expected, "{what}");
    };
    let nothing = || json!({});
    let others = json!({"resourcesListChanged": true, "promptsListChanged": true});
    let tools = json!({"toolsListChanged": true});
    check("unwatched", ttl(5_000, nothing()), Modern, [1, 2, 2]).await;
    check("others are watched", ttl(5_000, others), Modern, [1, 2, 2]).await;
    check("watched", ttl(5_000, tools), Modern, [1, 1, 1]).await;
    check("no ttl", ttl(0, nothing()), Modern, [1, 1, 1]).await;
    check("for ever", ttl(u64::MAX, nothing()), Modern, [1, 1, 1]).await;
    let refused = ttl(5_000, nothing()).on(LISTEN, Reply::error(-32601, "no"));
    check("no filter", refused, Modern, [1, 1, 1]).await;
    let one = json!({"tools": [{"name": "one"}], "ttlMs": 5_000});
    let legacy = Script::legacy().sample().on(TOOLS, Reply::result(one));
    check("no modern server", legacy, Legacy, [1, 1, 1]).await;
    for odd in [
        json!("5000"),
        json!(-5_000),
        json!(0.5),
        json!(null),
        json!([]),
    ] {
        let odd = json!({"tools": [{"name": "one"}], "resultType": "complete", "ttlMs": odd});
        let script = ttl(0, nothing()).on(TOOLS, Reply::result(odd));
        check("odd", script, Modern, [1, 1, 1]).await;
    }
    // The smallest of all pages counts.
    let page = |ttl: u64, next: &str| {
        let mut page = json!({"tools": [{"name": "one"}], "resultType": "complete", "ttlMs": ttl});
        if !next.is_empty() {
            page["nextCursor"] = next.into();
        }
        Reply::result(page)
    };
    let paged = ttl(0, nothing())
        .rule(Rule::on(TOOLS, page(60_000, "a")))
        .rule(Rule::on(TOOLS, page(5_000, "b")).params(json!({"cursor": "a"})))
        .rule(Rule::on(TOOLS, page(0, "")).params(json!({"cursor": "b"})));
    check("the smallest", paged, Modern, [3, 6, 6]).await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_catalog_stands_until_it_can_be_renewed() {
    let script = Script {
        ttl_ms: Some(5_000),
        acknowledge: Some(json!({})),
        ..modern()
    };
    let (rig, fake) = start(rig::live(), script).await;
    rig.settled().await;
    // Nothing polls.
    rig.pass(Duration::from_mins(10)).await;
    assert_eq!(fake.count(TOOLS).await, 1);
    fake.send(Action::rule(Rule::on(TOOLS, Reply::error(-32603, "no"))))
        .await;
    for asked in [2, 3] {
        let demanded = demand(&rig).await;
        assert_eq!(demanded.catalog.tools.items.len(), 1);
        assert!(
            demanded.age >= Duration::from_mins(10),
            "{:?}",
            demanded.age
        );
        assert!(demanded.error.is_some());
        assert_eq!(fake.count(TOOLS).await, asked);
    }
    fake.send(Action::ClearRules(TOOLS.to_owned())).await;
    let demanded = demand(&rig).await;
    assert!(demanded.error.is_none() && demanded.age.is_zero());
    demand(&rig).await;
    assert_eq!(fake.count(TOOLS).await, 4);
    assert_eq!(fake.count(RESOURCES).await, 1);
    rig.end().await;
}
