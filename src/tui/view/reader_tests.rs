//! The reader and the trace in their states, as text, at four sizes; and what the text does not
//! show: colours.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgba, RgbaImage};
use ratatui::style::Color;

use super::tests::check_at;
use crate::domain::{Failure, FailureKind};
use crate::mcp::decode::contents::{Body, Content};
use crate::mcp::{Direction, Message, MessageKind};
use crate::tui::action::{Action, Effect};
use crate::tui::aside::Wanted;
use crate::tui::ask::{Answer, Ask, Ticket};
use crate::tui::document::Document;
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::reader::search;
use crate::tui::theme::Paint;

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 40), (200, 60)];

fn content(uri: &str, mime_type: &str, body: Body) -> Content {
    Content {
        uri: uri.into(),
        mime_type: Some(mime_type.into()),
        body,
    }
}

fn text(uri: &str, mime_type: &str, text: &str) -> Content {
    content(uri, mime_type, Body::Text(text.into()))
}

fn blob(uri: &str, mime_type: &str, bytes: &[u8]) -> Content {
    content(uri, mime_type, Body::Blob(STANDARD.encode(bytes).into()))
}

/// Opens the first resource of the first server.
fn ask(deck: &mut Deck) -> Ticket {
    deck.press("tab");
    match deck.press("enter") {
        Some(Effect::Ask(ticket, Ask::Read(..))) => ticket,
        other => panic!("it was not read: {other:?}"),
    }
}

/// Opens a resource with these contents.
fn open(deck: &mut Deck, contents: Vec<Content>) {
    let ticket = ask(deck);
    let document = Arc::new(Document::of(contents, &Wanted::default()));
    deck.act(Action::Answered(ticket, Answer::Read(Ok(document))));
}

/// Types what is looked for, and answers as the loop would.
fn look_for(deck: &mut Deck, keys: &str) {
    deck.press("/");
    for key in keys.split_whitespace() {
        if let Some(Effect::Ask(ticket, Ask::Search(document, part, needle))) = deck.press(key) {
            let found = search::find(&document, part, &needle, &Wanted::default());
            deck.act(Action::Answered(ticket, Answer::Found(found)));
        }
    }
}

fn check(name: &str, contents: &[Content], keys: &str) {
    check_at(&SIZES, name, &make::full(), |deck| {
        open(deck, contents.to_vec());
        deck.press(keys);
    });
}

const MARKDOWN: &str = "# Harbour rules\n\nBoats *must* ring the bell **twice**. See [the \
    map](https://example.org/map).\n\n- one\n- two, which is a rather long item that has to go \
    on in the next row of a narrow window\n\n```sh\nring --twice\n```\n\n| boat | bell |\n|---|---|\n| Ada | yes |\n| 日本丸 | no |\n";

const JSON: &str = r#"{"name":"harbour","open":true,"boats":[{"name":"Ada","length":7.5,"crew":["ada","bo"]},{"name":"日本丸","length":97,"crew":[]}],"note":null}"#;

const SOURCE: &str = "fn main() {\n\tlet boats = [\"Ada\"];\n\tfor boat in boats {\n\t\tprintln!(\"{boat} rings a bell that is heard in the whole harbour and far beyond it\");\n\t}\n}\n";

#[test]
fn reading() {
    check_at(&SIZES, "reading", &make::full(), |deck| {
        ask(deck);
    });
}

#[test]
fn reading_failed() {
    check_at(&SIZES, "reading_failed", &make::full(), |deck| {
        let ticket = ask(deck);
        let failure = make::rpc(-32002, "Resource not found: demo://resource/static/1");
        deck.act(Action::Answered(ticket, Answer::Read(Err(failure))));
    });
}

#[test]
fn markdown() {
    check("read_markdown", &[text("x", "text/markdown", MARKDOWN)], "");
}

#[test]
fn json() {
    check("read_json", &[text("x", "application/json", JSON)], "");
}

#[test]
fn json_folded() {
    let contents = [text("x", "application/json", JSON)];
    check("read_json_folded", &contents, "j j j j z");
}

#[test]
fn source() {
    check("read_source", &[text("main.rs", "text/x-rust", SOURCE)], "");
}

