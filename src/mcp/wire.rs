//! The stdio transport: bounded lines in, messages out, and a table of what is outstanding.
//!
//! Requests of the server are answered here, at once and also during the handshake; noise is
//! counted and never answered. What is left for rmcp is to route answers by id.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::envelope::{self, AnswerId, Inbound, Noise};
use super::lines::{LineKind, LineRing};
use super::read::{LineReader, MAX_LINE, RawLine};
use super::reply::Reply;
use super::requests;
use super::signals::Signals;
use super::trace::Head;

/// How many messages may wait for a server that does not read its stdin.
const OUTBOX: usize = 256;

/// How long a closing transport waits for the last messages to be written.
const LAST_WRITES: Duration = Duration::from_millis(20);

/// Why a message could not be sent.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the server no longer reads")]
pub struct WireClosed;

/// The transport over a pair of byte streams.
#[derive(Debug)]
pub struct Wire<R> {
    reader: LineReader<R>,
    inbox: VecDeque<ServerJsonRpcMessage>,
    outbox: Option<mpsc::Sender<Vec<u8>>>,
    writer: JoinHandle<()>,
    outstanding: HashMap<i64, Instant>,
    signals: Arc<Signals>,
    lines: Arc<LineRing>,
    modern: bool,
}

impl<R: AsyncRead + Unpin + Send + 'static> Wire<R> {
    /// A transport that reads from `reader` and writes to `writer`.
    pub fn new<W>(reader: R, writer: W, signals: Arc<Signals>, lines: Arc<LineRing>) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outbox, messages) = mpsc::channel(OUTBOX);
        Self {
            reader: LineReader::new(reader),
            inbox: VecDeque::new(),
            outbox: Some(outbox),
            writer: tokio::spawn(write_all(writer, messages)),
            outstanding: HashMap::new(),
            signals,
            lines,
            modern: false,
        }
    }

    /// From now on the era without `initialize` is spoken: a server has no requests to make.
    pub const fn set_modern(&mut self) {
        self.modern = true;
    }

    /// Forgets an outstanding request: its answer, should it come, is counted and dropped.
    pub fn forget(&mut self, id: i64) {
        self.outstanding.remove(&id);
    }

    fn take_line(&mut self, line: RawLine) {
        match line {
            RawLine::Whole(bytes) => {
                let (mut kept, size) = (self.lines.beginning_of(&bytes), bytes.len());
                let noise = envelope::take_apart(bytes, |message| {
                    if let Some(kept) = kept.take() {
                        self.lines.received(Head::of(&message), &kept, size);
                    }
                    self.take(message);
                });
                match noise {
                    Noise::None => {}
                    Noise::Around => self.signals.noise(),
                    Noise::Line(line) => {
                        self.lines.push(LineKind::Noise, line.as_bytes());
                        self.signals.noise();
                    }
                }
            }
            RawLine::TooLong { id } => {
                let id = id.map_or(AnswerId::Missing, AnswerId::Known);
                let reason = "the answer is a line of more than 16 MiB".to_owned();
                let reply = Reply::Malformed(reason);
                let answer = Inbound::Answer(id, reply.clone());
                self.lines.received(Head::of(&answer), b"", MAX_LINE + 1);
                self.take_answer(id, reply);
            }
        }
    }

    fn take(&mut self, message: Inbound<'_>) {
        match message {
            Inbound::Answer(id, reply) => self.take_answer(id, reply),
            Inbound::Request(..) if self.modern => self.signals.noise(),
            Inbound::Request(id, method) => {
                let answer = requests::answer(id, &method);
                self.lines.sent(&answer);
                if let Some(outbox) = &self.outbox
                    && outbox.try_send(answer).is_err()
                {
                    tracing::debug!("a request of the server was not answered: it does not read");
                }
            }
            Inbound::Notification(method, params) => {
                requests::notified(&method, params, &self.signals, &self.lines);
            }
        }
    }

    /// Hands the answer on if it belongs to a request; an error without an id belongs to the one
    /// that is outstanding, if there is exactly one.
    fn take_answer(&mut self, id: AnswerId, reply: Reply) {
        let known = match id {
            AnswerId::Known(id) => Some(id),
            AnswerId::Missing if !matches!(reply, Reply::Result(_)) => {
                let mut ids = self.outstanding.keys();
                ids.next().copied().filter(|_| ids.next().is_none())
            }
            AnswerId::Missing | AnswerId::Foreign => None,
        };
        let Some((id, sent)) = known.and_then(|id| Some((id, self.outstanding.remove(&id)?)))
        else {
            self.signals.noise();
            return;
        };
        self.signals.answered_after(sent.elapsed());
        self.inbox.push_back(JsonRpcMessage::response(
            reply.into(),
            RequestId::Number(id),
        ));
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Wire<R> {
    type Error = WireClosed;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), WireClosed>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                if let RequestId::Number(id) = request.id {
                    self.outstanding.insert(id, Instant::now());
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(RequestId::Number(id)) = cancelled.params.request_id
                {
                    self.outstanding.remove(&id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        // Queued here and not in the future, so that messages leave in the order of their sending.
        let queued = match (&self.outbox, serde_json::to_vec(&message)) {
            (Some(outbox), Ok(mut bytes)) => {
                self.lines.sent(&bytes);
                bytes.push(b'\n');
                outbox
                    .try_send(bytes)
                    .map_err(|refused| (outbox.clone(), refused))
            }
            (None, _) | (_, Err(_)) => {
                return futures::future::Either::Left(std::future::ready(Err(WireClosed)));
            }
        };
        futures::future::Either::Right(async move {
            match queued {
                Ok(()) => Ok(()),
                Err((_, mpsc::error::TrySendError::Closed(_))) => Err(WireClosed),
                Err((outbox, mpsc::error::TrySendError::Full(bytes))) => {
                    outbox.send(bytes).await.map_err(|_| WireClosed)
                }
            }
        })
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.inbox.pop_front() {
                return Some(message);
            }
            let line = tokio::select! {
                biased;
                line = self.reader.next() => line,
                // Its process has ended, and something else holds the pipe.
                () = self.signals.ended() => None,
            };
            let Some(line) = line else {
                self.signals.end(None);
                return None;
            };
            self.take_line(line);
        }
    }

    async fn close(&mut self) -> Result<(), WireClosed> {
        self.outbox = None;
        if !self.writer.is_finished()
            && tokio::time::timeout(LAST_WRITES, &mut self.writer)
                .await
                .is_err()
        {
            // The server does not read. Dropping the pipe is all that is left to say.
            self.writer.abort();
        }
        Ok(())
    }
}

impl<R> Drop for Wire<R> {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

/// Writes messages until there are no more, or the other side does not take them. Ending it closes
/// the pipe, which is how a stdio server is told to end (MCP 2025-11-25, lifecycle, shutdown).
async fn write_all<W: AsyncWrite + Unpin>(mut pipe: W, mut messages: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = messages.recv().await {
        if let Err(error) = pipe.write_all(&bytes).await {
            tracing::debug!(%error, "a server stopped reading its stdin");
            return;
        }
        if messages.is_empty() && pipe.flush().await.is_err() {
            return;
        }
    }
    // A stream of our own process stays open until both of its halves are dropped.
    if let Err(error) = pipe.shutdown().await {
        tracing::debug!(%error, "a server had closed its stdin");
    }
}
