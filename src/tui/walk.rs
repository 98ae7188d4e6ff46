//! A walk over the whole key map: every key does what the help says, wherever it says so, and
//! what the footer offers is never refused.

use std::sync::Arc;

use super::action::{Action, Command, Effect};
use super::aside::Wanted;
use super::ask::{Answer, Ask};
use super::document::Document;
use super::fixture as make;
use super::harness::Deck;
use super::keymap::{CHOICES, HELP_LINES, Scope, TABLE};
use super::layer::Layer;
use super::layout::Pane;
use super::lines::StderrLine;
use super::offer::commands;
use super::question::Question;
use super::rows::Tab;
use super::servers::Sort;
use crate::app::Place;
use crate::domain::{AppState, ListMethod};
use crate::mcp::decode::contents::{Body, Content};
use crate::mcp::{Direction, LineKind, Message, MessageKind};

/// Wide enough for two panes, and so low that lists and details scroll.
const WINDOW: (u16, u16) = (110, 16);

/// All statuses, and a server with more rows than the window.
fn state() -> AppState {
    let mut servers: Vec<_> = make::full()
        .servers
        .iter()
        .map(|server| (**server).clone())
        .collect();
    servers.push(make::needs_auth());
    servers.push(make::server("late", crate::domain::Status::Connecting));
    make::with_events(servers)
}

/// What is said in the logs of whichever server is selected.
fn logs(deck: &mut Deck) {
    let Some(server) = deck.model.servers.selected().cloned() else {
        return;
    };
    let lines = (1..=40).map(|number| StderrLine {
        number,
        change: number,
        kind: LineKind::Stderr,
        text: format!("line {number}").into(),
    });
    deck.act(Action::Lines(server.clone(), lines.collect()));
    let messages = (1..=40).map(|seq| Message {
        seq,
        at: make::wall(),
        direction: Direction::In,
        kind: if seq % 2 == 0 {
            MessageKind::Error
        } else {
            MessageKind::Response
        },
        method: "tools/list".into(),
        size: 2,
        latency: None,
        text: "{}".into(),
    });
    deck.act(Action::Messages(server, messages.collect()));
}

/// A long JSON text, and a second part.
fn document() -> Arc<Document> {
    let content = |text: String| Content {
        uri: "demo://long".into(),
        mime_type: Some("application/json".into()),
        body: Body::Text(text.into()),
    };
    let rows: Vec<String> = (0..60).map(|row| format!("{{\"row {row}\":1}}")).collect();
    let long = format!("[{}]", rows.join(","));
    Arc::new(Document::of(
        vec![content(long), content("[1]".into())],
        &Wanted::default(),
    ))
}

