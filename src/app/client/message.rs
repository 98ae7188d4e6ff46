//! What reaches a client actor: requests of handles, and reports of its own child tasks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::discovery::GroupOutcome;
use super::handle::Demand;
use super::refresh::Start;
use crate::app::definition::Definition;
use crate::domain::server::Mask;
use crate::domain::{Epoch, Failure, Group};
use crate::mcp::calls::ArgumentOf;
use crate::mcp::decode::completion::Completion;
use crate::mcp::decode::contents::Content;
use crate::mcp::decode::prompt::PromptText;
use crate::mcp::{Connection, Line, Message};

/// What a handle asks for.
#[derive(Debug)]
pub(super) enum Request {
    /// Read a resource.
    Read {
        uri: String,
        reply: oneshot::Sender<Result<Vec<Content>, Failure>>,
    },
    /// Get a prompt.
    GetPrompt {
        name: String,
        arguments: Vec<(String, String)>,
        reply: oneshot::Sender<Result<PromptText, Failure>>,
    },
    /// Complete an argument.
    Complete {
        of: ArgumentOf,
        argument: (String, String),
        context: Vec<(String, String)>,
        reply: oneshot::Sender<Result<Completion, Failure>>,
    },
    /// The catalog, clean if that can be had.
    Demand {
        group: Group,
        reply: oneshot::Sender<Demand>,
    },
    /// All listings of interest again.
    Refresh,
    /// Ask a remote server for a sign of life.
    CheckAlive,
    /// Switch on or off.
    SetEnabled(bool),
    /// Close the connection, if there is one, and open a new one.
    Reconnect,
    /// Another definition under the same name.
    Replace(Arc<Definition>),
    /// The same definition, written at another place.
    Relocate(Arc<Definition>),
    /// The kept lines after a number.
    LinesSince {
        change: u64,
        reply: oneshot::Sender<Vec<Line>>,
    },
    /// The kept lines after a change, as soon as there are some.
    LinesAfter {
        change: u64,
        reply: oneshot::Sender<Vec<Line>>,
    },
    /// The kept messages after a number, as soon as there are some.
    MessagesAfter {
        seq: u64,
        reply: oneshot::Sender<Vec<Message>>,
    },
    /// Close the connection and end.
    Shutdown,
}

/// What a child task reports. A report of an older epoch is dropped, whatever it says.
#[derive(Debug)]
pub(super) enum Report {
    /// Connecting ended; `None` where it was called off.
    Connected(Epoch, Option<Result<Opened, Failure>>),
    /// A refresh ended.
    Refreshed(Epoch, Refreshed),
    /// The other side ended the connection, and how.
    Lost(Epoch, Loss),
    /// The old connection is gone, its process reaped.
    Closed,
}

/// How a connection ended.
#[derive(Debug)]
pub(super) struct Loss {
    pub(super) cause: Failure,
    /// Whether only the session is gone, and the server takes a fresh one.
    pub(super) expired: bool,
}

/// A connection that is open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Box<Connection>,
    /// Hides the secrets of the definition in whatever the server says.
    pub(super) mask: Mask,
}

/// A refresh that ended.
#[derive(Debug)]
pub(super) struct Refreshed {
    pub(super) group: Group,
    pub(super) start: Start,
    pub(super) took: Duration,
    pub(super) outcome: GroupOutcome,
}
