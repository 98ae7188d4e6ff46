use proptest::prelude::*;

use super::*;

fn check(input: &str, line: &str, block: &str) {
    assert_eq!(
        sanitize(input, Keep::Line).as_deref(),
        Ok(line),
        "{input:?}"
    );
    assert_eq!(
        sanitize(input, Keep::Block).as_deref(),
        Ok(block),
        "{input:?}"
    );
}

#[test]
fn what_is_unsafe_goes() {
    check("plain", "plain", "plain");
    check("Grüße, 漢字 😀", "Grüße, 漢字 😀", "Grüße, 漢字 😀");
    check("a\nb\tc\r\n", "abc", "a\nb\tc\n");
    check("a\x1b[31mred\x1b[0m", "ared", "ared");
    check("a\x1b]8;;http://evil\x07link\x1b]8;;\x07", "alink", "alink");
    check("a\0b\x7fc\u{85}d\u{9b}1me", "abcde", "abcde");
    check(
        "a\u{200b}b\u{202e}c\u{2066}d\u{feff}e\u{ad}f",
        "abcdef",
        "abcdef",
    );
    check(
        "a\u{e0041}\u{e007f}b\u{e000}c\u{100000}d\u{378}e",
        "abcde",
        "abcde",
    );
    check("a\u{e0100}b\u{fe0f}c\u{3164}d", "abcd", "abcd");
    check("ﬁ ＡＢ ①", "fi AB 1", "fi AB 1");
    check("e\u{200b}\u{301}", "é", "é");
    check("e\u{1}\u{301}", "é", "é");
    check("ᄀ\u{200b}ᅡ", "가", "가");
}

#[test]
fn plain_text_is_borrowed() {
    for text in ["plain", "Grüße", ""] {
        assert!(matches!(sanitize(text, Keep::Line), Ok(Cow::Borrowed(_))));
    }
    let block = sanitize("two\nlines", Keep::Block);
    assert!(matches!(block, Ok(Cow::Borrowed(_))));
}

/// The characters that are kept of a text.
fn kept(text: &str) -> Result<usize, Unstable> {
    metadata(text, Keep::Line).map(|kept| kept.chars().count())
}

#[test]
fn metadata_is_capped_in_characters_after_cleaning() {
    assert_eq!(kept(&"ä".repeat(MAX_CHARS + 1)), Ok(MAX_CHARS));
    assert_eq!(kept(&format!("{}b", "\u{200b}".repeat(100_000))), Ok(1));
    assert_eq!(kept(&"ﬁ".repeat(MAX_CHARS)), Ok(MAX_CHARS));
    assert_eq!(
        kept(&"\u{1100}\u{1161}\u{11a8}".repeat(MAX_CHARS)),
        Ok(MAX_CHARS)
    );
}

#[test]
fn a_hostile_text_costs_no_more_than_its_length() {
    assert_eq!(
        kept(&format!("a{}", "\u{301}\u{323}".repeat(100_000))),
        Ok(MAX_CHARS)
    );
    assert_eq!(kept(&"\u{fdfa}".repeat(100_000)), Ok(MAX_CHARS));
    assert_eq!(kept(&"\x1b]".repeat(100_000)), Ok(0));
}

#[test]
fn an_error_text_never_fails() {
    assert_eq!(
        error_text("\x1b[31mno such file\x1b[0m\n\u{7}"),
        "no such file\n"
    );
    assert_eq!(error_text(&"x".repeat(9_999)).len(), MAX_CHARS);
}

/// Texts made of what is dangerous, rather than of any characters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,8}",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}]{1,3}",
        "[\u{300}-\u{36f}\u{1100}-\u{11ff}\u{ac00}-\u{ac20}\u{ff00}-\u{ffef}]{1,4}",
        "[\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{fe00}-\u{fe0f}]{1,3}",
        "[\u{e0000}-\u{e01ef}]{1,3}",
        prop::sample::select(vec![
            "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x1b", "\u{9b}", "\n"
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_unsafe_is_left_and_a_second_time_changes_nothing(text in hostile()) {
        for keep in [Keep::Line, Keep::Block] {
            let Ok(clean) = sanitize(&text, keep) else { continue };
            for c in clean.chars() {
                let allowed = keep == Keep::Block && matches!(c, '\n' | '\t');
                prop_assert!(allowed || !c.is_control(), "{c:?}");
                prop_assert!(!is_invisible(c), "{c:?}");
            }
            prop_assert_eq!(&*clean, clean.nfkc().collect::<String>());
            let again = sanitize(&clean, keep);
            prop_assert_eq!(again.as_deref(), Ok(&*clean));
            let Ok(kept) = metadata(&text, keep) else { continue };
            prop_assert!(kept.chars().count() <= MAX_CHARS);
            prop_assert_eq!(metadata(&kept, keep), Ok(kept.clone()));
        }
    }

    #[test]
    fn an_error_text_is_always_clean(text in hostile()) {
        let clean = error_text(&text);
        prop_assert!(clean.chars().all(|c| is_kept(c, Keep::Block)));
    }

    #[test]
    fn printable_ascii_is_untouched(text in "[ -~]{0,100}") {
        prop_assert_eq!(sanitize(&text, Keep::Line), Ok(Cow::Borrowed(text.as_str())));
        prop_assert_eq!(cell(&text), text.as_str());
        prop_assert_eq!(visible(&text), text.as_str());
        prop_assert_eq!(contents(&text), Contents { text: text.clone(), removed: 0 });
    }

    #[test]
    fn what_is_drawn_has_no_controls_and_fits(text in hostile(), columns in 0_usize..20) {
        prop_assert!(!visible(&text).chars().any(|c| c.is_control() || is_invisible(c)));
        prop_assert!(!cell(&text).contains(char::is_control));
        prop_assert!(width(&fit(&text, columns)) <= columns);
        prop_assert!(width(&fit_with(&text, columns, "...")) <= columns);
        let clean = contents(&text);
        let again = contents(&clean.text);
        prop_assert_eq!(again, Contents { text: clean.text.clone(), removed: 0 });
    }
}

#[test]
fn a_long_uri_keeps_its_beginning_and_its_end() {
    let check = |text: &str, columns: usize, expected: &str| {
        let fitted = fit_middle(text, columns);
        assert_eq!(fitted, expected);
        assert!(width(&fitted) <= columns);
    };
    check(
        "demo://static/document/features.md",
        40,
        "demo://static/document/features.md",
    );
    check(
        "demo://static/document/features.md",
        22,
        "demo://…nt/features.md",
    );
    check(
        "file:///ホーム/ノート/一覧表.txt",
        20,
        "file:/…ト/一覧表.txt",
    );
    check("demo://static", 5, "demo…");
}
