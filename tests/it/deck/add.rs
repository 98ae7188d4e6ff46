//! Adding a server in the deck: what answers is on the list and in the file at once, what does not
//! stays in the form, and whatever is called off leaves nothing.

use std::os::unix::fs::PermissionsExt as _;

use mcpdeck::domain::text::command_line;

use super::{FILE, Home, Terminal, healthy, home};
use crate::support::launch::http_server;
use crate::support::program::until;

const DOWN: &str = "\x1b[B";
const CTRL_U: &str = "\x15";
const ESC: &str = "\x1b";
const SHIFT_TAB: &str = "\x1b[Z";

/// How the client of a fake says hello, once a connection.
const HELLO: &str = "server/discover";

fn paste(deck: &mut Terminal, text: &str) {
    deck.press(&format!("\x1b[200~{text}\x1b[201~"));
}

/// What is typed to start a fake with this name.
fn command(home: &Home, name: &str) -> String {
    let words = home.fake(name, &healthy());
    command_line(words.iter().map(String::as_str))
}

fn opened(home: &Home) -> Terminal {
    let mut deck = Terminal::deck(home, &[]);
    deck.shows(&["connected", "a add"]);
    deck.press("a");
    deck.shows(&["Add a server", "Enter test and save"]);
    deck
}

fn end(home: &Home, deck: &mut Terminal) {
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

fn hellos(home: &Home, name: &str) -> usize {
    let asked = home.asked(name);
    asked.iter().filter(|method| *method == HELLO).count()
}

#[test]
fn a_program_is_tested_saved_selected_and_started_once() {
    let home = home();
    let before = home.read(FILE);
    let mut deck = opened(&home);
    paste(&mut deck, &command(&home, "tools"));
    deck.press("\t");
    paste(&mut deck, "API_TOKEN=abcdefgh12345678");
    deck.shows(&["It will stand in the file as typed"]);
    deck.press(&SHIFT_TAB.repeat(3));
    deck.hides("abcdefgh12345678");
    paste(&mut deck, "notes");
    deck.shows(&["there is a server notes already"]);
    deck.press(CTRL_U);
    paste(&mut deck, "tools");
    deck.press("\r");
    deck.shows(&["added tools: ", "3 servers: 2 connected, 1 failed"]);
    deck.hides("Add a server");
    deck.line_with(&["▌", "tools", "connected"]);
    deck.shows(&["3r 0t 1T -p", "note:///two"]);
    let file = home.read(FILE);
    let added = file.strip_prefix(&before).unwrap();
    assert!(added.contains("[servers.tools]"), "{file}");
    assert!(added.contains("API_TOKEN = \"abcdefgh12345678\""), "{file}");
    // The watcher has read what we wrote, and leaves the connection alone.
    deck.press("6");
    deck.shows(&["config reloaded: added tools"]);
    assert_eq!(hellos(&home, "tools"), 1);
    assert!(!deck.contents().contains("abcdefgh12345678"));
    assert!(!home.state().contains("abcdefgh12345678"));
    // It is like any other server from now on.
    deck.press(" ");
    deck.line_with(&["tools", "disabled"]);
    until("the file says so", || {
        home.read(FILE).contains("enabled = false")
    });
    end(&home, &mut deck);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_makes_the_first_config_file() {
    let (address, _fake) = http_server(healthy());
    let home = Home::new();
    let mut deck = opened(&home);
    // Pasted where a command is asked for.
    paste(&mut deck, &format!("http://{address}/mcp"));
    deck.line_with(&["URL", &address.to_string()]);
    deck.press("\t");
    paste(&mut deck, "X-Trace: 1");
    deck.press("\r");
    deck.shows(&["added 127.0.0.1: "]);
    deck.line_with(&["▌", "127.0.0.1", "connected"]);
    // The demo gives way to it.
    deck.shows(&["1 server: 1 connected"]);
    let file = home.read(FILE);
    assert!(
        file.contains(&format!("url = \"http://{address}/mcp\"")),
        "{file}"
    );
    assert!(file.contains("X-Trace"), "{file}");
    let mode = std::fs::metadata(home.path(FILE)).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    end(&home, &mut deck);
}

#[test]
fn what_does_not_answer_stays_in_the_form_and_is_mended_there() {
    let home = Home::new();
    let mut deck = opened(&home);
    paste(&mut deck, "sh -c 'echo the disk is on fire >&2; exit 7'");
    deck.press("\r");
    deck.shows(&["exit status 7", "the disk is on fire", "[ Save anyway ]"]);
    deck.press(CTRL_U);
    paste(&mut deck, "npxx -y some-server");
    deck.press("\r");
    deck.shows(&["npxx", "command not found"]);
    deck.hides("the disk is on fire");
    deck.press(CTRL_U);
    paste(&mut deck, "server ${NO_SUCH_VARIABLE}");
    deck.press("\r");
    deck.shows(&["environment variable NO_SUCH_VARIABLE is not set"]);
    assert!(!home.path(FILE).exists());
    deck.press(CTRL_U);
    paste(&mut deck, &command(&home, "tools"));
    deck.press("\r");
    deck.shows(&["added fake-mcp-server: "]);
    assert_eq!(hellos(&home, "tools"), 1);
    end(&home, &mut deck);
}

#[test]
fn what_does_not_answer_may_be_saved_all_the_same() {
    let home = Home::new();
    let mut deck = opened(&home);
    paste(&mut deck, "npxx -y some-server");
    deck.press("\r");
    deck.shows(&["command not found"]);
    // Below the last of the fields.
    deck.press(&DOWN.repeat(4));
    deck.shows(&["Enter save anyway"]);
    deck.press("\r");
    deck.shows(&["added npxx without a test", "1 server: 1 failed"]);
    deck.line_with(&["▌", "npxx", "failed"]);
    assert!(home.read(FILE).starts_with("[servers.npxx]\n"));
    end(&home, &mut deck);
}

#[test]
fn a_test_that_is_called_off_leaves_no_process_and_no_entry() {
    let home = home();
    let before = home.read(FILE);
    let mut deck = opened(&home);
    let hanging = |home: &Home| home.left().iter().filter(|it| it.contains("sleep")).count();
    paste(&mut deck, "sh -c 'trap : TERM; sleep 600; sleep 600'");
    deck.press("\r");
    deck.shows(&["Starting it and waiting for its answer"]);
    until("it has started", || hanging(&home) > 0);
    // Keys that would do something else do nothing.
    deck.press("\tq");
    deck.press(ESC);
    deck.hides("Starting it");
    deck.shows(&["Enter test and save"]);
    until("it is ended", || hanging(&home) == 0);
    assert_eq!(home.read(FILE), before);
    // So does leaving altogether.
    deck.press("\r");
    deck.shows(&["Starting it and waiting for its answer"]);
    until("it has started", || hanging(&home) > 0);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
    assert_eq!(home.read(FILE), before);
}

#[test]
fn what_cannot_be_written_is_added_for_this_run_and_a_broken_file_is_told_before() {
    let home = home();
    let before = home.read(FILE);
    let mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.path(FILE), permissions).unwrap();
    };
    mode(0o444);
    let mut deck = opened(&home);
    paste(&mut deck, &command(&home, "tools"));
    deck.press("\r");
    deck.shows(&["added fake-mcp-server for this run only: ", "read-only"]);
    deck.shows(&["3 servers: 2 connected, 1 failed"]);
    assert_eq!(home.read(FILE), before);
    mode(0o600);
    home.write(FILE, &format!("{before}\n[servers.\n"));
    deck.shows(&["config kept as it was"]);
    deck.press("a");
    paste(&mut deck, &command(&home, "more"));
    deck.press("\r");
    deck.shows(&["Add a server", "config.toml:", "Enter retry"]);
    assert_eq!(hellos(&home, "more"), 0);
    deck.press(ESC);
    deck.hides("Add a server");
    end(&home, &mut deck);
}
