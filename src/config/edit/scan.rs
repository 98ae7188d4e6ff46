//! Where the statements of a TOML text stand: headers and pairs as whole lines, to the byte.
//!
//! A TOML editor that keeps a tree writes some things anew (line ends, the order of dotted keys).
//! Edits here cut and paste the text instead, so that the rest stays as it is. The text was parsed
//! before; what the scanner cannot follow is `None`.

use std::ops::Range;

/// One part of a dotted key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) range: Range<usize>,
}

/// `key = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: Vec<Segment>,
    pub(super) value: Range<usize>,
}

impl Pair {
    /// Where the key begins.
    pub(super) fn start(&self) -> usize {
        self.key
            .first()
            .map_or(self.value.start, |key| key.range.start)
    }
}

/// What a statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but white space.
    Blank,
    /// A comment on its own line.
    Comment,
    /// `[path]`.
    Header(Vec<Segment>),
    /// `[[path]]`.
    ArrayHeader,
    /// A pair, and the table it stands in; `None` in an array of tables.
    Pair(Option<Vec<String>>, Pair),
}

/// A statement with its whole lines, the line end included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) lines: Range<usize>,
    pub(super) kind: Kind,
}

/// The statements of the text; together they are the whole text.
pub(super) fn statements(text: &str) -> Option<Vec<Statement>> {
    let mut cursor = Cursor { text, at: 0 };
    let mut table = Some(Vec::new());
    let mut statements = Vec::new();
    while cursor.at < text.len() {
        let start = cursor.at;
        cursor.skip_blank();
        let kind = match cursor.peek() {
            None | Some(b'\n' | b'\r') => Kind::Blank,
            Some(b'#') => Kind::Comment,
            Some(b'[') if cursor.rest().starts_with("[[") => {
                cursor.at += 2;
                cursor.key()?;
                cursor.expect("]]")?;
                table = None;
                Kind::ArrayHeader
            }
            Some(b'[') => {
                cursor.at += 1;
                let key = cursor.key()?;
                cursor.expect("]")?;
                table = Some(key.iter().map(|segment| segment.name.clone()).collect());
                Kind::Header(key)
            }
            Some(_) => Kind::Pair(table.clone(), cursor.pair()?),
        };
        cursor.end_of_line()?;
        let lines = start..cursor.at;
        statements.push(Statement { lines, kind });
    }
    Some(statements)
}

/// The pairs of the inline table at the range, which includes its braces.
pub(super) fn inline_pairs(text: &str, range: &Range<usize>) -> Option<Vec<Pair>> {
    let mut cursor = Cursor {
        text: &text[..range.end],
        at: range.start,
    };
    cursor.expect("{")?;
    let mut pairs = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.peek()? == b'}' {
            return Some(pairs);
        }
        pairs.push(cursor.pair()?);
        cursor.skip_space();
        if cursor.peek()? == b',' {
            cursor.at += 1;
        }
    }
}

