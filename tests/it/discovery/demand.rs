//! 5.15: when a demand is answered from memory, and when it waits for a refresh.

use std::time::Duration;

use mcpdeck::app::{Demand, EngineOptions};
use mcpdeck::domain::{Failure, FailureKind, Group, Interest, ListMethod};
use tokio::time::Instant;

use crate::support::fake::{Action, Listing, Reply, Rule, Script};
use crate::support::rig::{NAME, Rig, live};

const TEMPLATES: &str = "resources/templates/list";
const TOOLS: &str = "tools/list";
const LONG: Duration = Duration::from_mins(5);

fn tools() -> Script {
    Script::legacy().named(TOOLS, &["a"])
}

/// Demands tools within a minute.
async fn demand(rig: &Rig) -> Demand {
    rig.client()
        .await
        .demand(Group::Tools, in_a_minute())
        .await
        .unwrap()
}

fn in_a_minute() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

/// The names of the tools, the kind of the error, and the age in milliseconds.
fn told(demand: &Demand) -> (String, Option<&'static str>, u128) {
    let names = demand.catalog.tools.items.iter().map(|tool| &*tool.name);
    let names = names.collect::<Vec<_>>().join(" ");
    let error = demand.error.as_ref().map(|error| error.kind.word());
    (names, error, demand.age.as_millis())
}

