//! Remote servers: Streamable HTTP, and the HTTP+SSE transport of MCP 2024-11-05 where a server
//! speaks nothing else.

mod caller;
mod challenge;
mod credentials;
mod error;
pub mod events;
mod exchange;
mod headers;
mod inbox;
mod param_header;
mod reach;
mod sse;
mod tls;
mod wire;

use std::sync::Arc;

use http::StatusCode;
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{ConnectOptions, Connection, Keep, Parts, session_of};
use super::handshake::HandshakeError;
use super::lines::LineRing;
use super::negotiate::{Agreed, Era, Ground, Plan, negotiate};
use super::signals::Signals;
use super::traverse::seconds;
use crate::domain::{Failure, FailureKind, HttpConfig, HttpFlavour, ProtocolChoice, TransportKind};
use caller::Caller;
pub(super) use caller::EVENT_STREAM;
pub(super) use challenge::challenge;
use credentials::Credentials;
use error::HttpFailure;
pub(super) use param_header::misfit;
pub use reach::leads_to;
use sse::SseWire;
pub(super) use tls::client as http_client;
use wire::HttpWire;

/// Calls the server and shakes hands; see [`Connection::open`].
pub(super) async fn open(
    config: &HttpConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    keep: Keep,
    cancel: &CancellationToken,
) -> Option<Result<Connection, Failure>> {
    let outcome = tokio::select! {
        outcome = timeout(options.connect_timeout, connect(config, options, lines, keep)) => outcome,
        () = cancel.cancelled() => return None,
    };
    let outcome = outcome.unwrap_or_else(|_| {
        let within = seconds(options.connect_timeout);
        Err(Failure::new(
            FailureKind::Timeout,
            format!("no answer to the handshake within {within}"),
        ))
    });
    Some(outcome.map_err(|failure| at(config, &failure)))
}

async fn connect(
    config: &HttpConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    keep: Keep,
) -> Result<Connection, Failure> {
    let started = Instant::now();
    let mut remote = Remote::new(config, options, lines).await?;
    if config.flavour == HttpFlavour::Sse {
        return remote.open_sse(started, keep).await;
    }
    let plan = Plan {
        choice: options.protocol,
        known: options.known_era,
        probe_timeout: None,
        deadline: started + options.connect_timeout,
    };
    let failure = match negotiate(&mut remote, plan).await {
        Ok(agreed) => {
            // Without `initialize` a stream is asked for by `subscriptions/listen`.
            let awaits_stream = agreed.era == Era::Legacy && options.listens;
            let parts = remote.parts(agreed, started, TransportKind::Http, awaits_stream, keep);
            return Ok(Connection::establish(remote.transport, parts));
        }
        Err(error) => remote.judge(error),
    };
    // What is left of a handshake that got half-way.
    let _ = remote.transport.close().await;
    // Only `initialize` can have ended so: `server/discover` would have led to it.
    let may_be_older = config.flavour == HttpFlavour::Auto
        && options.protocol != ProtocolChoice::Modern
        && failure.status.is_some_and(|status| {
            matches!(
                status,
                StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
            )
        });
    if may_be_older {
        remote.renew_wire();
        if let Ok(wire) = SseWire::open(&remote.caller, &remote.signals, lines).await {
            return remote.shake_hands(wire, started, keep).await;
        }
    }
    Err(failure.failure)
}

/// A remote server during its handshakes.
struct Remote<'a> {
    options: &'a ConnectOptions,
    lines: &'a Arc<LineRing>,
    signals: Arc<Signals>,
    caller: Caller,
    transport: HttpWire,
}

impl<'a> Remote<'a> {
    async fn new(
        config: &HttpConfig,
        options: &'a ConnectOptions,
        lines: &'a Arc<LineRing>,
    ) -> Result<Self, Failure> {
        let credentials = Arc::new(Credentials::new(
            config,
            options.logins.clone(),
            options.mask.clone(),
        )?);
        let signals = Arc::new(Signals::default());
        let client = tls::client(&config.url).await?;
        let caller = Caller::new(client, &config.url, credentials, Arc::clone(&signals))?;
        let transport = wire(&caller, &signals, lines, options);
        Ok(Self {
            options,
            lines,
            signals,
            caller,
            transport,
        })
    }

    /// Another transport with signals of its own, over the same HTTP client.
    fn renew_wire(&mut self) {
        self.signals = Arc::new(Signals::default());
        self.caller = self.caller.signalling(Arc::clone(&self.signals));
        self.transport = wire(&self.caller, &self.signals, self.lines, self.options);
    }

