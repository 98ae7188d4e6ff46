//! What keys, the mouse and new snapshots do.

use std::sync::Arc;
use std::time::Duration;

use super::action::{Action, Edit, Effect, Notice};
use super::fixture as make;
use super::harness::Deck;
use super::layer::Layer;
use super::layout::Pane;
use super::lines::StderrLine;
use super::logs::Log;
use super::question::Question;
use super::rows::{Anchor, Tab};
use crate::app::Place;
use crate::app::login::{Page, Progress};
use crate::domain::{AppState, Catalog, ListMethod, ServerSnapshot, Status};
use crate::mcp::LineKind;

const USUAL: (u16, u16) = (110, 30);

fn deck() -> Deck {
    Deck::new(USUAL, make::full())
}

/// The servers of the state with another catalog of resources for the first.
fn with_resources(state: &AppState, uris: &[&str]) -> AppState {
    let mut servers: Vec<Arc<ServerSnapshot>> = state.servers.to_vec();
    let mut first = ServerSnapshot::clone(&servers[0]);
    first.catalog = Arc::new(Catalog {
        resources: make::listed(uris.iter().map(|uri| make::resource(uri, uri)).collect()),
        ..Catalog::default()
    });
    servers[0] = Arc::new(first);
    AppState {
        servers: servers.into(),
        ..state.clone()
    }
}

fn selected_item(deck: &Deck) -> String {
    match deck.model.list.anchor() {
        Some(Anchor::Item(key, _)) => key.into(),
        other => format!("{other:?}"),
    }
}

fn selected_server(deck: &Deck) -> &str {
    deck.model
        .servers
        .selected()
        .map_or("none", |name| name.as_str())
}

fn notice(deck: &Deck) -> &str {
    deck.model.notice.as_ref().map_or("", |notice| &notice.text)
}

#[test]
fn keys_move_between_panes_and_rows() {
    let check = |keys: &str, focus: Pane, server: &str, item: &str| {
        let mut deck = deck();
        deck.press(keys);
        let found = (
            deck.model.focus,
            selected_server(&deck),
            selected_item(&deck),
        );
        assert_eq!(found, (focus, server, item.to_owned()), "{keys}");
    };
    let uri = |number: usize| format!("demo://resource/static/{number}");
    check("", Pane::Servers, "everything", &uri(1));
    check("down down up", Pane::Servers, "filesystem", "None");
    check("G", Pane::Servers, "project", "None");
    check("tab j j", Pane::List, "everything", &uri(3));
    check(
        "tab G k",
        Pane::List,
        "everything",
        "demo://resource/zero\u{200b}width",
    );
    check("l l", Pane::Details, "everything", &uri(1));
    check("l l l", Pane::Details, "everything", &uri(1));
    check("tab tab tab", Pane::Servers, "everything", &uri(1));
    check("shift-tab", Pane::Details, "everything", &uri(1));
    check("h", Pane::Servers, "everything", &uri(1));
    check("tab pgdn pgdn home", Pane::List, "everything", &uri(1));
    check("tab down ctrl-u", Pane::List, "everything", &uri(1));
}

#[test]
fn numbers_and_brackets_open_tabs() {
    let check = |keys: &str, tab: Tab| {
        let mut deck = deck();
        deck.press(keys);
        assert_eq!(
            (deck.model.tab, deck.model.focus),
            (tab, Pane::Servers),
            "{keys}"
        );
    };
    check("2", Tab::Items(ListMethod::ResourceTemplates));
    check("7", Tab::Stderr);
    check("8", Tab::Trace);
    check("[", Tab::Trace);
    check("6 ] ] ]", Tab::Items(ListMethod::Resources));
}

#[test]
fn in_a_narrow_window_a_tab_takes_the_focus() {
    let mut deck = Deck::new((40, 20), make::full());
    deck.press("3");
    assert_eq!(deck.model.focus, Pane::List);
    assert!(deck.text().contains("Tools"));
}