/// Where a key is pressed.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Over the panes, after these keys.
    Panes(&'static str),
    /// In the reader with a long text, after these keys.
    Reader(&'static str),
    /// In the help screen, after these keys.
    Help(&'static str),
}

fn deck(at: At) -> Deck {
    let mut deck = Deck::new(WINDOW, state());
    let keys = match at {
        At::Panes(keys) => keys,
        At::Reader(keys) => {
            deck.press("tab");
            let Some(Effect::Ask(ticket, Ask::Read(..))) = deck.press("enter") else {
                panic!("nothing was read");
            };
            deck.act(Action::Answered(ticket, Answer::Read(Ok(document()))));
            keys
        }
        At::Help(keys) => {
            deck.press("?");
            keys
        }
    };
    for key in keys.split_whitespace() {
        let effect = deck.press(key);
        if let Some(Effect::Ask(ticket, Ask::Search(document, part, needle))) = effect {
            let found = super::reader::search::find(&document, part, &needle, &Wanted::default());
            deck.act(Action::Answered(ticket, Answer::Found(found)));
        }
    }
    logs(&mut deck);
    deck
}

/// How far down one is, in whatever has the keys.
fn position(deck: &Deck) -> usize {
    match deck.model.layers.top() {
        Some(Layer::Help(offset)) => *offset,
        Some(Layer::Reader(reader)) => {
            let shown = reader.shown().unwrap();
            shown.page().selected(shown.part()).unwrap()
        }
        Some(other) => panic!("{other:?} has no position"),
        None => match deck.model.focus {
            Pane::Servers => deck.model.servers.cursor(),
            Pane::List => deck.model.list.cursor(),
            Pane::Details => deck.model.details.offset,
        },
    }
}

fn part(deck: &Deck) -> usize {
    match deck.model.layers.top() {
        Some(Layer::Reader(reader)) => reader.shown().unwrap().part,
        other => panic!("{other:?} is no reader"),
    }
}

/// What must be so after a key: of the deck before, the deck after, and what is asked for.
type Promise = fn(&Deck, &Deck, Option<&Effect>) -> bool;

/// Every place where one can move, at its start.
const TOPS: [At; 11] = [
    At::Panes(""),
    At::Panes("tab"),
    At::Panes("tab 3"),
    At::Panes("tab 6 g"),
    At::Panes("tab 7 g"),
    At::Panes("tab 8 g"),
    At::Panes("tab tab"),
    At::Panes("j tab 3"),
    At::Reader(""),
    At::Reader("/ r o w enter"),
    At::Help(""),
];

/// The same at their end.
const ENDS: [At; 8] = [
    At::Panes("G"),
    At::Panes("tab G"),
    At::Panes("tab 3 G"),
    At::Panes("tab 7 G"),
    At::Panes("tab 8 G"),
    At::Panes("tab tab G"),
    At::Reader("G"),
    At::Help("G"),
];

/// Where each command is tried, and what it then does. A new command has to be given its own.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each command, so that none is forgotten"
)]
fn promises(command: Command) -> Vec<(Vec<At>, Promise)> {
    let all = |at: &[At], promise: Promise| vec![(at.to_vec(), promise)];
    let anywhere: &[At] = &[At::Panes(""), At::Panes("tab"), At::Panes("tab tab")];
    match command {
        Command::Down | Command::PageDown | Command::HalfPageDown | Command::Last => {
            let down: Promise = |before, after, _| position(after) > position(before);
            vec![(TOPS.to_vec(), down)]
        }
        Command::Up | Command::PageUp | Command::HalfPageUp | Command::First => {
            let up: Promise = |before, after, _| position(after) < position(before);
            vec![(ENDS.to_vec(), up)]
        }
        Command::NextPane => vec![
            (vec![At::Panes("")], |_, after, _| {
                after.model.focus == Pane::List
            }),
            (vec![At::Panes("tab")], |_, after, _| {
                after.model.focus == Pane::Details
            }),
            (vec![At::Panes("tab tab")], |_, after, _| {
                after.model.focus == Pane::Servers
            }),
        ],
        Command::PreviousPane => vec![
            (vec![At::Panes("")], |_, after, _| {
                after.model.focus == Pane::Details
            }),
            (vec![At::Panes("tab")], |_, after, _| {
                after.model.focus == Pane::Servers
            }),
            (vec![At::Panes("tab tab")], |_, after, _| {
                after.model.focus == Pane::List
            }),
        ],
        Command::LeftPane => vec![
            (vec![At::Panes("tab")], |_, after, _| {
                after.model.focus == Pane::Servers
            }),
            (vec![At::Panes("tab tab")], |_, after, _| {
                after.model.focus == Pane::List
            }),
            (vec![At::Reader("right")], |_, after, _| part(after) == 0),
        ],
        Command::RightPane => vec![
            (vec![At::Panes("")], |_, after, _| {
                after.model.focus == Pane::List
            }),
            (vec![At::Panes("tab")], |_, after, _| {
                after.model.focus == Pane::Details
            }),
            (vec![At::Reader("")], |_, after, _| part(after) == 1),
        ],
        Command::Resources => all(anywhere, |_, after, _| {
            after.model.tab == Tab::Items(ListMethod::Resources)
        }),
        Command::Templates => all(anywhere, |_, after, _| {
            after.model.tab == Tab::Items(ListMethod::ResourceTemplates)
        }),
        Command::Tools => all(anywhere, |_, after, _| {
            after.model.tab == Tab::Items(ListMethod::Tools)
        }),
        Command::Prompts => all(anywhere, |_, after, _| {
            after.model.tab == Tab::Items(ListMethod::Prompts)
        }),
        Command::Errors => all(anywhere, |_, after, _| after.model.tab == Tab::Errors),
        Command::Events => all(anywhere, |_, after, _| after.model.tab == Tab::Events),
        Command::Stderr => all(anywhere, |_, after, _| after.model.tab == Tab::Stderr),
        Command::Trace => all(anywhere, |_, after, _| after.model.tab == Tab::Trace),
        Command::NextTab => vec![
            (anywhere.to_vec(), |before, after, _| {
                after.model.tab.index() == before.model.tab.index() + 1
            }),
            (vec![At::Reader("")], |_, after, _| part(after) == 1),
        ],
        Command::PreviousTab => vec![
            (vec![At::Panes("2"), At::Panes("tab 2")], |_, after, _| {
                after.model.tab == Tab::Items(ListMethod::Resources)
            }),
            (vec![At::Reader("]")], |_, after, _| part(after) == 0),
        ],
        Command::Open => opens(),
        Command::Back => backs(),
        Command::Filter => vec![
            (anywhere.to_vec(), |_, after, _| {
                matches!(after.model.layers.top(), Some(Layer::Filter(_)))
            }),
            (vec![At::Reader("")], |_, after, _| {
                matches!(after.model.layers.top(), Some(Layer::Search(_)))
            }),
        ],
        Command::Find => all(anywhere, |_, after, effect| {
            matches!(after.model.layers.top(), Some(Layer::Find(_)))
                && matches!(effect, Some(Effect::Ask(_, Ask::Find(_))))
        }),
        Command::Toggle => vec![
            (vec![At::Panes("")], |_, _, effect| {
                matches!(effect, Some(Effect::SetEnabled(_, false)))
            }),
            (vec![At::Panes("j j j j j")], |_, _, effect| {
                matches!(effect, Some(Effect::SetEnabled(_, true)))
            }),
            // In the reader the space bar pages down.
            (vec![At::Reader("")], |before, after, _| {
                position(after) > position(before)
            }),
        ],
        Command::Remove => all(&[At::Panes("")], |_, _, effect| {
            matches!(effect, Some(Effect::AskRemoval(_)))
        }),
        Command::Trust => all(&[At::Panes("j j j j j j")], |_, _, effect| {
            matches!(effect, Some(Effect::AskTrust(_)))
        }),
        Command::LogIn => all(&[At::Panes("j j j j j j j")], |_, after, effect| {
            matches!(after.model.layers.top(), Some(Layer::LogIn(_)))
                && matches!(effect, Some(Effect::LogIn(_)))
        }),
        Command::Edit => all(
            &[At::Panes(""), At::Panes("j j j j j")],
            |_, _, effect| matches!(effect, Some(Effect::Edit(place)) if place.line > 0),
        ),
        Command::Add => all(anywhere, |_, after, _| {
            matches!(after.model.layers.top(), Some(Layer::Add(_)))
        }),
        Command::Import => all(anywhere, |_, after, effect| {
            matches!(after.model.layers.top(), Some(Layer::Import(_)))
                && matches!(effect, Some(Effect::Ask(_, Ask::Scan)))
        }),
        Command::Undo => all(anywhere, |_, _, effect| effect == Some(&Effect::Undo)),
        Command::Sort => all(anywhere, |before, after, _| {
            before.model.servers.sort() == Sort::Config
                && after.model.servers.sort() == Sort::Config.next()
        }),
        Command::Refresh => vec![
            (anywhere.to_vec(), |_, _, effect| {
                matches!(effect, Some(Effect::Refresh(_)))
            }),
            (vec![At::Reader("")], |_, _, effect| {
                matches!(effect, Some(Effect::Ask(_, Ask::Read(..))))
            }),
        ],
        Command::RefreshAll => all(anywhere, |_, _, effect| effect == Some(&Effect::RefreshAll)),
        Command::Reconnect => all(anywhere, |_, _, effect| {
            matches!(effect, Some(Effect::Reconnect(_)))
        }),
        Command::Copy => vec![(
            vec![
                At::Panes(""),
                At::Panes("tab"),
                At::Panes("tab 2"),
                At::Panes("tab 3"),
                At::Panes("tab 4"),
                At::Panes("j j j j tab 5"),
                At::Panes("tab 6"),
                At::Panes("tab 7"),
                At::Panes("tab 8"),
                At::Reader(""),
            ],
            |_, _, effect| matches!(effect, Some(Effect::Copy(text)) if !text.is_empty()),
        )],
        Command::Save => all(&[At::Reader("")], |_, after, _| {
            matches!(after.model.layers.top(), Some(Layer::Save(_)))
        }),
        Command::Follow => all(
            &[
                At::Panes("6 g"),
                At::Panes("tab 6 g"),
                At::Panes("tab 7 g"),
                At::Panes("tab 8 g"),
            ],
            |before, after, _| after.model.list.follows() != before.model.list.follows(),
        ),
        Command::OnlyErrors => all(&[At::Panes("8"), At::Panes("tab 8")], |before, after, _| {
            after.model.list.len() * 2 == before.model.list.len()
        }),
        Command::Fold => all(&[At::Reader("")], |before, after, _| {
            after.text().matches("row ").count() < before.text().matches("row ").count()
        }),
        Command::NextMatch => all(&[At::Reader("/ r o w enter")], |before, after, _| {
            position(after) > position(before)
        }),
        Command::PreviousMatch => all(&[At::Reader("/ r o w enter n n")], |before, after, _| {
            position(after) < position(before)
        }),
        Command::Mouse => all(anywhere, |before, after, effect| {
            after.model.mouse != before.model.mouse && matches!(effect, Some(Effect::Mouse(_)))
        }),
        Command::Help => vec![(everywhere(), |_, after, _| {
            matches!(after.model.layers.top(), Some(Layer::Help(0)))
        })],
        Command::Suspend => vec![(everywhere(), |_, _, effect| {
            effect == Some(&Effect::Suspend)
        })],
        Command::Quit => all(anywhere, |_, _, effect| effect == Some(&Effect::Quit)),
    }
}

