//! The servers of project files in the deck: what one sees before anything of them is started.

use super::{Home, Terminal, healthy};

const PROJECT: &str = "work/.mcpdeck.toml";

fn home() -> Home {
    let home = Home::new();
    let table = home.table("notes", &healthy());
    let more = "env = { MODE = \"fast\", API_TOKEN = \"hunter22-long\" }\n";
    home.write(PROJECT, &format!("{table}{more}"));
    home
}

#[test]
fn t_shows_the_command_and_starts_it_for_good_after_yes() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "untrusted"]);
    deck.press("t");
    deck.shows(&[
        "Trust?",
        "runs: ",
        "fake-mcp-server",
        "env: MODE=fast",
        ".mcpdeck.toml:1",
    ]);
    deck.hides("hunter22");
    // Only y is yes.
    deck.press("\r");
    deck.hides("Trust?");
    deck.line_with(&["notes", "untrusted"]);
    assert_eq!(home.asked("notes"), [""; 0], "nothing was started");
    deck.press("\r");
    deck.shows(&["Trust?", "runs: "]);
    deck.press("y");
    deck.shows(&["approved notes", "note:///one"]);
    deck.line_with(&["notes", "connected"]);
    deck.press("t");
    deck.shows(&["notes needs no approval"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    // The approval holds for the next run, here and headless.
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    assert!(home.run(&["list"]).text(0).contains("notes\tconnected"));
    home.assert_nothing_left();
}

#[test]
fn a_definition_that_changes_is_asked_about_anew() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "untrusted"]);
    deck.press("t");
    deck.shows(&["env: MODE=fast"]);
    home.write(PROJECT, &home.read(PROJECT).replace("fast", "slow"));
    deck.press("n");
    deck.hides("Trust?");
    deck.press("6");
    deck.shows(&["config reloaded: changed notes"]);
    // What is asked about is what is in the file.
    deck.press("t");
    deck.shows(&["Trust?", "env: MODE=slow"]);
    deck.press("n");
    deck.hides("Trust?");
    assert_eq!(home.asked("notes"), [""; 0]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    assert!(home.run(&["list"]).text(0).contains("notes\tuntrusted"));
}

#[test]
fn trust_for_one_run_approves_nothing() {
    let home = home();
    let mut deck = Terminal::deck(&home, &["--trust"]);
    deck.line_with(&["notes", "connected"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    assert!(home.run(&["list"]).text(0).contains("notes\tuntrusted"));
}
