//! The pictures of the README, taken from the running program; each scene is played in every run
//! of the tests, so that what a picture shows can still be done.
//!
//! `MCPDECK_UPDATE_ASSETS=1 cargo test --test it pictures` takes them anew.

mod svg;

use std::fs;
use std::path::Path;

use super::deck::Terminal;
use super::support::fleet::fleet;
use super::support::program::Home;

/// The size of the window in all of them.
const WINDOW: (u16, u16) = (112, 30);

/// Types the keys one by one, and waits after each group of them for what is then on the screen.
fn play(deck: &mut Terminal, steps: &[(&str, &[&str])]) {
    for (keys, shown) in steps {
        deck.press(keys);
        deck.shows(shown);
    }
}

/// Keeps the picture, if pictures are to be taken; it must be there in any case.
fn keep(name: &str, picture: impl FnOnce() -> String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name);
    if std::env::var_os("MCPDECK_UPDATE_ASSETS").is_some() {
        fs::write(&file, picture()).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept.starts_with("<svg") && kept.ends_with("</svg>\n"),
        "{name} is not there: MCPDECK_UPDATE_ASSETS=1 cargo test --test it pictures"
    );
}

/// A deck over the whole fleet, as soon as all of it is there.
fn deck() -> (Home, Terminal) {
    let home = Home::new();
    fleet(&home);
    let mut deck = Terminal::colourful(&home);
    deck.resize(WINDOW.0, WINDOW.1);
    deck.shows(&[
        "8 servers: 4 connected, 1 needs-auth, 2 failed, 1 disabled",
        "7r 2t 3T 2p",
        "-r -t 9T -p",
    ]);
    // The first list has changed by now.
    deck.press("\t");
    deck.line_with(&["+ ", "demo://resource/report/april"]);
    (home, deck)
}

fn end(home: &Home, deck: &mut Terminal) {
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

/// Plays the steps, takes the picture of the last screen, and leaves.
fn scene(name: &str, steps: &[(&str, &[&str])]) {
    let (home, mut deck) = deck();
    play(&mut deck, steps);
    keep(name, || deck.with_screen(svg::picture));
    end(&home, &mut deck);
}

#[test]
fn all_servers_on_one_screen() {
    scene("deck.svg", &[("h", &["Enter open"])]);
}

#[test]
fn why_a_server_fails() {
    let why: &[&str] = &["Errors 1", "unable to open database file"];
    scene("errors.svg", &[("hjjjj\r", why)]);
}

#[test]
fn a_resource_is_read() {
    let read: &[&str] = &["Harbour report", "Ships in port"];
    scene("reader.svg", &[("G\r", read)]);
}

#[test]
fn a_template_is_filled_in() {
    let form: &[&str] = &["required", "demo://ships/{port}/{name}"];
    let values: &[&str] = &["Hamburg", "Hammerfest"];
    scene("form.svg", &[("2\r", form), ("Ham", values)]);
}

#[test]
fn a_server_is_added() {
    let form: &[&str] = &["Add a server", "Enter test and save"];
    let name: &[&str] = &["memory-2", "proposed"];
    let typed = "npx -y @modelcontextprotocol/server-memory";
    scene("add.svg", &[("ha", form), (typed, name)]);
}

/// A home without a config, and servers in two other tools.
fn newcomer() -> (Home, Terminal) {
    let home = Home::new();
    home.write(
        ".config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {
            "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"]},
            "weather": {"command": "uvx", "args": ["weather-mcp"], "env": {"API_KEY": "sk-4f1d77e0a9c34be1"}}}}"#,
    );
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "docs": {"url": "https://docs.example.org/mcp"},
            "linear": {"url": "https://linear.example.org/mcp"},
            "postgres": {"command": "npx", "args": ["-y", "postgres-mcp", "${env:DATABASE_URL}"]}}}"#,
    );
    let deck = Terminal::colourful(&home);
    deck.resize(WINDOW.0, WINDOW.1);
    deck.line_with(&["demo", "connected"]);
    deck.shows(&["copy 5 servers found in Claude Desktop and Cursor"]);
    (home, deck)
}

#[test]
fn a_newcomer_is_welcomed() {
    let (home, mut deck) = newcomer();
    keep("welcome.svg", || deck.with_screen(svg::picture));
    end(&home, &mut deck);
}

#[test]
fn servers_are_brought_in() {
    let (home, mut deck) = newcomer();
    let found: &[&str] = &["5 chosen", "weather", "secret", "linear"];
    play(&mut deck, &[("i", found)]);
    keep("import.svg", || deck.with_screen(svg::picture));
    end(&home, &mut deck);
}

#[test]
fn a_thing_is_found_in_all_servers() {
    scene(
        "find.svg",
        &[("f", &["find:"]), ("file", &["read_file", "filesystem"])],
    );
}

#[test]
fn every_message_is_shown() {
    scene("trace.svg", &[("8", &["tools/list", "resources/list"])]);
}

/// What one does with it, one screen after the other.
#[test]
fn a_recording_of_it_all() {
    let (home, mut deck) = deck();
    let mut frames = Vec::new();
    let steps: [(&str, &[&str]); 8] = [
        ("h", &["Enter open"]),
        ("jjjj\r", &["Errors 1", "unable to open database file"]),
        ("hkkkk1\r", &["demo://resource/report/april"]),
        ("G\r", &["Harbour report", "Ships in port"]),
        ("\x1b2\r", &["required", "demo://ships/{port}/{name}"]),
        ("Ham", &["Hamburg", "Hammerfest"]),
        ("\x1b\x1b\x1bf", &["find:"]),
        ("file", &["read_file", "filesystem"]),
    ];
    for (keys, shown) in steps {
        play(&mut deck, &[(keys, shown)]);
        frames.push(deck.with_screen(vt100::Screen::clone));
    }
    keep("recording.svg", || svg::recording(&frames));
    end(&home, &mut deck);
}
