//! What the reader shows: a document of one or more parts, made off the screen's thread once and
//! then only read.

pub mod hex;
pub mod json;
pub mod kind;
pub mod line;
pub mod markdown;
pub mod messages;
pub mod picture;
pub mod rich;
pub mod text;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::json::{Folds, Json};
use self::kind::Kind;
use self::line::Line;
use self::picture::Picture;
use self::rich::Rich;
use self::text::Text;
use super::aside::Wanted;
use super::format;
use crate::domain::text as clean;
use crate::mcp::decode::contents::{Body, Content};

/// The longest Markdown that is laid out, in bytes; what is longer is shown as source. Laid out
/// it takes up to a hundred times as much, and nobody reads that much of it.
const MOST_MARKDOWN: usize = 1_000_000;

/// A JSON text of more bytes is shown as it came.
const MOST_JSON: usize = 32 * 1_024 * 1_024;

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its parts: at least one.
    pub parts: Vec<Part>,
}

/// One of the contents of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is called: the URI of a content, a word for everything else.
    pub name: Box<str>,
    /// What it is: `text/plain`, `JSON`.
    pub kind: Box<str>,
    /// How it is shown.
    pub view: View,
    /// What it consists of, exactly as it came.
    pub raw: Raw,
    /// How many characters and sequences are not shown, because they would steer the terminal.
    pub removed: usize,
}

/// What a part consists of, to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raw {
    /// A text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

impl Raw {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// How a part is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// Line by line.
    Text(Text),
    /// Laid out, and folded where a person wants it.
    Json(Json),
    /// With inks: Markdown, and what we write ourselves.
    Rich(Rich),
    /// Dot by dot.
    Picture(Picture),
    /// Digit by digit.
    Hex,
    /// Not at all, and why.
    Nothing(Box<str>),
}

impl Document {
    /// The document of an answer. This takes time for long ones, and stops halfway where it is not
    /// wanted any more.
    #[must_use]
    pub fn of(contents: Vec<Content>, wanted: &Wanted) -> Self {
        let mut parts: Vec<Part> = contents
            .into_iter()
            .take_while(|_| wanted.holds())
            .map(|content| Part::of(content, wanted))
            .collect();
        if parts.is_empty() {
            parts.push(Part {
                name: "".into(),
                kind: "".into(),
                view: View::Nothing("The server answered with no contents.".into()),
                raw: Raw::Text("".into()),
                removed: 0,
            });
        }
        Self { parts }
    }

    /// A document that we write ourselves.
    #[must_use]
    pub fn rich(name: &str, rich: Rich) -> Self {
        let lines = (0..rich.len()).map(|index| rich.line(index));
        let lines: Vec<String> = lines
            .map(|line| format!("{}{}", line.lead, line.text).trim_end().to_owned())
            .collect();
        Self {
            parts: vec![Part {
                name: name.into(),
                kind: "".into(),
                view: View::Rich(rich),
                raw: Raw::Text(lines.join("\n").into()),
                removed: 0,
            }],
        }
    }

    /// A document of one JSON text, cut off or not.
    #[must_use]
    pub fn json(name: &str, json: &str) -> Self {
        let clean = clean::contents(json);
        let wanted = &Wanted::default();
        Self {
            parts: vec![Part {
                name: name.into(),
                kind: "JSON".into(),
                view: match Json::new(&clean.text, wanted) {
                    Some(json) => View::Json(json),
                    None => View::Text(Text::new(clean.text.into(), true, wanted)),
                },
                raw: Raw::Text(json.into()),
                removed: clean.removed,
            }],
        }
    }
}

impl Part {
    fn of(content: Content, wanted: &Wanted) -> Self {
        let mime_type = content.mime_type.as_deref();
        match content.body {
            Body::Text(text) => {
                let kind = Kind::of_text(mime_type, &content.uri, &text);
                Self::of_text(content.uri, mime_type, kind, text.into(), wanted)
            }
            Body::Blob(blob) => match STANDARD.decode(&*blob) {
                Ok(bytes) => Self::of_bytes(content.uri, mime_type, bytes),
                Err(error) => Self {
                    name: content.uri,
                    kind: shown_kind(mime_type, "blob"),
                    view: View::Nothing(format!("The server's blob is no Base64: {error}.").into()),
                    raw: Raw::Text(blob.into()),
                    removed: 0,
                },
            },
        }
    }

