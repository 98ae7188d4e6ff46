//! Values as a person reads them: durations, sizes, counts, events.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, FixedOffset};

use crate::domain::diff::Counts;
use crate::domain::text;
use crate::domain::{
    Event, EventKind, Failure, ListMethod, RefreshReport, ServerSnapshot, Session, Status,
};
use crate::mcp::MessageKind;

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Beside the point.
    Dim,
    /// Something is on its way, or old.
    Warn,
    /// Something is wrong.
    Bad,
}

/// `12,345`.
#[must_use]
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + 4);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Makes a text safe for one line: whatever came from outside has been sanitized before, and is
/// once more here.
#[must_use]
pub fn safe(value: &str) -> Cow<'_, str> {
    match text::cell(value) {
        Cow::Borrowed(value) => text::visible(value),
        Cow::Owned(value) => Cow::Owned(text::visible(&value).into_owned()),
    }
}

/// A URI, or whatever else is kept as it came, for one line: what cannot be seen is an escape, also
/// a control character.
#[must_use]
pub fn exact(value: &str) -> Cow<'_, str> {
    match text::visible(value) {
        Cow::Borrowed(value) => text::cell(value),
        Cow::Owned(value) => Cow::Owned(text::cell(&value).into_owned()),
    }
}

/// The moment a frame is drawn at. Drawing itself looks at no clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// For what lasts.
    pub now: Instant,
    /// For what happened at a time of day.
    pub zone: FixedOffset,
}

impl Clock {
    /// The time of day, `12:03:04`.
    #[must_use]
    pub fn time(&self, at: SystemTime) -> String {
        DateTime::<chrono::Utc>::from(at)
            .with_timezone(&self.zone)
            .format("%H:%M:%S")
            .to_string()
    }

    /// How long ago the instant was.
    #[must_use]
    pub fn since(&self, at: Instant) -> Duration {
        self.now.saturating_duration_since(at)
    }

    /// How long it is until the instant.
    #[must_use]
    pub fn until(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.now)
    }
}

/// `45s`, `3m12s`, `2h05m`, `3d4h`: seconds are left out from the first hour on.
#[must_use]
pub fn lasting(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    if days > 0 {
        format!("{days}d{}h", hours % 24)
    } else if hours > 0 {
        format!("{hours}h{:02}m", minutes % 60)
    } else if minutes > 0 {
        format!("{minutes}m{:02}s", seconds % 60)
    } else {
        format!("{seconds}s")
    }
}

/// `0.4 ms`, `38 ms`, `1.2 s`, `75 s`.
#[must_use]
pub fn brief(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 1_000 {
        format!("0.{} ms", micros / 100)
    } else if micros < 1_000_000 {
        format!("{} ms", micros / 1_000)
    } else if micros < 10_000_000 {
        format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10)
    } else {
        format!("{} s", micros / 1_000_000)
    }
}

/// `48 B`, `1.2 kB`, `3.4 MB`: powers of 1,000.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    if tenths < 1_000 {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{} {}", tenths / 10, UNITS[unit])
    }
}

/// A number and its noun: `1 server`, `6 servers`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// `7r 3t 12T 4p`; a dash where the server has no such list, or it is not known.
#[must_use]
pub fn counts(server: &ServerSnapshot) -> String {
    let letters = ["r", "t", "T", "p"];
    let parts: Vec<String> = ListMethod::ALL
        .iter()
        .zip(letters)
        .map(|(method, letter)| match server.catalog.count(*method) {
            Some(count) => format!("{count}{letter}"),
            None => format!("-{letter}"),
        })
        .collect();
    parts.join(" ")
}

/// `2/5 in 3s`, or `2/5 now` while the attempt runs.
#[must_use]
pub fn attempt(attempt: u32, limit: u32, due: Option<Instant>, clock: &Clock) -> String {
    match due.map(|due| clock.until(due)) {
        Some(wait) if !wait.is_zero() => {
            format!("{attempt}/{limit} in {}s", seconds_rounded_up(wait))
        }
        _ => format!("{attempt}/{limit} now"),
    }
}

/// Whole seconds, rounded up, as countdowns are shown.
#[must_use]
pub const fn seconds_rounded_up(time: Duration) -> u64 {
    let seconds = time.as_secs();
    if time.subsec_nanos() > 0 {
        seconds + 1
    } else {
        seconds
    }
}

/// The failure in one text: with the code of an error answer before its message.
#[must_use]
pub fn failure(failure: &Failure) -> String {
    match failure.kind.code() {
        Some(code) => format!("{code} {}", failure.message),
        None => failure.message.to_string(),
    }
}

