//! The real binary, in a home of its own.
//!
//! Nothing of the test's environment reaches it but `PATH`. Everything that it starts inherits
//! `HOME`, whose path is unique, so what it leaves behind can be found.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};
use tempfile::TempDir;
use toml_edit::{Array, Value as Toml};

use super::fake::Script;
use super::launch::fake_program;

/// How long anything may take on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// A home, a working directory in it, and the program in them.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
}

/// How a run ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Its stdout.
    pub stdout: String,
    /// Its stderr.
    pub stderr: String,
}

impl Home {
    /// An empty home.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::create_dir(folder.path().join("work")).expect("a folder can be made");
        Self { folder }
    }

    /// A place in it. The working directory is `work`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }

    /// The text of a file; empty where there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The command line of a fake with this script, which logs to `NAME.log`.
    pub fn fake(&self, name: &str, script: &Script) -> Vec<String> {
        let text = serde_json::to_string(script).expect("a script is JSON");
        let (file, log) = (format!("{name}.json"), format!("{name}.log"));
        self.write(&file, &text);
        let text = |path: PathBuf| path.display().to_string();
        vec![
            text(fake_program()),
            "--script".to_owned(),
            text(self.path(&file)),
            "--log".to_owned(),
            text(self.path(&log)),
        ]
    }

    /// The TOML table of a fake with this script.
    pub fn table(&self, name: &str, script: &Script) -> String {
        table(name, &self.fake(name, script))
    }

    /// The user's config file has these tables from now on.
    pub fn configure(&self, tables: &[&str]) {
        self.write(".config/mcpdeck/config.toml", &tables.join("\n"));
    }

    /// The methods of all requests and notifications that the fake of this name got.
    pub fn asked(&self, name: &str) -> Vec<String> {
        let log = self.read(&format!("{name}.log"));
        let entries = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("an entry is JSON"));
        entries
            .filter(|entry| entry["event"].is_null())
            .filter_map(|entry| Some(entry["method"].as_str()?.to_owned()))
            .collect()
    }

    /// The program with these arguments.
    pub fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpdeck"));
        command
            .args(args)
            .env_clear()
            .envs(self.environment())
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let inside = |name: &str| self.path(name).display().to_string();
        vec![
            // Programs of its own `bin` come first.
            ("PATH", format!("{}:{path}", inside("bin"))),
            ("HOME", self.root().display().to_string()),
            ("XDG_CONFIG_HOME", inside(".config")),
            ("XDG_STATE_HOME", inside(".local/state")),
        ]
    }

    /// Runs it to its end; nothing that it started may be left then.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.program(args))
    }

    /// Runs a prepared command to its end; nothing that it started may be left then.
    pub fn finish(&self, mut command: Command) -> Ran {
        self.wait(command.spawn().expect("the program starts"))
    }

    /// Waits for the end of a program that was started; nothing that it started may be left then.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait(&self, child: Child) -> Ran {
        let ran = wait(child);
        self.assert_nothing_left();
        ran
    }

    /// Runs it on a terminal that has so many columns. Stderr is not the terminal.
    pub fn run_on_terminal(&self, columns: u16, args: &[&str]) -> Ran {
        let size = PtySize {
            rows: 24,
            cols: columns,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).expect("a terminal opens");
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", r#"exec "$0" "$@" 2>"$HOME/stderr""#]);
        command.arg(env!("CARGO_BIN_EXE_mcpdeck"));
        command.args(args);
        command.env_clear();
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command.cwd(self.path("work"));
        let mut child = pair.slave.spawn_command(command).expect("it starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a terminal is read");
        let mut stdout = Vec::new();
        // The end of a terminal is an error on Linux.
        let _ = reader.read_to_end(&mut stdout);
        let status = child.wait().expect("it ends");
        self.assert_nothing_left();
        Ran {
            code: i32::try_from(status.exit_code()).ok(),
            stdout: String::from_utf8_lossy(&stdout).replace("\r\n", "\n"),
            stderr: self.read("stderr"),
        }
    }

    /// What servers of this home still run, by command line.
    pub fn left(&self) -> Vec<String> {
        left_of(self.root())
    }

    /// Checks that no server of this home runs any more.
    pub fn assert_nothing_left(&self) {
        let left = self.left();
        assert!(left.is_empty(), "still running: {left:?}");
    }

    /// Everything in the state folder, names and texts.
    pub fn state(&self) -> String {
        let mut all = String::new();
        collect(&self.path(".local/state"), &mut all);
        all
    }
}

