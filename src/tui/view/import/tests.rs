//! The import in its states, at four sizes.

use std::sync::Arc;

use crate::app::import::Copied;
use crate::config::ConfigError;
use crate::domain::ServerName;
use crate::tui::action::{Action, Effect};
use crate::tui::ask::{Answer, Ask};
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::import::fixture::{HOME, findings, full, many, open};
use crate::tui::view::tests::check;

#[test]
fn looking() {
    check("import_scanning", &make::full(), |deck| {
        deck.press("i");
    });
}

#[test]
fn nothing_is_found() {
    check("import_nothing", &make::full(), |deck| {
        open(deck, findings(Vec::new()));
    });
}

#[test]
fn a_file_of_ours_is_broken() {
    check("import_broken", &make::full(), |deck| {
        let Some(Effect::Ask(ticket, Ask::Scan)) = deck.press("i") else {
            panic!("nothing is looked for");
        };
        let error = ConfigError::Unreadable {
            file: std::path::Path::new("/home/ada/.config/mcpdeck/config.toml").into(),
            reason: "permission denied".into(),
        };
        deck.act(Action::Answered(ticket, Answer::Scanned(Err(error))));
    });
}

#[test]
fn something_is_found() {
    check("import", &make::full(), |deck| {
        open(deck, full());
        deck.press("down");
    });
    check("import_replaces", &make::full(), |deck| {
        open(deck, full());
        deck.press("down down space v");
    });
    check("import_left_out", &make::full(), |deck| {
        open(deck, full());
        deck.press("down down down down");
    });
    check("import_unreadable", &make::full(), |deck| {
        open(deck, full());
        deck.press("G");
    });
    check("import_filter", &make::full(), |deck| {
        open(deck, full());
        deck.press("/ f i l e s y");
    });
    check("import_filter_kept", &make::full(), |deck| {
        open(deck, full());
        deck.press("/ e x a m p l e enter");
    });
    check("import_refused", &make::full(), |deck| {
        open(deck, full());
        deck.press("down down down space");
    });
    check("import_many", &make::full(), |deck| {
        open(deck, many(1_000));
        deck.press("G");
    });
}

#[test]
fn the_question() {
    check("import_question", &make::full(), |deck| {
        open(deck, full());
        deck.press("down down space enter");
    });
}

/// Says yes, and lets this become of each server.
fn copy(deck: &mut Deck, become_of: impl Fn(&ServerName) -> Copied) {
    let Some(Effect::Ask(ticket, Ask::Import(chosen, _))) = deck.press("enter y") else {
        panic!("nothing is copied");
    };
    let copied = chosen.iter().map(|candidate| {
        let name = candidate.name.clone();
        let copied = become_of(&name);
        (name, copied)
    });
    let answer = Answer::Imported(Ok(copied.collect()));
    deck.act(Action::Answered(ticket, answer));
}

#[test]
fn it_is_copied() {
    check("import_copying", &make::full(), |deck| {
        open(deck, full());
        deck.press("enter y");
    });
    let file = || format!("{HOME}/.config/mcpdeck/config.toml").into();
    check("import_done", &make::full(), |deck| {
        open(deck, full());
        deck.press("down down space v");
        copy(deck, |name| match name.as_str() {
            "github" => Copied::Replaced(file()),
            "calendar" => Copied::Failed(Arc::from("config.toml: permission denied")),
            _ => Copied::Added(file()),
        });
    });
    check("import_done_with_secrets", &make::full(), |deck| {
        open(deck, full());
        copy(deck, |_| Copied::Added(file()));
        deck.press("G");
    });
}
