//! The record of what a fake saw: one entry for each message and event.
//!
//! An entry is written before the message is answered, so whoever has the answer can count it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place that keeps entries.
pub trait Record: Send {
    /// Keeps one entry.
    fn record(&mut self, entry: &Logged);
}

/// One entry: a message of the client or an event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logged {
    /// The number of the entry, from 0.
    pub n: u64,
    /// Milliseconds since the start of the fake, on tokio's clock.
    pub at_ms: u64,
    /// What happened, if it is no message: `started`, `eof`, `exit`, `signal`, `grandchild`,
    /// `stderr`, `sync`, `cancelled`, `gone` (the client closed a response stream), `http`,
    /// `unparsed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The method of a request or notification; for a response, the method it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The id of a request or response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// The parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// The result, if the client answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error, if the client answered with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// HTTP headers, names in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// HTTP verb and path of what is not a POST to the MCP endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Text that goes with an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A number that goes with an event: pid, exit status, sync number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
}

impl Logged {
    /// An entry for an event.
    pub fn event(event: &str) -> Self {
        Self {
            event: Some(event.to_owned()),
            ..Self::default()
        }
    }

    /// Adds a number.
    pub fn value(mut self, value: i64) -> Self {
        self.value = Some(value);
        self
    }

    /// Adds a text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Whether it is a request or notification (or `GET`, `DELETE`) of this method.
    pub fn is(&self, method: &str) -> bool {
        self.event.is_none()
            && self.method.as_deref() == Some(method)
            && self.result.is_none()
            && self.error.is_none()
    }

    /// Whether it is this event.
    pub fn is_event(&self, event: &str) -> bool {
        self.event.as_deref() == Some(event)
    }
}

/// Entries in a file, one JSON object a line.
#[derive(Debug)]
pub struct FileRecord(File);

impl FileRecord {
    /// Appends to this file.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(file))
    }
}

impl Record for FileRecord {
    fn record(&mut self, entry: &Logged) {
        // One write for each line, so that two processes never mix theirs.
        let _ = self.0.write_all(line(entry).as_bytes());
    }
}

/// An entry as one line of JSON.
pub fn line(entry: &Logged) -> String {
    let mut line = serde_json::to_string(entry).unwrap_or_default();
    line.push('\n');
    line
}
