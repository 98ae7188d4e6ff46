use std::sync::Arc;

use super::super::action::{Action, Effect};
use super::super::fixture as make;
use super::super::harness::Deck;
use super::super::layer::Layer;
use super::super::layout::Pane;
use super::super::rows::{Anchor, Tab};
use super::Find;
use crate::domain::ListMethod;

fn deck() -> Deck {
    Deck::new((120, 40), make::full())
}

fn find(deck: &Deck) -> &Find {
    match deck.model.layers.top() {
        Some(Layer::Find(find)) => find,
        other => panic!("{other:?}"),
    }
}

/// Looks for the words; keys are typed one by one, and only the last answer comes.
fn look(deck: &mut Deck, keys: &str) {
    let effect = deck.press(keys);
    deck.answer(effect);
}

/// Presses Enter, and does what is asked for.
fn go(deck: &mut Deck) {
    match deck.press("enter") {
        Some(Effect::Jump(hit)) => deck.act(Action::Jump(hit)),
        other => panic!("{other:?}"),
    };
    assert!(deck.model.layers.is_empty());
}

#[test]
fn enter_selects_the_item_wherever_it_is() {
    let mut deck = deck();
    // Filters that would hide it are cleared.
    deck.press("/ f i l e s enter");
    look(&mut deck, "ctrl-f s t a t i c / 3");
    go(&mut deck);
    assert_eq!(
        deck.model.servers.selected().unwrap().as_str(),
        "everything"
    );
    assert_eq!(deck.model.tab, Tab::Items(ListMethod::Resources));
    assert_eq!(deck.model.focus, Pane::List);
    let anchor = |deck: &Deck| match deck.model.list.anchor() {
        Some(Anchor::Item(key, _)) => key.into_string(),
        other => panic!("{other:?}"),
    };
    assert!(anchor(&deck).ends_with("static/3"), "{}", anchor(&deck));
    // In the list that is open already, too.
    deck.press("/ n o n e enter");
    look(&mut deck, "f s t a t i c / 1");
    go(&mut deck);
    assert!(anchor(&deck).ends_with("static/1"), "{}", anchor(&deck));
    assert_eq!(deck.model.list.needle(), "");
    look(&mut deck, "f f i l e s y s t");
    go(&mut deck);
    assert_eq!(
        deck.model.servers.selected().unwrap().as_str(),
        "filesystem"
    );
    assert_eq!(deck.model.focus, Pane::Servers);
}

#[test]
fn enter_before_the_result_waits_for_it() {
    let mut deck = deck();
    look(&mut deck, "f");
    let effect = deck.press("s t a t i c / 2");
    assert_eq!(deck.press("enter"), None);
    assert!(find(&deck).is_searching());
    let Some(Effect::Jump(hit)) = deck.answer(effect) else {
        panic!("it goes nowhere");
    };
    deck.act(Action::Jump(hit));
    let Some(Anchor::Item(key, _)) = deck.model.list.anchor() else {
        panic!("nothing is selected");
    };
    assert!(key.ends_with("static/2"), "{key}");
}

#[test]
fn a_result_for_what_was_typed_before_is_dropped() {
    let mut deck = deck();
    let first = deck.press("f");
    let second = deck.press("e v e r y t h i n g");
    deck.answer(first);
    assert!(find(&deck).is_searching());
    assert!(find(&deck).found.hits.is_empty());
    deck.answer(second);
    assert_eq!(find(&deck).found.hits[0].server.as_str(), "everything");
    // Nor does one come to a layer that was closed.
    let third = deck.press("s");
    deck.press("esc");
    deck.answer(third);
    assert!(deck.model.layers.is_empty());
}

#[test]
fn the_selection_follows_its_hit_when_lists_change() {
    let mut deck = deck();
    look(&mut deck, "f s t a t i c");
    deck.press("down down");
    let selected = find(&deck).found.hits[2].clone();
    let mut state = deck.state.clone();
    let mut servers = state.servers.to_vec();
    // Without a new catalog nothing is looked for again.
    assert_eq!(deck.act(Action::State), None);
    let index = servers
        .iter()
        .position(|it| it.name == selected.server)
        .unwrap();
    let mut server = (*servers[index]).clone();
    let mut items = server.catalog.resources.items.to_vec();
    items.insert(0, make::resource("demo://static", "static"));
    let mut catalog = (*server.catalog).clone();
    catalog.resources = make::listed(items);
    server.catalog = Arc::new(catalog);
    server.generation = server.generation.next();
    servers[index] = Arc::new(server);
    state.servers = servers.into();
    deck.state = state;
    let effect = deck.act(Action::State);
    deck.answer(effect);
    let find = find(&deck);
    assert_eq!(find.found.hits[find.cursor], selected);
    assert_eq!(find.cursor, 3);
}

#[test]
fn what_vanished_meanwhile_is_said() {
    let mut deck = deck();
    look(&mut deck, "f e v e r y t h i n g");
    deck.state.servers = Arc::new([]);
    let Some(Effect::Jump(hit)) = deck.press("enter") else {
        panic!("it goes nowhere");
    };
    deck.act(Action::Jump(hit));
    let notice = deck.model.notice.as_ref().unwrap();
    assert_eq!(&*notice.text, "everything is no longer there");
}
