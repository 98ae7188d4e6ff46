//! 5.13, of the era with `initialize`: when `list_changed` leads to another traversal. Time is
//! paused, so every moment is exact.

use std::time::Duration;

use mcpdeck::app::EngineOptions;
use mcpdeck::domain::{EventKind, Group, ListMethod};
use serde_json::json;

use crate::support::fake::{Action, Listing, Notice, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::rig::{NAME, Rig, listing, listings, live};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";
const TOOLS: &str = "tools/list";
const LONG: Duration = Duration::from_mins(5);

fn tools() -> Script {
    Script::legacy().named(TOOLS, &["a"])
}

fn spaced(count: u64, spacing_ms: u64) -> Action {
    Action::Notify(Notice {
        method: "notifications/tools/list_changed".to_owned(),
        count,
        spacing_ms,
        ..Notice::default()
    })
}

/// When the requests of a method came, in milliseconds since the start of the server.
async fn times(fake: &FakeHandle, method: &str) -> Vec<u64> {
    let requests = fake.of(method).await;
    requests.iter().map(|request| request.at_ms).collect()
}

/// How long after the one before each of the numbers is.
fn gaps(times: &[u64]) -> Vec<u64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Numbers that are expected, save for the millisecond to which a timer is rounded.
#[track_caller]
fn assert_about(actual: &[u64], expected: &[u64]) {
    let close = |(actual, expected): (&u64, &u64)| actual.abs_diff(*expected) <= 3;
    let same = actual.len() == expected.len() && actual.iter().zip(expected).all(close);
    assert!(same, "{actual:?} are not about {expected:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_is_followed_also_where_it_was_not_declared() {
    for capability in [
        json!({}),
        json!({"listChanged": false}),
        json!({"listChanged": true}),
    ] {
        let script = tools().capabilities(json!({"tools": capability}));
        let (rig, fake) = Rig::with(script).await;
        fake.send(Action::set_pages(TOOLS, Listing::named(TOOLS, &["b"])))
            .await;
        fake.send(Action::list_changed("tools", 1)).await;
        let renewed = rig.until("renewed", |server| {
            listing(server, ListMethod::Tools) == "b"
        });
        assert_eq!(renewed.await.generation.0, 2);
        assert_about(&gaps(&times(&fake, TOOLS).await), &[100]);
        rig.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_lists_that_changed_are_asked_for() {
    let check = async |kind: &str, expected: [usize; 4]| {
        let (rig, fake) = Rig::with(Script::legacy().sample()).await;
        fake.send(Action::list_changed(kind, 1)).await;
        rig.pass(LONG).await;
        for method in ListMethod::ALL {
            let asked = fake.count(method.name()).await;
            assert_eq!(
                asked,
                expected[method as usize],
                "{kind}: {}",
                method.name()
            );
        }
        rig.end().await;
    };
    check("resources", [2, 2, 1, 1]).await;
    check("tools", [1, 1, 2, 1]).await;
    check("prompts", [1, 1, 1, 2]).await;
    check("roots", [1, 1, 1, 1]).await;
}

#[tokio::test(start_paused = true)]
async fn other_notifications_and_other_capabilities_lead_to_nothing() {
    let (rig, fake) = Rig::with(tools()).await;
    let updated = json!({"uri": "fake:///one"});
    fake.send(Action::notify("notifications/resources/updated", updated))
        .await;
    fake.send(Action::notify(
        "notifications/tools/list_changed/",
        json!({}),
    ))
    .await;
    fake.send(Action::list_changed("resources", 3)).await;
    fake.send(Action::list_changed("prompts", 3)).await;
    rig.pass(LONG).await;
    let asked = ["initialize", "notifications/initialized", TOOLS];
    assert_eq!(fake.methods().await, asked);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_debounce_counts_from_the_first_and_is_not_renewed() {
    let (rig, fake) = Rig::with(tools()).await;
    rig.pass(LONG).await;
    // One every 40 ms: a debounce that is renewed would never end.
    fake.send(spaced(3, 40)).await;
    rig.pass(LONG).await;
    let requests = times(&fake, TOOLS).await;
    assert_about(&gaps(&requests), &[300_000 + 100]);
    let merged: Vec<u64> = rig
        .refreshes()
        .iter()
        .map(|report| report.notifications)
        .collect();
    assert_eq!(merged, [0, 3]);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_notifications_lead_to_at_most_two_more_traversals() {
    let (rig, fake) = Rig::with(Script::legacy().sample()).await;
    for kind in ["resources", "tools", "prompts"] {
        fake.send(Action::list_changed(kind, 1_000)).await;
    }
    for method in ListMethod::ALL {
        fake.send(Action::set_pages(
            method.name(),
            Listing::named(method.name(), &["new"]),
        ))
        .await;
    }
    rig.pass(LONG).await;
    for method in ListMethod::ALL {
        let asked = fake.count(method.name()).await;
        assert!((2..=3).contains(&asked), "{}: {asked}", method.name());
    }
    assert_eq!(listings(&rig.server()), ["new"; 4]);
    let state = rig.handle.snapshot();
    let merged = |wanted| {
        let counts = state.events.iter().filter_map(|event| match event.kind {
            EventKind::ListChanged { group, count } if group == wanted => Some(count),
            _ => None,
        });
        counts.sum::<u64>()
    };
    assert_eq!(Group::ALL.map(merged), [1_000; 3]);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_arrives_during_a_refresh_leads_to_exactly_one_more() {
    let (rig, fake) = Rig::with(
        Script::legacy()
            .named(RESOURCES, &["1"])
            .named(TEMPLATES, &["1"]),
    )
    .await;
    fake.send(Action::rule(Rule::on(TEMPLATES, Reply::hold()).nth(2)))
        .await;
    fake.send(Action::list_changed("resources", 1)).await;
    fake.wait_for(TEMPLATES, 2, LONG).await;
    // The held answer is that of the old state; a hundred changes come before it.
    for number in 2..=100 {
        let names = [number.to_string()];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for method in [RESOURCES, TEMPLATES] {
            fake.send(Action::set_pages(method, Listing::named(method, &names)))
                .await;
        }
        fake.send(Action::list_changed("resources", 1)).await;
    }
    rig.pass(Duration::from_secs(5)).await;
    assert_eq!(fake.count(TEMPLATES).await, 2);
    fake.send(Action::release(TEMPLATES)).await;
    rig.pass(LONG).await;
    assert_eq!(
        [fake.count(RESOURCES).await, fake.count(TEMPLATES).await],
        [3, 3]
    );
    assert_eq!(listings(&rig.server())[..2], ["100", "100"]);
    let merged: Vec<u64> = rig
        .refreshes()
        .iter()
        .map(|report| report.notifications)
        .collect();
    assert_eq!(merged, [0, 1, 99]);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_notifies_after_every_list_is_slowed_down() {
    let script = tools().after_each_list(Action::list_changed("tools", 1));
    let (rig, fake) = Rig::with(script).await;
    rig.pass(Duration::from_secs(30)).await;
    let requests = times(&fake, TOOLS).await;
    let expected = [
        100, 100, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000,
    ];
    assert_about(&gaps(&requests), &expected);
    // It stays controllable.
    let name = rig.server().name.clone();
    let before = tokio::time::Instant::now();
    rig.handle.refresh(&name).await;
    fake.wait_for(TOOLS, requests.len() + 1, LONG).await;
    rig.handle.set_enabled(&name, false).await;
    rig.until("disabled", |server| server.status.word() == "disabled")
        .await;
    assert!(before.elapsed() < Duration::from_millis(10));
    let asked = fake.count(TOOLS).await;
    rig.pass(LONG).await;
    assert_eq!(fake.count(TOOLS).await, asked);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_spacing_is_measured_from_the_end_and_forgotten_after_quiet() {
    let slow = Script::legacy()
        .named(TOOLS, &["a"])
        .on(TOOLS, Reply::delay(1_000));
    let (rig, fake) = Rig::with(slow).await;
    // Each refresh takes a second, and changes are told all the time.
    fake.send(spaced(150, 100)).await;
    rig.pass(Duration::from_secs(15)).await;
    let requests = times(&fake, TOOLS).await;
    let expected = [1_100, 1_000, 1_100, 1_200, 1_400, 1_800, 2_600];
    assert_about(&gaps(&requests)[..7], &expected);
    // Ten quiet seconds later two more are free again, and the third waits for the least spacing.
    rig.pass(Duration::from_secs(20)).await;
    let before = times(&fake, TOOLS).await.len();
    fake.send(spaced(60, 100)).await;
    rig.pass(Duration::from_secs(6)).await;
    let requests = times(&fake, TOOLS).await;
    let expected = [1_000, 1_100, 1_200];
    assert_about(&gaps(&requests)[before..before + 3], &expected);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn refreshes_by_hand_are_one_running_and_one_pending() {
    let (rig, fake) = Rig::with(tools()).await;
    fake.send(Action::rule(Rule::on(TOOLS, Reply::hold()).nth(2)))
        .await;
    let name = rig.server().name.clone();
    for _ in 0..50 {
        rig.handle.refresh(&name).await;
    }
    fake.wait_for(TOOLS, 2, LONG).await;
    for _ in 0..50 {
        rig.handle.refresh(&name).await;
    }
    rig.pass(Duration::from_secs(1)).await;
    assert_eq!(fake.count(TOOLS).await, 2);
    fake.send(Action::release(TOOLS)).await;
    rig.pass(LONG).await;
    assert_eq!(fake.count(TOOLS).await, 3);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refresh_tells_what_it_changed() {
    let (rig, fake) = Rig::with(
        Script::legacy()
            .named(RESOURCES, &["a", "b", "c"])
            .named(TEMPLATES, &["t"]),
    )
    .await;
    let changed = json!([
        {"uri": "fake:///a", "name": "another"},
        {"uri": "fake:///d", "name": "d"},
        {"uri": "fake:///c", "name": "c"},
        {"uri": "fake:///c", "name": "c"},
    ]);
    let changed = changed.as_array().unwrap().clone();
    fake.send(Action::set_pages(RESOURCES, Listing::of(changed)))
        .await;
    fake.send(Action::list_changed("resources", 14)).await;
    rig.pass(Duration::from_secs(1)).await;
    let reports = rig.refreshes();
    let report = reports.last().unwrap();
    assert_eq!(
        (report.group, report.notifications, report.generation.0),
        (Group::Resources, 14, 2)
    );
    assert!(report.is_ok());
    let counts: Vec<_> = report
        .counts
        .iter()
        .map(|(method, counts)| {
            (
                *method,
                counts.added,
                counts.removed,
                counts.changed,
                counts.total,
            )
        })
        .collect();
    let expected = [
        (ListMethod::Resources, 2, 1, 1, 4),
        (ListMethod::ResourceTemplates, 0, 0, 0, 1),
    ];
    assert_eq!(counts, expected);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_command_does_not_follow_changes() {
    let script = Script::legacy()
        .sample()
        .on(RESOURCES, Reply::delay(5_000))
        .after_each_list(Action::list_changed("tools", 1));
    let mut rig = Rig::start(EngineOptions {
        live: false,
        ..live()
    });
    rig.add(NAME, vec![script]).await;
    let fake = rig.arrival().await;
    rig.settled().await;
    rig.pass(LONG).await;
    assert_eq!(fake.count(TOOLS).await, 1);
    rig.end().await;
}
