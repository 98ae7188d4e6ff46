//! The deck in a pseudo-terminal: typed into, looked at, and asked what it uses.

use std::fs;
use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use vt100::Parser;

use super::measure::Site;
use super::server::Options;

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_mins(1);

const ROWS: u16 = 50;
const COLUMNS: u16 = 160;

/// What the deck has used since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// How often one of its threads went to sleep, and so was woken.
    pub sleeps: u64,
    /// What is in memory now, in bytes (`VmRSS`).
    pub memory: u64,
    /// What of it is not a page of a file that others share (`RssAnon`).
    pub own: u64,
}

/// A running deck.
pub struct Deck {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    /// What it wrote, and when that was here.
    chunks: mpsc::Receiver<(Instant, Vec<u8>)>,
    parser: Parser,
    /// When it was started.
    pub begin: Instant,
    _terminal: Box<dyn MasterPty + Send>,
}

impl Deck {
    /// Starts it over the servers.
    pub fn start(site: &Site, servers: &[Options]) -> Result<Self> {
        let config = site.config(servers)?;
        let pair = native_pty_system().openpty(PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        })?;
        let mut command = CommandBuilder::new(&site.program);
        command.arg("--config");
        command.arg(config);
        command.cwd(site.home.path());
        command.env("TERM", "xterm-256color");
        for (name, value) in site.environment() {
            command.env(name, value);
        }
        let mut reader = pair.master.try_clone_reader()?;
        let keys = pair.master.take_writer()?;
        let (sender, chunks) = mpsc::sync_channel(4_096);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender
                    .send((Instant::now(), buffer[..count].to_vec()))
                    .is_err()
                {
                    break;
                }
            }
        });
        let begin = Instant::now();
        let child = pair.slave.spawn_command(command)?;
        drop(pair.slave);
        Ok(Self {
            child,
            keys,
            chunks,
            parser: Parser::new(ROWS, COLUMNS, 0),
            begin,
            _terminal: pair.master,
        })
    }

    /// Types the keys.
    pub fn press(&mut self, keys: &str) -> Result<Instant> {
        let now = Instant::now();
        self.keys.write_all(keys.as_bytes())?;
        self.keys.flush()?;
        Ok(now)
    }

    /// When the text was on the screen.
    pub fn wait_for(&mut self, text: &str) -> Result<Instant> {
        let deadline = Instant::now() + PATIENCE;
        let mut at = Instant::now();
        loop {
            if self.parser.screen().contents().contains(text) {
                return Ok(at);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok((arrived, chunk)) = self.chunks.recv_timeout(left) else {
                bail!(
                    "{text:?} did not appear:\n{}",
                    self.parser.screen().contents()
                );
            };
            self.parser.process(&chunk);
            at = arrived;
        }
    }

    /// Looks at what comes for so long.
    pub fn watch_for(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while let Ok((_, chunk)) = self
            .chunks
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.parser.process(&chunk);
        }
    }

    /// What it has used.
    pub fn usage(&self) -> Result<Usage> {
        let pid = self.child.process_id().context("a running deck")?;
        let folder = format!("/proc/{pid}");
        let status = fs::read_to_string(format!("{folder}/status"))?;
        let mut usage = Usage {
            cpu: Duration::ZERO,
            sleeps: 0,
            memory: number(&status, "VmRSS:")? * 1024,
            own: number(&status, "RssAnon:")? * 1024,
        };
        for task in fs::read_dir(format!("{folder}/task"))? {
            let task = task?.path();
            let scheduled = read(&task, "schedstat")?;
            let ran = scheduled.split(' ').next().context("a time")?;
            usage.cpu += Duration::from_nanos(ran.parse()?);
            let status = read(&task, "status")?;
            usage.sleeps += number(&status, "voluntary_ctxt_switches:")?;
        }
        Ok(usage)
    }

    /// Leaves it as a person does.
    pub fn quit(mut self) -> Result<()> {
        self.press("q")?;
        while self.chunks.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait()?;
        Ok(())
    }
}

fn read(task: &Path, name: &str) -> Result<String> {
    Ok(fs::read_to_string(task.join(name))?)
}

/// The number behind the label of a status file.
fn number(status: &str, label: &str) -> Result<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(label));
    let value = value.with_context(|| format!("{label} in a status file"))?;
    Ok(value.trim().trim_end_matches(" kB").parse()?)
}

/// Asks a server for notifications.
pub struct Control {
    stream: TcpStream,
}

impl Control {
    /// A place for a server to call, and its port.
    pub fn listen() -> Result<(TcpListener, u16)> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    }

    /// The server that has called.
    pub fn accept(listener: &TcpListener) -> Result<Self> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }

    /// Sends the order; returns when it was done.
    pub fn order(&mut self, order: &str) -> Result<Instant> {
        self.stream.write_all(order.as_bytes())?;
        self.stream.write_all(b"\n")?;
        let mut answer = [0; 5];
        self.stream.read_exact(&mut answer)?;
        Ok(Instant::now())
    }
}
