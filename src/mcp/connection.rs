//! One connection: opened with a handshake, used through a [`Requester`], closed by its owner.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, ServerCapabilities, ServerPeerInfo};
use rmcp::service::Service as _;
use rmcp::service::{
    Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError,
    serve_directly_with_ct,
};
use rmcp::transport::Transport;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::auth::TokenStore;
use super::handler::Handler;
use super::http;
use super::lines::{LineRing, Walk};
use super::negotiate::{Agreed, Era};
use super::process::{Ladder, Launch, Process, describe_exit};
use super::reply::{Fate, Reply, RpcError, Undelivered};
use super::signals::Signals;
use super::stdio;
use super::traverse::seconds;
use crate::domain::server::Mask;
use crate::domain::text;
use crate::domain::{
    Failure, FailureKind, ListMethod, ProtocolChoice, ServerConfig, Session, Settings,
    TransportConfig, TransportKind,
};

/// How many lines of stderr a failure quotes.
const QUOTED_LINES: usize = 5;

/// How long the transport may take to end when a connection is closed.
const TRANSPORT_END: Duration = Duration::from_millis(250);

/// How long an answer that was read may take to reach its caller after the stream has ended.
const ROUTING: Duration = Duration::from_millis(10);

/// Bounds on one connection, and what starts its server.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Which era the definition wants.
    pub protocol: ProtocolChoice,
    /// The era that an earlier connection of the definition found out.
    pub known_era: Option<Era>,
    /// How long silence after `server/discover` is waited out.
    pub probe_timeout: Duration,
    /// On connecting, the handshake included.
    pub connect_timeout: Duration,
    /// On one request.
    pub request_timeout: Duration,
    /// How a child is ended that does not come to be connected.
    pub ladder: watch::Receiver<Ladder>,
    /// Starts servers that speak over stdio.
    pub launcher: Arc<dyn Launch>,
    /// Whether what the server says of itself is of interest: not to a one-shot command.
    pub listens: bool,
    /// Hides the secrets of the definition; those that turn up while connecting are added.
    pub mask: Mask,
    /// The log-ins of earlier runs.
    pub logins: Option<Arc<TokenStore>>,
}

impl ConnectOptions {
    /// The server's own bounds where it has some, else those of the settings; nothing is known of
    /// it, and nobody has logged in.
    #[must_use]
    pub fn of(
        config: &ServerConfig,
        settings: &Settings,
        launcher: Arc<dyn Launch>,
        ladder: watch::Receiver<Ladder>,
    ) -> Self {
        Self {
            protocol: config.protocol,
            known_era: None,
            probe_timeout: settings.probe_timeout,
            connect_timeout: config.connect_timeout.unwrap_or(settings.connect_timeout),
            request_timeout: config.request_timeout.unwrap_or(settings.request_timeout),
            ladder,
            launcher,
            listens: false,
            mask: Mask::default(),
            logins: None,
        }
    }
}

/// A connection after its handshake. It has one owner, who must [`Connection::close`] it; one that
/// is dropped instead kills its process.
#[derive(Debug)]
pub struct Connection {
    /// What was agreed on.
    pub session: Arc<Session>,
    /// What the other side signals.
    pub signals: Arc<Signals>,
    /// Which transport it came to.
    pub transport: TransportKind,
    /// Whether [`Signals::subscription`] will tell that changes are heard of, beside modern ones.
    pub awaits_stream: bool,
    requester: Requester,
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    lines: Arc<LineRing>,
    /// The number of the last line before this connection.
    first_line: u64,
    /// The program's name, for messages.
    command: Option<String>,
    keep: Keep,
}

/// Something that lives as long as anything of a server does.
pub type Keep = Box<dyn fmt::Debug + Send + Sync>;

impl Connection {
    /// Starts or calls the server and shakes hands. `None` if `cancel` was called before the
    /// handshake ended; then nothing of the server is left. A failure is told at once, and what is
    /// left of the server is ended behind it. `keep` is dropped when nothing is left any more.
    ///
    /// # Errors
    ///
    /// What a person needs to mend it: the command or URL, the cause, the exit status and the last
    /// lines of stderr.
    pub async fn open(
        config: &ServerConfig,
        options: &ConnectOptions,
        lines: &Arc<LineRing>,
        keep: Keep,
        cancel: &CancellationToken,
    ) -> Option<Result<Self, Failure>> {
        match &config.transport {
            TransportConfig::Stdio(config) => {
                stdio::open(config, options, lines, keep, cancel).await
            }
            TransportConfig::Http(config) => http::open(config, options, lines, keep, cancel).await,
        }
    }

