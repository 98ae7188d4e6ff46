//! One message and its answer over Streamable HTTP, and the stream for what belongs to no request:
//! statuses, sessions, streams that break and are resumed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::caller::{self, Caller, EVENT_STREAM, JSON};
use super::error::HttpFailure;
use super::events::{Event, EventReader};
use super::headers::{LAST_EVENT_ID, METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, name_value};
use super::inbox::{Inbox, request_id};
use crate::domain::{Group, text};
use crate::mcp::decode::handshake::InitializeReading;
use crate::mcp::envelope::{self, Inbound};
use crate::mcp::handshake::MODERN_VERSION;
use crate::mcp::reply::{Reply, RpcError};
use crate::mcp::signals::Subscription;

/// After how long a stream that broke is resumed, unless the server says otherwise, and the bounds
/// of what it may say: one that closes at once must not be asked in a loop.
const RESUME_AFTER: Duration = Duration::from_secs(1);
const RESUME_AT_LEAST: Duration = Duration::from_millis(100);
const RESUME_AT_MOST: Duration = Duration::from_secs(30);

/// How long a stream is read on after its answer, so that its connection can be used again.
const DRAIN: Duration = Duration::from_millis(50);

/// How long the body of a refusal is waited for: its status alone says enough.
const EXPLANATION: Duration = Duration::from_secs(2);

/// What all tasks of one transport share.
#[derive(Debug)]
pub struct Link {
    caller: Caller,
    inbox: Inbox,
    session: Mutex<Session>,
}

#[derive(Debug, Default)]
struct Session {
    id: Option<HeaderValue>,
    /// The version that later messages name.
    version: Option<HeaderValue>,
    modern: bool,
}

impl Link {
    /// Nothing was said yet.
    pub fn new(caller: Caller, inbox: Inbox) -> Self {
        Self {
            caller,
            inbox,
            session: Mutex::default(),
        }
    }

    /// Where answers go.
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Who sends.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether the era without `initialize` is spoken.
    pub fn is_modern(&self) -> bool {
        self.session().modern
    }

