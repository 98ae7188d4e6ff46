//! What is known of the selected server's stderr and messages. While a tab shows them, whatever is
//! new is asked for; while none does, nothing is.

use std::collections::VecDeque;
use std::sync::Arc;

use super::action::Effect;
use super::ask::Ticket;
use super::lines::StderrLine;
use super::rows::Tab;
use crate::domain::ServerName;
use crate::mcp::{Message, MessageKind};

/// How many lines or messages are kept.
const KEPT: usize = 1_000;

/// Something that a server says bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Log {
    /// Its stderr, noise and log messages.
    Stderr,
    /// The messages in both directions.
    Trace,
}

/// What has been said so far.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    server: Option<ServerName>,
    stderr: Arc<VecDeque<StderrLine>>,
    messages: Arc<VecDeque<Message>>,
    /// What is waited for.
    follows: Option<(Ticket, Log)>,
    /// Whether only errors of the trace are shown.
    only_errors: bool,
    /// All messages, and the errors among them.
    errors: (Arc<VecDeque<Message>>, Arc<VecDeque<Message>>),
}

impl Logs {
    /// Makes them those of the server.
    pub fn of(&mut self, server: Option<&ServerName>) {
        if self.server.as_ref() != server {
            *self = Self {
                server: server.cloned(),
                only_errors: self.only_errors,
                ..Self::default()
            };
        }
    }

    /// The lines.
    #[must_use]
    pub const fn stderr(&self) -> &Arc<VecDeque<StderrLine>> {
        &self.stderr
    }

    /// The messages that are shown.
    pub fn messages(&mut self) -> &Arc<VecDeque<Message>> {
        if !self.only_errors {
            return &self.messages;
        }
        if !Arc::ptr_eq(&self.errors.0, &self.messages) {
            let errors = self.messages.iter();
            let errors = errors.filter(|message| message.kind == MessageKind::Error);
            self.errors = (
                Arc::clone(&self.messages),
                Arc::new(errors.cloned().collect()),
            );
        }
        &self.errors.1
    }

    /// Whether only errors of the trace are shown.
    #[must_use]
    pub const fn shows_only_errors(&self) -> bool {
        self.only_errors
    }

    /// Shows only errors, or all messages again.
    pub const fn switch_only_errors(&mut self) {
        self.only_errors = !self.only_errors;
    }

    /// What an open tab lacks and nobody waits for yet.
    pub fn wanted(&mut self, tab: Tab, next_ticket: impl FnOnce() -> Ticket) -> Option<Effect> {
        let wanted = match tab {
            Tab::Stderr | Tab::Errors => Some(Log::Stderr),
            Tab::Trace => Some(Log::Trace),
            Tab::Items(_) | Tab::Events => None,
        };
        let (Some(log), Some(server)) = (wanted, self.server.clone()) else {
            self.follows = None;
            return None;
        };
        if self.follows.is_some_and(|(_, followed)| followed == log) {
            return None;
        }
        let ticket = next_ticket();
        self.follows = Some((ticket, log));
        let last = match log {
            Log::Stderr => self.last_change(),
            Log::Trace => self.messages.back().map_or(0, |message| message.seq),
        };
        Some(Effect::Follow(ticket, log, server, last))
    }

    /// The number of the last change of the lines; 0 where there are none.
    #[must_use]
    pub fn last_change(&self) -> u64 {
        let changes = self.stderr.iter().map(|line| line.change);
        changes.max().unwrap_or(0)
    }

    /// Whether what the ticket stands for is waited for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.follows.is_some_and(|(followed, _)| followed == ticket)
    }

    /// Takes lines, unless they are another server's. Changes that begin anew are those of another
    /// client of the same name.
    pub fn take_lines(&mut self, server: &ServerName, lines: Vec<StderrLine>) {
        if self.server.as_ref() == Some(server) {
            self.follows = None;
            let last = self.last_change();
            let is_known = |line: &StderrLine| line.change <= last;
            let kept = Arc::make_mut(&mut self.stderr);
            if lines.iter().any(is_known) {
                kept.clear();
            }
            for line in lines {
                match kept.binary_search_by_key(&line.number, |kept| kept.number) {
                    Ok(at) => kept[at] = line,
                    Err(at) => kept.insert(at, line),
                }
            }
            cut(kept);
        }
    }

    /// Takes messages, unless they are another server's. As with lines, numbers may begin anew.
    pub fn take_messages(&mut self, server: &ServerName, messages: Vec<Message>) {
        if self.server.as_ref() == Some(server) {
            self.follows = None;
            let kept = Arc::make_mut(&mut self.messages);
            let last = kept.back().map_or(0, |message| message.seq);
            if messages.first().is_some_and(|first| first.seq <= last) {
                kept.clear();
            }
            kept.extend(messages);
            cut(kept);
        }
    }
}

fn cut<T>(kept: &mut VecDeque<T>) {
    let surplus = kept.len().saturating_sub(KEPT);
    kept.drain(..surplus);
}
