//! The face for models: an MCP server with read-only tools over all configured servers, and their
//! resources and templates as its own.
//!
//! It speaks both protocol eras, on stdin and stdout or over Streamable HTTP, and runs an engine
//! of its own: a deck beside it has its own connections. It calls no tool, and starts no server
//! that is switched off.

mod address;
mod blobs;
mod changes;
mod connections;
mod desk;
mod gate;
mod handler;
mod http;
mod itself;
mod list;
mod read;
mod resources;
mod sessions;
mod stdio;
mod text;
mod tools;

pub use http::{HttpOptions, token};
pub use itself::{is_own_child, own_child_message};

use std::fmt::Write as _;
use std::future::pending;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::app::config_store::{Following, LoadRequest, Loaded, follow};
use crate::app::signal::{Signal, Signals};
use crate::app::{Definition, Engine, EngineHandle, EngineOptions, Face, Ladder};
use crate::domain::{Event, EventKind, Interest, ListMethod, Settings};
use blobs::Blobs;
use desk::Desk;
use handler::Handler;
use http::Listening;

/// The most bytes of one request. A longer one is refused over HTTP, and dropped on stdin.
const REQUEST: usize = 1024 * 1024;

/// What is served, and how.
#[derive(Debug)]
pub struct ServeOptions {
    /// The servers, in config order.
    pub definitions: Vec<Definition>,
    /// Bounds and waits.
    pub settings: Settings,
    /// How long a call waits for servers that still connect.
    pub wait: Duration,
    /// How long is served at most; without end where absent.
    pub within: Option<Duration>,
    /// Where blobs are saved.
    pub state_folder: Option<PathBuf>,
    /// HTTP instead of stdin and stdout.
    pub http: Option<HttpOptions>,
    /// The config files that are followed as they change.
    pub files: Option<Files>,
}

/// Config files, and what they said when they were read.
#[derive(Debug)]
pub struct Files {
    /// Which files.
    pub request: LoadRequest,
    /// What is followed, beyond the files themselves.
    pub following: Following,
    /// What they said.
    pub loaded: Loaded,
    /// Whether what becomes of their changes is kept off stderr.
    pub quiet: bool,
}

impl Files {
    /// Follows them until the engine ends.
    async fn follow(self, engine: EngineHandle) {
        let mut events = engine.events();
        let latest = watch::Sender::new(Arc::new(self.loaded));
        let following = follow(engine, self.request, self.following, latest);
        tokio::pin!(following);
        loop {
            tokio::select! {
                () = &mut following => return,
                event = events.recv() => match event {
                    Ok(event) if !self.quiet => tell(&event),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
            }
        }
    }
}

/// Says on stderr what is to be known of the config. What servers do is for calls to tell.
fn tell(event: &Event) {
    if let (None, EventKind::Note(note)) = (&event.server, &event.kind) {
        // If nobody reads it, there is nobody to tell.
        let _ = writeln!(io::stderr().lock(), "mcpdeck: {note}");
    }
}

/// Why serving could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can be reached by others, and that was not allowed.
    #[error("{0} can be reached by others; choose 127.0.0.1, or allow it with --allow-remote")]
    Remote(SocketAddr),
    /// The address cannot be listened to.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The environment variable has no token.
    #[error(
        "the environment variable {0} holds no bearer token; it needs visible ASCII characters without spaces"
    )]
    Token(String),
    /// The client did not begin with an MCP request.
    #[error("the client did not begin as an MCP client does: {0}")]
    Handshake(&'static str),
    /// The system does not give what is needed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ServeError {
    /// Whether something else should be asked of us.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Remote(_) | Self::Listen { .. } | Self::Token(_) | Self::Handshake(_) => true,
            Self::System(_) => false,
        }
    }
}

/// Serves until the input ends or the time is over (`None`), or a signal comes, and then ends all
/// servers.
///
/// # Errors
///
/// [`ServeError`], before anything was served.
pub fn run(options: ServeOptions) -> Result<Option<Signal>, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(serve(options));
    // A blocking read of stdin cannot be interrupted.
    runtime.shutdown_background();
    ended
}

async fn serve(options: ServeOptions) -> Result<Option<Signal>, ServeError> {
    // Before any server is started: none may be left behind by a signal that comes early.
    let mut signals = Signals::listen()?;
    let listening = match &options.http {
        Some(http) => Some(Listening::start(http).await?),
        None => None,
    };
    let read_within = options.settings.connect_timeout + options.settings.request_timeout * 5;
    let engine = Engine::start(EngineOptions {
        face: Face::Serve(listening.as_ref().map(Listening::address)),
        interest: Interest::only(ListMethod::Resources).with(ListMethod::ResourceTemplates),
        live: true,
        settings: options.settings,
    });
    let servers = options.definitions.len();
    engine.handle().put(options.definitions).await;
    // From here on a call knows all servers.
    let mut states = engine.handle().state();
    let _ = states
        .wait_for(|state| state.servers.len() == servers)
        .await;

    if let Some(files) = options.files {
        tokio::spawn(files.follow(engine.handle()));
    }

    let end = CancellationToken::new();
    let over = options.within.map(|within| Instant::now() + within);
    let desk = Desk::new(engine.handle(), options.wait, read_within, over);
    let blobs = Blobs::new(options.state_folder.as_deref());
    let (changes, watcher) = changes::changes(engine.handle());
    let watching = tokio::spawn(watcher.run());
    let handler = Handler::new(desk, blobs, changes, end.clone());
    let served = async {
        match listening {
            Some(listening) => {
                listening.serve(handler, end.clone()).await;
                Ok(())
            }
            None => stdio::serve(handler, end.clone()).await,
        }
    };
    tokio::pin!(served);
    let ended = tokio::select! {
        served = &mut served => {
            // Who sends a signal and closes our input at once is told of the signal.
            yield_now().await;
            let signal = signals.next().now_or_never();
            served.and(signal.transpose().map_err(ServeError::from))
        }
        signal = signals.next() => {
            end.cancel();
            let ended = served.await;
            ended.and(signal.map(Some).map_err(ServeError::from))
        }
        () = until(over) => {
            end.cancel();
            served.await.map(|()| None)
        }
    };
    watching.abort();
    engine.shutdown(Ladder::BRISK).await;
    ended
}

/// Waits for the moment; for ever where there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

/// Bytes that nobody can guess.
fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
