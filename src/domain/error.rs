//! Failures as values: typed, cloneable, and written for the person who has to act.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::ids::ListMethod;

/// What kind of failure it is; the words of the JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Could not start or reach it, it ended or refused during the handshake, or answered with an HTTP error.
    Connect,
    /// No answer in time, of the handshake too.
    Timeout,
    /// The connection ended after the handshake.
    Closed,
    /// The server answered with a JSON-RPC error (or asked for input that is not given: no code).
    Rpc {
        /// The numeric code of the error answer, where there was one.
        code: Option<i64>,
    },
    /// The answer breaks the protocol, or a line or body is over the limit.
    Malformed,
    /// A cursor came a second time in one traversal.
    RepeatedCursor,
    /// Page 100 still had a cursor.
    PageLimit,
    /// More than 10,000 items.
    ItemLimit,
    /// More bytes than a listing may keep.
    ByteLimit,
    /// A log-in is missing or was refused.
    Auth,
    /// The server's definition is wrong.
    Config,
}

impl FailureKind {
    /// The word of the JSON output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Closed => "closed",
            Self::Rpc { .. } => "rpc",
            Self::Malformed => "malformed",
            Self::RepeatedCursor => "repeated_cursor",
            Self::PageLimit => "page_limit",
            Self::ItemLimit => "item_limit",
            Self::ByteLimit => "byte_limit",
            Self::Auth => "auth",
            Self::Config => "config",
        }
    }

    /// The JSON-RPC code, if the failure has one.
    #[must_use]
    pub const fn code(self) -> Option<i64> {
        match self {
            Self::Rpc { code } => code,
            Self::Connect
            | Self::Timeout
            | Self::Closed
            | Self::Malformed
            | Self::RepeatedCursor
            | Self::PageLimit
            | Self::ItemLimit
            | Self::ByteLimit
            | Self::Auth
            | Self::Config => None,
        }
    }
}

/// One failure. The message is a lower-case fragment, sanitized, without secrets and cursors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// What happened: the cause, and what to do next where there is something to do.
    pub message: Arc<str>,
}

impl Failure {
    /// A failure of the kind with the message.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<Arc<str>>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// What went wrong with a list method (or, with `method` absent, with the connection), told so
/// that the Errors tab needs nothing else. It stands until the next success of the same method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryError {
    /// Which list method was asked; `None` for the connection itself.
    pub method: Option<ListMethod>,
    /// What came back, the last time.
    pub failure: Failure,
    /// When it happened last.
    pub at: SystemTime,
    /// How often in a row.
    pub count: u32,
    /// Whether older data is still shown.
    pub kept: bool,
}
