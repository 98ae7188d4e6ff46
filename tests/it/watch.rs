//! `mcpdeck watch`: a line for every event, and how it ends.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::program::{Home, until};
use crate::support::site::{Site, USER};

/// No line takes longer on a busy machine.
const DEADLINE: Duration = Duration::from_secs(20);

/// A running `watch`, its lines as they come.
#[derive(Debug)]
pub struct Watching {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<Value>,
    errors: Receiver<String>,
    said: String,
    claimed: Vec<String>,
}

impl Watching {
    /// Starts it.
    pub fn start(site: &Site, args: &[&str]) -> Self {
        let mut command = site.command(&[&["watch", "--json"], args].concat());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            lines: lines(child.stdout.take().unwrap()),
            errors: lines(child.stderr.take().unwrap()),
            child,
            seen: Vec::new(),
            said: String::new(),
            claimed: Vec::new(),
        }
    }

    /// The next line for which this holds.
    #[track_caller]
    pub fn wait(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.lines.recv_timeout(DEADLINE);
            let line = line.unwrap_or_else(|error| {
                let said: Vec<String> = self.errors.try_iter().collect();
                panic!("{what}: {error} after {:#?} {said:?}", self.seen)
            });
            let value: Value = serde_json::from_str(&line).unwrap();
            self.seen.push(value.clone());
            if is(&value) {
                return value;
            }
        }
    }

    /// Waits for the status of the server.
    #[track_caller]
    pub fn status(&mut self, server: &str, status: &str) -> Value {
        let what = format!("{server} {status}");
        self.wait(&what, |line| {
            line["server"] == server && line["status"] == status
        })
    }

    /// Waits for one more refresh of the server's tools. Those of several servers come in any
    /// order.
    #[track_caller]
    pub fn refreshed(&mut self, server: &str) {
        let is = |line: &Value| line["server"] == server && line["kind"] == "tools";
        let wanted = 1 + self.claimed.iter().filter(|name| *name == server).count();
        let mut came = self.seen.iter().filter(|line| is(line)).count();
        while came < wanted {
            self.wait(&format!("{server} refreshed"), is);
            came += 1;
        }
        self.claimed.push(server.to_owned());
    }

    /// Waits until stderr has a line with this in it.
    #[track_caller]
    pub fn said(&mut self, expected: &str) {
        loop {
            let line = self.errors.recv_timeout(DEADLINE);
            let line =
                line.unwrap_or_else(|error| panic!("{expected}: {error} after {}", self.said));
            self.said += &(line + "\n");
            if self
                .said
                .lines()
                .next_back()
                .is_some_and(|line| line.contains(expected))
            {
                return;
            }
        }
    }

    /// All lines so far.
    pub fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// Ends it, and returns its exit code and what it said on stderr.
    pub fn signal(mut self, signal: rustix::process::Signal) -> (i32, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
        self.end()
    }

    fn end(&mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let rest: Vec<String> = self.errors.iter().collect();
        let rest = rest.iter().map(|line| format!("{line}\n"));
        (
            code,
            std::mem::take(&mut self.said) + &rest.collect::<String>(),
        )
    }
}

/// The lines of a stream as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn site(script: &Script) -> Site {
    let site = Site::new(&[]);
    site.write(USER, &site.server("a", script));
    site
}

#[test]
fn the_first_catalog_is_a_refresh_and_changes_are_counted() {
    let script = Script::legacy()
        .named("tools/list", &["one", "two"])
        .after_each_list(Action::set_pages(
            "tools/list",
            Listing::named("tools/list", &["two", "three"]),
        ))
        .after_initialized(Action::list_changed("tools", 3));
    let site = site(&script);
    let mut watching = Watching::start(&site, &[]);
    watching.status("a", "connecting");
    let connected = watching.status("a", "connected");
    assert_eq!(connected["error"], Value::Null);
    assert!(chrono::DateTime::parse_from_rfc3339(connected["time"].as_str().unwrap()).is_ok());
    let first = watching.wait("first refresh", |line| line["event"] == "refresh");
    assert_eq!(
        (&first["kind"], &first["ok"], &first["generation"]),
        (&"tools".into(), &true.into(), &1.into())
    );
    assert_eq!(first["tools"]["total"], 2);
    assert!(first["ms"].is_u64() && first["error"].is_null());
    let changed = watching.wait("list_changed", |line| line["event"] == "list_changed");
    assert_eq!(changed["kind"], "tools");
    assert!(changed["count"].as_u64().unwrap() >= 1);
    let second = watching.wait("second refresh", |line| line["event"] == "refresh");
    assert_eq!(
        second["tools"],
        serde_json::json!({"added": 1, "removed": 1, "changed": 0, "total": 2})
    );
    assert_eq!(second["generation"], 2);
    assert_eq!(watching.signal(rustix::process::Signal::INT).0, 130);
}

