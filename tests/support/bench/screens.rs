//! What a person notices of the deck.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::deck::{Control, Deck};
use super::frame::Frame;
use super::measure::{Site, median, megabytes, milliseconds};
use super::report::Row;
use super::server::Options;

/// How often the deck is started.
const STARTS: usize = 15;

/// For how long an idle deck is looked at.
const IDLE: Duration = Duration::from_secs(10);

/// How long a deck may take until nothing is left of its start: marks are gone, the log is written.
const SETTLING: Duration = Duration::from_secs(3);

/// How often an idle deck may be woken in a second: for the clock on the screen, which takes a wait
/// for the time and one for the terminal.
const WAKES: u64 = 3;

/// How many frames are drawn.
const FRAMES: usize = 2_000;

/// How many keys are pressed in a storm.
const KEYS: usize = 300;

/// From the start to the first frame.
pub fn first_frame(site: &Site) -> Result<Vec<Row>> {
    let silent = Options {
        silent: true,
        ..Options::default()
    };
    let cases = [
        ("one fast server", vec![Options::default()]),
        ("20 that never answer", vec![silent; 20]),
    ];
    let mut rows = Vec::new();
    for (what, servers) in cases {
        let mut times = Vec::new();
        for _ in 0..=STARTS {
            let mut deck = Deck::start(site, &servers)?;
            let frame = deck.wait_for(" mcpdeck ")?;
            times.push(milliseconds(frame - deck.begin));
            deck.quit()?;
        }
        let time = median(times.into_iter().skip(1))?;
        rows.push(Row {
            what: format!("deck: process start to first frame, {what}"),
            measured: format!("{time:.1} ms"),
            floor: String::new(),
            target: "<= 10 ms",
            kept: time <= 10.0,
        });
    }
    Ok(rows)
}

/// A deck that nobody touches.
pub fn idle(site: &Site) -> Result<Vec<Row>> {
    let cases = [
        (
            1,
            10,
            8.0,
            "< 0.1 % CPU, <= 8 MB, no wake-ups save the clock",
        ),
        (20, 10, 20.0, "<= 20 MB, no wake-ups save the clock"),
        (20, 1_000, 40.0, "<= 40 MB, no wake-ups save the clock"),
    ];
    let mut rows = Vec::new();
    for (count, items, memory, target) in cases {
        let server = Options {
            items,
            ..Options::default()
        };
        let mut deck = Deck::start(site, &vec![server; count])?;
        deck.wait_for(&format!(": {count} connected "))?;
        deck.watch_for(SETTLING);
        let before = deck.usage()?;
        deck.watch_for(IDLE);
        let after = deck.usage()?;
        deck.quit()?;
        let cpu = after.cpu.saturating_sub(before.cpu).as_secs_f64() / IDLE.as_secs_f64() * 100.0;
        let sleeps = after.sleeps - before.sleeps;
        let (held, own) = (megabytes(after.memory), megabytes(after.own));
        rows.push(Row {
            what: format!(
                "idle deck, {count} server{} of {items} items",
                plural(count)
            ),
            measured: format!(
                "{cpu:.2} % CPU, {sleeps} wake-ups in {} s, {held:.1} MB ({own:.1} MB without the \
                 program's file)",
                IDLE.as_secs()
            ),
            floor: String::new(),
            target,
            kept: cpu < 0.1 && sleeps <= WAKES * IDLE.as_secs() && held <= memory,
        });
    }
    Ok(rows)
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A deck that shows the resources of one server, which does what it is asked.
fn deck_and_control(site: &Site, items: usize) -> Result<(Deck, Control)> {
    let (listener, port) = Control::listen()?;
    let server = Options {
        items,
        control: Some(port),
        ..Options::default()
    };
    let mut deck = Deck::start(site, &[server])?;
    let control = Control::accept(&listener)?;
    deck.wait_for(": 1 connected ")?;
    deck.press("\r1")?;
    deck.wait_for("res-0-v0 ")?;
    Ok((deck, control))
}

/// What one frame takes, from the key's effect on the model to the cells.
pub fn frame(_: &Site) -> Result<Vec<Row>> {
    let mut frame = Frame::new(100)?;
    let mut times = Vec::new();
    for _ in 0..FRAMES {
        let begin = Instant::now();
        frame.draw()?;
        times.push(milliseconds(begin.elapsed()));
    }
    let time = median(times)?;
    Ok(vec![Row {
        what: "one frame of 160 x 50, 100 servers of 10,000 rows".to_owned(),
        measured: format!("{time:.2} ms"),
        floor: String::new(),
        target: "<= 0.5 ms",
        kept: time <= 0.5,
    }])
}

/// How long a key takes while a list of 10,000 rows changes without an end.
pub fn keys(site: &Site) -> Result<Vec<Row>> {
    let (mut deck, mut control) = deck_and_control(site, 10_000)?;
    control.order("storm")?;
    deck.watch_for(Duration::from_secs(1));
    let mut times = Vec::new();
    for key in 0..KEYS {
        let pressed = deck.press("j")?;
        let shown = deck.wait_for(&format!(" {} of 10000", key + 2))?;
        times.push(milliseconds(shown - pressed));
        // Keys come at odd moments of the storm.
        deck.watch_for(Duration::from_millis(7 + (key as u64 * 13) % 29));
    }
    deck.quit()?;
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let (half, most) = (at(50), at(99));
    Ok(vec![Row {
        what: "key to frame, 10,000 rows, during a notification storm".to_owned(),
        measured: format!("p50 {half:.1} ms, p99 {most:.1} ms"),
        floor: String::new(),
        target: "p99 <= 8 ms",
        kept: most <= 8.0,
    }])
}

/// How long the newest list takes after so many notifications, in milliseconds. The deck is a new
/// one, as a server that has notified just before is asked less often.
pub fn burst(site: &Site, count: usize) -> Result<f64> {
    let (mut deck, mut control) = deck_and_control(site, 10)?;
    let quiet = control.order(&count.to_string())?;
    let shown = deck.wait_for("-v1 ")?;
    deck.quit()?;
    Ok(milliseconds(shown.saturating_duration_since(quiet)))
}

/// A burst of notifications.
pub fn notifications(site: &Site) -> Result<Vec<Row>> {
    let times: Result<Vec<f64>> = (0..STARTS).map(|_| burst(site, 1_000)).collect();
    let time = median(times?)?;
    Ok(vec![Row {
        what: "1,000 notifications: the new list on screen after the burst".to_owned(),
        measured: format!("{time:.1} ms"),
        floor: String::new(),
        target: "<= 300 ms",
        kept: time <= 300.0,
    }])
}
