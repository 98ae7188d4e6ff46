//! The order of the servers in the deck: sorted as a person wants it, and kept by what is taken
//! back.

use super::{FILE, Home, Terminal, healthy};
use crate::support::program::{shell, until};

/// A home whose servers are in no order but that of the file: one is off, one fails.
fn home() -> Home {
    let home = Home::new();
    let off = format!("{}enabled = false\n", home.table("off", &healthy()));
    home.configure(&[
        "# My servers.\n",
        &home.table("notes", &healthy()),
        &off,
        &shell("broken", "exit 7"),
        &home.table("files", &healthy()),
    ]);
    home
}

const NAMES: [&str; 4] = ["notes", "off", "broken", "files"];

/// The deck once all of them have settled.
fn opened(home: &Home) -> Terminal {
    let deck = Terminal::deck(home, &[]);
    deck.shows(&["4 servers: 2 connected, 1 failed, 1 disabled"]);
    deck
}

/// Waits until the Servers pane has these names, from above.
fn lists(deck: &Terminal, expected: &[&str]) {
    deck.wait(&format!("servers in the order {expected:?}"), |screen| {
        let contents = screen.contents();
        // The pane is on the left; a server's name stands before its status.
        let left = |line: &str| line.chars().take(34).collect::<String>();
        let rows = contents.lines().map(left);
        let found = rows.filter_map(|row| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let name = NAMES.into_iter().find(|name| words.contains(name))?;
            let statuses = ["connected", "connecting", "failed", "disabled"];
            statuses
                .iter()
                .any(|status| words.contains(status))
                .then_some(name)
        });
        found.eq(expected.iter().copied())
    });
}

fn remove(deck: &mut Terminal, name: &str) {
    deck.line_with(&["▌", name]);
    deck.press("D");
    deck.shows(&[&format!("Remove {name} from")]);
    deck.press("y");
    deck.shows(&[&format!("removed {name}")]);
}

fn end(home: &Home, mut deck: Terminal) {
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn s_sorts_by_status_by_name_and_as_in_the_file_and_the_selection_stays() {
    let home = home();
    let before = home.read(FILE);
    let mut deck = opened(&home);
    lists(&deck, &["notes", "off", "broken", "files"]);
    deck.press("jjj");
    deck.line_with(&["▌", "files", "connected"]);
    for (told, order) in [
        // What needs a person first, what is off last.
        ("sorted by status", ["broken", "notes", "files", "off"]),
        ("sorted by name", ["broken", "files", "notes", "off"]),
        (
            "sorted by config order",
            ["notes", "off", "broken", "files"],
        ),
    ] {
        deck.press("s");
        deck.shows(&[told]);
        lists(&deck, &order);
        deck.line_with(&["▌", "files", "connected"]);
    }
    assert_eq!(home.read(FILE), before, "sorting is for the eye alone");
    end(&home, deck);
}

#[test]
fn u_takes_removals_back_last_first_each_at_its_old_place() {
    let home = home();
    let before = home.read(FILE);
    let mut deck = opened(&home);
    remove(&mut deck, "notes");
    lists(&deck, &["off", "broken", "files"]);
    deck.press("j");
    remove(&mut deck, "broken");
    lists(&deck, &["off", "files"]);
    let between = home.read(FILE);
    assert!(!between.contains("notes") && !between.contains("broken"));
    deck.press("u");
    deck.shows(&["broken is back in", FILE]);
    lists(&deck, &["off", "broken", "files"]);
    deck.press("u");
    deck.shows(&["notes is back in", FILE]);
    lists(&deck, &["notes", "off", "broken", "files"]);
    deck.line_with(&["notes", "connected"]);
    assert_eq!(home.read(FILE), before);
    deck.press("u");
    deck.shows(&["nothing to undo"]);
    end(&home, deck);
}

#[test]
fn u_takes_nothing_back_where_the_name_is_there_again() {
    let home = home();
    let mut deck = opened(&home);
    remove(&mut deck, "notes");
    until("it is gone from the file", || {
        !home.read(FILE).contains("notes")
    });
    let another = home.fake("another", &healthy());
    let again = crate::support::program::table("notes", &another);
    let file = format!("{}\n{again}", home.read(FILE));
    home.write(FILE, &file);
    lists(&deck, &["off", "broken", "files", "notes"]);
    deck.press("u");
    deck.shows(&["notes is there again, so nothing was undone"]);
    lists(&deck, &["off", "broken", "files", "notes"]);
    assert_eq!(home.read(FILE), file);
    end(&home, deck);
}
