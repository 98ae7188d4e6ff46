//! Lines of a byte stream, none longer than a bound.

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::scan::IdScanner;

/// The longest line that is kept, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// What is read at once, in bytes: as much as a pipe holds.
const CHUNK: usize = 64 * 1024;

/// A line's buffer is given back when it grew beyond this.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub enum RawLine {
    /// Without its line break.
    Whole(Vec<u8>),
    /// It was longer than [`MAX_LINE`] and is gone, but for the id of the request it answered.
    TooLong {
        /// The id, if one stood in it.
        id: Option<i64>,
    },
}

/// Reads lines. What was read of a line stays when [`LineReader::next`] is dropped.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    /// What was read last. Its room is never zeroed, so that a server of few words costs few pages
    /// of memory.
    chunk: Vec<u8>,
    /// So much of it has been looked at.
    taken: usize,
    line: Vec<u8>,
    overlong: Option<IdScanner>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader at the start of a line.
    pub fn new(source: R) -> Self {
        Self {
            source,
            chunk: Vec::with_capacity(CHUNK),
            taken: 0,
            line: Vec::new(),
            overlong: None,
        }
    }

    /// The next line, the last one also without a line break; `None` at the end or on an error.
    pub async fn next(&mut self) -> Option<RawLine> {
        loop {
            if self.taken == self.chunk.len() {
                self.taken = 0;
                self.chunk.clear();
                match self.source.read_buf(&mut self.chunk).await {
                    Ok(0) => {
                        let unfinished = self.overlong.is_some() || !self.line.is_empty();
                        return unfinished.then(|| self.finish());
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "a server's output cannot be read");
                        return None;
                    }
                }
            }
            let chunk = &self.chunk[self.taken..];
            let end = memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            self.taken += part.len() + usize::from(end.is_some());
            if let Some(scanner) = &mut self.overlong {
                scanner.push(part);
            } else if self.line.len() + part.len() > MAX_LINE {
                let mut scanner = IdScanner::default();
                scanner.push(&self.line);
                scanner.push(part);
                self.overlong = Some(scanner);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            if end.is_some() {
                return Some(self.finish());
            }
        }
    }

    fn finish(&mut self) -> RawLine {
        if let Some(scanner) = self.overlong.take() {
            return RawLine::TooLong { id: scanner.id() };
        }
        let capacity = if self.line.capacity() > KEPT_CAPACITY {
            0
        } else {
            self.line.len()
        };
        RawLine::Whole(std::mem::replace(
            &mut self.line,
            Vec::with_capacity(capacity),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8]) -> Vec<RawLine> {
        let mut reader = LineReader::new(text);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await {
            lines.push(line);
        }
        lines
    }

    fn whole(text: &str) -> RawLine {
        RawLine::Whole(text.into())
    }

    #[tokio::test]
    async fn lines_end_with_a_break_or_the_stream() {
        assert_eq!(lines(b"").await, []);
        assert_eq!(lines(b"a\n\nb").await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(lines(b"a\r\n").await, [whole("a\r")]);
    }

    #[tokio::test]
    async fn a_line_of_16_mib_passes_and_one_byte_more_keeps_only_its_id() {
        let mut text = vec![b'x'; MAX_LINE];
        text.push(b'\n');
        assert_eq!(lines(&text).await, [RawLine::Whole(vec![b'x'; MAX_LINE])]);
        let mut text = br#"{"id":7,"result":""#.to_vec();
        text.resize(MAX_LINE + 1, b'x');
        text.extend_from_slice(b"\nnext\n");
        assert_eq!(
            lines(&text).await,
            [RawLine::TooLong { id: Some(7) }, whole("next")]
        );
    }
}
