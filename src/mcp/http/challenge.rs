//! What a server says to those who are not let in (RFC 6750, section 3).

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use reqwest::Response;
use serde_json::json;
use tokio::time::timeout;

use super::caller::{self, Caller};
use super::credentials::Credentials;
use super::headers::SESSION_ID;
use super::tls;
use super::wire::FAREWELL;
use crate::domain::server::Mask;
use crate::domain::{Failure, HttpConfig};
use crate::mcp::handshake::LEGACY_VERSIONS;
use crate::mcp::signals::Signals;

/// Asks the server as somebody who has not logged in; `None` where it lets them in.
///
/// # Errors
///
/// It cannot be reached, or answers with another status than 401.
pub async fn challenge(config: &HttpConfig, mask: &Mask) -> Result<Option<String>, Failure> {
    let client = tls::client(&config.url).await?;
    let credentials = Arc::new(Credentials::new(config, None, mask.clone())?);
    let caller = Caller::new(
        client,
        &config.url,
        credentials,
        Arc::new(Signals::default()),
    )?;
    let mut headers = HeaderMap::new();
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    let version = LEGACY_VERSIONS.last();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "mcpdeck", "version": env!("CARGO_PKG_VERSION")},
    }});
    let body = Bytes::from(body.to_string());
    let response = caller
        .send(&Method::POST, &headers, Some(&body))
        .await
        .map_err(|failure| failure.failure)?;
    if let Some(session) = response.headers().get(SESSION_ID).cloned() {
        // Nobody wants the session; whether the server forgets it is its own business.
        let session = [(SESSION_ID, session)].into_iter().collect();
        let _ = timeout(FAREWELL, caller.send(&Method::DELETE, &session, None)).await;
    }
    match response.status() {
        StatusCode::UNAUTHORIZED => Ok(Some(header(&response).unwrap_or_default())),
        // It lets people in, or is of the older transport, whose GET says more.
        status if status.is_success() || status.is_client_error() => {
            headers.insert(ACCEPT, HeaderValue::from_static(caller::EVENT_STREAM));
            let response = caller
                .send(&Method::GET, &headers, None)
                .await
                .map_err(|failure| failure.failure)?;
            let asks = response.status() == StatusCode::UNAUTHORIZED;
            Ok(asks.then(|| header(&response).unwrap_or_default()))
        }
        _ => Err(caller::refusal(&response).failure),
    }
}

/// The challenge of a response: of several the one that says most.
pub fn header(response: &Response) -> Option<String> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    texts.sort_by_key(|text| text.contains("resource_metadata") || text.contains("error="));
    texts.pop().map(str::to_owned)
}

/// The scopes that a 403 says are missing (RFC 6750, section 3.1, `insufficient_scope`).
pub fn missing_scopes(response: &Response) -> Option<Vec<String>> {
    if response.status() != StatusCode::FORBIDDEN {
        return None;
    }
    scopes_of(&header(response)?)
}

fn scopes_of(challenge: &str) -> Option<Vec<String>> {
    let parameter = |name: &str| {
        let (_, value) = challenge.split_once(&format!("{name}="))?;
        Some(match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => value.split([',', ' ']).next().unwrap_or_default(),
        })
    };
    if parameter("error")? != "insufficient_scope" {
        return None;
    }
    let scopes = parameter("scope").unwrap_or_default();
    Some(scopes.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_403_may_say_which_scopes_are_missing() {
        let check = |challenge, expected: Option<&[&str]>| {
            let expected = expected.map(|scopes| {
                scopes
                    .iter()
                    .map(|scope| (*scope).to_owned())
                    .collect::<Vec<_>>()
            });
            assert_eq!(scopes_of(challenge), expected, "{challenge}");
        };
        check(
            r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x""#,
            Some(&["a", "b"]),
        );
        check("Bearer error=insufficient_scope, scope=a", Some(&["a"]));
        check(r#"Bearer error="insufficient_scope""#, Some(&[]));
        check(r#"Bearer error="invalid_token""#, None);
        check("Basic realm=x", None);
    }
}
