//! The deck in a pseudo-terminal: the real binary, real keys, and what a person would see.
//!
//! Every wait is for something on the screen, and has a deadline.

#[cfg(unix)]
mod add;
mod changes;
#[cfg(unix)]
mod edit;
#[cfg(unix)]
mod ending;
mod forms;
mod import;
mod log_in;
mod order;
mod reading;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(unix)]
mod stderr;
mod storm;
mod tasks;
mod themes;
mod trust;

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::{Value, json};
use vt100::{MouseProtocolMode, Parser, Screen};

use super::serve::client::Client;
use super::support::fake::Script;
use super::support::program::{DEADLINE, Home, shell, until};

/// A program on a terminal.
pub(super) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Arc<Output>,
}

/// What the program has written so far.
struct Output {
    seen: Mutex<Seen>,
    changed: Condvar,
}

struct Seen {
    parser: Parser,
    bytes: Vec<u8>,
    ended: bool,
    /// Nobody wants to see more: the terminal is to be closed.
    closing: bool,
}

/// The user's config file in a home.
const FILE: &str = ".config/mcpdeck/config.toml";

const COLUMNS: u16 = 120;
const ROWS: u16 = 36;

impl Terminal {
    /// Starts the deck of the home.
    pub(super) fn deck(home: &Home, args: &[&str]) -> Self {
        let prepared = home.program(args);
        let mut command = CommandBuilder::new(prepared.get_program());
        command.args(prepared.get_args());
        Self::start(home, command, &[])
    }

    /// The same on a terminal that shows any colour.
    pub(super) fn colourful(home: &Home) -> Self {
        let prepared = home.program(&[]);
        let command = CommandBuilder::new(prepared.get_program());
        Self::start(home, command, &[("COLORTERM", "truecolor")])
    }

    /// Starts a command in the home, with more variables than the home's.
    fn start(home: &Home, mut command: CommandBuilder, variables: &[(&str, &str)]) -> Self {
        let prepared = home.program(&[]);
        command.env_clear();
        for (name, value) in prepared.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.env("TERM", "xterm-256color");
        for (name, value) in variables {
            command.env(name, value);
        }
        command.cwd(prepared.get_current_dir().unwrap());
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let output = Arc::new(Output {
            seen: Mutex::new(Seen {
                parser: Parser::new(ROWS, COLUMNS, 0),
                bytes: Vec::new(),
                ended: false,
                closing: false,
            }),
            changed: Condvar::new(),
        });
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let into = Arc::clone(&output);
        thread::spawn(move || {
            let mut chunk = [0; 8_192];
            loop {
                let read = reader.read(&mut chunk).unwrap_or(0);
                let mut seen = into.seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.parser.process(&chunk[..read]);
                seen.bytes.extend_from_slice(&chunk[..read]);
                seen.ended = read == 0;
                into.changed.notify_all();
                if seen.ended || seen.closing {
                    return;
                }
            }
        });
        Self {
            master: pair.master,
            keys,
            child,
            output,
        }
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Gives the window another size.
    pub(super) fn resize(&self, columns: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols: columns,
            ..PtySize::default()
        };
        let seen = self.output.seen.lock();
        let mut seen = seen.unwrap_or_else(PoisonError::into_inner);
        // The parser panics on wide characters in a window that is too narrow for them.
        let screen = seen.parser.screen_mut();
        screen.set_size(rows.max(5), columns.max(20));
        self.master.resize(size).unwrap();
    }

    /// Waits until more than so many bytes were written to the terminal.
    fn writes_more_than(&self, bytes: usize) {
        until("the deck draws", || self.written() > bytes);
    }

