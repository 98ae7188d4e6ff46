//! What a person opens the deck for, with the keys that it takes: none needs more than eight beside
//! the text that is typed.

use super::Terminal;
use crate::support::fleet::fleet;
use crate::support::program::Home;

/// How many keys a task may take.
const MOST: usize = 8;

/// What a person does, step by step.
enum Step {
    /// Presses one key.
    Key(&'static str),
    /// Types a text, which does not count.
    Text(&'static str),
    /// Sees all of these.
    Sees(&'static [&'static str]),
    /// Sees all of these on one line.
    Line(&'static [&'static str]),
    /// No longer sees this.
    Gone(&'static str),
}

use Step::{Gone, Key, Line, Sees, Text};

const ENTER: &str = "\r";
const ESC: &str = "\x1b";
const TAB: &str = "\t";

/// A deck over the fleet, as soon as every server is where it ends up.
fn deck() -> (Home, Terminal) {
    let home = Home::new();
    fleet(&home);
    let deck = Terminal::deck(&home, &[]);
    deck.shows(&[
        "8 servers: 4 connected, 1 needs-auth, 2 failed, 1 disabled",
        "demo://resource/report/april",
    ]);
    (home, deck)
}

/// Does it all, and says how the home is afterwards.
fn task(steps: &[Step]) -> Home {
    let keys = steps.iter().filter(|step| matches!(step, Key(_))).count();
    assert!(keys <= MOST, "it takes {keys} keys");
    let (home, mut deck) = deck();
    for step in steps {
        match step {
            Key(keys) | Text(keys) => deck.press(keys),
            Sees(texts) => deck.shows(texts),
            Line(texts) => deck.line_with(texts),
            Gone(text) => deck.hides(text),
        }
    }
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
    home
}

#[test]
fn find_the_failing_server_and_why() {
    // Its name, and most of the reason, stand in the list from the start; sorted by status those
    // that need somebody come first.
    task(&[
        Line(&["sqlite", "failed"]),
        Sees(&["exit 1: sqlite3.Operational"]),
        Key("s"),
        Key("g"),
        Key(ENTER),
        Sees(&["Errors 1", "unable to open database file"]),
    ]);
}

#[test]
fn see_what_changed() {
    task(&[
        Line(&["+", "demo://resource/report/april"]),
        Line(&["~", "demo://resource/tides"]),
        Key("6"),
        Sees(&["list_changed", "resources +1 ~1"]),
    ]);
}

#[test]
fn switch_one_off() {
    let home = task(&[
        Key("j"),
        Line(&["▌", "filesystem", "connected"]),
        Key(" "),
        Line(&["filesystem", "disabled"]),
    ]);
    let file = home.read(super::FILE);
    let table = file
        .split("[servers.")
        .find(|table| table.starts_with("filesystem]"));
    assert!(table.unwrap().contains("enabled = false"), "{file}");
}

#[test]
fn remove_one_and_take_it_back() {
    let home = task(&[
        Key("j"),
        Key("D"),
        Sees(&["filesystem", "config.toml"]),
        Key("y"),
        Sees(&["7 servers"]),
        Key("u"),
        Sees(&["8 servers"]),
        Line(&["filesystem", "connected"]),
    ]);
    assert!(home.read(super::FILE).contains("[servers.filesystem]"));
}

#[test]
fn read_a_resource() {
    task(&[
        Key(ENTER),
        Key("G"),
        Key(ENTER),
        Sees(&["Harbour report", "Ships in port", "Yokohama"]),
        Key(ESC),
        Gone("Yokohama"),
    ]);
}

#[test]
fn fill_a_template() {
    task(&[
        Key("2"),
        Key(ENTER),
        Key(ENTER),
        Sees(&["demo://ships/{port}/{name}", "required"]),
        Text("Hamburg"),
        Key(TAB),
        Text("Ada"),
        Sees(&["demo://ships/Hamburg/Ada"]),
        Key(ENTER),
        Sees(&["Harbour report"]),
    ]);
}

#[test]
fn find_a_thing_by_its_name() {
    task(&[
        Key("f"),
        Text("search_nodes"),
        Line(&["tool", "search_nodes", "memory"]),
        Key(ENTER),
        Line(&["▌", "search_nodes"]),
        Sees(&["Tools 9"]),
    ]);
}

#[test]
fn add_a_server() {
    let home = task(&[
        Key("a"),
        Sees(&["Add a server", "Enter test and save"]),
        Text("npx -y @modelcontextprotocol/server-memory"),
        Line(&["Name", "memory-2", "proposed"]),
        Key(ENTER),
        Sees(&["added memory-2: ", "9 servers"]),
        Line(&["▌", "memory-2", "connected"]),
    ]);
    assert!(home.read(super::FILE).contains("[servers.memory-2]"));
}

#[test]
fn leave() {
    let (home, mut deck) = deck();
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}
