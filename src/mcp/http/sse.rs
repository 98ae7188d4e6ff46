//! The HTTP+SSE transport of MCP 2024-11-05: one event stream brings everything, and its first
//! event names the URL that messages are posted to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::caller::{self, Caller, EVENT_STREAM};
use super::error::HttpFailure;
use super::events::{Event, EventReader};
use super::exchange::begins_session;
use super::headers::PROTOCOL_VERSION;
use super::inbox::{Inbox, request_id};
use crate::domain::{Failure, FailureKind};
use crate::mcp::lines::LineRing;
use crate::mcp::signals::Signals;

/// How long the first event may take: servers send it at once.
const FIRST_EVENT: Duration = Duration::from_secs(5);

type Events = EventReader<BoxStream<'static, Result<Bytes, ()>>>;

/// The transport.
#[derive(Debug)]
pub struct SseWire {
    link: Arc<Link>,
    answers: mpsc::Receiver<ServerJsonRpcMessage>,
    tasks: CancellationToken,
}

/// What all tasks of one transport share.
#[derive(Debug)]
struct Link {
    /// Posts to the URL that the server has named.
    caller: Caller,
    inbox: Inbox,
}

impl SseWire {
    /// Opens the stream and waits for the URL.
    ///
    /// # Errors
    ///
    /// There is no such stream, or the URL is of another origin.
    pub async fn open(
        caller: &Caller,
        signals: &Arc<Signals>,
        lines: &Arc<LineRing>,
    ) -> Result<Self, HttpFailure> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        let response = caller.send(&Method::GET, &headers, None).await?;
        if !response.status().is_success() {
            return Err(caller::refusal(&response));
        }
        let content_type = caller::media_type(&response);
        if content_type.as_deref() != Some(EVENT_STREAM) {
            return Err(HttpFailure::content_type(content_type.as_deref()));
        }
        let base = response.url().clone();
        let chunks = response.bytes_stream().map_err(|_| ()).boxed();
        let mut events = EventReader::new(chunks);
        let endpoint = timeout(FIRST_EVENT, endpoint(&mut events))
            .await
            .unwrap_or_default()
            .ok_or_else(|| {
                HttpFailure::new(
                    FailureKind::Connect,
                    "the event stream did not begin with the endpoint to post to; check the URL",
                )
            })?;
        let url = base.join(&endpoint).ok();
        let url = url.filter(|url| url.origin() == caller.url().origin());
        let url = url.ok_or_else(|| {
            HttpFailure::new(
                FailureKind::Connect,
                "the server names an endpoint of another origin, where our headers have no business",
            )
        })?;
        let (inbox, answers) = Inbox::new(Arc::clone(signals), Arc::clone(lines));
        let wire = Self {
            link: Arc::new(Link {
                caller: caller.at(url),
                inbox,
            }),
            answers,
            tasks: CancellationToken::new(),
        };
        let link = Arc::clone(&wire.link);
        wire.spawn(async move { link.read(events).await });
        Ok(wire)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ended = self.tasks.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = task => {}
            }
        });
    }
}

/// The data of the first `endpoint` event.
async fn endpoint(events: &mut Events) -> Option<String> {
    while let Ok(Some(event)) = events.next().await {
        if let Event::Whole(sse) = event
            && sse.event.as_deref() == Some("endpoint")
        {
            let data = sse.data?;
            return Some(String::from_utf8_lossy(&data).into_owned());
        }
    }
    None
}

impl Link {
    async fn read(&self, mut events: Events) {
        while let Ok(Some(event)) = events.next().await {
            for answer in self.inbox.take_event(event, None).await {
                if self.post(answer.into(), false).await.is_err() {
                    tracing::debug!("a request of the server was not answered");
                }
            }
        }
        self.inbox.signals().end(Some(Failure::new(
            FailureKind::Closed,
            "the event stream ended",
        )));
    }

    async fn post(&self, body: Bytes, once: bool) -> Result<(), HttpFailure> {
        self.inbox.sent(&body);
        let mut headers = HeaderMap::new();
        // Servers of this transport know no such header, but proxies before them may ask for it.
        headers.insert(PROTOCOL_VERSION, HeaderValue::from_static("2024-11-05"));
        let (caller, body) = (&self.caller, Some(&body));
        let response = if once {
            caller.send_once(&Method::POST, &headers, body).await?
        } else {
            caller.send(&Method::POST, &headers, body).await?
        };
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let failure = caller::refusal(&response);
        match status {
            // The session is part of the URL.
            StatusCode::NOT_FOUND => self.inbox.signals().expire(),
            StatusCode::UNAUTHORIZED => self.inbox.signals().end(Some(failure.failure.clone())),
            _ => {}
        }
        Err(failure)
    }
}

impl Transport<RoleClient> for SseWire {
    type Error = HttpFailure;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), HttpFailure>> + Send + 'static {
        let link = Arc::clone(&self.link);
        let body = Bytes::from(serde_json::to_vec(&message).unwrap_or_default());
        let id = request_id(&message);
        if let Some(id) = id {
            link.inbox.asked(id);
        }
        // The handshake waits until its messages are taken; nothing else does.
        let waits = match &message {
            JsonRpcMessage::Request(request) => {
                matches!(request.request, ClientRequest::InitializeRequest(_))
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::InitializedNotification(_) => true,
                ClientNotification::CancelledNotification(cancelled) => {
                    if let Some(RequestId::Number(id)) = cancelled.params.request_id {
                        link.inbox.forget(id);
                    }
                    false
                }
                _ => false,
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => false,
        };
        if !waits {
            self.spawn(async move {
                if let Err(failure) = link.post(body, false).await
                    && let Some(id) = id
                {
                    link.inbox.fail(id, failure).await;
                }
            });
        }
        let link = Arc::clone(&self.link);
        let body = Bytes::from(serde_json::to_vec(&message).unwrap_or_default());
        let once = begins_session(&message);
        async move {
            if !waits {
                return Ok(());
            }
            link.post(body, once).await.inspect_err(|_| {
                if let Some(id) = id {
                    link.inbox.forget(id);
                }
            })
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let signals = Arc::clone(self.link.inbox.signals());
        tokio::select! {
            biased;
            answer = self.answers.recv() => answer,
            () = signals.ended() => None,
        }
    }

    async fn close(&mut self) -> Result<(), HttpFailure> {
        self.tasks.cancel();
        Ok(())
    }
}

impl Drop for SseWire {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}