    /// How many bytes were written to the terminal so far.
    fn written(&self) -> usize {
        let seen = self.output.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).bytes.len()
    }

    /// Waits until the screen is as wanted.
    fn wait(&self, what: &str, wanted: impl Fn(&Screen) -> bool) {
        let start = Instant::now();
        let mut seen = self
            .output
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while !wanted(seen.parser.screen()) {
            let left = DEADLINE.saturating_sub(start.elapsed());
            assert!(
                !left.is_zero() && !seen.ended,
                "{what}: not on\n{}",
                seen.parser.screen().contents()
            );
            let notified = self.output.changed.wait_timeout(seen, left);
            seen = notified.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until all of the texts are on the screen.
    pub(super) fn shows(&self, texts: &[&str]) {
        self.wait(&format!("{texts:?}"), |screen| {
            let contents = screen.contents();
            texts.iter().all(|text| contents.contains(text))
        });
    }

    /// Waits until the text is gone from the screen.
    pub(super) fn hides(&self, text: &str) {
        self.wait(&format!("no {text:?}"), |screen| {
            !screen.contents().contains(text)
        });
    }

    /// Waits until one line has all of the texts.
    pub(super) fn line_with(&self, texts: &[&str]) {
        self.wait(&format!("a line with {texts:?}"), |screen| {
            screen
                .contents()
                .lines()
                .any(|line| texts.iter().all(|text| line.contains(text)))
        });
    }

    /// What is on the screen at the moment.
    fn contents(&self) -> String {
        self.with_screen(Screen::contents)
    }

    /// Looks at the screen as it is at the moment.
    pub(super) fn with_screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        let seen = self.output.seen.lock();
        let seen = seen.unwrap_or_else(PoisonError::into_inner);
        look(seen.parser.screen())
    }

    /// Everything that was written to the terminal.
    fn bytes(&self) -> Vec<u8> {
        let seen = self
            .output
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.bytes.clone()
    }

    /// Waits for the end and for all that was written until then, and returns the exit code.
    pub(super) fn code(&mut self) -> u32 {
        let child = &mut self.child;
        let mut status = None;
        until("the deck ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        until("what it has written is read", || {
            let seen = self.output.seen.lock();
            let seen = seen.unwrap_or_else(PoisonError::into_inner);
            seen.ended || seen.closing
        });
        status.unwrap().exit_code()
    }

    /// Checks that the terminal is as a shell wants it.
    fn assert_sane(&self) {
        let seen = self
            .output
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is left");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        assert!(!screen.bracketed_paste(), "bracketed paste is off");
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
        drop(seen);
        self.assert_cooked();
    }

    /// Checks that lines are edited and echoed by the terminal, as before.
    fn assert_cooked(&self) {
        assert!(self.is_cooked());
    }

    fn is_cooked(&self) -> bool {
        let modes = format!("{:?}", self.master.get_termios().unwrap().local_flags);
        ["ICANON", "ECHO", "ISIG"]
            .iter()
            .all(|mode| modes.contains(mode))
    }

    /// The terminal takes nothing more, as after a Ctrl-S that is not ours.
    #[cfg(target_os = "linux")]
    fn stops_reading(&self) {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true);
        // It shall not become our own terminal.
        let no_terminal = rustix::fs::OFlags::NOCTTY.bits();
        options.custom_flags(no_terminal.try_into().unwrap());
        let terminal = options.open(self.master.tty_name().unwrap()).unwrap();
        rustix::termios::tcflow(terminal, rustix::termios::Action::OOff).unwrap();
    }

    fn signal(&self, name: &str) {
        let process = self.child.process_id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args([format!("-{name}"), process])
            .status();
        assert!(sent.unwrap().success());
    }
}

/// A server with three resources and a tool.
fn healthy() -> Script {
    serde_json::from_value(json!({
        "listings": {
            "resources/list": {"pages": [{"items": [
                resource("one"), resource("two"), resource("three")
            ]}]},
            "resources/templates/list": {"pages": [{"items": []}]},
            "tools/list": {"pages": [{"items": [{"name": "hammer", "inputSchema": {"type": "object"}}]}]},
        },
    }))
    .unwrap()
}

fn resource(name: &str) -> Value {
    json!({"uri": format!("note:///{name}"), "name": name})
}

/// A home with a healthy server and one that fails.
fn home() -> Home {
    let home = Home::new();
    let broken = shell("broken", "echo 'the disk is on fire' >&2; exit 7");
    home.configure(&["# My servers.\n", &home.table("notes", &healthy()), &broken]);
    home
}

