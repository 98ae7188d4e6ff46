//! Owns one child process: starts it in a process group of its own, keeps its stderr, and sees to
//! it that nothing of it is left.
//!
//! Whatever happens to us, the group dies: by the ladder when we close it, by a guard when a task
//! is dropped or panics, and on Linux by the parent-death signal when we are killed. What left
//! the group is the work of [`adopt_orphans`].

mod environment;
mod group;
mod orphans;
mod ours;

use std::fmt;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::either::Either;

pub use environment::ParentVariables;
use group::Group;
pub use orphans::{Orphans, adopt_orphans, reap_orphans};
pub use ours::{Ours, spawn};

use super::lines::{LineKind, LineRing, LineStream};
use super::signals::Signals;
use crate::domain::StdioConfig;

/// How patiently a process is asked to end: its stdin is closed, TERM follows after `term`, and
/// KILL after another `kill`. It is handed on as a [`watch::Receiver`], so that who is in a hurry
/// later shortens also what is climbed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// From closing stdin to TERM.
    pub term: Duration,
    /// From TERM to KILL.
    pub kill: Duration,
}

impl Ladder {
    /// For a server that is switched off, or left by a program that stays.
    pub const PATIENT: Self = Self {
        term: Duration::from_secs(1),
        kill: Duration::from_secs(1),
    };
    /// For one-shot commands, after their result is printed.
    pub const BRISK: Self = Self {
        term: Duration::from_millis(100),
        kill: Duration::from_millis(400),
    };
}

/// How long the last lines of stderr may take to arrive after the exit.
const STDERR_GRACE: Duration = Duration::from_millis(100);

/// How long a pipe may stay open after its process has ended.
const PIPE_GRACE: Duration = Duration::from_millis(100);

/// What is read of stderr at once, in bytes: as much as a pipe holds.
const STDERR_CHUNK: usize = 64 * 1024;

/// How often a group without its leader is looked at.
const GROUP_POLL: Duration = Duration::from_millis(5);

/// A running child.
#[derive(Debug)]
pub struct Process {
    group: Arc<Group>,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: JoinHandle<()>,
}

/// What starts the servers that speak over stdio: [`Children`], or a library's own servers, which
/// live in its process.
pub trait Launch: fmt::Debug + Send + Sync {
    /// Starts one server.
    ///
    /// # Errors
    ///
    /// Why it could not be started, as a fragment that fits behind `could not start:`.
    fn launch(
        &self,
        config: &StdioConfig,
        lines: &Arc<LineRing>,
        signals: &Arc<Signals>,
    ) -> Result<Launched, String>;
}

/// A server that was started.
#[derive(Debug)]
pub enum Launched {
    /// A child.
    Child(Started),
    /// A server of this process, at the other end of the stream.
    InProcess(DuplexStream),
}

/// A child that was started, with its pipes.
#[derive(Debug)]
pub struct Started {
    process: Process,
    stdin: ChildStdin,
    stdout: ChildStdout,
}

/// What a server reads.
pub type Stdin = Either<ChildStdin, WriteHalf<DuplexStream>>;

/// What a server writes.
pub type Stdout = Either<ChildStdout, ReadHalf<DuplexStream>>;

impl Launched {
    /// The owner of the child if there is one, and the two streams.
    #[must_use]
    pub fn into_parts(self) -> (Option<Process>, Stdin, Stdout) {
        match self {
            Self::Child(Started {
                process,
                stdin,
                stdout,
            }) => (Some(process), Either::Left(stdin), Either::Left(stdout)),
            Self::InProcess(stream) => {
                let (stdout, stdin) = tokio::io::split(stream);
                (None, Either::Right(stdin), Either::Right(stdout))
            }
        }
    }
}

/// Starts child processes.
#[derive(Debug)]
pub struct Children {
    /// What they inherit.
    pub parent: ParentVariables,
}

impl Launch for Children {
    fn launch(
        &self,
        config: &StdioConfig,
        lines: &Arc<LineRing>,
        signals: &Arc<Signals>,
    ) -> Result<Launched, String> {
        start(config, &self.parent, lines, signals).map(Launched::Child)
    }
}

fn start(
    config: &StdioConfig,
    parent: &ParentVariables,
    lines: &Arc<LineRing>,
    signals: &Arc<Signals>,
) -> Result<Started, String> {
    let mut command = Command::new(&config.command);
    command
        .args(&config.args)
        .env_clear()
        .envs(environment::of_child(config, parent))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(folder) = &config.cwd {
        command.current_dir(folder);
    }
    group::prepare(&mut command);
    let (mut child, ours) = spawn(&mut command).map_err(|error| explain(config, &error))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(format!("{}: its pipes could not be opened", config.command));
    };
    let group = Arc::new(Group::of(&child));
    let (exited, exit) = watch::channel(None);
    let watch = watch_exit(child, ours, Arc::clone(&group), exited, Arc::clone(signals));
    tokio::spawn(watch);
    let stderr = tokio::spawn(drain(stderr, Arc::clone(lines), Arc::clone(signals)));
    Ok(Started {
        process: Process {
            group,
            exit,
            stderr,
        },
        stdin,
        stdout,
    })
}

