//! Which servers a command uses: config files, `--server`, project files, the command line.

use std::fs;

use serde_json::{Value, json};

use crate::support::fake::Script;
use crate::support::launch::http_server;
use crate::support::program::{Home, remote, server, shell, statuses, table};

fn sample() -> Script {
    Script::legacy().sample()
}

#[test]
fn files_are_found_by_option_variable_and_place() {
    let home = Home::new();
    let text = |name: &str| format!("{}enabled = false\n", shell(name, ""));
    home.configure(&[&text("user")]);
    home.write("work/one.toml", &text("one"));
    home.write("two.toml", &text("two"));
    let two = home.path("two.toml").display().to_string();
    let check = |args: &[&str], variable: Option<&str>, expected: &[&str]| {
        let mut program = home.program(args);
        program.arg("--json");
        if let Some(path) = variable {
            program.env("MCPDECK_CONFIG", path);
        }
        let listed = home.finish(program).json(0);
        let names: Vec<&str> = listed["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|server| server["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{args:?} {variable:?}");
    };
    check(&["list"], None, &["user"]);
    check(&["list"], Some(&two), &["two"]);
    check(&["--config", "one.toml", "list"], Some(&two), &["one"]);
    check(
        &["list", "--config", "one.toml", "--config", &two],
        None,
        &["one", "two"],
    );
    // `$XDG_CONFIG_HOME` decides where the user's file is.
    home.write("elsewhere/mcpdeck/config.toml", &text("xdg"));
    let mut program = home.program(&["list"]);
    program.env("XDG_CONFIG_HOME", home.path("elsewhere"));
    assert_eq!(home.finish(program).text(0), "xdg\tdisabled\t\n");
    let mut program = home.program(&["list"]);
    program.env_remove("XDG_CONFIG_HOME");
    assert_eq!(home.finish(program).text(0), "user\tdisabled\t\n");
}

#[test]
fn a_later_file_overrides_and_the_hidden_definition_is_named() {
    let home = Home::new();
    home.write(
        "work/1.toml",
        &format!("{}enabled = false\n", shell("a", "")),
    );
    home.write("work/2.toml", &table("a", &home.fake("a", &sample())));
    let args = ["list", "--config", "1.toml", "--config", "2.toml"];
    let ran = home.run(&args);
    assert_eq!(ran.text(0), "a\tconnected\t\n");
    assert_eq!(
        ran.stderr,
        "mcpdeck: server \"a\" of 1.toml is hidden by the one of 2.toml\n"
    );
    let quiet = home.run(&[&args[..], &["--quiet"]].concat());
    assert_eq!(quiet.stderr, "");
    // With JSON it is said on stderr too: stdout is the object alone.
    let ran = home.run(&[&args[..], &["--json"]].concat());
    assert_eq!(server(&ran.json(0), "a")["source"], "2.toml");
    assert!(ran.stderr.contains("is hidden by"), "{ran:?}");
}

#[test]
fn the_users_file_wins_over_project_files() {
    let home = Home::new();
    let disabled = |name: &str| format!("{}enabled = false\n", shell(name, "touch started"));
    home.configure(&[&disabled("a")]);
    home.write(
        "work/.mcpdeck.toml",
        &format!("{}{}", disabled("a"), shell("b", "touch started")),
    );
    home.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"b": {"command": "touch", "args": ["started"]},
            "c": {"command": "touch", "args": ["started"]}}}"#,
    );
    let ran = home.run(&["list", "--json"]);
    let listed = ran.json(0);
    assert_eq!(
        statuses(&listed),
        json!([["a", "disabled"], ["b", "untrusted"], ["c", "untrusted"]])
    );
    assert!(
        server(&listed, "b")["source"]
            .as_str()
            .unwrap()
            .ends_with(".mcpdeck.toml")
    );
    assert_eq!(ran.stderr.matches("is hidden by").count(), 2, "{ran:?}");
    assert!(!home.path("work/started").exists());
}

