//! The messages of one server in both directions, in a bounded ring: kept as they went over the
//! wire, and masked for whoever reads them.
//!
//! Only a face that shows them keeps them. Of a long message the beginning is kept.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::cursors::{Cursors, may_be_in};
use super::envelope::{AnswerId, Inbound};
use super::masking::masked;
use super::reply::Reply;
use crate::domain::server::Mask;

/// The most messages that are kept.
pub const MAX_MESSAGES: usize = 500;

/// The most bytes that are kept of all messages.
pub const MAX_BYTES: usize = 512 * 1_024;

/// The most bytes that are kept of one message.
pub const MAX_MESSAGE: usize = 64 * 1_024;

/// The most requests whose answers are waited for, so that their latency can be told.
const MAX_OUTSTANDING: usize = 1_000;

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Out,
    /// From the server.
    In,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// It wants an answer.
    Request,
    /// It wants none.
    Notification,
    /// The answer to a request.
    Response,
    /// The answer to a request is an error.
    Error,
}

/// One message, cleaned of secrets and cursors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number, from 1, over all messages of the server in this run.
    pub seq: u64,
    /// When it went or came.
    pub at: SystemTime,
    /// Which way.
    pub direction: Direction,
    /// What it is.
    pub kind: MessageKind,
    /// Its method; of an answer that of the request, empty where that is not known.
    pub method: Arc<str>,
    /// How many bytes it has.
    pub size: usize,
    /// Of an answer, how long after the request it came.
    pub latency: Option<Duration>,
    /// Its text, or the beginning of it where it has more than [`MAX_MESSAGE`] bytes.
    pub text: Arc<str>,
}

impl Message {
    /// Whether only the beginning was kept.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.size > MAX_MESSAGE
    }
}

/// What is known of a message besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    kind: MessageKind,
    method: Option<Arc<str>>,
    id: Option<i64>,
    /// The id of a request of the server, as it stands in the text.
    theirs: Option<Box<str>>,
}

impl Head {
    /// A message of ours, by its text.
    #[must_use]
    pub fn sent(bytes: &[u8]) -> Self {
        #[derive(serde::Deserialize, Default)]
        struct Sent<'a> {
            id: Option<serde_json::Value>,
            #[serde(borrow)]
            method: Option<std::borrow::Cow<'a, str>>,
            error: Option<serde::de::IgnoredAny>,
        }
        let sent: Sent<'_> = serde_json::from_slice(bytes).unwrap_or_default();
        let id = sent.id.as_ref().and_then(serde_json::Value::as_i64);
        match (sent.method, sent.error) {
            (Some(method), _) => Self::out(&method, id),
            (None, error) => Self {
                kind: match error {
                    Some(_) => MessageKind::Error,
                    None => MessageKind::Response,
                },
                method: None,
                id: None,
                theirs: sent.id.map(|id| id.to_string().into()),
            },
        }
    }

    /// A message of ours.
    #[must_use]
    pub fn out(method: &str, id: Option<i64>) -> Self {
        Self {
            kind: match id {
                Some(_) => MessageKind::Request,
                None => MessageKind::Notification,
            },
            method: Some(method.into()),
            id,
            theirs: None,
        }
    }

    /// A message of the server.
    #[must_use]
    pub fn of(message: &Inbound<'_>) -> Self {
        match message {
            Inbound::Answer(id, reply) => Self {
                kind: match reply {
                    Reply::Result(_) => MessageKind::Response,
                    Reply::Error(_) | Reply::Malformed(_) | Reply::Undelivered(_) => {
                        MessageKind::Error
                    }
                },
                method: None,
                id: match id {
                    AnswerId::Known(id) => Some(*id),
                    AnswerId::Missing | AnswerId::Foreign => None,
                },
                theirs: None,
            },
            Inbound::Request(id, method) => Self {
                kind: MessageKind::Request,
                method: Some((&**method).into()),
                id: None,
                theirs: Some((*id).into()),
            },
            Inbound::Notification(method, _) => Self {
                kind: MessageKind::Notification,
                method: Some((&**method).into()),
                id: None,
                theirs: None,
            },
        }
    }
}

/// The last messages of one server.
#[derive(Debug, Default)]
pub struct TraceRing {
    inner: Mutex<Ring>,
}

#[derive(Default)]
struct Ring {
    kept: VecDeque<Kept>,
    bytes: usize,
    seq: u64,
    mask: Mask,
    outstanding: HashMap<i64, (Instant, Arc<str>)>,
    /// The methods of the server's requests that are not answered yet.
    theirs: HashMap<Box<str>, Arc<str>>,
}

/// A message as it went. It must not be shown, nor be in a Debug output.
struct Kept {
    seq: u64,
    at: SystemTime,
    direction: Direction,
    kind: MessageKind,
    method: Arc<str>,
    size: usize,
    latency: Option<Duration>,
    bytes: Box<[u8]>,
    mask: Mask,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

impl TraceRing {
    /// From now on these values are masked.
    pub fn set_mask(&self, mask: Mask) {
        self.lock().mask = mask;
    }

