//! What a server wrote beside its messages, as the Stderr tab shows it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::action::Action;
use super::logs::Log;
use crate::app::EngineHandle;
use crate::domain::ServerName;
use crate::mcp::LineKind;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StderrLine {
    /// Its number, from 1, growing by one with each line. One that comes again takes the place of
    /// the former.
    pub number: u64,
    /// The number of its last change, over all lines.
    pub change: u64,
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

/// What is new follows no faster than this: a flood is shown in steps.
const STEP: Duration = Duration::from_millis(100);

/// After how long a server that is being replaced is looked for again.
const AGAIN: Duration = Duration::from_millis(200);

/// What the server has said after the number (of a change, or a message), as soon as there is
/// something. Its numbers begin
/// anew where another client took the name meanwhile.
pub async fn follow(engine: EngineHandle, log: Log, name: ServerName, after: u64) -> Action {
    let mut after = after;
    if after > 0 {
        sleep(STEP).await;
    }
    loop {
        if let Some(client) = engine.client(&name).await {
            match log {
                Log::Stderr => {
                    if let Some(lines) = client.lines_after(after).await {
                        let lines = lines.into_iter().map(StderrLine::from).collect();
                        return Action::Lines(name, lines);
                    }
                }
                Log::Trace => {
                    if let Some(messages) = client.messages_after(after).await {
                        return Action::Messages(name, messages);
                    }
                }
            }
        }
        after = 0;
        sleep(AGAIN).await;
    }
}

impl From<crate::mcp::Line> for StderrLine {
    fn from(line: crate::mcp::Line) -> Self {
        Self {
            number: line.seq,
            change: line.change,
            kind: line.kind,
            text: line.text,
        }
    }
}