#[test]
fn servers_of_project_files_are_listed_as_untrusted_and_never_started() {
    let home = Home::new();
    let project = json!({"mcpServers": {"p": {
        "command": "sh",
        "args": ["-c", "touch started; exit 1"],
        "env": {"TOKEN": "${NO_SUCH_VARIABLE}"},
    }}});
    home.write("work/.mcp.json", &project.to_string());
    let ran = home.run(&["list", "all", "--json"]);
    let listed = ran.json(0);
    let untrusted = server(&listed, "p");
    assert_eq!(untrusted["status"], "untrusted");
    assert_eq!(untrusted["error"], Value::Null);
    assert_eq!(listed["errors"], json!([]));
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(
        ran.stderr.starts_with("mcpdeck: p: not started") && ran.stderr.contains("--trust"),
        "{ran:?}"
    );
    let ran = home.run(&["list"]);
    assert_eq!(ran.text(0), "p\tuntrusted\t\n");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert_eq!(home.run(&["list", "--quiet"]).stderr, "");
    assert!(!home.path("work/started").exists());
    // A file that is named is trusted, and so is everything with `--trust`.
    let project = json!({"mcpServers": {"p": {"command": "sh", "args": ["-c", "touch started"]}}});
    home.write("work/.mcp.json", &project.to_string());
    for args in [&["list", "--trust"][..], &["list", "--config", ".mcp.json"]] {
        assert!(
            home.run(args).text(3).starts_with("p\tfailed\tsh: "),
            "{args:?}"
        );
        fs::remove_file(home.path("work/started")).unwrap();
    }
}

#[test]
fn server_chooses_among_the_configured_ones_in_config_order() {
    let home = Home::new();
    let tables = ["a", "b", "c"].map(|name| format!("{}enabled = false\n", shell(name, "")));
    home.configure(&tables.each_ref().map(String::as_str));
    let check = |args: &[&str], expected: &str| {
        assert_eq!(home.run(args).text(0), expected, "{args:?}");
    };
    check(&["list", "--server", "b"], "b\tdisabled\t\n");
    check(
        &["--server", "c", "list", "--server", "a"],
        "a\tdisabled\t\nc\tdisabled\t\n",
    );
    for args in [
        &["list", "--json", "--server", "a", "--server", "x"][..],
        &["list", "--server", "x"],
    ] {
        assert_eq!(
            home.run(args).refused(4),
            "mcpdeck: server \"x\" not found; available servers: a, b, c\n"
        );
    }
    // A read is of one of those that were chosen.
    let ran = home.run(&["read", "a", "x:1", "--server", "b"]);
    assert!(ran.refused(4).contains("server \"a\" not found"), "{ran:?}");
    let ran = home.run(&["read", "a", "x:1", "--server", "a"]);
    assert!(ran.refused(3).contains("disabled"), "{ran:?}");
}

