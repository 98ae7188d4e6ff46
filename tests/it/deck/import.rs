//! Servers of other tools in the deck: found, chosen, copied, and connected without another key.

use std::fmt::Write as _;

use serde_json::json;

use super::{FILE, Home, Terminal, healthy};

const CLAUDE: &str = ".config/Claude/claude_desktop_config.json";
const CURSOR: &str = "work/.cursor/mcp.json";
const CODEX: &str = ".codex/config.toml";

/// The text of a file of a tool that keeps JSON: each server with its command line.
fn json_file(servers: &[(&str, Vec<String>)]) -> String {
    let servers = servers.iter().map(|(name, line)| {
        let server = json!({ "command": line[0], "args": line[1..] });
        ((*name).to_owned(), server)
    });
    let servers: serde_json::Map<_, _> = servers.collect();
    serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap()
}

/// The same of a tool that keeps TOML.
fn toml_file(name: &str, line: &[String]) -> String {
    let mut text = format!("[mcp_servers.{name}]\ncommand = {:?}\n", line[0]);
    writeln!(text, "args = {:?}", &line[1..]).unwrap();
    text
}

fn fake(home: &Home, name: &str) -> Vec<String> {
    home.fake(name, &healthy())
}

/// A home in which three tools have servers; one of them we have too, but another one.
fn home() -> Home {
    let home = Home::new();
    home.configure(&["# Mine.\n", &home.table("notes", &healthy())]);
    let (files, mail) = (fake(&home, "files"), fake(&home, "mail"));
    home.write(CLAUDE, &json_file(&[("files", files), ("mail", mail)]));
    let notes = vec!["other-notes".to_owned()];
    home.write(
        CURSOR,
        &json_file(&[("notes", notes), ("tasks", fake(&home, "tasks"))]),
    );
    home.write(CODEX, &toml_file("search", &fake(&home, "search")));
    home
}

#[test]
fn what_is_new_is_copied_and_connected() {
    let home = home();
    let theirs = [CLAUDE, CURSOR, CODEX].map(|file| home.read(file));
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.press("i");
    deck.shows(&[
        "Import from other tools",
        "4 chosen for ~/.config/mcpdeck/config.toml",
    ]);
    deck.line_with(&[
        "claude-desktop",
        "~/.config/Claude/claude_desktop_config.json",
    ]);
    deck.line_with(&["[x] files", "new"]);
    deck.line_with(&["[x] mail", "new"]);
    deck.line_with(&["cursor", "~/work/.cursor/mcp.json", "this project"]);
    deck.line_with(&["[ ] notes", "different", "other-notes"]);
    deck.line_with(&["[x] search", "new"]);
    // All but mail.
    deck.press("j ");
    deck.line_with(&["[ ] mail", "new"]);
    deck.press("\r");
    deck.shows(&["Import?", "Add 3 servers to ~/.config/mcpdeck/config.toml?"]);
    // Only y is yes.
    deck.press("\r");
    deck.hides("Import?");
    assert!(!home.read(FILE).contains("files"));
    deck.press("\ry");
    deck.shows(&["3 added"]);
    deck.line_with(&["files", "added", "connected", "3r 0t 1T -p"]);
    deck.line_with(&["tasks", "added", "connected"]);
    deck.line_with(&["search", "added", "connected"]);
    deck.press("\x1b");
    deck.shows(&["4 servers: 4 connected"]);
    deck.press("i");
    deck.line_with(&["search", "equal"]);
    deck.shows(&["1 chosen"]);
    deck.press("qq");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
    assert_eq!([CLAUDE, CURSOR, CODEX].map(|file| home.read(file)), theirs);
    let ours = home.read(FILE);
    assert!(ours.starts_with("# Mine.\n"), "{ours}");
    for name in ["notes", "files", "tasks", "search"] {
        assert!(ours.contains(&format!("[servers.{name}]")), "{ours}");
    }
    assert!(
        !ours.contains("mail") && !ours.contains("other-notes"),
        "{ours}"
    );
}

