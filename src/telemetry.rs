//! The log: tracing to a file for each day in the state folder, never to the terminal.
//!
//! Nothing is created before the first line is logged, and no thread is started: a command that
//! has nothing to say costs microseconds. A log that cannot be written is no failure of anything
//! else; [`Guard::problem`] tells the reason. What may be said in a log line is up to those who
//! write it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{NaiveDate, Utc};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Days whose log is kept, today included.
const KEPT_FILES: usize = 7;

/// Characters of a panic message that are logged.
const PANIC_MESSAGE: usize = 200;

/// Tells how the log fares; whoever starts the log keeps it until the end.
#[derive(Debug)]
pub struct Guard {
    log: Log,
}

impl Guard {
    /// Why the last line could not be written, if it could not.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.log.lock().problem.clone()
    }
}

/// Sends what this process logs to a file in `folder`: our own lines from level info on, those of
/// libraries from level warn on.
///
/// Returns `None` if the process has a log already.
#[must_use]
pub fn start(folder: &Path) -> Option<Guard> {
    let (subscriber, guard) = subscriber(folder);
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(guard)
}

/// Logs where a panic happened, then does what was done about panics before.
pub fn log_panics() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or_default();
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        log_panic(&location, message);
        previous(info);
    }));
}

/// The folder for what we remember between runs, log included: `$XDG_STATE_HOME/mcpdeck` or
/// `~/.local/state/mcpdeck`, and the platform's own place on macOS and Windows.
///
/// `env` looks up an environment variable. A relative `XDG_STATE_HOME` does not count (XDG Base
/// Directory Specification 0.8). `None` if there is no home.
pub fn state_folder(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = match absolute("XDG_STATE_HOME") {
        Some(base) => base,
        None if cfg!(any(windows, target_os = "macos")) => native_state_base()?,
        None => absolute("HOME")?.join(".local").join("state"),
    };
    Some(base.join("mcpdeck"))
}

fn native_state_base() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::base_strategy::choose_native_strategy().ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()))
}

