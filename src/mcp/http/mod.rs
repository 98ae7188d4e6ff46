//! Streamable HTTP (MCP 2025-11-25, transports): rmcp drives sessions, streams and resumption over
//! a client of ours that reads bodies and events the way the stdio transport reads lines.

mod client;
mod error;

use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{ConnectOptions, Connection, Keep, Parts, session_of};
use super::handshake::HandshakeError;
use super::lines::LineRing;
use super::negotiate::{Ground, Plan, negotiate};
use super::read::MAX_LINE;
use super::signals::Signals;
use super::traverse::seconds;
use crate::domain::{Failure, FailureKind, HttpConfig};
use client::HttpClient;
pub use error::explain;

/// Calls the server and shakes hands; see [`Connection::open`].
pub(super) async fn open(
    config: &HttpConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    keep: Keep,
    cancel: &CancellationToken,
) -> Option<Result<Connection, Failure>> {
    tokio::select! {
        outcome = timeout(options.connect_timeout, connect(config, options, lines, keep)) => {
            Some(outcome.unwrap_or_else(|_| Err(at(config, &Failure::new(
                FailureKind::Timeout,
                format!("no answer to initialize within {}", seconds(options.connect_timeout)),
            )))))
        }
        () = cancel.cancelled() => None,
    }
}

async fn connect(
    config: &HttpConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    keep: Keep,
) -> Result<Connection, Failure> {
    let started = Instant::now();
    let mut remote = Remote::new(config, lines)?;
    let plan = Plan {
        choice: options.protocol,
        known: options.known_era,
        probe_timeout: None,
    };
    match negotiate(&mut remote, plan).await {
        Ok(agreed) => Ok(Connection::establish(
            remote.transport,
            Parts {
                session: session_of(agreed, started),
                signals: remote.signals,
                lines: Arc::clone(lines),
                first_line: lines.last_seq(),
                process: None,
                request_timeout: options.request_timeout,
                command: None,
                keep,
            },
        )),
        Err(HandshakeError::Refused(failure)) => Err(at(config, &failure)),
        Err(HandshakeError::Ended | HandshakeError::Send(_)) => {
            let failure = remote.client.take_failure().unwrap_or_else(|| {
                Failure::new(
                    FailureKind::Connect,
                    "the connection closed during the handshake",
                )
            });
            Err(at(config, &failure))
        }
    }
}

/// A remote server during its handshakes.
struct Remote<'a> {
    config: &'a HttpConfig,
    lines: &'a Arc<LineRing>,
    signals: Arc<Signals>,
    client: HttpClient,
    transport: StreamableHttpClientTransport<HttpClient>,
}

impl<'a> Remote<'a> {
    fn new(config: &'a HttpConfig, lines: &'a Arc<LineRing>) -> Result<Self, Failure> {
        let signals = Arc::new(Signals::default());
        let client = HttpClient::new(Arc::clone(&signals), Arc::clone(lines))
            .map_err(|failure| at(config, &failure))?;
        let settings = StreamableHttpClientTransportConfig::with_uri(config.url.as_str())
            .custom_headers(headers(config)?)
            .max_sse_event_size(MAX_LINE)
            .max_json_response_size(MAX_LINE)
            .reinit_on_expired_session(false);
        Ok(Self {
            config,
            lines,
            signals,
            transport: StreamableHttpClientTransport::with_client(client.clone(), settings),
            client,
        })
    }
}

impl Ground for Remote<'_> {
    type Transport = StreamableHttpClientTransport<HttpClient>;

    /// rmcp's transport takes its era from the first message.
    const FRESH_FOR_INITIALIZE: bool = true;

    fn may_initialize_after(&self, _error: &HandshakeError) -> bool {
        self.client.probe_was_not_understood()
    }

    fn transport(&mut self) -> &mut Self::Transport {
        &mut self.transport
    }

    async fn renew(&mut self) -> Result<(), HandshakeError> {
        *self = Self::new(self.config, self.lines).map_err(HandshakeError::Refused)?;
        Ok(())
    }
}

/// The failure with the URL in front.
fn at(config: &HttpConfig, failure: &Failure) -> Failure {
    Failure::new(failure.kind, format!("{}: {failure}", shown(&config.url)))
}

/// The URL without what may be a secret: user, password, query and fragment.
fn shown(url: &str) -> String {
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

/// The configured headers, checked.
fn headers(config: &HttpConfig) -> Result<HashMap<HeaderName, HeaderValue>, Failure> {
    config
        .headers
        .iter()
        .map(|(name, value)| {
            let bad = |what: &str| {
                Failure::new(
                    FailureKind::Config,
                    format!("the {what} of the header {name} is not allowed in HTTP"),
                )
            };
            let key = HeaderName::try_from(name).map_err(|_| bad("name"))?;
            let mut text = HeaderValue::try_from(value.expose()).map_err(|_| bad("value"))?;
            text.set_sensitive(true);
            Ok((key, text))
        })
        .collect()
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