#[test]
fn one_that_is_different_takes_the_place_of_ours_after_a_question() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.press("i");
    deck.shows(&["4 chosen"]);
    // Nothing of Claude, and of Cursor what is different alone.
    deck.press("a/notes\r");
    deck.line_with(&["▌", "cursor"]);
    deck.press("a\x1b");
    deck.line_with(&["[x] notes", "replaces"]);
    deck.line_with(&["[ ] files", "new"]);
    deck.press("\r");
    deck.shows(&[
        "Add 2 servers to ~/.config/mcpdeck/config.toml, and replace",
        "notes there?",
    ]);
    deck.press("y");
    deck.shows(&["2 added, 1 replaced"]);
    deck.line_with(&["notes", "replaced", "failed"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    assert!(home.read(FILE).contains("other-notes"));
    home.assert_nothing_left();
}

#[test]
fn secrets_become_variables_on_a_key() {
    let home = Home::new();
    home.configure(&[&home.table("notes", &healthy())]);
    let theirs = json!({ "mcpServers": { "mail": {
        "url": "http://127.0.0.1:9/mcp",
        "headers": { "Authorization": "Bearer hunter22-long-secret" },
    } } });
    home.write(CLAUDE, &theirs.to_string());
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.line_with(&["[x] mail", "new", "secret", "http://127.0.0.1:9/mcp"]);
    deck.shows(&["1 has secrets in plain text: they are copied as they are"]);
    deck.press("v");
    deck.shows(&["1 has secrets in plain text: variables take their place"]);
    deck.press("\r");
    deck.shows(&["Their secrets are left out"]);
    deck.press("y");
    deck.shows(&["1 added", "set the environment variable MAIL_TOKEN"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    let shown = String::from_utf8_lossy(&deck.bytes()).into_owned();
    assert!(!shown.contains("hunter22"));
    let ours = home.read(FILE);
    assert!(
        ours.contains("${MAIL_TOKEN}") && !ours.contains("hunter22"),
        "{ours}"
    );
    assert_eq!(home.read(CLAUDE), theirs.to_string());
}

#[test]
fn nothing_to_import_says_where_was_looked() {
    let home = Home::new();
    home.configure(&[&home.table("notes", &healthy())]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.shows(&["No servers of other tools were found", "~/.cursor/mcp.json"]);
    // Enter has nothing to ask.
    deck.press("\r");
    deck.shows(&["No servers of other tools were found"]);
    // One that is written now is found by looking again.
    home.write(CODEX, &toml_file("search", &fake(&home, "search")));
    deck.press("r");
    deck.line_with(&["[x] search", "new"]);
    deck.press("\x1b");
    deck.hides("Import from other tools");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[test]
fn a_broken_file_does_not_hide_the_others() {
    let home = home();
    home.write(CLAUDE, "{\"mcpServers\": {\"files\": ");
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.line_with(&["claude-desktop", "claude_desktop_config.json"]);
    deck.line_with(&["cannot be read: 1:"]);
    deck.line_with(&["[x] tasks", "new"]);
    deck.press("\ry");
    deck.line_with(&["tasks", "added", "connected"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[test]
fn a_file_that_cannot_be_written_is_told_of_each_server() {
    let home = Home::new();
    // What is to be a folder is a file.
    home.write(".config/mcpdeck", "");
    home.write(CODEX, &toml_file("search", &fake(&home, "search")));
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.line_with(&["[x] search", "new"]);
    deck.press("\ry");
    deck.shows(&["1 not imported"]);
    deck.line_with(&["search", "failed", "config.toml"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[test]
fn without_a_config_the_demo_gives_way_to_what_was_imported() {
    let home = Home::new();
    home.write(CODEX, &toml_file("search", &fake(&home, "search")));
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["demo", "connected"]);
    deck.press("i");
    deck.line_with(&["[x] search", "new"]);
    deck.press("\ry");
    deck.line_with(&["search", "added", "connected"]);
    deck.press("q");
    deck.shows(&["1 server: 1 connected"]);
    deck.hides("demo");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[test]
fn two_hundred_servers_are_found_chosen_and_copied() {
    let home = Home::new();
    home.configure(&[&home.table("notes", &healthy())]);
    // Switched off, so that nothing of them is started.
    let servers = (0..200).map(|nth| {
        let server = json!({ "command": "no-such-program", "disabled": true });
        (format!("server-{nth:04}"), server)
    });
    let servers: serde_json::Map<_, _> = servers.collect();
    home.write(CURSOR, &json!({ "mcpServers": servers }).to_string());
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.shows(&["200 chosen", "201", "server-0000"]);
    deck.press("G");
    deck.line_with(&["▌", "[x] server-0199"]);
    deck.press("a");
    deck.shows(&["Nothing is chosen"]);
    deck.press("a/0150\r");
    deck.shows(&["200 chosen", "/0150 2 of 201"]);
    deck.press("\ry");
    deck.shows(&["200 added"]);
    deck.press("qq");
    assert_eq!(deck.code(), 0);
    let added = home.read(FILE).matches("[servers.server-").count();
    assert_eq!(added, 200);
}

#[test]
fn the_mouse_selects_chooses_and_scrolls() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("i");
    deck.line_with(&["[x] mail", "new"]);
    let row = |deck: &Terminal, text: &str| {
        let contents = deck.contents();
        contents
            .lines()
            .position(|line| line.contains(text))
            .unwrap()
            + 1
    };
    let mail = row(&deck, "[x] mail");
    // On its name it is selected, on its mark no longer chosen.
    deck.press(&format!("\x1b[<0;20;{mail}M"));
    deck.line_with(&["▌", "[x] mail"]);
    deck.press(&format!("\x1b[<0;5;{mail}M"));
    deck.line_with(&["▌", "[ ] mail"]);
    deck.press("\r");
    deck.shows(&["Import?"]);
    // A click is never yes.
    deck.press(&format!("\x1b[<0;5;{mail}M"));
    deck.hides("Import?");
    assert!(!home.read(FILE).contains("files"));
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
}
