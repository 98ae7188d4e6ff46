//! What `mcpdeck list` takes, beside the floor on the same server.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::measure::{Run, Site, median, megabytes, milliseconds};
use super::report::Row;
use super::server::Options;

/// How often each of a pair is run.
const ROUNDS: usize = 31;

/// The same where a run takes long.
const FEW_ROUNDS: usize = 7;

const TEMPLATES: &str = "resources/templates/list";

/// The medians of runs that took turns.
#[derive(Debug)]
pub struct Pair {
    pub ours: Medians,
    pub floor: Medians,
    /// The median of the ratios of the runs that followed each other.
    pub ratio: f64,
}

/// Of what each run took.
#[derive(Debug)]
pub struct Medians {
    pub result: f64,
    pub wall: f64,
    pub after_result: f64,
    pub cpu: f64,
    pub peak: f64,
}

impl Medians {
    fn of(runs: &[Run]) -> Result<Self> {
        let of = |value: fn(&Run) -> f64| median(runs.iter().map(value));
        Ok(Self {
            result: of(|run| milliseconds(run.result))?,
            wall: of(|run| milliseconds(run.wall))?,
            after_result: of(|run| milliseconds(run.wall) - milliseconds(run.result))?,
            cpu: of(|run| milliseconds(run.cpu))?,
            peak: of(|run| megabytes(run.peak))?,
        })
    }
}

impl Site {
    /// The command of a server.
    pub fn server(&self, options: &Options) -> Vec<String> {
        let mut command = vec![self.bench.to_string_lossy().into_owned()];
        command.extend(options.arguments());
        command
    }

