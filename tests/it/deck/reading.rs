//! What a person does after the lists are there: reads, saves, copies, and looks at the messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Home, Script, Terminal, until};
use crate::support::fake::{Action, Reply};

/// The resources of the server, in the order of the list.
const NAMES: [&str; 7] = [
    "text", "data", "bytes", "several", "gone", "silent", "input",
];

/// What the text holds; a part of it steers a terminal.
const TEXT: &str = "The first line.\r\n\tA \u{1b}[31mred\u{1b}[0m word.\nThe last line.\n";

const BYTES: &[u8] = b"\0\x01\x02\xffNOT TEXT\0";

fn uri(name: &str) -> String {
    format!("note:///{name}")
}

fn library() -> Script {
    let items: Vec<Value> = NAMES
        .iter()
        .map(|name| json!({"uri": uri(name), "name": name}))
        .collect();
    let script: Script = serde_json::from_value(json!({
        "listings": {
            "resources/list": {"pages": [{"items": items[..3], "next_cursor": "the-way-on"}, {"items": items[3..]}]},
            "resources/templates/list": {"pages": [{"items": []}]},
        },
    }))
    .unwrap();
    let json = r#"{"boats":[{"name":"Ada"},{"name":"Bo"}],"open":true}"#;
    let data =
        json!({"contents": [{"uri": uri("data"), "mimeType": "application/json", "text": json}]});
    let several = json!({"contents": [
        {"uri": uri("several/a"), "mimeType": "text/markdown", "text": "# A heading\n\n- an item"},
        {"uri": uri("several/b"), "text": "the other part"},
    ]});
    let missing = json!({"code": -32002, "message": "Resource not found"});
    let input = json!({"resultType": "input_required", "inputRequests": {"a": {}}});
    script
        .read_text(&uri("text"), TEXT)
        .read(&uri("data"), Reply::result(data))
        .read_blob(
            &uri("bytes"),
            "application/octet-stream",
            &STANDARD.encode(BYTES),
        )
        .read(&uri("several"), Reply::result(several))
        .read(
            &uri("gone"),
            Reply {
                error: Some(missing),
                ..Reply::default()
            },
        )
        .read(&uri("silent"), Reply::silence())
        .read(&uri("input"), Reply::result(input))
}

