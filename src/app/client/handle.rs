//! What may be asked of a client. Each request carries its own reply channel; dropping the future
//! cancels the call.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::message::Request;
use crate::app::definition::Definition;
use crate::domain::{Catalog, Failure, FailureKind, Group, ServerSnapshot};
use crate::mcp::calls::ArgumentOf;
use crate::mcp::decode::completion::Completion;
use crate::mcp::decode::contents::Content;
use crate::mcp::decode::prompt::PromptText;
use crate::mcp::{Line, Message};

/// A clonable handle to one client actor.
#[derive(Debug, Clone)]
pub struct ClientHandle {
    mailbox: mpsc::Sender<Request>,
}

/// What a demand got: the newest catalog there is, and where it could not be renewed why.
#[derive(Debug, Clone)]
pub struct Demand {
    /// The catalog; empty while the server is not connected.
    pub catalog: Arc<Catalog>,
    /// Why it is not the newest, or empty.
    pub error: Option<Failure>,
    /// How long ago its listings were complete; zero for a clean one.
    pub age: Duration,
    /// The server at that moment: its status, and the failure of each listing.
    pub server: Arc<ServerSnapshot>,
}

impl ClientHandle {
    pub(super) const fn new(mailbox: mpsc::Sender<Request>) -> Self {
        Self { mailbox }
    }

    /// Reads a resource. The URI is sent as it is.
    ///
    /// # Errors
    ///
    /// Why there are no contents: not connected, no answer by the deadline, closed meanwhile
    /// (a reconnect closes too), or the server's error.
    pub async fn read(&self, uri: &str, deadline: Instant) -> Result<Vec<Content>, Failure> {
        let uri = uri.to_owned();
        self.ask(deadline, |reply| Request::Read { uri, reply })
            .await?
    }

    /// Gets a prompt with its arguments filled in.
    ///
    /// # Errors
    ///
    /// As for [`ClientHandle::read`].
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Vec<(String, String)>,
        deadline: Instant,
    ) -> Result<PromptText, Failure> {
        let name = name.to_owned();
        self.ask(deadline, |reply| Request::GetPrompt {
            name,
            arguments,
            reply,
        })
        .await?
    }

    /// Asks for values of an argument (name and what is typed so far); `context` holds the
    /// arguments that are filled in already.
    ///
    /// # Errors
    ///
    /// As for [`ClientHandle::read`].
    pub async fn complete(
        &self,
        of: ArgumentOf,
        argument: (String, String),
        context: Vec<(String, String)>,
        deadline: Instant,
    ) -> Result<Completion, Failure> {
        self.ask(deadline, |reply| Request::Complete {
            of,
            argument,
            context,
            reply,
        })
        .await?
    }

    /// The catalog of the group: from memory if it is clean, else after one refresh, which all
    /// who ask share. While the server connects, this waits for its first catalog.
    ///
    /// # Errors
    ///
    /// Nothing by the deadline, or the client is gone.
    pub async fn demand(&self, group: Group, deadline: Instant) -> Result<Demand, Failure> {
        self.ask(deadline, |reply| Request::Demand { group, reply })
            .await
    }

    /// The kept lines of stderr, noise and log messages that came or changed after the change,
    /// oldest first; 0 for all.
    pub async fn lines_since(&self, change: u64) -> Vec<Line> {
        let (reply, answer) = oneshot::channel();
        self.tell(Request::LinesSince { change, reply }).await;
        answer.await.unwrap_or_default()
    }

    /// As [`ClientHandle::lines_since`], but waits until there are some; `None` where the client
    /// has ended.
    pub async fn lines_after(&self, change: u64) -> Option<Vec<Line>> {
        let (reply, answer) = oneshot::channel();
        self.tell(Request::LinesAfter { change, reply }).await;
        answer.await.ok()
    }

    /// The kept messages after the number, oldest first, as soon as there are some; `None` where
    /// the client has ended. Messages are kept for the deck only.
    pub async fn messages_after(&self, seq: u64) -> Option<Vec<Message>> {
        let (reply, answer) = oneshot::channel();
        self.tell(Request::MessagesAfter { seq, reply }).await;
        answer.await.ok()
    }

    /// Asks for all listings of interest again.
    pub async fn refresh(&self) {
        self.tell(Request::Refresh).await;
    }

    /// Asks a remote server for a sign of life, as after a sleep: without an answer within 5 s the
    /// connection counts as lost.
    pub async fn check_alive(&self) {
        self.tell(Request::CheckAlive).await;
    }

    /// Switches the server on or off.
    pub async fn set_enabled(&self, enabled: bool) {
        self.tell(Request::SetEnabled(enabled)).await;
    }

    /// Closes the connection, if there is one, and opens a new one.
    pub async fn reconnect(&self) {
        self.tell(Request::Reconnect).await;
    }

    /// Closes the connection and ends the client.
    pub async fn shutdown(&self) {
        self.tell(Request::Shutdown).await;
        self.mailbox.closed().await;
    }

    pub(crate) async fn replace(&self, definition: Arc<Definition>) {
        self.tell(Request::Replace(definition)).await;
    }

    pub(crate) async fn relocate(&self, definition: Arc<Definition>) {
        self.tell(Request::Relocate(definition)).await;
    }

    /// Delivers the request; a client that has ended has nothing left to do.
    async fn tell(&self, request: Request) {
        if self.mailbox.send(request).await.is_err() {
            tracing::debug!("a request came after the client had ended");
        }
    }

    async fn ask<T>(
        &self,
        deadline: Instant,
        request: impl FnOnce(oneshot::Sender<T>) -> Request,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.tell(request(reply)).await;
            answer.await
        };
        match timeout_at(deadline, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Failure::new(
                FailureKind::Closed,
                "the connection closed before the answer came",
            )),
            Err(_) => Err(Failure::new(FailureKind::Timeout, "no answer in time")),
        }
    }
}
