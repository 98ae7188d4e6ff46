//! Texts: what a server says of itself, URI templates, what a terminal sends.

use std::collections::BTreeMap;

use mcpdeck::domain::text::{
    self, Keep, MAX_CHARS, Unstable, cell, contents, error_text, fit, fit_middle, metadata,
    readable, sanitize, shell_word, visible, width,
};
use mcpdeck::domain::uri_template::{Piece, UriTemplate};
use mcpdeck::tui::decoder::Decoder;

/// What comes out is safe, stays as it is, and has the length that it may have.
pub fn sanitizer(data: &[u8]) {
    let Some((columns, text)) = super::choice_and_text(data) else {
        return;
    };
    for keep in [Keep::Line, Keep::Block] {
        match sanitize(text, keep) {
            Ok(safe) => {
                assert_harmless(&safe, keep);
                assert_eq!(sanitize(&safe, keep).as_deref(), Ok(&*safe));
            }
            Err(Unstable) => assert!(!text.is_ascii()),
        }
        if let Ok(safe) = metadata(text, keep) {
            assert_harmless(&safe, keep);
            assert!(safe.chars().count() <= MAX_CHARS);
            assert_eq!(metadata(&safe, keep).as_ref(), Ok(&safe));
        }
    }
    let error = error_text(text);
    assert_harmless(&error, Keep::Block);
    assert!(error.chars().count() <= MAX_CHARS);

    let read = contents(text);
    assert_eq!(contents(&read.text).text, read.text);
    assert_eq!(read.removed == 0, read.text == text);
    assert!(!read.text.contains('\u{1b}'));

    assert!(!cell(text).contains(char::is_control));
    assert!(!visible(text).contains(char::is_control));
    let _ = (
        readable(text),
        text::without_sequences(text),
        shell_word(text),
    );
    let columns = usize::from(columns);
    for fitted in [fit(text, columns), fit_middle(text, columns)] {
        assert!(width(&fitted) <= columns, "{fitted:?} on {columns}");
    }
}

/// Nothing that steers a terminal, is drawn by nobody, or turns text around.
fn assert_harmless(text: &str, keep: Keep) {
    let is_harmful = |c: char| match c {
        '\n' | '\t' => keep == Keep::Line,
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{10ffff}' => true,
        _ => c.is_control(),
    };
    assert!(!text.contains(is_harmful), "{text:?}");
}

/// A template, and behind a NUL each what is written into its fields.
pub fn template(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = text.split('\0');
    let Ok(template) = UriTemplate::new(parts.next().unwrap_or_default()) else {
        return;
    };
    let variables = template.variables();
    assert!(variables.len() <= 64);
    let values: BTreeMap<_, _> = variables
        .iter()
        .zip(parts)
        .filter_map(|(variable, field)| Some((variable.name.clone(), variable.value(field)?)))
        .collect();
    let Ok(uri) = template.expand(&values) else {
        assert!(template.pieces(&values).is_err());
        return;
    };
    assert!(uri.len() <= 65_536, "{} bytes", uri.len());
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri:?}");
    let pieces = template.pieces(&values).unwrap();
    let pieces = pieces.into_iter().map(|piece| match piece {
        Piece::Literal(text) | Piece::Value(text) => text,
        Piece::Gap(_) => String::new(),
    });
    assert_eq!(pieces.collect::<String>(), uri);
}

/// What a terminal sends is the same however it is cut into pieces, as long as nothing is late.
pub fn terminal(data: &[u8]) {
    let (mut whole, mut parts) = (Decoder::default(), Decoder::default());
    let mut all = whole.feed(data);
    let mut each: Vec<_> = data.chunks(1).flat_map(|byte| parts.feed(byte)).collect();
    assert_eq!(whole.is_waiting(), parts.is_waiting());
    all.extend(whole.flush());
    each.extend(parts.flush());
    assert_eq!(all, each);
    assert!(!whole.is_waiting());
}