#[tokio::test(start_paused = true)]
async fn a_healthy_cache_is_enough() {
    let (rig, fake) = Rig::with(tools()).await;
    for _ in 0..3 {
        assert_eq!(told(&demand(&rig).await), ("a".into(), None, 0));
        rig.pass(Duration::from_hours(1)).await;
    }
    assert_eq!(fake.count(TOOLS).await, 1);
    // An empty one, and one of a server without templates, too.
    let script = Script::legacy()
        .resources(vec![])
        .on(TEMPLATES, Reply::error(-32601, "no"));
    let (rig, fake) = Rig::with(script).await;
    for _ in 0..3 {
        let demand = rig
            .client()
            .await
            .demand(Group::Resources, in_a_minute())
            .await
            .unwrap();
        assert_eq!(demand.error, None);
        assert_eq!(demand.catalog.count(ListMethod::ResourceTemplates), Some(0));
    }
    assert_eq!(fake.count(TEMPLATES).await, 1);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_demand_waits_for_the_first_catalog() {
    let mut rig = Rig::start(live());
    let script = tools()
        .on("initialize", Reply::delay(3_000))
        .on(TOOLS, Reply::delay(2_000));
    rig.add(NAME, vec![script]).await;
    let fake = rig.arrival().await;
    let before = Instant::now();
    assert_eq!(told(&demand(&rig).await), ("a".into(), None, 0));
    assert_eq!(before.elapsed().as_secs(), 5);
    assert_eq!(fake.count(TOOLS).await, 1);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_change_a_demand_waits_for_its_refresh() {
    let (rig, fake) = Rig::with(tools()).await;
    let change = async |name: &str| {
        fake.send(Action::set_pages(TOOLS, Listing::named(TOOLS, &[name])))
            .await;
        fake.send(Action::list_changed("tools", 1)).await;
        rig.pass(Duration::from_millis(1)).await;
    };
    // During the debounce.
    change("b").await;
    assert_eq!(told(&demand(&rig).await), ("b".into(), None, 0));
    assert_eq!(fake.count(TOOLS).await, 2);
    rig.pass(LONG).await;
    // While the refresh runs that the change led to; all who demand share it.
    fake.send(Action::rule(Rule::on(TOOLS, Reply::delay(1_000))))
        .await;
    change("c").await;
    rig.pass(Duration::from_millis(500)).await;
    let (one, two) = tokio::join!(demand(&rig), demand(&rig));
    assert_eq!(told(&one), ("c".into(), None, 0));
    assert_eq!(told(&two), ("c".into(), None, 0));
    assert_eq!(fake.count(TOOLS).await, 3);
    // A change during a refresh: the running one is not enough.
    change("d").await;
    fake.wait_for(TOOLS, 4, LONG).await;
    change("e").await;
    assert_eq!(told(&demand(&rig).await), ("e".into(), None, 0));
    assert_eq!(fake.count(TOOLS).await, 5);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn if_the_refresh_fails_the_kept_catalog_comes_with_the_error_and_its_age() {
    let (rig, fake) = Rig::with(tools()).await;
    rig.pass(Duration::from_secs(20)).await;
    fake.send(Action::rule(Rule::on(TOOLS, Reply::error(-32603, "no"))))
        .await;
    fake.send(Action::list_changed("tools", 1)).await;
    rig.pass(Duration::from_millis(1)).await;
    let (names, error, age) = told(&demand(&rig).await);
    assert_eq!((&*names, error), ("a", Some("rpc")));
    assert!((20_100..20_110).contains(&age), "{age}");
    // The failure is not sticky: every demand asks again.
    for requests in 3..6 {
        rig.pass(Duration::from_secs(1)).await;
        assert_eq!(told(&demand(&rig).await).1, Some("rpc"));
        assert_eq!(fake.count(TOOLS).await, requests);
    }
    fake.send(Action::ClearRules(TOOLS.to_owned())).await;
    assert_eq!(told(&demand(&rig).await), ("a".into(), None, 0));
    assert_eq!(told(&demand(&rig).await), ("a".into(), None, 0));
    assert_eq!(fake.count(TOOLS).await, 6);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_first_discovery_is_asked_again_and_is_no_empty_list() {
    let script = Script::legacy()
        .sample()
        .on_nth(TEMPLATES, 1, Reply::error(-32603, "no"));
    let (rig, fake) = Rig::with(script).await;
    let server = rig.server();
    assert_eq!(server.catalog.count(ListMethod::ResourceTemplates), None);
    let demand = rig
        .client()
        .await
        .demand(Group::Resources, in_a_minute())
        .await
        .unwrap();
    assert_eq!(demand.error, None);
    assert_eq!(demand.catalog.count(ListMethod::ResourceTemplates), Some(1));
    assert_eq!(fake.count(TEMPLATES).await, 2);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_demand_waits_no_longer_than_its_own_deadline() {
    let (rig, fake) = Rig::with(tools()).await;
    fake.send(Action::rule(Rule::on(TOOLS, Reply::hold()).nth(2)))
        .await;
    fake.send(Action::list_changed("tools", 1)).await;
    rig.pass(Duration::from_millis(1)).await;
    let before = Instant::now();
    let client = rig.client().await;
    let deadline = before + Duration::from_secs(2);
    let late = client.demand(Group::Tools, deadline).await.unwrap_err();
    assert_eq!(late.kind, FailureKind::Timeout);
    assert_eq!(before.elapsed().as_secs(), 2);
    // The refresh goes on without it.
    fake.send(Action::release(TOOLS)).await;
    assert_eq!(told(&demand(&rig).await), ("a".into(), None, 0));
    assert_eq!(fake.count(TOOLS).await, 2);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_offered_or_not_of_interest_is_not_asked_for() {
    let (rig, fake) = Rig::with(tools()).await;
    let client = rig.client().await;
    for group in [Group::Resources, Group::Prompts] {
        let demand = client.demand(group, in_a_minute()).await.unwrap();
        assert_eq!(demand.error, None);
        assert_eq!(demand.catalog.count(ListMethod::Resources), None);
    }
    assert_eq!(fake.methods().await.len(), 3);
    rig.end().await;

    let interest = Interest::only(ListMethod::ResourceTemplates);
    let mut rig = Rig::start(EngineOptions { interest, ..live() });
    rig.add(NAME, vec![Script::legacy().sample()]).await;
    let fake = rig.arrival().await;
    rig.settled().await;
    fake.send(Action::list_changed("tools", 1)).await;
    fake.send(Action::list_changed("resources", 1)).await;
    rig.pass(LONG).await;
    let listed: Vec<String> = fake.methods().await.split_off(2);
    assert_eq!(listed, [TEMPLATES, TEMPLATES]);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_connected_has_an_error_and_nothing_to_show() {
    let (rig, _) = Rig::with(tools()).await;
    let name = rig.server().name.clone();
    rig.handle.set_enabled(&name, false).await;
    rig.until("disabled", |server| server.status.word() == "disabled")
        .await;
    let demand = demand(&rig).await;
    let (names, error, _) = told(&demand);
    assert_eq!((&*names, error), ("", Some("connect")));
    assert_eq!(demand.catalog.count(ListMethod::Tools), None);
    let message = demand.error.unwrap().message;
    assert!(message.contains("disabled"), "{message}");
    rig.end().await;
}

/// A connection that is lost while a demand waits is not the demand's end.
#[tokio::test(start_paused = true)]
async fn a_demand_waits_through_a_lost_connection() {
    let mut rig = Rig::start(live());
    let dies = tools().on_nth(TOOLS, 2, Reply::exit(1, ""));
    rig.add(NAME, vec![dies, Script::legacy().named(TOOLS, &["b"])])
        .await;
    let first = rig.arrival().await;
    rig.settled().await;
    first.send(Action::list_changed("tools", 1)).await;
    rig.pass(Duration::from_millis(1)).await;
    assert_eq!(told(&demand(&rig).await), ("b".into(), None, 0));
    let second = rig.arrival().await;
    assert_eq!(second.count(TOOLS).await, 1);
    // A deliberate end is: nothing can come any more.
    second
        .send(Action::rule(Rule::on(TOOLS, Reply::hold())))
        .await;
    second.send(Action::list_changed("tools", 1)).await;
    rig.pass(Duration::from_millis(1)).await;
    let client = rig.client().await;
    let waiting = tokio::spawn(async move { client.demand(Group::Tools, in_a_minute()).await });
    second.wait_for(TOOLS, 2, LONG).await;
    rig.handle.remove(&rig.server().name).await;
    let answer: Result<Demand, Failure> = waiting.await.unwrap();
    assert_eq!(answer.unwrap().catalog.count(ListMethod::Tools), None);
    rig.end().await;
}
