//! Streamable HTTP (MCP 2025-11-25 and 2026-07-28, transports): every message is a POST, and its
//! answer comes as JSON or on a stream of its own.
//!
//! rmcp has such a transport too. Ours reads what comes as the stdio one does, tells exactly why a
//! request has no answer, and leaves a new session to the actor, for whom it is a new epoch.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::Method;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::caller::Caller;
use super::error::HttpFailure;
use super::exchange::{Link, Unanswered};
use super::inbox::{Inbox, request_id};
use crate::domain::FailureKind;
use crate::mcp::lines::LineRing;
use crate::mcp::reply::Reply;
use crate::mcp::signals::Signals;

/// How long the server may take to hear that a session ends.
pub const FAREWELL: Duration = Duration::from_millis(200);

/// The transport.
#[derive(Debug)]
pub struct HttpWire {
    link: Arc<Link>,
    answers: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Ends the tasks of the transport.
    tasks: CancellationToken,
    /// Whether a stream for what the server says of itself is opened.
    listens: bool,
    /// The request whose answer says which version is spoken.
    initialize: Option<i64>,
}

impl HttpWire {
    /// A transport that has no session yet.
    pub fn new(caller: Caller, signals: Arc<Signals>, lines: Arc<LineRing>, listens: bool) -> Self {
        let (inbox, answers) = Inbox::new(signals, lines);
        Self {
            link: Arc::new(Link::new(caller, inbox)),
            answers,
            tasks: CancellationToken::new(),
            listens,
            initialize: None,
        }
    }

    /// Runs until the transport ends.
    fn spawn(
        tasks: &CancellationToken,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::AbortHandle {
        let ended = tasks.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = task => {}
            }
        });
        task.abort_handle()
    }

    fn spawn_exchange(&self, id: i64, message: ClientJsonRpcMessage) {
        let link = Arc::clone(&self.link);
        let task = Self::spawn(&self.tasks, async move {
            match link.post(&message).await {
                Ok(response) => link.read_answer(id, response).await,
                Err(Unanswered::Explained(id, error)) => {
                    link.inbox().settle(id, Reply::Error(error)).await;
                }
                Err(Unanswered::Failed(failure)) => link.inbox().fail(id, failure).await,
            }
        });
        self.link.inbox().awaited_by(id, task);
    }

    fn spawn_post(&self, message: ClientJsonRpcMessage) {
        let link = Arc::clone(&self.link);
        Self::spawn(&self.tasks, async move {
            if link.post(&message).await.is_err() {
                tracing::debug!("a message was not taken");
            }
        });
    }

    /// Starts sending; what is returned ends when the message is taken, where that matters.
    fn start(&self, message: ClientJsonRpcMessage) -> Sending {
        let (link, tasks) = (Arc::clone(&self.link), self.tasks.clone());
        let waits = match &message {
            JsonRpcMessage::Request(request) => {
                let Some(id) = request_id(&message) else {
                    return done(Err(foreign_id()));
                };
                link.inbox().asked(id);
                match &request.request {
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                        Waits::Handshake(id)
                    }
                    _ => {
                        self.spawn_exchange(id, message);
                        return done(Ok(()));
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::InitializedNotification(_) => Waits::Initialized(self.listens),
                ClientNotification::CancelledNotification(cancelled) => {
                    let was_out = match &cancelled.params.request_id {
                        Some(RequestId::Number(id)) => link.inbox().forget(*id),
                        Some(RequestId::String(_)) | None => false,
                    };
                    // In the modern era closing the response stream says it.
                    if was_out && !link.is_modern() {
                        self.spawn_post(message);
                    }
                    return done(Ok(()));
                }
                _ => {
                    self.spawn_post(message);
                    return done(Ok(()));
                }
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                self.spawn_post(message);
                return done(Ok(()));
            }
        };
        Box::pin(async move {
            match waits {
                Waits::Handshake(id) => match link.post(&message).await {
                    Ok(response) => {
                        Self::spawn(&tasks, async move { link.read_answer(id, response).await });
                    }
                    Err(Unanswered::Explained(id, error)) => {
                        link.inbox().settle(id, Reply::Error(error)).await;
                    }
                    Err(Unanswered::Failed(failure)) => {
                        link.inbox().forget(id);
                        return Err(failure);
                    }
                },
                Waits::Initialized(listens) => {
                    match link.post(&message).await {
                        Ok(_) | Err(Unanswered::Explained(..)) => {}
                        // Its status says nothing about `initialize`.
                        Err(Unanswered::Failed(failure)) => {
                            return Err(HttpFailure {
                                status: None,
                                ..failure
                            });
                        }
                    }
                    if listens {
                        Self::spawn(&tasks, async move { link.listen().await });
                    }
                }
            }
            Ok(())
        })
    }
}

impl Transport<RoleClient> for HttpWire {
    type Error = HttpFailure;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), HttpFailure>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let ClientRequest::InitializeRequest(_) = request.request
        {
            self.initialize = request_id(&message);
        }
        self.start(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let signals = Arc::clone(self.link.inbox().signals());
        let answer = tokio::select! {
            biased;
            answer = self.answers.recv() => answer,
            () = signals.ended() => None,
        };
        if let Some(JsonRpcMessage::Response(response)) = &answer
            && let Some(id) = self.initialize
            && response.id == RequestId::Number(id)
        {
            self.initialize = None;
            self.link
                .note_version(&Reply::from(response.result.clone()));
        }
        answer
    }

    async fn close(&mut self) -> Result<(), HttpFailure> {
        self.tasks.cancel();
        let signals = self.link.inbox().signals();
        if let Some(headers) = self.link.take_session().filter(|_| !signals.has_ended()) {
            let farewell = self
                .link
                .caller()
                .send(&Method::DELETE, &headers, None::<&Bytes>);
            let ended = matches!(timeout(FAREWELL, farewell).await, Ok(Ok(_)));
            tracing::debug!(ended, "told the server that its session ends");
        }
        Ok(())
    }
}

impl Drop for HttpWire {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

/// What is sent while somebody waits for its being taken.
#[derive(Debug, Clone, Copy)]
enum Waits {
    /// A request of the handshake, with its id.
    Handshake(i64),
    /// The confirmation of the session, and whether a stream is opened after it.
    Initialized(bool),
}

type Sending = BoxFuture<'static, Result<(), HttpFailure>>;

fn done(outcome: Result<(), HttpFailure>) -> Sending {
    Box::pin(std::future::ready(outcome))
}

fn foreign_id() -> HttpFailure {
    HttpFailure::new(
        FailureKind::Connect,
        "a request has an id that is no number",
    )
}
