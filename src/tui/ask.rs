//! What a layer asks for and waits for. It is answered on a task of its own, and the answer goes
//! to the layer that awaits it; a layer that is gone cancels what it had asked for.
//!
//! To add one: a variant of [`Ask`] with what is needed, one of [`Answer`] with what comes back,
//! and an arm in [`answer`]. The layer keeps the [`Ticket`] and drops answers to any other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::document::Document;
use super::find;
use super::reader::search;
use crate::app::EngineHandle;
use crate::domain::{Failure, FailureKind, ServerName};

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
    /// Which lines of the document's part have the text.
    Search(Arc<Document>, usize, String),
    /// Which servers and items have the text.
    Find(find::Query),
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The contents of a resource, or why there are none.
    Read(Result<Arc<Document>, Failure>),
    /// The lines that have a text.
    Found(Vec<usize>),
    /// The servers and items that have a text.
    Hits(find::Found),
}

/// How long a server's answer is waited for. Each request has its own, shorter bound in the
/// client; this one is only there if that fails.
const PATIENCE: Duration = Duration::from_hours(1);

/// Finds the answer. Dropping the future cancels what was asked of a server.
pub async fn answer(ask: Ask, engine: EngineHandle) -> Answer {
    match ask {
        Ask::Read(server, uri) => Answer::Read(read(&engine, &server, &uri).await),
        Ask::Search(document, part, needle) => {
            let found = aside(move || search::find(&document, part, &needle)).await;
            Answer::Found(found.unwrap_or_default())
        }
        Ask::Find(query) => Answer::Hits(aside(move || query.run()).await.unwrap_or_default()),
    }
}

async fn read(
    engine: &EngineHandle,
    server: &ServerName,
    uri: &str,
) -> Result<Arc<Document>, Failure> {
    let removed = || Failure::new(FailureKind::Closed, "the server was removed");
    let client = engine.client(server).await.ok_or_else(removed)?;
    let contents = client.read(uri, Instant::now() + PATIENCE).await?;
    let document = aside(move || Document::of(contents)).await;
    let broken = || Failure::new(FailureKind::Malformed, "the contents cannot be shown");
    document.map(Arc::new).ok_or_else(broken)
}

/// Does on another thread what takes time; `None` where it panicked.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
