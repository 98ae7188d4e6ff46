//! How a run ends: exit codes, `--timeout`, closed pipes, full disks, signals.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::fake::{Reply, Script, Sigterm};
use crate::support::launch::http_server;
use crate::support::program::{Home, Ran, remote, server, statuses, until};

fn sample() -> Script {
    Script::legacy().sample()
}

/// Answers nothing at all, and ends neither when its stdin is closed nor on TERM.
fn silent() -> Script {
    Script::legacy()
        .on("*", Reply::silence())
        .process(|process| {
            process.ignore_eof = true;
            process.sigterm = Sigterm::Ignore;
        })
}

#[test]
fn each_exit_code_is_what_the_contract_says() {
    let home = Home::new();
    let locked = sample().http(|http| http.bearer = Some("secret-bearer-token".into()));
    let (locked, _fake) = http_server(locked);
    let good = home.table("good", &sample());
    let locked = remote("locked", &format!("http://{locked}/mcp"));
    let off = "[servers.off]\ncommand = 'x'\nenabled = false\n";
    let failing = home.table(
        "failing",
        &sample().on("tools/list", Reply::error(-32603, "no")),
    );
    let missing = "[servers.missing]\ncommand = 'no-such-command'\n";
    let wrong = "[servers.wrong]\ncomand = 'x'\n";
    let check = |tables: &[&str], what: &str, code: i32| {
        home.configure(tables);
        home.run(&["list", what, "--json"]).json(code);
        let ran = home.run(&["list", what]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
    };
    check(&[&good, off], "all", 0);
    check(&[&good, missing], "servers", 3);
    check(&[&good, wrong], "servers", 3);
    check(&[&good, &failing], "all", 3);
    // What was not asked for cannot fail.
    check(&[&good, &failing], "prompts", 0);
    check(&[&good, &locked], "all", 5);
    check(&[&locked, missing], "all", 3);
    check(&[missing, &locked], "all", 3);
    assert_eq!(home.run(&["--version"]).code, Some(0));
    assert_eq!(home.run(&["--help"]).code, Some(0));
    assert_eq!(home.run(&["list", "--help"]).code, Some(0));
}

#[test]
fn timeout_bounds_the_whole_run_and_the_healthy_are_shown() {
    let home = Home::new();
    let slow_list = sample().on("tools/list", Reply::silence());
    home.configure(&[
        &home.table("good", &sample()),
        &home.table("silent", &silent()),
        &home.table("slow", &slow_list),
    ]);
    let start = Instant::now();
    let listed = home
        .run(&["list", "all", "--json", "--timeout", "1500ms"])
        .json(3);
    // After the result a server has 100 ms to end by itself and 400 ms after TERM.
    let took = start.elapsed();
    assert!(
        took < Duration::from_millis(1_500 + 500 + 1_400),
        "{took:?}"
    );
    assert_eq!(
        statuses(&listed),
        json!([
            ["good", "connected"],
            ["silent", "failed"],
            ["slow", "failed"]
        ])
    );
    for name in ["silent", "slow"] {
        let server = server(&listed, name);
        assert_eq!(server["error"]["kind"], "timeout", "{name}");
        assert_eq!(server["counts"]["resources"], Value::Null, "{name}");
        assert_eq!(
            server["error"]["message"], "not finished within --timeout 1500 ms",
            "{name}"
        );
    }
    for kind in ["resources", "tools", "prompts"] {
        assert_eq!(listed[kind].as_array().unwrap().len(), 1, "{kind}");
        assert_eq!(listed[kind][0]["server"], "good", "{kind}");
    }
    // A run that is faster than its bound is not touched by it.
    let listed = home.run(&["list", "--json", "--server", "good", "--timeout", "10s"]);
    listed.json(0);
}

#[test]
fn a_closed_pipe_is_success_and_quiet() {
    let home = Home::new();
    let many = Script::legacy()
        .sample()
        .generated("resources/list", 5_000, 100)
        .read_text("x:long", &"line\n".repeat(100_000));
    home.configure(&[&home.table("s", &many)]);
    for args in [
        &["list", "resources"][..],
        &["list", "all", "--json"],
        &["list", "servers"],
        &["read", "s", "x:long"],
        &["read", "s", "x:long", "--json"],
    ] {
        // Nobody reads at all.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = home.program(args);
        program.stdout(writer);
        let ran = home.finish(program);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{args:?}");
        // Somebody reads a little, as `head -1` does.
        let mut program = home.program(args);
        let mut child = program.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{args:?}");
        drop(stdout);
        let ran = home.wait(child);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{args:?}");
    }
    // Commands that ask no server, and those that write a line at a time.
    home.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"theirs": {"command": "x"}}}"#,
    );
    for args in [
        &["check"][..],
        &["check", "--json"],
        &["watch"],
        &["import"],
        &["import", "--json"],
        &["import", ".mcp.json"],
        &["config", "show"],
        &["config", "example"],
        &["config", "path"],
        &["config", "check"],
        &["completions", "zsh"],
        &["trust", "--list", "--json"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = home.program(&[args, &["--quiet"]].concat());
        program.stdout(writer);
        let ran = home.finish(program);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{args:?}");
    }
    // Nobody reads stderr either.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut program = home.program(&["list", "--config", "missing"]);
    program.stderr(writer);
    assert_eq!(home.finish(program).code, Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_that_says_so() {
    let home = Home::new();
    home.configure(&[&home.table("s", &sample())]);
    for args in [&["list"][..], &["list", "--json"]] {
        let mut program = home.program(args);
        program.stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
        let ran = home.finish(program);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("No space left"), "{ran:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_run_with_its_own_code_and_nothing_is_left() {
    use rustix::process::Signal;
    let home = Home::new();
    home.configure(&[
        &home.table("good", &sample()),
        &home.table("silent", &silent()),
    ]);
    for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        for args in [&["list", "all", "--json"][..], &["read", "silent", "x:1"]] {
            let _ = std::fs::remove_file(home.path("silent.log"));
            let ran = interrupted(&home, home.program(args), signal, || {
                !home.asked("silent").is_empty()
            });
            assert_eq!(
                (ran.code, &*ran.stdout, &*ran.stderr),
                (Some(code), "", ""),
                "{args:?}"
            );
        }
    }
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_run_although_nobody_takes_the_output() {
    use rustix::process::Signal;
    let home = Home::new();
    let many = Script::legacy()
        .sample()
        .generated("resources/list", 5_000, 100)
        .read_text("x:long", &"line\n".repeat(100_000));
    home.configure(&[&home.table("s", &many)]);
    for args in [&["list", "resources"][..], &["read", "s", "x:long"]] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut program = home.program(args);
        program.stdout(writer);
        let child = program.spawn().unwrap();
        drop(program);
        // It has begun to print, and does not get on.
        reader.read_exact(&mut [0]).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, Signal::INT).unwrap();
        let ran = home.wait(child);
        assert_eq!((ran.code, &*ran.stderr), (Some(130), ""), "{args:?}");
        drop(reader);
    }
}

/// Starts the program, sends the signal when it is time, and waits for the end.
#[cfg(unix)]
fn interrupted(
    home: &Home,
    mut program: Command,
    signal: rustix::process::Signal,
    is_time: impl FnMut() -> bool,
) -> Ran {
    let child = program.spawn().unwrap();
    until("the server is asked", is_time);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).unwrap();
    home.wait(child)
}