    /// A config file with the servers.
    pub fn config(&self, servers: &[Options]) -> Result<PathBuf> {
        let mut text = String::new();
        for (number, options) in servers.iter().enumerate() {
            let command = self.server(options);
            write!(
                text,
                "[servers.s{number}]\ncommand = {:?}\nargs = {:?}\n",
                command[0],
                &command[1..]
            )?;
        }
        let path = self.home.path().join("bench.toml");
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// `mcpdeck list WHAT --json` over the servers, in turn with the floor.
    pub fn pair(&self, what: &str, servers: &[Options], rounds: usize) -> Result<Pair> {
        let config = self.config(servers)?;
        let ours = [
            self.program.to_string_lossy().into_owned(),
            "list".to_owned(),
            what.to_owned(),
            "--json".to_owned(),
            "--config".to_owned(),
            config.to_string_lossy().into_owned(),
        ];
        let (needle, method) = match what {
            "resources" => ("\"uri\":", "resources/list"),
            _ => ("\"uriTemplate\":", TEMPLATES),
        };
        let first = servers.first().context("a server")?;
        let mut floor = vec![
            self.bench.to_string_lossy().into_owned(),
            "floor".to_owned(),
            method.to_owned(),
            servers.len().to_string(),
        ];
        floor.extend(self.server(first));
        let expected: usize = servers.iter().map(|server| server.items).sum();
        let run = |needle: &str, command: &[String]| {
            let run = self.run(needle, command)?;
            ensure!(
                run.code == 0 && run.items == expected,
                "{command:?} listed {} of {expected} and ended with {}",
                run.items,
                run.code
            );
            Ok(run)
        };
        // The first run of each only brings the files into memory.
        let mut runs = Vec::new();
        for _ in 0..=rounds {
            runs.push((run("\"item\"", &floor)?, run(needle, &ours)?));
        }
        let (floor, ours): (Vec<Run>, Vec<Run>) = runs.into_iter().skip(1).unzip();
        let ratios = ours.iter().zip(&floor);
        Ok(Pair {
            ratio: median(ratios.map(|(a, b)| a.wall.as_secs_f64() / b.wall.as_secs_f64()))?,
            ours: Medians::of(&ours)?,
            floor: Medians::of(&floor)?,
        })
    }
}

/// A row about time beside the floor, and about memory.
fn beside(what: &str, pair: &Pair, target: &'static str, times: f64, memory: f64) -> Row {
    Row {
        what: what.to_owned(),
        measured: format!("{:.1} ms, {:.1} MB", pair.ours.wall, pair.ours.peak),
        floor: format!("{:.1} ms: {:.2} x", pair.floor.wall, pair.ratio),
        target,
        kept: pair.ratio <= times && pair.ours.peak <= memory,
    }
}

/// One fast server.
pub fn one(site: &Site) -> Result<Vec<Row>> {
    let pair = site.pair("templates", &[Options::default()], ROUNDS)?;
    let target = "<= 2 x floor, <= 8 MB";
    let what = "`list templates --json`, one fast stdio server";
    Ok(vec![beside(what, &pair, target, 2.0, 8.0)])
}

/// A server that is slow to start and to end, as those on Node are.
pub fn slow(site: &Site) -> Result<Vec<Row>> {
    let server = Options {
        start: Duration::from_millis(250),
        end: Duration::from_millis(350),
        ..Options::default()
    };
    let pair = site.pair("templates", &[server], FEW_ROUNDS)?;
    let more = pair.ours.result - pair.floor.result;
    Ok(vec![Row {
        what: "the same, a server that needs 250 ms to start and 350 ms to end".to_owned(),
        measured: format!(
            "result {:.1} ms, exit {:.1} ms later",
            pair.ours.result, pair.ours.after_result
        ),
        floor: format!("result {:.1} ms: {more:+.1} ms", pair.floor.result),
        target: "result <= floor + 10 ms; exit <= 150 ms after the result",
        kept: more <= 10.0 && pair.ours.after_result <= 150.0,
    }])
}

/// Twenty fast servers.
pub fn twenty(site: &Site) -> Result<Vec<Row>> {
    let pair = site.pair("templates", &[Options::default(); 20], ROUNDS)?;
    let mut row = beside(
        "20 fast servers",
        &pair,
        "<= 40 ms, <= 20 MB",
        f64::MAX,
        20.0,
    );
    row.kept &= pair.ours.wall <= 40.0;
    Ok(vec![row])
}

/// Twenty fast servers beside one that never answers.
pub fn silent(site: &Site) -> Result<Vec<Row>> {
    let fast = [Options::default(); 20];
    let mut with_silent = vec![Options {
        silent: true,
        ..Options::default()
    }];
    with_silent.extend(fast);
    let mut times = Vec::new();
    for _ in 0..=FEW_ROUNDS {
        times.push((all_listed(site, &fast)?, all_listed(site, &with_silent)?));
    }
    let (without, with): (Vec<f64>, Vec<f64>) = times.into_iter().skip(1).unzip();
    let (without, with) = (median(without)?, median(with)?);
    Ok(vec![Row {
        what: "until the last of 20 fast servers is listed, beside a silent one (`watch`)"
            .to_owned(),
        measured: format!("{with:.1} ms"),
        floor: format!("{without:.1} ms without the silent one"),
        target: "one silent server delays nothing but its own row",
        kept: with <= without * 1.2 + 5.0,
    }])
}

/// How long `watch` takes to say that 20 servers are listed, in milliseconds.
fn all_listed(site: &Site, servers: &[Options]) -> Result<f64> {
    let config = site.config(servers)?;
    let begin = Instant::now();
    let mut child = Command::new(&site.program)
        .args(["watch", "--json", "--config"])
        .arg(config)
        .envs(site.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdout = child.stdout.take().context("a pipe from stdout")?;
    let listed = BufReader::new(stdout)
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.contains("\"refresh\"") && line.contains("\"ok\":true"))
        .nth(19)
        .map(|_| milliseconds(begin.elapsed()));
    // It ends its servers on its way out, which TERM allows and KILL does not.
    kill_process(Pid::from_child(&child), Signal::TERM)?;
    child.wait()?;
    listed.context("not all servers were listed")
}

/// As many templates and pages as are allowed.
pub fn pages(site: &Site) -> Result<Vec<Row>> {
    let server = Options {
        items: 10_000,
        ..Options::default()
    };
    let pair = site.pair("templates", &[server], ROUNDS)?;
    let what = "10,000 templates on 100 pages";
    let target = "<= 2 x floor, <= 20 MB";
    Ok(vec![beside(what, &pair, target, 2.0, 20.0)])
}

/// As many resources as well.
pub fn both(site: &Site) -> Result<Vec<Row>> {
    let server = Options {
        items: 10_000,
        ..Options::default()
    };
    let command = site.server(&server);
    let mut ours = vec![
        site.program.to_string_lossy().into_owned(),
        "list".to_owned(),
        "all".to_owned(),
        "--json".to_owned(),
        "--".to_owned(),
    ];
    ours.extend(command.iter().cloned());
    let mut floor = vec![
        site.bench.to_string_lossy().into_owned(),
        "floor".to_owned(),
        TEMPLATES.to_owned(),
        "1".to_owned(),
    ];
    floor.extend(command);
    let mut runs = Vec::new();
    for _ in 0..=FEW_ROUNDS {
        let run = site.run("\"description\":", &ours)?;
        ensure!(run.items == 20_000, "{} items were listed", run.items);
        runs.push((site.run("\"item\"", &floor)?, run));
    }
    let (floor, ours): (Vec<Run>, Vec<Run>) = runs.into_iter().skip(1).unzip();
    let ratios = ours.iter().zip(&floor);
    let pair = Pair {
        ratio: median(ratios.map(|(a, b)| a.wall.as_secs_f64() / b.wall.as_secs_f64()))?,
        ours: Medians::of(&ours)?,
        floor: Medians::of(&floor)?,
    };
    let what = "10,000 resources and 10,000 templates (`list all`)";
    let target = "<= 3 x floor of one, <= 25 MB";
    Ok(vec![beside(what, &pair, target, 3.0, 25.0)])
}

/// A hundred servers that need some processor time to start, as most do.
pub fn hundred(site: &Site) -> Result<Vec<Row>> {
    let server = Options {
        work: Duration::from_millis(40),
        ..Options::default()
    };
    let cores = std::thread::available_parallelism()?.get();
    let pair = site.pair("templates", &[server; 100], 3)?;
    // The floor itself uses next to nothing: what it and its children used is theirs.
    let own = pair.floor.cpu / f64::from(u32::try_from(cores)?);
    let ratio = pair.ours.result / own;
    Ok(vec![Row {
        what: "100 stdio servers of 40 ms CPU each, all connected and listed".to_owned(),
        measured: format!("{:.0} ms, {:.1} MB", pair.ours.result, pair.ours.peak),
        floor: format!("{own:.0} ms, their own CPU / {cores} cores: {ratio:.2} x"),
        target: "<= 1.2 x their own CPU / cores",
        kept: ratio <= 1.2,
    }])
}

/// A page of 15 MiB without one item in it.
pub fn hostile(site: &Site) -> Result<Vec<Row>> {
    let server = Options {
        hostile: true,
        ..Options::default()
    };
    let mut command = vec![
        site.program.to_string_lossy().into_owned(),
        "list".to_owned(),
        "resources".to_owned(),
        "--json".to_owned(),
        "--".to_owned(),
    ];
    command.extend(site.server(&server));
    let mut peaks = Vec::new();
    for _ in 0..FEW_ROUNDS {
        let run = site.run("\"malformed\"", &command)?;
        ensure!(
            run.code == 3 && run.items > 0,
            "the page was taken: {run:?}"
        );
        peaks.push(megabytes(run.peak));
    }
    let peak = median(peaks)?;
    Ok(vec![Row {
        what: "a hostile 15 MiB page".to_owned(),
        measured: format!("{peak:.1} MB, named as malformed"),
        floor: "15.7 MB, the page itself".to_owned(),
        target: "peak <= 64 MB",
        kept: peak <= 64.0,
    }])
}

/// The file that ships.
pub fn size(site: &Site) -> Result<Vec<Row>> {
    let file = megabytes(std::fs::metadata(&site.program)?.len());
    Ok(vec![Row {
        what: "release binary, everything in it".to_owned(),
        measured: format!("{file:.1} MB"),
        floor: String::new(),
        target: "<= 16 MB",
        kept: file <= 16.0,
    }])
}