/// What Enter opens: of each kind of row, and of each status of a server.
fn opens() -> Vec<(Vec<At>, Promise)> {
    let form = vec![
        At::Panes("tab 2"),
        At::Panes("tab 4"),
        At::Panes("tab tab 2"),
    ];
    let in_full = vec![
        At::Panes("tab 3"),
        At::Panes("j j j j tab 5"),
        At::Panes("tab 7"),
        At::Panes("tab 8"),
    ];
    vec![
        (vec![At::Panes("")], |_, after, _| {
            after.model.focus == Pane::List
        }),
        (
            vec![At::Panes("j j j"), At::Panes("j j j j")],
            |_, after, _| (after.model.focus, after.model.tab) == (Pane::List, Tab::Errors),
        ),
        (vec![At::Panes("j j j j j")], |_, after, _| {
            let top = after.model.layers.top();
            matches!(top, Some(Layer::Question(Question::Enable(_))))
        }),
        (vec![At::Panes("j j j j j j")], |_, _, effect| {
            matches!(effect, Some(Effect::AskTrust(_)))
        }),
        (vec![At::Panes("j j j j j j j")], |_, _, effect| {
            matches!(effect, Some(Effect::LogIn(_)))
        }),
        (
            vec![At::Panes("tab"), At::Panes("tab tab")],
            |_, after, effect| {
                matches!(after.model.layers.top(), Some(Layer::Reader(_)))
                    && matches!(effect, Some(Effect::Ask(_, Ask::Read(..))))
            },
        ),
        (form, |_, after, _| {
            matches!(after.model.layers.top(), Some(Layer::Form(_)))
        }),
        (
            in_full,
            |_, after, _| matches!(after.model.layers.top(), Some(Layer::Reader(reader)) if reader.shown().is_some()),
        ),
        (vec![At::Panes("j j tab 6 g")], |_, after, _| {
            after.model.focus == Pane::Servers
        }),
    ]
}

