//! What can go wrong over HTTP, in the words of a person who has to mend it.

use std::error::Error as StdError;
use std::sync::Arc;

use http::StatusCode;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::domain::{Failure, FailureKind};

/// A failure as an error of rmcp's HTTP transport.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{failure}")]
pub struct HttpFailure {
    /// What a person is told.
    pub failure: Failure,
    /// The status, if the server answered with one that ends the request.
    pub status: Option<StatusCode>,
}

impl HttpFailure {
    fn new(kind: FailureKind, message: impl Into<Arc<str>>) -> Self {
        Self {
            failure: Failure::new(kind, message),
            status: None,
        }
    }

    /// A failure to reach the server or to read what it sent.
    pub fn of(error: &reqwest::Error) -> Self {
        Self::new(FailureKind::Connect, describe(error))
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
            429 => (
                FailureKind::Connect,
                retry_after
                    .map_or_else(String::new, |after| format!("; try again after {after} s")),
            ),
            _ => (FailureKind::Connect, String::new()),
        };
        Self {
            status: Some(status),
            ..Self::new(kind, format!("HTTP {code} {reason}{advice}"))
        }
    }

    /// A body that is no message.
    pub fn content_type(content_type: Option<&str>) -> Self {
        let what = match content_type.map(|text| text.split(';').next().unwrap_or(text).trim()) {
            Some("text/html") => "a web page was answered, not an MCP message".to_owned(),
            Some(other) => format!("{other} was answered, not an MCP message"),
            None => "the answer has no content type".to_owned(),
        };
        Self::new(FailureKind::Connect, format!("{what}; check the URL"))
    }

    /// A body or event over the limit.
    pub fn too_large() -> Self {
        Self::new(FailureKind::Malformed, "the answer has more than 16 MiB")
    }
}

/// The innermost cause says what happened; what wraps it only says that something did.
fn describe(error: &reqwest::Error) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    if error.is_connect() {
        format!("could not connect: {text}")
    } else if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        text
    }
}

/// The failure inside an error of rmcp's transport; `None` where the transport has just ended.
#[must_use]
pub fn explain(error: &DynamicTransportError) -> Option<Failure> {
    let error: &(dyn StdError + 'static) = error.error.as_ref();
    let http = error.downcast_ref::<StreamableHttpError<HttpFailure>>()?;
    match http {
        StreamableHttpError::Client(failure) => Some(failure.failure.clone()),
        StreamableHttpError::SessionExpired => Some(Failure::new(
            FailureKind::Closed,
            "the server has forgotten the session",
        )),
        StreamableHttpError::TransportChannelClosed => None,
        other => Some(Failure::new(FailureKind::Connect, other.to_string())),
    }
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
        check(
            401,
            None,
            FailureKind::Auth,
            "HTTP 401 Unauthorized; a log-in or a token is needed",
        );
        check(
            404,
            None,
            FailureKind::Connect,
            "HTTP 404 Not Found; no MCP endpoint is at this URL",
        );
        check(
            429,
            Some("7"),
            FailureKind::Connect,
            "HTTP 429 Too Many Requests; try again after 7 s",
        );
        check(
            503,
            None,
            FailureKind::Connect,
            "HTTP 503 Service Unavailable",
        );
        let page = HttpFailure::content_type(Some("text/html; charset=utf-8")).failure;
        assert_eq!(
            &*page.message,
            "a web page was answered, not an MCP message; check the URL"
        );
    }
}
