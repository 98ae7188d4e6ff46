//! Finds the `id` of a message that cannot be decoded: one that is over the limit, or broken JSON.
//!
//! The scanner looks at bytes as they pass and keeps nothing but the id, so a message of any size
//! costs a few bytes of memory.

/// The longest id that is kept, in bytes; ours are short numbers.
const MAX_ID: usize = 32;

/// Reads a JSON object byte by byte and remembers the value of its top-level key `id`.
#[derive(Debug, Default)]
pub struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The top-level string that is being read or was read last, as long as it may be a key.
    word: Vec<u8>,
    place: Place,
    id: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where a top-level key is expected.
    #[default]
    Key,
    /// Behind the colon of the key `id`.
    Id,
    /// Behind the colon of another key.
    Value,
}

impl IdScanner {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.step_in_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.word.clear();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 && self.place == Place::Key => {
                self.place = if self.word == b"id" {
                    self.id.clear();
                    Place::Id
                } else {
                    Place::Value
                };
            }
            b',' if self.depth == 1 => self.place = Place::Key,
            _ if self.depth == 1 && self.place == Place::Id && !byte.is_ascii_whitespace() => {
                self.keep(byte);
            }
            _ => {}
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            return;
        }
        if self.depth == 1 {
            match self.place {
                Place::Key if self.word.len() < MAX_ID => self.word.push(byte),
                Place::Id => self.keep(byte),
                Place::Key | Place::Value => {}
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.id.len() < MAX_ID {
            self.id.push(byte);
        }
    }

    /// The id, if it is one of ours: an integer, or a string of one.
    #[must_use]
    pub fn id(&self) -> Option<i64> {
        std::str::from_utf8(&self.id).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        let mut scanner = IdScanner::default();
        for chunk in text.as_bytes().chunks(3) {
            scanner.push(chunk);
        }
        assert_eq!(scanner.id(), expected, "{text}");
    }

    #[test]
    fn finds_the_top_level_id_wherever_it_stands() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":[1,{"id":9}"#,
            Some(7),
        );
        check(r#"{"result":{"id":9,"x":["id",1]},"id":12}"#, Some(12));
        check(r#"{"id" : "31" ,"result":{}"#, Some(31));
        check(r#"{"result":"\"id\":5","x":1"#, None);
        check(r#"{"id":null,"result":{"#, None);
        check(r#"{"id":1.5}"#, None);
        check(r#"{"x":"id","y":3}"#, None);
        check("no json at all", None);
    }
}