#[test]
fn enter_on_a_server_does_what_its_status_asks_for() {
    let check = |name: &str, tab: Tab, focus: Pane| {
        let mut deck = deck();
        while selected_server(&deck) != name {
            deck.press("down");
        }
        deck.press("enter");
        assert_eq!((deck.model.tab, deck.model.focus), (tab, focus), "{name}");
    };
    check("everything", Tab::Items(ListMethod::Resources), Pane::List);
    // A server that has only tools opens with them.
    check("filesystem", Tab::Items(ListMethod::Tools), Pane::List);
    check("github", Tab::Errors, Pane::List);
    check("sqlite", Tab::Errors, Pane::List);
    check("notes", Tab::Items(ListMethod::Resources), Pane::Servers);
    check("project", Tab::Items(ListMethod::Resources), Pane::Servers);
}

#[test]
fn esc_goes_back_step_by_step_and_never_quits() {
    let mut deck = deck();
    deck.press("enter / s t a enter tab");
    assert_eq!(deck.model.focus, Pane::Details);
    deck.press("enter");
    assert!(matches!(deck.model.layers.top(), Some(Layer::Reader(_))));
    deck.press("esc");
    assert_eq!(deck.model.focus, Pane::Details);
    deck.press("esc");
    assert_eq!(
        (deck.model.focus, deck.model.list.needle()),
        (Pane::List, "sta")
    );
    deck.press("esc");
    assert_eq!(
        (deck.model.focus, deck.model.list.needle()),
        (Pane::List, "")
    );
    deck.press("esc");
    assert_eq!(deck.model.focus, Pane::Servers);
    assert_eq!(deck.press("esc"), None);
}

#[test]
fn q_closes_a_layer_and_quits_from_the_panes() {
    let mut deck = deck();
    assert_eq!(deck.press("? q"), None);
    assert!(deck.model.layers.is_empty());
    assert_eq!(deck.press("enter q"), Some(Effect::Quit));
    for keys in ["? ctrl-c", "/ ctrl-c", "esc ctrl-c"] {
        assert_eq!(deck.press(keys), Some(Effect::Quit), "{keys}");
    }
}

#[test]
fn some_keys_act_only_in_servers() {
    let mut deck = deck();
    deck.press("tab");
    for key in ["space", "D", "delete", "t", "L"] {
        assert_eq!(deck.press(key), None);
        assert_eq!(notice(&deck), "go to Servers first", "{key}");
    }
    deck.press("s");
    assert_eq!(notice(&deck), "sorted by status");
    // The next key takes the notice away.
    deck.press("down");
    assert_eq!(notice(&deck), "");
}

#[test]
fn space_switches_off_and_on() {
    let mut deck = deck();
    let everything = make::name("everything");
    assert_eq!(
        deck.press("space"),
        Some(Effect::SetEnabled(everything, false))
    );
    let notes = make::name("notes");
    deck.press("down down down down down");
    assert_eq!(
        deck.press("space"),
        Some(Effect::SetEnabled(notes.clone(), true))
    );
    deck.press("enter");
    assert_eq!(
        deck.model.layers.top(),
        Some(&Layer::Question(Question::Enable(notes.clone())))
    );
    assert_eq!(deck.press("enter"), None, "Enter is not yes");
    assert!(deck.model.layers.is_empty());
    assert_eq!(deck.press("enter y"), Some(Effect::SetEnabled(notes, true)));
}

