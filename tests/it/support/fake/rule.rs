//! Rules: how a request is answered instead of the default way.
//!
//! A rule matches by method, by the number of the request and by its parameters. The most
//! specific one wins; among equals the newest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Action, Exit};

/// One rule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// The method of a request or notification, `GET` or `DELETE` for those of HTTP, `*` for any.
    pub method: String,
    /// Only the nth message of this method, counted from 1.
    pub nth: Option<u64>,
    /// Only the nth message of this method and all later ones.
    pub from: Option<u64>,
    /// Only where `params` has all these members.
    pub params: Option<Value>,
    /// What happens.
    pub reply: Reply,
}

/// What happens to a request. Without `result`, `error` or `raw` the default answer is given,
/// unless `silence`, `exit` or `close_stdout` ask for none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the JSON"
)]
pub struct Reply {
    /// The result, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Value>,
    /// The result as JSON text, which may hold what a JSON value cannot (duplicate keys, lone
    /// surrogates, broken JSON).
    pub result_text: Option<String>,
    /// The error object, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub error: Option<Value>,
    /// Exact bytes instead of an answer, line end included. `{id}` in a text stands for the
    /// request id, `{result}` for the default result.
    pub raw: Option<Vec<Part>>,
    /// Waits before the answer.
    pub delay_ms: u64,
    /// Keeps the request until [`Action::Release`] lets it go.
    pub hold: bool,
    /// Computes a delayed or held answer when it is sent, not when it was asked for.
    pub fresh: bool,
    /// Never answers.
    pub silence: bool,
    /// Answers even though the client cancelled meanwhile.
    pub ignore_cancel: bool,
    /// Gives the default answer although `exit` or `close_stdout` is set.
    pub default: bool,
    /// Done before the answer.
    pub before: Vec<Action>,
    /// Done after the answer.
    pub after: Vec<Action>,
    /// Ends the server, after the answer if there is one.
    pub exit: Option<Exit>,
    /// Closes stdout, after the answer if there is one; the server lives on.
    pub close_stdout: bool,
    /// How the answer looks over HTTP.
    pub http: HttpReply,
}

/// The HTTP side of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpReply {
    /// The status code; 200 for requests, 202 for notifications when absent.
    pub status: Option<u16>,
    /// Additional headers; they win over the default ones.
    pub headers: BTreeMap<String, String>,
    /// Answers as an SSE stream (`true`) or as JSON (`false`); as the script says when absent.
    pub sse: Option<bool>,
    /// Breaks the connection off instead of ending the body.
    pub abort: bool,
}

/// A part of raw output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// Text, with `{id}` and `{result}` substituted.
    Text(String),
    /// A text repeated.
    Fill {
        /// The text.
        fill: String,
        /// How often.
        count: usize,
    },
    /// Bytes, which need not be UTF-8.
    Bytes(Vec<u8>),
    /// Bytes repeated.
    FillBytes {
        /// The bytes.
        bytes: Vec<u8>,
        /// How often.
        count: usize,
    },
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Part {
    /// A text repeated `count` times.
    pub fn fill(fill: &str, count: usize) -> Self {
        Self::Fill {
            fill: fill.to_owned(),
            count,
        }
    }

    /// Appends this part to the output.
    pub fn write_to(&self, out: &mut Vec<u8>, substitute: &dyn Fn(&str) -> String) {
        match self {
            Self::Text(text) => out.extend_from_slice(substitute(text).as_bytes()),
            Self::Fill { fill, count } => {
                out.reserve(fill.len() * count);
                for _ in 0..*count {
                    out.extend_from_slice(fill.as_bytes());
                }
            }
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
            Self::FillBytes { bytes, count } => out.extend_from_slice(&bytes.repeat(*count)),
        }
    }
}

impl Rule {
    /// A rule for every message of a method.
    pub fn on(method: &str, reply: Reply) -> Self {
        Self {
            method: method.to_owned(),
            reply,
            ..Self::default()
        }
    }

    /// Restricts the rule to the nth message, counted from 1.
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Restricts the rule to the nth message and all later ones.
    pub fn from(mut self, nth: u64) -> Self {
        self.from = Some(nth);
        self
    }

    /// Restricts the rule to messages whose parameters have all these members.
    pub fn params(mut self, params: Value) -> Self {
        self.params = Some(params);
        self
    }