    fn of_text(
        name: Box<str>,
        mime_type: Option<&str>,
        kind: Kind,
        raw: Arc<str>,
        wanted: &Wanted,
    ) -> Self {
        let clean = clean::contents(&raw);
        let removed = clean.removed;
        let text = if removed == 0 {
            Arc::clone(&raw)
        } else {
            clean.text.into()
        };
        let laid_out = match kind {
            Kind::Json if text.len() <= MOST_JSON => Json::new(&text, wanted),
            _ => None,
        };
        let (word, view) = match (kind, laid_out) {
            (_, Some(json)) => ("JSON", View::Json(json)),
            (Kind::Markdown, None) if text.len() <= MOST_MARKDOWN => {
                ("Markdown", View::Rich(markdown::render(&text, wanted)))
            }
            (Kind::Json | Kind::Source | Kind::Markdown, None) => {
                ("source", View::Text(Text::new(text, true, wanted)))
            }
            (Kind::Prose, None) => ("text", View::Text(Text::new(text, false, wanted))),
        };
        Self {
            name,
            kind: shown_kind(mime_type, word),
            view,
            raw: Raw::Text(raw),
            removed,
        }
    }

    fn of_bytes(name: Box<str>, mime_type: Option<&str>, bytes: Vec<u8>) -> Self {
        let (word, view) = if picture::is_picture(&bytes) {
            match Picture::new(&bytes) {
                Ok(picture) => (picture.format, View::Picture(picture)),
                Err(_) => ("damaged picture", View::Hex),
            }
        } else {
            ("binary", View::Hex)
        };
        Self {
            name,
            kind: shown_kind(mime_type, word),
            view,
            raw: Raw::Bytes(bytes.into()),
            removed: 0,
        }
    }

    /// What the name of a file of it ends with.
    #[must_use]
    pub fn ending(&self) -> &'static str {
        match (&self.view, &self.raw) {
            (View::Json(_), _) => "json",
            (View::Picture(picture), _) => picture.ending(),
            (View::Rich(_), Raw::Text(_)) if &*self.kind == "text/markdown" => "md",
            (_, Raw::Text(_)) => "txt",
            (_, Raw::Bytes(_)) => "bin",
        }
    }

    /// What it is and how large: `image/png, 12 kB, 640x480`.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if !self.kind.is_empty() {
            facts.push(self.kind.to_string());
        }
        if !matches!(self.view, View::Rich(_)) || !self.kind.is_empty() {
            facts.push(format::size(self.raw.bytes().len() as u64));
        }
        if let View::Picture(picture) = &self.view {
            facts.push(format!("{} x {}", picture.size.0, picture.size.1));
        }
        facts
    }

    /// How many lines it has on so many columns.
    #[must_use]
    pub fn len(&self, columns: usize) -> usize {
        match &self.view {
            View::Text(text) => text.len(),
            View::Json(json) => json.len(),
            View::Rich(rich) => rich.len(),
            View::Hex => hex::len(self.raw.bytes().len(), hex::bytes_each(columns)),
            View::Picture(_) | View::Nothing(_) => 0,
        }
    }

    /// The line as it is shown on so many columns.
    #[must_use]
    pub fn line(&self, index: usize, columns: usize, folds: &Folds) -> Line<'_> {
        match &self.view {
            View::Text(text) => text.line(index),
            View::Json(json) => json.line(index, folds),
            View::Rich(rich) => rich.line(index),
            View::Hex => hex::line(self.raw.bytes(), index, hex::bytes_each(columns)),
            View::Picture(_) | View::Nothing(_) => Line::plain("", line::Ink::Plain),
        }
    }

    /// The line below, `None` below the last.
    #[must_use]
    pub fn next(&self, index: usize, columns: usize, folds: &Folds) -> Option<usize> {
        match &self.view {
            View::Json(json) => json.next(index, folds),
            _ => (index + 1 < self.len(columns)).then_some(index + 1),
        }
    }

    /// The line above, `None` above the first.
    #[must_use]
    pub fn previous(&self, index: usize, folds: &Folds) -> Option<usize> {
        match &self.view {
            View::Json(json) => json.previous(index, folds),
            _ => index.checked_sub(1),
        }
    }

    /// The columns of the line numbers.
    #[must_use]
    pub fn gutter(&self) -> usize {
        match &self.view {
            View::Text(text) => text.gutter(),
            _ => 0,
        }
    }

    /// The text of a line in which words are looked for; none where there is nothing to find.
    #[must_use]
    pub fn searched(&self, index: usize) -> &str {
        match &self.view {
            View::Text(text) => text.raw(index),
            View::Json(json) => json.raw(index),
            View::Rich(rich) => rich.raw(index),
            View::Hex | View::Picture(_) | View::Nothing(_) => "",
        }
    }

    /// Whether words can be looked for in it.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(self.view, View::Text(_) | View::Json(_) | View::Rich(_))
    }
}