/// What Esc leaves: one thing at a time.
fn backs() -> Vec<(Vec<At>, Promise)> {
    vec![
        (vec![At::Panes("tab")], |_, after, _| {
            after.model.focus == Pane::Servers
        }),
        (vec![At::Panes("tab tab")], |_, after, _| {
            after.model.focus == Pane::List
        }),
        (vec![At::Panes("tab / 3 enter")], |before, after, _| {
            after.model.focus == Pane::List && after.model.list.len() > before.model.list.len()
        }),
        (vec![At::Panes("/ s q l enter")], |before, after, _| {
            after.model.servers.len() > before.model.servers.len()
        }),
        (
            vec![
                At::Reader(""),
                At::Help(""),
                At::Panes("/"),
                At::Panes("f"),
                At::Panes("i"),
                At::Panes("tab 2 enter"),
            ],
            |_, after, _| after.model.layers.is_empty(),
        ),
        (vec![At::Reader("/ r o w enter")], |_, after, _| {
            matches!(after.model.layers.top(), Some(Layer::Reader(reader))
                if reader.shown().unwrap().search.needle.is_empty())
        }),
    ]
}

fn everywhere() -> Vec<At> {
    vec![
        At::Panes(""),
        At::Panes("tab"),
        At::Panes("tab tab"),
        At::Reader(""),
    ]
}

#[test]
fn every_key_does_what_the_help_says() {
    let mut pressed = 0;
    for binding in TABLE {
        for (places, promise) in promises(binding.command) {
            for at in places {
                let before = deck(at);
                for key in before.keys_of(binding.command) {
                    let mut after = deck(at);
                    let effect = after.press(&key);
                    assert!(
                        promise(&before, &after, effect.as_ref()),
                        "{key} ({}) at {at:?} asks for {effect:?}, and shows\n{}",
                        binding.help,
                        after.text()
                    );
                    pressed += 1;
                }
            }
        }
    }
    assert!(pressed > 2 * TABLE.len(), "{pressed} keys were pressed");
}