#[test]
fn long_text() {
    let lines: Vec<String> = (1..=5_000)
        .map(|line| format!("line {line} of the log"))
        .collect();
    let contents = [text("x", "text/x-log", &lines.join("\n"))];
    check("read_long", &contents, "space space");
    check("read_long_end", &contents, "G");
}

#[test]
fn hex() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    check("read_hex", &[blob("x", "application/zip", &bytes)], "");
}

#[test]
fn several_parts() {
    let contents = [
        text(
            "a",
            "text/plain",
            "The first part, with a \u{1b}[31mcolour\u{1b}[0m in it.",
        ),
        text("b", "text/plain", "The second part."),
        blob("c", "image/png", b"not a picture"),
    ];
    check("read_parts", &contents, "");
    check("read_parts_next", &contents, "]");
}

#[test]
fn nothing() {
    check("read_nothing", &[], "");
}

#[test]
fn searched() {
    let lines: Vec<String> = (1..=500).map(|line| format!("line {line}")).collect();
    let contents = [text("x", "text/plain", &lines.join("\n"))];
    check_at(&SIZES, "read_search", &make::full(), |deck| {
        open(deck, contents.to_vec());
        look_for(deck, "4 2 enter");
        deck.press("n n");
    });
    check_at(&SIZES, "read_search_typing", &make::full(), |deck| {
        open(deck, contents.to_vec());
        look_for(deck, "L I N E");
    });
}

#[test]
fn save_and_replace() {
    let contents = [text(
        "file:///home/ada/.notes/plan.txt",
        "text/plain",
        "plan",
    )];
    check("save", &contents, "w");
    check_at(&SIZES, "save_replace", &make::full(), |deck| {
        open(deck, contents.to_vec());
        let Some(Effect::Save(file)) = deck.press("w enter") else {
            panic!("nothing is saved");
        };
        deck.act(Action::Exists(file));
    });
}

