use std::fmt::Write as _;

use proptest::prelude::*;

use crate::domain::item::{Prompt, Resource, ResourceTemplate, Tool};

use super::*;

/// A template page of these items, whose page number is 2.
fn templates(items: &str) -> String {
    let json = format!(r#"{{"resourceTemplates":[{items}]}}"#);
    read::<ResourceTemplate>(&json)
}

/// What is kept of a page as JSON, or kind and message of its failure.
fn read<T: Decode>(json: &str) -> String {
    let mut into = Accumulator::<T>::default();
    match page(json, 2, &mut into) {
        Ok(_) => serde_json::to_string(into.items()).unwrap_or_default(),
        Err(failure) => format!("{}: {failure}", failure.kind.word()),
    }
}

fn notes<T: Decode>(json: &str) -> Vec<String> {
    let mut into = Accumulator::<T>::default();
    assert!(page(json, 2, &mut into).is_ok(), "{json}");
    let (_, notes) = into.finish();
    notes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_kept_of_a_template() {
    let check = |item: &str, kept: &str| assert_eq!(templates(item), format!("[{kept}]"), "{item}");
    check(
        r#"{"name":"n","uriTemplate":"u","extra":1,"icons":7,"_meta":{"a":[]}}"#,
        r#"{"uriTemplate":"u","name":"n"}"#,
    );
    check(
        r#"{"annotations":{"x":1,"priority":0.5,"audience":["user","assistant","user"],"lastModified":"2025-01-12"},
            "mimeType":"text/plain","description":"d\ne","title":"t","name":"n","uriTemplate":"u"}"#,
        r#"{"uriTemplate":"u","name":"n","title":"t","description":"d\ne","mimeType":"text/plain","annotations":{"audience":["user","assistant","user"],"priority":0.5,"lastModified":"2025-01-12"}}"#,
    );
    check(
        r#"{"uriTemplate":"u","name":"n","title":null,"description":null,"mimeType":null,"annotations":null}"#,
        r#"{"uriTemplate":"u","name":"n"}"#,
    );
    check(
        r#"{"uriTemplate":"u","name":"n","annotations":{"audience":null,"priority":null,"lastModified":null}}"#,
        r#"{"uriTemplate":"u","name":"n","annotations":{}}"#,
    );
    check(
        r#"{"uriTemplate":"u","name":"n","annotations":{"audience":[],"priority":1}}"#,
        r#"{"uriTemplate":"u","name":"n","annotations":{"audience":[],"priority":1}}"#,
    );
    check(
        r#"{"uriTemplate":"","name":""}"#,
        r#"{"uriTemplate":"","name":""}"#,
    );
    check(
        "{\"uriTemplate\":\"a\u{200b}\\u001b[1m{x}ﬁ\",\"name\":\"a\u{200b}\\u001b[1mﬁ\\n\"}",
        "{\"uriTemplate\":\"a\u{200b}\\u001b[1m{x}ﬁ\",\"name\":\"afi\"}",
    );
    check(
        r#"{"uriTemplate":"\ud800","name":"\udfff\ud83d\ude00","\ud800":1}"#,
        "{\"uriTemplate\":\"\u{fffd}\",\"name\":\"\u{fffd}😀\"}",
    );
    check(
        r#"{"uriTemplate":1,"uriTemplate":"u","na\u006de":"n","title":7,"title":"t","annotations":[],"annotations":null}"#,
        r#"{"uriTemplate":"u","name":"n","title":"t"}"#,
    );
}

#[test]
fn a_bad_item_is_named_with_its_reason() {
    let check = |item: &str, reason: &str| {
        let items = format!(r#"{{"uriTemplate":"u","name":"n"}},{item},{{}}"#);
        let expected = format!("malformed: page 2, item 2: {reason}");
        assert_eq!(templates(&items), expected, "{item}");
    };
    check("{}", "uriTemplate is missing");
    check("7", "it is not an object");
    check("null", "it is not an object");
    check(r#""u""#, "it is not an object");
    check("[{}]", "it is not an object");
    check(
        r#"{"uriTemplate":null,"name":"n"}"#,
        "uriTemplate is missing",
    );
    check(
        r#"{"uriTemplate":7,"name":"n"}"#,
        "uriTemplate is not a string",
    );
    check(r#"{"uriTemplate":"u"}"#, "name is missing");
    check(r#"{"uriTemplate":"u","name":null}"#, "name is missing");
    check(r#"{"uriTemplate":"u","name":{}}"#, "name is not a string");
    check(
        r#"{"uriTemplate":"u","name":"n","name":7}"#,
        "name is not a string",
    );
    let optional = |field: &str, reason: &str| {
        check(
            &format!(r#"{{"uriTemplate":"u","name":"n",{field}}}"#),
            reason,
        );
    };
    optional(r#""title":7"#, "title is not a string");
    optional(r#""description":["d"]"#, "description is not a string");
    optional(r#""mimeType":false"#, "mimeType is not a string");
    optional(r#""annotations":7"#, "annotations is not an object");
    optional(r#""annotations":[]"#, "annotations is not an object");
    let annotation = |field: &str, reason: &str| {
        optional(
            &format!(r#""annotations":{{{field}}}"#),
            &format!("annotations.{reason}"),
        );
    };
    let audience = "audience is not a list of user and assistant";
    for value in [
        r#""user""#,
        "7",
        r#"["admin"]"#,
        r#"["User"]"#,
        "[null]",
        r#"[{"user":null}]"#,
    ] {
        annotation(&format!(r#""audience":{value}"#), audience);
    }
    let priority = "priority is not a number from 0 to 1";
    for value in ["-0.1", "1.1", r#""1""#, "true", "1e999", "[]"] {
        annotation(&format!(r#""priority":{value}"#), priority);
    }
    let modified = "lastModified is not an ISO 8601 date or date-time";
    for value in [
        r#""yesterday""#,
        "7",
        r#""2025-13-01""#,
        r#""2025-01-01\n""#,
    ] {
        annotation(&format!(r#""lastModified":{value}"#), modified);
    }
}

#[test]
fn a_bad_page_is_named_with_its_reason() {
    let check = |json: &str, reason: &str| {
        assert_eq!(
            read::<Resource>(json),
            format!("malformed: page 2: {reason}"),
            "{json}"
        );
    };
    check("{}", "resources is missing");
    check(r#"{"resources":null}"#, "resources is missing");
    check(r#"{"resourceTemplates":[]}"#, "resources is missing");
    for value in ["{}", "7", r#""x""#, "true", "-1", "0.5"] {
        check(
            &format!(r#"{{"resources":{value}}}"#),
            "resources is not an array",
        );
    }
    for value in ["7", "{}", "[]", "true"] {
        let json = format!(r#"{{"nextCursor":{value},"resources":[]}}"#);
        check(&json, "nextCursor is not a string");
    }
    for value in [r#""input_required""#, r#""""#, "7", "{}"] {
        let json = format!(r#"{{"resources":[],"resultType":{value}}}"#);
        check(&json, "resultType is not complete");
    }
    for json in ["7", "null", "[]", r#""x""#, "", "true"] {
        check(json, "the result is not an object");
    }
    for json in [
        "{",
        r#"{"resources":[}"#,
        r#"{"resources":[]} x"#,
        r#"{"resources":[1e999]}"#,
    ] {
        check(json, "the result is not valid JSON");
    }
}

#[test]
fn the_cursor_is_kept_byte_for_byte_and_hidden() {
    let check = |json: &str, cursor: Option<&str>| {
        let mut into = Accumulator::<Resource>::default();
        let page = page(json, 1, &mut into).ok();
        let next = page.map(|page| page.next);
        assert_eq!(
            next,
            Some(cursor.map(|cursor| Cursor(cursor.into()))),
            "{json}"
        );
    };
    check(r#"{"resources":[]}"#, None);
    check(r#"{"resources":[],"nextCursor":null}"#, None);
    check(r#"{"resources":[],"nextCursor":""}"#, Some(""));
    check(
        r#"{"nextCursor":" a\u200b\n","resources":[]}"#,
        Some(" a\u{200b}\n"),
    );
    check(
        r#"{"nextCursor":"a","resources":[],"nextCursor":"b"}"#,
        Some("b"),
    );
    check(r#"{"nextCursor":7,"resources":[],"nextCursor":null}"#, None);
    check(r#"{"resultType":"complete","resources":[]}"#, None);
    check(r#"{"resultType":null,"resources":[]}"#, None);
    assert_eq!(format!("{:?}", Cursor("secret".into())), "***");
}

#[test]
fn of_a_repeated_array_the_last_counts() {
    let check = |json: &str, kept: &str| assert_eq!(read::<Resource>(json), kept, "{json}");
    let one = r#"{"uri":"u","name":"n"}"#;
    check(
        &format!(r#"{{"resources":[{one},{one}],"resources":[{one}]}}"#),
        &format!("[{one}]"),
    );
    check(
        &format!(r#"{{"resources":[{{}},{one}],"resources":[{one}]}}"#),
        &format!("[{one}]"),
    );
    check(
        &format!(r#"{{"resources":7,"resources":[{one}]}}"#),
        &format!("[{one}]"),
    );
    check(
        &format!(r#"{{"resources":[{one}],"resources":null}}"#),
        "malformed: page 2: resources is missing",
    );
    let mut into = Accumulator::<Resource>::default();
    assert!(page(&format!(r#"{{"resources":[{one}]}}"#), 1, &mut into).is_ok());
    let bytes = into.bytes();
    assert_eq!(bytes, one.len());
    let again = format!(r#"{{"resources":[{one},{one}],"resources":[{one}]}}"#);
    assert!(page(&again, 2, &mut into).is_ok());
    assert_eq!((into.items().len(), into.bytes()), (2, 2 * bytes));
}

#[test]
fn a_size_is_a_whole_number_or_noted() {
    let item = |size: &str| format!(r#"{{"resources":[{{"uri":"u","name":"n","size":{size}}}]}}"#);
    let check = |size: &str, kept: Option<&str>| {
        let kept = kept.map_or(String::new(), |kept| format!(r#","size":{kept}"#));
        let json = item(size);
        assert_eq!(
            read::<Resource>(&json),
            format!(r#"[{{"uri":"u","name":"n"{kept}}}]"#)
        );
        let note = "page 2, item 1 (n): size is not a whole number from 0, left out";
        let expected = if kept.is_empty() && size != "null" {
            vec![note]
        } else {
            vec![]
        };
        assert_eq!(notes::<Resource>(&json), expected, "{size}");
    };
    check("0", Some("0"));
    check("48", Some("48"));
    check("48.0", Some("48"));
    check("4.8e1", Some("48"));
    check("-0", Some("0"));
    check("18446744073709551615", Some("18446744073709551615"));
    check("null", None);
    check("-1", None);
    check("1.5", None);
    check("1e999", None);
    check("18446744073709551616", None);
    for size in [r#""48""#, "true", "{}"] {
        let expected = "malformed: page 2, item 1: size is not a number";
        assert_eq!(read::<Resource>(&item(size)), expected);
    }
}

#[test]
fn a_tool_needs_only_a_name() {
    let check = |tool: &str, kept: &str, noted: &[&str]| {
        let json = format!(r#"{{"tools":[{tool}]}}"#);
        assert_eq!(read::<Tool>(&json), format!("[{kept}]"), "{tool}");
        let noted: Vec<_> = noted
            .iter()
            .map(|note| format!("page 2, item 1 (n): {note}, left out"))
            .collect();
        assert_eq!(notes::<Tool>(&json), noted, "{tool}");
    };
    check(r#"{"name":"n"}"#, r#"{"name":"n"}"#, &[]);
    check(
        r#"{"name":"n","title":7,"description":[],"inputSchema":true,"outputSchema":[],"annotations":"x"}"#,
        r#"{"name":"n"}"#,
        &[
            "title is not a string",
            "description is not a string",
            "inputSchema is not an object",
            "outputSchema is not an object",
            "annotations is not an object",
        ],
    );
    check(
        r#"{"annotations":{ "readOnlyHint" : true },"inputSchema":{ "type": "object\u200b" },"name":"n","icons":[]}"#,
        r#"{"name":"n","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
        &[],
    );
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    check(
        &format!(r#"{{"name":"n","outputSchema":{deep}}}"#),
        r#"{"name":"n"}"#,
        &["outputSchema nests deeper than 128"],
    );
    let bad = |tool: &str, reason: &str| {
        let expected = format!("malformed: page 2, item 1: {reason}");
        assert_eq!(read::<Tool>(&format!(r#"{{"tools":[{tool}]}}"#)), expected);
    };
    bad("{}", "name is missing");
    bad(r#"{"name":7}"#, "name is not a string");
}

#[test]
fn a_prompt_needs_only_a_name() {
    let json = r#"{"prompts":[{"name":"n","title":7,"arguments":[
        {"name":"a","required":true,"title":"t","description":"d\n","x":1},
        {"name":"b","required":"yes","title":1,"description":2},
        7,{},{"name":1},{"name":"c","required":null}]},
        {"name":"m","arguments":{}},{"name":"o","arguments":[]}]}"#;
    assert_eq!(
        read::<Prompt>(json),
        r#"[{"name":"n","arguments":[{"name":"a","title":"t","description":"d\n","required":true},{"name":"b"},{"name":"c"}]},{"name":"m"},{"name":"o","arguments":[]}]"#
    );
    let noted = [
        "page 2, item 1 (n): title is not a string, left out",
        "page 2, item 1 (n): argument 2: title is not a string, left out",
        "page 2, item 1 (n): argument 2: description is not a string, left out",
        "page 2, item 1 (n): argument 2: required is not true or false, left out",
        "page 2, item 1 (n): argument 3 is not an object, left out",
        "page 2, item 1 (n): argument 4: name is missing, left out",
        "page 2, item 1 (n): argument 5: name is not a string, left out",
        "page 2, item 2 (m): arguments is not an array, left out",
    ];
    assert_eq!(notes::<Prompt>(json), noted);
}

#[test]
fn notes_and_arguments_of_a_listing_are_bounded() {
    let tools = vec![r#"{"name":"n","title":7}"#; 200].join(",");
    assert_eq!(
        notes::<Tool>(&format!(r#"{{"tools":[{tools}]}}"#)).len(),
        100
    );
    let arguments = vec![r#"{"name":""}"#; MAX_ARGUMENTS + 1].join(",");
    let json = format!(r#"{{"prompts":[{{"name":"n","arguments":[{arguments}]}}]}}"#);
    let noted =
        "page 2, item 1 (n): argument 100001 is one of more than 100,000 in this listing, left out";
    assert_eq!(notes::<Prompt>(&json), [noted]);
}

#[test]
fn ten_thousand_items_pass_and_the_next_is_not_looked_at() {
    let items = vec![r#"{"uri":"","name":""}"#; 5_000].join(",");
    let half = format!(r#"{{"resources":[{items}]}}"#);
    let mut into = Accumulator::<Resource>::default();
    assert!(page(&half, 1, &mut into).is_ok());
    assert!(page(&half, 2, &mut into).is_ok());
    assert!(page(r#"{"resources":[]}"#, 3, &mut into).is_ok());
    assert_eq!(into.items().len(), MAX_ITEMS);
    let failure = page(r#"{"resources":[{"bad":1}]}"#, 4, &mut into).err();
    let expected = Failure::new(FailureKind::ItemLimit, "page 4: more than 10,000 resources");
    assert_eq!(failure, Some(expected));
}

#[test]
fn the_byte_bound_counts_what_is_kept() {
    // 28 bytes around the template count; the space and the unknown field do not.
    let item = |len: usize| {
        format!(
            r#"{{"uriTemplate":"{}", "name":"","x":1}}"#,
            "u".repeat(len)
        )
    };
    let json = |rest: usize| {
        let mut items = String::new();
        for _ in 0..9 {
            let _ = write!(items, "{},", item(100_000 - 28));
        }
        format!(r#"{{"resourceTemplates":[{items}{}]}}"#, item(rest - 28))
    };
    let mut into = Accumulator::<ResourceTemplate>::default();
    assert!(page(&json(100_000), 1, &mut into).is_ok());
    assert_eq!(into.bytes(), 1_000_000);
    let expected = "byte_limit: page 2, item 10: more than 1,000,000 bytes of templates";
    assert_eq!(read::<ResourceTemplate>(&json(100_001)), expected);

    // Too many items come before too many bytes.
    let item = item(200 - 28);
    let many = |count: usize| {
        let items = vec![item.as_str(); count].join(",");
        read::<ResourceTemplate>(&format!(r#"{{"resourceTemplates":[{items}]}}"#))
    };
    let too_large = "byte_limit: page 2, item 5001: more than 1,000,000 bytes of templates";
    assert_eq!(many(10_000), too_large);
    let too_many = "item_limit: page 2: more than 10,000 templates";
    assert_eq!(many(10_001), too_many);

    // A malformed item is found first only if it comes first.
    let malformed_later = json(100_001).replace("]}", ",{}]}");
    assert_eq!(read::<ResourceTemplate>(&malformed_later), expected);

    // Ten megabytes in one tool.
    let text = "x".repeat(60_000);
    let texts = vec![format!("\"{text}\""); 170].join(",");
    let json = format!(r#"{{"tools":[{{"name":"n","inputSchema":{{"a":[{texts}]}}}}]}}"#);
    let expected = "byte_limit: page 2, item 1: more than 10,000,000 bytes of tools";
    assert_eq!(read::<Tool>(&json), expected);
}

#[test]
fn depth_in_what_is_not_looked_at_is_harmless() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    for deep in [deep, objects] {
        let json = format!(
            r#"{{"x":{deep},"resources":[{{"uri":"u","_meta":{deep},"name":"n","annotations":{{"x":{deep}}}}}],"_meta":{deep}}}"#
        );
        assert_eq!(
            read::<Resource>(&json),
            r#"[{"uri":"u","name":"n","annotations":{}}]"#
        );
        let json = format!(r#"{{"resources":[{deep}]}}"#);
        assert!(read::<Resource>(&json).starts_with("malformed: page 2, item 1: "));
        let json = format!(r#"{{"resources":[{{"uri":{deep}}}]}}"#);
        assert_eq!(
            read::<Resource>(&json),
            "malformed: page 2, item 1: uri is not a string"
        );
        let json = format!(r#"{{"resources":[],"nextCursor":{deep}}}"#);
        assert_eq!(
            read::<Resource>(&json),
            "malformed: page 2: nextCursor is not a string"
        );
    }
}

#[test]
fn long_texts_are_capped_before_they_are_counted() {
    let json = format!(
        r#"{{"resourceTemplates":[{{"uriTemplate":"","name":"{}"}}]}}"#,
        "n".repeat(2_000_000)
    );
    let mut into = Accumulator::<ResourceTemplate>::default();
    assert!(page(&json, 1, &mut into).is_ok());
    assert_eq!(into.bytes(), 28 + 2_048);
}

const VALID: &str = r#"{"nextCursor":"c","_meta":{"a":[1,{"b":null}]},"resources":[{"uri":"u\ud83d\ude00","name":"n","size":1.5e3,
    "annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}}],
    "tools":[{"name":"t","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"d\u200b"}}}}],
    "prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}],
    "resourceTemplates":[{"uriTemplate":"u","name":"n","title":"t","description":"d"}],"resultType":"complete"}"#;

fn survive(json: &str) {
    let _ = read::<Resource>(json);
    let _ = read::<ResourceTemplate>(json);
    let _ = read::<Tool>(json);
    let _ = read::<Prompt>(json);
}

proptest! {
    #[test]
    fn any_text_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_damaged_page_is_survived(
        cuts in prop::collection::vec((0..VALID.len(), 0..12_usize, "[\\]\\[{}\",:0-9a-z\\\\ \u{0}-\u{1f}é]{0,6}"), 1..6),
    ) {
        let mut json = VALID.as_bytes().to_vec();
        for (at, len, text) in cuts {
            let at = at.min(json.len());
            let end = (at + len).min(json.len());
            json.splice(at..end, text.into_bytes());
        }
        survive(&String::from_utf8_lossy(&json));
    }

    #[test]
    fn the_order_of_keys_does_not_matter(seed in any::<prop::sample::Index>()) {
        let mut parts = [r#""nextCursor":"c""#, r#""resources":[{"uri":"u","name":"n"}]"#, r#""resultType":"complete""#, r#""x":{}"#];
        let turns = seed.index(parts.len());
        parts.rotate_left(turns);
        let mut into = Accumulator::<Resource>::default();
        let read = page(&format!("{{{}}}", parts.join(",")), 1, &mut into);
        prop_assert_eq!(read, Ok(Page { next: Some(Cursor("c".into())), ttl: None }));
        prop_assert_eq!(into.items().len(), 1);
    }
}

#[test]
fn the_page_that_is_damaged_above_is_whole() {
    for kept in [
        read::<Resource>(VALID),
        read::<ResourceTemplate>(VALID),
        read::<Tool>(VALID),
        read::<Prompt>(VALID),
    ] {
        assert!(kept.starts_with("[{"), "{kept}");
    }
}
