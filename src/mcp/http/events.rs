//! Server-sent events of a byte stream (WHATWG HTML, server-sent events), none larger than a bound.
//!
//! Liberal, as the standard asks: unknown fields, fields without a colon and comments pass. Data
//! stays as it came, and of a line that is an event's only data the buffer itself is handed on: it
//! may be large. Reconnecting is not done here.

use std::collections::VecDeque;
use std::mem;

use bytes::Bytes;
use futures::{Stream, StreamExt};

use crate::mcp::read::MAX_LINE;
use crate::mcp::scan::IdScanner;

/// How much of another field than data is kept, in bytes.
const MAX_TEXT: usize = 4096;

/// One event, or what is left of one that was too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An event.
    Whole(Sse),
    /// It was larger than [`MAX_LINE`] and is gone, but for the id of the request it answered.
    TooLarge {
        /// The id, if one stood in it.
        id: Option<i64>,
    },
}

/// The fields of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sse {
    /// Its type; absent for a message.
    pub event: Option<String>,
    /// Its data, the lines joined; absent where there was none.
    pub data: Option<Vec<u8>>,
    /// Its id, to resume from.
    pub id: Option<String>,
    /// After how many milliseconds to connect again.
    pub retry: Option<u64>,
}

impl Sse {
    /// Whether it carries messages: events of another type are for other uses.
    #[must_use]
    pub fn is_message(&self) -> bool {
        matches!(self.event.as_deref(), None | Some("" | "message"))
    }
}

