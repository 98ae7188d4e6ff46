//! `mcpdeck check`: the object, the table, what is to be done, and the exit code.

use std::time::Duration;

use crate::support::fake::{Reply, Script};
use crate::support::launch::http_server;
use crate::support::site::{Site, USER};

/// A site with these servers.
fn site(servers: &[(&str, Script)]) -> Site {
    let site = Site::new(&[]);
    let tables = servers
        .iter()
        .map(|(name, script)| site.server(name, script));
    site.write(USER, &tables.collect::<Vec<_>>().join("\n"));
    site
}

#[test]
fn every_server_has_a_time_and_a_failed_one_a_hint() {
    let site = site(&[("good", Script::legacy().sample())]);
    let rest = "[servers.bad]\ncommand = 'no-such-program'\n[servers.off]\ncommand = 'x'\nenabled = false\n";
    site.write(USER, &format!("{}{rest}", site.text(USER)));
    let ran = site.run(&["check", "--json"]).ends_with(3);
    let checked = ran.json();
    let [good, bad, off] = [0, 1, 2].map(|at| checked["servers"][at].clone());
    assert_eq!(
        (&good["status"], &good["hint"]),
        (&"connected".into(), &().into())
    );
    assert!(
        good["ms"].is_u64() && good["counts"]["resources"].is_u64(),
        "{good}"
    );
    assert!(
        bad["ms"].is_u64() && bad["error"]["kind"] == "connect",
        "{bad}"
    );
    assert_eq!(
        bad["hint"],
        "install it, or give the full path of the program as its command"
    );
    assert_eq!(
        (&off["status"], &off["ms"], &off["hint"]),
        (&"disabled".into(), &().into(), &().into())
    );
    assert_eq!(checked["errors"].as_array().unwrap().len(), 1);
    assert_eq!(ran.stderr, "");
    let ran = site.run(&["check"]).ends_with(3);
    let rows: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [9, 9, 9]);
    assert_eq!(
        (rows[0][0], rows[0][1], rows[0][3]),
        ("good", "connected", "2025-11-25")
    );
    assert!(rows[0][2].ends_with(" ms"));
    assert_eq!(
        rows[2],
        ["off", "disabled", "-", "-", "-", "-", "-", "-", "-"]
    );
    assert_eq!(
        ran.stderr,
        "mcpdeck: bad: could not start: no-such-program: command not found\n\
         mcpdeck:   install it, or give the full path of the program as its command\n"
    );
}

#[test]
fn every_exit_code_comes_from_a_real_run() {
    let check = |site: &Site, args: &[&str], code: i32, object: bool| {
        let ran = site
            .run(&[&["check", "--json"], args].concat())
            .ends_with(code);
        assert_eq!(!ran.stdout.is_empty(), object, "{ran:?}");
        if object {
            assert!(ran.json()["servers"].is_array());
        } else {
            assert_ne!(ran.stderr, "");
        }
    };
    let empty = Site::new(&[]);
    check(&empty, &[], 0, true);
    let good = site(&[("good", Script::legacy().sample())]);
    check(&good, &[], 0, true);
    check(&good, &["--server", "nope"], 4, false);
    check(&good, &["--config", "nope.toml"], 2, false);
    check(&good, &["--nope"], 2, false);
    let list = site(&[(
        "x",
        Script::legacy()
            .sample()
            .on("tools/list", Reply::error(-32000, "no")),
    )]);
    check(&list, &[], 3, true);
    let (address, _server) = http_server(
        Script::legacy()
            .sample()
            .http(|http| http.bearer = Some("t".into())),
    );
    let locked = Site::new(&[(
        USER,
        &format!("[servers.x]\nurl = 'http://{address}/mcp'\n"),
    )]);
    check(&locked, &[], 5, true);
    let ran = locked.run(&["check"]);
    assert!(
        ran.stderr.contains("give it a token in `headers`"),
        "{ran:?}"
    );
}

#[test]
fn an_untrusted_server_is_no_error() {
    let site = Site::new(&[(
        "work/.mcpdeck.toml",
        "servers.a = { command = 'no-such-program' }",
    )]);
    let ran = site.run(&["check", "--json"]).ends_with(0);
    let server = &ran.json()["servers"][0];
    assert_eq!(
        (&server["status"], &server["error"]),
        (&"untrusted".into(), &().into())
    );
    assert_eq!(server["hint"], "look at it and approve it: mcpdeck trust a");
    assert!(ran.stderr.contains("mcpdeck trust a"), "{ran:?}");
    assert_eq!(site.run(&["check", "--json", "--quiet"]).stderr, "");
    site.run(&["check", "--trust"]).ends_with(3);
}

#[test]
fn a_timeout_fails_what_is_not_finished_and_shows_the_rest() {
    let silent = Script::legacy()
        .on("initialize", Reply::silence())
        .discover_silent();
    let site = site(&[("good", Script::legacy().sample()), ("silent", silent)]);
    let ran = site
        .run(&["check", "--json", "--timeout", "1500ms"])
        .ends_with(3);
    let checked = ran.json();
    assert_eq!(checked["servers"][0]["status"], "connected");
    let silent = &checked["servers"][1];
    assert_eq!(silent["error"]["kind"], "timeout");
    assert_eq!(silent["hint"], "give it more time with --timeout");
    assert!(silent["ms"].as_u64() >= Some(1_500), "{silent}");
}

/// On a terminal stderr says what is waited for; it is gone in the end.
#[test]
fn progress_is_shown_on_a_terminal_only() {
    let slow = Script::legacy()
        .sample()
        .on("initialize", Reply::delay(800).with_default());
    let site = site(&[("slow", slow)]);
    let shown = terminal(&site, &["list"]);
    assert!(
        shown.contains("waiting for 1 of 1: slow\r\u{1b}[K"),
        "{shown:?}"
    );
    assert!(shown.trim_end().ends_with("slow  connected"), "{shown:?}");
    assert!(!terminal(&site, &["list", "--quiet"]).contains("waiting"));
    assert_eq!(site.run(&["list"]).ends_with(0).stderr, "");
}

/// What the program writes to a terminal of 80 columns.
fn terminal(site: &Site, args: &[&str]) -> String {
    use std::io::Read as _;
    let pty = portable_pty::native_pty_system()
        .openpty(portable_pty::PtySize::default())
        .unwrap();
    let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_mcpdeck"));
    command.args(args);
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", site.path(""));
    command.cwd(site.path("work"));
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().unwrap();
    let reading = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // A terminal whose program has ended gives an error, not an end.
        let _ = reader.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    child.wait().unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(10);
    while !reading.is_finished() && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    reading.join().unwrap()
}