fn collect(folder: &Path, all: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        all.push_str(&path.to_string_lossy());
        all.push('\n');
        if path.is_dir() {
            collect(&path, all);
        } else {
            all.push_str(&String::from_utf8_lossy(
                &fs::read(path).unwrap_or_default(),
            ));
        }
    }
}

/// Waits for the end of a child, while its pipes are read.
///
/// # Panics
/// When it does not end within [`DEADLINE`].
pub fn wait(mut child: Child) -> Ran {
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if start.elapsed() > DEADLINE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("it has not ended within {DEADLINE:?}");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text = |reading: Option<JoinHandle<io::Result<Vec<u8>>>>| {
        let bytes = reading.map(|reading| reading.join().expect("the reader does not panic"));
        let bytes = bytes
            .transpose()
            .expect("a pipe is read")
            .unwrap_or_default();
        String::from_utf8(bytes).expect("it is UTF-8")
    };
    Ran {
        code: status.code(),
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

fn read_all(mut source: impl Read + Send + 'static) -> JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map(|_| bytes)
    })
}

impl Ran {
    /// The one JSON object on stdout.
    ///
    /// # Panics
    /// When there is none, or something beside it, or the exit code is another one.
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self:?}");
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"));
        assert!(value.is_object(), "{self:?}");
        value
    }

    /// The text on stdout.
    ///
    /// # Panics
    /// When the exit code is another one.
    pub fn text(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        &self.stdout
    }

    /// What went wrong.
    ///
    /// # Panics
    /// When the exit code is another one, or stdout is not empty.
    pub fn refused(&self, code: i32) -> &str {
        assert_eq!(self.text(code), "", "{self:?}");
        &self.stderr
    }
}

/// The TOML table of a server with this command line. More keys may be appended.
pub fn table(name: &str, command: &[String]) -> String {
    let args = command[1..].iter().map(String::as_str).collect::<Array>();
    format!(
        "[servers.{name}]\ncommand = {}\nargs = {}\n",
        Toml::from(command[0].as_str()),
        Toml::from(args)
    )
}

/// The TOML table of a shell script as a server.
pub fn shell(name: &str, script: &str) -> String {
    table(name, &["sh", "-c", script].map(str::to_owned))
}

/// The TOML table of a server with this URL.
pub fn remote(name: &str, url: &str) -> String {
    format!("[servers.{name}]\nurl = {}\n", Toml::from(url))
}

/// The object of a server in `servers`.
pub fn server<'a>(listed: &'a Value, name: &str) -> &'a Value {
    let servers = listed["servers"].as_array().expect("there are servers");
    servers
        .iter()
        .find(|server| server["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {listed}"))
}

/// The names in `servers`, with their status words.
pub fn statuses(listed: &Value) -> Value {
    let servers = listed["servers"].as_array().expect("there are servers");
    servers
        .iter()
        .map(|server| json!([server["name"], server["status"]]))
        .collect()
}

/// Waits until something holds.
///
/// # Panics
/// When it does not within [`DEADLINE`].
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "{what}: not yet");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The peak of a process's memory so far, in KiB.
///
/// # Panics
/// When the process is gone, or the system does not tell.
#[cfg(target_os = "linux")]
pub fn peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:")
}

/// As [`peak_kib`], without the program's file: how much of a development build is in memory
/// depends on how the system happens to cache it.
///
/// # Panics
/// See [`peak_kib`].
#[cfg(target_os = "linux")]
pub fn own_peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:") - status_kib(pid, "RssFile:")
}

#[cfg(target_os = "linux")]
fn status_kib(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// The servers that were started with this home and still run, by command line. A process that
/// has ended and waits to be reaped has no environment any more and is not among them.
#[cfg(target_os = "linux")]
pub fn left_of(home: &Path) -> Vec<String> {
    let marker = format!("HOME={}", home.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("there is /proc").flatten() {
        let process = entry.path();
        // A process that has ended meanwhile, or that belongs to somebody else, is not ours.
        let Ok(environment) = fs::read(process.join("environ")) else {
            continue;
        };
        let variables: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
        if variables.contains(&marker.as_bytes())
            && variables
                .iter()
                .any(|variable| variable.starts_with(b"MCPDECK_PARENT="))
        {
            let command = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
            found.push(format!(
                "{}: {}",
                process.display(),
                command.replace('\0', " ").trim_end()
            ));
        }
    }
    found
}

/// Only Linux tells the environment of other processes.
#[cfg(not(target_os = "linux"))]
pub fn left_of(_home: &Path) -> Vec<String> {
    Vec::new()
}
