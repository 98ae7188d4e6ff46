//! The scenarios by name, and the table of what they found.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

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
    ("frame", screens::frame),
    ("keys", screens::keys),
    ("notifications", screens::notifications),
    ("size", lists::size),
    ("growth", growth::growth),
];

/// Runs the scenarios that are named, or all. `program=PATH` measures another build than that of
/// this source.
pub fn run(words: &[&str]) -> Result<()> {
    let (programs, names): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with("program="));
    let program = programs
        .last()
        .and_then(|word| word.strip_prefix("program="));
    for name in &names {
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
    let site = site(program)?;
    let mut stdout = io::stdout();
    let mut table = format!("{HEAD}\n");
    write!(stdout, "{}\n\n{table}", machine())?;
    for (name, scenario) in SCENARIOS {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        for row in scenario(&site).with_context(|| (*name).to_owned())? {
            let line = format!("{row}\n");
            stdout.write_all(line.as_bytes())?;
            stdout.flush()?;
            table.push_str(&line);
        }
    }
    if names.is_empty() {
        write_readme(&format!("{}:\n\n{table}", machine()))?;
    }
    Ok(())
}

const HEAD: &str = "| what | measured | floor | target | |\n|---|---|---|---|---|";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            measured,
            floor,
            target,
            kept,
        } = self;
        let word = match (target.is_empty(), kept) {
            (true, _) => "",
            (false, true) => "kept",
            (false, false) => "**missed**",
        };
        write!(f, "| {what} | {measured} | {floor} | {target} | {word} |")
    }
}

/// Puts what was measured in the place of the last measurement.
fn write_readme(measured: &str) -> Result<()> {
    const MARK: &str = "<!-- bench -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path)?;
    let parts: Vec<&str> = text.split(MARK).collect();
    let [before, _, after] = parts[..] else {
        anyhow::bail!("the README has no place for the table: two lines {MARK:?}");
    };
    Ok(std::fs::write(
        path,
        format!("{before}{MARK}{measured}{MARK}{after}"),
    )?)
}

/// Makes a home for the program, and builds it as it ships if no other is named.
fn site(program: Option<&str>) -> Result<Site> {
    let bench = std::env::current_exe()?;
    let program = match program {
        Some(program) => PathBuf::from(program),
        None => build(&bench)?,
    };
    ensure!(program.exists(), "{} is not there", program.display());
    let home = tempfile::tempdir()?;
    Ok(Site {
        bench,
        program,
        home,
    })
}

fn build(bench: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--bin", "mcpdeck", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    ensure!(built.success(), "the program could not be built");
    // This program is TARGET/PROFILE/examples/bench.
    let target = bench.ancestors().nth(3).context("a target folder")?;
    Ok(target.join("release/mcpdeck"))
}

/// What this was measured on.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
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