    /// The failure of a handshake, with the status where there was one.
    fn judge(&self, error: HandshakeError) -> HttpFailure {
        match error {
            HandshakeError::Refused(failure) | HandshakeError::Told(failure) => {
                // Nothing was open that could have been closed.
                let kind = match failure.kind {
                    FailureKind::Closed => FailureKind::Connect,
                    kind => kind,
                };
                Failure { kind, ..failure }.into()
            }
            HandshakeError::Send(error) => match error.downcast::<HttpFailure>() {
                Ok(failure) => *failure,
                Err(error) => HttpFailure::new(FailureKind::Connect, error.to_string()),
            },
            HandshakeError::Ended => self.signals.cause().map_or_else(
                || {
                    HttpFailure::new(
                        FailureKind::Connect,
                        "the connection closed during the handshake",
                    )
                },
                |cause| match cause.kind {
                    FailureKind::Closed => {
                        HttpFailure::new(FailureKind::Connect, Arc::clone(&cause.message))
                    }
                    _ => cause.into(),
                },
            ),
        }
    }

    /// Opens the older transport, which is what the config asks for.
    async fn open_sse(self, started: Instant, keep: Keep) -> Result<Connection, Failure> {
        let wire = SseWire::open(&self.caller, &self.signals, self.lines).await;
        self.shake_hands(wire.map_err(|failure| failure.failure)?, started, keep)
            .await
    }

    async fn shake_hands(
        self,
        wire: SseWire,
        started: Instant,
        keep: Keep,
    ) -> Result<Connection, Failure> {
        let mut ground = Opened(wire);
        let plan = Plan {
            choice: ProtocolChoice::Legacy,
            known: None,
            probe_timeout: None,
            deadline: started + self.options.connect_timeout,
        };
        match negotiate(&mut ground, plan).await {
            Ok(agreed) => {
                let parts = self.parts(agreed, started, TransportKind::Sse, false, keep);
                Ok(Connection::establish(ground.0, parts))
            }
            Err(error) => Err(self.judge(error).failure),
        }
    }

    fn parts(
        &self,
        agreed: Agreed,
        started: Instant,
        transport: TransportKind,
        awaits_stream: bool,
        keep: Keep,
    ) -> Parts {
        Parts {
            session: session_of(agreed, started),
            signals: Arc::clone(&self.signals),
            lines: Arc::clone(self.lines),
            first_line: self.lines.last_seq(),
            process: None,
            request_timeout: self.options.request_timeout,
            command: None,
            keep,
            transport,
            awaits_stream,
        }
    }
}

fn wire(
    caller: &Caller,
    signals: &Arc<Signals>,
    lines: &Arc<LineRing>,
    options: &ConnectOptions,
) -> HttpWire {
    HttpWire::new(
        caller.clone(),
        Arc::clone(signals),
        Arc::clone(lines),
        options.listens,
    )
}

impl Ground for Remote<'_> {
    type Transport = HttpWire;

    const FRESH_FOR_INITIALIZE: bool = false;

    fn may_initialize_after(&self, error: &HandshakeError) -> bool {
        let HandshakeError::Send(error) = error else {
            return false;
        };
        let status = error
            .downcast_ref::<HttpFailure>()
            .and_then(|failure| failure.status);
        status.is_some_and(|status| {
            status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 408 | 429)
        })
    }

    fn transport(&mut self) -> &mut HttpWire {
        &mut self.transport
    }

    async fn renew(&mut self) -> Result<(), HandshakeError> {
        self.renew_wire();
        Ok(())
    }

    async fn explain(&mut self, error: HandshakeError) -> Failure {
        self.judge(error).failure
    }
}

/// A transport that is open and cannot be got again.
struct Opened<T>(T);

impl<T: Transport<RoleClient>> Ground for Opened<T> {
    type Transport = T;

    const FRESH_FOR_INITIALIZE: bool = false;

    fn may_initialize_after(&self, _error: &HandshakeError) -> bool {
        false
    }

    fn transport(&mut self) -> &mut T {
        &mut self.0
    }

    async fn renew(&mut self) -> Result<(), HandshakeError> {
        Err(HandshakeError::Ended)
    }

    async fn explain(&mut self, error: HandshakeError) -> Failure {
        match error {
            HandshakeError::Refused(failure) | HandshakeError::Told(failure) => failure,
            HandshakeError::Ended | HandshakeError::Send(_) => Failure::new(
                FailureKind::Connect,
                "the connection closed during the handshake",
            ),
        }
    }
}

/// The failure with the URL in front.
fn at(config: &HttpConfig, failure: &Failure) -> Failure {
    Failure::new(failure.kind, format!("{}: {failure}", shown(&config.url)))
}

/// The URL without what may be a secret: user, password, query and fragment.
pub(super) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        let check = |url, expected: &str| assert_eq!(shown(url), expected);
        check("https://a.example/mcp?key=1#x", "https://a.example/mcp");
        check("https://me:pw@a.example:8/mcp", "https://a.example:8/mcp");
        check("http://a.example", "http://a.example");
        check("no url", "no url");
    }
}