#[test]
fn it_shows_servers_lists_and_reasons_and_quits() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["mcpdeck", "2 servers: 1 connected, 1 failed"]);
    deck.line_with(&["notes", "connected"]);
    deck.shows(&["3r 0t 1T -p", "note:///one", "config.toml"]);
    // Down to the one that failed: it says why.
    deck.press("j");
    deck.shows(&["the disk is on fire"]);
    deck.press("\r");
    deck.shows(&["Came back", "connect"]);
    // Back, and into the list of the other one.
    deck.press("\x1b");
    deck.press("k\r");
    deck.hides("Came back");
    deck.press("\x1b[B");
    deck.line_with(&["URI", "note:///two"]);
    deck.press("3");
    deck.shows(&["hammer"]);
    deck.press("?");
    deck.shows(&["switch the server on or off"]);
    deck.press("q");
    deck.hides("switch the server on or off");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn it_toggles_removes_and_undoes_in_the_file_too() {
    let home = home();
    let before = home.read(FILE);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.press(" ");
    deck.line_with(&["notes", "disabled"]);
    until("the file says so", || {
        home.read(FILE).contains("enabled = false")
    });
    deck.press("\r");
    deck.shows(&["Enable it?"]);
    deck.press("\r");
    deck.hides("Enable it?");
    deck.press("\r");
    deck.shows(&["Enable it?"]);
    deck.press("y");
    deck.line_with(&["notes", "connected"]);
    until("the file says so", || {
        !home.read(FILE).contains("enabled = false")
    });

    let file = home.read(FILE);
    deck.press("D");
    deck.shows(&["Remove notes from", FILE]);
    deck.press("n");
    deck.hides("Remove notes from");
    deck.press("D");
    deck.shows(&["Remove notes from"]);
    deck.press("y");
    deck.shows(&["removed notes", "1 server: 1 failed"]);
    until("it is gone from the file", || {
        !home.read(FILE).contains("notes")
    });
    assert!(home.read(FILE).contains("# My servers."));
    deck.press("u");
    deck.shows(&["notes is back"]);
    deck.line_with(&["notes", "connected"]);
    assert_eq!(home.read(FILE), file);
    assert!(file.starts_with(before.split("[servers.broken]").next().unwrap().trim_end()));
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn it_filters_and_refreshes() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["note:///one"]);
    deck.press("\t/THR");
    deck.shows(&["1 of 3", "note:///three"]);
    deck.hides("note:///one");
    deck.press("\r");
    deck.shows(&["/THR 1 of 3"]);
    deck.press("\x1b");
    deck.shows(&["note:///one", "note:///two", "note:///three"]);
    let listed = |home: &Home| {
        let asked = home.asked("notes");
        asked
            .iter()
            .filter(|method| *method == "resources/list")
            .count()
    };
    let before = listed(&home);
    deck.press("r");
    until("it was asked again", || listed(&home) > before);
    deck.press("6");
    deck.shows(&["notes resources 0, templates 0"]);
    // At the smallest size, and large again.
    let resize = |deck: &Terminal, rows, cols| {
        let mut seen = deck.output.seen.lock().unwrap();
        seen.parser.screen_mut().set_size(rows, cols);
        drop(seen);
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        deck.master.resize(size).unwrap();
    };
    resize(&deck, 5, 20);
    deck.shows(&["window too small"]);
    resize(&deck, 20, 60);
    deck.shows(&["notes resources 0, templates 0"]);
    deck.hides("Servers");
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn changes_of_a_server_arrive_live() {
    let home = Home::new();
    let mut script = serde_json::to_value(healthy()).unwrap();
    // Another resource appears as soon as the resources have been read once.
    script["initialized"] = json!([
        {"wait_ms": 1_500},
        {"set_pages": {"resources/list": {"pages": [{"items": [
            resource("zero"), resource("one"), resource("two"), resource("three")
        ]}]}}},
        {"notify": {"method": "notifications/resources/list_changed", "count": 3}},
    ]);
    let script: Script = serde_json::from_value(script).unwrap();
    home.configure(&[&home.table("notes", &script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["note:///one"]);
    deck.hides("note:///zero");
    deck.press("\tj");
    deck.line_with(&["▌", "note:///two"]);
    deck.line_with(&["+", "note:///zero"]);
    // The selection has stayed on its item.
    deck.line_with(&["▌", "note:///two"]);
    deck.shows(&["list_changed", "resources +1, templates 0, generation 2"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[test]
fn without_a_config_it_shows_the_demo() {
    let home = Home::new();
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["Welcome to mcpdeck", "built-in demo", "config.toml"]);
    deck.shows(&["copy servers from other tools; none are found here"]);
    deck.line_with(&["demo", "connected"]);
    deck.press("q");
    deck.hides("Welcome to mcpdeck");
    deck.shows(&["Built-in demo. Your own servers: i copies them"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn the_welcome_says_what_there_is_to_import() {
    let home = Home::new();
    let cursor =
        r#"{"mcpServers": {"one": {"command": "run-one"}, "two": {"command": "run-two"}}}"#;
    home.write(".cursor/mcp.json", cursor);
    home.write(
        ".codex/config.toml",
        "[mcp_servers.three]\ncommand = 'run-three'\n",
    );
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["i  copy 3 servers found in Cursor and Codex"]);
    deck.press("i");
    deck.hides("Welcome to mcpdeck");
    deck.shows(&["one", "two", "three"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    assert_eq!(home.read(".cursor/mcp.json"), cursor);
    home.assert_nothing_left();
}

/// The first frame waits for no server.
#[test]
fn a_silent_server_is_on_screen_at_once() {
    let home = Home::new();
    home.configure(&[&shell("silent", "sleep 600")]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["silent", "connecting"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn signals_end_it_with_their_code_and_a_sane_terminal() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let home = home();
        let mut deck = Terminal::deck(&home, &[]);
        deck.line_with(&["notes", "connected"]);
        deck.signal(signal);
        assert_eq!(deck.code(), code, "{signal}");
        deck.assert_sane();
        home.assert_nothing_left();
    }
}

/// A terminal that does not read keeps the deck from neither keys nor signals.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_does_not_read_keeps_nobody() {
    fn check(code: u32, end: impl Fn(&mut Terminal)) {
        let home = home();
        let mut deck = Terminal::deck(&home, &[]);
        deck.line_with(&["notes", "connected"]);
        deck.stops_reading();
        let asked = home.asked("notes").len();
        // What is drawn first does not get through; the keys behind it are obeyed all the same.
        deck.press("j");
        deck.press("kr");
        until("the server is asked again", || {
            home.asked("notes").len() > asked
        });
        end(&mut deck);
        assert_eq!(deck.code(), code);
        deck.assert_cooked();
        home.assert_nothing_left();
    }
    check(143, |deck| deck.signal("TERM"));
    check(130, |deck| deck.signal("INT"));
    check(129, |deck| deck.signal("HUP"));
    check(0, |deck| deck.press("q"));
    check(0, |deck| deck.press("\x03"));
}

/// A terminal that is closed ends the deck, and one that is killed leaves no child.
#[test]
fn no_child_is_left_whatever_ends_it() {
    let home = home();
    let deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    let Terminal {
        master,
        keys,
        mut child,
        output,
    } = deck;
    // The clock on screen makes the reader, which has the terminal open too, look at this.
    output.seen.lock().unwrap().closing = true;
    drop((master, keys));
    let mut status = None;
    until("the deck ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().exit_code(), 129);
    home.assert_nothing_left();
    drop(output);

    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.signal("KILL");
    deck.code();
    if cfg!(target_os = "linux") {
        until("no child is left", || home.left().is_empty());
    }
}

/// Text that a terminal pastes key by key is no reason to be deaf.
#[test]
fn a_flood_of_keys_delays_neither_the_screen_nor_a_signal() {
    let home = Home::new();
    let script = Script::legacy().generated("resources/list", 10_000, 1_000);
    home.configure(&[&home.table("long", &script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["10000r"]);
    deck.press("\t/");
    deck.shows(&["10000 of 10000"]);
    deck.press(&"item".repeat(1_000));
    deck.shows(&["/itemitem"]);
    deck.signal("TERM");
    assert_eq!(deck.code(), 143);
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn it_can_be_stopped_and_continued() {
    let home = home();
    let mut command = CommandBuilder::new("sh");
    let script = r#"set -m; "$0"; echo "stopped: $?"; read line; fg; echo "ended: $?""#;
    command.args(["-c", script, env!("CARGO_BIN_EXE_mcpdeck")]);
    let mut deck = Terminal::start(&home, command, &[]);
    deck.line_with(&["notes", "connected"]);
    deck.press("\x1a");
    deck.shows(&["stopped: "]);
    deck.assert_sane();
    deck.press("\n");
    deck.line_with(&["notes", "connected"]);
    deck.press("\t");
    deck.line_with(&["▌", "note:///one"]);
    deck.press("q");
    deck.shows(&["ended: 0"]);
    deck.code();
    deck.assert_sane();
    home.assert_nothing_left();
}

#[test]
fn wrong_keys_are_told_before_anything_is_drawn() {
    let home = Home::new();
    home.configure(&["[keys]\ntogle = ['x']\n"]);
    let mut deck = Terminal::deck(&home, &[]);
    assert_eq!(deck.code(), 2);
    deck.shows(&[
        "unknown key `togle`",
        "config.toml:2:1",
        "2 | togle = ['x']",
        "^^^^^ did you mean `toggle`?",
    ]);
    assert!(!String::from_utf8_lossy(&deck.bytes()).contains("\x1b[?1049h"));
}

#[test]
fn no_color_and_ascii_are_honoured() {
    let home = home();
    let prepared = home.program(&["--ascii"]);
    let mut command = CommandBuilder::new(prepared.get_program());
    command.args(prepared.get_args());
    let mut deck = Terminal::start(&home, command, &[("NO_COLOR", "1")]);
    deck.line_with(&["notes", "connected"]);
    deck.shows(&["+ Servers --"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    let bytes = deck.bytes();
    assert!(bytes.is_ascii());
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        !text.contains("\x1b[38;") && !text.contains("\x1b[48;"),
        "{text:?}"
    );
}

/// Whatever a server writes into names, texts, errors, logs and stderr, none of its control
/// sequences and hidden characters gets to the terminal.
#[test]
fn nothing_hostile_gets_to_the_terminal() {
    const EVIL: &str =
        "EVIL\x1b]0;OWNED\x07\x1b[5mblink\u{9b}5m\u{202e}rtl\u{200b}zero\u{e0041}tag";
    let home = Home::new();
    let annotated = json!({"uri": format!("note:///{EVIL}"), "name": EVIL, "title": EVIL,
        "description": EVIL, "mimeType": EVIL});
    let template = json!({"uriTemplate": format!("note:///{EVIL}{{x}}"), "name": EVIL,
        "title": EVIL, "description": EVIL});
    let script: Script = serde_json::from_value(json!({
        "server_info": {"name": EVIL, "version": EVIL, "title": EVIL},
        "instructions": EVIL,
        "capabilities": {"resources": {}, "tools": {}, "prompts": {}, "logging": {}},
        "listings": {
            "resources/list": {"pages": [{"items": [annotated]}]},
            "resources/templates/list": {"pages": [{"items": [template]}]},
            "tools/list": {"pages": [{"items": [{"name": EVIL, "description": EVIL,
                "inputSchema": {"type": "object", "description": EVIL}}]}]},
        },
        "rules": [{"method": "prompts/list",
            "reply": {"error": {"code": -32603, "message": EVIL}}}],
        "initialized": [{"write_stderr": format!("{EVIL}\n")},
            {"notify": {"method": "notifications/message",
                "params": {"level": "error", "data": EVIL}}}],
    }))
    .unwrap();
    home.configure(&[&home.table("evil", &script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["connected", "1r 1t 1T -p", "EVIL"]);
    for (keys, title) in [
        ("\t", "note:///"),
        ("2", "URI template"),
        ("3", "About"),
        ("4", "prompts/list"),
        ("5", "Came back"),
        ("6", "What"),
        ("7", "Line"),
    ] {
        deck.press(keys);
        deck.shows(&[title, "EVIL"]);
        deck.press("\t\t\t");
        deck.shows(&[title, "EVIL"]);
    }
    deck.press("q");
    assert_eq!(deck.code(), 0);
    let bytes = deck.bytes();
    let text = String::from_utf8(bytes).expect("it is UTF-8");
    for hidden in [
        "\x1b]",
        "\x1b[5m",
        "\u{9b}",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
    ] {
        assert!(!text.contains(hidden), "{hidden:?} is in the output");
    }
    home.assert_nothing_left();
}

#[test]
fn a_serving_mcpdeck_beside_it_has_its_own_servers() {
    let home = home();
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["notes", "connected"]);
    let mut client = Client::start(&home, &[]);
    assert_eq!(
        client.resources().values("resources", "name"),
        ["one", "two", "three"]
    );
    let starts = || home.read("notes.log").matches("\"started\"").count();
    assert_eq!(starts(), 2);
    // Neither ends the other's.
    deck.press("q");
    assert_eq!(deck.code(), 0);
    let read = client.read("notes", "note:///one");
    assert_eq!(
        read.structured()["contents"][0]["text"],
        "content of note:///one"
    );
    assert_eq!(starts(), 2);
    client.end();
}
