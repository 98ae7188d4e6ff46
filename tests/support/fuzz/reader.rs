//! What a person reads: contents of any kind, as documents.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mcpdeck::domain::text::width;
use mcpdeck::mcp::decode::contents::{Body, Content};
use mcpdeck::tui::aside::Wanted;
use mcpdeck::tui::document::json::Folds;
use mcpdeck::tui::document::picture::Picture;
use mcpdeck::tui::document::{Document, Part, View};
use unicode_segmentation::UnicodeSegmentation;

/// What a server may call what it sends.
const TYPES: [Option<&str>; 6] = [
    None,
    Some("text/plain"),
    Some("text/markdown"),
    Some("application/json"),
    Some("text/x-rust"),
    Some("text/html; charset=utf-8"),
];

/// A content of any type: every line of it can be drawn, and walked over in both directions.
pub fn document(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let choice = usize::from(*choice);
    let body = match std::str::from_utf8(data) {
        Ok(text) if choice < 128 => Body::Text(text.into()),
        _ => Body::Blob(BASE64_STANDARD.encode(data).into()),
    };
    let content = Content {
        uri: "memo://x".into(),
        mime_type: TYPES[choice % TYPES.len()].map(Into::into),
        body,
    };
    let document = Document::of(vec![content], &Wanted::default());
    let columns = choice / TYPES.len() * 4;
    for part in &document.parts {
        walk(part, columns, &Folds::new());
        if let View::Json(json) = &part.view {
            walk(part, columns, &json.openings().collect());
        }
        if let View::Picture(picture) = &part.view {
            dots(picture);
        }
    }
}

/// Goes down line by line, draws each, and comes back up the same way.
fn walk(part: &Part, columns: usize, folds: &Folds) {
    let lines = part.len(columns);
    let mut way = Vec::new();
    let mut next = (lines > 0).then_some(0);
    while let Some(index) = next {
        assert!(index < lines, "line {index} of {lines}");
        let line = part.line(index, columns, folds);
        assert!(!line.text.contains(char::is_control), "{:?}", line.text);
        let lead = width(&line.lead).max(width(&line.hang));
        let room = columns.saturating_sub(lead).max(1);
        for row in line.rows(columns) {
            let text = line.text[row.clone()].trim_end_matches(' ');
            let fits = width(text) <= room || text.graphemes(true).count() == 1;
            assert!(fits, "{text:?} on {room}");
            let parts: String = line.parts(row.clone()).map(|(part, _)| part).collect();
            assert_eq!(parts, line.text[row]);
        }
        let _ = part.searched(index);
        way.push(index);
        next = part.next(index, columns, folds);
    }
    while let Some(index) = way.pop() {
        assert_eq!(part.previous(index, folds), way.last().copied());
    }
}

/// The bytes of a picture.
pub fn picture(data: &[u8]) {
    if let Ok(picture) = Picture::new(data) {
        dots(&picture);
    }
}

/// It fits into any window.
fn dots(picture: &Picture) {
    for (columns, rows) in [(0, 0), (1, 1), (80, 46), (500, 3)] {
        let dots = picture.dots(columns, rows);
        assert!(dots.columns <= columns.max(1) && dots.rows() <= rows.max(1));
        let _ = dots.at(columns, rows);
    }
}
