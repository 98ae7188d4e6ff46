//! The HTTP client under rmcp's transport. It hands answers on as raw text ([`Reply`]), as the
//! stdio transport does, and takes notifications before rmcp sees them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use serde_json::json;
use sse_stream::{Sse, SseStream};

use super::error::HttpFailure;
use crate::domain::{Failure, FailureKind};
use crate::mcp::decode::handshake::InitializeReading;
use crate::mcp::envelope::{self, AnswerId, Inbound, Noise};
use crate::mcp::lines::LineRing;
use crate::mcp::read::MAX_LINE;
use crate::mcp::reply::Reply;
use crate::mcp::requests;
use crate::mcp::signals::Signals;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";

type HttpError = StreamableHttpError<HttpFailure>;

/// Calls one server.
#[derive(Debug, Clone)]
pub struct HttpClient {
    client: reqwest::Client,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    signals: Arc<Signals>,
    lines: Arc<LineRing>,
    /// Why the last request failed: rmcp's transport keeps it to itself during the handshake.
    failure: Mutex<Option<HttpFailure>>,
}

/// Which request an answer is expected for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    id: Option<i64>,
    initialize: bool,
    /// Whether it is `server/discover`, whose failure may lead to another question.
    discover: bool,
}

impl HttpClient {
    /// A client that follows redirects within one origin only and takes proxies from the environment.
    ///
    /// # Errors
    ///
    /// Why TLS cannot be set up.
    pub fn new(signals: Arc<Signals>, lines: Arc<LineRing>) -> Result<Self, Failure> {
        // A second call finds the provider in place, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("mcpdeck/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::custom(same_origin))
            .build()
            .map_err(|error| HttpFailure::of(&error).failure)?;
        Ok(Self {
            client,
            inner: Arc::new(Inner {
                signals,
                lines,
                failure: Mutex::new(None),
            }),
        })
    }

    /// Why the last request failed.
    #[must_use]
    pub fn take_failure(&self) -> Option<Failure> {
        self.inner
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .map(|failure| failure.failure)
    }

