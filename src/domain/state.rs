//! The snapshot of everything, and of one server.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::catalog::{Catalog, Freshness};
use super::error::{DiscoveryError, Failure};
use super::event::Event;
use super::ids::{Epoch, Generation, Group, ListMethod, Revision, ServerName, TransportKind};

/// How many events the snapshot keeps.
pub const EVENTS_KEPT: usize = 1_000;

/// Everything, at one moment. Servers stand in config order.
#[derive(Debug, Clone, Default)]
pub struct AppState {
    /// Grows with every published state.
    pub revision: Revision,
    /// One snapshot a server.
    pub servers: Arc<[Arc<ServerSnapshot>]>,
    /// The last [`EVENTS_KEPT`] events, oldest first.
    pub events: Arc<VecDeque<Arc<Event>>>,
}

impl AppState {
    /// The server of the name.
    #[must_use]
    pub fn server(&self, name: &ServerName) -> Option<&Arc<ServerSnapshot>> {
        self.servers.iter().find(|server| &server.name == name)
    }
}

/// Where a definition is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The line of the entry, from 1.
    pub line: usize,
    /// Whether the file is ours to edit: our own TOML. Other tools' files are only read.
    pub editable: bool,
}

/// How a server stands. Disabled wins over untrusted, that over a config error, that over the connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// Being started or called, or waiting for its turn.
    Connecting,
    /// The handshake succeeded.
    Connected(Arc<Session>),
    /// Lost, and to be tried again.
    Reconnecting {
        /// The number of the attempt, from 1.
        attempt: u32,
        /// How many attempts there are.
        limit: u32,
        /// When it starts; `None` while it runs.
        due: Option<Instant>,
        /// Why the connection was lost, or the last attempt failed.
        cause: Failure,
    },
    /// A log-in is missing or was refused.
    NeedsAuth(Failure),
    /// Given up until a person does something.
    Failed(Failure),
    /// Switched off.
    Disabled,
    /// Of a project file that was not approved.
    Untrusted,
}

impl Status {
    /// The word, the same on screen, in text and in JSON.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected(_) => "connected",
            Self::Reconnecting { .. } => "reconnecting",
            Self::NeedsAuth(_) => "needs-auth",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
        }
    }

    /// What is wrong with the connection, if something is.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Reconnecting { cause, .. } => Some(cause),
            Self::NeedsAuth(failure) | Self::Failed(failure) => Some(failure),
            Self::Connecting | Self::Connected(_) | Self::Disabled | Self::Untrusted => None,
        }
    }

    /// What was agreed in the handshake, while connected.
    #[must_use]
    pub const fn session(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Connected(session) => Some(session),
            Self::Connecting
            | Self::Reconnecting { .. }
            | Self::NeedsAuth(_)
            | Self::Failed(_)
            | Self::Disabled
            | Self::Untrusted => None,
        }
    }
}

/// What server and client agreed on in the handshake. Texts are sanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The protocol version, `2025-11-25` say.
    pub protocol_version: Box<str>,
    /// Whether the version is of the era without `initialize`.
    pub modern: bool,
    /// The server's own name, where it gave one.
    pub server_name: Box<str>,
    /// The server's own version, where it gave one.
    pub server_version: Box<str>,
    /// The server's name for people.
    pub server_title: Option<Box<str>>,
    /// What the server tells a model about itself.
    pub instructions: Option<Box<str>>,
    /// The sorted names of the declared capabilities.
    pub capabilities: Box<[Box<str>]>,
    /// When the handshake ended.
    pub since: Instant,
    /// How long connecting took, the handshake included.
    pub took: Duration,
    /// What was odd in the handshake and set to a default.
    pub notes: Box<[Arc<str>]>,
}

impl Session {
    /// Whether the server declared the capability that the method needs.
    #[must_use]
    pub fn declares(&self, group: Group) -> bool {
        self.capabilities.iter().any(|name| &**name == group.word())
    }
}

/// One server, at one moment. While it is not connected its catalog is empty.
#[derive(Debug, Clone)]
pub struct ServerSnapshot {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: TransportKind,
    /// The command line or URL, for people; secrets are masked.
    pub target: Arc<str>,
    /// Where it is defined; `None` for a server given on the command line or by a library user.
    pub origin: Option<Arc<Origin>>,
    /// How it stands.
    pub status: Status,
    /// Which connection this is about.
    pub epoch: Epoch,
    /// Which catalog this is.
    pub generation: Generation,
    /// Its listings.
    pub catalog: Arc<Catalog>,
    /// The listings of interest that the server declared: those it is or was asked for.
    pub asked: Arc<[ListMethod]>,
    /// Groups that are being refreshed.
    pub refreshing: Arc<[Group]>,
    /// What went wrong with the connection and each list method, until the next success.
    pub errors: Arc<[DiscoveryError]>,
    /// How long the last answer took.
    pub latency: Option<Duration>,
    /// Whether the server refused to tell when its lists change.
    pub no_live_updates: bool,
    /// Lines on stdout that were no message, and answers that belong to no request.
    pub noise: u64,
    /// The number of the last stderr line, from 1; an open tab asks for those it lacks.
    pub stderr_lines: u64,
}

impl ServerSnapshot {
    /// Whether nothing is under way: the server cannot be asked, or everything asked was answered.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match &self.status {
            Status::Connecting | Status::Reconnecting { .. } => false,
            Status::Connected(_) => {
                self.refreshing.is_empty()
                    && self
                        .asked
                        .iter()
                        .all(|method| self.catalog.freshness(*method) != Freshness::Absent)
            }
            Status::NeedsAuth(_) | Status::Failed(_) | Status::Disabled | Status::Untrusted => true,
        }
    }

    /// The error of the method, or with `None` of the connection.
    #[must_use]
    pub fn error(&self, method: Option<ListMethod>) -> Option<&DiscoveryError> {
        self.errors.iter().find(|error| error.method == method)
    }
}
