//! The scenarios by name, and the table of what they found.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::measure::Site;
use super::{growth, lists, screens};

/// One line of the table.
#[derive(Debug)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// What came out.
    pub measured: String,
    /// What the floor needs, and how much more that is.
    pub floor: String,
    /// What was promised.
    pub target: &'static str,
    /// Whether the promise is kept.
    pub kept: bool,
}

/// Measures one thing.
type Scenario = fn(&Site) -> Result<Vec<Row>>;

const SCENARIOS: &[(&str, Scenario)] = &[
    ("one", lists::one),
    ("slow", lists::slow),
    ("twenty", lists::twenty),
    ("silent", lists::silent),
    ("pages", lists::pages),
    ("both", lists::both),
    ("hundred", lists::hundred),
    ("hostile", lists::hostile),
    ("first-frame", screens::first_frame),
    ("idle", screens::idle),
    ("keys", screens::keys),
    ("notifications", screens::notifications),
    ("size", lists::size),
    ("growth", growth::growth),
];

/// Runs the scenarios that are named, or all.
pub fn run(names: &[&str]) -> Result<()> {
    for name in names {
        ensure!(
            SCENARIOS.iter().any(|(known, _)| known == name),
            "{name:?} is no scenario; there are: {}",
            SCENARIOS
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    let site = site()?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}\n", machine())?;
    writeln!(
        stdout,
        "| what | measured | floor | target | |\n|---|---|---|---|---|"
    )?;
    for (name, scenario) in SCENARIOS {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        let rows = scenario(&site).with_context(|| (*name).to_owned())?;
        for row in rows {
            let Row {
                what,
                measured,
                floor,
                target,
                kept,
            } = row;
            let word = if kept { "kept" } else { "**missed**" };
            writeln!(
                stdout,
                "| {what} | {measured} | {floor} | {target} | {word} |"
            )?;
            stdout.flush()?;
        }
    }
    Ok(())
}

/// Builds the program as it ships, and makes a home for it.
fn site() -> Result<Site> {
    let bench = std::env::current_exe()?;
    if let Some(cargo) = std::env::var_os("CARGO") {
        let built = Command::new(cargo)
            .args(["build", "--release", "--bin", "mcpdeck", "--quiet"])
            .status()?;
        if !built.success() {
            bail!("the program could not be built");
        }
    }
    // This program is TARGET/PROFILE/examples/bench.
    let target = bench.ancestors().nth(3).context("a target folder")?;
    let program = target.join("release/mcpdeck");
    ensure!(program.exists(), "{} is not there", program.display());
    let home = tempfile::tempdir()?;
    Ok(Site {
        bench,
        program,
        home,
    })
}

/// What this was measured on.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(PathBuf::from(path)).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    format!(
        "{cores} cores of {model}, Linux {}; load {} when it began",
        kernel.trim(),
        load.split(' ').next().unwrap_or("unknown")
    )
}
