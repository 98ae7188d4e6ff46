//! `add`, `remove`, `enable` and `disable`: the file afterwards, what is said, and the exit code.

use std::fs;

use crate::support::site::{Site, USER};

const TEXT: &str =
    "# mine\n[servers.a]   # first\ncommand = 'a'\n\n[servers.b]\nurl = \"https://b\"\n";

#[test]
fn a_server_is_added_to_the_users_file_which_is_created() {
    let site = Site::new(&[]);
    let ran = site
        .run(&[
            "add", "files", "--env", "A=b c", "--env", "TOKEN", "--cwd", "/tmp", "--", "npx", "-y",
            "x",
        ])
        .ends_with(0);
    assert_eq!(
        (&*ran.stdout, &*ran.stderr),
        (
            "",
            "mcpdeck: added files to ~/.config/mcpdeck/config.toml\n"
        )
    );
    assert_eq!(
        site.text(USER),
        "[servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\nenv = { A = \"b c\", TOKEN = \"${TOKEN}\" }\ncwd = \"/tmp\"\n"
    );
    let header = "Authorization: Bearer ${T}";
    let ran = site.run(&[
        "--quiet",
        "add",
        "do.cs",
        "--url",
        "https://x/mcp",
        "--header",
        header,
    ]);
    assert_eq!(ran.ends_with(0).stderr, "");
    assert!(site.text(USER).ends_with(
        "\n[servers.\"do.cs\"]\nurl = \"https://x/mcp\"\nheaders = { Authorization = \"Bearer ${T}\" }\n"
    ));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(site.path(USER)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_server_is_added_to_the_last_toml_that_is_named() {
    let site = Site::new(&[
        ("work/1.toml", ""),
        ("work/2.toml", TEXT),
        ("work/3.json", "{\"servers\": {}}"),
    ]);
    let files = [
        "--config", "1.toml", "--config", "2.toml", "--config", "3.json",
    ];
    let args = [&files[..], &["add", "c", "--", "c"]].concat();
    site.run(&args).ends_with(0);
    assert_eq!(
        site.text("work/2.toml"),
        format!("{TEXT}\n[servers.c]\ncommand = \"c\"\n")
    );
}

#[test]
fn what_cannot_be_added_ends_with_2() {
    let site = Site::new(&[(USER, TEXT)]);
    let check = |args: &[&str], expected: &str| {
        let ran = site.run(args).ends_with(2);
        assert!(ran.stderr.contains(expected), "{ran:?}");
        assert_eq!(site.text(USER), TEXT);
    };
    check(
        &["add", "a", "--", "x"],
        "server \"a\" is there already, in ~/.config/mcpdeck/config.toml:2",
    );
    check(&["add", "c"], "a server needs -- COMMAND or --url URL");
    check(&["add", "c", "--url", "https://x", "--", "x"], "not both");
    check(&["add", "", "--", "x"], "must not be empty");
    check(
        &["add", "c", "--url", "x"],
        "--url must begin with http:// or https://",
    );
    check(
        &["add", "c", "--url", "http://x", "--header", "secret"],
        "--header expects",
    );
    check(&["add"], "required arguments");
    // One that only its tool can remove is no place to begin.
    let first = "mcpdeck remove a\n";
    check(&["add", "a", "--", "x"], first);
    site.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"theirs": {"command": "x"}}}"#,
    );
    let ran = site.run(&["add", "theirs", "--", "x"]).ends_with(2);
    assert!(ran.stderr.ends_with("; take another name\n"), "{ran:?}");
}

#[test]
fn a_server_is_switched_and_removed_and_everything_else_stays() {
    let site = Site::new(&[(USER, TEXT)]);
    let ran = site.run(&["disable", "a"]).ends_with(0);
    assert_eq!(
        ran.stderr,
        "mcpdeck: disabled a in ~/.config/mcpdeck/config.toml\n"
    );
    let off = TEXT.replace("command = 'a'\n", "command = 'a'\nenabled = false\n");
    assert_eq!(site.text(USER), off);
    // Saying it again changes nothing.
    site.run(&["disable", "a"]).ends_with(0);
    assert_eq!(site.text(USER), off);
    site.run(&["enable", "a"]).ends_with(0);
    let listed = site.run(&["config", "show", "--json"]).json();
    assert_eq!(listed["servers"][0]["enabled"], true);
    let ran = site.run(&["remove", "b"]).ends_with(0);
    assert_eq!(
        ran.stderr,
        "mcpdeck: removed b from ~/.config/mcpdeck/config.toml\n"
    );
    assert!(!site.text(USER).contains("servers.b") && site.text(USER).starts_with("# mine\n"));
}