/// Says why the program could not be started, and what to do.
fn explain(config: &StdioConfig, error: &io::Error) -> String {
    let command = &config.command;
    if let Some(folder) = &config.cwd
        && !folder.is_dir()
    {
        return format!("{command}: the folder {} does not exist", folder.display());
    }
    let hint = if command.contains(' ') {
        "; put the arguments into args"
    } else {
        ""
    };
    match error.kind() {
        io::ErrorKind::NotFound => format!("{command}: command not found{hint}"),
        io::ErrorKind::PermissionDenied => format!("{command}: permission denied{hint}"),
        _ => format!("{command}: {error}{hint}"),
    }
}

/// Reaps the leader when it ends, which ends the connection, also where something that it left
/// behind holds the pipes. If this task is dropped instead, the guard kills the group.
async fn watch_exit(
    mut child: Child,
    ours: Ours,
    group: Arc<Group>,
    exited: watch::Sender<Option<ExitStatus>>,
    signals: Arc<Signals>,
) {
    let guard = group::KillOnDrop::new(group);
    match child.wait().await {
        Ok(status) => {
            drop(ours);
            guard.leader_reaped();
            exited.send_replace(Some(status));
            // What it wrote last may still be in the pipe.
            let _ = timeout(PIPE_GRACE, signals.ended()).await;
            signals.end(None);
        }
        Err(error) => tracing::warn!(%error, "a child cannot be waited for"),
    }
}

/// Reads stderr to its end, whatever it holds, so that the child never blocks on it.
async fn drain<S: AsyncRead + Unpin>(mut stderr: S, lines: Arc<LineRing>, signals: Arc<Signals>) {
    // Not zeroed: most servers say little, and then most of it never becomes memory.
    let mut chunk = Vec::with_capacity(STDERR_CHUNK);
    let mut stream = LineStream::new(lines, LineKind::Stderr);
    while let Ok(1..) = stderr.read_buf(&mut chunk).await {
        stream.push(&chunk);
        chunk.clear();
        signals.wake();
        // A flood must not keep everything else waiting.
        tokio::task::yield_now().await;
    }
}

impl Process {
    /// Waits until the leader has ended.
    pub async fn exited(&self) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        exit.wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|status| *status)
    }

    /// Waits a moment for the leader's end and the last lines of its stderr; `None` if it lives on.
    pub async fn last_words(&mut self) -> Option<ExitStatus> {
        let status = timeout(STDERR_GRACE, self.exited()).await.ok().flatten();
        if status.is_some() && !self.stderr.is_finished() {
            let _ = timeout(STDERR_GRACE, &mut self.stderr).await;
        }
        status
    }

    /// Climbs the ladder until nothing of the group is left. Stdin must be closed already. A climb
    /// that is broken off can be begun again.
    pub async fn close(&mut self, mut ladder: watch::Receiver<Ladder>) {
        if !self.gone_within(&mut ladder, |ladder| ladder.term).await {
            self.group.terminate();
            if !self.gone_within(&mut ladder, |ladder| ladder.kill).await {
                self.group.kill();
                // Nothing survives KILL; what remains is to be reaped.
                self.gone_by(Instant::now() + Duration::from_secs(1)).await;
            }
        }
        self.stderr.abort();
    }

    /// Whether the leader is reaped and the group empty when this rung is over, as long as the
    /// ladder says at the end.
    async fn gone_within(
        &self,
        ladder: &mut watch::Receiver<Ladder>,
        rung: impl Fn(&Ladder) -> Duration,
    ) -> bool {
        let start = Instant::now();
        loop {
            let deadline = start + rung(&ladder.borrow_and_update());
            tokio::select! {
                is_gone = self.gone_by(deadline) => return is_gone,
                Ok(()) = ladder.changed() => {}
            }
        }
    }

    /// Whether the leader is reaped and the group empty by the deadline.
    async fn gone_by(&self, deadline: Instant) -> bool {
        if timeout_at(deadline, self.exited()).await.is_err() {
            return false;
        }
        loop {
            if self.group.is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(GROUP_POLL).await;
        }
    }
}

/// Says how a process ended, as people say it: `exit status 1`, `signal 9`.
#[must_use]
pub fn describe_exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("killed by signal {signal}");
        }
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "no exit status".to_owned(),
    }
}
