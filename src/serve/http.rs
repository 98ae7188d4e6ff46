//! Serving over Streamable HTTP at `/mcp`.
//!
//! Before a request is looked at, its Host and Origin have to be ours (a web page must not reach
//! us through a name that it controls) and its bearer token right. Sessions, and the bytes of a
//! request, are bounded.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::sessions::{REFUSED, SESSIONS, Sessions};
use super::{REQUEST, ServeError, connections, hex, random};

/// How HTTP is served.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Whether an address may be listened to that others can reach.
    pub allow_remote: bool,
    /// The bearer token; a new one is made and told on stderr where there is none.
    pub token: Option<String>,
}

/// The bearer token that an environment variable has.
///
/// # Errors
///
/// [`ServeError::Token`] where there is none that can stand in a header.
pub fn token(variable: &str) -> Result<String, ServeError> {
    let value = std::env::var(variable).unwrap_or_default();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ServeError::Token(variable.to_owned()));
    }
    Ok(value)
}

/// A place that is listened to.
#[derive(Debug)]
pub(super) struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

impl Listening {
    /// Listens, and tells on stderr where, and with which token if it was made here.
    pub(super) async fn start(options: &HttpOptions) -> Result<Self, ServeError> {
        let address = options.address;
        if !address.ip().is_loopback() && !options.allow_remote {
            return Err(ServeError::Remote(address));
        }
        let fails = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(fails)?;
        let address = listener.local_addr().map_err(fails)?;
        let mut said = format!("mcpdeck: serving on http://{address}/mcp\n");
        let token = if let Some(token) = &options.token {
            token.clone()
        } else {
            let token = hex(&random::<32>().map_err(ServeError::System)?);
            said.push_str("mcpdeck: bearer token: ");
            said.push_str(&token);
            said.push('\n');
            token
        };
        // If nobody reads it, there is nobody to tell.
        let _ = io::stderr().lock().write_all(said.as_bytes());
        Ok(Self {
            listener,
            address,
            token,
        })
    }

    /// Where.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `end`.
    pub(super) async fn serve(self, handler: Handler, end: CancellationToken) {
        let config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(REQUEST)
            .with_cancellation_token(end.child_token())
            // The door below is stricter.
            .disable_allowed_hosts();
        let factory = move || Ok(handler.clone());
        let service = StreamableHttpService::new(factory, Arc::new(Sessions::default()), config);
        let door = Arc::new(Door {
            address: self.address,
            token: self.token,
        });
        let router = Router::new()
            .route_service("/mcp", service)
            .layer(middleware::from_fn_with_state(door, guard));
        connections::serve(self.listener, router, end).await;
    }
}

/// What a request has to have.
#[derive(Debug)]
struct Door {
    address: SocketAddr,
    token: String,
}

async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = door.check(request.headers()) {
        return refusal.into_response();
    }
    REFUSED
        .scope(Cell::new(false), async {
            let response = next.run(request).await;
            if REFUSED.with(Cell::get) {
                let message = format!("{SESSIONS} sessions are open already; end one first");
                return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
            }
            response
        })
        .await
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
    Token,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Host => (StatusCode::FORBIDDEN, "the Host is not ours").into_response(),
            Self::Origin => (StatusCode::FORBIDDEN, "the Origin is not ours").into_response(),
            Self::Token => {
                let challenge = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
                let message = "the bearer token is missing or wrong";
                (StatusCode::UNAUTHORIZED, challenge, message).into_response()
            }
        }
    }
}

impl Door {
    fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, &HOST).ok_or(Refusal::Host)?;
        if !self.is_ours(host) {
            return Err(Refusal::Host);
        }
        // A page that we serve would be of the same origin; we serve none, so this lets in
        // clients alone that name us as their origin.
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) {
                return Err(Refusal::Origin);
            }
        }
        let given = only(headers, &AUTHORIZATION).and_then(|value| value.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let given = given.map(|(_, token)| token.trim()).unwrap_or_default();
        if bool::from(given.as_bytes().ct_eq(self.token.as_bytes())) {
            Ok(())
        } else {
            Err(Refusal::Token)
        }
    }

    /// Whether the host is one under which a client reaches us: an address, as no web page can
    /// make one lead elsewhere, or this machine's own name for itself. Where others may reach us,
    /// any address will do.
    fn is_ours(&self, host: &str) -> bool {
        let Ok(host) = host.parse::<Authority>() else {
            return false;
        };
        if host.port_u16().unwrap_or(80) != self.address.port() {
            return false;
        }
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        match name.parse::<IpAddr>() {
            Ok(address) if self.address.ip().is_loopback() => address.is_loopback(),
            Ok(_) => true,
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// The value of a header that stands there once.
fn only<'a>(headers: &'a HeaderMap, name: &axum::http::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        address: &str,
        headers: &[(&'static str, &'static str)],
        expected: Result<(), Refusal>,
    ) {
        let door = Door {
            address: address.parse().unwrap(),
            token: "secret".to_owned(),
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        assert_eq!(door.check(&map), expected, "{headers:?}");
    }

    const TOKEN: (&str, &str) = ("authorization", "Bearer secret");

    #[test]
    fn only_our_own_hosts_are_let_in() {
        let host = |address, host, expected| check(address, &[("host", host), TOKEN], expected);
        host("127.0.0.1:7000", "127.0.0.1:7000", Ok(()));
        host("127.0.0.1:7000", "localhost:7000", Ok(()));
        host("127.0.0.1:7000", "LOCALHOST:7000", Ok(()));
        host("[::1]:7000", "[::1]:7000", Ok(()));
        host("127.0.0.1:80", "localhost", Ok(()));
        host("0.0.0.0:7000", "192.168.1.7:7000", Ok(()));
        let no = Err(Refusal::Host);
        host("127.0.0.1:7000", "127.0.0.1:7001", no);
        host("127.0.0.1:7000", "127.0.0.1", no);
        host("127.0.0.1:7000", "evil.example:7000", no);
        host("127.0.0.1:7000", "localhost.evil.example:7000", no);
        host("127.0.0.1:7000", "192.168.1.7:7000", no);
        host("0.0.0.0:7000", "evil.example:7000", no);
        host("127.0.0.1:7000", "", no);
        check("127.0.0.1:7000", &[TOKEN], no);
        let twice = [("host", "127.0.0.1:7000"), ("host", "evil.example"), TOKEN];
        check("127.0.0.1:7000", &twice, no);
    }

    #[test]
    fn a_foreign_origin_is_refused() {
        let origin = |origin, expected| {
            let headers = [("host", "localhost:7000"), ("origin", origin), TOKEN];
            check("127.0.0.1:7000", &headers, expected);
        };
        origin("http://localhost:7000", Ok(()));
        let no = Err(Refusal::Origin);
        origin("http://localhost:7001", no);
        origin("https://localhost:7000", no);
        origin("http://evil.example", no);
        origin("null", no);
        origin("", no);
    }

    #[test]
    fn the_token_is_needed() {
        let token = |value, expected| {
            let headers = [("host", "localhost:7000"), ("authorization", value)];
            check("127.0.0.1:7000", &headers, expected);
        };
        token("Bearer secret", Ok(()));
        token("bearer secret", Ok(()));
        let no = Err(Refusal::Token);
        token("Bearer secret2", no);
        token("Bearer secre", no);
        token("Bearer ", no);
        token("Basic secret", no);
        token("secret", no);
        check("127.0.0.1:7000", &[("host", "localhost:7000")], no);
    }
}
