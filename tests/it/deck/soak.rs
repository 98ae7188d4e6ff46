//! Ten minutes of trouble: the real deck over 50 servers that change, fail, die and are switched
//! on and off at random. What it holds in memory after minute 10 is what it held after minute 2.
//!
//! `cargo test --test it soak::memory -- --ignored --nocapture` says what was measured.

use std::ops::Range;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::{FILE, Home, Terminal};
use crate::support::fake::listing::{Listing, Page, item};
use crate::support::fake::script::LIST_METHODS;
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::Control;
use crate::support::program::table;
use crate::support::random::fastrand;

const SERVERS: usize = 50;

/// How often something happens, and how often somebody presses a key.
const TICK: Duration = Duration::from_millis(20);
const TICKS_PER_KEY: u64 = 25;

const END: Duration = Duration::from_mins(10);

/// To how many servers something happens at once, and how much one of them writes to stderr: every
/// ring is full long before minute 2.
const AT_ONCE: usize = 10;
const FLOOD: usize = 100 * 1024;

/// When memory is looked at: up to minute 2, and at the end. The median counts, as servers come and go.
const EARLY: Range<Duration> = Duration::from_secs(90)..Duration::from_mins(2);
const LATE: Range<Duration> = Duration::from_secs(570)..END;

/// By how much memory may have grown, in percent.
const GROWTH: u64 = 5;

/// How long the last notification may take to become a request.
const DEADLINE: Duration = Duration::from_secs(30);

/// What the deck holds in memory now, in KiB.
fn memory(deck: &Terminal) -> u64 {
    let pid = deck.child.process_id().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Makes one server do something that servers do.
async fn trouble(server: &FakeHandle, random: &mut impl FnMut() -> u64) {
    let index = usize::try_from(random()).unwrap_or_default();
    let method = LIST_METHODS[index % LIST_METHODS.len()];
    let kind = ["resources", "tools", "prompts"][index % 3];
    match random() % 400 {
        0 => server.send(Action::exit(1, "the disk is full\n")).await,
        1 => server.send(Action::CloseStdout).await,
        2..=20 => {
            let reply = Reply::error(-32603, "the index is torn");
            server.send(Action::rule(Rule::on(method, reply))).await;
        }
        21..=60 => server.send(Action::ClearRules(method.to_owned())).await,
        61..=100 => {
            let items = (0..random() % 30).map(|number| item(method, &format!("item-{number}")));
            let pages = Listing::Pages(vec![Page::last(items.collect())]);
            server.send(Action::set_pages(method, pages)).await;
        }
        101..=120 => server.send(Action::FloodStderr(FLOOD)).await,
        121..=140 => server.send(Action::stdout("no message\n")).await,
        _ => {
            let count = 1 + random() % 20;
            server.send(Action::list_changed(kind, count)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes ten minutes"]
#[expect(clippy::print_stderr, reason = "what was measured is told")]
async fn memory_is_flat_from_minute_two_to_minute_ten() {
    let home = Home::new();
    let mut control = Control::listen().await;
    let script = Script::both().sample();
    let tables: Vec<String> = (0..SERVERS)
        .map(|number| {
            let line = control.command(&script);
            let mut words = vec![line.program.display().to_string()];
            words.extend(line.arguments);
            table(&format!("s{number}"), &words)
        })
        .collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    home.configure(&tables);
    let config = home.read(FILE);
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&[&format!("{SERVERS} servers: {SERVERS} connected")]);

    let start = Instant::now();
    let mut random = fastrand(10);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut servers = Vec::new();
    let (mut steps, mut starts) = (0_u64, 0);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    while start.elapsed() < END {
        ticks.tick().await;
        steps += 1;
        while let Some(server) = control.try_accept() {
            servers.push(server);
            starts += 1;
        }
        servers.retain(|server: &FakeHandle| !server.has_ended());
        let index = usize::try_from(random()).unwrap_or_default();
        let some = servers.iter().cycle().skip(index % SERVERS).take(AT_ONCE);
        let some = some.map(|server| {
            let mut random = fastrand(random());
            // One that is just being ended may not answer any more.
            async move {
                timeout(DEADLINE, trouble(server, &mut random))
                    .await
                    .is_ok()
            }
        });
        join_all(some).await;
        if steps.is_multiple_of(TICKS_PER_KEY) {
            let keys = [
                "j", "k", "j", " ", " ", "c", "R", "r", "1", "5", "6", "7", "8", "\x1b[Z",
            ];
            deck.press(keys[index % keys.len()]);
            let held = memory(&deck);
            let now = start.elapsed();
            if EARLY.contains(&now) {
                early.push(held);
            } else if LATE.contains(&now) {
                late.push(held);
            }
        }
    }
    let (before, after) = (median(early), median(late));
    eprintln!(
        "{before} KiB at minute 2, {after} KiB at minute 10; {steps} rounds, {starts} starts of servers"
    );

    // Whatever happened: with the file as it was, every server is there, and hears.
    home.write(FILE, "");
    deck.shows(&["mcpdeck   0 servers"]);
    while control.try_accept().is_some() {}
    home.write(FILE, &config);
    deck.shows(&[&format!("{SERVERS} servers: {SERVERS} connected")]);
    for _ in 0..SERVERS {
        let server = control.accept().await;
        let listed = server.count("resources/list").await;
        server.send(Action::list_changed("resources", 3)).await;
        server
            .wait_for("resources/list", listed + 1, DEADLINE)
            .await;
    }
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
    assert!(
        after * 100 <= before * (100 + GROWTH),
        "{before} KiB became {after} KiB"
    );
}
