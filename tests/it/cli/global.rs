//! What holds for every command: `--server`, key lists that are wrong, and which files are read.

use crate::support::fake::Script;
use crate::support::program::{Home, shell};

const USER: &str = ".config/mcpdeck/config.toml";

/// A command line for every command that knows a configured server `a`, and one of another tool.
fn every_command() -> Vec<Vec<&'static str>> {
    let lines = [
        "list",
        "list all --json",
        "read a x:1",
        "check",
        "check --json",
        "watch --for 1s",
        "serve",
        "remove a",
        "enable a",
        "disable a",
        "trust a",
        "trust --revoke a",
        "login a",
        "logout a",
        "config show",
        "config check",
    ];
    lines.map(|line| line.split(' ').collect()).to_vec()
}

#[test]
fn an_unknown_server_ends_every_command_with_4() {
    let home = Home::new();
    let table = format!("{}enabled = false\n", shell("alpha", "touch started"));
    home.configure(&[&table]);
    home.write(
        "work/other.json",
        r#"{"mcpServers": {"o": {"command": "o"}}}"#,
    );
    let mut commands = every_command();
    commands.extend(
        ["trust --list", "config path", "config path --json"].map(|line| line.split(' ').collect()),
    );
    commands.push(vec!["import", "other.json", "--dry-run"]);
    for command in commands {
        let ran = home.run(&[&command[..], &["--server", "nope"]].concat());
        let stderr = ran.refused(4);
        assert!(
            stderr.starts_with("mcpdeck: server \"nope\" not found; "),
            "{command:?}: {stderr}"
        );
    }
    assert_eq!(home.read(USER), table);
    // One that is not far away is named.
    let ran = home.run(&["list", "--server", "aplha"]);
    assert_eq!(
        ran.refused(4),
        "mcpdeck: server \"aplha\" not found; did you mean \"alpha\"?; available servers: alpha\n"
    );
    let ran = home.run(&["read", "alpa", "x:1"]);
    assert!(
        ran.refused(4).contains("did you mean \"alpha\"?"),
        "{ran:?}"
    );
    // A new server is not among those that are chosen from.
    let ran = home.run(&["add", "b", "--server", "alpha", "--", "b"]);
    assert!(ran.refused(2).contains("--server"), "{ran:?}");
}

#[test]
fn what_is_done_to_a_server_is_done_to_one_of_the_chosen() {
    let home = Home::new();
    let tables = ["a", "b"].map(|name| shell(name, ""));
    home.configure(&tables.each_ref().map(String::as_str));
    let before = home.read(USER);
    for command in ["remove", "enable", "disable", "trust"] {
        let ran = home.run(&[command, "a", "--server", "b"]);
        assert!(ran.refused(4).contains("server \"a\" not found"), "{ran:?}");
    }
    assert_eq!(home.read(USER), before);
    assert_eq!(home.run(&["disable", "a", "--server", "a"]).text(0), "");
}

#[test]
fn a_wrong_key_list_is_an_error_of_its_file_for_every_command() {
    let home = Home::new();
    let text = format!(
        "{}[keys]\nhelp = ['x']\nrefrsh = ['r']\n",
        shell("a", "touch started")
    );
    home.configure(&[&text]);
    home.write(
        "work/other.json",
        r#"{"mcpServers": {"o": {"command": "o"}}}"#,
    );
    let mut commands = every_command();
    commands.push(vec!["add", "c", "--", "c"]);
    commands.push(vec!["import"]);
    commands.push(vec!["import", "other.json"]);
    commands.push(vec!["list", "--", "sh", "-c", "touch started"]);
    commands.push(vec!["serve", "--", "sh", "-c", "touch started"]);
    for command in commands {
        let ran = home.run(&command);
        let stderr = ran.refused(2);
        for expected in [
            "unknown key `refrsh`",
            "config.toml:6:1",
            "did you mean `refresh`?",
        ] {
            assert!(stderr.contains(expected), "{command:?}: {stderr}");
        }
    }
    assert_eq!(home.read(USER), text);
    assert!(!home.path("work/started").exists());
    // Where a new server would be written is said all the same.
    assert!(
        home.run(&["config", "path"])
            .text(0)
            .contains("config.toml")
    );
}

#[test]
fn key_lists_that_are_wrong_only_together_are_found_too() {
    let home = Home::new();
    home.write("work/1.toml", "[keys]\nhelp = ['x']\nrefresh = ['f5']\n");
    home.write("work/2.toml", "[keys]\nrefresh = ['x']\n");
    for command in [&["list"][..], &["config", "check"]] {
        let files = ["--config", "1.toml", "--config", "2.toml"];
        let ran = home.run(&[command, &files].concat());
        let stderr = ran.refused(2);
        assert!(
            stderr.contains("key `x` is bound to both") && stderr.contains(".toml:2:"),
            "{command:?}: {stderr}"
        );
    }
}

#[test]
fn a_server_of_the_command_line_needs_no_file_of_another_tool() {
    let home = Home::new();
    home.write("work/.mcp.json", "{\"mcpServers\": ");
    let command = home.fake("s", &Script::legacy().sample());
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let ran = home.run(&[&["list", "--"], &command[..]].concat());
    assert_eq!(ran.text(0), "fake-mcp-server\tconnected\t\n");
    assert_eq!(ran.stderr, "");
    // Our own has the settings, so what is wrong with it counts.
    home.write("work/.mcpdeck.toml", "[settings]\nmose = true\n");
    let ran = home.run(&[&["list", "--"], &command[..]].concat());
    assert!(ran.refused(2).contains(".mcpdeck.toml:2:1"), "{ran:?}");
}