fn subscriber(folder: &Path) -> (impl Subscriber + Send + Sync + use<>, Guard) {
    let log = Log(Arc::new(Mutex::new(File {
        folder: folder.to_owned(),
        today: None,
        problem: None,
    })));
    let levels = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("mcpdeck", LevelFilter::INFO)
        // Below warn it logs whole messages of servers; its service loop quotes them in warnings too.
        .with_target("rmcp", LevelFilter::WARN)
        .with_target("rmcp::service", LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        // Its complaints about a failed write would go to the terminal.
        .log_internal_errors(false)
        .with_writer(log.clone());
    let subscriber = tracing_subscriber::registry().with(levels).with(lines);
    (subscriber, Guard { log })
}

fn log_panic(location: &str, message: &str) {
    let cut = message
        .char_indices()
        .nth(PANIC_MESSAGE)
        .map_or(message, |(end, _)| &message[..end]);
    tracing::error!(location, message = ?cut, "panic");
}

/// The one log file of the process, shared by all who write to it.
#[derive(Clone, Debug)]
struct Log(Arc<Mutex<File>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

/// Writes one line; tracing-subscriber hands a line over in one call.
struct Line<'a>(&'a Log);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut file = self.0.lock();
        let result = file.write(Utc::now().date_naive(), line);
        file.problem = result
            .err()
            .map(|error| format!("write the log in {}: {error}", file.folder.display()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct File {
    folder: PathBuf,
    /// A new appender is made for each day, as one that rolls by itself prints its failures.
    today: Option<(NaiveDate, RollingFileAppender)>,
    problem: Option<String>,
}

impl File {
    fn write(&mut self, day: NaiveDate, line: &[u8]) -> io::Result<()> {
        let appender = match &mut self.today {
            Some((opened, appender)) if *opened == day => appender,
            today => {
                let appender = open(&self.folder, day)?;
                &mut today.insert((day, appender)).1
            }
        };
        appender.write_all(line)
    }
}

fn open(folder: &Path, day: NaiveDate) -> io::Result<RollingFileAppender> {
    let name = format!("mcpdeck.{day}.log");
    create_privately(folder, &name)?;
    prune(folder);
    RollingFileAppender::builder()
        .rotation(Rotation::NEVER)
        .filename_prefix(name)
        .build(folder)
        .map_err(io::Error::other)
}

/// Creates the file before the appender does, so that nobody else can ever read it.
fn create_privately(folder: &Path, name: &str) -> io::Result<()> {
    let mut directory = DirBuilder::new();
    let mut options = OpenOptions::new();
    directory.recursive(true);
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        directory.mode(0o700);
        options.mode(0o600);
    }
    directory.create(folder)?;
    options.open(folder.join(name))?;
    Ok(())
}

/// Removes all but the last days. What cannot be removed stays and harms nobody.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut logs: Vec<(NaiveDate, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let day = name.to_str()?.strip_prefix("mcpdeck.")?;
            let day = day.strip_suffix(".log")?.parse().ok()?;
            Some((day, entry.path()))
        })
        .collect();
    logs.sort_unstable();
    let excess = logs.len().saturating_sub(KEPT_FILES);
    for (_, path) in logs.drain(..excess) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, Result};

    use super::*;

    fn day(number: u32) -> Result<NaiveDate> {
        NaiveDate::from_ymd_opt(2026, 3, number).context("no such day")
    }

    fn file(folder: &Path) -> File {
        File {
            folder: folder.to_owned(),
            today: None,
            problem: None,
        }
    }

    fn names(folder: &Path) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Everything that was logged into `folder`.
    fn logged(folder: &Path) -> Result<String> {
        let mut text = String::new();
        for name in names(folder)? {
            text += &fs::read_to_string(folder.join(name))?;
        }
        Ok(text)
    }

    #[test]
    fn nothing_is_created_before_the_first_line() -> Result<()> {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("state").join("mcpdeck");
        let (subscriber, guard) = subscriber(&folder);
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!("too detailed");
            tracing::info!(target: "rmcp::service", "a whole message of a server");
            tracing::info!(target: "other", "chatter");
            assert!(!folder.exists());
            tracing::info!(server = "files", "connected");
            tracing::warn!(target: "rmcp::transport", "odd");
        });
        let text = logged(&folder)?;
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("connected server=\"files\""), "{text}");
        assert!(text.contains("rmcp::transport: odd"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(guard.problem(), None);
        Ok(())
    }

    #[test]
    fn a_log_that_cannot_be_written_is_only_a_problem() -> Result<()> {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("in the way");
        fs::write(&folder, "a file")?;
        let (subscriber, guard) = subscriber(&folder);
        tracing::subscriber::with_default(subscriber, || tracing::error!("lost"));
        let problem = guard.problem().context("no problem was noted")?;
        assert!(problem.starts_with("write the log in "), "{problem}");
        assert_eq!(fs::read_to_string(&folder)?, "a file");
        Ok(())
    }

    #[test]
    fn each_day_has_a_file_and_seven_are_kept() -> Result<()> {
        let home = tempfile::tempdir()?;
        fs::write(home.path().join("mcpdeck.notes.log"), "mine")?;
        let mut log = file(home.path());
        for number in 1..=10 {
            log.write(day(number)?, b"one\n")?;
            log.write(day(number)?, b"two\n")?;
        }
        let mut expected: Vec<String> = (4..=10)
            .map(|number| format!("mcpdeck.2026-03-{number:02}.log"))
            .collect();
        expected.push("mcpdeck.notes.log".to_owned());
        assert_eq!(names(home.path())?, expected);
        let last = fs::read_to_string(home.path().join("mcpdeck.2026-03-10.log"))?;
        assert_eq!(last, "one\ntwo\n");

        // A second run on the same day goes on with the file and removes nothing.
        file(home.path()).write(day(10)?, b"three\n")?;
        assert_eq!(names(home.path())?, expected);
        let last = fs::read_to_string(home.path().join("mcpdeck.2026-03-10.log"))?;
        assert_eq!(last, "one\ntwo\nthree\n");
        Ok(())
    }

    #[test]
    #[cfg(unix)]
    fn nobody_else_can_read_the_log() -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir()?;
        let folder = home.path().join("mcpdeck");
        file(&folder).write(day(1)?, b"line\n")?;
        let mode =
            |path: &Path| -> Result<u32> { Ok(fs::metadata(path)?.permissions().mode() & 0o777) };
        assert_eq!(mode(&folder)?, 0o700);
        assert_eq!(mode(&folder.join("mcpdeck.2026-03-01.log"))?, 0o600);
        Ok(())
    }

    #[test]
    fn a_panic_is_logged_short_and_on_one_line() -> Result<()> {
        let home = tempfile::tempdir()?;
        let (subscriber, _guard) = subscriber(home.path());
        let long = format!("first\nsecond {}", "é".repeat(300));
        tracing::subscriber::with_default(subscriber, || log_panic("src/app.rs:3:7", &long));
        let text = logged(home.path())?;
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("src/app.rs:3:7"), "{text}");
        assert_eq!(text.matches('é').count(), PANIC_MESSAGE - 13, "{text}");
        Ok(())
    }

    #[test]
    #[cfg(not(any(windows, target_os = "macos")))]
    fn the_state_folder_follows_xdg() {
        fn check(xdg: Option<&str>, home: Option<&str>, expected: Option<&str>) {
            let found = state_folder(|name| match name {
                "XDG_STATE_HOME" => xdg.map(OsString::from),
                "HOME" => home.map(OsString::from),
                _ => None,
            });
            assert_eq!(found, expected.map(PathBuf::from), "{xdg:?} {home:?}");
        }
        check(Some("/x"), Some("/home/me"), Some("/x/mcpdeck"));
        check(
            None,
            Some("/home/me"),
            Some("/home/me/.local/state/mcpdeck"),
        );
        check(
            Some(""),
            Some("/home/me"),
            Some("/home/me/.local/state/mcpdeck"),
        );
        check(
            Some("x"),
            Some("/home/me"),
            Some("/home/me/.local/state/mcpdeck"),
        );
        check(None, None, None);
        check(None, Some(""), None);
    }
}
