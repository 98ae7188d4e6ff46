//! The form for a new server, key by key, without an engine.

mod screens;

use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::{Draft, Slot};
use super::{Add, Offer};
use crate::app::{NewServer, Told};
use crate::domain::{AppState, Failure, FailureKind, ServerSnapshot};
use crate::tui::action::{Action, Edit, Effect};
use crate::tui::ask::{Answer, Ask, Ticket};
use crate::tui::field::Field;
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::layer::Layer;
use crate::tui::layout::Pane;

const USUAL: (u16, u16) = (100, 30);

fn deck() -> Deck {
    Deck::new(USUAL, make::with_events(vec![make::everything()]))
}

fn opened() -> Deck {
    let mut deck = deck();
    deck.press("a");
    deck
}

fn add(deck: &Deck) -> &Add {
    match deck.model.layers.top() {
        Some(Layer::Add(add)) => add,
        other => panic!("{other:?}"),
    }
}

fn type_in(deck: &mut Deck, text: &str) {
    deck.act(Action::Edit(Edit::Insert(text.to_owned())));
}

/// What the form asks for.
fn asked(effect: Option<Effect>) -> (Ticket, NewServer) {
    match effect {
        Some(Effect::Ask(ticket, Ask::Add(server))) => (ticket, *server),
        other => panic!("{other:?}"),
    }
}

fn answer(deck: &mut Deck, ticket: Ticket, outcome: Result<Told, Failure>) {
    deck.act(Action::Answered(ticket, Answer::Added(outcome)));
}

fn refused() -> Failure {
    Failure::new(
        FailureKind::Connect,
        "npxx: could not start: npxx: command not found",
    )
}

/// The definition as a file would have it.
fn written(server: &NewServer) -> Value {
    server.definition.to_json(false)
}

/// A draft with the texts in its fields.
fn draft(texts: &[(Slot, &str)]) -> Draft {
    let mut draft = Draft::default();
    for (slot, text) in texts {
        if matches!(slot, Slot::Url | Slot::Header(_)) {
            draft.turn(1);
        }
        *draft.field_mut(*slot).unwrap() = Field::new(text);
        draft.settle(*slot);
    }
    draft
}

#[test]
fn a_draft_is_what_the_command_line_would_write() {
    let check = |texts: &[(Slot, &str)], name: &str, expected: Value| {
        let (found, definition) = draft(texts).finish(|_| false).unwrap();
        assert_eq!(found.as_str(), name);
        assert_eq!(definition.to_json(false), expected);
    };
    check(
        &[(Slot::Command, " npx -y 'a b' ${HOME}/x ")],
        "a b",
        json!({"command": "npx", "args": ["-y", "a b", "${HOME}/x"]}),
    );
    check(
        &[
            (Slot::Command, "LEVEL=2 ./run --port=1"),
            (Slot::Variable(0), "TOKEN=a b = c"),
            (Slot::Variable(1), " HOME "),
            (Slot::Variable(2), "QUOTED=\"x y\""),
            (Slot::Folder, " ~/notes "),
            (Slot::Name, " mine "),
        ],
        "mine",
        json!({
            "command": "./run", "args": ["--port=1"],
            "env": {"LEVEL": "2", "TOKEN": "a b = c", "HOME": "${HOME}", "QUOTED": "x y"},
            "cwd": "~/notes",
        }),
    );
    check(
        &[
            (Slot::Url, "https://example.org:8443/mcp"),
            (Slot::Header(0), "Authorization: Bearer ${TOKEN}"),
            (Slot::Header(1), "X-Trace:1"),
        ],
        "example.org",
        json!({
            "url": "https://example.org:8443/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X-Trace": "1"},
            "transport": "sse",
        }),
    );
}

#[test]
fn what_is_missing_or_wrong_names_its_field_and_no_value() {
    let check = |texts: &[(Slot, &str)], slot: Slot, why: &str| {
        let fault = draft(texts).finish(|name| name == "old").unwrap_err();
        assert_eq!((fault.slot, &*fault.why), (slot, why));
    };
    check(
        &[],
        Slot::Command,
        "a command is needed: what you would type in a shell",
    );
    check(
        &[(Slot::Command, "say 'hunter2")],
        Slot::Command,
        "the quote ' is not closed",
    );
    check(
        &[(Slot::Command, "a | b")],
        Slot::Command,
        "| is for a shell: put it in quotes, or write sh -c '...'",
    );
    check(
        &[(Slot::Command, "a"), (Slot::Variable(0), "hunter 2")],
        Slot::Variable(0),
        "a variable is written NAME=VALUE",
    );
    let twice = [
        (Slot::Command, "A=1 a"),
        (Slot::Variable(0), "B=1"),
        (Slot::Variable(1), "A=2"),
    ];
    check(&twice, Slot::Variable(1), "A is there twice");
    check(
        &[(Slot::Url, "example.org")],
        Slot::Url,
        "a URL is needed: it begins with http:// or https:// and names a host",
    );
    check(
        &[(Slot::Url, "http://a"), (Slot::Header(0), "hunter2")],
        Slot::Header(0),
        "a header is written Name: value",
    );
    check(
        &[(Slot::Command, "a"), (Slot::Name, "old")],
        Slot::Name,
        "there is a server old already; take another name",
    );
}

