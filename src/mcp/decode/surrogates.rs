//! Lone surrogate escapes in JSON text, which some servers write and serde refuses.

use std::borrow::Cow;

use memchr::memchr;

/// Replaces every lone surrogate escape (`\ud800` say) in JSON text by `\ufffd`; pairs stay, and
/// so does everything else. Text without one is borrowed.
#[must_use]
pub fn repair_surrogates(json: &str) -> Cow<'_, str> {
    if next_lone(json.as_bytes(), &mut 0).is_none() {
        return Cow::Borrowed(json);
    }
    let mut bytes = json.as_bytes().to_vec();
    repair_bytes(&mut bytes);
    // ASCII was replaced by ASCII, so it is still UTF-8.
    String::from_utf8(bytes).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// As [`repair_surrogates`], in place: one escape is as long as another.
pub fn repair_bytes(json: &mut [u8]) {
    let mut at = 0;
    while let Some(start) = next_lone(json, &mut at) {
        json[start..at].copy_from_slice(br"\ufffd");
    }
}

/// Where the next lone surrogate escape begins, looked for from `at` on, which moves behind it.
fn next_lone(json: &[u8], at: &mut usize) -> Option<usize> {
    loop {
        let start = *at + memchr(b'\\', json.get(*at..)?)?;
        *at = start + 6;
        match unit(json, start) {
            // An escape of two bytes.
            None => *at = start + 2,
            Some(0xd800..=0xdbff) if matches!(unit(json, *at), Some(0xdc00..=0xdfff)) => *at += 6,
            Some(0xd800..=0xdfff) => return Some(start),
            Some(_) => {}
        }
    }
}

/// The code unit of the `\uHHHH` that begins at the position.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if escape[0] != b'\\' || escape[1] != b'u' {
        return None;
    }
    escape[2..].iter().try_fold(0, |unit, byte| {
        Some(unit << 4 | char::from(*byte).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        let check = |input: &str, expected: &str| assert_eq!(repair_surrogates(input), expected);
        check(r#""plain \n \\ \u00e9""#, r#""plain \n \\ \u00e9""#);
        check(r#""\ud800""#, r#""\ufffd""#);
        check(r#""\uDFFFx""#, r#""\ufffdx""#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
        check(r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#);
        check(r#""\\ud800""#, r#""\\ud800""#);
        check(r#""\\\ud800""#, r#""\\\ufffd""#);
        check(r#""\ud800\\udc00""#, r#""\ufffd\\udc00""#);
        check(r#""\ud800\n""#, r#""\ufffd\n""#);
        check(r"\ud80", r"\ud80");
        check("\\é\\", "\\é\\");
        assert!(matches!(repair_surrogates(r#""\u00e9""#), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn what_was_repaired_is_a_string(units in prop::collection::vec(0xd700_u16..0xe100, 0..12)) {
            let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{}\"", escapes.concat());
            let read = serde_json::from_str::<String>(&repair_surrogates(&json)).ok();
            prop_assert_eq!(read, Some(String::from_utf16_lossy(&units)));
        }

        #[test]
        fn any_text_is_survived(text in ".{0,40}|[\\\\ud8cf0é]{0,30}") {
            let once = repair_surrogates(&text);
            prop_assert_eq!(repair_surrogates(&once), once.as_ref());
        }
    }
}