    /// The headers that name the session, which is over for us; `None` where there is none.
    pub fn take_session(&self) -> Option<HeaderMap> {
        let headers = self.session_headers();
        self.session().id.take().map(|_| headers)
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session_headers(&self) -> HeaderMap {
        let session = self.session();
        let mut headers = HeaderMap::new();
        if let Some(id) = &session.id {
            headers.insert(SESSION_ID, id.clone());
        }
        if let Some(version) = &session.version {
            headers.insert(PROTOCOL_VERSION, version.clone());
        }
        headers
    }

    /// Sends a message; the response is a success.
    ///
    /// # Errors
    ///
    /// It was not taken.
    pub async fn post(&self, message: &ClientJsonRpcMessage) -> Result<Response, Unanswered> {
        let body: Bytes = serde_json::to_vec(message).unwrap_or_default().into();
        self.inbox.sent(&body);
        let headers = self.headers_of(message, &body);
        let (caller, body) = (&self.caller, Some(&body));
        let response = if begins_session(message) {
            caller.send_once(&Method::POST, &headers, body).await?
        } else {
            caller.send(&Method::POST, &headers, body).await?
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::NOT_FOUND && headers.contains_key(SESSION_ID) {
            self.inbox.signals().expire();
            return Err(Unanswered::Failed(caller::refusal(&response)));
        }
        let failure = self.refused(&response);
        let may_explain =
            matches!(status.as_u16(), 400..=599) && !matches!(status.as_u16(), 401 | 403);
        let explained = match request_id(message) {
            Some(id) if may_explain => explanation(response).await.map(|error| (id, error)),
            Some(_) | None => None,
        };
        Err(match explained {
            None => Unanswered::Failed(failure),
            // It answers nobody now, whatever the words for that are.
            Some((_, error)) if is_passing(status) => {
                // The words may quote a cursor, which is looked for before they are cut.
                let words = if is_handshake(message) {
                    text::error_text(&error.message)
                } else {
                    error.message
                };
                Unanswered::Failed(failure.saying(&words))
            }
            Some((id, error)) => Unanswered::Explained(id, error),
        })
    }

    /// The failure of a status. Without credentials that are taken the connection is over.
    fn refused(&self, response: &Response) -> HttpFailure {
        let failure = caller::refusal(response);
        if response.status() == StatusCode::UNAUTHORIZED {
            self.inbox.signals().end(Some(failure.failure.clone()));
        }
        failure
    }

    fn headers_of(&self, message: &ClientJsonRpcMessage, body: &Bytes) -> HeaderMap {
        let mut headers = self.session_headers();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        match message {
            JsonRpcMessage::Request(request) => match &request.request {
                // A handshake begins anew; no session of an earlier one holds.
                ClientRequest::InitializeRequest(_) => {
                    *self.session() = Session::default();
                    headers.remove(SESSION_ID);
                    headers.remove(PROTOCOL_VERSION);
                }
                request => {
                    if let Some(version) = request.get_meta().protocol_version()
                        && version.as_str() == MODERN_VERSION
                    {
                        let mut session = self.session();
                        session.modern = true;
                        session.version = HeaderValue::try_from(version.as_str()).ok();
                    }
                }
            },
            JsonRpcMessage::Notification(_)
            | JsonRpcMessage::Response(_)
            | JsonRpcMessage::Error(_) => {}
        }
        if self.is_modern() {
            if let Some(version) = &self.session().version {
                headers.insert(PROTOCOL_VERSION, version.clone());
            }
            describe(body, &mut headers);
        }
        headers
    }

    /// Reads the answer to the request from the response to it.
    pub async fn read_answer(&self, id: i64, response: Response) {
        let session = response.headers().get(SESSION_ID).cloned();
        let content_type = caller::media_type(&response);
        match content_type.as_deref() {
            Some(EVENT_STREAM) => {
                self.opened(session);
                self.follow(id, response).await;
            }
            Some(JSON) | None => {
                let body = match caller::body(response).await {
                    Ok(body) => body,
                    Err(failure) => return self.inbox.fail(id, failure).await,
                };
                self.opened(session);
                let owed = self.inbox.take(body, Some(id)).await;
                self.pay(owed).await;
                if !self.inbox.is_asked(id) {
                    return;
                }
                if content_type.is_none() {
                    return self.inbox.fail(id, HttpFailure::content_type(None)).await;
                }
                let reason = "the body does not answer the request".to_owned();
                self.inbox.settle(id, Reply::Malformed(reason)).await;
            }
            other => self.inbox.fail(id, HttpFailure::content_type(other)).await,
        }
    }

    /// The server may have opened a session with its answer to `initialize`.
    fn opened(&self, id: Option<HeaderValue>) {
        let mut session = self.session();
        if !session.modern && session.id.is_none() {
            session.id = id;
        }
    }

    /// Later messages name the version that `initialize` was answered with.
    pub fn note_version(&self, reply: &Reply) {
        if let Reply::Result(raw) = reply
            && let Ok(reading) = InitializeReading::read(raw)
        {
            self.session().version = HeaderValue::try_from(&*reading.protocol_version).ok();
        }
    }

    /// Reads the stream of a request until its answer. A stream of the era with `initialize` that
    /// breaks is resumed after the last event that had an id; any other one is lost.
    async fn follow(&self, id: i64, response: Response) {
        let mut place = Place::default();
        let mut response = Some(response);
        loop {
            if let Some(response) = response.take() {
                self.read_events(response, Some(id), &mut place).await;
            }
            if !self.inbox.is_asked(id) {
                return;
            }
            let Some(last) = place.last.clone().filter(|_| !self.is_modern()) else {
                return self.inbox.fail(id, HttpFailure::broke_off()).await;
            };
            sleep(place.wait()).await;
            match self.get(Some(&last)).await {
                Ok(Got::Stream(resumed)) => response = Some(resumed),
                Ok(Got::NoStream) => {
                    return self.inbox.fail(id, HttpFailure::broke_off()).await;
                }
                Err(failure) if may_pass(&failure) => {}
                Err(failure) => return self.inbox.fail(id, failure).await,
            }
        }
    }

    /// Reads a stream to its end, or a little beyond the answer to its request.
    async fn read_events(&self, response: Response, asked: Option<i64>, place: &mut Place) {
        let mut events = EventReader::new(response.bytes_stream());
        let mut answered: Option<Instant> = None;
        loop {
            let next = match answered {
                Some(at) => match timeout_at(at + DRAIN, events.next()).await {
                    Ok(next) => next,
                    Err(_) => return,
                },
                None => events.next().await,
            };
            let Ok(Some(event)) = next else { return };
            place.note(&event);
            let owed = self.inbox.take_event(event, asked).await;
            self.pay(owed).await;
            if answered.is_none() && asked.is_some_and(|id| !self.inbox.is_asked(id)) {
                answered = Some(Instant::now());
            }
        }
    }

    /// Sends the answers that the server is owed. In the era without `initialize` it has nothing
    /// to ask.
    async fn pay(&self, owed: Vec<Vec<u8>>) {
        for answer in owed {
            if self.is_modern() {
                self.inbox.signals().noise();
                continue;
            }
            let mut headers = self.session_headers();
            headers.insert(
                ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            );
            let body = Bytes::from(answer);
            self.inbox.sent(&body);
            if self
                .caller
                .send(&Method::POST, &headers, Some(&body))
                .await
                .is_err()
            {
                tracing::debug!("a request of the server was not answered");
            }
        }
    }

    /// Opens a stream of the session, or resumes one.
    async fn get(&self, last_event: Option<&str>) -> Result<Got, HttpFailure> {
        let mut headers = self.session_headers();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        if let Some(value) = last_event.and_then(|id| HeaderValue::try_from(id).ok()) {
            headers.insert(LAST_EVENT_ID, value);
        }
        let response = self.caller.send(&Method::GET, &headers, None).await?;
        let is_stream = caller::media_type(&response).as_deref() == Some(EVENT_STREAM);
        match response.status() {
            status if status.is_success() && is_stream => Ok(Got::Stream(response)),
            status if status.is_success() => Ok(Got::NoStream),
            StatusCode::METHOD_NOT_ALLOWED => Ok(Got::NoStream),
            _ => Err(caller::refusal(&response)),
        }
    }

    /// Keeps the stream open on which the server says what belongs to no request (MCP 2025-11-25,
    /// transports, listening for messages). The lists wait for its first answer, so that no change
    /// is missed in between; each time that it is opened again everything may have changed.
    pub async fn listen(self: Arc<Self>) {
        let signals = Arc::clone(self.inbox.signals());
        let mut place = Place::default();
        let mut opened_before = false;
        loop {
            let last = place.last.clone();
            match self.get(last.as_deref()).await {
                Ok(Got::Stream(response)) => {
                    signals.set_subscription(Subscription::Acknowledged([true; 3]));
                    if opened_before {
                        for group in Group::ALL {
                            signals.suspect(group);
                        }
                    }
                    opened_before = true;
                    self.read_events(response, None, &mut place).await;
                }
                Ok(Got::NoStream) => return signals.set_subscription(Subscription::Refused),
                Err(failure) => {
                    let status = failure.status;
                    if opened_before && status == Some(StatusCode::NOT_FOUND) {
                        return signals.expire();
                    }
                    if opened_before && status == Some(StatusCode::UNAUTHORIZED) {
                        return signals.end(Some(failure.failure));
                    }
                    if !opened_before {
                        signals.set_subscription(Subscription::Refused);
                    }
                    if !may_pass(&failure) {
                        return signals.set_subscription(Subscription::Refused);
                    }
                    // What happens before it opens may be missed.
                    opened_before = true;
                }
            }
            sleep(place.wait()).await;
        }
    }
}

/// Why a message was not taken.
#[derive(Debug)]
pub enum Unanswered {
    /// The server says why, in the words of JSON-RPC.
    Explained(i64, RpcError),
    /// It does not.
    Failed(HttpFailure),
}

impl From<HttpFailure> for Unanswered {
    fn from(failure: HttpFailure) -> Self {
        Self::Failed(failure)
    }
}

/// The error of the body of a response that is no success. It may have any id: whoever refuses a
/// request unread does not know it.
async fn explanation(response: Response) -> Option<RpcError> {
    if caller::media_type(&response).as_deref() != Some(JSON) {
        return None;
    }
    let body = timeout(EXPLANATION, caller::body(response))
        .await
        .ok()?
        .ok()?;
    let mut explanation = None;
    envelope::take_apart(body, |message| {
        if let Inbound::Answer(_, Reply::Error(error)) = message {
            explanation.get_or_insert(error);
        }
    });
    explanation
}

/// What a GET was answered with.
#[derive(Debug)]
enum Got {
    Stream(Response),
    /// The server has no such stream.
    NoStream,
}

/// Where a stream can be resumed, and when.
#[derive(Debug, Default)]
struct Place {
    last: Option<String>,
    retry: Option<Duration>,
    /// How often it was resumed since something came.
    vain: u32,
}

impl Place {
    fn note(&mut self, event: &Event) {
        self.vain = 0;
        let Event::Whole(sse) = event else { return };
        if let Some(retry) = sse.retry {
            self.retry = Some(Duration::from_millis(retry));
        }
        match &sse.id {
            Some(id) if id.is_empty() => self.last = None,
            Some(id) => self.last = Some(id.clone()),
            None => {}
        }
    }

    /// What the server asked for, or 1 s; doubled each time that nothing came.
    fn wait(&mut self) -> Duration {
        let first = self.retry.unwrap_or(RESUME_AFTER).max(RESUME_AT_LEAST);
        let doubled = first.saturating_mul(1 << self.vain.min(10));
        self.vain += 1;
        doubled.min(RESUME_AT_MOST.max(first))
    }
}

/// Whether the same request may succeed later.
fn may_pass(failure: &HttpFailure) -> bool {
    let status = failure.status;
    status.is_some_and(|status| is_passing(status) && status != StatusCode::NOT_IMPLEMENTED)
}

/// Whether the status is about the server, and not about the request.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 429)
}

fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    begins_session(message)
        || matches!(message, JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)))
}

