//! What a layer asks for and waits for. It is answered on a task of its own, and the answer goes
//! to the layer that awaits it; a layer that is gone cancels what it had asked for.
//!
//! To add one: a variant of [`Ask`] with what is needed, one of [`Answer`] with what comes back,
//! and an arm in [`answer`]. The layer keeps the [`Ticket`] and drops answers to any other.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::EngineHandle;
use crate::domain::{Failure, FailureKind, ServerName};
use crate::mcp::decode::contents::Content;

/// Tells the answers to different questions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ticket(u64);

impl Ticket {
    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// What the server's resource holds. The URI is sent as it is.
    Read(ServerName, String),
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The contents of a resource, or why there are none.
    Read(Result<Vec<Content>, Failure>),
}

/// How long a server's answer is waited for. Each request has its own, shorter bound in the
/// client; this one is only there if that fails.
const PATIENCE: Duration = Duration::from_hours(1);

/// Finds the answer. Dropping the future cancels what was asked of a server.
pub async fn answer(ask: Ask, engine: EngineHandle) -> Answer {
    match ask {
        Ask::Read(server, uri) => Answer::Read(match engine.client(&server).await {
            Some(client) => client.read(&uri, Instant::now() + PATIENCE).await,
            None => Err(Failure::new(FailureKind::Closed, "the server was removed")),
        }),
    }
}
