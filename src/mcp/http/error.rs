//! What can go wrong over HTTP, in the words of a person who has to mend it.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use http::StatusCode;

use crate::domain::{Failure, FailureKind, text};

/// A failure of a request.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{failure}")]
pub struct HttpFailure {
    /// What a person is told.
    pub failure: Failure,
    /// The status, if the server answered with one that ends the request.
    pub status: Option<StatusCode>,
    /// Whether the server could not be reached at all.
    pub unreachable: bool,
}

impl HttpFailure {
    /// A failure without a status.
    pub fn new(kind: FailureKind, message: impl Into<Arc<str>>) -> Self {
        Self::from(Failure::new(kind, message))
    }

    /// A failure to reach the server or to read what it sent.
    pub fn of(error: &reqwest::Error) -> Self {
        Self {
            unreachable: error.is_connect(),
            ..Self::new(FailureKind::Connect, describe(error))
        }
    }

    /// An HTTP status that ends the request.
    pub fn status(status: StatusCode, retry_after: Option<&str>) -> Self {
        let reason = status.canonical_reason().unwrap_or("unknown status");
        let code = status.as_u16();
        let (kind, advice) = match code {
            401 => (
                FailureKind::Auth,
                "; a log-in or a token is needed".to_owned(),
            ),
            403 => (
                FailureKind::Auth,
                "; the log-in or token is not allowed to do this".to_owned(),
            ),
            404 => (
                FailureKind::Connect,
                "; no MCP endpoint is at this URL".to_owned(),
            ),
            429 | 503 => (
                FailureKind::Connect,
                retry_after.map_or_else(String::new, |after| format!("; {}", wait(after))),
            ),
            _ => (FailureKind::Connect, String::new()),
        };
        Self {
            status: Some(status),
            ..Self::new(kind, format!("HTTP {code} {reason}{advice}"))
        }
    }

    /// The same with the words of the server behind it.
    pub fn saying(self, words: &str) -> Self {
        if words.trim().is_empty() {
            return self;
        }
        let message = format!("{}; the server says: {words}", self.failure.message);
        Self {
            failure: Failure::new(self.failure.kind, message),
            ..self
        }
    }

    /// The same with a web page as its body: where a site refuses a POST, there is no server.
    pub fn page(status: StatusCode, retry_after: Option<&str>) -> Self {
        let code = status.as_u16();
        let failure = Self::status(status, retry_after);
        let refuses_post = matches!(code, 400 | 405 | 406 | 411 | 415 | 501);
        if !refuses_post {
            return failure;
        }
        let message = format!(
            "{}; a web page is at this URL, not an MCP server",
            failure.failure.message
        );
        Self {
            failure: Failure::new(failure.failure.kind, message),
            ..failure
        }
    }

    /// The log-in is good, but not for this.
    pub fn missing_scopes(scopes: &[String]) -> Self {
        let scopes = text::error_text(&scopes.join(" "));
        Self {
            status: Some(StatusCode::FORBIDDEN),
            ..Self::new(
                FailureKind::Auth,
                format!("HTTP 403 Forbidden; the log-in lacks a scope ({scopes}); log in again"),
            )
        }
    }

    /// A redirect that is not followed.
    pub fn redirect(status: StatusCode, target: &str) -> Self {
        let code = status.as_u16();
        let target = text::error_text(target);
        Self {
            status: Some(status),
            ..Self::new(
                FailureKind::Connect,
                format!(
                    "HTTP {code}: the server redirects to {target}, which is another place; if you trust it, use that URL"
                ),
            )
        }
    }

    /// A body that is no message.
    pub fn content_type(content_type: Option<&str>) -> Self {
        let what = match content_type {
            Some("text/html" | "application/xhtml+xml") => {
                "a web page was answered, not an MCP message".to_owned()
            }
            Some(other) => format!(
                "{} was answered, not an MCP message",
                text::error_text(other)
            ),
            None => "the answer has no content type and is no MCP message".to_owned(),
        };
        Self::new(FailureKind::Connect, format!("{what}; check the URL"))
    }

    /// A body or event over the limit.
    pub fn too_large() -> Self {
        Self::new(FailureKind::Malformed, "the answer has more than 16 MiB")
    }

    /// The stream or body ended before the answer came.
    pub fn broke_off() -> Self {
        Self::new(
            FailureKind::Closed,
            "the connection broke off before the answer came",
        )
    }
}

