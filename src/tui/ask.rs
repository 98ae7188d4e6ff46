//! What a layer asks for and waits for. It is answered on a task of its own, and the answer goes
//! to the layer that awaits it; a layer that is gone cancels what it had asked for.
//!
//! To add one: a variant of [`Ask`] with what is needed, one of [`Answer`] with what comes back,
//! and an arm in [`answer`]. The layer keeps the [`Ticket`] and drops answers to any other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::aside::{Aside, Wanted};
use super::document::Document;
use super::find;
use super::import;
use super::import::listing::Listing;
use super::reader::search;
use crate::app::import::{Copied, How};
use crate::app::{ClientHandle, EngineHandle, Manager, NewServer, Told};
use crate::config::ConfigError;
use crate::config::import::Candidate;
use crate::domain::{Failure, FailureKind, ServerName};
use crate::mcp::calls::ArgumentOf;
use crate::mcp::decode::completion::Completion;

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

/// What a server can be asked for that the reader shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What the resource holds. The URI is sent as it is.
    Resource(String),
    /// The messages of the prompt of the name, with its arguments.
    Prompt(String, Vec<(String, String)>),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Something of the server to be shown.
    Read(ServerName, Source),
    /// Values for an argument of something of the server.
    Complete(ServerName, Argument),
    /// Which lines of the document's part have the text.
    Search(Arc<Document>, usize, String),
    /// Which servers and items have the text.
    Find(find::Query),
    /// That the server be added.
    Add(Box<NewServer>),
    /// What servers other tools have.
    Scan,
    /// That the servers be copied.
    Import(Vec<Candidate>, How),
}

/// An argument that values are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// What it belongs to.
    pub of: ArgumentOf,
    /// What it is called.
    pub name: String,
    /// What is typed so far.
    pub typed: String,
    /// The others that are filled in.
    pub others: Vec<(String, String)>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What there is to show, or why there is nothing.
    Read(Result<Arc<Document>, Failure>),
    /// Values for an argument, or why there are none.
    Completed(Result<Completion, Failure>),
    /// The lines that have a text.
    Found(Vec<usize>),
    /// The servers and items that have a text.
    Hits(find::Found),
    /// What became of a server that was to be added, or why it was not.
    Added(Result<Told, Failure>),
    /// What servers other tools have, or why that cannot be told.
    Scanned(import::Scanned),
    /// What became of the servers that were to be copied, or why none was.
    Imported(Result<Vec<(ServerName, Copied)>, ConfigError>),
}

/// How long a server's answer is waited for. Each request has its own, shorter bound in the
/// client; this one is only there if that fails.
const PATIENCE: Duration = Duration::from_hours(1);

/// How long nothing must be typed before values are asked for.
const PAUSE: Duration = Duration::from_millis(120);

/// Finds the answer. Dropping the future cancels what was asked of a server.
pub async fn answer(ask: Ask, manager: Manager, aside: Aside) -> Answer {
    let engine = manager.engine().clone();
    match ask {
        Ask::Add(server) => Answer::Added(manager.add(*server).await),
        Ask::Read(server, source) => Answer::Read(read(&engine, &aside, &server, source).await),
        Ask::Complete(server, argument) => {
            // What is typed meanwhile makes this future be dropped, and another one take its place.
            tokio::time::sleep(PAUSE).await;
            Answer::Completed(complete(&engine, &server, argument).await)
        }
        Ask::Search(document, part, needle) => {
            let find = move |wanted: &Wanted| search::find(&document, part, &needle, wanted);
            Answer::Found(aside.run(find).await.unwrap_or_default())
        }
        Ask::Scan => Answer::Scanned(scan(&manager, &aside).await),
        Ask::Import(chosen, how) => Answer::Imported(manager.import(chosen, how).await),
        Ask::Find(query) => {
            let find = move |wanted: &Wanted| query.run(wanted);
            Answer::Hits(aside.run(find).await.unwrap_or_default())
        }
    }
}

async fn read(
    engine: &EngineHandle,
    aside: &Aside,
    server: &ServerName,
    source: Source,
) -> Result<Arc<Document>, Failure> {
    let client = client(engine, server).await?;
    let deadline = Instant::now() + PATIENCE;
    let document = match source {
        Source::Resource(uri) => {
            let contents = client.read(&uri, deadline).await?;
            let lay_out = move |wanted: &Wanted| Document::of(contents, wanted);
            aside.run(lay_out).await
        }
        Source::Prompt(name, arguments) => {
            let prompt = client.get_prompt(&name, arguments, deadline).await?;
            let lay_out = move |wanted: &Wanted| Document::messages(&name, prompt, wanted);
            aside.run(lay_out).await
        }
    };
    let broken = || Failure::new(FailureKind::Malformed, "the contents cannot be shown");
    document.map(Arc::new).ok_or_else(broken)
}

async fn complete(
    engine: &EngineHandle,
    server: &ServerName,
    asked: Argument,
) -> Result<Completion, Failure> {
    let client = client(engine, server).await?;
    let argument = (asked.name, asked.typed);
    client
        .complete(asked.of, argument, asked.others, Instant::now() + PATIENCE)
        .await
}

async fn scan(manager: &Manager, aside: &Aside) -> import::Scanned {
    let findings = manager.scan().await?;
    let listing = aside.run(move |_| Listing::new(findings)).await;
    let broken = || ConfigError::Usage("what was found cannot be listed".into());
    listing.map(Arc::new).ok_or_else(broken)
}

async fn client(engine: &EngineHandle, server: &ServerName) -> Result<ClientHandle, Failure> {
    let removed = || Failure::new(FailureKind::Closed, "the server was removed");
    engine.client(server).await.ok_or_else(removed)
}