/// A deck whose selection stands on the first resource.
fn deck_of(script: &Script) -> (Home, Terminal) {
    let home = Home::new();
    home.configure(&[&home.table("library", script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["library", "connected"]);
    deck.press("\r");
    deck.line_with(&["URI", "note:///text"]);
    (home, deck)
}

/// Opens the resource of the name.
fn open(deck: &mut Terminal, name: &str) {
    let place = NAMES.iter().position(|other| *other == name).unwrap();
    deck.press(&format!("g{}", "j".repeat(place)));
    deck.line_with(&["URI", &uri(name)]);
    deck.press("\r");
    deck.line_with(&["library", &uri(name), "─╮"]);
}

fn reads(home: &Home) -> usize {
    let asked = home.asked("library");
    asked
        .iter()
        .filter(|method| *method == "resources/read")
        .count()
}

#[test]
fn a_resource_is_read_on_a_key_and_shown_as_what_it_is() {
    let (home, mut deck) = deck_of(&library());
    assert_eq!(reads(&home), 0, "nothing is read before the key");
    open(&mut deck, "text");
    deck.shows(&[
        "The first line.",
        "A red word.",
        "text/plain",
        "2 control characters not shown",
    ]);
    assert_eq!(reads(&home), 1);
    deck.press("\x1b");
    deck.hides("A red word.");

    open(&mut deck, "data");
    deck.shows(&[r#""boats": ["#, r#""name": "Ada""#, r#""open": true"#]);
    deck.press("jz");
    deck.shows(&["[ … 2 items ]", r#""open": true"#]);
    deck.hides("Ada");
    deck.press("\x1b");

    open(&mut deck, "bytes");
    deck.shows(&["00000000  00 01 02 ff 4e 4f 54 20", "....NOT TEXT.", "13 B"]);
    deck.press("\x1b");

    open(&mut deck, "several");
    deck.shows(&["A heading", "• an item", "part 1 of 2"]);
    deck.press("]");
    deck.shows(&["the other part", "part 2 of 2"]);
    deck.press("q");
    deck.hides("the other part");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn what_cannot_be_read_says_why_and_is_read_again_on_a_key() {
    let (home, mut deck) = deck_of(&library());
    open(&mut deck, "gone");
    deck.shows(&[
        "library did not give the resource",
        "Resource not found",
        "-32002",
        "kind rpc",
    ]);
    deck.press("r");
    until("it is read again", || reads(&home) == 2);
    deck.press("\x1b");
    open(&mut deck, "input");
    deck.shows(&["the server asks for input (elicitation), which mcpdeck does not give"]);
    deck.press("q");
    deck.hides("elicitation");
    deck.press("q");
    assert_eq!(deck.code(), 0);
}

/// As a file system has them: each is asked for byte for byte as it was listed, and found again by
/// what a person sees of it.
#[test]
fn odd_names_are_read_as_they_are_listed() {
    let names = [
        "plain.txt",
        "with%20space.txt",
        "a b.txt",
        "100%.txt",
        "über/naïve.txt",
        "日本語.txt",
        "q?x=1&y=2#frag",
        "{braces}.txt",
        "..hidden",
        "a\u{202e}txt.exe",
    ];
    let uri = |name: &str| format!("file:///home/ada/{name}");
    let items: Vec<Value> = names
        .iter()
        .map(|name| json!({"uri": uri(name), "name": name}))
        .collect();
    let script: Script = serde_json::from_value(json!({
        "listings": {"resources/list": {"pages": [{"items": items}]}},
    }))
    .unwrap();
    let script = names
        .iter()
        .enumerate()
        .fold(script, |script, (index, name)| {
            script.read_text(&uri(name), &format!("This is number {index}."))
        });
    let home = Home::new();
    home.configure(&[&home.table("files", &script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["files", "connected"]);
    deck.press("\r");
    for (index, name) in names.iter().enumerate() {
        deck.line_with(&["▌", &name.replace('\u{202e}', "\\u{202e}")]);
        deck.press("\r");
        deck.shows(&[&format!("This is number {index}.")]);
        deck.press("\x1b");
        deck.hides("This is number");
        deck.press("j");
    }
    deck.press("q");
    assert_eq!(deck.code(), 0);
    for (index, name) in names.iter().enumerate() {
        let read = home.run(&["read", "files", &uri(name)]);
        assert_eq!(
            (read.code, &*read.stdout),
            (Some(0), &*format!("This is number {index}."))
        );
    }
}

#[test]
fn a_read_that_takes_long_is_cancelled_by_esc() {
    let (home, mut deck) = deck_of(&library());
    open(&mut deck, "silent");
    deck.shows(&["reading…"]);
    until("it was asked", || reads(&home) == 1);
    deck.press("\x1b");
    deck.hides("reading…");
    until("it was cancelled", || {
        home.asked("library")
            .contains(&"notifications/cancelled".to_owned())
    });
    deck.press("q");
    assert_eq!(deck.code(), 0);
}

#[test]
fn what_is_read_is_saved_exactly_and_nothing_is_replaced_without_a_question() {
    let (home, mut deck) = deck_of(&library());
    let folder = home.path("saved");
    std::fs::create_dir(&folder).unwrap();
    let save_as = |deck: &mut Terminal, name: &str| {
        deck.press("w");
        deck.shows(&["save to:"]);
        let path = folder.join(name).display().to_string();
        // A path may be longer than the line has room for; its end is shown.
        deck.press(&format!("\x15{path}\r"));
    };
    open(&mut deck, "bytes");
    deck.shows(&["NOT TEXT"]);
    deck.press("w");
    deck.line_with(&["save to: bytes"]);
    deck.press("\x1b");
    deck.hides("save to:");
    save_as(&mut deck, "bytes");
    deck.shows(&["saved 13 B to"]);
    assert_eq!(std::fs::read(folder.join("bytes")).unwrap(), BYTES);
    deck.press("\x1b");

    open(&mut deck, "text");
    deck.shows(&["A red word."]);
    save_as(&mut deck, "bytes");
    deck.shows(&["is there already. Replace it?"]);
    deck.press("n");
    deck.hides("Replace it?");
    assert_eq!(std::fs::read(folder.join("bytes")).unwrap(), BYTES);
    save_as(&mut deck, "bytes");
    deck.shows(&["Replace it?"]);
    deck.press("y");
    until("it is replaced", || {
        std::fs::read(folder.join("bytes")).unwrap() == TEXT.as_bytes()
    });
    // The word of it comes a moment later, and would cover the next field.
    deck.shows(&["saved 54 B to"]);
    save_as(&mut deck, "no/folder");
    deck.shows(&["could not save to"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
}

#[test]
fn a_text_is_copied_without_what_steers_a_terminal() {
    let (_home, mut deck) = deck_of(&library());
    open(&mut deck, "text");
    deck.shows(&["A red word."]);
    deck.press("y");
    deck.shows(&["copied the text"]);
    let clean = "The first line.\r\n\tA red word.\nThe last line.\n";
    let expected = format!("\x1b]52;c;{}\x07", STANDARD.encode(clean));
    let written = String::from_utf8(deck.bytes()).unwrap();
    assert!(written.contains(&expected));
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
}

#[test]
fn words_are_found_in_what_is_read() {
    let lines: Vec<String> = (1..=20_000).map(|line| format!("line {line}")).collect();
    let script = library().read_text(&uri("text"), &lines.join("\n"));
    let (_home, mut deck) = deck_of(&script);
    open(&mut deck, "text");
    deck.shows(&["line 1", "of 20,000"]);
    deck.press("/LINE 1234");
    deck.shows(&["line 1234", "1 of 11"]);
    deck.press("\rN");
    deck.shows(&["line 12349", "11 of 11"]);
    deck.press("\x1bG");
    deck.shows(&["line 20000", "100 %"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
}

#[test]
fn the_trace_shows_the_messages_and_no_cursor() {
    let (_home, mut deck) = deck_of(&library());
    deck.press("8");
    deck.line_with(&["out", "request", "initialize"]);
    deck.line_with(&["in", "answer", "resources/list"]);
    // The first page has a cursor, which the second request sends back.
    deck.press("/resources/list\rg\r");
    deck.shows(&[
        "request resources/list to the server",
        r#""method": "resources/list""#,
    ]);
    deck.press("\x1bj\r");
    deck.shows(&[
        "answer resources/list from the server",
        r#""nextCursor": "***""#,
    ]);
    deck.press("\x1bj\r");
    deck.shows(&[r#""cursor": "***""#]);
    deck.press("\x1b\x1bx");
    deck.line_with(&["in", "error", "server/discover"]);
    deck.hides("notifications/initialized");
    // A new message is on screen as soon as it has come.
    deck.press("xG");
    deck.shows(&["notifications/initialized"]);
    deck.press("1gjjjj\r");
    deck.shows(&["Resource not found"]);
    deck.press("\x1b8");
    deck.line_with(&["in", "error", "resources/read"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    let written = String::from_utf8(deck.bytes()).unwrap();
    assert!(!written.contains("the-way-on"), "a cursor was shown");
}

#[test]
fn stderr_is_followed_while_it_is_open() {
    let script = library().after_each_list(Action::WriteStderr("a list was asked for\n".into()));
    let (_home, mut deck) = deck_of(&script);
    deck.press("7");
    deck.shows(&["a list was asked for"]);
    let count = |screen: &vt100::Screen| screen.contents().matches("a list was").count();
    let before = 4;
    deck.press("rrr");
    deck.wait("more lines", |screen| count(screen) > before);
    deck.press("q");
    assert_eq!(deck.code(), 0);
}