#[test]
fn the_proposed_name_is_never_one_that_is_taken() {
    let draft = draft(&[(Slot::Command, "npx server-notes")]);
    let name = |taken: &[&str]| draft.name(|name| taken.contains(&name)).unwrap();
    assert_eq!(name(&[]), "notes");
    assert_eq!(name(&["notes"]), "notes-2");
    assert_eq!(name(&["notes", "notes-2"]), "notes-3");
}

#[test]
fn secrets_are_masked_where_nobody_types() {
    let check = |slot: Slot, text: &str, expected: Option<&str>| {
        let draft = draft(&[(slot, text)]);
        assert_eq!(draft.masked(slot).as_deref(), expected, "{text}");
    };
    check(
        Slot::Variable(0),
        "API_TOKEN=abcdefgh1234",
        Some("API_TOKEN=***"),
    );
    check(Slot::Variable(0), "API_TOKEN=${API_TOKEN}", None);
    check(Slot::Variable(0), "DEBUG=1", None);
    check(
        Slot::Header(0),
        "Authorization: Bearer abcdefgh1234",
        Some("Authorization: Bearer ***"),
    );
    check(Slot::Command, "npx -y server", None);
    check(
        Slot::Command,
        "run --api-key abcdefgh1234",
        Some("run --api-key '***'"),
    );
}

/// Open, type, Enter.
#[test]
fn a_command_is_added_with_two_keys_beside_the_text() {
    let mut deck = opened();
    assert_eq!(
        deck.model.layers.top().map(Layer::context),
        Some(crate::tui::keymap::Context::Field)
    );
    type_in(&mut deck, "npx -y @scope/server-notes");
    let (ticket, server) = asked(deck.press("enter"));
    assert_eq!(server.name.as_str(), "notes");
    assert!(server.tested);
    assert_eq!(
        written(&server),
        json!({"command": "npx", "args": ["-y", "@scope/server-notes"]})
    );
    assert_eq!(add(&deck).offer(), Offer::Cancel);
    assert!(deck.model.awaits(ticket));
    // Nothing but Esc does anything meanwhile.
    assert_eq!(deck.press("enter tab x down"), None);
    let told = Told {
        text: "added notes".into(),
        bad: false,
    };
    deck.press("esc a");
    let (ticket, _) = asked({
        deck.press("ctrl-u");
        type_in(&mut deck, "npx notes");
        deck.press("enter")
    });
    answer(&mut deck, ticket, Ok(told));
    assert!(deck.model.layers.is_empty());
    assert_eq!(deck.model.focus, Pane::Servers);
    assert_eq!(&*deck.model.notice.as_ref().unwrap().text, "added notes");
    // As soon as it is there, it is selected.
    let server = make::server("notes", make::connected(&["tools"]));
    deck.publish(make::with_events(vec![make::everything(), server]));
    assert_eq!(deck.model.servers.selected(), Some(&make::name("notes")));
}

#[test]
fn a_url_in_the_command_is_an_http_server() {
    let mut deck = opened();
    type_in(&mut deck, "https://example.org/mcp");
    deck.press("tab");
    type_in(&mut deck, "Authorization: Bearer ${TOKEN}");
    let (_, server) = asked(deck.press("enter"));
    assert_eq!(server.name.as_str(), "example.org");
    let headers = json!({"Authorization": "Bearer ${TOKEN}"});
    assert_eq!(
        written(&server),
        json!({"url": "https://example.org/mcp", "headers": headers})
    );
}

#[test]
fn the_transport_is_chosen_with_arrows_letters_or_the_mouse() {
    let mut deck = opened();
    let shows = |deck: &Deck, word: &str| {
        let screen = deck.text();
        assert!(screen.contains(&format!("● {word}")), "{word}\n{screen}");
    };
    shows(&deck, "stdio");
    deck.press("up");
    assert_eq!(add(&deck).offer(), Offer::Choose);
    for (keys, word) in [
        ("right", "http"),
        ("right right", "sse"),
        ("left", "http"),
        ("s", "sse"),
        ("s", "stdio"),
        ("space", "http"),
        ("h", "http"),
        ("x", "http"),
    ] {
        deck.press(keys);
        shows(&deck, word);
    }
    let screen = deck.text();
    let (row, line) = screen
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains("○ sse"))
        .unwrap();
    let column = line.chars().position(|c| c == '●').unwrap();
    let sse = line[..line.find("sse").unwrap()].chars().count();
    let at = |x: usize| Action::Click(u16::try_from(x).unwrap(), u16::try_from(row).unwrap());
    deck.act(at(sse));
    shows(&deck, "sse");
    // The mark of the one that was chosen.
    deck.act(at(column));
    shows(&deck, "http");
    // A click on another line goes there.
    deck.act(Action::Click(
        u16::try_from(sse).unwrap(),
        u16::try_from(row + 1).unwrap(),
    ));
    type_in(&mut deck, "http://a");
    assert!(deck.text().contains("http://a"));
}