/// Reads events from chunks.
#[derive(Debug)]
pub struct EventReader<S> {
    chunks: S,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl<S, E> EventReader<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    /// A reader at the start of a stream.
    pub fn new(chunks: S) -> Self {
        Self {
            chunks,
            parser: Parser::default(),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` at the end. An event that the stream breaks off in is dropped.
    ///
    /// # Errors
    ///
    /// The stream cannot be read any further.
    pub async fn next(&mut self) -> Result<Option<Event>, E> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.chunks.next().await else {
                return Ok(None);
            };
            self.parser.push(&chunk?, &mut self.ready);
        }
    }
}

#[derive(Debug, Default)]
struct Parser {
    /// What was read of a line.
    line: Vec<u8>,
    event: Sse,
    /// Whether the event has any field.
    begun: bool,
    overlong: Option<IdScanner>,
    /// Whether anything but a mark was read.
    started: bool,
    /// Whether a line feed that comes next belongs to the break before it.
    after_return: bool,
}

impl Parser {
    fn push(&mut self, mut chunk: &[u8], ready: &mut VecDeque<Event>) {
        while let Some(first) = chunk.first() {
            if mem::take(&mut self.after_return) && *first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', chunk);
            self.extend(&chunk[..end.unwrap_or(chunk.len())]);
            let Some(end) = end else { return };
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            let line = mem::take(&mut self.line);
            self.take_line(line, ready);
        }
    }

    fn extend(&mut self, part: &[u8]) {
        let size = self.line.len() + part.len() + self.event.data.as_ref().map_or(0, Vec::len);
        match &mut self.overlong {
            // Of a line behind the bound only its first bytes matter: whether it is empty.
            Some(scanner) => {
                scanner.push(part);
                let room = 8_usize.saturating_sub(self.line.len()).min(part.len());
                self.line.extend_from_slice(&part[..room]);
            }
            None if size > MAX_LINE => {
                let mut scanner = IdScanner::default();
                scanner.push(&self.event.data.take().unwrap_or_default());
                let value = self.line.strip_prefix(b"data:").unwrap_or(&self.line);
                scanner.push(value);
                let value = if self.line.is_empty() {
                    part.strip_prefix(b"data:").unwrap_or(part)
                } else {
                    part
                };
                scanner.push(value);
                self.overlong = Some(scanner);
                self.begun = true;
                self.line = vec![b'.'];
            }
            None => self.line.extend_from_slice(part),
        }
    }

    fn take_line(&mut self, mut line: Vec<u8>, ready: &mut VecDeque<Event>) {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        if !mem::replace(&mut self.started, true) && line.starts_with(MARK) {
            line.drain(..MARK.len());
        }
        if line.is_empty() {
            let event = mem::take(&mut self.event);
            if mem::take(&mut self.begun) {
                ready.push_back(match self.overlong.take() {
                    Some(scanner) => Event::TooLarge { id: scanner.id() },
                    None => Event::Whole(event),
                });
            }
            return;
        }
        if self.overlong.is_some() {
            return;
        }
        let (name, value) = match memchr::memchr(b':', &line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&*line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(&value[..value.len().min(MAX_TEXT)]).into_owned();
        match name {
            b"data" => {
                if let Some(data) = &mut self.event.data {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                } else {
                    let before = line.len() - value.len();
                    line.drain(..before);
                    self.event.data = Some(line);
                }
            }
            b"event" => self.event.event = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => self.event.retry = text().trim().parse().ok().or(self.event.retry),
            _ => return,
        }
        self.begun = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    async fn read(text: &[u8], chunk: usize) -> Vec<Event> {
        let chunks: Vec<Result<Bytes, Infallible>> = text
            .chunks(chunk)
            .map(|part| Ok(Bytes::copy_from_slice(part)))
            .collect();
        let mut reader = EventReader::new(futures::stream::iter(chunks));
        let mut events = Vec::new();
        while let Some(event) = reader.next().await.unwrap() {
            events.push(event);
        }
        events
    }

    async fn check(text: &str, expected: &[Sse]) {
        let expected: Vec<Event> = expected.iter().cloned().map(Event::Whole).collect();
        for chunk in [1, 2, 3, 1024] {
            assert_eq!(read(text.as_bytes(), chunk).await, expected, "{text:?}");
        }
    }

    fn data(text: &str) -> Sse {
        Sse {
            data: Some(text.into()),
            ..Sse::default()
        }
    }

    #[tokio::test]
    async fn events_end_with_an_empty_line_of_any_kind() {
        check("data: a\n\ndata:b\n\n", &[data("a"), data("b")]).await;
        check("data: a\r\n\r\ndata: b\r\r", &[data("a"), data("b")]).await;
        check("\u{feff}data: a\n\n", &[data("a")]).await;
        check("data: a\ndata\ndata:  b\n\n", &[data("a\n\n b")]).await;
        check("data: cut off", &[]).await;
        check(": ping\n\n\n\n", &[]).await;
    }

    #[tokio::test]
    async fn fields_are_read_and_unknown_ones_pass() {
        let full = Sse {
            event: Some("endpoint".into()),
            data: Some(b"/m".to_vec()),
            id: Some("7".into()),
            retry: Some(50),
        };
        check(
            "event: endpoint\nid: 7\nretry: 50\nfoo: bar\nbaz\n: c\ndata: /m\n\n",
            std::slice::from_ref(&full),
        )
        .await;
        let retry = Sse {
            id: Some(String::new()),
            retry: Some(5),
            ..Sse::default()
        };
        check("id\nretry: 5\nretry: soon\n\n", &[retry]).await;
    }

    #[tokio::test]
    async fn an_event_over_the_bound_keeps_only_the_id_that_it_answers() {
        let mut text = br#"data: {"id":7,"result":""#.to_vec();
        text.resize(MAX_LINE + 100, b'x');
        text.extend_from_slice(b"\"}\n\ndata: next\n\n");
        let expected = [Event::TooLarge { id: Some(7) }, Event::Whole(data("next"))];
        assert_eq!(read(&text, 64 * 1024).await, expected);
        let mut many = b"data: {\"id\":8,\ndata: \"result\":\"".to_vec();
        for _ in 0..20 {
            many.resize(many.len() + 1024 * 1024, b'x');
            many.extend_from_slice(b"\ndata: ");
        }
        many.extend_from_slice(b"\"}\n\n");
        assert_eq!(
            read(&many, 64 * 1024).await,
            [Event::TooLarge { id: Some(8) }]
        );
    }
}
