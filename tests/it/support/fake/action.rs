//! What a fake does on its own accord: at a moment that the script names, or when told to.
//!
//! The same values are the commands of the control channel, one JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Grandchild, Listing, Part, Rule};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Sends a notification, once or many times.
    Notify(Notice),
    /// Sends a request to the client; its answer is recorded.
    Ask(Ask),
    /// Writes exact bytes to every open channel to the client (stdout, or the HTTP streams).
    WriteStdout(Vec<Part>),
    /// Writes text to stderr.
    WriteStderr(String),
    /// Writes about so many bytes of log lines to stderr.
    FloodStderr(usize),
    /// Replaces listings, by method.
    SetPages(BTreeMap<String, Listing>),
    /// Adds a rule; among equally specific ones the newest wins.
    Rule(Box<Rule>),
    /// Forgets every rule of a method.
    ClearRules(String),
    /// Answers the held requests of a method, oldest first.
    Release(Release),
    /// Waits before the next action of the same list; answers go on meanwhile.
    WaitMs(u64),
    /// Ends the server.
    Exit(Exit),
    /// Closes the channel to the client; the server lives on.
    CloseStdout,
    /// Starts a child that inherits the pipes (processes only).
    Grandchild(Grandchild),
    /// Ends all `subscriptions/listen` streams, with a final result or by just closing them.
    EndSubscriptions {
        /// Whether the final result is sent.
        graceful: bool,
    },
    /// Forgets all HTTP sessions: later requests that name one get 404.
    ExpireSessions,
    /// Closes the HTTP streams that carry server messages (GET streams).
    CloseStreams,
    /// Requires this bearer token from now on, or none.
    SetBearer(Option<String>),
    /// Records an event `sync` with this number, after everything that was read before.
    Sync(u64),
}

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notice {
    /// The method, `notifications/` included.
    pub method: String,
    /// Parameters, verbatim.
    pub params: Option<Value>,
    /// How often it is sent.
    pub count: u64,
    /// Milliseconds between two of them; 0 sends them in one write.
    pub spacing_ms: u64,
    /// Sends a `list_changed` in the modern era even where nobody subscribed to it.
    pub unsolicited: bool,
}

impl Default for Notice {
    fn default() -> Self {
        Self {
            method: String::new(),
            params: None,
            count: 1,
            spacing_ms: 0,
            unsolicited: false,
        }
    }
}

/// A request from the server to the client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// The method: `ping`, `roots/list`, `sampling/createMessage`, ...
    pub method: String,
    /// Parameters, verbatim.
    pub params: Option<Value>,
    /// The request id; a counter from 1 when absent (it collides with the client's own ids).
    pub id: Option<Value>,
}

/// Which held requests to answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Release {
    /// The method; empty means every method.
    pub method: String,
    /// How many of them; all when absent.
    pub count: Option<usize>,
}

/// How the server ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Exit {
    /// The exit status.
    pub code: i32,
    /// Text for stderr, written before.
    pub stderr: Option<String>,
}

impl Action {
    /// A `list_changed` notification of `resources`, `tools` or `prompts`, `count` times.
    pub fn list_changed(kind: &str, count: u64) -> Self {
        Self::Notify(Notice {
            method: format!("notifications/{kind}/list_changed"),
            count,
            ..Notice::default()
        })
    }

    /// A notification with parameters.
    pub fn notify(method: &str, params: Value) -> Self {
        Self::Notify(Notice {
            method: method.to_owned(),
            params: Some(params),
            ..Notice::default()
        })
    }

    /// A request to the client without parameters, with a counted id.
    pub fn ask(method: &str) -> Self {
        Self::Ask(Ask {
            method: method.to_owned(),
            ..Ask::default()
        })
    }

    /// Text on stdout, verbatim.
    pub fn stdout(text: &str) -> Self {
        Self::WriteStdout(vec![Part::from(text)])
    }

    /// Text on stderr, verbatim.
    pub fn stderr(text: &str) -> Self {
        Self::WriteStderr(text.to_owned())
    }

    /// Replaces the listing of one method.
    pub fn set_pages(method: &str, listing: Listing) -> Self {
        Self::SetPages(BTreeMap::from([(method.to_owned(), listing)]))
    }

    /// Adds a rule.
    pub fn rule(rule: Rule) -> Self {
        Self::Rule(Box::new(rule))
    }

    /// Answers all held requests of a method.
    pub fn release(method: &str) -> Self {
        Self::Release(Release {
            method: method.to_owned(),
            count: None,
        })
    }

    /// Answers the oldest held request of a method.
    pub fn release_one(method: &str) -> Self {
        Self::Release(Release {
            method: method.to_owned(),
            count: Some(1),
        })
    }

    /// Ends the server with a status and a text on stderr.
    pub fn exit(code: i32, stderr: &str) -> Self {
        Self::Exit(Exit::new(code, stderr))
    }
}

impl Exit {
    /// An exit with a status and a text on stderr (none when empty).
    pub fn new(code: i32, stderr: &str) -> Self {
        Self {
            code,
            stderr: (!stderr.is_empty()).then(|| stderr.to_owned()),
        }
    }
}