    /// Adds a message of the size, of which this is the beginning, or all.
    pub fn push(&self, direction: Direction, head: Head, beginning: &[u8], size: usize) {
        let mut ring = self.lock();
        let ring = &mut *ring;
        let now = Instant::now();
        let (mut method, mut latency) = (head.method, None);
        if let Some(id) = head.id {
            match direction {
                Direction::Out if ring.outstanding.len() < MAX_OUTSTANDING => {
                    let method = method.clone().unwrap_or_default();
                    ring.outstanding.insert(id, (now, method));
                }
                Direction::Out => {}
                Direction::In => {
                    if let Some((sent, asked)) = ring.outstanding.remove(&id) {
                        latency = Some(now.duration_since(sent));
                        method = Some(asked);
                    }
                }
            }
        }
        if let Some(id) = head.theirs {
            match (direction, &method) {
                (Direction::Out, _) => method = ring.theirs.remove(&id).or(method),
                (Direction::In, Some(asked)) if ring.theirs.len() < MAX_OUTSTANDING => {
                    ring.theirs.insert(id, Arc::clone(asked));
                }
                (Direction::In, _) => {}
            }
        }
        let beginning: Box<[u8]> = beginning[..beginning.len().min(MAX_MESSAGE)].into();
        ring.seq += 1;
        ring.bytes += beginning.len();
        ring.kept.push_back(Kept {
            seq: ring.seq,
            at: SystemTime::now(),
            direction,
            kind: head.kind,
            method: method.unwrap_or_default(),
            size,
            latency,
            bytes: beginning,
            mask: ring.mask.clone(),
        });
        while ring.kept.len() > MAX_MESSAGES || ring.bytes > MAX_BYTES {
            match ring.kept.pop_front() {
                Some(oldest) => ring.bytes -= oldest.bytes.len(),
                None => break,
            }
        }
    }

    /// The number of the last message; 0 if there was none.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.lock().seq
    }

    /// The kept messages after the number, oldest first, without the cursors.
    #[must_use]
    pub fn since(&self, seq: u64, cursors: &Cursors) -> Vec<Message> {
        let cursors: Vec<&str> = cursors.all().collect();
        let ring = self.lock();
        let kept = ring.kept.iter().filter(|message| message.seq > seq);
        kept.map(|message| message.clean(&cursors)).collect()
    }

    /// Takes cursors out of the messages for good, before they are forgotten.
    pub fn settle(&self, cursors: &[&str]) {
        let mut ring = self.lock();
        let mut bytes = 0;
        for message in &mut ring.kept {
            if message.may_quote(cursors) {
                message.bytes = message.masked(cursors).into_bytes().into();
            }
            bytes += message.bytes.len();
        }
        ring.bytes = bytes;
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Whether the server says something in it that may quote one of the cursors. Answers with a
    /// result do not: what equals a cursor there is something else.
    fn may_quote(&self, cursors: &[&str]) -> bool {
        let says = matches!(
            (self.direction, self.kind),
            (
                Direction::In,
                MessageKind::Request | MessageKind::Notification | MessageKind::Error
            )
        );
        says && cursors.iter().any(|cursor| may_be_in(&self.bytes, cursor))
    }

    fn masked(&self, cursors: &[&str]) -> String {
        masked(&String::from_utf8_lossy(&self.bytes), &self.mask, cursors)
    }

    /// The message for people.
    fn clean(&self, cursors: &[&str]) -> Message {
        let cursors = if self.may_quote(cursors) {
            cursors
        } else {
            &[]
        };
        Message {
            seq: self.seq,
            at: self.at,
            direction: self.direction,
            kind: self.kind,
            method: crate::domain::text::error_text(&self.method).into(),
            size: self.size,
            latency: self.latency,
            text: self.masked(cursors).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_method_of_its_request_and_its_latency() {
        let ring = TraceRing::default();
        ring.push(Direction::Out, Head::out("tools/list", Some(3)), b"{}", 2);
        let answer = Inbound::Answer(AnswerId::Known(3), Reply::Result(String::new()));
        ring.push(Direction::In, Head::of(&answer), br#"{"id":3}"#, 8);
        ring.push(Direction::In, Head::of(&answer), br#"{"id":3}"#, 8);
        let messages = ring.since(1, &Cursors::default());
        assert_eq!(&*messages[0].method, "tools/list");
        assert!(messages[0].latency.is_some());
        assert_eq!((&*messages[1].method, messages[1].latency), ("", None));
        assert_eq!((messages[1].seq, ring.last_seq()), (3, 3));
    }

    #[test]
    fn our_answer_has_the_method_that_the_server_asked_for() {
        let ring = TraceRing::default();
        let asked = Inbound::Request("7", "roots/list".into());
        ring.push(Direction::In, Head::of(&asked), b"{}", 2);
        let answer = br#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        ring.push(Direction::Out, Head::sent(answer), answer, answer.len());
        let messages = ring.since(0, &Cursors::default());
        assert_eq!(&*messages[1].method, "roots/list");
        assert_eq!(messages[1].kind, MessageKind::Response);
    }

    #[test]
    fn the_ring_is_bounded_and_keeps_the_beginning_of_long_messages() {
        let ring = TraceRing::default();
        let head = || Head::out("ping", None);
        ring.push(
            Direction::Out,
            head(),
            &vec![b'x'; 3 * MAX_MESSAGE],
            3 * MAX_MESSAGE,
        );
        let message = ring.since(0, &Cursors::default()).remove(0);
        assert!(message.is_cut());
        assert_eq!(
            (message.size, message.text.len()),
            (3 * MAX_MESSAGE, MAX_MESSAGE)
        );
        for _ in 0..100 {
            ring.push(
                Direction::Out,
                head(),
                &vec![b'x'; MAX_MESSAGE],
                MAX_MESSAGE,
            );
        }
        let kept: usize = ring
            .since(0, &Cursors::default())
            .iter()
            .map(|message| message.text.len())
            .sum();
        assert!(kept <= MAX_BYTES);
        for _ in 0..2 * MAX_MESSAGES {
            ring.push(Direction::Out, head(), b"{}", 2);
        }
        assert_eq!(ring.since(0, &Cursors::default()).len(), MAX_MESSAGES);
    }
}
