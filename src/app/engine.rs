//! The engine's handle: what faces and library users may ask of it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use tokio::sync::{Notify, broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::client::ClientHandle;
use super::definition::Definition;
use super::supervisor::{Command, Supervisor, Trial};
use crate::domain::{AppState, Event, Interest, ServerName, Settings};
use crate::mcp::process::{Children, Ladder, Launch, ParentVariables};

/// How many commands may wait for the supervisor.
const MAILBOX: usize = 256;

/// How many events a slow reader of [`EngineHandle::events`] may lag behind.
pub const EVENTS_BUFFERED: usize = 4_096;

/// Which face runs the engine: children see it as `MCPDECK_PARENT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The interactive deck.
    Deck,
    /// A headless command.
    Cli,
    /// The MCP server for models, and where it listens if not on its stdin. No server may lead
    /// there: it would serve itself.
    Serve(Option<SocketAddr>),
}

impl Face {
    /// The value of `MCPDECK_PARENT`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deck => "deck",
            Self::Cli => "cli",
            Self::Serve(_) => "serve",
        }
    }
}

/// What an engine is for.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Who runs it.
    pub face: Face,
    /// The listings that are asked for.
    pub interest: Interest,
    /// Whether it lives on: lost connections are tried again, and `list_changed` is followed.
    /// One-shot commands do neither.
    pub live: bool,
    /// Bounds and waits.
    pub settings: Settings,
}

impl EngineOptions {
    /// How patiently processes are ended until the engine itself is told to end.
    #[must_use]
    pub const fn ladder(&self) -> Ladder {
        if self.live {
            Ladder::PATIENT
        } else {
            Ladder::BRISK
        }
    }
}

/// A running engine; it ends with [`Engine::shutdown`].
#[derive(Debug)]
pub struct Engine {
    handle: EngineHandle,
    supervisor: JoinHandle<()>,
}

impl Engine {
    /// Starts an engine without servers on the current runtime.
    #[must_use]
    pub fn start(options: EngineOptions) -> Self {
        let launcher = Arc::new(children(&options));
        Self::start_with(options, launcher)
    }

    /// As [`Engine::start`], but what a server speaks to over stdio is started by the launcher.
    #[must_use]
    pub fn start_with(options: EngineOptions, launcher: Arc<dyn Launch>) -> Self {
        let (handle, supervisor) = prepare(options, Vec::new(), launcher);
        Self {
            handle,
            supervisor: tokio::spawn(supervisor.run()),
        }
    }

    /// A handle to it.
    #[must_use]
    pub fn handle(&self) -> EngineHandle {
        self.handle.clone()
    }

    /// Closes all servers at once and waits until every child is reaped.
    pub async fn shutdown(self, ladder: Ladder) {
        self.handle.shutdown(ladder).await;
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the supervisor did not end well");
        }
    }
}

/// What starts child processes with our environment.
fn children(options: &EngineOptions) -> Children {
    Children {
        parent: ParentVariables::read(options.face.word()),
    }
}

/// An engine with these servers that does not run yet. Its first state lists them already.
fn prepare(
    options: EngineOptions,
    servers: Vec<Definition>,
    launcher: Arc<dyn Launch>,
) -> (EngineHandle, Supervisor) {
    let (commands, mailbox) = mpsc::channel(MAILBOX);
    let first = AppState {
        servers: servers
            .iter()
            .map(|definition| Arc::new(definition.first_snapshot()))
            .collect(),
        ..AppState::default()
    };
    let (publish, state) = watch::channel(Arc::new(first));
    let (events, _) = broadcast::channel(EVENTS_BUFFERED);
    let supervisor = Supervisor::new(options, servers, launcher, mailbox, publish, events.clone());
    let handle = EngineHandle {
        commands,
        state,
        events,
    };
    (handle, supervisor)
}

/// An engine on a thread of its own, for a face that draws on this one. Children die with the
/// thread that spawned them, so it lives until [`EngineThread::stop`] has returned.
#[derive(Debug)]
pub struct EngineThread {
    handle: EngineHandle,
    /// Tells the thread to wait for nobody.
    abandoned: Arc<Notify>,
    /// Its other half is dropped when the engine has ended.
    ended: oneshot::Receiver<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl EngineThread {
    /// Starts an engine with the servers.
    ///
    /// # Errors
    ///
    /// The system gives no thread, or no runtime.
    pub fn start(options: EngineOptions, servers: Vec<Definition>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let launcher = Arc::new(children(&options));
        let (handle, supervisor) = prepare(options, servers, launcher);
        let abandoned = Arc::new(Notify::new());
        let is_abandoned = Arc::clone(&abandoned);
        let (lives, ended) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = supervisor.run() => {}
                        () = is_abandoned.notified() => {}
                    }
                });
                drop(lives);
                // A write to a config file that hangs must not keep us.
                runtime.shutdown_timeout(std::time::Duration::from_millis(200));
            })?;
        Ok(Self {
            handle,
            abandoned,
            ended,
            thread: Some(thread),
        })
    }

    /// A handle to it.
    #[must_use]
    pub fn handle(&self) -> EngineHandle {
        self.handle.clone()
    }

    /// Closes all servers at once and waits until every child is reaped. Where somebody is in a
    /// hurry meanwhile, the children are killed.
    pub async fn stop(mut self, ladder: Ladder, hurry: impl Future) {
        self.handle.shutdown(ladder).await;
        tokio::select! {
            _ = &mut self.ended => {}
            _ = hurry => self.abandoned.notify_one(),
        }
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the engine's thread did not end well");
        }
    }
}

