//! What a person is told to do next: lines of a shell that can be pasted, and what was meant.

use crate::support::fake::{Reply, Script};
use crate::support::launch::http_server;
use crate::support::program::Home;

/// A home with a server of this name that wants a log-in.
fn locked(key: &str) -> (Home, String, impl Sized) {
    let script = Script::legacy()
        .sample()
        .http(|http| http.bearer = Some("some-bearer".into()));
    let (address, fake) = http_server(script);
    let url = format!("http://{address}/mcp");
    let home = Home::new();
    home.configure(&[&format!("[servers.{key}]\nurl = '{url}'\n")]);
    (home, url, fake)
}

#[test]
fn a_missing_log_in_says_how_to_log_in() {
    let (home, url, _fake) = locked("\"my docs\"");
    let how = "log in: mcpdeck login 'my docs'";
    for args in [
        &["list"][..],
        &["list", "tools"],
        &["list", "all", "--server", "my docs"],
        &["read", "my docs", "x:1"],
        &["check"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(ran.stderr.contains(how), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(home.run(&["list", "--json"]).stderr, "");
    let how = format!("log in: mcpdeck login --url {url}");
    for args in [
        &["list", "tools", "--url", &url][..],
        &["read", "x:1", "--url", &url],
    ] {
        let ran = home.run(args);
        assert!(ran.stderr.contains(&how), "{args:?}: {}", ran.stderr);
    }
}

/// Of every failure that the user can do something about; the rest is for the server's author.
#[test]
fn an_error_line_says_what_to_do_next() {
    let home = Home::new();
    let silent = Script::legacy().on("*", Reply::silence()).discover_silent();
    let exits = "[servers.ends]\ncommand = 'sh'\nargs = ['-c', 'exit 7']\n";
    let broken = Script::legacy()
        .sample()
        .on("tools/list", Reply::error(-32603, "no disk"));
    home.configure(&[
        "[servers.gone]\ncommand = 'no-such-program'\n",
        "[servers.joined]\ncommand = 'no-such-program -x'\n",
        "[servers.unset]\ncommand = 'x'\nargs = ['${NO_SUCH}']\n",
        "[servers.typo]\ncomand = 'x'\n",
        exits,
        "[servers.lost]\ncommand = 'sh'\ncwd = '/no/such'\n",
        &home.table("mute", &silent),
        &home.table("broken", &broken),
    ]);
    let install = "install it, or give the full path of the program as its command";
    for (name, failure, step) in [
        ("gone", "command not found", install),
        (
            "unset",
            "environment variable NO_SUCH is not set",
            "set NO_SUCH, or give it a default: ${NO_SUCH:-text}",
        ),
        (
            "typo",
            "unknown key `comand`, did you mean `command`?",
            "correct the entry; mcpdeck config check shows the place",
        ),
        (
            "ends",
            "exit status 7",
            "run it by hand to see what it says: sh -c 'exit 7'",
        ),
        (
            "mute",
            "not finished within --timeout 900 ms",
            "give it more time with --timeout",
        ),
        (
            "lost",
            "the folder /no/such does not exist",
            "make the folder, or correct its cwd",
        ),
        // What the message says already is not said twice.
        ("joined", "command not found", "put the arguments into args"),
    ] {
        let only = ["--server", name, "--timeout", "900ms"];
        for args in [&["list", "tools"][..], &["read", name, "x:1"]] {
            let ran = home.run(&[args, &only].concat());
            let line = format!("{failure}; {step}\n");
            assert!(ran.stderr.ends_with(&line), "{args:?}: {ran:?}");
            assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {ran:?}");
        }
        // The table has the failure already.
        let ran = home.run(&[&["list"][..], &only].concat());
        let said = format!("mcpdeck: {name}: {step}\n");
        let said = if name == "joined" { "" } else { &said };
        assert_eq!(ran.stderr, said);
    }
    let ran = home.run(&["list", "tools", "--server", "broken"]);
    assert_eq!(
        ran.stderr,
        "mcpdeck: broken: tools/list: error -32603: no disk\n"
    );
    let ran = home.run(&["login", "unset"]);
    assert!(
        ran.stderr.contains("is not set; set NO_SUCH, or"),
        "{ran:?}"
    );
    for args in [&["list", "--quiet"][..], &["list", "--json"]] {
        let ran = home.run(&[args, &["--server", "gone"]].concat());
        assert_eq!(ran.stderr, "", "{args:?}");
    }
}

#[test]
fn the_name_of_a_server_is_quoted_as_a_shell_takes_it() {
    let home = Home::new();
    home.write(
        "work/.mcpdeck.toml",
        "[servers.\"a b\"]\nurl = 'http://localhost:1'\n[servers.\"-x\"]\nurl = 'http://localhost:1'\n[servers.\"${HOME}\"]\ncommand = 'x'\n",
    );
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    };
    check(&["login", "a b"], "mcpdeck trust 'a b'\n");
    check(&["list"], "mcpdeck trust 'a b'; ");
    check(&["list"], "mcpdeck trust -- -x; ");
    check(&["list"], "mcpdeck trust '${HOME}'; ");
    home.run(&["trust", "--quiet", "--", "-x"]).text(0);
    home.write("my file.json", r#"{"servers": {"j": {"command": "x"}}}"#);
    let file = home.path("my file.json").display().to_string();
    check(
        &["disable", "j", "--config", &file],
        &format!("mcpdeck import '{file}'\n"),
    );
}

#[test]
fn a_broken_entry_with_a_url_is_no_command() {
    let home = Home::new();
    home.configure(&[
        "[servers.a]\nurl = 'https://example.org/mcp'\nx = 1\n",
        "[servers.b]\nurl = 'https://example.org/mcp'\ntransport = 'sse'\nx = 1\n",
        "[servers.c]\nx = 1\n",
    ]);
    let listed = home.run(&["list", "--json"]).json(3);
    let transports: Vec<&str> = listed["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["transport"].as_str().unwrap())
        .collect();
    assert_eq!(transports, ["http", "sse", "stdio"]);
}

#[test]
fn a_mistyped_word_is_told_with_the_nearest_that_there_is() {
    let home = Home::new();
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        let stderr = ran.refused(2);
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    };
    check(
        &["chek"],
        "there is no command 'chek'; did you mean 'check'?",
    );
    check(&["--json", "lsit", "all"], "did you mean 'list'?");
    check(
        &["frobnicate"],
        "there is no command 'frobnicate'; commands: list, read, check",
    );
    check(&["config", "chek"], "'check'");
    check(&["list", "tols"], "'tools'");
    // A word too many is no command.
    check(&["check", "chek"], "unexpected argument 'chek'");
}

#[test]
fn a_check_of_nothing_says_so_and_what_to_do() {
    let check = |text: &str, project: &str, expected: &str| {
        let home = Home::new();
        home.configure(&[text]);
        home.write("work/.mcpdeck.toml", project);
        for args in [&["check"][..], &["check", "--json"]] {
            let ran = home.run(args);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(ran.stderr.contains(expected), "{ran:?}");
        }
        assert_eq!(home.run(&["check", "--quiet"]).stderr, "");
    };
    let off = "[servers.a]\ncommand = 'x'\nenabled = false\n";
    let untrusted = "[servers.b]\ncommand = 'x'\n";
    check("", "", "nothing was checked: there are no servers");
    check(
        off,
        "",
        "nothing was checked: the only server is disabled; switch one on with: mcpdeck enable NAME",
    );
    check(
        "",
        untrusted,
        "nothing was checked: the only server is untrusted; approve one with: mcpdeck trust NAME",
    );
    check(
        off,
        untrusted,
        "nothing was checked: 1 disabled, 1 untrusted; ",
    );
    let home = Home::new();
    home.configure(&[off, &home.table("s", &Script::legacy().sample())]);
    assert_eq!(home.run(&["check"]).stderr, "");
}

#[test]
fn a_listing_of_everything_says_on_a_terminal_what_each_row_is() {
    let home = Home::new();
    home.configure(&[&home.table("s", &Script::legacy().sample())]);
    let ran = home.run_on_terminal(100, &["list", "all"]);
    let rows: Vec<Vec<&str>> = ran
        .text(0)
        .lines()
        .map(|row| row.split_whitespace().collect())
        .collect();
    let (header, rows) = rows.split_first().unwrap();
    assert_eq!(*header, ["SERVER", "URI", "OR", "NAME", "TITLE", "KIND"]);
    let kinds: Vec<Option<&&str>> = rows.iter().map(|row| row.last()).collect();
    assert_eq!(
        kinds,
        ["resource", "template", "tool", "prompt"]
            .each_ref()
            .map(Some)
    );
}

#[test]
fn a_server_that_was_named_and_shows_nothing_says_why() {
    let home = Home::new();
    home.configure(&[
        "[servers.off]\ncommand = 'x'\nenabled = false\n",
        &home.table("tools", &Script::legacy().named("tools/list", &["t"])),
    ]);
    home.write("work/.mcpdeck.toml", "[servers.foreign]\ncommand = 'x'\n");
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        assert_eq!(ran.text(0), "", "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
        assert_eq!(home.run(&[args, &["--quiet"]].concat()).stderr, "");
    };
    check(
        &["list", "tools", "--server", "off"],
        "mcpdeck: off: not started: it is disabled; switch it on with: mcpdeck enable off\n",
    );
    check(
        &["list", "tools", "--server", "foreign"],
        "mcpdeck: foreign: not started",
    );
    check(
        &["list", "prompts", "--server", "tools"],
        "mcpdeck: tools: it has no prompts: it does not declare the capability prompts\n",
    );
    assert_eq!(home.run(&["list", "tools", "--server", "tools"]).stderr, "");
    assert!(!home.run(&["list", "tools"]).stderr.contains("disabled"));
}

#[test]
fn the_help_of_a_command_begins_with_its_own_options() {
    let home = Home::new();
    let help = home.run(&["import", "--help"]).text(0).to_owned();
    let place = |word: &str| help.find(word).unwrap_or_else(|| panic!("{word}: {help}"));
    let places = [
        "\nOptions:",
        "--replace",
        "--dry-run",
        "\nOptions of every command:",
        "--config <PATH>",
        "--timeout",
        "\nA server given on the command line:",
    ]
    .map(place);
    assert!(places.is_sorted(), "{help}");
}
