//! What is chosen, what that does, and what is told of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Stage;
use super::choices::Choices;
use super::fixture::{full, many, open};
use super::listing::{Line, Listing};
use super::outcome::{Outcome, Told};
use crate::app::import::Copied;
use crate::domain::AppState;
use crate::tui::action::{Action, Effect};
use crate::tui::ask::Ask;
use crate::tui::harness::Deck;
use crate::tui::layer::Layer;

fn choices() -> Choices {
    Choices::new(Arc::new(Listing::new(full())))
}

/// `source/name` of the chosen ones.
fn chosen(choices: &Choices) -> String {
    let lines = (0..choices.listing.len()).filter(|line| choices.is_chosen(*line));
    let shown = lines.map(|line| match choices.listing.line(line) {
        Some(Line::Server(source, found)) => {
            format!("{}/{}", source.word(), found.candidate.name)
        }
        other => panic!("{other:?} is chosen"),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Selects the line that shows this server of this file, and toggles it.
fn toggle(choices: &mut Choices, word: &str, name: &str) -> Result<(), String> {
    let place = (0..choices.len()).find(|place| {
        let line = choices.at(*place).and_then(|at| choices.listing.line(at));
        match line {
            Some(Line::Server(source, found)) => {
                source.word() == word && found.candidate.name.as_str() == name
            }
            Some(Line::LeftOut(source, out)) => source.word() == word && out.name.as_str() == name,
            Some(Line::Source(source)) => source.word() == word && name.is_empty(),
            _ => false,
        }
    });
    let len = choices.len();
    choices.window.select(place.unwrap(), len);
    choices.toggle()
}

#[test]
fn what_is_new_is_chosen_and_of_a_name_only_one() {
    let mut choices = choices();
    let start = "claude-desktop/filesystem cursor/calendar cursor/weather";
    assert_eq!(chosen(&choices), start);
    toggle(&mut choices, "cursor", "filesystem").unwrap();
    assert_eq!(
        chosen(&choices),
        "cursor/filesystem cursor/calendar cursor/weather"
    );
    toggle(&mut choices, "claude-desktop", "filesystem").unwrap();
    assert_eq!(chosen(&choices), start);
    toggle(&mut choices, "claude-desktop", "filesystem").unwrap();
    assert_eq!(chosen(&choices), "cursor/calendar cursor/weather");
}

#[test]
fn what_cannot_be_chosen_says_why() {
    let mut choices = choices();
    let before = chosen(&choices);
    let mut check = |word: &str, name: &str, expected: &str| {
        let why = toggle(&mut choices, word, name).unwrap_err();
        assert_eq!(why, expected);
        assert_eq!(chosen(&choices), before);
    };
    check(
        "claude-desktop",
        "memory",
        "you have the same memory already",
    );
    check(
        "claude-desktop",
        "deck",
        "deck cannot be imported: its command is mcpdeck, which would start itself",
    );
    check("codex", "", "nothing of it can be chosen");
}

/// On every line the footer names the keys that do something there, and no others.
#[test]
fn the_footer_offers_what_can_be_done() {
    let mut deck = Deck::new((110, 40), AppState::default());
    open(&mut deck, full());
    let choices = |deck: &Deck| match stage(deck) {
        Stage::Choosing(choices) => choices.clone(),
        other => panic!("{other:?}"),
    };
    for _ in 0..choices(&deck).len() {
        let footer = deck.text().lines().last().unwrap().to_owned();
        let now = choices(&deck);
        let works = |change: fn(&mut Choices) -> Result<(), String>| {
            let mut after = now.clone();
            change(&mut after).is_ok() && after != now
        };
        let check = |key: &str, works: bool| assert_eq!(footer.contains(key), works, "{footer}");
        check("Space choose", works(Choices::toggle));
        check("a whole file", works(Choices::toggle_source));
        check("Enter import", true);
        deck.press("j");
    }
    deck.press("g");
    for place in 0..choices(&deck).len() {
        let now = choices(&deck);
        if now.at(place).is_some_and(|line| now.is_chosen(line)) {
            deck.press("space");
        }
        deck.press("j");
    }
    assert_eq!(chosen(&choices(&deck)), "");
    assert!(!deck.text().contains("Enter import"));
}

#[test]
fn all_of_a_file_is_chosen_or_nothing_and_only_what_is_shown() {
    let mut choices = choices();
    toggle(&mut choices, "cursor", "").unwrap();
    assert_eq!(
        chosen(&choices),
        "cursor/filesystem cursor/calendar cursor/weather"
    );
    toggle(&mut choices, "cursor", "").unwrap();
    assert_eq!(chosen(&choices), "");
    choices.set_needle("Example.org cal");
    toggle(&mut choices, "cursor", "").unwrap();
    assert_eq!(chosen(&choices), "cursor/calendar");
    choices.set_needle("");
    toggle(&mut choices, "claude-desktop", "").unwrap();
    assert_eq!(
        chosen(&choices),
        "claude-desktop/filesystem claude-desktop/github cursor/calendar"
    );
}

#[test]
fn only_a_chosen_different_one_may_replace() {
    let mut choices = choices();
    assert!(!choices.order().1.replace);
    assert!(choices.changes()[0].replaced.is_empty());
    toggle(&mut choices, "claude-desktop", "github").unwrap();
    choices.to_variables = true;
    let (candidates, how) = choices.order();
    assert_eq!(candidates.len(), 4);
    assert!(how.replace && how.secrets_to_env && !how.dry_run);
    let changes = choices.changes();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].added, 3);
    assert_eq!(changes[0].replaced[0].as_str(), "github");
    assert_eq!(choices.secrets(), 2);
}

#[test]
fn what_failed_is_told_first_and_each_with_its_reason() {
    let mut choices = choices();
    toggle(&mut choices, "claude-desktop", "github").unwrap();
    let (chosen, how) = choices.order();
    let file = PathBuf::from("/home/ada/.config/mcpdeck/config.toml");
    let copied: Vec<_> = chosen
        .iter()
        .zip([
            Copied::Added(file.clone()),
            Copied::Replaced(file),
            Copied::Different,
            Copied::Failed(Arc::from("the disk is full")),
        ])
        .map(|(candidate, copied)| (candidate.name.clone(), copied))
        .collect();
    let outcome = Outcome::new(&copied, &chosen, how, (None, true));
    assert_eq!(outcome.summary, "1 added, 1 replaced, 2 not imported");
    let told: Vec<String> = outcome
        .lines
        .iter()
        .map(|told| match told {
            Told::Done(name, word, _) => format!("{name} {word}"),
            Told::Not(name, word, why) => format!("{name} {word}: {why}"),
            Told::Remark(words) => words.clone(),
        })
        .collect();
    assert_eq!(
        told,
        [
            "calendar skipped: there is another one of this name by now; scan again to see it",
            "weather failed: the disk is full",
            "filesystem added",
            "github replaced",
            "a secret stands in plain text in /home/ada/.config/Claude/claude_desktop_config.json:4 (env GITHUB_TOKEN) and was copied",
        ]
    );
}

fn stage(deck: &Deck) -> &Stage {
    match deck.model.layers.top() {
        Some(Layer::Import(import)) => &import.stage,
        other => panic!("{other:?} is no import"),
    }
}

#[test]
fn while_it_copies_nothing_leaves_it() {
    let mut deck = Deck::new((80, 24), AppState::default());
    open(&mut deck, full());
    let Some(Effect::Ask(ticket, Ask::Import(..))) = deck.press("enter y") else {
        panic!("nothing is copied");
    };
    deck.press("esc q r enter space a");
    assert!(matches!(stage(&deck), Stage::Copying(..)));
    assert!(deck.model.awaits(ticket));
    // But Ctrl-C quits, as everywhere.
    assert_eq!(deck.press("ctrl-c"), Some(Effect::Quit));
}

#[test]
fn only_y_is_yes_and_esc_clears_the_filter_first() {
    let mut deck = Deck::new((80, 24), AppState::default());
    open(&mut deck, full());
    for key in ["enter", "space", "Y", "esc", "q"] {
        deck.press("enter");
        assert!(matches!(stage(&deck), Stage::Asking(_)));
        assert_eq!(deck.press(key), None);
        assert!(matches!(stage(&deck), Stage::Choosing(_)), "{key}");
    }
    deck.press("enter");
    deck.act(Action::Click(40, 12));
    assert!(matches!(stage(&deck), Stage::Choosing(_)));
    deck.press("/ m e m enter esc");
    assert!(matches!(stage(&deck), Stage::Choosing(choices) if choices.needle().is_empty()));
    deck.press("esc");
    assert!(deck.model.layers.is_empty());
}

/// Every key is answered within a frame's time, and no more is drawn than is seen.
#[test]
fn a_thousand_servers_do_not_stall_it() {
    let mut deck = Deck::new((200, 60), AppState::default());
    open(&mut deck, many(1_000));
    let start = Instant::now();
    for _ in 0..10 {
        deck.press("G a a g down space / 9 9 enter esc pgdn");
        deck.draw();
    }
    let each = start.elapsed() / 120;
    assert!(each < Duration::from_millis(100), "{each:?} for a key");
}
