//! How serving begins and ends: end of input, signals, and that it never starts itself.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Era};
use crate::support::fake::{Grandchild, Reply, Script, Sigterm};
use crate::support::program::{Home, table, until};

/// Ends neither when its stdin is closed nor on TERM, and has a child that does not either.
fn stubborn() -> Script {
    Script::legacy().sample().process(|process| {
        process.ignore_eof = true;
        process.sigterm = Sigterm::Ignore;
        process.grandchild = Some(Grandchild {
            ignore_term: true,
            ..Grandchild::default()
        });
    })
}

#[test]
fn the_end_of_the_input_ends_it_within_a_second_children_included() {
    let home = Home::new();
    home.configure(&[
        &home.table("stubborn", &stubborn()),
        &home.table("mute", &Script::legacy().on("*", Reply::silence())),
        &home.table("fine", &Script::modern().sample()),
    ]);
    let mut client = Client::start(&home, &["--server", "stubborn", "--server", "fine"]);
    client.templates();
    assert!(home.left().len() >= 3, "{:?}", home.left());
    client.end();

    // In the middle of the handshakes, and of a call.
    let mut client = Client::start(&home, &[]);
    client.begin("tools/call", json!({"name": "list_mcp_resources"}));
    until("servers run", || home.left().len() >= 3);
    client.end();

    // While one that was switched off is given its time.
    let servers = [
        home.table("stubborn", &stubborn()),
        home.table("fine", &Script::legacy()),
    ];
    home.configure(&[&servers[0], &servers[1]]);
    let mut client = Client::start(&home, &[]);
    client.templates();
    home.configure(&[&servers[0], "enabled = false\n", &servers[1]]);
    client.notified("notifications/resources/list_changed");
    assert!(home.left().len() >= 3, "{:?}", home.left());
    client.end();

    // Before and instead of any message.
    Client::silent(&home, &[], Era::Legacy).end();
    let mut client = Client::silent(&home, &[], Era::Modern);
    client.ask("server/discover", json!({}));
    client.end();
}

#[test]
fn what_was_asked_before_the_end_of_the_input_is_still_answered() {
    let home = Home::new();
    home.configure(&[&home.table("x", &Script::legacy().sample())]);
    let mut client = Client::start(&home, &[]);
    client.templates();
    let id = client.begin("tools/call", json!({"name": "list_mcp_resources"}));
    client.close_input();
    let answer = client.answer_to(id);
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(client.wait().code, Some(0));
}

#[test]
fn a_run_may_be_bounded_and_a_call_under_way_is_answered_before_its_end() {
    let home = Home::new();
    home.configure(&[
        &home.table("x", &Script::legacy().sample()),
        &home.table("mute", &Script::legacy().on("*", Reply::silence())),
    ]);
    let mut client = Client::start(&home, &["--timeout", "2s"]);
    let answer = client.templates();
    assert_eq!(answer.values("resourceTemplates", "server"), ["x"]);
    let line = answer.block(1);
    let start = "Server \"mute\" is not connected (connecting: not ready after ";
    assert!(line.starts_with(start), "{line}");
    // Its stdin is still open.
    assert_eq!(client.wait().code, Some(0));
}

#[test]
fn a_client_that_does_not_begin_as_one_is_wrong_usage() {
    let home = Home::new();
    home.configure(&[&home.table("x", &stubborn())]);
    let mut client = Client::silent(&home, &[], Era::Legacy);
    client.notify("notifications/initialized");
    let ran = client.wait();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let message = "the client did not begin as an MCP client does: its first message is no request";
    assert_eq!(ran.stderr, format!("mcpdeck: {message}\n"));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_and_its_servers() {
    use rustix::process::{Pid, Signal, kill_process};
    let home = Home::new();
    home.configure(&[&home.table("stubborn", &stubborn())]);
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let ends = |client: Client<'_>| {
            let pid = i32::try_from(client.pid()).unwrap();
            let start = Instant::now();
            kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
            let ran = client.wait();
            assert_eq!(ran.code, Some(code), "{ran:?}");
            let took = start.elapsed();
            assert!(took < Duration::from_secs(2), "{took:?}");
        };
        let mut client = Client::start(&home, &[]);
        client.templates();
        ends(client);
        // Before any message.
        let client = Client::silent(&home, &[], Era::Legacy);
        until("the server runs", || !home.left().is_empty());
        ends(client);
    }
}

/// Who ends a process as most programs do sends a signal and closes its pipes at once.
#[cfg(unix)]
#[test]
fn a_signal_just_before_the_end_of_the_input_is_why_it_ended() {
    use rustix::process::{Pid, Signal, kill_process};
    let home = Home::new();
    for _ in 0..8 {
        let mut client = Client::start(&home, &[]);
        let pid = i32::try_from(client.pid()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        client.close_input();
        let ran = client.wait();
        assert_eq!(ran.code, Some(143), "{ran:?}");
    }
}

#[test]
fn it_never_starts_itself() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_mcpdeck").to_owned();
    let itself = table("itself", &[program.clone(), "serve".to_owned()]);
    let through_a_shell = table(
        "shell",
        &["sh".into(), "-c".into(), format!("exec {program} serve")],
    );
    let count = Script::legacy().sample();
    home.configure(&[&itself, &through_a_shell, &home.table("x", &count)]);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert_eq!(answer.values("resourceTemplates", "server"), ["x"]);
    let config = home.path(".config/mcpdeck/config.toml");
    let message = format!(
        "mcpdeck serve would start itself; remove it from {}",
        config.display()
    );
    let servers = answer.structured()["servers"].as_array().unwrap();
    for server in &servers[..2] {
        assert_eq!(server["status"], "failed");
        let said = server["error"]["message"].as_str().unwrap();
        assert!(said.contains(&message), "{said}");
        assert!(said.contains("status 2"), "{said}");
    }
    // One serving mcpdeck, and one server: the fake was started by nobody else.
    let left = home.left();
    assert_eq!(left.len(), 1, "{left:?}");
    let starts = home.read("x.log").matches("\"started\"").count();
    assert_eq!(starts, 1);
    client.end();

    let mut command = home.program(&["serve"]);
    command.env("MCPDECK_PARENT", "serve");
    let ran = home.finish(command);
    assert_eq!(ran.refused(2), format!("{message}\n"));
    // A deck or a script may have it among its servers.
    let mut command = home.program(&["serve"]);
    command.env("MCPDECK_PARENT", "deck");
    assert_eq!(home.finish(command).refused(0), "");
}

#[test]
fn wrong_options_are_refused_before_anything_starts() {
    let home = Home::new();
    home.configure(&[&home.table("x", &Script::legacy().sample())]);
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(&[&["serve"], args].concat());
        let said = ran.refused(2);
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    check(&["--http", "0.0.0.0:0"], "--allow-remote");
    check(&["--http", "nonsense"], "invalid value");
    check(&["--allow-remote"], "--http");
    check(
        &["--http", "127.0.0.1:0", "--token-env", "NO_SUCH_VARIABLE"],
        "NO_SUCH_VARIABLE holds no bearer token",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(&["--http", &address], "cannot listen on");
    assert_eq!(home.run(&["serve", "--server", "nobody"]).code, Some(4));
    assert_eq!(home.read("x.log"), "");
}
