//! Runs a command once and says what it took.
//!
//! The command is started by a small process of its own, of which the system then tells what its
//! children used; whatever this program has run before does not count.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::{Value, json};

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From the start to the last byte of the result.
    pub result: Duration,
    /// From the start to the end.
    pub wall: Duration,
    /// The processor time of the command and all that it started.
    pub cpu: Duration,
    /// The most memory that one process held at once, in bytes (`VmHWM`).
    pub peak: u64,
    /// How often the needle stood in the result.
    pub items: usize,
    /// The exit code.
    pub code: i64,
}

/// `measure NEEDLE COMMAND ARGS...`: runs the command and prints a [`Run`].
pub fn child(needle: &str, command: &[&str]) -> Result<()> {
    let [program, arguments @ ..] = command else {
        anyhow::bail!("usage: measure NEEDLE COMMAND ARGS...");
    };
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdout = child.stdout.take().context("a pipe from stdout")?;
    let mut output = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut result = begin.elapsed();
    loop {
        let count = stdout.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        result = begin.elapsed();
        output.extend_from_slice(&chunk[..count]);
    }
    let status = child.wait()?;
    let wall = begin.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time() + usage.system_time();
    let report = json!({
        "result": result.as_secs_f64(),
        "wall": wall.as_secs_f64(),
        "cpu": Duration::from_micros(u64::try_from(cpu.num_microseconds())?).as_secs_f64(),
        "peak": usage.max_rss() * 1024,
        "items": String::from_utf8_lossy(&output).matches(needle).count(),
        "code": status.code(),
    });
    Ok(writeln!(io::stdout(), "{report}")?)
}

/// Where everything is that is run.
#[derive(Debug)]
pub struct Site {
    /// This program.
    pub bench: PathBuf,
    /// The program that is measured.
    pub program: PathBuf,
    /// A home without a config of anyone; holds what a scenario writes.
    pub home: tempfile::TempDir,
}

impl Site {
    /// Runs the command and counts the needle in what it prints.
    pub fn run(&self, needle: &str, command: &[String]) -> Result<Run> {
        let output = Command::new(&self.bench)
            .arg("measure")
            .arg(needle)
            .args(command)
            .envs(self.environment())
            .output()?;
        ensure!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let number = |key: &str| report[key].as_f64().with_context(|| key.to_owned());
        let whole = |key: &str| report[key].as_u64().with_context(|| key.to_owned());
        Ok(Run {
            result: Duration::from_secs_f64(number("result")?),
            wall: Duration::from_secs_f64(number("wall")?),
            cpu: Duration::from_secs_f64(number("cpu")?),
            peak: whole("peak")?,
            items: usize::try_from(whole("items")?)?,
            code: report["code"].as_i64().unwrap_or(-1),
        })
    }

    /// The environment that hides the config of whoever measures.
    pub fn environment(&self) -> [(&'static str, &Path); 4] {
        let home = self.home.path();
        [
            ("HOME", home),
            ("XDG_CONFIG_HOME", home),
            ("XDG_STATE_HOME", home),
            ("XDG_CACHE_HOME", home),
        ]
    }
}

/// The middle of the values.
pub fn median<T: Copy + PartialOrd>(values: impl IntoIterator<Item = T>) -> Result<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let middle = values.len() / 2;
    values.get(middle).copied().context("nothing was measured")
}

/// In milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// In megabytes, of 1,000,000 bytes.
#[expect(
    clippy::cast_precision_loss,
    reason = "a file or a memory has fewer than 2^52 bytes"
)]
pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