    /// How specific the rule is for this message; `None` where it does not match.
    pub fn matches(&self, method: &str, nth: u64, params: Option<&Value>) -> Option<u8> {
        if self.method != method && self.method != "*" {
            return None;
        }
        if self.nth.is_some_and(|wanted| wanted != nth)
            || self.from.is_some_and(|first| nth < first)
        {
            return None;
        }
        if let Some(wanted) = &self.params {
            params.filter(|params| contains(params, wanted))?;
        }
        let specific = [
            (self.nth.is_some(), 8),
            (self.params.is_some(), 4),
            (self.from.is_some(), 2),
            (self.method != "*", 1),
        ];
        Some(specific.iter().filter(|(is, _)| *is).map(|(_, n)| n).sum())
    }
}

impl Reply {
    /// A result.
    pub fn result(result: Value) -> Self {
        Self {
            result: Some(result),
            ..Self::default()
        }
    }

    /// A result given as JSON text.
    pub fn result_text(text: impl Into<String>) -> Self {
        Self {
            result_text: Some(text.into()),
            ..Self::default()
        }
    }

    /// An error with a code and a message.
    pub fn error(code: i64, message: &str) -> Self {
        Self {
            error: Some(json!({"code": code, "message": message})),
            ..Self::default()
        }
    }

    /// An error object, verbatim.
    pub fn error_object(error: Value) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }

    /// Exact bytes, with `{id}` and `{result}` substituted; no line end is added.
    pub fn raw(text: &str) -> Self {
        Self::parts(vec![Part::from(text)])
    }

    /// Exact bytes in parts.
    pub fn parts(parts: Vec<Part>) -> Self {
        Self {
            raw: Some(parts),
            ..Self::default()
        }
    }

    /// No answer, ever.
    pub fn silence() -> Self {
        Self {
            silence: true,
            ..Self::default()
        }
    }

    /// The default answer, once [`Action::Release`] lets it go.
    pub fn hold() -> Self {
        Self {
            hold: true,
            ..Self::default()
        }
    }

    /// The default answer after a while.
    pub fn delay(ms: u64) -> Self {
        Self::default().delayed(ms)
    }

    /// The default answer after a while, even though the client cancelled.
    pub fn late(ms: u64) -> Self {
        Self {
            delay_ms: ms,
            ignore_cancel: true,
            ..Self::default()
        }
    }

    /// Exit instead of an answer.
    pub fn exit(code: i32, stderr: &str) -> Self {
        Self::default().then_exit(code, stderr)
    }

    /// A closed stdout instead of an answer.
    pub fn close_stdout() -> Self {
        Self {
            close_stdout: true,
            ..Self::default()
        }
    }

    /// An HTTP status with an empty body.
    pub fn status(status: u16) -> Self {
        Self::raw("").with_status(status)
    }

    /// Waits before the answer.
    pub fn delayed(mut self, ms: u64) -> Self {
        self.delay_ms = ms;
        self
    }

    /// Ends the server afterwards.
    pub fn then_exit(mut self, code: i32, stderr: &str) -> Self {
        self.exit = Some(Exit::new(code, stderr));
        self
    }

    /// Gives the default answer although the server ends or closes stdout afterwards.
    pub fn with_default(mut self) -> Self {
        self.default = true;
        self
    }

    /// Computes a delayed or held answer when it is sent.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Answers even though the client cancelled.
    pub fn ignoring_cancel(mut self) -> Self {
        self.ignore_cancel = true;
        self
    }

    /// Does something before the answer.
    pub fn before(mut self, action: Action) -> Self {
        self.before.push(action);
        self
    }

    /// Does something after the answer.
    pub fn after(mut self, action: Action) -> Self {
        self.after.push(action);
        self
    }

    /// Sets the HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.http.status = Some(status);
        self
    }

    /// Adds an HTTP header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.http.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Answers over HTTP as an SSE stream, or as JSON.
    pub fn sse(mut self, sse: bool) -> Self {
        self.http.sse = Some(sse);
        self
    }

    /// Breaks the HTTP connection off instead of ending the body.
    pub fn abort(mut self) -> Self {
        self.http.abort = true;
        self
    }

    /// Whether an answer is given that the rule spells out.
    pub fn is_explicit(&self) -> bool {
        self.result.is_some()
            || self.result_text.is_some()
            || self.error.is_some()
            || self.raw.is_some()
    }

    /// Whether the default answer is given.
    pub fn is_default(&self) -> bool {
        !self.is_explicit()
            && (self.default || !(self.silence || self.exit.is_some() || self.close_stdout))
    }
}

/// Tells `null` from absent: what is there is `Some`, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// Whether `value` has all that `wanted` has; objects are compared member by member.
fn contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| value.get(key).is_some_and(|value| contains(value, wanted))),
        _ => value == wanted,
    }
}
