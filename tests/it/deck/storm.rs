//! The deck in a storm: a hundred keys and a hundred sizes of the window while a server says a
//! thousand times a second that its lists have changed.

use mcpdeck::domain::ListMethod;
use serde_json::{Value, json};

use super::changes::deck_and_server;
use super::{COLUMNS, ROWS, healthy};
use crate::support::fake::listing::{Listing, Page};
use crate::support::fake::{Action, Notice, Script};

const LIST: &str = ListMethod::Resources.name();

/// What no terminal may get from a server.
const EVIL: &str = "\x1b]0;OWNED\x07\x1b[5mblink\u{9b}5m\u{202e}rtl\u{200b}zero\u{e0041}tag";
const HIDDEN: [&str; 6] = [
    "\x1b]0;",
    "\x1b[5m",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
    "\u{e0041}",
];

/// Every kind of key: movement, panes, tabs, filters, find, the reader, help, questions that are
/// answered with no, sorting, refreshing, and what has no meaning.
const KEYS: [&str; 100] = [
    "j", "k", "\t", "j", "G", "g", "\x1b[6~", "\x1b[5~", "\x04", "\x15", //
    "1", "2", "3", "4", "5", "6", "7", "8", "[", "]", //
    "1", "/", "n", "o", "t", "\r", "j", "\x1b", "\x1b", "f", //
    "e", "v", "i", "l", "\x1b[B", "\x1b[A", "\x1b", "?", "j", "G", //
    "\x1b", "r", "s", "s", "s", "y", "m", "m", "F", "x", //
    "\t", "\r", "j", "z", "/", "w", "\r", "n", "N", "\x1b", //
    "\x1b", "\x1b", "D", "n", "D", "\x1b", "h", "l", "l", "j", //
    "h", "\x1b[C", "\x1b[D", "Z", "\x1b[99~", "é", "日", "3", "\r", "\r", //
    "q", "6", "\t", "k", "\r", "7", "F", "8", "x", "x", //
    "\x06", "o", "n", "\x7f", "\x1b", "R", "1", "\x1b", "\x1b", "h",
];

/// From a window for ants to one for a wall, and back.
const SIZES: [(u16, u16); 10] = [
    (40, 10),
    (200, 60),
    (1, 1),
    (80, 24),
    (20, 5),
    (120, 36),
    (7, 40),
    (300, 3),
    (79, 24),
    (120, 40),
];

/// A list whose names want to take the terminal over.
fn evil(rows: usize) -> Action {
    let item = |row: usize| -> Value {
        json!({"uri": format!("note:///evil-{row}{EVIL}"), "name": format!("evil {row} {EVIL}"),
            "description": EVIL, "mimeType": EVIL})
    };
    let items = (1..=rows).map(item).collect();
    Action::set_pages(LIST, Listing::Pages(vec![Page::last(items)]))
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_sizes_in_a_storm_end_on_the_right_screen() {
    let script: Script = Script {
        instructions: Some(EVIL.into()),
        ..healthy()
    };
    let (home, _control, mut deck, server) = deck_and_server(&script).await;
    let storm = Notice {
        method: "notifications/resources/list_changed".to_owned(),
        count: 20_000,
        spacing_ms: 1,
        ..Notice::default()
    };
    server.send(Action::Notify(storm)).await;
    for (step, key) in KEYS.iter().enumerate() {
        server.send(evil(step)).await;
        server
            .send(Action::stderr(&format!("line {step} {EVIL}\n")))
            .await;
        let (columns, rows) = SIZES[step % SIZES.len()];
        let drawn = deck.written();
        deck.resize(columns, rows);
        deck.press(key);
        deck.writes_more_than(drawn);
    }
    // Whatever is open is closed, and the window is as it was.
    deck.resize(COLUMNS, ROWS);
    deck.press("\x1b\x1b\x1b1g");
    deck.shows(&[
        "mcpdeck",
        "1 server: 1 connected",
        "notes",
        "Events",
        "? help  q quit",
    ]);
    // The newest list is shown, in its order, though the storm still blows.
    let last = ["note:///last/1", "note:///last/2", "note:///last/3"];
    let items = last.map(|uri| json!({"uri": uri, "name": "last"})).to_vec();
    server
        .send(Action::set_pages(
            LIST,
            Listing::Pages(vec![Page::last(items)]),
        ))
        .await;
    deck.shows(&last);
    deck.hides("evil");
    let screen = deck.contents();
    let rows: Vec<&str> = screen
        .lines()
        .filter_map(|line| {
            line.find("note:///")
                .map(|at| &line[at..at + last[0].len()])
        })
        .collect();
    assert_eq!(rows[..3], last, "{screen}");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    let text = String::from_utf8(deck.bytes()).expect("it is UTF-8");
    for hidden in HIDDEN {
        assert!(!text.contains(hidden), "{hidden:?} is in the output");
    }
    assert!(!text.contains("panicked"));
    home.assert_nothing_left();
}
