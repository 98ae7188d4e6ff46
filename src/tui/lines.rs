//! What a server wrote beside its messages, as the Stderr tab shows it.

use std::sync::Arc;

use crate::app::EngineHandle;
use crate::domain::ServerName;
use crate::mcp::LineKind;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StderrLine {
    /// Its number, from 1, growing by one with each line.
    pub number: u64,
    /// Where it came from.
    pub kind: LineKind,
    /// What it says, sanitized.
    pub text: Arc<str>,
}

impl StderrLine {
    /// The word beside the line; none for stderr itself.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.kind {
            LineKind::Stderr => "",
            LineKind::Noise => "noise",
            LineKind::Log => "log",
        }
    }
}

/// The lines that are kept of the server, after the number. The first may have a higher number
/// than the next, where older ones were dropped.
pub async fn lines_since(engine: EngineHandle, name: ServerName, after: u64) -> Vec<StderrLine> {
    let Some(client) = engine.client(&name).await else {
        return Vec::new();
    };
    let lines = client.lines_since(after).await;
    lines
        .into_iter()
        .map(|line| StderrLine {
            number: line.seq,
            kind: line.kind,
            text: line.text,
        })
        .collect()
}
