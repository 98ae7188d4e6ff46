//! Every screen in its states, as text, at a small, a usual and a large window; and what the text
//! does not show: colours.

use std::fmt::Write as _;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::app::Place;
use crate::app::login::{Page, Progress};
use crate::app::manager::Findings;
use crate::domain::{AppState, Failure, FailureKind, Status, text};
use crate::mcp::LineKind;
use crate::tui::action::{Action, Effect, Notice};
use crate::tui::ask::{Answer, Ask};
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::import::fixture as foreign;
use crate::tui::import::listing::Listing;
use crate::tui::lines::StderrLine;

/// Compares the screen at four sizes with the snapshot of the name.
pub fn check(name: &str, state: &AppState, prepare: impl Fn(&mut Deck)) {
    check_at(
        &[(40, 10), (80, 24), (120, 40), (200, 60)],
        name,
        state,
        prepare,
    );
}

/// As [`check`], at these sizes.
pub fn check_at(sizes: &[(u16, u16)], name: &str, state: &AppState, prepare: impl Fn(&mut Deck)) {
    let mut screens = String::new();
    for size in sizes {
        let mut deck = Deck::new(*size, state.clone());
        prepare(&mut deck);
        writeln!(screens, "{}x{}\n{}\n", size.0, size.1, deck.text()).unwrap();
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, screens);
    });
}

#[test]
fn no_server() {
    check("no_server", &AppState::default(), |_| {});
}

#[test]
fn connecting() {
    let servers = ["everything", "filesystem"].map(|name| make::server(name, Status::Connecting));
    let state = make::with_events(servers.into());
    check("connecting", &state, |deck| {
        deck.state.events = std::sync::Arc::default();
        deck.press("enter");
    });
}

#[test]
fn servers() {
    check("servers", &make::full(), |_| {});
}

#[test]
fn log_in() {
    let state = make::with_events(vec![make::needs_auth()]);
    check("needs_auth", &state, |_| {});
    let page = Page {
        url: "https://login.example.org/authorize?response_type=code&client_id=mcpdeck&state=q1w2e3r4t5z6&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A41999%2Fcallback&scope=read&resource=https%3A%2F%2Fcalendar.example.org%2Fmcp".into(),
        redirect: "http://127.0.0.1:41999/callback".into(),
        opened: false,
    };
    check("log_in", &state, |deck| {
        deck.press("L");
        deck.act(Action::LogIn(Progress::Page(page.clone())));
        deck.press("h t t p :");
        deck.act(Action::LogIn(Progress::Foreign));
    });
    check("log_in_failed", &state, |deck| {
        deck.press("enter");
        let why = Failure::new(FailureKind::Auth, "the log-in was refused (access_denied)");
        deck.act(Action::LoggedIn(Err(why)));
    });
}

#[test]
fn demo() {
    check("demo", &make::with_events(vec![make::demo()]), |deck| {
        deck.model.demo = true;
        deck.act(Action::State);
    });
}

#[test]
fn welcome() {
    let check = |name: &str, found: Option<Findings>| {
        check(name, &make::with_events(vec![make::demo()]), |deck| {
            deck.model.demo = true;
            let effect = deck.act(Action::Welcome);
            let Some(Effect::Ask(ticket, Ask::Scan)) = effect else {
                panic!("nothing is looked for: {effect:?}");
            };
            if let Some(found) = found.clone() {
                let found = Ok(std::sync::Arc::new(Listing::new(found)));
                deck.act(Action::Answered(ticket, Answer::Scanned(found)));
            }
        });
    };
    check("welcome", None);
    check("welcome_found", Some(foreign::full()));
    check("welcome_nothing", Some(foreign::findings(Vec::new())));
}

#[test]
fn resources() {
    check("resources", &make::full(), |deck| {
        deck.press("enter down down");
    });
}

#[test]
fn find() {
    check("find", &make::full(), |deck| {
        let effect = deck.press("f");
        deck.answer(effect);
    });
    check("find_hits", &make::full(), |deck| {
        let effect = deck.press("ctrl-f s t a t i c");
        deck.answer(effect);
        deck.press("down");
    });
    check("find_nothing", &make::full(), |deck| {
        let effect = deck.press("f x y z z y");
        deck.answer(effect);
    });
    check("finding", &make::full(), |deck| {
        deck.press("f e v");
    });
}

#[test]
fn templates() {
    check("templates", &make::full(), |deck| {
        deck.press("2 tab");
    });
}

#[test]
fn tools() {
    check("tools", &make::full(), |deck| {
        deck.press("3 enter");
    });
}

#[test]
fn prompts() {
    check("prompts", &make::full(), |deck| {
        deck.press("4 tab");
    });
}

#[test]
fn details() {
    check("details", &make::full(), |deck| {
        deck.press("3 enter enter");
    });
}

