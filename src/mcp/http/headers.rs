//! The headers of a request: those of the protocol, and those of the config, which never win.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::domain::{Failure, FailureKind, Secret};

/// The session (MCP 2025-11-25, transports, session management).
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// What a stream is resumed after (WHATWG HTML, server-sent events).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The version that was agreed on.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of the message (MCP 2026-07-28, transports, standard headers).
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The name or URI that the request is about.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers that belong to the transport: configured ones of these names are not sent.
const RESERVED: [HeaderName; 10] = [
    SESSION_ID,
    LAST_EVENT_ID,
    PROTOCOL_VERSION,
    METHOD,
    NAME,
    ACCEPT,
    CONTENT_TYPE,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    HOST,
];

/// The headers of pairs, checked; those that belong to the transport are left out.
///
/// # Errors
///
/// A name or value that HTTP does not allow: kind `config`.
pub fn configured<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a Secret)>,
) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let bad = |what: &str| {
            Failure::new(
                FailureKind::Config,
                format!("the {what} of the header {name} is not allowed in HTTP"),
            )
        };
        let key = HeaderName::try_from(name).map_err(|_| bad("name"))?;
        let mut text = HeaderValue::try_from(value.expose()).map_err(|_| bad("value"))?;
        text.set_sensitive(true);
        if RESERVED.contains(&key) {
            tracing::warn!(header = %key, "a configured header belongs to the transport and is not sent");
            continue;
        }
        headers.append(key, text);
    }
    Ok(headers)
}

/// The value of `Mcp-Name`: as it is, or in Base64 where HTTP would change it
/// (MCP 2026-07-28, transports, value encoding).
#[must_use]
pub fn name_value(name: &str) -> Option<HeaderValue> {
    const PREFIX: &str = "=?base64?";
    const SUFFIX: &str = "?=";
    let changed = name.bytes().any(|byte| !(0x20..=0x7e).contains(&byte))
        || name.starts_with(' ')
        || name.ends_with(' ')
        || (name.starts_with(PREFIX) && name.ends_with(SUFFIX));
    let text = if changed {
        format!("{PREFIX}{}{SUFFIX}", BASE64_STANDARD.encode(name))
    } else {
        name.to_owned()
    };
    HeaderValue::try_from(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_http_would_change_travel_in_base64() {
        let check = |name, expected: &str| assert_eq!(name_value(name).unwrap(), expected);
        check("file:///a b", "file:///a b");
        check(" a", "=?base64?IGE=?=");
        check("ä", "=?base64?w6Q=?=");
        check("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=");
    }

    #[test]
    fn configured_headers_never_override_those_of_the_transport() {
        let value = Secret::new("x");
        let pairs = [
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "mcp-method",
            "Accept",
            "X-Mine",
        ];
        let headers = configured(pairs.map(|name| (name, &value))).unwrap();
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["x-mine"]);
        let bad = Secret::new("a\nb");
        let failure = configured([("A", &bad)]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Config);
        assert_eq!(
            &*failure.message,
            "the value of the header A is not allowed in HTTP"
        );
    }
}
