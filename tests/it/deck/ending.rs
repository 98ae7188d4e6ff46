//! How the deck ends while something still takes time: a file that somebody else has locked, a
//! server that does not want to end.

use std::fs::File;

use portable_pty::CommandBuilder;

use super::{FILE, Terminal, home};
use crate::support::program::{Home, shell, until};

/// Tells when it runs, and when it is asked to end, which it does not.
const STUBBORN: &str = "trap 'echo asked > asked' TERM; echo up > up; while :; do sleep 600; done";

/// Keeps every mcpdeck of the home from editing files while it is held.
fn lock(home: &Home) -> File {
    home.write(".local/state/mcpdeck/config.lock", "");
    let file = File::options()
        .write(true)
        .open(home.path(".local/state/mcpdeck/config.lock"))
        .unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn what_was_changed_is_written_before_the_end() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    let locked = lock(&home);
    deck.press(" ");
    deck.line_with(&["notes", "disabled"]);
    deck.press("q");
    deck.wait("the terminal is given back", |screen| {
        !screen.alternate_screen()
    });
    assert!(!home.read(FILE).contains("enabled"));
    drop(locked);
    assert_eq!(deck.code(), 0);
    assert!(home.read(FILE).contains("enabled = false"));
}

#[test]
fn a_removal_is_taken_back_though_it_is_still_being_written() {
    let home = home();
    let file = home.read(FILE);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    let locked = lock(&home);
    deck.press("D");
    deck.shows(&["Remove notes from"]);
    deck.press("y");
    deck.shows(&["1 server: 1 failed"]);
    deck.press("us");
    // The key behind it is obeyed, so it was too.
    deck.shows(&["sorted by"]);
    drop(locked);
    deck.shows(&["notes is back"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    assert_eq!(home.read(FILE), file);
}

/// Ctrl-C is a signal again as soon as the terminal is given back.
#[test]
fn a_second_interrupt_waits_for_no_server() {
    let home = Home::new();
    home.configure(&[&shell("stubborn", STUBBORN)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["stubborn", "connecting"]);
    until("it runs", || home.path("work/up").exists());
    deck.press("\x03");
    until("keys are signals again", || deck.is_cooked());
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
    assert!(!home.path("work/asked").exists(), "it was asked to end");
}

#[test]
fn what_is_typed_while_servers_are_closed_is_for_the_shell() {
    let home = Home::new();
    home.configure(&[&shell("stubborn", STUBBORN)]);
    let mut command = CommandBuilder::new("sh");
    let script = r#""$0"; echo "ended: $?"; read line; echo "typed: $line""#;
    command.args(["-c", script, env!("CARGO_BIN_EXE_mcpdeck")]);
    let mut deck = Terminal::start(&home, command, &[]);
    deck.line_with(&["stubborn", "connecting"]);
    until("it runs", || home.path("work/up").exists());
    deck.press("q");
    until("lines are the terminal's", || deck.is_cooked());
    deck.press("hello\n");
    deck.shows(&["ended: 0", "typed: hello"]);
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}