/// The path, below the home folder as `~/...`.
#[must_use]
pub fn path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// The failure where there is little room: of a program that ended, how and its last word.
#[must_use]
pub fn reason(failure: &Failure) -> String {
    let whole = self::failure(failure);
    let Some((before, stderr)) = whole.split_once("; stderr: ") else {
        // The URL is in the details; here it would hide what is wrong with it.
        return match whole.split_once(": ") {
            Some((url, cause)) if url.contains("://") && !url.contains(' ') => cause.to_owned(),
            _ => whole,
        };
    };
    let last = stderr.rsplit(" | ").next().unwrap_or(stderr);
    match before.rsplit_once(", exit status ") {
        Some((_, status)) => format!("exit {status}: {last}"),
        None => last.to_owned(),
    }
}

/// The era of the session in a word.
#[must_use]
pub const fn era(session: &Session) -> &'static str {
    if session.modern { "modern" } else { "legacy" }
}

/// Why the server is not connected, for an empty list.
#[must_use]
pub fn absence(status: &Status) -> &'static str {
    match status {
        Status::Connecting => "Connecting ...",
        Status::Connected(_) => "Connected.",
        Status::Reconnecting { .. } => "The connection was lost.",
        Status::NeedsAuth(_) => "Not connected: it wants a log-in.",
        Status::Failed(_) => "Not connected: it failed.",
        Status::Disabled => "Switched off.",
        Status::Untrusted => {
            "Not started: its definition comes from a project file, which nobody has approved."
        }
    }
}

/// What happened, without the time: `everything list_changed (x14) -> resources +2 -1, generation 5, 38 ms`.
#[must_use]
pub fn event(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::Status { word, failure: why } => match why {
            Some(why) => format!("{word}: {}", failure(why)),
            None => (*word).to_owned(),
        },
        EventKind::ListChanged { group, count } => {
            format!("list_changed {}{}", group.word(), times(*count))
        }
        EventKind::Refresh(report) => refresh(report),
        EventKind::Note(text) => text.to_string(),
    };
    match &event.server {
        Some(name) => format!("{name} {what}"),
        None => what,
    }
}

/// What a message is, in a word.
#[must_use]
pub const fn message_kind(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Request => "request",
        MessageKind::Notification => "notification",
        MessageKind::Response => "answer",
        MessageKind::Error => "error",
    }
}

/// ` (x14)`; nothing for one.
fn times(count: u64) -> String {
    if count > 1 {
        format!(" (x{count})")
    } else {
        String::new()
    }
}

fn refresh(report: &RefreshReport) -> String {
    let mut text = String::new();
    if report.notifications > 0 {
        let _ = write!(text, "list_changed{} -> ", times(report.notifications));
    }
    for (method, why) in &report.failures {
        let lead = if text.ends_with("-> ") || text.is_empty() {
            "refresh failed: "
        } else {
            ", "
        };
        let _ = write!(text, "{lead}{}: {}", method.noun(), failure(why));
    }
    let kept = !report.is_ok() && report.counts.is_empty();
    for (index, (method, counts)) in report.counts.iter().enumerate() {
        let lead = if index > 0 || !report.is_ok() {
            ", "
        } else {
            ""
        };
        let _ = write!(text, "{lead}{} {}", method.noun(), difference(counts));
    }
    match (kept, report.generation.0) {
        (true, 0) => {}
        (true, generation) => {
            let _ = write!(text, ", kept generation {generation}");
        }
        (false, generation) => {
            let _ = write!(text, ", generation {generation}");
        }
    }
    let _ = write!(text, ", {}", brief(report.took));
    text
}