    /// Something to ask the server with.
    #[must_use]
    pub fn requester(&self) -> Requester {
        self.requester.clone()
    }

    /// Waits until the other side has ended the connection: its stream or its process.
    pub async fn ended(&self) {
        self.signals.ended().await;
    }

    /// How an ended connection ended. Takes a moment: a process's last words may still come.
    pub async fn cause_of_end(&mut self) -> Failure {
        if let Some(cause) = self.signals.cause() {
            return cause;
        }
        let mut message = match &self.command {
            Some(command) => format!("{command}: the connection closed"),
            None => "the connection closed".to_owned(),
        };
        message.push_str(&last_words(self.process.as_mut(), &self.lines, self.first_line).await);
        Failure::new(FailureKind::Closed, message)
    }

    /// Ends the connection and its process, by the ladder; nothing is left when it returns.
    pub async fn close(mut self, ladder: watch::Receiver<Ladder>) {
        let ended = self.service.close_with_timeout(TRANSPORT_END).await;
        if !matches!(ended, Ok(Some(_))) {
            tracing::debug!(?ended, "a transport did not end in time");
        }
        // Whatever still holds the pipe is dropped with it.
        drop(self.service);
        if let Some(process) = &mut self.process {
            process.close(ladder).await;
        }
        drop(self.keep);
    }

    /// Hands the transport over to rmcp, which routes answers from now on.
    pub(super) fn establish<T>(transport: T, parts: Parts) -> Self
    where
        T: Transport<RoleClient> + 'static,
    {
        let handler = Handler::new(parts.session.modern);
        // Of the server rmcp needs to know the version alone: it decides what goes with a request.
        let info = ServerPeerInfo::new(
            handler.get_info().protocol_version,
            ServerCapabilities::default(),
        );
        let service =
            serve_directly_with_ct(handler, transport, Some(info), CancellationToken::new());
        Self {
            requester: Requester {
                peer: service.peer().clone(),
                timeout: parts.request_timeout,
                signals: Arc::clone(&parts.signals),
                lines: Arc::clone(&parts.lines),
                modern_http: parts.session.modern && parts.transport == TransportKind::Http,
            },
            transport: parts.transport,
            awaits_stream: parts.awaits_stream,
            session: Arc::new(parts.session),
            signals: parts.signals,
            service,
            process: parts.process,
            lines: parts.lines,
            first_line: parts.first_line,
            command: parts.command,
            keep: parts.keep,
        }
    }
}

/// What a connection is made of, beside its transport.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) session: Session,
    pub(super) signals: Arc<Signals>,
    pub(super) lines: Arc<LineRing>,
    pub(super) first_line: u64,
    pub(super) process: Option<Process>,
    pub(super) request_timeout: Duration,
    pub(super) command: Option<String>,
    pub(super) keep: Keep,
    pub(super) transport: TransportKind,
    pub(super) awaits_stream: bool,
}

/// How the process ended, if it did, and what it wrote last: `, exit status 1; stderr: ...`.
pub(super) async fn last_words(
    process: Option<&mut Process>,
    lines: &LineRing,
    first_line: u64,
) -> String {
    let status = match process {
        Some(process) => process.last_words().await,
        None => None,
    };
    let mut words =
        status.map_or_else(String::new, |status| format!(", {}", describe_exit(status)));
    let tail = lines.stderr_tail(first_line, QUOTED_LINES);
    if !tail.is_empty() {
        words.push_str("; stderr: ");
        words.push_str(&tail.join(" | "));
    }
    words
}

pub(super) fn session_of(agreed: Agreed, started: Instant) -> Session {
    let now = Instant::now();
    let server = agreed.server;
    Session {
        protocol_version: agreed.version,
        modern: agreed.era == Era::Modern,
        server_name: server.name,
        server_version: server.version,
        server_title: server.title,
        instructions: server.instructions,
        capabilities: server.capabilities,
        since: now.into_std(),
        took: now.duration_since(started),
        notes: server.notes.into(),
    }
}

/// Asks a server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Requester {
    peer: Peer<RoleClient>,
    timeout: Duration,
    signals: Arc<Signals>,
    lines: Arc<LineRing>,
    modern_http: bool,
}