#[test]
fn an_unknown_name_ends_with_4() {
    let site = Site::new(&[(USER, TEXT)]);
    for command in ["remove", "enable", "disable"] {
        let ran = site.run(&[command, "nope"]).ends_with(4);
        assert_eq!(
            ran.stderr,
            "mcpdeck: server \"nope\" not found; available servers: a, b\n"
        );
        assert_eq!(
            (ran.stdout, site.text(USER)),
            (String::new(), TEXT.to_owned())
        );
    }
}

#[test]
fn a_read_only_source_ends_with_2_and_stays_untouched() {
    let json = "{\"mcpServers\": {\"j\": {\"command\": \"x\"}}}";
    let site = Site::new(&[(USER, TEXT), ("work/.mcp.json", json)]);
    for command in ["remove", "enable", "disable"] {
        let ran = site.run(&[command, "j"]).ends_with(2);
        assert!(ran.stderr.contains("another tool's file"), "{ran:?}");
        assert_eq!(site.text("work/.mcp.json"), json);
    }
    let mut permissions = fs::metadata(site.path(USER)).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(site.path(USER), permissions).unwrap();
    for args in [
        &["remove", "a"][..],
        &["disable", "a"],
        &["add", "c", "--", "x"],
    ] {
        let ran = site.run(args).ends_with(2);
        assert!(ran.stderr.contains("config.toml is read-only"), "{ran:?}");
        assert_eq!(site.text(USER), TEXT);
    }
}

#[test]
fn a_file_with_an_error_is_left_alone() {
    let broken = "[servers.a]\ncommand = 'a'\n[settings]\nx = 1\n";
    let site = Site::new(&[(USER, broken)]);
    for args in [&["remove", "a"][..], &["add", "c", "--", "x"]] {
        let ran = site.run(args).ends_with(2);
        assert!(ran.stderr.contains("unknown key `x`"), "{ran:?}");
        assert_eq!(site.text(USER), broken);
    }
}

#[test]
fn of_three_definitions_the_one_before_applies_again() {
    let site = Site::new(&[]);
    let mut args = Vec::new();
    for name in ["a", "b", "c"] {
        site.write(
            &format!("work/{name}.toml"),
            "servers.x = { command = 'p' }\n",
        );
        args.extend(["--config".to_owned(), format!("{name}.toml")]);
    }
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["remove", "x"]);
    let ran = site.run(&args).ends_with(0);
    assert!(ran.stderr.contains("b.toml will apply again"), "{ran:?}");
}

#[test]
fn a_removal_says_which_definition_applies_again() {
    let site = Site::new(&[
        (USER, TEXT),
        ("work/.mcpdeck.toml", "servers.a = { command = 'p' }"),
    ]);
    let ran = site.run(&["remove", "a"]).ends_with(0);
    assert!(
        ran.stderr
            .ends_with("mcpdeck: the entry in ~/work/.mcpdeck.toml will apply again\n")
    );
}

#[test]
fn options_of_another_command_are_refused() {
    let site = Site::new(&[(USER, TEXT)]);
    for args in [
        &["remove", "a", "--url", "http://x"][..],
        &["disable", "a", "--env", "A=b"],
    ] {
        let ran = site.run(args).ends_with(2);
        assert!(
            ran.stderr
                .contains("belongs to a server given on the command line"),
            "{ran:?}"
        );
        assert_eq!(site.text(USER), TEXT);
    }
}

/// Sixteen runs at once on one file: each reads what the others have written.
#[test]
fn two_at_once_lose_nothing() {
    let site = Site::new(&[(USER, TEXT)]);
    let mut running = Vec::new();
    for index in 0..16 {
        let name = format!("s{index}");
        let mut args = match index % 4 {
            0 => vec!["disable", "a"],
            1 => vec!["enable", "a"],
            _ => vec!["add", &name, "--", "x"],
        };
        args.insert(0, "--quiet");
        running.push(site.command(&args).spawn().unwrap());
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let text = site.text(USER);
    let added = (0..16).filter(|index| index % 4 > 1);
    for index in added {
        let table = format!("[servers.s{index}]\ncommand = \"x\"\n");
        assert_eq!(text.matches(&table).count(), 1, "{text}");
    }
    assert!(
        text.starts_with("# mine\n[servers.a]   # first\n")
            && text.contains("url = \"https://b\"\n")
    );
    let folder = site.path(USER).parent().unwrap().to_owned();
    let left: Vec<_> = fs::read_dir(folder).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// A pipe in a project's folder never ends.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_project_file_keeps_nobody_waiting() {
    let site = Site::new(&[]);
    let pipe = site.path("work/.mcp.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for args in [&["list"][..], &["config", "check"]] {
        let ran = site.run(args).ends_with(2);
        assert!(ran.stderr.contains("it is no regular file"), "{ran:?}");
    }
}

#[test]
fn nothing_in_a_message_steers_the_terminal() {
    let json = "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"k\\u001b[31m\": 1}}}";
    let site = Site::new(&[("work/other.json", json)]);
    let ran = site
        .run(&["import", "./other.json", "--dry-run"])
        .ends_with(0);
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}