/// Whether the message leads to a session of its own each time that it comes to the server.
pub fn begins_session(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// The headers that say what the body does (MCP 2026-07-28, transports, standard headers).
fn describe(body: &Bytes, headers: &mut HeaderMap) {
    #[derive(serde::Deserialize)]
    struct Message {
        method: String,
        #[serde(default)]
        params: Params,
    }
    #[derive(serde::Deserialize, Default)]
    struct Params {
        name: Option<String>,
        uri: Option<String>,
    }
    let Ok(message) = serde_json::from_slice::<Message>(body) else {
        return;
    };
    let name = match message.method.as_str() {
        "tools/call" | "prompts/get" => message.params.name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => message.params.uri,
        _ => None,
    };
    if let Some(value) = name.as_deref().and_then(name_value) {
        headers.insert(NAME, value);
    }
    if let Ok(method) = HeaderValue::try_from(message.method) {
        headers.insert(METHOD, method);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::http::events::Sse;

    #[test]
    fn a_stream_is_resumed_when_the_server_wants_it_and_ever_later_in_vain() {
        let mut place = Place::default();
        assert_eq!(place.wait(), Duration::from_secs(1));
        assert_eq!(place.wait(), Duration::from_secs(2));
        place.note(&Event::Whole(Sse {
            id: Some("7".into()),
            retry: Some(300),
            ..Sse::default()
        }));
        assert_eq!(place.last.as_deref(), Some("7"));
        let waits: Vec<u128> = (0..9).map(|_| place.wait().as_millis()).collect();
        assert_eq!(
            waits,
            [300, 600, 1200, 2400, 4800, 9600, 19200, 30000, 30000]
        );
        place.note(&Event::Whole(Sse {
            retry: Some(0),
            ..Sse::default()
        }));
        assert_eq!(place.wait(), RESUME_AT_LEAST);
    }

    #[test]
    fn a_modern_body_is_described_by_headers() {
        let check = |body: &'static str, method: &str, name: Option<&str>| {
            let mut headers = HeaderMap::new();
            describe(&Bytes::from_static(body.as_bytes()), &mut headers);
            assert_eq!(headers[METHOD], method, "{body}");
            let value = headers.get(NAME).map(|value| value.to_str().unwrap());
            assert_eq!(value, name, "{body}");
        };
        check(
            r#"{"method":"resources/read","params":{"uri":"a://b"}}"#,
            "resources/read",
            Some("a://b"),
        );
        check(
            r#"{"method":"prompts/get","params":{"name":"p","uri":"u"}}"#,
            "prompts/get",
            Some("p"),
        );
        check(
            r#"{"method":"tools/list","params":{"cursor":"c"}}"#,
            "tools/list",
            None,
        );
    }
}