#[test]
fn a_failure_is_told_like_one_of_list() {
    let script = Script::legacy()
        .sample()
        .on("tools/list", Reply::error(-32000, "no idea"));
    let site = site(&script);
    let mut watching = Watching::start(&site, &[]);
    let failed = watching.wait("failure", |line| line["ok"] == false);
    assert_eq!(failed["error"]["method"], "tools/list");
    assert_eq!(failed["error"]["kind"], "rpc");
    assert_eq!(failed["error"]["code"], -32000);
    assert!(failed.get("tools").is_none());
    site.write(USER, "servers.b = { command = 'no-such-program' }");
    let mut watching = Watching::start(&site, &[]);
    let failed = watching.status("b", "failed");
    assert_eq!(failed["error"]["kind"], "connect");
    assert_eq!(failed["error"]["method"], Value::Null);
}

#[test]
fn it_ends_with_0_after_its_time_whatever_the_servers_did() {
    let site = Site::new(&[(USER, "servers.b = { command = 'no-such-program' }")]);
    let ran = site.run(&["watch", "--for", "300ms"]).ends_with(0);
    let lines: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!((lines[0][1], lines[0][2]), ("b", "connecting"));
    assert!(
        lines[1][2].starts_with("failed: could not start: no-such-program"),
        "{lines:?}"
    );
    // The bound on the whole run ends it in the same way.
    site.run(&["watch", "--timeout", "300ms"]).ends_with(0);
    let ran = site.run(&["watch", "--for", "soon"]).ends_with(2);
    assert_eq!(ran.stdout, "");
    site.run(&["watch", "--server", "nope"]).ends_with(4);
}

#[test]
fn signals_have_their_exit_codes() {
    use rustix::process::Signal;
    for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        let site = site(&Script::legacy().sample());
        let mut watching = Watching::start(&site, &[]);
        watching.status("a", "connected");
        assert_eq!(watching.signal(signal), (code, String::new()));
    }
}

/// `watch | head -1` ends, although nothing more happens.
#[test]
fn it_ends_quietly_when_nobody_reads() {
    let site = site(&Script::legacy().sample());
    let mut command = site.command(&["watch", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"refresh\"") {
        line.clear();
        stdout.read_line(&mut line).unwrap();
    }
    drop(stdout);
    assert!(child.wait().unwrap().success());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(stderr, "");
}

/// More events than anybody keeps, while nobody reads: what is lost is counted, and the rest goes
/// on where it is read again.
#[test]
fn events_that_nobody_reads_are_counted_as_lost() {
    const SERVERS: usize = 800;
    let home = Home::new();
    let probe = home.table("probe", &Script::legacy().sample());
    // Each server fails at once, or is switched off: an event for every change of that. The probe
    // is started anew every time, which shows how far the reload is.
    let write = |round: usize| {
        let on = round.is_multiple_of(2);
        let table =
            |index| format!("[servers.s{index}]\ncommand = \"${{NOPE}}\"\nenabled = {on}\n");
        let servers: String = (0..SERVERS).map(table).collect();
        let text = format!("{servers}{probe}env = {{ ROUND = \"{round}\" }}\n");
        home.write("work/new.toml", &text);
        std::fs::rename(home.path("work/new.toml"), home.path("work/many.toml")).unwrap();
    };
    let started = || {
        let asked = home.asked("probe");
        asked
            .iter()
            .filter(|method| *method == "initialize")
            .count()
    };
    write(0);
    let mut child = home
        .program(&["watch", "--json", "--config", "many.toml"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    until("it is started", || started() == 1);
    for round in 1..8 {
        write(round);
        until("it is started again", || started() == round + 1);
    }
    let mut read = stdout.lines().map(|line| {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        line
    });
    let lost = read.find(|line| line["event"] == "lost").unwrap();
    assert_eq!(lost["server"], Value::Null);
    assert!(lost["count"].as_u64().unwrap() > 0, "{lost}");
    assert_eq!(lost.as_object().unwrap().len(), 4, "{lost}");
    assert!(read.any(|line| line["event"] == "status"), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}
