//! The floor: the least that a client of some servers can do. It looks for the few words that it
//! needs, keeps nothing, and waits for its servers' end.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}"#,
    "\n",
);
const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// A server, and the line of it that was read last.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
    last_id: u32,
}

/// `floor METHOD COUNT COMMAND ARGS...`: starts so many servers at once and lists all of them.
pub fn run(arguments: &[&str]) -> Result<()> {
    let [method, count, program, rest @ ..] = arguments else {
        bail!("usage: floor METHOD COUNT COMMAND ARGS...");
    };
    let mut peers = Vec::new();
    for _ in 0..count.parse()? {
        let mut peer = Peer::start(program, rest)?;
        peer.stdin.write_all(INITIALIZE.as_bytes())?;
        peers.push(peer);
    }
    let mut items = 0;
    for peer in &mut peers {
        peer.answer()?;
        peer.stdin.write_all(INITIALIZED.as_bytes())?;
        peer.ask(method, None)?;
    }
    for peer in &mut peers {
        items += peer.list(method)?;
    }
    let mut stdout = io::stdout().lock();
    for _ in 0..items {
        stdout.write_all(b"\"item\"\n")?;
    }
    stdout.flush()?;
    let ending = peers.into_iter().map(|peer| {
        drop(peer.stdin);
        peer.child
    });
    for mut child in ending.collect::<Vec<_>>() {
        child.wait()?;
    }
    Ok(())
}

impl Peer {
    fn start(program: &str, arguments: &[&str]) -> Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("a pipe to stdin")?;
        let stdout = child.stdout.take().context("a pipe from stdout")?;
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::with_capacity(64 * 1024, stdout),
            line: String::new(),
            last_id: 1,
        })
    }

    fn ask(&mut self, method: &str, cursor: Option<&str>) -> Result<()> {
        self.last_id += 1;
        let id = self.last_id;
        let params = cursor.map_or_else(String::new, |cursor| format!("\"cursor\":\"{cursor}\""));
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{params}}}}}\n"
        );
        Ok(self.stdin.write_all(request.as_bytes())?)
    }

    /// Reads up to the answer to the last request.
    fn answer(&mut self) -> Result<()> {
        let id = format!("\"id\":{},", self.last_id);
        loop {
            self.line.clear();
            if self.stdout.read_line(&mut self.line)? == 0 {
                bail!("the server ended");
            }
            if self.line.contains(&id) && !self.line.contains("\"method\":") {
                return Ok(());
            }
        }
    }

    /// Reads all pages of what was asked for, and counts the items.
    fn list(&mut self, method: &str) -> Result<usize> {
        let mut items = 0;
        loop {
            self.answer()?;
            items += self.line.matches("\"name\":").count();
            let cursor = self.line.split_once("\"nextCursor\":\"");
            let Some((_, behind)) = cursor else {
                return Ok(items);
            };
            let cursor = behind.split('"').next().unwrap_or_default().to_owned();
            self.ask(method, Some(&cursor))?;
        }
    }
}
