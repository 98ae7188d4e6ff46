//! How a form looks in its states, at a small, a usual, a large and a very large window.

use std::fmt::Write as _;

use super::{asked, opened, server, state, suggest};
use crate::domain::{ResourceTemplate, text};
use crate::tui::action::{Action, Edit, Effect};
use crate::tui::ask::{Answer, Ticket};
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::layer::Layer;
use crate::tui::theme::{Environment, Theme};

/// Compares the screen at four sizes with the snapshot of the name.
fn check(name: &str, prepare: impl Fn(&mut Deck)) {
    let mut screens = String::new();
    for size in [(40, 10), (80, 24), (120, 40), (200, 60)] {
        let mut deck = Deck::new(size, state());
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

fn template(deck: &mut Deck, keys: &str) -> Ticket {
    let (ticket, _) = asked(deck.press("enter 2 enter"));
    deck.press(keys);
    ticket
}

#[test]
fn screen_of_an_empty_form() {
    check("form", |deck| {
        template(deck, "");
    });
}

#[test]
fn screen_of_a_filled_form() {
    check("form_filled", |deck| {
        template(deck, "m a i n tab 日 本 語 tab tab");
        deck.act(Action::Edit(Edit::Insert(
            "a long value, and one more, and one that goes on until it fits nowhere at all".into(),
        )));
    });
}

#[test]
fn screen_of_suggestions() {
    check("form_suggestions", |deck| {
        let ticket = template(deck, "");
        let values = [
            "customers",
            "invoices",
            "orders",
            "payments",
            "products",
            "returns",
            "shipments",
            "suppliers",
            "日本語のテーブル",
            "warehouses",
        ];
        suggest(deck, ticket, &values);
        deck.press("down down");
    });
}

#[test]
fn screen_of_failed_suggestions() {
    check("form_without_suggestions", |deck| {
        let ticket = template(deck, "");
        let failure = make::rpc(-32603, "the index is being built");
        deck.act(Action::Answered(ticket, Answer::Completed(Err(failure))));
    });
}

#[test]
fn screen_of_a_missing_value() {
    check("form_missing", |deck| {
        template(deck, "tab tab 5 enter");
    });
}

#[test]
fn screen_of_a_prompt() {
    check("form_prompt", |deck| {
        deck.press("enter 4 enter h e l l o");
    });
}

#[test]
fn screen_of_a_broken_template() {
    check("form_broken", |deck| {
        deck.press("enter 2 j enter");
    });
}

#[test]
fn only_ascii_and_no_colour() {
    let (mut deck, ticket) = opened();
    deck.theme = Theme::new(
        "auto",
        None,
        true,
        &Environment {
            no_color: true,
            ..Environment::default()
        },
    );
    suggest(&mut deck, ticket, &["users", "orders"]);
    deck.press("down");
    let text = deck.text();
    assert!(text.is_ascii(), "{text}");
}

/// Whatever a server calls things, it reaches the screen only as printable text.
#[test]
fn nothing_hostile_is_drawn() {
    let evil = "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{202e}d\u{200b}e\u{e0041}\u{9b}31m\r\nf";
    let template = ResourceTemplate {
        description: Some(evil.into()),
        ..make::template(&format!("x:{evil}{{id}}"), evil)
    };
    let broken = make::template(&format!("x:{evil}{{"), evil);
    let mut prompt = make::prompt(evil);
    for argument in prompt.arguments.iter_mut().flatten() {
        argument.title = Some(evil.into());
        argument.description = Some(evil.into());
    }
    let server = server("db", true, vec![template, broken], vec![prompt]);
    let state = make::with_events(vec![server]);
    for size in [(40, 12), (120, 40)] {
        for keys in ["2 tab enter", "4 tab enter", "2 tab j enter"] {
            let mut deck = Deck::new(size, state.clone());
            let effect = deck.press(keys);
            deck.act(Action::Edit(Edit::Insert(evil.to_owned())));
            if let Some(Effect::Ask(..)) = effect {
                let (ticket, _) = asked(deck.press("x"));
                suggest(&mut deck, ticket, &[evil]);
                deck.press("down");
            }
            for cell in &deck.draw().content {
                let symbol = cell.symbol();
                assert!(
                    !symbol.contains(char::is_control) && text::visible(symbol) == symbol,
                    "{symbol:?} after {keys}"
                );
            }
            if let Some(Effect::Ask(..)) = effect {
                deck.press("enter enter");
                assert!(matches!(
                    deck.model.layers.top(),
                    Some(Layer::Form(_) | Layer::Reader(_))
                ));
                deck.draw();
            }
        }
    }
}

/// No size panics, and the cursor's field is on screen wherever it has room at all.
#[test]
fn every_size_is_drawn() {
    let values: Vec<String> = (0..100).map(|number| format!("日本語 {number}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    for columns in [1, 29, 30, 31, 43, 63, 64, 65, 79, 80, 131, 250] {
        for rows in (1..50).step_by(3) {
            let mut deck = Deck::new((columns, rows), state());
            let (ticket, _) = asked(deck.press("2 enter enter"));
            deck.draw();
            suggest(&mut deck, ticket, &values);
            for keys in [
                "",
                "down",
                "down down down down down",
                "enter tab",
                "ä tab ü tab x",
            ] {
                deck.press(keys);
                let screen = deck.text();
                if columns >= 30 && rows >= 7 {
                    assert!(screen.contains('▌'), "{columns}x{rows}\n{screen}");
                }
            }
        }
    }
}