#[test]
fn other_tools_files_are_read() {
    let home = Home::new();
    let command = home.fake("s", &sample());
    let (program, args) = (&command[0], &command[1..]);
    let server = json!({"command": program, "args": args});
    let check = |name: &str, text: &str| {
        home.write(name, text);
        let path = home.path(name).display().to_string();
        assert_eq!(
            home.run(&["list", "--config", &path]).text(0),
            "s\tconnected\t\n",
            "{text}"
        );
    };
    check(
        "claude.json",
        &json!({"mcpServers": {"s": server}}).to_string(),
    );
    check(
        "vscode.json",
        &format!("// comment\n{{\"servers\": {{\"s\": {server},}}}}"),
    );
    check(
        "codex.toml",
        &table("s", &command).replace("[servers.", "[mcp_servers."),
    );
    home.write("other.json", r#"{"something": {}}"#);
    let path = home.path("other.json").display().to_string();
    let ran = home.run(&["list", "--config", &path]);
    assert!(ran.refused(2).contains("no servers in it"), "{ran:?}");
}

#[test]
fn a_command_behind_two_dashes_is_the_only_server() {
    let home = Home::new();
    home.configure(&[
        "[settings]\nconnect_timeout = '250ms'\n",
        &shell("configured", "touch started"),
    ]);
    let command = home.fake("adhoc", &sample().read_text("x:1", "read"));
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let listed = home
        .run(&[&["list", "all", "--json", "--"], &command[..]].concat())
        .json(0);
    assert_eq!(statuses(&listed), json!([["fake-mcp-server", "connected"]]));
    assert_eq!(server(&listed, "fake-mcp-server")["source"], Value::Null);
    let read = [&["read", "x:1", "--"], &command[..]].concat();
    assert_eq!(home.run(&read).text(0), "read");
    let ran = home.run(&[&["read", "x:1", "--json", "--"], &command[..]].concat());
    assert_eq!(ran.json(0)["server"], "fake-mcp-server");
    assert!(!home.path("work/started").exists());
    // The settings of the file hold.
    let listed = home
        .run(&["list", "--json", "--", "sh", "-c", "sleep 60"])
        .json(3);
    assert_eq!(server(&listed, "sh")["error"]["kind"], "timeout");
    // The name is the file name without its extension.
    home.write("work/my-server.py", "");
    let listed = home
        .run(&["list", "--json", "--", "./my-server.py"])
        .json(3);
    assert_eq!(server(&listed, "my-server")["error"]["kind"], "connect");
}

#[test]
fn the_options_of_a_command_reach_it() {
    let home = Home::new();
    home.write("elsewhere/x", "");
    let check = |options: &[&str], expected: &[(&str, Option<&str>)]| {
        let args = [
            &["list"],
            options,
            &["--", "sh", "-c", r#"pwd > "$HOME/out"; env >> "$HOME/out""#],
        ]
        .concat();
        let mut program = home.program(&args);
        program.env("OURS", "our value").env("LC_TIME", "C");
        assert_eq!(home.finish(program).code, Some(3));
        let out = home.read("out");
        for (name, value) in expected {
            let prefix = format!("{name}=");
            let found = out.lines().find_map(|line| line.strip_prefix(&prefix));
            assert_eq!(found, *value, "{options:?}: {name}");
        }
        out.lines().next().unwrap().to_owned()
    };
    check(
        &[],
        &[
            ("OURS", None),
            ("LC_TIME", Some("C")),
            ("MCPDECK_PARENT", Some("cli")),
        ],
    );
    check(
        &["--env", "A=b=c ${HOME}", "--env", "OURS", "--env", "EMPTY="],
        &[
            ("A", Some("b=c ${HOME}")),
            ("OURS", Some("our value")),
            ("EMPTY", Some("")),
        ],
    );
    check(&["--inherit-env"], &[("OURS", Some("our value"))]);
    let folder = home.path("elsewhere").display().to_string();
    assert!(check(&["--cwd", &folder], &[]).ends_with("/elsewhere"));
    assert!(check(&["--cwd", "../elsewhere"], &[]).ends_with("/elsewhere"));
    assert!(check(&[], &[]).ends_with("/work"));
}

#[test]
fn a_url_is_the_only_server() {
    let home = Home::new();
    home.configure(&[&shell("configured", "touch started")]);
    let script = sample()
        .read_text("x:1", "read")
        .http(|http| http.bearer = Some("some-bearer".into()));
    let (address, _fake) = http_server(script);
    let url = format!("http://{address}/mcp");
    let header = "Authorization: Bearer some-bearer";
    let listed = home
        .run(&["list", "all", "--json", "--url", &url, "--header", header])
        .json(0);
    let remote = server(&listed, "127.0.0.1");
    assert_eq!(
        (&remote["status"], &remote["transport"], &remote["source"]),
        (&json!("connected"), &json!("http"), &Value::Null)
    );
    for option in ["http", "sse"] {
        let args = [
            "--url",
            &url,
            "--header",
            header,
            "--transport",
            option,
            "list",
            "--json",
        ];
        let ran = home.run(&args);
        let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(server(&listed, "127.0.0.1")["transport"], option);
    }
    let read = ["read", "x:1", "--url", &url, "--header", header];
    assert_eq!(home.run(&read).text(0), "read");
    assert!(!home.path("work/started").exists());
}

#[test]
fn a_wrong_command_line_ends_with_2_and_says_what_is_wrong() {
    let home = Home::new();
    home.configure(&[&shell("a", "touch started")]);
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        let stderr = ran.refused(2);
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    };
    let url = "http://localhost/mcp";
    check(&["list", "--url", url, "--", "sh"], "not both");
    check(&["list", "--server", "a", "--", "sh"], "--server");
    check(&["list", "--server", "a", "--url", url], "--server");
    check(&["read", "a", "x:1", "--", "sh"], "the URI alone");
    check(&["read", "x:1"], "read takes a server and a URI");
    check(&["read"], "Usage");
    check(&["list", "everything"], "everything");
    check(&["lits"], "lits");
    check(&["list", "--jsn"], "--json");
    for option in [
        &["--env", "A=b"][..],
        &["--inherit-env"],
        &["--cwd", "x"],
        &["--header", "A: b"],
        &["--transport", "http"],
        &["--protocol", "auto"],
    ] {
        let args = [&["list"], option].concat();
        check(&args, option[0]);
    }
    check(&["list", "--url", url, "--env", "A=b"], "--env");
    check(&["list", "--url", "ftp://x"], "--url");
    check(&["list", "--header", "A: b", "--", "sh"], "--header");
    check(
        &["list", "--url", url, "--header", "nothing"],
        "NAME: VALUE",
    );
    check(&["list", "--url", url, "--transport", "tcp"], "--transport");
    check(&["list", "--protocol", "new", "--", "sh"], "--protocol");
    check(
        &["list", "--env", "NOT_SET_ANYWHERE", "--", "sh"],
        "NOT_SET_ANYWHERE",
    );
    check(&["list", "--timeout", "soon"], "--timeout");
    check(&["list", "--timeout", "0s"], "--timeout");
    check(&["list", "--timeout", "5"], "--timeout");
    assert!(!home.path("work/started").exists());
}

#[test]
fn a_wrong_config_ends_with_2_and_says_where() {
    let home = Home::new();
    let check = |text: &str, expected: &str| {
        home.write("work/c.toml", text);
        for args in [
            &["list", "--json", "--config", "c.toml"][..],
            &["read", "a", "x:1", "--config", "c.toml"],
            &[
                "list",
                "--config",
                "c.toml",
                "--",
                "sh",
                "-c",
                "touch started",
            ],
        ] {
            let ran = home.run(args);
            let stderr = ran.refused(2);
            assert!(stderr.contains(expected), "{args:?}: {stderr}");
            assert!(stderr.contains("c.toml:"), "{args:?}: {stderr}");
        }
    };
    check("servers = ", "c.toml:1");
    check("[settings]\nmose = true\n", "did you mean `mouse`?");
    check("[setings]\n", "did you mean `settings`?");
    check("[settings]\nconnect_timeout = '0s'\n", "connect_timeout");
    let ran = home.run(&["list", "--json", "--config", "missing.toml"]);
    assert!(
        ran.refused(2).contains("missing.toml: no such file"),
        "{ran:?}"
    );
    let mut program = home.program(&["list", "--json"]);
    program.env("MCPDECK_CONFIG", "missing.toml");
    assert!(home.finish(program).refused(2).contains("missing.toml"));
    assert!(!home.path("work/started").exists());
}

#[test]
fn the_servers_of_one_url_and_one_command_differ_by_transport_word() {
    let home = Home::new();
    let (address, _fake) = http_server(sample());
    home.configure(&[
        &home.table("local", &sample()),
        &remote("far", &format!("http://{address}/mcp")),
    ]);
    let listed = home.run(&["list", "--json"]).json(0);
    assert_eq!(server(&listed, "local")["transport"], "stdio");
    assert_eq!(server(&listed, "far")["transport"], "http");
}
