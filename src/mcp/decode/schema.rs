//! JSON of a tool that is kept whole: compact, with every text and key sanitized.
//!
//! It is rewritten token by token, so numbers stay as they are written and nesting costs no stack.

use serde_json::value::RawValue;

use crate::domain::text::{Keep, sanitize_within};

use super::fields::Value;

/// Deeper JSON is refused by most readers (it is the limit of `serde_json`).
const MAX_DEPTH: usize = 128;

/// The most characters of one text in a schema.
const MAX_TEXT: usize = 65_536;

/// Why a JSON value cannot be kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It has more bytes than its whole listing may.
    TooLarge,
    /// What is wrong with it, to be said behind its name.
    Because(&'static str),
}

/// Makes valid JSON compact, and its texts safe.
pub(super) fn compact(json: &str, max_bytes: usize) -> Result<Box<RawValue>, Unusable> {
    let mut compact = String::with_capacity(json.len().min(max_bytes));
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        let token = if c == '"' {
            let (token, after) = rest.split_at(string_len(rest));
            let is_key = after.trim_ascii_start().starts_with(':');
            push_text(token, is_key, &mut compact)?;
            token
        } else {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !c.is_ascii_whitespace() {
                compact.push(c);
            }
            &rest[..c.len_utf8()]
        };
        if depth > MAX_DEPTH {
            return Err(Unusable::Because("nests deeper than 128"));
        }
        if compact.len() > max_bytes {
            return Err(Unusable::TooLarge);
        }
        rest = &rest[token.len()..];
    }
    compact.shrink_to_fit();
    RawValue::from_string(compact).map_err(|_| Unusable::Because("is not valid JSON"))
}

fn push_text(token: &str, is_key: bool, compact: &mut String) -> Result<(), Unusable> {
    let keep = if is_key { Keep::Line } else { Keep::Block };
    let text = Value(token)
        .string()
        .ok_or(Unusable::Because("is not valid JSON"))?;
    if text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT {
        return Err(Unusable::Because(
            "has a text of more than 65,536 characters",
        ));
    }
    let clean = sanitize_within(&text, keep, MAX_TEXT).map_err(|_| {
        Unusable::Because("has a text that does not settle under Unicode normalization")
    })?;
    let clean = serde_json::to_string(&clean)
        .map_err(|_| Unusable::Because("has a text that cannot be written"))?;
    compact.push_str(&clean);
    Ok(())
}

/// The length of the quoted string at the start of a text.
fn string_len(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compact_and_its_texts_are_safe() {
        let check = |input: &str, expected: &str| {
            let compact = compact(input, 1_000).map(|json| json.get().to_owned());
            assert_eq!(compact.as_deref(), Ok(expected), "{input}");
        };
        check(
            r#" { "a" : [ 1.50, -0e9 , true, null ] } "#,
            r#"{"a":[1.50,-0e9,true,null]}"#,
        );
        check(r#"{"a b":"c  d \" \\ e"}"#, r#"{"a b":"c  d \" \\ e"}"#);
        check(
            r#"{"a\u200bb":"\u001b[31mred\n\u202e"}"#,
            r#"{"ab":"red\n"}"#,
        );
        check(r#"{"a\nb" : "c\nd"}"#, r#"{"ab":"c\nd"}"#);
        check("{\"a\":\"\u{feff}ﬁ\u{7f}\"}", r#"{"a":"fi"}"#);
        check(
            r#"{"a":12345678901234567890123}"#,
            r#"{"a":12345678901234567890123}"#,
        );
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_refused() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(compact(&deep(128), 1_000).is_ok());
        let problem = |json: &str| compact(json, 1_000).err();
        let too_deep = Some(Unusable::Because("nests deeper than 128"));
        assert_eq!(problem(&deep(129)), too_deep);
        assert_eq!(problem(&deep(100_000)), too_deep);
        assert_eq!(problem(&"1".repeat(1_001)), Some(Unusable::TooLarge));
        let long = format!("\"{}\"", "a".repeat(65_537));
        let too_long = Unusable::Because("has a text of more than 65,536 characters");
        assert_eq!(problem(&long), Some(too_long));
    }
}
