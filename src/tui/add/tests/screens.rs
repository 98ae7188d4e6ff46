//! How the form looks in its states, at a small, a usual, a large and a very large window.

use std::fmt::Write as _;

use super::{answer, asked, type_in};
use crate::domain::{Failure, FailureKind};
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::theme::{Environment, Theme};

/// Compares the screen at four sizes with the snapshot of the name.
fn check(name: &str, prepare: impl Fn(&mut Deck)) {
    let mut screens = String::new();
    for size in [(40, 10), (80, 24), (120, 40), (200, 60)] {
        let state = make::with_events(vec![make::everything(), make::failed()]);
        let mut deck = Deck::new(size, state);
        deck.press("a");
        prepare(&mut deck);
        writeln!(screens, "{}x{}\n{}\n", size.0, size.1, deck.text()).unwrap();
    }
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        omit_expression => true,
        snapshot_path => "../../view/snapshots",
    }, {
        insta::assert_snapshot!(name, screens);
    });
}

#[test]
fn screen_of_an_empty_form() {
    check("add", |_| {});
}

#[test]
fn screen_of_a_program() {
    check("add_stdio", |deck| {
        type_in(
            deck,
            "npx -y @modelcontextprotocol/server-filesystem ~/日本語",
        );
        deck.press("tab");
        type_in(deck, "API_TOKEN=abcdefgh1234");
    });
}

#[test]
fn screen_of_a_url() {
    check("add_http", |deck| {
        type_in(deck, "https://mcp.example.org/mcp");
        deck.press("tab");
        type_in(deck, "Authorization: Bearer ${DOCS_TOKEN}");
        deck.press("tab");
    });
}

#[test]
fn screen_of_something_missing() {
    check("add_faulty", |deck| {
        type_in(deck, "sh -c 'echo hello");
        deck.press("enter");
    });
}

#[test]
fn screen_of_a_test() {
    check("add_testing", |deck| {
        type_in(deck, "npx -y @modelcontextprotocol/server-memory");
        deck.press("enter");
    });
}

#[test]
fn screen_of_a_failed_test() {
    check("add_failed", |deck| {
        type_in(deck, "uvx mcp-server-sqlite --db-path ~/notes.db");
        let (ticket, _) = asked(deck.press("enter"));
        let why = "uvx: the connection closed during the handshake, exit status 1; stderr: \
                   Traceback (most recent call last): | File \"server.py\", line 12, in main | \
                   sqlite3.OperationalError: unable to open database file";
        answer(deck, ticket, Err(Failure::new(FailureKind::Connect, why)));
    });
}

#[test]
fn screen_of_a_missing_log_in() {
    check("add_needs_auth", |deck| {
        type_in(deck, "https://calendar.example.org/mcp");
        let (ticket, _) = asked(deck.press("enter"));
        let why = "https://calendar.example.org/mcp: HTTP 401 Unauthorized; a log-in or a token \
                   is needed";
        answer(deck, ticket, Err(Failure::new(FailureKind::Auth, why)));
    });
}

#[test]
fn screen_of_a_taken_name() {
    check("add_taken", |deck| {
        type_in(deck, "npx -y @modelcontextprotocol/server-everything");
        deck.press("shift-tab shift-tab");
        type_in(deck, "everything");
    });
}

#[test]
fn only_ascii_and_no_colour() {
    let mut deck = Deck::new((80, 24), make::with_events(vec![make::everything()]));
    let environment = Environment {
        no_color: true,
        ..Environment::default()
    };
    deck.theme = Theme::new("auto", None, true, &environment);
    deck.press("a");
    type_in(&mut deck, "npx 日本語");
    let text = deck.text();
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("* stdio"), "{text}");
}

/// Whatever is pasted, it reaches the screen only as printable text.
#[test]
fn nothing_hostile_is_drawn() {
    let evil = "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{202e}d\u{200b}e\u{e0041}\u{9b}31mf";
    for size in [(40, 12), (120, 40)] {
        let mut deck = Deck::new(size, make::with_events(vec![make::everything()]));
        deck.press("a");
        for key in ["tab", "tab", "tab", "tab"] {
            type_in(&mut deck, evil);
            deck.press(key);
        }
        for cell in &deck.draw().content {
            let symbol = cell.symbol();
            let visible = crate::domain::text::visible(symbol);
            assert!(
                !symbol.contains(char::is_control) && visible == symbol,
                "{symbol:?}"
            );
        }
    }
}