/// Why a request has no result.
#[derive(Debug)]
pub enum CallError {
    /// The server answered with an error.
    Rpc(RpcError),
    /// The answer breaks the protocol, and how.
    Malformed(String),
    /// No answer within the request's own bound.
    Timeout(Duration),
    /// No answer before the caller's deadline.
    Deadline,
    /// The connection ended first.
    Closed,
    /// The transport could not deliver it.
    Transport(Failure),
    /// The server took it, and the stream of its answer broke.
    Lost(Failure),
    /// The server does not take such requests.
    Refused(Failure),
}

impl CallError {
    /// The failure for people.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Rpc(error) => {
                let kind = FailureKind::Rpc {
                    code: Some(error.code),
                };
                let message = text::error_text(&error.message);
                if message.is_empty() {
                    Failure::new(kind, "the server gave no message")
                } else {
                    Failure::new(kind, message)
                }
            }
            Self::Malformed(reason) => Failure::new(FailureKind::Malformed, reason),
            Self::Timeout(bound) => Failure::new(
                FailureKind::Timeout,
                format!("no answer within {}", seconds(bound)),
            ),
            Self::Deadline => Failure::new(FailureKind::Timeout, "no answer in time"),
            Self::Closed => Failure::new(FailureKind::Closed, "the connection closed"),
            // It may quote the server.
            Self::Transport(failure) | Self::Lost(failure) | Self::Refused(failure) => {
                Failure::new(failure.kind, text::error_text(&failure.message))
            }
        }
    }
}

impl Requester {
    /// Whether the era without `initialize` is spoken over HTTP, which has rules of its own.
    #[must_use]
    pub const fn is_modern_http(&self) -> bool {
        self.modern_http
    }

    /// A walk over the listing begins: what the server says is shown without its cursors.
    #[must_use]
    pub fn walk(&self, method: ListMethod) -> Walk {
        Walk::begin(&self.lines, method)
    }

    /// Sends the request and waits for the raw JSON of its result, no longer than the bound on
    /// one request and the deadline. A request that is given up, by either or because this future
    /// is dropped, is cancelled at the server (`notifications/cancelled`), which nobody waits for.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    pub async fn call(
        &self,
        request: ClientRequest,
        deadline: Option<Instant>,
    ) -> Result<String, CallError> {
        let own = Instant::now() + self.timeout;
        let until = deadline.map_or(own, |deadline| deadline.min(own));
        let given_up = || {
            if until < own {
                CallError::Deadline
            } else {
                CallError::Timeout(self.timeout)
            }
        };
        timeout_at(until, self.call_unbounded(request))
            .await
            .map_err(|_| given_up())?
    }

    /// Sends a request whose answer may take as long as the connection lives.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    pub async fn call_unbounded(&self, request: ClientRequest) -> Result<String, CallError> {
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let mut outstanding = Outstanding(Some(sent.map_err(|error| explain(&error))?));
        let Some(handle) = outstanding.0.as_mut() else {
            return Err(CallError::Closed);
        };
        let answer = tokio::select! {
            answer = &mut handle.rx => answer,
            () = self.signals.ended() => {
                // The answer may have been read before the end: rmcp gets a moment to route it.
                timeout(ROUTING, &mut handle.rx).await.map_err(|_| CallError::Closed)?
            }
        };
        outstanding.0 = None;
        match answer {
            Ok(Ok(result)) => match Reply::from(result) {
                Reply::Result(raw) => Ok(raw),
                Reply::Error(error) => Err(CallError::Rpc(error)),
                Reply::Malformed(reason) => Err(CallError::Malformed(reason)),
                Reply::Undelivered(Undelivered { failure, fate }) => Err(match fate {
                    Fate::Lost => CallError::Lost(failure),
                    Fate::Undelivered => CallError::Transport(failure),
                    Fate::Refused => CallError::Refused(failure),
                }),
            },
            Ok(Err(error)) => Err(explain(&error)),
            Err(_) => Err(CallError::Closed),
        }
    }
}

/// Why rmcp could not get an answer.
fn explain(error: &ServiceError) -> CallError {
    match error {
        ServiceError::McpError(error) => CallError::Rpc(RpcError {
            code: error.code.0.into(),
            message: error.message.to_string(),
            data: error.data.clone(),
        }),
        ServiceError::UnexpectedResponse => {
            CallError::Malformed("the answer is of another kind".into())
        }
        _ => CallError::Closed,
    }
}

/// A request that is out. Dropped before its answer came, it is cancelled at the server.
struct Outstanding(Option<RequestHandle<RoleClient>>);

impl Drop for Outstanding {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(handle.cancel(Some("no longer wanted".to_owned())));
        }
    }
}