#[test]
fn a_failure_stays_in_the_form_and_can_be_mended_or_ignored() {
    let mut deck = opened();
    // There is nothing to be saved untested before a test has failed.
    type_in(&mut deck, "npxx");
    assert!(!deck.text().contains("Save anyway"));
    let (ticket, _) = asked(deck.press("enter"));
    answer(&mut deck, ticket, Err(refused()));
    assert_eq!(add(&deck).offer(), Offer::Retry);
    let screen = deck.text();
    assert!(screen.contains("npxx: command not found"), "{screen}");
    assert!(
        screen.contains("[ Save anyway ]  without a test"),
        "{screen}"
    );
    assert!(screen.contains("Down to save anyway"), "{screen}");
    // What is changed meanwhile is what is tried again.
    let (second, server) = asked(deck.press("backspace enter"));
    assert_eq!(written(&server), json!({"command": "npx"}));
    // An answer to the first is nobody's.
    answer(&mut deck, ticket, Err(refused()));
    assert!(deck.model.awaits(second));
    answer(&mut deck, second, Err(refused()));
    // Below the last field, where nothing can be typed.
    deck.press("shift-tab shift-tab x");
    assert_eq!(add(&deck).offer(), Offer::Anyway);
    assert_eq!(deck.press("up"), None);
    assert_eq!(add(&deck).offer(), Offer::Retry);
    let (third, server) = asked(deck.press("down enter"));
    assert_eq!(written(&server), json!({"command": "npx"}));
    assert!(!server.tested);
    assert!(deck.model.awaits(third));
    // Called off, the form has its fields and nothing else.
    deck.press("esc");
    assert_eq!(add(&deck).offer(), Offer::Fill);
    assert!(!deck.text().contains("Save anyway"));
}

#[test]
fn esc_calls_the_test_off_and_then_closes_the_form_which_keeps_what_was_typed() {
    let mut deck = opened();
    type_in(&mut deck, "npx notes");
    let (ticket, _) = asked(deck.press("enter"));
    deck.press("esc");
    assert!(!deck.model.awaits(ticket));
    assert_eq!(add(&deck).offer(), Offer::Fill);
    deck.press("esc");
    assert!(deck.model.layers.is_empty());
    deck.press("a");
    assert!(deck.text().contains("npx notes"));
    // What is emptied by hand is forgotten.
    deck.press("ctrl-u esc");
    assert_eq!(deck.model.draft, None);
}

#[test]
fn a_name_is_judged_while_it_is_typed() {
    let mut deck = opened();
    type_in(&mut deck, "npx everything");
    assert!(deck.text().contains("everything-2"), "{}", deck.text());
    deck.press("shift-tab shift-tab");
    type_in(&mut deck, "everything");
    let screen = deck.text();
    assert!(screen.contains("taken"), "{screen}");
    assert!(
        screen.contains("there is a server everything already"),
        "{screen}"
    );
    assert_eq!(deck.press("enter"), None);
    type_in(&mut deck, "3");
    let (_, server) = asked(deck.press("enter"));
    assert_eq!(server.name.as_str(), "everything3");
    let mut deck = opened();
    type_in(&mut deck, "npx notes");
    deck.press("shift-tab shift-tab");
    type_in(&mut deck, &"n".repeat(129));
    assert!(deck.text().contains("at most 128 characters"));
}

#[test]
fn the_entry_of_a_server_is_opened_where_it_stands() {
    let mut deck = deck();
    let origin = deck.state.servers[0].origin.clone().unwrap();
    assert_eq!(deck.press("e"), Some(Effect::Edit(Arc::clone(&origin))));
    assert_eq!(deck.press("tab e"), None);
    let notice = |deck: &Deck| deck.model.notice.clone().unwrap().text.to_string();
    assert_eq!(notice(&deck), "go to Servers first");
    let mut deck = Deck::new(USUAL, make::with_events(vec![make::demo()]));
    assert_eq!(deck.press("e"), None);
    assert_eq!(
        notice(&deck),
        "demo is written in no file, so there is nothing to edit"
    );
}

/// No size panics, and the cursor's line is on screen wherever it has room at all.
#[test]
fn every_size_is_drawn() {
    let state: AppState = make::with_events(vec![ServerSnapshot::clone(&make::everything())]);
    for columns in [1, 29, 30, 31, 43, 63, 64, 65, 79, 80, 131, 250] {
        for rows in (1..50).step_by(3) {
            let mut deck = Deck::new((columns, rows), state.clone());
            deck.press("a");
            type_in(&mut deck, "run 日本語");
            for keys in ["", "tab A = 1 tab B = 2 tab", "tab tab", "up up"] {
                deck.press(keys);
                let screen = deck.text();
                if columns >= 30 && rows >= 7 {
                    assert!(screen.contains('▌'), "{columns}x{rows}\n{screen}");
                }
            }
            let (ticket, _) = asked(deck.press("enter"));
            deck.draw();
            answer(&mut deck, ticket, Err(refused()));
            let screen = deck.text();
            if columns >= 30 && rows >= 7 {
                assert!(screen.contains("npxx"), "{columns}x{rows}\n{screen}");
            }
        }
    }
}