#[test]
fn not_declared() {
    check("not_declared", &make::full(), |deck| {
        deck.press("down 1 tab");
    });
}

#[test]
fn empty() {
    check("empty", &make::with_events(vec![make::empty()]), |deck| {
        deck.press("enter 2");
    });
}

#[test]
fn old() {
    check(
        "old",
        &make::with_events(vec![make::old(), make::files()]),
        |deck| {
            deck.press("enter");
        },
    );
}

#[test]
fn errors() {
    check(
        "errors",
        &make::with_events(vec![make::old(), make::files()]),
        |deck| {
            deck.press("enter 5");
        },
    );
}

#[test]
fn failed() {
    check(
        "failed",
        &make::with_events(vec![make::failed(), make::files()]),
        |deck| {
            deck.press("enter");
            deck.act(Action::Lines(make::name("sqlite"), stderr()));
        },
    );
}

#[test]
fn failed_server() {
    check(
        "failed_server",
        &make::with_events(vec![make::failed()]),
        |_| {},
    );
}

#[test]
fn reconnecting() {
    check(
        "reconnecting",
        &make::with_events(vec![make::reconnecting()]),
        |deck| {
            deck.press("tab");
        },
    );
}

#[test]
fn disabled() {
    let state = make::with_events(vec![make::server("notes", Status::Disabled)]);
    check("disabled", &state, |deck| {
        deck.press("tab");
    });
}

#[test]
fn enable() {
    let state = make::with_events(vec![make::server("notes", Status::Disabled)]);
    check("enable", &state, |deck| {
        deck.press("enter");
    });
}

#[test]
fn untrusted() {
    let state = make::with_events(vec![make::server("project", Status::Untrusted)]);
    check("untrusted", &state, |deck| {
        deck.press("tab");
    });
}

#[test]
fn trust() {
    let state = make::with_events(vec![make::server("project", Status::Untrusted)]);
    check("trust", &state, |deck| {
        let lines = [
            "runs: npx -y @example/server --root /home/ada/notes --token ***",
            "env: MODE=fast",
            "from: /home/ada/notes/.mcp.json:3",
        ];
        let lines = lines.map(Into::into).to_vec();
        deck.act(Action::Described(make::name("project"), lines));
    });
}

#[test]
fn events() {
    check("events", &make::full(), |deck| {
        deck.press("tab 6");
    });
}

#[test]
fn stderr_lines() {
    check("stderr", &make::with_events(vec![make::failed()]), |deck| {
        deck.press("tab 7");
        deck.act(Action::Lines(make::name("sqlite"), stderr()));
    });
}

#[test]
fn filter() {
    check("filter", &make::full(), |deck| {
        deck.press("enter / s t a t i c space 2");
    });
}

#[test]
fn filter_kept() {
    check("filter_kept", &make::full(), |deck| {
        deck.press("enter / s t a t i c enter");
    });
}

#[test]
fn filter_without_match() {
    check("filter_without_match", &make::full(), |deck| {
        deck.press("enter / x y z enter");
    });
}

#[test]
fn servers_filtered_and_sorted() {
    check("servers_filtered_and_sorted", &make::full(), |deck| {
        deck.press("s / e d enter s");
    });
}

#[test]
fn question() {
    check("question", &make::full(), |deck| {
        deck.press("down");
        let place = Place {
            file: Some(Path::new("/home/ada/.config/mcpdeck/config.toml").into()),
            uncovers: Some(Path::new("./.mcp.json").into()),
        };
        deck.act(Action::Place(make::name("filesystem"), place));
    });
}

#[test]
fn help() {
    check("help", &make::full(), |deck| {
        deck.press("?");
    });
}

#[test]
fn notice() {
    check("notice", &make::full(), |deck| {
        deck.act(Action::Notice(Notice::good(
            "removed sqlite from ~/.config/mcpdeck/config.toml; u brings it back",
        )));
    });
}

#[test]
fn too_small() {
    let deck = Deck::new((20, 5), make::full());
    assert_eq!(deck.text(), "window too small:\n30x7 needed\n\n\n");
}

#[test]
fn only_ascii() {
    let mut deck = Deck::new((120, 40), make::full());
    deck.theme.ascii = true;
    for keys in ["", "enter", "tab", "?", "esc 6"] {
        deck.press(keys);
        let text = deck.text();
        assert!(text.is_ascii(), "{text}");
    }
    let mut small = Deck::new((80, 24), make::full());
    small.theme = deck.theme;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("ascii", small.text());
    });
}

/// No size panics, whatever is open.
#[test]
fn every_size_is_drawn() {
    for columns in [1, 29, 30, 43, 79, 80, 131] {
        for rows in (1..50).step_by(4) {
            let mut deck = Deck::new((columns, rows), make::full());
            for keys in ["", "tab", "tab", "/ a", "enter ? G", "esc 5 esc 6 tab 7"] {
                deck.press(keys);
                deck.draw();
            }
            deck.act(Action::Place(make::name("filesystem"), Place::default()));
            deck.draw();
        }
    }
}