#[test]
fn a_log_in_is_called_off_by_esc_alone_and_takes_what_is_pasted() {
    let mut deck = Deck::new(USUAL, make::with_events(vec![make::needs_auth()]));
    let name = make::name("calendar");
    let begin = Some(Effect::LogIn(name.clone()));
    assert_eq!(deck.press("L"), begin);
    deck.act(Action::Click(3, 3));
    assert_eq!(deck.press("L q enter tab"), None, "nothing to take yet");
    assert_eq!(deck.press("esc"), Some(Effect::EndLogIn));
    assert!(deck.model.layers.is_empty());
    // What comes too late is nobody's.
    deck.act(Action::LoggedIn(Ok(())));
    assert_eq!(notice(&deck), "");

    assert_eq!(deck.press("enter"), begin, "Enter is L here");
    let page = Page {
        url: "https://login.example.org/a".into(),
        redirect: "http://127.0.0.1:1/callback".into(),
        opened: true,
    };
    deck.act(Action::LogIn(Progress::Page(page.clone())));
    assert_eq!(deck.press("enter"), None, "nothing was pasted");
    assert_eq!(deck.press("tab"), Some(Effect::Copy(page.url.to_string())));
    deck.act(Action::Edit(Edit::Insert("http://x".to_owned())));
    assert_eq!(
        deck.press("enter"),
        Some(Effect::Pasted("http://x".to_owned()))
    );
    deck.act(Action::LogIn(Progress::Foreign));
    assert!(deck.text().contains("That is not the address"));
    deck.act(Action::LoggedIn(Ok(())));
    assert!(deck.model.layers.is_empty());
    assert_eq!(notice(&deck), "logged in at calendar");

    deck.press("L");
    deck.act(Action::LoggedIn(Err(make::failure("it is closed today"))));
    assert!(deck.text().contains("it is closed today"));
    assert_eq!(deck.press("enter"), Some(Effect::EndLogIn));
}

#[test]
fn only_a_remote_server_takes_a_log_in() {
    let check = |keys: &str, expected: &str| {
        let mut deck = deck();
        assert_eq!(deck.press(keys), None);
        assert_eq!(notice(&deck), expected);
    };
    let local = "everything is started by a command, which takes no log-in";
    check("L", local);
    check("down down down down down L", "notes is switched off");
    check("tab L", "go to Servers first");
}

#[test]
fn a_removal_is_asked_for_and_only_y_is_yes() {
    let mut deck = deck();
    let name = make::name("everything");
    let ask = |deck: &mut Deck| {
        assert_eq!(
            deck.press("D"),
            Some(Effect::AskRemoval(make::name("everything")))
        );
        deck.act(Action::Place(make::name("everything"), Place::default()));
    };
    for key in ["n", "enter", "space", "D", "esc", "q"] {
        ask(&mut deck);
        assert_eq!(deck.press(key), None, "{key}");
        assert!(deck.model.layers.is_empty());
    }
    ask(&mut deck);
    assert_eq!(deck.press("y"), Some(Effect::Remove(name)));
    assert_eq!(deck.press("u"), Some(Effect::Undo));
}

#[test]
fn an_untrusted_server_is_approved_after_a_question() {
    let name = make::name("project");
    let mut deck = Deck::new(
        (80, 24),
        make::with_events(vec![
            make::server("project", Status::Untrusted),
            make::server("off", Status::Disabled),
        ]),
    );
    let described = Action::Described(name.clone(), vec!["runs: npx x".into()]);
    for key in ["t", "enter"] {
        assert_eq!(deck.press(key), Some(Effect::AskTrust(name.clone())));
        deck.act(described.clone());
        assert!(deck.text().contains("runs: npx x"));
        assert_eq!(deck.press("enter"), None, "Enter is not yes");
        assert!(deck.model.layers.is_empty());
        deck.act(described.clone());
        assert_eq!(deck.press("y"), Some(Effect::Trust(name.clone())));
    }
    deck.press("down");
    assert_eq!(deck.press("t"), None);
    assert!(deck.text().contains("off is switched off"));
    deck.press("tab");
    assert_eq!(deck.press("t"), None);
    assert!(deck.text().contains("go to Servers first"));
    // Nobody asks any more where somebody else has answered.
    deck.publish(make::with_events(vec![make::server(
        "project",
        Status::Connecting,
    )]));
    deck.act(described);
    assert!(deck.model.layers.is_empty());
    assert_eq!(deck.press("shift-tab t"), None);
    assert!(deck.text().contains("project needs no approval"));
}

#[test]
fn refresh_and_reconnect_act_from_any_pane_where_they_can() {
    let mut deck = deck();
    let everything = make::name("everything");
    for pane in ["", "tab", "tab"] {
        deck.press(pane);
        assert_eq!(deck.press("r"), Some(Effect::Refresh(everything.clone())));
        for key in ["c", "ctrl-r"] {
            assert_eq!(deck.press(key), Some(Effect::Reconnect(everything.clone())));
        }
        assert_eq!(deck.press("R"), Some(Effect::RefreshAll));
    }
    deck.press("esc esc down down down down");
    assert_eq!(selected_server(&deck), "sqlite");
    assert_eq!(deck.press("r"), None);
    assert_eq!(notice(&deck), "sqlite is not connected");
    assert_eq!(
        deck.press("c"),
        Some(Effect::Reconnect(make::name("sqlite")))
    );
    deck.press("down");
    assert_eq!(deck.press("c"), None);
    assert_eq!(notice(&deck), "notes is switched off");
}

