//! What the supervisor is told of one server.

use std::fmt;
use std::sync::Arc;

use crate::app::config_store::read_env_file;
use crate::app::engine::Face;
use crate::config::{self, Entry, Environment};
use crate::domain::{
    Epoch, Failure, FailureKind, Generation, Origin, ServerConfig, ServerName, ServerSnapshot,
    Status, TransportConfig, TransportKind,
};
use crate::mcp::http::leads_to;

/// The definition of one server. Disabled wins over untrusted, that over what is wrong with it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: TransportKind,
    /// The command line or URL as written, for people.
    pub target: Arc<str>,
    /// Where it is written; `None` for one given on the command line or by a library user.
    pub origin: Option<Arc<Origin>>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether it may be started: definitions of project files wait for approval.
    pub trusted: bool,
    /// What is started or called.
    pub config: Resolve,
}

impl Definition {
    /// The definition of a config entry. Its variables are expanded when it is started.
    #[must_use]
    pub fn of_entry(entry: Arc<Entry>, environment: Arc<Environment>) -> Self {
        Self {
            name: entry.name.clone(),
            transport: entry.transport,
            target: entry
                .definition
                .as_ref()
                .map_or_else(|_| String::new(), config::Definition::target)
                .into(),
            origin: entry.origin.clone(),
            enabled: entry.enabled,
            trusted: entry.trusted,
            config: Resolve::Entry(entry, environment),
        }
    }

    /// The config entry that it is the definition of, if it is of one.
    #[must_use]
    pub const fn entry(&self) -> Option<&Arc<Entry>> {
        match &self.config {
            Resolve::Entry(entry, _) => Some(entry),
            Resolve::Ready(_) | Resolve::Lazy(_) => None,
        }
    }

    /// Whether both start or call the same, see [`Entry::same_definition`].
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.config, &other.config) {
            (Resolve::Entry(one, _), Resolve::Entry(two, _)) => one.same_definition(two),
            (Resolve::Ready(one), Resolve::Ready(two)) => one == two,
            _ => false,
        }
    }

    /// The URL, whatever else of the definition is missing; `None` for a command.
    ///
    /// # Errors
    ///
    /// What is wrong with the definition or the URL: kind `config`.
    pub fn url(&self) -> Result<Option<String>, Failure> {
        let config = match &self.config {
            Resolve::Entry(entry, environment) => {
                let url = config::resolve_url(entry, environment);
                return url.map_err(|problem| problem.to_failure());
            }
            Resolve::Ready(_) | Resolve::Lazy(_) => self.config.get()?,
        };
        Ok(match &config.transport {
            TransportConfig::Http(http) => Some(http.url.clone()),
            TransportConfig::Stdio(_) => None,
        })
    }

    /// The finished configuration, for an engine of this face.
    ///
    /// # Errors
    ///
    /// What is wrong with the definition, or that it leads a serving mcpdeck to itself: kind
    /// `config`.
    pub fn config_for(&self, face: Face) -> Result<Arc<ServerConfig>, Failure> {
        let config = self.config.get()?;
        if let (TransportConfig::Http(http), Face::Serve(Some(listening))) =
            (&config.transport, face)
            && leads_to(&http.url, listening)
        {
            let place = self.origin.as_ref().map_or_else(
                || "the command line".to_owned(),
                |origin| origin.file.display().to_string(),
            );
            return Err(Failure::new(FailureKind::Config, starts_itself(&place)));
        }
        Ok(config)
    }

    /// How the server stands before its actor has said anything.
    #[must_use]
    pub fn first_snapshot(&self) -> ServerSnapshot {
        ServerSnapshot {
            name: self.name.clone(),
            transport: self.transport,
            target: Arc::clone(&self.target),
            origin: self.origin.clone(),
            status: if !self.enabled {
                Status::Disabled
            } else if self.trusted {
                Status::Connecting
            } else {
                Status::Untrusted
            },
            epoch: Epoch::default(),
            generation: Generation::default(),
            catalog: Arc::default(),
            asked: Arc::default(),
            refreshing: Arc::default(),
            errors: Arc::default(),
            latency: None,
            no_live_updates: false,
            noise: 0,
            stderr_lines: 0,
        }
    }
}

impl From<ServerConfig> for Definition {
    /// An enabled, trusted server that is written in no file.
    fn from(config: ServerConfig) -> Self {
        Self {
            name: config.name.clone(),
            transport: config.transport_kind(),
            target: config.target().into(),
            origin: None,
            enabled: true,
            trusted: true,
            config: Resolve::Ready(Arc::new(config)),
        }
    }
}

/// A configuration that is expanded no earlier than it is needed: a disabled server never is.
#[derive(Clone)]
pub enum Resolve {
    /// Finished.
    Ready(Arc<ServerConfig>),
    /// An entry of a config file, whose variables are expanded with the environment.
    Entry(Arc<Entry>, Arc<Environment>),
    /// Expanded when the server is to be started; the failure has kind `config`.
    Lazy(Arc<Expand>),
}

/// Expands a definition.
pub type Expand = dyn Fn() -> Result<ServerConfig, Failure> + Send + Sync;

impl Resolve {
    /// The finished configuration.
    ///
    /// # Errors
    ///
    /// What is wrong with the definition: kind `config`.
    pub fn get(&self) -> Result<Arc<ServerConfig>, Failure> {
        match self {
            Self::Ready(config) => Ok(Arc::clone(config)),
            Self::Entry(entry, environment) => {
                let config = config::resolve(entry, environment, &read_env_file);
                config.map(Arc::new).map_err(|problem| problem.to_failure())
            }
            Self::Lazy(expand) => expand().map(Arc::new),
        }
    }
}

impl fmt::Debug for Resolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(config) => f.debug_tuple("Ready").field(config).finish(),
            Self::Entry(entry, _) => f.debug_tuple("Entry").field(entry).finish(),
            Self::Lazy(_) => f.write_str("Lazy"),
        }
    }
}

/// What is said where a serving mcpdeck would be one of its own servers.
#[must_use]
pub fn starts_itself(place: &str) -> String {
    format!("mcpdeck serve would start itself; remove it from {place}")
}
