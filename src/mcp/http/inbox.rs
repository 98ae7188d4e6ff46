//! What has come from a remote server: answers find their request, notifications become signals,
//! requests of the server are answered. The HTTP transports share it, whatever the bytes came on.

use http::StatusCode;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::error::HttpFailure;
use super::events::Event;
use crate::domain::FailureKind;
use crate::mcp::envelope::{self, AnswerId, Inbound, Noise};
use crate::mcp::lines::LineRing;
use crate::mcp::reply::{Fate, Reply, Undelivered};
use crate::mcp::requests;
use crate::mcp::signals::Signals;
use crate::mcp::trace::Head;

/// How many answers may wait for rmcp to route them.
const INBOX: usize = 64;

/// The most answers that are owed for one text: a batch may ask for many.
const MAX_OWED: usize = 100;

/// Takes what comes, and knows which requests are out.
#[derive(Debug)]
pub struct Inbox {
    answers: mpsc::Sender<ServerJsonRpcMessage>,
    outstanding: Mutex<HashMap<i64, Asked>>,
    signals: Arc<Signals>,
    lines: Arc<LineRing>,
}

/// A request that is out.
#[derive(Debug)]
struct Asked {
    sent: Instant,
    /// The task that waits for the answer.
    task: Option<AbortHandle>,
}

impl Inbox {
    /// An inbox, and where rmcp reads it.
    pub fn new(
        signals: Arc<Signals>,
        lines: Arc<LineRing>,
    ) -> (Self, mpsc::Receiver<ServerJsonRpcMessage>) {
        let (answers, receiver) = mpsc::channel(INBOX);
        let inbox = Self {
            answers,
            outstanding: Mutex::default(),
            signals,
            lines,
        };
        (inbox, receiver)
    }

    /// The signals of the connection.
    pub const fn signals(&self) -> &Arc<Signals> {
        &self.signals
    }

    /// A message goes out.
    pub fn sent(&self, body: &[u8]) {
        self.lines.sent(body);
    }

    /// A request goes out.
    pub fn asked(&self, id: i64) {
        let asked = Asked {
            sent: Instant::now(),
            task: None,
        };
        self.outstanding().insert(id, asked);
    }

    /// This task waits for the answer; it ends when the answer comes another way.
    pub fn awaited_by(&self, id: i64, task: AbortHandle) {
        if let Some(asked) = self.outstanding().get_mut(&id) {
            asked.task = Some(task);
        }
    }

    /// Whether the answer has not come yet.
    pub fn is_asked(&self, id: i64) -> bool {
        self.outstanding().contains_key(&id)
    }

    /// Forgets a request that is given up, and stops waiting for its answer. Whether it was out.
    pub fn forget(&self, id: i64) -> bool {
        let asked = self.outstanding().remove(&id);
        if let Some(task) = asked.as_ref().and_then(|asked| asked.task.as_ref()) {
            task.abort();
        }
        asked.is_some()
    }

    /// Hands an answer on, if its request is still out.
    pub async fn settle(&self, id: i64, reply: Reply) {
        if self.outstanding().remove(&id).is_some() {
            self.deliver(id, reply).await;
        }
    }

    /// A request has failed.
    pub async fn fail(&self, id: i64, failure: HttpFailure) {
        let reply = match failure.failure.kind {
            FailureKind::Malformed => Reply::Malformed(failure.failure.message.to_string()),
            kind => Reply::Undelivered(Undelivered {
                fate: match failure.status {
                    None if kind == FailureKind::Closed => Fate::Lost,
                    Some(status) if refuses(status) => Fate::Refused,
                    None | Some(_) => Fate::Undelivered,
                },
                failure: failure.failure,
            }),
        };
        self.settle(id, reply).await;
    }

    /// Takes an event of a stream that belongs to the request, or to none; returns what the server
    /// is owed.
    pub async fn take_event(&self, event: Event, asked: Option<i64>) -> Vec<Vec<u8>> {
        match event {
            Event::Whole(sse) if sse.is_message() => match sse.data {
                Some(data) if !data.trim_ascii().is_empty() => self.take(data, asked).await,
                Some(_) | None => Vec::new(),
            },
            Event::Whole(_) => Vec::new(),
            Event::TooLarge { id } => {
                match id.or(asked) {
                    Some(id) => self.fail(id, HttpFailure::too_large()).await,
                    None => self.signals.noise(),
                }
                Vec::new()
            }
        }
    }

    /// Takes a text that came in answer to the request, or to none; returns the answers that the
    /// server is owed.
    pub async fn take(&self, text: Vec<u8>, asked: Option<i64>) -> Vec<Vec<u8>> {
        let mut owed = Vec::new();
        let mut answers = Vec::new();
        let size = text.len();
        let mut kept = self.lines.beginning_of(&text);
        let noise = envelope::take_apart(text, |message| {
            if let Some(kept) = kept.take() {
                self.lines.received(Head::of(&message), &kept, size);
            }
            match message {
                Inbound::Answer(id, reply) => answers.push((id, reply)),
                Inbound::Request(id, method) if owed.len() < MAX_OWED => {
                    let mut answer = requests::answer(id, &method);
                    answer.truncate(answer.trim_ascii_end().len());
                    owed.push(answer);
                }
                Inbound::Notification(method, params) => {
                    requests::notified(&method, params, &self.signals, &self.lines);
                }
                Inbound::Request(..) => self.signals.noise(),
            }
        });
        match noise {
            Noise::None => {}
            Noise::Around | Noise::Line(_) => self.signals.noise(),
        }
        for (id, reply) in answers {
            self.take_answer(id, reply, asked).await;
        }
        owed
    }

    /// An error without an id answers the request on whose stream it came, or else the only one
    /// that is out.
    async fn take_answer(&self, id: AnswerId, reply: Reply, asked: Option<i64>) {
        let (known, sent) = {
            let mut outstanding = self.outstanding();
            let id = match id {
                AnswerId::Known(id) => Some(id),
                AnswerId::Missing if !matches!(reply, Reply::Result(_)) => asked.or_else(|| {
                    let mut ids = outstanding.keys();
                    ids.next().copied().filter(|_| ids.next().is_none())
                }),
                AnswerId::Missing | AnswerId::Foreign => None,
            };
            let known = id.and_then(|id| Some((id, outstanding.remove(&id)?)));
            let Some((id, known)) = known else {
                drop(outstanding);
                return self.signals.noise();
            };
            // It came on another stream than its own.
            if asked != Some(id)
                && let Some(task) = known.task
            {
                task.abort();
            }
            (id, known.sent)
        };
        self.signals.answered_after(sent.elapsed());
        self.deliver(known, reply).await;
    }

    async fn deliver(&self, id: i64, reply: Reply) {
        let message = JsonRpcMessage::response(reply.into(), RequestId::Number(id));
        // A failed send: the transport is closed, and nobody waits any more.
        let _ = self.answers.send(message).await;
    }

    fn outstanding(&self) -> MutexGuard<'_, HashMap<i64, Asked>> {
        self.outstanding
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of a request of ours; `None` for every other message.
#[must_use]
pub const fn request_id(message: &ClientJsonRpcMessage) -> Option<i64> {
    match message {
        JsonRpcMessage::Request(request) => match request.id {
            RequestId::Number(id) => Some(id),
            RequestId::String(_) => None,
        },
        JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Response(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

/// Whether the same request will be answered so again: 408 and 429 ask for patience, and 401 and
/// 403 for a log-in.
fn refuses(status: StatusCode) -> bool {
    status == StatusCode::NOT_IMPLEMENTED
        || status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 408 | 429)
}