#[test]
fn keys_of_servers_say_where_they_work_elsewhere() {
    for binding in TABLE.iter().filter(|it| it.scope == Scope::Servers) {
        if binding.command == Command::Sort {
            continue;
        }
        for at in [At::Panes("tab"), At::Panes("tab tab")] {
            let mut deck = deck(at);
            let key = deck.keys_of(binding.command).remove(0);
            assert_eq!(deck.press(&key), None, "{key} at {at:?}");
            assert!(
                deck.text().contains("go to Servers first"),
                "{key} at {at:?}"
            );
        }
    }
}

/// Whatever is selected, no key that the footer names answers that it cannot, or does nothing.
#[test]
fn what_the_footer_offers_is_done() {
    let mut offered = 0;
    let servers = state().servers.len();
    for server in 0..servers {
        for tab in 1..=8 {
            for panes in ["", " tab", " tab tab"] {
                let keys = format!("{}{tab}{panes}", "j ".repeat(server));
                let at = |keys: &str| {
                    let mut deck = Deck::new(WINDOW, state());
                    deck.press(keys);
                    logs(&mut deck);
                    deck
                };
                let before = at(&keys);
                for command in commands(&before.model, &before.state) {
                    let mut after = at(&keys);
                    let key = match command {
                        // It is named together with its opposite: `Up/Down`.
                        Command::Up => after.keys_of(Command::Down).remove(0),
                        _ => after.keys_of(command).remove(0),
                    };
                    let effect = after.press(&key);
                    let place = format!("{key} ({command:?}) after {keys:?}\n{}", after.text());
                    let refused = after.model.notice.as_ref().is_some_and(|it| it.bad);
                    assert!(!refused, "refused: {place}");
                    let changed = effect.is_some() || after.draw() != before.draw();
                    assert!(changed, "nothing happens: {place}");
                    offered += 1;
                }
            }
        }
    }
    assert!(offered > servers * 8 * 3 * 3, "{offered} keys were offered");
}

/// The help screen names every key of the table, on one line with what it does.
#[test]
fn the_help_screen_names_every_key() {
    let rows = u16::try_from(HELP_LINES).unwrap() + 6;
    let mut deck = Deck::new((110, rows), state());
    deck.press("?");
    let text = deck.text();
    for binding in TABLE {
        let keys = deck.keys_of(binding.command);
        let named = text
            .lines()
            .any(|line| line.contains(binding.help) && keys.iter().all(|key| line.contains(key)));
        assert!(named, "{} is not in\n{text}", binding.name);
    }
    for (letter, _, help) in CHOICES {
        let is_named = |line: &str| line.contains(&format!("{letter}  ")) && line.contains(help);
        assert!(text.lines().any(is_named), "{help} is not in\n{text}");
    }
}

/// A question is answered by `y` alone, and every other key of the table leaves all as it was.
#[test]
fn in_a_question_every_key_but_y_is_no() {
    for binding in TABLE {
        for key in Deck::new(WINDOW, state()).keys_of(binding.command) {
            if matches!(key.as_str(), "y" | "Ctrl-C" | "Ctrl-Z") {
                continue;
            }
            let mut deck = Deck::new(WINDOW, state());
            let name = make::name("everything");
            deck.act(Action::Place(name, Place::default()));
            assert!(deck.model.layers.top().is_some());
            assert_eq!(deck.press(&key), None, "{key}");
            assert!(deck.model.layers.is_empty(), "{key}");
        }
    }
}

/// In a text field every printable key of the table is text.
#[test]
fn in_a_text_field_printable_keys_are_text() {
    for open in ["/", "f", "tab 2 enter"] {
        for binding in TABLE {
            for key in Deck::new(WINDOW, state()).keys_of(binding.command) {
                if key.chars().count() > 1 {
                    continue;
                }
                let mut deck = Deck::new(WINDOW, state());
                deck.press(open);
                let layers = std::mem::discriminant(deck.model.layers.top().unwrap());
                deck.press(&key);
                let top = deck.model.layers.top().map(std::mem::discriminant);
                assert_eq!(top, Some(layers), "{key} in {open}");
                let footer = deck.text();
                assert!(footer.contains(&key), "{key} in {open}");
            }
        }
    }
}
