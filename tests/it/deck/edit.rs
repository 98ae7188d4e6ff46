//! The person's own editor on the deck's terminal: it gets the keys, and the deck gets the terminal
//! back whatever becomes of the editor.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use portable_pty::CommandBuilder;

use super::{FILE, Home, Terminal, home};
use crate::support::program::until;

/// A deck whose `$EDITOR` is this line, and on Servers.
fn deck(home: &Home, editor: &str) -> Terminal {
    let program = home.program(&[]);
    let command = CommandBuilder::new(program.get_program());
    let deck = Terminal::start(home, command, &[("EDITOR", editor)]);
    deck.line_with(&["notes", "connected"]);
    deck.shows(&["2 servers: 1 connected, 1 failed"]);
    deck
}

/// An editor of this name that does this.
fn editor(home: &Home, name: &str, script: &str) -> String {
    home.write(name, &format!("#!/bin/sh\n{script}\n"));
    let path = home.path(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn starts(home: &Home) -> usize {
    let asked = home.asked("notes");
    let hellos = asked.iter().filter(|method| *method == "server/discover");
    hellos.count()
}

fn end(home: &Home, deck: &mut Terminal) {
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn what_is_changed_at_the_entry_takes_effect() {
    let home = home();
    let script = r#"printf '%s\n' "$@" > "$HOME/arguments"
sed 's/^\[servers.notes\]$/&\nenv = { A = "b" }/' "$2" > "$HOME/new" && mv "$HOME/new" "$2""#;
    let vi = editor(&home, "vi", script);
    let mut deck = deck(&home, &vi);
    deck.press("6e");
    deck.shows(&["config reloaded: changed notes"]);
    until("it is started again", || starts(&home) == 2);
    deck.line_with(&["notes", "connected"]);
    let file = home.path(FILE);
    let arguments = format!("+3\n{}\n", file.display());
    assert_eq!(home.read("arguments"), arguments);
    assert!(home.read(FILE).contains("env = { A = \"b\" }"));
    // The same for a server that failed.
    deck.press("j");
    deck.shows(&["the disk is on fire", "e edit", "config.toml:8"]);
    deck.press("e");
    until("at its line", || home.read("arguments").starts_with("+8\n"));
    end(&home, &mut deck);
}

#[test]
fn the_editor_gets_the_keys_and_a_broken_file_changes_nothing() {
    let home = home();
    let script = r#"printf 'type here: '; read -r line; printf %s "$line" > "$HOME/typed"
echo '[servers' >> "$1""#;
    let script = editor(&home, "my editor", script);
    let mut deck = deck(&home, &format!("'{script}'"));
    let before = home.read(FILE);
    deck.press("e");
    deck.shows(&["type here: "]);
    deck.hides("Servers");
    deck.assert_cooked();
    deck.press("Dy q\tjj /x");
    deck.shows(&["type here: Dy q"]);
    deck.press("\r");
    deck.shows(&["Servers", "config kept as it was"]);
    assert_eq!(home.read("typed"), "Dy q\tjj /x");
    // None of them was for the deck.
    deck.line_with(&["▌", "notes", "connected"]);
    deck.hides("Remove");
    assert_eq!(home.read(FILE), format!("{before}[servers\n"));
    assert_eq!(starts(&home), 1);
    // And these are.
    deck.press("j");
    deck.line_with(&["▌", "broken", "failed"]);
    end(&home, &mut deck);
}

#[test]
fn an_interrupt_in_the_editor_is_the_editors() {
    let home = home();
    let script =
        "echo x >> \"$HOME/rounds\"; wc -l < \"$HOME/rounds\" | tr -d ' ' | sed 's/.*/round &:/'
read -r line";
    let script = editor(&home, "editor", script);
    let mut deck = deck(&home, &script);
    // Ctrl-C, Ctrl-C and Ctrl-\.
    for (round, key) in (1..).zip(["\x03", "\x03", "\x1c"]) {
        deck.press("e");
        deck.shows(&[&format!("round {round}:")]);
        deck.press(key);
        deck.shows(&["Servers", "did not end well"]);
        deck.press("x");
        deck.hides("did not end well");
    }
    deck.line_with(&["notes", "connected"]);
    assert_eq!(starts(&home), 1);
    end(&home, &mut deck);
}

#[test]
fn a_deck_that_is_ended_ends_the_editor_and_its_servers() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let home = home();
        let script = "stty raw -echo; printf 'here I am'; echo $$ > \"$HOME/pid\"; \
                      while :; do sleep 1; done";
        let script = editor(&home, "editor", script);
        let mut deck = deck(&home, &script);
        deck.press("e");
        deck.shows(&["here I am"]);
        until("it is there", || home.read("pid").ends_with('\n'));
        deck.signal(signal);
        assert_eq!(deck.code(), code, "{signal}");
        deck.assert_sane();
        home.assert_nothing_left();
        let pid = home.read("pid");
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{signal}");
    }
}

#[test]
fn an_editor_that_fails_is_told() {
    let home = home();
    let check = |editor: &str, expected: &[&str]| {
        let mut deck = deck(&home, editor);
        deck.press("e");
        deck.shows(expected);
        deck.line_with(&["▌", "notes", "connected"]);
        end(&home, &mut deck);
    };
    check(
        "no-such-editor",
        &["could not start no-such-editor: no such file", "$EDITOR"],
    );
    check("false", &["false did not end well: exit status: 1"]);
    check("vi '", &["$EDITOR is no command line"]);
}

/// The demo stands in no file.
#[test]
fn what_is_in_no_file_cannot_be_edited() {
    let home = Home::new();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["demo", "connected"]);
    deck.press("e");
    deck.shows(&["demo is written in no file"]);
    end(&home, &mut deck);
}
