//! Sends HTTP requests to one server: with credentials, over redirects within its origin, and with
//! a second try where the credentials were out of date, or a connection that was kept has died.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::{Response, Url};

use super::challenge::missing_scopes;
use super::credentials::Credentials;
use super::error::{HttpFailure, has_died};
use super::{shown, tls};
use crate::domain::{Failure, FailureKind};
use crate::mcp::read::MAX_LINE;
use crate::mcp::signals::Signals;

/// JSON (RFC 8259).
pub const JSON: &str = "application/json";
/// Server-sent events (WHATWG HTML).
pub const EVENT_STREAM: &str = "text/event-stream";

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// Calls one server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Caller {
    client: reqwest::Client,
    url: Url,
    credentials: Arc<Credentials>,
    signals: Arc<Signals>,
    /// Whether the server has answered, so that connections to it may be kept.
    answered: Arc<AtomicBool>,
}

/// Whether a request may come to the server twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// It changes nothing there.
    Harmless,
    /// It begins a session.
    Never,
}

impl Caller {
    /// A caller of the URL, which tells the signals when the server cannot be reached.
    ///
    /// # Errors
    ///
    /// The URL is none.
    pub fn new(
        client: reqwest::Client,
        url: &str,
        credentials: Arc<Credentials>,
        signals: Arc<Signals>,
    ) -> Result<Self, Failure> {
        let url = url.parse::<Url>().ok().filter(Url::has_host);
        let url = url.ok_or_else(|| Failure::new(FailureKind::Config, "the URL is not valid"))?;
        Ok(Self {
            client,
            url,
            credentials,
            signals,
            answered: Arc::default(),
        })
    }

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The same caller, which tells other signals.
    pub fn signalling(&self, signals: Arc<Signals>) -> Self {
        Self {
            signals,
            ..self.clone()
        }
    }

    /// The same caller for another URL of the origin.
    pub fn at(&self, url: Url) -> Self {
        Self {
            url,
            ..self.clone()
        }
    }

    /// Sends a request that may come to the server twice: one that dies on a kept connection
    /// before any answer is sent once more, on a new one. Headers given here win over those of the
    /// credentials.
    ///
    /// # Errors
    ///
    /// The server was not reached, or has redirected us elsewhere. Every other status is an answer.
    pub async fn send(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<&Bytes>,
    ) -> Result<Response, HttpFailure> {
        self.present(method, headers, body, Repeat::Harmless).await
    }

    /// As [`send`](Self::send), but the server gets the request once at most.
    ///
    /// # Errors
    ///
    /// See [`send`](Self::send).
    pub async fn send_once(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<&Bytes>,
    ) -> Result<Response, HttpFailure> {
        self.present(method, headers, body, Repeat::Never).await
    }

    async fn present(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<&Bytes>,
        repeat: Repeat,
    ) -> Result<Response, HttpFailure> {
        let presented = self.credentials.present().await?;
        let response = self
            .deliver(method, &presented.headers, headers, body, repeat)
            .await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && self.credentials.renew(&presented).await?
        {
            let presented = self.credentials.present().await?;
            return self
                .deliver(method, &presented.headers, headers, body, repeat)
                .await;
        }
        if let Some(scopes) = missing_scopes(&response) {
            self.credentials.lacks(scopes).await;
        }
        Ok(response)
    }

    async fn deliver(
        &self,
        method: &Method,
        credentials: &HeaderMap,
        headers: &HeaderMap,
        body: Option<&Bytes>,
        repeat: Repeat,
    ) -> Result<Response, HttpFailure> {
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut all = credentials.clone();
            for (name, value) in headers {
                all.insert(name, value.clone());
            }
            let request = |client: &reqwest::Client| {
                let request = client
                    .request(method.clone(), url.clone())
                    .headers(all.clone());
                match body {
                    Some(body) => request
                        .header(CONTENT_TYPE, HeaderValue::from_static(JSON))
                        .body(body.clone()),
                    None => request,
                }
            };
            let may_be_kept = self.answered.load(Ordering::Relaxed);
            let mut answer = request(&self.client).send().await;
            if may_be_kept && repeat == Repeat::Harmless && answer.as_ref().is_err_and(has_died) {
                // Other connections that were kept may have died with it.
                let unused = tls::client(url.as_str()).await?;
                answer = request(&unused).send().await;
            }
            let response = answer.map_err(|error| self.failed(&error))?;
            self.answered.store(true, Ordering::Relaxed);
            let status = response.status();
            let Some(target) = redirect(&response) else {
                return Ok(response);
            };
            // Elsewhere our headers have no business.
            if target.origin() != url.origin() {
                return Err(HttpFailure::redirect(status, &shown(target.as_str())));
            }
            url = target;
        }
        Err(HttpFailure::new(
            FailureKind::Connect,
            format!("the server redirected more than {MAX_REDIRECTS} times"),
        ))
    }

    /// A server that cannot be reached is gone, whichever request finds it out.
    fn failed(&self, error: &reqwest::Error) -> HttpFailure {
        let failure = HttpFailure::of(error);
        if failure.unreachable {
            self.signals.end(Some(Failure::new(
                FailureKind::Closed,
                Arc::clone(&failure.failure.message),
            )));
        }
        failure
    }
}

/// Where a redirect leads that keeps the method. A 303 asks for a GET, which is no answer to a
/// message.
fn redirect(response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    response.url().join(location).ok()
}

/// The failure of a status that is no success.
pub fn refusal(response: &Response) -> HttpFailure {
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let status = response.status();
    match (missing_scopes(response), media_type(response).as_deref()) {
        (Some(scopes), _) => HttpFailure::missing_scopes(&scopes),
        (None, Some("text/html" | "application/xhtml+xml")) => {
            HttpFailure::page(status, retry_after)
        }
        (None, _) => HttpFailure::status(status, retry_after),
    }
}

/// The media type, without its parameters, in lower case.
pub fn media_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next()?.trim();
    Some(essence.to_ascii_lowercase())
}

/// The whole body, which is bounded.
///
/// # Errors
///
/// It is too large (kind `malformed`), or broke off (kind `closed`).
pub async fn body(response: Response) -> Result<Vec<u8>, HttpFailure> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| HttpFailure::broke_off())?;
        if body.len() + chunk.len() > MAX_LINE {
            return Err(HttpFailure::too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