/// `+2 -1 ~1`, `0` where nothing changed.
fn difference(counts: &Counts) -> String {
    if counts.is_unchanged() {
        return "0".to_owned();
    }
    let parts = [
        ('+', counts.added),
        ('-', counts.removed),
        ('~', counts.changed),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!("{sign}{count}"))
        .collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{FailureKind, Generation, Group, ServerName};

    #[test]
    fn durations_and_sizes_are_short() {
        let check = |seconds, expected: &str| {
            assert_eq!(lasting(Duration::from_secs(seconds)), expected);
        };
        check(0, "0s");
        check(59, "59s");
        check(192, "3m12s");
        check(7_500, "2h05m");
        check(273_600, "3d4h");
        let check = |micros, expected: &str| {
            assert_eq!(brief(Duration::from_micros(micros)), expected);
        };
        check(430, "0.4 ms");
        check(38_999, "38 ms");
        check(1_250_000, "1.2 s");
        check(75_000_000, "75 s");
        let check = |bytes, expected: &str| assert_eq!(size(bytes), expected);
        check(0, "0 B");
        check(999, "999 B");
        check(1_000, "1.0 kB");
        check(1_234, "1.2 kB");
        check(123_456, "123 kB");
        check(999_999, "999 kB");
        check(1_000_000, "1.0 MB");
        check(u64::MAX, "18.4 EB");
    }

    #[test]
    fn a_refresh_tells_what_changed_or_what_was_kept() {
        let failed = |message: &str| Failure::new(FailureKind::Rpc { code: Some(-32603) }, message);
        let mut report = RefreshReport {
            group: Group::Resources,
            notifications: 14,
            generation: Generation(5),
            took: Duration::from_millis(38),
            counts: vec![
                (
                    ListMethod::Resources,
                    Counts {
                        added: 2,
                        removed: 1,
                        changed: 1,
                        total: 9,
                    },
                ),
                (ListMethod::ResourceTemplates, Counts::default()),
            ],
            names: Vec::new(),
            failures: Vec::new(),
        };
        let text = |report: &RefreshReport| {
            event(&Event {
                seq: 1,
                at: SystemTime::UNIX_EPOCH,
                server: ServerName::new("everything").ok(),
                kind: EventKind::Refresh(report.clone()),
            })
        };
        assert_eq!(
            text(&report),
            "everything list_changed (x14) -> resources +2 -1 ~1, templates 0, generation 5, 38 ms"
        );
        report.failures = vec![(ListMethod::ResourceTemplates, failed("no"))];
        report.counts.truncate(1);
        report.notifications = 0;
        assert_eq!(
            text(&report),
            "everything refresh failed: templates: -32603 no, resources +2 -1 ~1, generation 5, 38 ms"
        );
        report.counts.clear();
        report.notifications = 1;
        report.generation = Generation(4);
        assert_eq!(
            text(&report),
            "everything list_changed -> refresh failed: templates: -32603 no, kept generation 4, 38 ms"
        );
    }

    #[test]
    fn a_countdown_is_rounded_up() {
        let clock = Clock {
            now: Instant::now(),
            zone: FixedOffset::east_opt(0).unwrap(),
        };
        let check = |wait: Option<u64>, expected: &str| {
            let due = wait.map(|ms| clock.now + Duration::from_millis(ms));
            assert_eq!(attempt(2, 5, due, &clock), expected);
        };
        check(Some(2_001), "2/5 in 3s");
        check(Some(2_000), "2/5 in 2s");
        check(Some(0), "2/5 now");
        check(None, "2/5 now");
    }

    #[test]
    fn a_short_reason_is_the_last_word_of_a_program() {
        let check = |message: &str, expected: &str| {
            let failure = Failure::new(crate::domain::FailureKind::Connect, message);
            assert_eq!(reason(&failure), expected);
        };
        check(
            "could not start: npxx: command not found",
            "could not start: npxx: command not found",
        );
        check(
            "https://calendar.example.org/mcp: HTTP 401 Unauthorized; log in",
            "HTTP 401 Unauthorized; log in",
        );
        check(
            "see https://example.org: it says why",
            "see https://example.org: it says why",
        );
        check("x: closed, exit status 1; stderr: a | b", "exit 1: b");
        check("x: closed, killed by signal 9; stderr: a", "a");
    }

    #[test]
    fn what_is_exact_shows_what_cannot_be_seen() {
        let check = |value: &str, expected: &str| assert_eq!(exact(value), expected);
        check("note:///a b", "note:///a b");
        check("a\0b", "a\\u{0}b");
        check("a\nb", "a\\u{a}b");
        check("a\u{1b}[31mb\u{200b}", "a\\u{1b}[31mb\\u{200b}");
    }

    #[test]
    fn a_path_below_the_home_folder_is_short() {
        let check = |path: &str, home: Option<&str>, expected: &str| {
            assert_eq!(super::path(Path::new(path), home.map(Path::new)), expected);
        };
        check("/home/ada/.config/x", Some("/home/ada"), "~/.config/x");
        check("/home/adam/x", Some("/home/ada"), "/home/adam/x");
        check("/etc/x", Some("/home/ada"), "/etc/x");
        check("/home/ada/x", None, "/home/ada/x");
    }
}