#[test]
fn the_selection_stays_on_its_item_and_its_server() {
    let mut deck = deck();
    deck.publish(with_resources(&deck.state, &["a", "b", "c"]));
    deck.press("tab j");
    assert_eq!(selected_item(&deck), "b");
    deck.publish(with_resources(&deck.state, &["x", "y", "a", "b"]));
    assert_eq!(selected_item(&deck), "b");
    // A look at another server and another tab, and back.
    deck.press("esc down 3 up 1 tab");
    assert_eq!(selected_item(&deck), "b");

    let mut state = deck.state.clone();
    state.servers = state.servers.iter().rev().cloned().collect();
    deck.publish(state);
    assert_eq!(selected_server(&deck), "everything");
}

#[test]
fn a_removed_server_leaves_its_place_and_takes_it_again_when_it_is_back() {
    let mut deck = deck();
    deck.press("down down");
    let before = deck.state.clone();
    let mut state = before.clone();
    state.servers = [&before.servers[..2], &before.servers[3..]].concat().into();
    deck.publish(state);
    assert_eq!(selected_server(&deck), "github");
    deck.publish(before);
    assert_eq!(selected_server(&deck), "memory");
}

#[test]
fn a_filter_follows_each_key_and_is_cleared_or_kept() {
    let mut deck = deck();
    deck.press("tab / T E X T");
    assert_eq!(deck.model.list.len(), 6, "whatever the case, types too");
    deck.press("space / 1");
    assert_eq!(deck.model.list.len(), 1, "all words");
    deck.press("backspace backspace backspace q");
    assert_eq!(deck.model.list.needle(), "TEXTq");
    deck.press("esc");
    assert_eq!((deck.model.list.needle(), deck.model.list.len()), ("", 7));

    deck.press("esc / s q l enter");
    assert_eq!(
        (deck.model.servers.len(), selected_server(&deck)),
        (1, "sqlite")
    );
    deck.press("esc");
    assert_eq!(
        (deck.model.servers.len(), selected_server(&deck)),
        (7, "sqlite")
    );
}

#[test]
fn a_filter_keeps_its_item_among_new_rows() {
    let mut deck = deck();
    deck.publish(with_resources(&deck.state, &["a1", "b1", "a2", "b2"]));
    deck.press("tab / b enter j");
    assert_eq!(selected_item(&deck), "b2");
    deck.publish(with_resources(&deck.state, &["b0", "a1", "b1", "b2"]));
    assert_eq!(
        (selected_item(&deck).as_str(), deck.model.list.len()),
        ("b2", 3)
    );
}

#[test]
fn enter_on_an_event_selects_its_server() {
    let mut deck = deck();
    deck.press("6 tab k k enter");
    assert_eq!(
        (selected_server(&deck), deck.model.focus),
        ("sqlite", Pane::Servers)
    );
}

#[test]
fn logs_are_followed_until_one_looks_back() {
    let mut deck = deck();
    let mut state = deck.state.clone();
    let mut another = |deck: &mut Deck| {
        let last = Arc::clone(state.events.back().unwrap());
        let mut event = crate::domain::Event::clone(&last);
        event.seq += 1;
        Arc::make_mut(&mut state.events).push_back(Arc::new(event));
        deck.publish(state.clone());
        deck.model.list.anchor()
    };
    deck.press("6 tab");
    assert_eq!(another(&mut deck), Some(Anchor::Number(5)));
    deck.press("k");
    assert_eq!(another(&mut deck), Some(Anchor::Number(4)));
    deck.press("F");
    assert_eq!(another(&mut deck), Some(Anchor::Number(7)));
    deck.press("g");
    assert_eq!(another(&mut deck), Some(Anchor::Number(1)));
    deck.press("G");
    assert_eq!(another(&mut deck), Some(Anchor::Number(9)));
}