/// The index behind the comma that follows, if one does.
pub(super) fn behind_comma(text: &str, at: usize) -> Option<usize> {
    let mut cursor = Cursor { text, at };
    cursor.skip_space();
    (cursor.peek()? == b',').then_some(cursor.at + 1)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.skip_blank();
        self.rest().starts_with(token).then_some(())?;
        self.at += token.len();
        Some(())
    }

    fn skip_blank(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += rest[..end].trim_end_matches('\r').len();
    }

    /// White space, line ends and comments, as between the values of a list.
    fn skip_space(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// What may follow a statement on its line, and the line end.
    fn end_of_line(&mut self) -> Option<()> {
        self.skip_blank();
        if self.peek() == Some(b'#') {
            self.skip_comment();
        }
        let rest = self.rest();
        if rest.is_empty() {
            return Some(());
        }
        let end = if rest.starts_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        self.expect(end)
    }

    fn pair(&mut self) -> Option<Pair> {
        let key = self.key()?;
        self.expect("=")?;
        self.skip_blank();
        let start = self.at;
        self.skip_value()?;
        Some(Pair {
            key,
            value: start..self.at,
        })
    }

    fn key(&mut self) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        loop {
            self.skip_blank();
            let start = self.at;
            match self.peek()? {
                b'"' | b'\'' => self.skip_string()?,
                _ => {
                    let rest = self.rest();
                    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                    let end = rest.find(|c| !is_bare(c)).unwrap_or(rest.len());
                    self.at += end;
                }
            }
            let range = start..self.at;
            let parsed = toml_edit::Key::parse(&self.text[range.clone()]).ok()?;
            let [key] = &*parsed else {
                return None;
            };
            let name = key.get().to_owned();
            segments.push(Segment { name, range });
            self.skip_blank();
            if self.peek() != Some(b'.') {
                return Some(segments);
            }
            self.at += 1;
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\'' => self.skip_string(),
            b'[' | b'{' => self.skip_nested(),
            _ => {
                let rest = self.rest();
                let end = rest.find([',', ']', '}', '#', '\n', '\r']);
                self.at += rest[..end.unwrap_or(rest.len())].trim_end().len();
                Some(())
            }
        }
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' | b'\'' => {
                    self.skip_string()?;
                    continue;
                }
                b'#' => {
                    self.skip_comment();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        let quote = self.peek()?;
        let long = if quote == b'"' { "\"\"\"" } else { "'''" };
        let is_long = self.rest().starts_with(long);
        let end = if is_long { long } else { &long[..1] };
        self.at += end.len();
        while !self.rest().starts_with(end) {
            let escaped = quote == b'"' && self.peek()? == b'\\';
            let mut chars = self.rest().chars();
            self.at += chars.next()?.len_utf8();
            if escaped {
                self.at += chars.next()?.len_utf8();
            }
        }
        self.at += end.len();
        // A long string may end with one or two quotes of its own.
        let mut own = 0;
        while is_long && own < 2 && self.peek() == Some(quote) {
            self.at += 1;
            own += 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn statements_are_found_to_the_byte() {
        let text = "# c\r\n\n [ a . \"b.c\" ] # d\nx.'y' = \"\"\"\n]\"\\\"\"\"\"\"\"  # e\nz = [1, # ]\n {q = '}'}]\n[[t]]\nk = 1";
        let shown: Vec<(&str, String)> = statements(text)
            .unwrap()
            .into_iter()
            .map(|statement| {
                let kind = match statement.kind {
                    Kind::Pair(table, pair) => {
                        let key: Vec<_> = pair.key.iter().map(|key| &*key.name).collect();
                        format!("{table:?} {key:?} {}", &text[pair.value])
                    }
                    Kind::Header(key) => key.iter().flat_map(|key| ["<", &key.name, ">"]).collect(),
                    kind => format!("{kind:?}"),
                };
                (&text[statement.lines], kind)
            })
            .collect();
        let lines: String = shown.iter().map(|(lines, _)| *lines).collect();
        assert_eq!(lines, text);
        let kinds: Vec<&str> = shown.iter().map(|(_, kind)| &**kind).collect();
        assert_eq!(
            kinds,
            [
                "Comment",
                "Blank",
                "<a><b.c>",
                "Some([\"a\", \"b.c\"]) [\"x\", \"y\"] \"\"\"\n]\"\\\"\"\"\"\"\"",
                "Some([\"a\", \"b.c\"]) [\"z\"] [1, # ]\n {q = '}'}]",
                "ArrayHeader",
                "None [\"k\"] 1",
            ]
        );
    }

    #[test]
    fn pairs_of_an_inline_table_are_found() {
        let text = "{ a = {b = 1}, c.d = \"}\" # x\n , }";
        let pairs = inline_pairs(text, &(0..text.len())).unwrap();
        let values: Vec<&str> = pairs.iter().map(|pair| &text[pair.value.clone()]).collect();
        assert_eq!(values, ["{b = 1}", "\"}\""]);
        assert_eq!(pairs[1].key.len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}=\"'.,#\\\\ab \n\ré]{0,40}") {
            let _ = statements(&text);
            let _ = inline_pairs(&text, &(0..text.len()));
        }

        #[test]
        fn what_toml_reads_the_scanner_follows(text in "((a|b|\"é\"|'c')(\\.a)?( = | =)(1|'#'|\"\\\\\"\"|\\[1, 2\\]|\\{a = 1\\})( # x)?\r?\n|\\[(a|b)\\.?c\\]\n|\n|#y\n){0,5}") {
            if toml_edit::Document::parse(&*text).is_ok() {
                let found = statements(&text).unwrap();
                let whole: String = found.iter().map(|one| &text[one.lines.clone()]).collect();
                prop_assert_eq!(whole, text);
            }
        }
    }
}