/// A red and a blue half, and a hole.
fn picture() -> Vec<u8> {
    let mut picture = RgbaImage::from_pixel(40, 20, Rgba([250, 10, 10, 255]));
    for x in 20..40 {
        for y in 0..20 {
            picture.put_pixel(x, y, Rgba([10, 10, 250, 255]));
        }
    }
    picture.put_pixel(0, 0, Rgba([0, 0, 0, 0]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn pictures() {
    check("read_picture", &[blob("x", "image/png", &picture())], "");
}

#[test]
fn a_picture_is_drawn_in_the_colours_that_there_are() {
    let check = |paint: Paint, expected: &[(&str, Color, Color)]| {
        let mut deck = Deck::new((120, 40), make::full());
        deck.theme.paint = paint;
        open(&mut deck, vec![blob("x", "image/png", &picture())]);
        let buffer = deck.draw();
        let first = (0..120)
            .flat_map(|x| (2..38).map(move |y| (x, y)))
            .find(|at| !matches!(buffer[*at].symbol(), " " | "│" | "─"))
            .unwrap();
        let cells = [first, (first.0 + 39, first.1)].map(|at| {
            let cell = &buffer[at];
            (cell.symbol().to_owned(), cell.fg, cell.bg)
        });
        let expected: Vec<_> = expected
            .iter()
            .map(|(symbol, fg, bg)| ((*symbol).to_owned(), *fg, *bg))
            .collect();
        assert_eq!(cells.to_vec(), expected, "{paint:?}");
    };
    let (red, blue) = (Color::Rgb(250, 10, 10), Color::Rgb(10, 10, 250));
    check(Paint::True, &[("▄", red, Color::Reset), ("▀", blue, blue)]);
    let (red, blue) = (Color::Indexed(196), Color::Indexed(21));
    check(
        Paint::Indexed,
        &[("▄", red, Color::Reset), ("▀", blue, blue)],
    );
    let plain = Color::Reset;
    check(
        Paint::Characters,
        &[(":", plain, plain), (".", plain, plain)],
    );
}

fn message(seq: u64, direction: Direction, kind: MessageKind, method: &str, text: &str) -> Message {
    Message {
        seq,
        at: make::wall(),
        direction,
        kind,
        method: method.into(),
        size: text.len(),
        latency: matches!(kind, MessageKind::Response | MessageKind::Error)
            .then_some(Duration::from_millis(8)),
        text: text.into(),
    }
}

fn messages() -> Vec<Message> {
    use {Direction::*, MessageKind::*};
    let asked = r#"{"jsonrpc":"2.0","id":2,"method":"resources/list","params":{"cursor":"***"}}"#;
    let answered = r#"{"jsonrpc":"2.0","id":2,"result":{"resources":[{"uri":"demo://1","name":"one"}],"nextCursor":"***"}}"#;
    let refused =
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#;
    vec![
        message(1, Out, Request, "initialize", "{}"),
        message(2, In, Response, "initialize", "{}"),
        message(3, Out, Notification, "notifications/initialized", "{}"),
        message(4, Out, Request, "resources/list", asked),
        message(5, In, Response, "resources/list", answered),
        message(6, Out, Request, "resources/templates/list", "{}"),
        message(7, In, Error, "resources/templates/list", refused),
        message(
            8,
            In,
            Notification,
            "notifications/tools/list_changed",
            "{}",
        ),
    ]
}

#[test]
fn trace() {
    let traced = |keys: &'static str| {
        move |deck: &mut Deck| {
            deck.press("tab 8");
            deck.act(Action::Messages(make::name("everything"), messages()));
            deck.press(keys);
        }
    };
    let state = make::full();
    check_at(&SIZES, "trace", &state, traced(""));
    check_at(&SIZES, "trace_errors", &state, traced("x down"));
    check_at(
        &SIZES,
        "trace_filter",
        &state,
        traced("/ r e s o u r c e s enter"),
    );
    check_at(&SIZES, "trace_message", &state, traced("k k k enter"));
    check_at(&SIZES, "trace_empty", &state, |deck| {
        deck.press("tab 8");
    });
}

/// What a reader shows was cleaned, whatever it is.
#[test]
fn nothing_that_steers_a_terminal_is_drawn() {
    let evil = "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{202e}d\u{e0041}\u{9b}31m\re\u{200b}f\r\n\u{0}g";
    let contents = |mime_type: &str| text(evil, mime_type, &format!("# {evil}\n\n`{evil}`"));
    let json = serde_json::to_string(evil).unwrap();
    let all = vec![
        contents("text/plain"),
        contents("text/markdown"),
        contents(&format!("text/x-{evil}")),
        text(
            "x",
            "application/json",
            &format!("{{\"{}\":{json}}}", "\u{202e}"),
        ),
        blob("x", "application/zip", evil.as_bytes()),
    ];
    let parts = all.len();
    for size in [(40, 12), (120, 40)] {
        let mut deck = Deck::new(size, make::full());
        open(&mut deck, all.clone());
        for _ in 0..parts {
            for cell in &deck.draw().content {
                let symbol = cell.symbol();
                let clean = crate::domain::text::contents(symbol);
                assert!(
                    clean.removed == 0 && !symbol.contains(char::is_control),
                    "{symbol:?}"
                );
            }
            deck.press("]");
        }
        let ticket = {
            deck.press("esc");
            ask(&mut deck)
        };
        let failure = Failure::new(FailureKind::Malformed, evil);
        deck.act(Action::Answered(ticket, Answer::Read(Err(failure))));
        deck.draw();
    }
}

/// No size panics, whatever is read.
#[test]
fn every_size_is_drawn() {
    let all = vec![
        text("x", "text/markdown", MARKDOWN),
        text("x", "application/json", JSON),
        text("x", "text/x-rust", SOURCE),
        blob("x", "image/png", &picture()),
        blob("x", "application/zip", &picture()),
    ];
    for columns in [1, 29, 30, 43, 79, 131] {
        for rows in (1..40).step_by(3) {
            let mut deck = Deck::new((columns, rows), make::full());
            open(&mut deck, all.clone());
            for keys in [
                "G", "space", "z", "]", "G k z z", "]", "/ a", "enter ]", "w", "esc ] G",
            ] {
                deck.press(keys);
                deck.draw();
            }
            deck.act(Action::Resize(columns + 7, rows + 3));
            deck.draw();
        }
    }
}

#[test]
fn without_colours_a_picture_is_made_of_characters() {
    let mut deck = Deck::new((60, 20), make::full());
    deck.theme.ascii = true;
    deck.theme.paint = Paint::Characters;
    open(&mut deck, vec![blob("x", "image/png", &picture())]);
    assert!(deck.text().is_ascii());
}
