//! Log-ins at remote servers (MCP 2026-07-28, authorization; OAuth 2.1): rmcp finds the
//! authorization server, checks it and exchanges codes and tokens; here is what a person and a
//! disk have to do with it.
//!
//! Nothing in here draws, asks or opens a browser: [`Login`] tells a URL and waits.

mod bearer;
mod callback;
mod client;
mod login;
mod store;

pub use bearer::Bearer;
pub use login::{Login, Redirected};
pub use store::{Saved, TokenStore};

use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationMetadata};
use serde_json::Value;

use crate::domain::server::Mask;
use crate::domain::{Failure, FailureKind, Secret, text};
use crate::mcp::http::shown;

/// The failure of an OAuth operation, in words of rmcp; a server's own words are sanitized, and
/// what is secret is hidden.
fn failed(what: &str, error: &AuthError, mask: &Mask) -> Failure {
    let kind = match error {
        AuthError::HttpError(_)
        | AuthError::DiscoveryRequestFailed { .. }
        | AuthError::TokenRefreshFailed(_)
        | AuthError::CredentialStoreError(_) => FailureKind::Connect,
        _ => FailureKind::Auth,
    };
    // A URL may hold what is secret.
    let message = match error {
        AuthError::DiscoveryRequestFailed { url, .. } => {
            format!(
                "OAuth metadata discovery failed for {}",
                shown(url.as_str())
            )
        }
        error => error.to_string(),
    };
    let mut message = text::error_text(&message);
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message.push_str(": ");
        message.push_str(&text::error_text(&inner.to_string()));
        cause = inner.source();
    }
    mask.failure(Failure::new(kind, format!("{what}: {message}")))
}

/// What is sent to a server over TLS is sent to its authorization server over TLS too (RFC 6749,
/// section 3.1), and a browser is sent nowhere but to a web page.
fn refuse_downgrade(server: &str, metadata: &AuthorizationMetadata) -> Result<(), AuthError> {
    let has_tls = server.to_ascii_lowercase().starts_with("https:");
    let endpoints = [
        Some(&metadata.authorization_endpoint),
        Some(&metadata.token_endpoint),
        metadata.registration_endpoint.as_ref(),
    ];
    for endpoint in endpoints.into_iter().flatten() {
        let scheme = Url::parse(endpoint)?.scheme().to_owned();
        if scheme != "https" && (has_tls || scheme != "http") {
            return Err(AuthError::MetadataError(format!(
                "{} is no https address",
                shown(endpoint)
            )));
        }
    }
    Ok(())
}

/// A text of a token answer, which rmcp's type tells only through a trait of another crate.
fn member(token: &impl serde::Serialize, name: &str) -> Option<Secret> {
    match serde_json::to_value(token).ok()?.get(name)? {
        Value::String(text) => Some(Secret::new(text.as_str())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_authorization_server_is_never_less_safe_than_the_server() {
        let check = |server, endpoint: &str, fits: bool| {
            for name in [
                "authorization_endpoint",
                "token_endpoint",
                "registration_endpoint",
            ] {
                let mut document = json!({
                    "authorization_endpoint": "https://as.example/authorize",
                    "token_endpoint": "https://as.example/token",
                });
                document[name] = json!(endpoint);
                let metadata = serde_json::from_value(document).unwrap();
                let outcome = refuse_downgrade(server, &metadata);
                assert_eq!(outcome.is_ok(), fits, "{server} {name} {endpoint}");
            }
        };
        check("https://a.example/mcp", "https://as.example/x", true);
        check("https://a.example/mcp", "http://as.example/x", false);
        check("http://127.0.0.1/mcp", "http://127.0.0.1:1/x", true);
        check("http://127.0.0.1/mcp", "https://as.example/x", true);
        check("http://127.0.0.1/mcp", "file:///etc/passwd", false);
        check("HTTPS://a.example/mcp", "javascript:alert(1)", false);
        check("https://a.example/mcp", "no url", false);
    }
}