/// What the server calls it, or our word.
fn shown_kind(mime_type: Option<&str>, word: &str) -> Box<str> {
    let mime_type = mime_type.unwrap_or_default().trim();
    let known = clean::metadata(mime_type, clean::Keep::Line).unwrap_or_default();
    if known.is_empty() { word.into() } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(uri: &str, mime_type: Option<&str>, body: Body) -> Content {
        Content {
            uri: uri.into(),
            mime_type: mime_type.map(Into::into),
            body,
        }
    }

    fn text(uri: &str, mime_type: Option<&str>, text: &str) -> Part {
        let content = content(uri, mime_type, Body::Text(text.into()));
        Document::of(vec![content], &Wanted::default())
            .parts
            .remove(0)
    }

    fn blob(bytes: &[u8]) -> Part {
        let body = Body::Blob(STANDARD.encode(bytes).into());
        Document::of(vec![content("x", None, body)], &Wanted::default())
            .parts
            .remove(0)
    }

    #[test]
    fn contents_are_shown_as_what_they_are() {
        assert!(matches!(text("a.json", None, "{}").view, View::Json(_)));
        assert!(matches!(text("a.md", None, "# a").view, View::Rich(_)));
        assert!(matches!(text("a", None, "a").view, View::Text(_)));
        let long = "a ".repeat(MOST_MARKDOWN);
        assert!(matches!(text("a.md", None, &long).view, View::Text(_)));
        assert_eq!(text("a.rs", None, "a").gutter(), 3);
        assert_eq!(text("a.txt", Some("text/plain"), "a").gutter(), 0);
        assert!(matches!(blob(b"\0\x01\x02").view, View::Hex));
        assert!(matches!(blob(b"\x89PNG\r\n\x1a\n").view, View::Hex));
        let bad = content("x", None, Body::Blob("***".into()));
        let bad = Document::of(vec![bad], &Wanted::default()).parts.remove(0);
        assert!(matches!(bad.view, View::Nothing(_)));
        assert!(matches!(
            Document::of(vec![], &Wanted::default()).parts[0].view,
            View::Nothing(_)
        ));
    }

    #[test]
    fn what_nobody_waits_for_is_not_laid_out() {
        let wanted = Wanted::default();
        wanted.leave();
        let kinds = ["application/json", "text/markdown", "text/plain"];
        for kind in kinds {
            let json = "[1, 2]\n\n".into();
            let content = content("x", Some(kind), Body::Text(json));
            let part = Part::of(content.clone(), &wanted);
            assert_eq!(part.len(80), 0, "{kind}");
            let document = Document::of(vec![content], &wanted);
            assert!(matches!(document.parts[0].view, View::Nothing(_)));
        }
    }

    #[test]
    fn what_steers_a_terminal_is_counted_and_kept_in_what_is_saved() {
        let part = text("a.txt", None, "a\x1b[31mb\u{202e}");
        assert_eq!(part.removed, 2);
        assert_eq!(part.searched(0), "ab");
        assert_eq!(part.raw.bytes(), "a\x1b[31mb\u{202e}".as_bytes());
    }
}