    /// Whether the last request failed with a status that says no more than that the server does
    /// not know it: a 4xx that is not about log-in, time or load.
    #[must_use]
    pub fn probe_was_not_understood(&self) -> bool {
        let failure = self
            .inner
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        failure
            .as_ref()
            .and_then(|failure| failure.status)
            .is_some_and(|status| {
                status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 408 | 429)
            })
    }

    fn failed(&self, failure: HttpFailure) -> HttpError {
        *self
            .inner
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(failure.clone());
        StreamableHttpError::Client(failure)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, HttpError> {
        request.send().await.map_err(|error| {
            let failure = HttpFailure::of(&error);
            if error.is_connect() {
                // A server that cannot be reached is gone, whichever request finds it out.
                self.inner.signals.end(Some(Failure::new(
                    FailureKind::Closed,
                    Arc::clone(&failure.failure.message),
                )));
            }
            self.failed(failure)
        })
    }

    /// The answer of a body of JSON: the one to the request that was posted.
    fn answer(&self, body: Vec<u8>, asked: Asked) -> Option<Reply> {
        let mut answer = None;
        let noise = envelope::take_apart(body, |message| match message {
            Inbound::Answer(AnswerId::Known(id), reply) if Some(id) == asked.id => {
                answer = Some(reply);
            }
            Inbound::Answer(AnswerId::Missing, reply)
                if !matches!(reply, Reply::Result(_)) && asked.id.is_some() =>
            {
                answer = Some(reply);
            }
            Inbound::Notification(method, params) => self.notified(&method, params),
            Inbound::Answer(..) | Inbound::Request(..) => self.inner.signals.noise(),
        });
        self.count(&noise);
        answer
    }

    fn notified(&self, method: &str, params: Option<&str>) {
        requests::notified(method, params, &self.inner.signals, &self.inner.lines);
    }

    fn count(&self, noise: &Noise) {
        match noise {
            Noise::None => {}
            Noise::Around | Noise::Line(_) => self.inner.signals.noise(),
        }
    }

    /// Rewrites an event so that rmcp only routes it: answers become raw text, notifications are
    /// taken here, and what remains is the event's id, for resumption.
    fn rewrite(&self, mut event: Sse, asked: Asked) -> Sse {
        let Some(data) = event.data.take() else {
            return event;
        };
        let noise = envelope::take_apart(data.into_bytes(), |message| match message {
            Inbound::Answer(AnswerId::Known(id), reply) => {
                event.data = serde_json::to_string(&typed(id, reply, asked)).ok();
            }
            Inbound::Answer(AnswerId::Missing, reply) if !matches!(reply, Reply::Result(_)) => {
                match asked.id {
                    Some(id) => {
                        event.data = serde_json::to_string(&typed(id, reply, asked)).ok();
                    }
                    None => self.inner.signals.noise(),
                }
            }
            Inbound::Notification(method, params) => self.notified(&method, params),
            Inbound::Request(id, method) => {
                // What it is about is of no concern: our answer depends on the method alone.
                let method = json!(method);
                event.data = Some(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":{method}}}"#
                ));
            }
            Inbound::Answer(..) => self.inner.signals.noise(),
        });
        self.count(&noise);
        event
    }

    fn events(
        &self,
        response: Response,
        asked: Asked,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let this = self.clone();
        let bytes = bounded_events(response);
        SseStream::from_bytes_stream(bytes)
            .map(move |event| event.map(|event| this.rewrite(event, asked)))
            .boxed()
    }

    /// Whether a status other than success ends the request, and how.
    async fn refused(
        &self,
        response: Response,
        asked: Asked,
        session: bool,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && session {
            self.inner.signals.end(Some(Failure::new(
                FailureKind::Closed,
                "the server has forgotten the session",
            )));
            return Err(StreamableHttpError::SessionExpired);
        }
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let is_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        // Time and load say nothing about the era, whatever stands in the body.
        let is_passing = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
        let is_all = is_auth || (asked.discover && is_passing);
        if !is_all
            && let Some(id) = asked.id
            && media_type(&response) == Some(JSON.to_owned())
            && let Ok(body) = self.body(response).await
            && let Some(reply @ Reply::Error(_)) = self.answer(body, asked)
        {
            return Ok(StreamableHttpPostResponse::Json(
                typed(id, reply, asked),
                None,
            ));
        }
        Err(self.failed(HttpFailure::status(status, retry_after.as_deref())))
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.failed(HttpFailure::of(&error)))?;
            if body.len() + chunk.len() > MAX_LINE {
                return Err(self.failed(HttpFailure::too_large()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// The answer as rmcp expects it. The result of `initialize` is typed, since rmcp reads the version
/// from it; what we want to know of it beside travels in `instructions`.
fn typed(id: i64, reply: Reply, asked: Asked) -> ServerJsonRpcMessage {
    let id = RequestId::Number(id);
    if asked.initialize
        && let Reply::Result(raw) = &reply
        && let Ok(reading) = InitializeReading::read(raw)
    {
        let result = json!({
            "protocolVersion": reading.protocol_version,
            "capabilities": {},
            "serverInfo": {"name": "", "version": ""},
            "instructions": reply.into_text(),
        });
        if let Ok(result) = serde_json::from_value(result) {
            return JsonRpcMessage::response(result, id);
        }
        return JsonRpcMessage::response(
            Reply::Malformed("initialize: the result cannot be read".into()).into(),
            id,
        );
    }
    JsonRpcMessage::response(reply.into(), id)
}

fn asked_of(message: &ClientJsonRpcMessage) -> Asked {
    match message {
        JsonRpcMessage::Request(request) => Asked {
            id: match request.id {
                RequestId::Number(id) => Some(id),
                RequestId::String(_) => None,
            },
            initialize: matches!(request.request, ClientRequest::InitializeRequest(_)),
            discover: matches!(request.request, ClientRequest::DiscoverRequest(_)),
        },
        JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Response(_)
        | JsonRpcMessage::Error(_) => Asked {
            id: None,
            initialize: false,
            discover: false,
        },
    }
}

fn media_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next()?.trim();
    Some(essence.to_ascii_lowercase())
}

/// Follows a redirect that stays within scheme, host and port: elsewhere our headers have no business.
fn same_origin(attempt: reqwest::redirect::Attempt<'_>) -> reqwest::redirect::Action {
    const MAX_REDIRECTS: usize = 5;
    let stays = attempt
        .previous()
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// The body as chunks, ended by an error when one event grows over the limit.
fn bounded_events(
    response: Response,
) -> impl futures::Stream<Item = Result<bytes::Bytes, std::io::Error>> + Send + Unpin {
    let mut size = 0_usize;
    let mut last = b'\n';
    response
        .bytes_stream()
        .map(move |chunk| {
            let chunk = chunk.map_err(std::io::Error::other)?;
            for byte in &chunk {
                // An empty line ends an event; a carriage return may stand before the break.
                if *byte == b'\n' && last == b'\n' {
                    size = 0;
                }
                if *byte != b'\r' {
                    last = *byte;
                }
                size += 1;
            }
            if size > MAX_LINE {
                return Err(std::io::Error::other(HttpFailure::too_large()));
            }
            Ok(chunk)
        })
        .boxed()
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            StreamableHttpResponseLimits::default(),
        )
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        _limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let asked = asked_of(&message);
        let mut request = self
            .client
            .post(&*uri)
            .headers(custom_headers.into_iter().collect())
            .header(ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
            .json(&message);
        if let Some(session) = &session_id {
            request = request.header(SESSION_ID, &**session);
        }
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        let sent = tokio::time::Instant::now();
        let response = self.send(request).await?;
        self.inner.signals.answered_after(sent.elapsed());
        if !response.status().is_success() {
            return self.refused(response, asked, session_id.is_some()).await;
        }
        let session = response
            .headers()
            .get(SESSION_ID)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let Some(id) = asked.id else {
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        match media_type(&response).as_deref() {
            Some(JSON) => {
                let body = match self.body(response).await {
                    Ok(body) => body,
                    Err(StreamableHttpError::Client(failure))
                        if failure.failure.kind == FailureKind::Malformed =>
                    {
                        let reply = Reply::Malformed(failure.failure.message.to_string());
                        return Ok(StreamableHttpPostResponse::Json(
                            typed(id, reply, asked),
                            session,
                        ));
                    }
                    Err(error) => return Err(error),
                };
                let reply = self.answer(body, asked).unwrap_or_else(|| {
                    Reply::Malformed("the body does not answer the request".into())
                });
                Ok(StreamableHttpPostResponse::Json(
                    typed(id, reply, asked),
                    session,
                ))
            }
            Some(EVENT_STREAM) => Ok(StreamableHttpPostResponse::Sse(
                self.events(response, asked),
                session,
            )),
            other => Err(self.failed(HttpFailure::content_type(other))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let mut request = self
            .client
            .delete(&*uri)
            .headers(custom_headers.into_iter().collect())
            .header(SESSION_ID, &*session_id);
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        self.send(request).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let mut request = self
            .client
            .get(&*uri)
            .headers(custom_headers.into_iter().collect())
            .header(ACCEPT, EVENT_STREAM);
        if let Some(session) = &session_id {
            request = request.header(SESSION_ID, &**session);
        }
        if let Some(event) = last_event_id {
            request = request.header(LAST_EVENT_ID, event);
        }
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        let response = self.send(request).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => {
                return Err(StreamableHttpError::ServerDoesNotSupportSse);
            }
            status if !status.is_success() => {
                return Err(StreamableHttpError::Client(HttpFailure::status(
                    status, None,
                )));
            }
            _ => {}
        }
        if media_type(&response).as_deref() != Some(EVENT_STREAM) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let asked = Asked {
            id: None,
            initialize: false,
            discover: false,
        };
        Ok(self.events(response, asked))
    }
}