impl From<Failure> for HttpFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            status: None,
            unreachable: false,
        }
    }
}

/// The value of `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
fn wait(after: &str) -> String {
    let after = text::error_text(after.trim());
    match after.parse::<u64>() {
        Ok(seconds) => format!("try again after {seconds} s"),
        Err(_) => format!("try again after {after}"),
    }
}

/// Whether a connection that was open ended before anything of the response had come.
pub fn has_died(error: &reqwest::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let is_end = |cause: &(dyn StdError + 'static)| {
        let ended = cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(|error| error.is_incomplete_message() || error.is_canceled());
        let cut = cause.downcast_ref::<io::Error>().is_some_and(|error| {
            let kind = error.kind();
            matches!(
                kind,
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
            )
        });
        ended || cut
    };
    !error.is_connect() && causes(error).any(is_end)
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn StdError + 'static)| {
        (*cause).source()
    })
}

/// The cause that a person can do something about.
fn describe(error: &reqwest::Error) -> String {
    let causes = || causes(error);
    let host = error.url().and_then(|url| {
        url.host_str()
            .map(|host| (host, url.port_or_known_default()))
    });
    let place = match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "the server".to_owned(),
    };
    let innermost = causes()
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string);
    if let Some(tls) = causes().find_map(tls_error) {
        return format!(
            "TLS failed with {place}: {tls}; trusted are the certificates of the system, or those of SSL_CERT_FILE"
        );
    }
    if causes().any(|cause| cause.to_string() == "dns error") {
        let host = host.map_or(place.as_str(), |(host, _)| host);
        return format!("no address was found for {host}: {innermost}");
    }
    let kind = causes()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .last();
    match kind {
        Some(io::ErrorKind::ConnectionRefused) => {
            format!("connection refused: nothing listens at {place}")
        }
        Some(io::ErrorKind::TimedOut) => format!("{place} does not answer"),
        _ if error.is_timeout() => format!("{place} does not answer"),
        _ if error.is_connect() => format!("could not connect to {place}: {innermost}"),
        _ => innermost,
    }
}

/// rustls puts its errors inside I/O errors, even twice, whose `source` passes over them.
fn tls_error<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    cause
        .downcast_ref::<rustls::Error>()
        .or_else(|| tls_error(cause.downcast_ref::<io::Error>()?.get_ref()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_say_what_to_do() {
        let check = |code: u16, retry, kind, message: &str| {
            let failure = HttpFailure::status(StatusCode::from_u16(code).unwrap(), retry).failure;
            assert_eq!((failure.kind, &*failure.message), (kind, message));
        };
        let connect = FailureKind::Connect;
        check(
            401,
            None,
            FailureKind::Auth,
            "HTTP 401 Unauthorized; a log-in or a token is needed",
        );
        check(
            404,
            None,
            connect,
            "HTTP 404 Not Found; no MCP endpoint is at this URL",
        );
        check(
            429,
            Some("7"),
            connect,
            "HTTP 429 Too Many Requests; try again after 7 s",
        );
        check(
            429,
            Some("Wed, 21 Oct 2026 07:28:00 GMT"),
            connect,
            "HTTP 429 Too Many Requests; try again after Wed, 21 Oct 2026 07:28:00 GMT",
        );
        check(503, None, connect, "HTTP 503 Service Unavailable");
    }

    #[test]
    fn a_site_that_refuses_a_post_is_no_server() {
        let check = |code: u16, message: &str| {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(&*HttpFailure::page(status, None).failure.message, message);
        };
        check(
            405,
            "HTTP 405 Method Not Allowed; a web page is at this URL, not an MCP server",
        );
        check(404, "HTTP 404 Not Found; no MCP endpoint is at this URL");
        check(502, "HTTP 502 Bad Gateway");
    }

    #[test]
    fn what_is_no_message_is_named() {
        let check = |content_type, message: &str| {
            let failure = HttpFailure::content_type(content_type).failure;
            assert_eq!(&*failure.message, message);
        };
        check(
            Some("text/html"),
            "a web page was answered, not an MCP message; check the URL",
        );
        check(
            Some("text/plain"),
            "text/plain was answered, not an MCP message; check the URL",
        );
        check(
            None,
            "the answer has no content type and is no MCP message; check the URL",
        );
    }
}