#[test]
fn copying_takes_what_the_row_is_known_by() {
    let check = |keys: &str, expected: &str| {
        let mut deck = Deck::new(USUAL, make::with_events(vec![make::old()]));
        assert_eq!(
            deck.press(keys),
            Some(Effect::Copy(expected.to_owned())),
            "{keys}"
        );
    };
    check("y", "everything");
    check("tab y", "demo://resource/static/1");
    check("2 tab y", "demo://resource/dynamic/text/{id}");
    check("3 tab y", "echo");
    check(
        "5 tab y",
        "resources/templates/list: -32603 Internal error: the database is locked",
    );
    check("6 tab g y", "11:59:52 everything connected");
    // Nothing hidden gets on the clipboard.
    check(
        "tab down down down down down y",
        "demo://resource/zero\\u{200b}width",
    );
}

#[test]
fn stderr_is_asked_for_while_its_tab_is_open() {
    let state = make::with_events(vec![make::failed(), make::files()]);
    let mut deck = Deck::new(USUAL, state);
    assert_eq!(deck.model.wanted_news(), None);
    deck.press("7");
    let sqlite = make::name("sqlite");
    let follow = |deck: &mut Deck| match deck.model.wanted_news() {
        Some(Effect::Follow(ticket, log, server, after)) => Some((ticket, log, server, after)),
        _ => None,
    };
    let (ticket, log, server, after) = follow(&mut deck).unwrap();
    assert_eq!((log, &server, after), (Log::Stderr, &sqlite, 0));
    assert!(deck.model.awaits(ticket));
    assert_eq!(follow(&mut deck), None, "only once at a time");
    let line = |number| StderrLine {
        number,
        change: number,
        kind: LineKind::Stderr,
        text: format!("line {number}").into(),
    };
    deck.act(Action::Lines(sqlite.clone(), vec![line(1), line(2)]));
    deck.act(Action::Lines(make::name("filesystem"), vec![line(9)]));
    assert_eq!(deck.model.list.len(), 2);
    assert_eq!(follow(&mut deck).unwrap().3, 2);
    deck.act(Action::Lines(sqlite.clone(), vec![line(3), line(5)]));
    assert_eq!(deck.model.list.anchor(), Some(Anchor::Number(5)));
    assert_eq!(deck.model.list.len(), 4);
    // Another client of the name counts from one again.
    deck.act(Action::Lines(sqlite, vec![line(1)]));
    assert_eq!(deck.model.list.len(), 1);
    // Where nothing shows them nobody waits for them.
    let (ticket, ..) = follow(&mut deck).unwrap();
    deck.press("1");
    assert_eq!(follow(&mut deck), None);
    assert!(!deck.model.awaits(ticket));
}

#[test]
fn a_line_that_grows_stays_at_its_place() {
    let state = make::with_events(vec![make::failed()]);
    let mut deck = Deck::new(USUAL, state);
    deck.press("7");
    let line = |number, change, text: &str| StderrLine {
        number,
        change,
        kind: LineKind::Stderr,
        text: text.into(),
    };
    let told = |deck: &mut Deck, lines: Vec<StderrLine>| {
        deck.act(Action::Lines(make::name("sqlite"), lines));
        let texts = deck.model.logs.stderr().iter();
        let texts: Vec<String> = texts.map(|line| line.text.to_string()).collect();
        (texts.join(" "), deck.model.logs.last_change())
    };
    let first = vec![line(1, 1, "Pass"), line(2, 2, "log")];
    assert_eq!(told(&mut deck, first), ("Pass log".to_owned(), 2));
    let more = vec![line(1, 4, "Password:"), line(3, 3, "x")];
    assert_eq!(told(&mut deck, more), ("Password: log x".to_owned(), 4));
    // Another client of the name begins anew.
    let anew = vec![line(1, 1, "other")];
    assert_eq!(told(&mut deck, anew), ("other".to_owned(), 1));
}

