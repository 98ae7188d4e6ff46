//! How time and memory grow, as rows and as plots.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::lists::Pair;
use super::measure::Site;
use super::plot::{Line, Plot};
use super::report::Row;
use super::screens;
use super::server::Options;

const ITEMS: [usize; 5] = [100, 300, 1_000, 3_000, 10_000];
const SERVERS: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];
const NOTIFICATIONS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// How often each point is measured.
const ROUNDS: usize = 9;

/// Measures growth over items, servers and notifications.
pub fn growth(site: &Site) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let of_items = |items| Options {
        items,
        ..Options::default()
    };
    let pairs = measure(site, &ITEMS, |items| vec![of_items(items)])?;
    rows.push(row("items", &ITEMS, &pairs));
    plot("items of one server", &ITEMS, &pairs, "growth-items.svg")?;

    let pairs = measure(site, &SERVERS, |servers| vec![of_items(10); servers])?;
    rows.push(row("servers of 10 items", &SERVERS, &pairs));
    plot(
        "servers of 10 items",
        &SERVERS,
        &pairs,
        "growth-servers.svg",
    )?;

    let bursts = NOTIFICATIONS
        .iter()
        .map(|count| screens::burst(site, *count));
    let times: Vec<f64> = bursts.collect::<Result<_>>()?;
    rows.push(Row {
        what: format!("growth over notifications: {}", list(&NOTIFICATIONS)),
        measured: times
            .iter()
            .map(|time| format!("{time:.0}"))
            .collect::<Vec<_>>()
            .join(", ")
            + " ms to screen",
        floor: String::new(),
        target: "<= 300 ms",
        kept: times.iter().all(|time| *time <= 300.0),
    });
    Ok(rows)
}

fn measure(
    site: &Site,
    sizes: &[usize],
    servers: impl Fn(usize) -> Vec<Options>,
) -> Result<Vec<Pair>> {
    let pairs = sizes
        .iter()
        .map(|size| site.pair("resources", &servers(*size), ROUNDS));
    pairs.collect()
}

fn list(sizes: &[usize]) -> String {
    sizes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn row(what: &str, sizes: &[usize], pairs: &[Pair]) -> Row {
    let of = |value: fn(&Pair) -> f64| {
        pairs
            .iter()
            .map(|pair| format!("{:.1}", value(pair)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    Row {
        what: format!("growth over {what}: {}", list(sizes)),
        measured: format!(
            "{} ms; {} MB",
            of(|pair| pair.ours.wall),
            of(|pair| pair.ours.peak)
        ),
        floor: format!("{} ms", of(|pair| pair.floor.wall)),
        target: "",
        kept: true,
    }
}

/// Writes time and memory side by side.
fn plot(what: &str, sizes: &[usize], pairs: &[Pair], file: &str) -> Result<()> {
    let line = |name, value: fn(&Pair) -> f64| Line {
        name,
        points: sizes.iter().copied().zip(pairs.iter().map(value)).collect(),
    };
    let plots = [
        Plot {
            title: "time of list resources --json".to_owned(),
            unit: "ms",
            over: what.to_owned(),
            lines: vec![
                line("mcpdeck", |pair| pair.ours.wall),
                line("floor", |pair| pair.floor.wall),
            ],
        },
        Plot {
            title: "most memory at once".to_owned(),
            unit: "MB",
            over: what.to_owned(),
            lines: vec![line("mcpdeck", |pair| pair.ours.peak)],
        },
    ];
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(file);
    Ok(fs::write(path, super::plot::svg(&plots)?)?)
}
