//! Logging in and out at remote servers, for every face.
//!
//! When a log-in is done, the server has to be connected again:
//! [`super::EngineHandle::reconnect`].

mod browser;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::domain::{Failure, FailureKind, HttpConfig, ServerConfig, TransportConfig};
pub use crate::mcp::auth::{Login, Redirected, TokenStore};
use crate::telemetry::state_folder;

/// How long it may take to find out where to log in, unless the server has a bound of its own.
const BEGIN_WITHIN: Duration = Duration::from_secs(30);

/// What is said of a server without a URL.
pub const NO_URL: &str = "it is started by a command; only servers with a URL take a log-in";

/// What a person has to know while a log-in waits for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The page to log in on is known.
    Page(Page),
    /// What was pasted is not where this log-in ends.
    Foreign,
}

/// The page to log in on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The page.
    pub url: Arc<str>,
    /// The address that the browser ends at, without what follows the `?`.
    pub redirect: Arc<str>,
    /// Whether a browser was opened with the page.
    pub opened: bool,
}

/// Where log-ins are kept: the state folder. `None` if there is no home.
#[must_use]
pub fn store() -> Option<Arc<TokenStore>> {
    let folder = state_folder(|name| std::env::var_os(name))?;
    Some(Arc::new(TokenStore::in_folder(&folder)))
}

/// Logs in at the server: finds out where, opens a browser if wished and possible, and waits until
/// the browser comes back or the address that it ended at is pasted. Dropping it calls it off.
///
/// # Errors
///
/// Why nobody is logged in.
pub async fn log_in(
    config: &ServerConfig,
    browser: bool,
    pasted: &mut mpsc::Receiver<String>,
    mut tell: impl FnMut(Progress),
) -> Result<(), Failure> {
    let within = config.connect_timeout.unwrap_or(BEGIN_WITHIN);
    let login = timeout(within, Login::begin(remote(config)?, required()?));
    let login = login.await.unwrap_or_else(|_| {
        Err(Failure::new(
            FailureKind::Timeout,
            "the servers did not say in time where to log in",
        ))
    })?;
    tell(Progress::Page(Page {
        url: login.url().into(),
        redirect: login.redirect_uri().into(),
        opened: browser && browser::open(login.url()),
    }));
    login.finish(pasted, || tell(Progress::Foreign)).await
}

/// Forgets the log-in at the URL; whether there was one.
///
/// # Errors
///
/// The file of log-ins cannot be written.
pub async fn log_out(url: &str) -> Result<bool, Failure> {
    required()?.remove(url).await
}

fn remote(config: &ServerConfig) -> Result<&HttpConfig, Failure> {
    match &config.transport {
        TransportConfig::Http(http) => Ok(http),
        TransportConfig::Stdio(_) => Err(Failure::new(FailureKind::Config, NO_URL)),
    }
}

fn required() -> Result<Arc<TokenStore>, Failure> {
    store().ok_or_else(|| {
        Failure::new(
            FailureKind::Config,
            "there is no folder to keep the log-in in: set HOME or XDG_STATE_HOME",
        )
    })
}