#[test]
fn the_mouse_selects_and_scrolls_what_it_points_at() {
    let mut deck = deck();
    let areas = deck.model.areas().unwrap();
    deck.act(Action::Click(5, areas.servers.y + 4));
    assert_eq!(
        (selected_server(&deck), deck.model.focus),
        ("filesystem", Pane::Servers)
    );
    deck.act(Action::Click(5, areas.servers.y + 1));
    deck.act(Action::Click(areas.rows().x + 5, areas.rows().y + 2));
    assert_eq!(deck.model.focus, Pane::List);
    assert_eq!(selected_item(&deck), "demo://resource/static/3");
    // The third tab, by its title.
    let x = deck
        .text()
        .lines()
        .nth(2)
        .unwrap()
        .split("Tools")
        .next()
        .unwrap()
        .chars()
        .count();
    deck.act(Action::Click(u16::try_from(x).unwrap() + 1, areas.tabs().y));
    assert_eq!(deck.model.tab, Tab::Items(ListMethod::Tools));
    deck.act(Action::Scroll(5, 5, 3));
    assert_eq!(selected_server(&deck), "filesystem");
    // A click beside a question is no.
    deck.act(Action::Place(make::name("filesystem"), Place::default()));
    deck.act(Action::Click(0, 0));
    assert!(deck.model.layers.is_empty());
}

#[test]
fn the_deck_wakes_only_for_what_changes_on_screen() {
    let clock = make::clock();
    let wait = |deck: &Deck| {
        deck.model
            .next_change(&deck.state, &clock)
            .map(|at| at.duration_since(clock.now))
    };
    // Marks end 5 s after the refresh, but the uptime changes before.
    let mut deck = Deck::new(USUAL, make::with_events(vec![make::everything()]));
    assert_eq!(wait(&deck), Some(Duration::from_secs(1)));
    deck.press("down");
    // In a small window the servers stand alone: no clock is on screen.
    deck.act(Action::Resize(40, 20));
    assert_eq!(wait(&deck), None);
    // Nor is there in a narrow list, whose marks end all the same.
    deck.press("tab");
    assert_eq!(wait(&deck), Some(Duration::from_secs(3)));

    let deck = Deck::new(USUAL, make::with_events(vec![make::reconnecting()]));
    assert_eq!(wait(&deck), Some(Duration::from_millis(400)));
    for idle in [
        make::failed(),
        make::server("off", Status::Disabled),
        make::server("late", Status::Connecting),
    ] {
        let deck = Deck::new(USUAL, make::with_events(vec![idle]));
        assert_eq!(wait(&deck), None);
    }
}

#[test]
fn the_mouse_and_the_shell_are_asked_for_by_keys() {
    let mut deck = deck();
    assert_eq!(deck.press("m"), Some(Effect::Mouse(false)));
    assert_eq!(deck.press("m"), Some(Effect::Mouse(true)));
    assert_eq!(deck.press("ctrl-z"), Some(Effect::Suspend));
    assert_eq!(deck.press("/ ctrl-z"), Some(Effect::Suspend));
}

#[test]
fn a_question_about_a_server_that_is_gone_is_not_asked() {
    let mut deck = deck();
    deck.act(Action::Place(make::name("gone"), Place::default()));
    assert!(deck.model.layers.is_empty());
    deck.act(Action::Notice(Notice::bad("could not write")));
    assert_eq!(notice(&deck), "could not write");
}

#[test]
fn what_is_typed_and_what_is_asked_keep_the_footer_until_they_are_done() {
    let check = |open: &str, shown: &str, close: &str| {
        let mut deck = deck();
        deck.press(open);
        if open == "D" {
            deck.act(Action::Place(make::name("everything"), Place::default()));
        }
        deck.act(Action::Notice(Notice::bad("could not write")));
        let footer = |deck: &Deck| deck.text().lines().last().unwrap_or("").to_owned();
        assert!(footer(&deck).contains(shown), "{}", footer(&deck));
        deck.press(close);
        assert!(
            footer(&deck).contains("could not write"),
            "{}",
            footer(&deck)
        );
        deck.press("j");
        assert!(!footer(&deck).contains("could not write"));
    };
    check("/ a b", "/ab", "enter");
    check("f a b", "find: ab", "esc");
    check("D", "y yes", "n");
}
