//! How an answer travels through rmcp to the one who asked: as text inside a custom result.
//!
//! rmcp only routes answers by id. Its result types are decoded as an untagged union, which turns
//! one defect of one item into "unexpected response"; so the raw text is handed over instead, and
//! the caller decodes it strictly.

use rmcp::model::{CustomResult, ServerResult};
use serde_json::Value;

use crate::domain::{Failure, FailureKind};

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The raw JSON of `result`.
    Result(String),
    /// A JSON-RPC error (JSON-RPC 2.0, section 5.1).
    Error(RpcError),
    /// The answer breaks the protocol, and how.
    Malformed(String),
    /// There is no answer.
    Undelivered(Undelivered),
}

/// A request that got no answer: it could not be delivered, or its answer was lost on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// What happened.
    pub failure: Failure,
    /// What became of the request.
    pub fate: Fate,
}

/// What became of a request that got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It could not be delivered.
    Undelivered,
    /// It was taken, and the stream broke before the answer: asking again may help.
    Lost,
    /// It was refused, and will be refused again.
    Refused,
}

/// A JSON-RPC error whose code is an integer. The message is the server's, not yet sanitized.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message; empty where the server gave none.
    pub message: String,
    /// Further data.
    pub data: Option<Value>,
}

const RESULT: char = 'R';
const ERROR: char = 'E';
const MALFORMED: char = 'M';
const UNDELIVERED: char = 'U';
const LOST: char = 'L';
const REFUSED: char = 'F';

/// The kinds of failure that a transport tells, each with a character for the way.
const KINDS: [(FailureKind, char); 6] = [
    (FailureKind::Connect, 'c'),
    (FailureKind::Closed, 'x'),
    (FailureKind::Auth, 'a'),
    (FailureKind::Timeout, 't'),
    (FailureKind::Malformed, 'm'),
    (FailureKind::Config, 'g'),
];

impl Reply {
    /// The reply as one text: a tag and the rest.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Result(mut raw) => {
                raw.push(RESULT);
                raw
            }
            Self::Error(error) => {
                let mut text = serde_json::to_string(&error).unwrap_or_default();
                text.push(ERROR);
                text
            }
            Self::Malformed(mut reason) => {
                reason.push(MALFORMED);
                reason
            }
            Self::Undelivered(Undelivered { failure, fate }) => {
                let kind = KINDS.iter().find(|(kind, _)| *kind == failure.kind);
                let mut text = failure.message.to_string();
                text.push(kind.map_or('c', |(_, sign)| *sign));
                text.push(match fate {
                    Fate::Undelivered => UNDELIVERED,
                    Fate::Lost => LOST,
                    Fate::Refused => REFUSED,
                });
                text
            }
        }
    }

    /// The reply of a text made by [`Reply::into_text`].
    #[must_use]
    pub fn from_text(mut text: String) -> Self {
        match text.pop() {
            Some(RESULT) => Self::Result(text),
            Some(MALFORMED) => Self::Malformed(text),
            Some(ERROR) => serde_json::from_str(&text)
                .map_or_else(|error| Self::Malformed(error.to_string()), Self::Error),
            Some(sign @ (UNDELIVERED | LOST | REFUSED)) => {
                let kind = text.pop();
                let kind = KINDS.iter().find(|(_, sign)| Some(*sign) == kind);
                Self::Undelivered(Undelivered {
                    failure: Failure::new(
                        kind.map_or(FailureKind::Connect, |(kind, _)| *kind),
                        text,
                    ),
                    fate: match sign {
                        LOST => Fate::Lost,
                        REFUSED => Fate::Refused,
                        _ => Fate::Undelivered,
                    },
                })
            }
            Some(_) | None => Self::Malformed("the answer was not read by the transport".into()),
        }
    }
}

impl From<Reply> for ServerResult {
    fn from(reply: Reply) -> Self {
        Self::CustomResult(CustomResult(Value::String(reply.into_text())))
    }
}

impl From<ServerResult> for Reply {
    fn from(result: ServerResult) -> Self {
        match result {
            ServerResult::CustomResult(CustomResult(Value::String(text))) => Self::from_text(text),
            other => serde_json::to_string(&other)
                .map_or_else(|error| Self::Malformed(error.to_string()), Self::Result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reply_survives_the_way_through_rmcp() {
        for reply in [
            Reply::Result(r#"{"tools":[]}"#.into()),
            Reply::Malformed("both result and error".into()),
            Reply::Error(RpcError {
                code: -32601,
                message: "no".into(),
                data: Some(Value::from(1)),
            }),
            Reply::Undelivered(Undelivered {
                failure: Failure::new(FailureKind::Closed, "the stream broke off"),
                fate: Fate::Lost,
            }),
            Reply::Undelivered(Undelivered {
                failure: Failure::new(FailureKind::Auth, "HTTP 401"),
                fate: Fate::Undelivered,
            }),
            Reply::Undelivered(Undelivered {
                failure: Failure::new(FailureKind::Connect, "HTTP 404"),
                fate: Fate::Refused,
            }),
        ] {
            assert_eq!(Reply::from(ServerResult::from(reply.clone())), reply);
        }
    }
}
