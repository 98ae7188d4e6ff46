//! A log-in from the deck, against an authorization server, with a browser that only notes what it
//! is to open.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use portable_pty::CommandBuilder;
use tokio::runtime::Runtime;

use super::Terminal;
use crate::http::login::{get, guarded, visit};
use crate::support::authorization::AuthorizationServer;
use crate::support::program::{Home, remote, until};

/// A deck with the server `far`, and the browser.
fn deck(home: &Home, browser: bool) -> Terminal {
    let script = home.path("browser");
    fs::write(&script, "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.display().to_string();
    let program = home.program(&[]);
    let command = CommandBuilder::new(program.get_program());
    let variables: &[_] = if browser {
        &[("BROWSER", script.as_str())]
    } else {
        &[]
    };
    let terminal = Terminal::start(home, command, variables);
    terminal.shows(&["far", "needs-auth", "L log in"]);
    terminal
}

/// The page that the browser was opened with.
fn opened(home: &Home) -> String {
    until("opened", || !home.read("opened").is_empty());
    let url = home.read("opened");
    home.write("opened", "");
    url
}

/// The address of the page on the screen, which may take several lines.
fn on_screen(terminal: &Terminal) -> String {
    terminal.shows(&["Open this page in a browser", "Waiting until"]);
    let seen = terminal.output.seen.lock().unwrap();
    let contents = seen.parser.screen().contents();
    drop(seen);
    let box_of = contents.lines().filter_map(|line| {
        // What is between the last two frames is the box.
        let parts: Vec<&str> = line.split('│').collect();
        Some(parts.get(parts.len().checked_sub(3)?)?.trim().to_owned())
    });
    box_of
        .skip_while(|line| !line.starts_with("http"))
        .take_while(|line| !line.starts_with("Waiting"))
        .collect()
}

#[test]
fn a_browser_logs_in_and_the_server_is_connected() {
    let authorization = AuthorizationServer::start();
    let (address, _fake) = guarded(&authorization);
    let home = Home::new();
    home.configure(&[&remote("far", &format!("http://{address}/mcp"))]);
    let mut terminal = deck(&home, true);
    let runtime = Runtime::new().unwrap();

    // Esc calls it off: nobody waits for the browser any more.
    terminal.press("\r");
    terminal.shows(&["Log in to far", "A browser was opened", "Esc cancel"]);
    let back = runtime.block_on(visit(&opened(&home)));
    terminal.press("\u{1b}");
    terminal.hides("Log in to far");
    let port: u16 = back["http://127.0.0.1:".len()..]
        .split('/')
        .next()
        .and_then(|port| port.parse().ok())
        .unwrap();
    until("closed", || {
        TcpStream::connect(("127.0.0.1", port)).is_err()
    });

    terminal.press("L");
    terminal.shows(&["Log in to far", "A browser was opened"]);
    let back = runtime.block_on(visit(&opened(&home)));
    let (status, page) = runtime.block_on(get(&back));
    assert_eq!(status, 200, "{page}");
    terminal.shows(&["logged in at far", "connected", "fake:///one"]);
    terminal.press("q");
    assert_eq!(terminal.code(), 0);
    let seen = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    for secret in ["acc3ss", "r3fresh", "c0de-"] {
        assert!(!seen.contains(secret), "{secret} was on the screen");
    }
}

#[test]
fn without_a_browser_the_address_that_it_ends_at_is_pasted() {
    let authorization = AuthorizationServer::start();
    let (address, _fake) = guarded(&authorization);
    let home = Home::new();
    home.configure(&[&remote("far", &format!("http://{address}/mcp"))]);
    let mut terminal = deck(&home, false);
    terminal.press("L");
    let url = on_screen(&terminal);
    let back = Runtime::new().unwrap().block_on(visit(&url));
    terminal.press("http://127.0.0.1/callback?code=x&state=y\r");
    terminal.shows(&["That is not the address that this log-in ends at"]);
    terminal.press(&format!("\u{1b}[200~{back}\u{1b}[201~"));
    terminal.press("\r");
    terminal.shows(&["logged in at far", "connected"]);
    terminal.press("q");
    assert_eq!(terminal.code(), 0);
}

#[test]
fn a_log_in_that_fails_says_why_until_it_is_closed() {
    let authorization = AuthorizationServer::start();
    authorization.book().refusal = Some("access_denied");
    let (address, _fake) = guarded(&authorization);
    let home = Home::new();
    home.configure(&[&remote("far", &format!("http://{address}/mcp"))]);
    let mut terminal = deck(&home, true);
    terminal.press("L");
    let runtime = Runtime::new().unwrap();
    let back = runtime.block_on(visit(&opened(&home)));
    let (status, page) = runtime.block_on(get(&back));
    assert_eq!(status, 400, "{page}");
    terminal.shows(&["the log-in was refused (access_denied: not today)"]);
    terminal.press("\u{1b}");
    terminal.hides("not today");
    terminal.press("q");
    assert_eq!(terminal.code(), 0);
}
