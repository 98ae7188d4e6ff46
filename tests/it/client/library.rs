//! The engine as a library: servers are added, replaced and removed, one thing after the other
//! for each name (3).

use std::time::Duration;

use mcpdeck::app::Demand;
use mcpdeck::domain::{Group, ListMethod, ProtocolChoice, ServerName};
use tokio::time::Instant;

use super::{fits, now, stdio};
use crate::support::fake::{Reply, Script};
use crate::support::rig::{self, NAME, Rig};

const INITIALIZE: &str = "initialize";

fn tools(names: &[&str]) -> Script {
    Script::legacy().named("tools/list", names)
}

fn legacy(name: &str) -> mcpdeck::app::Definition {
    stdio(name, ProtocolChoice::Legacy)
}

async fn demand(rig: &Rig, group: Group) -> Demand {
    let deadline = Instant::now() + Duration::from_mins(1);
    rig.client().await.demand(group, deadline).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_replaced_servers_catalog_is_invalid_before_its_connection_is_cleaned_up() {
    for script in [
        tools(&["old"]),
        tools(&["old"]).process(|process| process.ignore_eof = true),
    ] {
        let (mut rig, fake) = Rig::with(script).await;
        rig.script(
            NAME,
            vec![tools(&["new"]).on(INITIALIZE, Reply::delay(3_000))],
        );
        let mut states = rig.handle.state();
        rig.handle.put(vec![legacy(NAME)]).await;
        // As long as its list is shown, the old server knows nothing of its end.
        while now(&rig).contains("old") {
            assert!(!fake.has_heard("eof"));
            states.changed().await.unwrap();
        }
        assert_eq!(now(&rig), "connecting");
        let demanded = demand(&rig, Group::Tools).await;
        assert_eq!(&*demanded.catalog.tools.items[0].name, "new");
        assert_eq!(now(&rig), "connected 2: - | - | new | -");
        rig.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_demand_that_comes_with_a_replacement_gets_the_new_catalog() {
    let (mut rig, _fake) = Rig::with(tools(&["old"])).await;
    let client = rig.client().await;
    rig.script(
        NAME,
        vec![tools(&["new"]).on(INITIALIZE, Reply::delay(3_000))],
    );
    rig.handle.put(vec![legacy(NAME)]).await;
    rig.until("invalid", |server| server.status.session().is_none())
        .await;
    let deadline = Instant::now() + Duration::from_mins(1);
    let demanded = client.demand(Group::Tools, deadline).await.unwrap();
    assert_eq!(&*demanded.catalog.tools.items[0].name, "new");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_demand_for_what_the_server_does_not_have_is_answered_when_it_is_connected() {
    let mut rig = Rig::start(rig::live());
    rig.script(
        NAME,
        vec![tools(&["one"]).on(INITIALIZE, Reply::delay(3_000))],
    );
    rig.handle.put(vec![legacy(NAME)]).await;
    rig.arrival().await;
    let started = Instant::now();
    for group in [Group::Prompts, Group::Resources] {
        let demanded = demand(&rig, group).await;
        assert!(demanded.error.is_none());
        assert_eq!(demanded.catalog.prompts.count(), None);
    }
    assert!(started.elapsed() < Duration::from_secs(4));
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_last_of_many_orders_is_never_lost() {
    // More than any mailbox holds, without a pause.
    let mut rig = Rig::start(rig::live());
    rig.script(NAME, vec![tools(&["one"])]);
    rig.handle.put(vec![legacy(NAME)]).await;
    rig.settled().await;
    let name = ServerName::new(NAME).unwrap();
    for (count, last) in [(101, false), (71, true), (301, false), (121, true)] {
        for number in 0..count {
            let enabled = if number % 2 == 0 { last } else { !last };
            rig.handle.set_enabled(&name, enabled).await;
        }
        rig.pass(Duration::from_secs(30)).await;
        let expected = if last {
            "connected *: - | - | one | -"
        } else {
            "disabled"
        };
        let shown = now(&rig);
        assert!(fits(&shown, expected), "{shown}");
    }
    for number in 0..101 {
        rig.script("other", vec![tools(&["no"])]);
        rig.script(&number.to_string(), vec![tools(&["yes"])]);
        let mut definition = legacy(&number.to_string());
        if number != 100 {
            definition = legacy("other");
        }
        definition.name = name.clone();
        rig.handle.put(vec![definition]).await;
    }
    rig.pass(Duration::from_secs(30)).await;
    assert!(
        fits(&now(&rig), "connected *: - | - | yes | -"),
        "{}",
        now(&rig)
    );
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_server_is_gone_at_once_and_can_be_put_back_in_its_place() {
    let mut rig = Rig::start(rig::live());
    for name in ["a", "b", "c"] {
        rig.script(name, vec![tools(&[name])]);
    }
    let definitions = ["a", "b", "c"].map(legacy).to_vec();
    rig.handle.put(definitions).await;
    let names = |rig: &Rig| {
        let state = rig.handle.snapshot();
        let names = state.servers.iter().map(|server| server.name.to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    rig.state("settled", |state| {
        state.servers.len() == 3 && state.servers.iter().all(|it| it.is_settled())
    })
    .await;
    let b = ServerName::new("b").unwrap();
    let (index, definition) = rig.handle.remove(&b).await.unwrap();
    assert_eq!((index, names(&rig).as_str()), (1, "a c"));
    assert!(rig.handle.client(&b).await.is_none());
    assert!(rig.handle.remove(&b).await.is_none());
    rig.handle.insert(index, definition).await;
    let state = rig
        .state("back", |state| {
            let server = state.server(&b);
            server.is_some_and(|it| it.catalog.count(ListMethod::Tools) == Some(1))
        })
        .await;
    assert_eq!(state.servers[1].name, b);
    assert_eq!(names(&rig), "a b c");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn handles_of_a_server_that_is_gone_say_so() {
    let (rig, fake) = Rig::with(Script::legacy().sample()).await;
    let client = rig.client().await;
    let name = ServerName::new(NAME).unwrap();
    rig.handle.remove(&name).await;
    fake.wait_end(Duration::from_secs(10)).await;
    let deadline = Instant::now() + Duration::from_mins(1);
    assert!(client.demand(Group::Tools, deadline).await.is_err());
    assert!(client.read("fake:///one", deadline).await.is_err());
    client.refresh().await;
    client.set_enabled(true).await;
    rig.pass(Duration::from_mins(1)).await;
    assert_eq!(now(&rig), "gone");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_enabled_or_not_trusted_is_not_started() {
    let check = async |enabled: bool, trusted: bool, expected: &str| {
        let mut rig = Rig::start(rig::live());
        rig.script(NAME, vec![tools(&["one"])]);
        let mut definition = legacy(NAME);
        (definition.enabled, definition.trusted) = (enabled, trusted);
        rig.handle.put(vec![definition]).await;
        rig.pass(Duration::from_secs(10)).await;
        assert!(fits(&now(&rig), expected), "{}", now(&rig));
        let started = rig.try_arrival().is_some();
        assert_eq!(started, expected.starts_with("connected"));
        rig.end().await;
    };
    check(true, true, "connected *: - | - | one | -").await;
    check(false, true, "disabled").await;
    check(true, false, "untrusted").await;
    check(false, false, "disabled").await;
}
