//! Notifications in bursts and storms (5.13): the last one is never lost, and nothing older is
//! shown over anything newer.

use std::time::Duration;

use mcpdeck::domain::{ListMethod, ServerSnapshot};
use tokio::time::Instant;

use super::{Order, stdio, tell};
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::handle::FakeHandle;
use crate::support::random::fastrand;
use crate::support::rig::{NAME, Rig, listings};

const METHODS: [&str; 3] = ["resources/list", "resources/templates/list", "tools/list"];

/// A server whose lists hold one item with the number of their version.
fn versioned() -> Script {
    let script = Script::legacy();
    METHODS
        .into_iter()
        .fold(script, |script, method| script.named(method, &["0"]))
}

async fn set_version(fake: &FakeHandle, version: u64) {
    let name = version.to_string();
    for method in METHODS {
        let listing = Listing::named(method, &[&name]);
        fake.send(Action::set_pages(method, listing)).await;
    }
}

/// The version that all listings show; `None` where they differ.
fn version(server: &ServerSnapshot) -> Option<u64> {
    let [resources, templates, tools, _] = listings(server);
    let same = resources == templates && templates == tools;
    resources.parse().ok().filter(|_| same)
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_a_thousand_is_two_traversals_at_most_wherever_it_falls() {
    // Before, during and after a refresh that takes 150 ms, all at once and spread out.
    for (spacing_ms, offset_ms) in [(0, 0), (0, 120), (0, 400), (1, 0), (1, 120)] {
        let script = METHODS.into_iter().fold(versioned(), |script, method| {
            script.on(method, Reply::delay(150))
        });
        let (rig, fake) = Rig::with(script).await;
        rig.pass(Duration::from_secs(20)).await;
        let before = fake.count(METHODS[2]).await;
        rig.handle.refresh(&rig.server().name).await;
        rig.pass(Duration::from_millis(offset_ms)).await;
        set_version(&fake, 1).await;
        for kind in ["resources", "tools"] {
            let mut burst = Action::list_changed(kind, 1_000);
            if let Action::Notify(notice) = &mut burst {
                notice.spacing_ms = spacing_ms;
            }
            fake.send(burst).await;
        }
        rig.pass(Duration::from_secs(20)).await;
        assert_eq!(version(&rig.server()), Some(1));
        for method in METHODS {
            let asked = fake.count(method).await - before;
            // One refresh was asked for by hand.
            let most = if spacing_ms == 0 { 3 } else { 7 };
            assert!(asked <= most, "{method} x{asked}, {spacing_ms} ms");
        }
        rig.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn two_hundred_bursts_in_a_row_end_in_the_last_state_each_time() {
    let (rig, fake) = Rig::with(versioned()).await;
    let mut random = fastrand(7);
    for number in 1..=200 {
        set_version(&fake, number).await;
        let count = 1 + random() % 50;
        for kind in ["resources", "tools"] {
            fake.send(Action::list_changed(kind, count)).await;
        }
        rig.until("the last state", |server| version(server) == Some(number))
            .await;
        rig.pass(Duration::from_millis(random() % 3_000)).await;
        assert_eq!(version(&rig.server()), Some(number));
    }
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_older_is_shown_over_anything_newer() {
    // The server computes each answer when it is asked, and sends it when it pleases; meanwhile
    // it changes, and says so.
    for seed in 0..20 {
        let mut random = fastrand(seed);
        let script = METHODS.into_iter().fold(versioned(), |mut script, method| {
            for nth in 1..200 {
                script = script.on_nth(method, nth, Reply::delay(random() % 700));
            }
            script
        });
        let (rig, fake) = Rig::with(script).await;
        let mut states = rig.handle.state();
        let watching = tokio::spawn(async move {
            let mut newest = [0_u64; 3];
            while states.changed().await.is_ok() {
                let state = states.borrow_and_update().clone();
                let Some(server) = state.servers.first() else {
                    continue;
                };
                for (method, newest) in ListMethod::ALL.into_iter().zip(&mut newest) {
                    let shown = crate::support::rig::listing(server, method);
                    let Ok(shown) = shown.parse::<u64>() else {
                        continue;
                    };
                    assert!(shown >= *newest, "{shown} after {newest}");
                    *newest = shown;
                }
            }
        });
        for number in 1..=30 {
            set_version(&fake, number).await;
            for kind in ["resources", "tools"] {
                fake.send(Action::list_changed(kind, 1 + random() % 3))
                    .await;
            }
            rig.pass(Duration::from_millis(random() % 400)).await;
        }
        rig.until("the newest", |server| version(server) == Some(30))
            .await;
        rig.pass(Duration::from_secs(20)).await;
        assert_eq!(version(&rig.server()), Some(30));
        rig.end().await;
        watching.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_notifying_is_followed_slowly_and_stays_controllable() {
    let mut storm = Action::list_changed("tools", 6_000);
    if let Action::Notify(notice) = &mut storm {
        notice.spacing_ms = 10;
    }
    let (rig, fake) = Rig::with(versioned()).await;
    fake.send(storm).await;
    for number in 1..=6 {
        set_version(&fake, number).await;
        rig.pass(Duration::from_secs(9)).await;
        // What is shown is at most one spacing and one debounce old.
        let shown = crate::support::rig::listing(&rig.server(), ListMethod::Tools);
        assert_eq!(shown, number.to_string());
    }
    let asked = fake.count("tools/list").await;
    assert!((10..=20).contains(&asked), "asked {asked} times in 54 s");
    // By hand it is asked at once, and a toggle wins at once.
    let definition = stdio(NAME, mcpdeck::domain::ProtocolChoice::Legacy);
    tell(&rig, Order::Refresh, &definition).await;
    rig.pass(Duration::from_millis(5)).await;
    assert_eq!(fake.count("tools/list").await, asked + 1);
    let started = Instant::now();
    tell(&rig, Order::Disable, &definition).await;
    rig.until("disabled", |server| server.status.word() == "disabled")
        .await;
    assert!(started.elapsed() < Duration::from_millis(5));
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn noise_while_the_first_catalog_is_awaited_keeps_nobody_busy() {
    // Paused time stands still as long as anybody is busy.
    let noisy = METHODS[..2].iter().fold(versioned(), |script, method| {
        let noise = || Action::stdout("noise\n");
        script.on(method, Reply::default().before(noise()).after(noise()))
    });
    let script = noisy
        .on(METHODS[2], Reply::delay(200))
        .after_initialized(Action::stdout("noise\n"));
    let (rig, _) = Rig::with(script).await;
    assert_eq!(version(&rig.server()), Some(0));
    rig.until("counted", |server| server.noise == 5).await;
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changes_each_second_and_fails_every_third_time_keeps_its_old_data() {
    let (rig, fake) = Rig::with(versioned()).await;
    let (mut failures, mut kept) = (0, 0);
    for number in 1..=60 {
        if number % 3 == 0 {
            let broken = Reply::error(-32603, "broken");
            let rule = crate::support::fake::Rule::on("tools/list", broken);
            fake.send(Action::rule(rule)).await;
        } else {
            fake.send(Action::ClearRules("tools/list".to_owned())).await;
        }
        set_version(&fake, number).await;
        fake.send(Action::list_changed("tools", 1)).await;
        rig.pass(Duration::from_secs(1)).await;
        let server = rig.server();
        assert_eq!(server.catalog.count(ListMethod::Tools), Some(1));
        failures += usize::from(server.error(Some(ListMethod::Tools)).is_some());
        kept += usize::from(server.catalog.tools.is_old());
    }
    assert_eq!(failures, kept);
    assert!(failures > 5, "{failures}");
    let reports = rig.refreshes();
    assert!(reports.iter().any(|report| !report.is_ok()));
    // A minute later it is the last state that stands: the 60th, which failed.
    fake.send(Action::ClearRules("tools/list".to_owned())).await;
    fake.send(Action::list_changed("tools", 1)).await;
    rig.until("the last", |server| {
        crate::support::rig::listing(server, ListMethod::Tools) == "60"
    })
    .await;
    rig.end().await;
}