impl Drop for EngineThread {
    /// A face that panics leaves no server behind.
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.handle.end(Ladder::BRISK);
            self.join();
        }
    }
}

/// A clonable handle to the engine.
#[derive(Debug, Clone)]
pub struct EngineHandle {
    commands: mpsc::Sender<Command>,
    state: watch::Receiver<Arc<AppState>>,
    events: broadcast::Sender<Arc<Event>>,
}

impl EngineHandle {
    /// The snapshots as they are published.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<Arc<AppState>> {
        self.state.clone()
    }

    /// The last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<AppState> {
        self.state.borrow().clone()
    }

    /// The events from now on; a reader that lags more than [`EVENTS_BUFFERED`] loses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    /// Adds the servers at the end of the list, or replaces those whose names are taken, in place.
    /// A replaced server's catalog is invalid before its old connection is cleaned up, and the new
    /// connection is not started before the old one is gone.
    pub async fn put(&self, definitions: Vec<Definition>) {
        self.tell(Command::Put(definitions)).await;
    }

    /// As [`EngineHandle::put`], but a server that is the same already keeps its connection: only
    /// what is different takes effect, being switched off say.
    pub async fn adopt(&self, definitions: Vec<Definition>) {
        self.tell(Command::Adopt(definitions)).await;
    }

    /// Puts the servers of these names in this order; all others come behind them.
    pub async fn arrange(&self, order: Vec<ServerName>) {
        self.tell(Command::Arrange(order)).await;
    }

    /// The definition of the server as it is in effect.
    pub async fn definition(&self, name: &ServerName) -> Option<Definition> {
        let (reply, answer) = oneshot::channel();
        self.tell(Command::Definition(name.clone(), reply)).await;
        answer.await.ok().flatten()
    }

    /// Returns when the engine ends: it takes no more commands.
    pub async fn ended(&self) {
        self.commands.closed().await;
    }

    /// Puts the server at a place of the list, where a removal took it from.
    pub async fn insert(&self, index: usize, definition: Definition) {
        self.tell(Command::Insert(index, definition)).await;
    }

    /// Removes the server and closes its connection. Returns its place and definition, with which
    /// [`EngineHandle::insert`] brings it back; `None` if there is no such server.
    pub async fn remove(&self, name: &ServerName) -> Option<(usize, Definition)> {
        let (reply, answer) = oneshot::channel();
        self.tell(Command::Remove(name.clone(), reply)).await;
        answer.await.ok().flatten()
    }

    /// Switches the server on or off.
    pub async fn set_enabled(&self, name: &ServerName, enabled: bool) {
        self.tell(Command::SetEnabled(name.clone(), enabled)).await;
    }

    /// Asks the server for all listings of interest again.
    pub async fn refresh(&self, name: &ServerName) {
        self.tell(Command::Refresh(name.clone())).await;
    }

    /// Refreshes every connected server, and reconnects every failed or reconnecting one.
    pub async fn refresh_all(&self) {
        self.tell(Command::RefreshAll).await;
    }

    /// Closes the server's connection and opens a new one.
    pub async fn reconnect(&self, name: &ServerName) {
        self.tell(Command::Reconnect(name.clone())).await;
    }

    /// Puts a line into the events.
    pub async fn note(&self, server: Option<ServerName>, text: impl Into<Arc<str>>) {
        self.tell(Command::Note(server, text.into())).await;
    }

    /// The client of the name, if there is such a server.
    pub async fn client(&self, name: &ServerName) -> Option<ClientHandle> {
        let (reply, answer) = oneshot::channel();
        self.tell(Command::Client(name.clone(), reply)).await;
        answer.await.ok().flatten()
    }

    /// Connects to a server that is not on the list; `None` where the engine has ended.
    pub async fn try_out(&self, definition: Definition) -> Option<Trial> {
        let (reply, answer) = oneshot::channel();
        self.tell(Command::Try(definition, reply)).await;
        answer.await.ok()
    }

    /// Closes all servers and ends the engine; returns when it takes no more commands.
    pub async fn shutdown(&self, ladder: Ladder) {
        self.tell(Command::Shutdown(ladder)).await;
        self.commands.closed().await;
    }

    /// Tells the engine to end, from outside of any runtime.
    fn end(&self, ladder: Ladder) {
        if self
            .commands
            .blocking_send(Command::Shutdown(ladder))
            .is_err()
        {
            tracing::debug!("the engine had ended already");
        }
    }

    /// Delivers the command; an engine that has ended has nothing left to do.
    async fn tell(&self, command: Command) {
        if self.commands.send(command).await.is_err() {
            tracing::debug!("a command came after the engine had ended");
        }
    }
}