/// What servers and logs write reaches the screen only as printable text, wherever it stands.
#[test]
fn nothing_hostile_is_drawn() {
    let evil = "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{202e}d\u{200b}e\u{e0041}\u{9b}31m\r\nf";
    let mut server = make::everything();
    let mut catalog = crate::domain::Catalog::clone(&server.catalog);
    let mut resource = make::resource(evil, evil);
    resource.description = Some(evil.into());
    resource.mime_type = Some(evil.into());
    catalog.resources = make::listed(vec![resource]);
    catalog.templates = make::listed(vec![make::template(evil, evil)]);
    catalog.tools = make::listed(vec![make::tool(evil, evil)]);
    catalog.prompts = make::listed(vec![make::prompt(evil)]);
    catalog.prompts.notes = std::sync::Arc::new([evil.into()]);
    server.catalog = std::sync::Arc::new(catalog);
    server.target = evil.into();
    let mut failed = make::server("x", Status::Failed(make::failure(evil)));
    failed.stderr_lines = 1;
    failed.errors = std::sync::Arc::new([]);
    let mut state = make::with_events(vec![server, failed]);
    std::sync::Arc::make_mut(&mut state.events).push_back(std::sync::Arc::new(
        crate::domain::Event {
            seq: 9,
            at: make::wall(),
            server: None,
            kind: crate::domain::EventKind::Note(evil.into()),
        },
    ));
    for size in [(40, 12), (120, 40)] {
        let mut deck = Deck::new(size, state.clone());
        for keys in [
            "",
            "tab",
            "tab",
            "esc 2",
            "tab",
            "esc 3",
            "tab",
            "esc 4",
            "tab",
            "esc 5",
            "tab",
            "esc 6",
            "tab",
            "esc esc down 7",
            "y",
        ] {
            deck.press(keys);
            let line = StderrLine {
                number: 1,
                change: 1,
                kind: LineKind::Stderr,
                text: evil.into(),
            };
            deck.act(Action::Lines(make::name("x"), vec![line]));
            for cell in &deck.draw().content {
                let symbol = cell.symbol();
                assert!(
                    !symbol.contains(char::is_control) && text::visible(symbol) == symbol,
                    "{symbol:?} after {keys}"
                );
            }
        }
    }
}

#[test]
fn colours_mark_what_matters() {
    let mut deck = Deck::new((120, 40), make::full());
    let theme = deck.theme;
    let buffer = deck.draw();
    let style = |buffer: &Buffer, needle: &str| style_of(buffer, needle);
    // The selected server, and frames with and without the focus.
    assert_eq!(style(&buffer, "● everything").bg, theme.selected.bg);
    assert_eq!(buffer[(0, 1)].fg, Color::Indexed(6));
    assert_eq!(buffer[(119, 1)].fg, Color::Indexed(240));
    // Statuses.
    assert_eq!(style(&buffer, "reconnecting").fg, theme.warn.fg);
    assert_eq!(style(&buffer, "✗").fg, theme.bad.fg);
    assert_eq!(style(&buffer, "○").fg, theme.dim.fg);
    // The open tab.
    let open = style(&buffer, "Resources 7");
    assert!(
        open.add_modifier
            .contains(Modifier::BOLD | Modifier::UNDERLINED)
    );

    deck.press("enter");
    let buffer = deck.draw();
    assert_eq!(style(&buffer, "● everything").bg, theme.selected_dim.bg);
    assert_eq!(
        style(&buffer, "demo://resource/static/1").bg,
        theme.selected.bg
    );
    assert_eq!(buffer[(119, 1)].fg, Color::Indexed(6));
}

/// The style of the first cell of the text.
fn style_of(buffer: &Buffer, needle: &str) -> Style {
    let area = buffer.area;
    for y in 0..area.height {
        for x in 0..area.width {
            let text: String = (x..area.width).map(|x| buffer[(x, y)].symbol()).collect();
            if text.starts_with(needle) {
                return buffer[(x, y)].style();
            }
        }
    }
    panic!("{needle} is not on screen");
}

/// What a server wrote while it failed.
fn stderr() -> Vec<StderrLine> {
    [
        (1, LineKind::Stderr, "Starting server ..."),
        (2, LineKind::Log, "warning: the cache is cold"),
        (
            3,
            LineKind::Stderr,
            "sqlite3.OperationalError: unable to open database file",
        ),
    ]
    .into_iter()
    .map(|(number, kind, text)| StderrLine {
        number,
        change: number,
        kind,
        text: text.into(),
    })
    .collect()
}
