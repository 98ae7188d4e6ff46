//! What `list` prints: one JSON object, tab-separated lines, or a table.

use serde_json::{Value, json};

use crate::support::fake::{Reply, Script};
use crate::support::program::{Home, Ran, remote, server, shell};

/// Two servers whose items have titles, one that is disabled, and one that does not start.
fn mixed() -> Home {
    let home = Home::new();
    let first = Script::legacy()
        .listing(
            "resources/list",
            listing(json!([
                {"uri": "file:///a", "name": "a", "title": "A", "size": 3, "mimeType": "text/plain"},
                {"uri": "file:///b", "name": "b"},
            ])),
        )
        .listing(
            "resources/templates/list",
            listing(json!([{"uriTemplate": "file:///{path}", "name": "file", "_meta": {"x": 1}}])),
        )
        .listing("tools/list", listing(json!([{"name": "t", "title": "T", "inputSchema": {}}])));
    let second = Script::legacy().named("prompts/list", &["p"]);
    home.configure(&[
        &home.table("files", &first),
        &format!("{}enabled = false\n", shell("off", "touch started")),
        "[servers.broken]\ncommand = 'no-such-command'\n",
        &home.table("prompts", &second),
    ]);
    home
}

fn listing(items: Value) -> crate::support::fake::Listing {
    let Value::Array(items) = items else {
        panic!("items are an array");
    };
    crate::support::fake::Listing::of(items)
}

const NOT_FOUND: &str = "could not start: no-such-command: command not found";

#[test]
fn the_json_object_is_exactly_that_of_the_contract() {
    let home = mixed();
    let source = home.path(".config/mcpdeck/config.toml");
    let error =
        json!({"server": "broken", "method": null, "kind": "connect", "message": NOT_FOUND});
    let idle = |name: &str, status: &str, error: &Value| {
        json!({
            "name": name, "status": status, "transport": "stdio", "protocolVersion": null,
            "serverInfo": null, "capabilities": [],
            "counts": {"resources": null, "resourceTemplates": null, "tools": null, "prompts": null},
            "generation": 0, "error": error, "source": source,
        })
    };
    let listed = home.run(&["list", "all", "--json"]).json(3);
    let info = &server(&listed, "files")["serverInfo"];
    assert!(info["name"].is_string() && info["version"].is_string());
    let connected = |name: &str, capabilities: Value, counts: Value| {
        json!({
            "name": name, "status": "connected", "transport": "stdio",
            "protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": capabilities,
            "counts": counts, "generation": 1, "error": null, "source": source,
        })
    };
    let expected = json!({
        "servers": [
            connected(
                "files",
                json!(["resources", "tools"]),
                json!({"resources": 2, "resourceTemplates": 1, "tools": 1, "prompts": null}),
            ),
            idle("off", "disabled", &Value::Null),
            idle("broken", "failed", &error),
            connected(
                "prompts",
                json!(["prompts"]),
                json!({"resources": null, "resourceTemplates": null, "tools": null, "prompts": 1}),
            ),
        ],
        "resources": [
            {"server": "files", "uri": "file:///a", "name": "a", "title": "A",
             "mimeType": "text/plain", "size": 3},
            {"server": "files", "uri": "file:///b", "name": "b"},
        ],
        "resourceTemplates": [{"server": "files", "uriTemplate": "file:///{path}", "name": "file"}],
        "tools": [{"server": "files", "name": "t", "title": "T"}],
        "prompts": [{"server": "prompts", "name": "p"}],
        "errors": [error],
    });
    // Tools keep their schema; which form it has is a matter of the decoder.
    let mut listed = listed;
    for tool in listed["tools"].as_array_mut().unwrap() {
        tool.as_object_mut().unwrap().remove("inputSchema");
    }
    assert_eq!(listed, expected, "{listed:#}");
    // The order of the fields is that of the contract too.
    let printed = home.run(&["list", "all", "--json"]).stdout;
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let order = [
        r#"{"servers":[{"name":"#,
        r#","status":"#,
        r#","transport":"#,
        r#","protocolVersion":"#,
        r#","serverInfo":"#,
        r#","capabilities":"#,
        r#","counts":{"resources":2,"resourceTemplates":1,"tools":1,"prompts":null},"generation":1,"error":"#,
        r#","source":"#,
        r#"],"resources":["#,
        r#"],"resourceTemplates":["#,
        r#"],"tools":["#,
        r#"],"prompts":["#,
        r#"],"errors":["#,
    ];
    let mut rest = &*printed;
    for part in order {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {rest}"));
        rest = &rest[at + part.len()..];
    }
}

/// Runs `list WHAT --json` over one server that has everything.
fn list_one(what: &[&str]) -> (Home, Value) {
    let home = Home::new();
    home.configure(&[&home.table("one", &Script::legacy().sample())]);
    let listed = home.run(&[&["list"], what, &["--json"]].concat()).json(0);
    (home, listed)
}

#[test]
fn only_what_is_asked_for_is_requested_counted_and_printed() {
    fn check(what: &[&str], arrays: &[&str], requests: &[&str], counts: &Value) {
        let (home, listed) = list_one(what);
        let keys: Vec<&String> = listed.as_object().unwrap().keys().collect();
        let expected: Vec<&str> = [&["servers"], arrays, &["errors"]].concat();
        assert_eq!(keys, expected, "{what:?}");
        for array in arrays {
            assert_eq!(listed[*array].as_array().unwrap().len(), 1, "{what:?}");
        }
        let mut asked = home.asked("one");
        asked.retain(|method| method.ends_with("/list"));
        asked.sort();
        assert_eq!(asked, requests, "{what:?}");
        assert_eq!(server(&listed, "one")["counts"], *counts, "{what:?}");
    }
    let counts = |resources, templates, tools, prompts| {
        let count = |asked: bool| if asked { json!(1) } else { Value::Null };
        json!({
            "resources": count(resources), "resourceTemplates": count(templates),
            "tools": count(tools), "prompts": count(prompts),
        })
    };
    let all = [
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "tools/list",
    ];
    let full = counts(true, true, true, true);
    check(&[], &[], &all, &full);
    check(&["servers"], &[], &all, &full);
    check(
        &["resources"],
        &["resources"],
        &["resources/list"],
        &counts(true, false, false, false),
    );
    check(
        &["templates"],
        &["resourceTemplates"],
        &["resources/templates/list"],
        &counts(false, true, false, false),
    );
    check(
        &["tools"],
        &["tools"],
        &["tools/list"],
        &counts(false, false, true, false),
    );
    check(
        &["prompts"],
        &["prompts"],
        &["prompts/list"],
        &counts(false, false, false, true),
    );
    let arrays = ["resources", "resourceTemplates", "tools", "prompts"];
    check(&["all"], &arrays, &all, &full);
}

#[test]
fn a_listing_that_fails_leaves_the_server_connected_and_the_others_whole() {
    let home = Home::new();
    let script = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::error(-32603, "no disk"));
    home.configure(&[
        &home.table("x", &script),
        &home.table("y", &Script::legacy().sample()),
    ]);
    let listed = home.run(&["list", "all", "--json"]).json(3);
    let error = json!({
        "server": "x", "method": "resources/templates/list", "kind": "rpc", "code": -32603,
        "message": "no disk",
    });
    assert_eq!(listed["errors"], json!([error]));
    let x = server(&listed, "x");
    assert_eq!(
        (&x["status"], &x["error"]),
        (&json!("connected"), &Value::Null)
    );
    assert_eq!(
        x["counts"],
        json!({"resources": 1, "resourceTemplates": null, "tools": 1, "prompts": 1})
    );
    let templates = listed["resourceTemplates"].as_array().unwrap();
    assert_eq!(templates.len(), 1);
    assert_eq!(templates[0]["server"], "y");
    // As text the failure is said on stderr, and what succeeded is still printed.
    let ran = home.run(&["list", "templates"]);
    assert_eq!(ran.text(3), "y\tfake:///one/{id}\tone\n");
    assert_eq!(
        ran.stderr,
        "mcpdeck: x: resources/templates/list: error -32603: no disk\n"
    );
}

#[test]
fn text_is_one_item_a_line_tab_separated_without_a_header() {
    let home = mixed();
    let check = |what: &[&str], code: i32, expected: &str| {
        let ran = home.run(&[&["list"], what].concat());
        assert_eq!(ran.text(code), expected, "{what:?}");
        ran
    };
    let servers = format!(
        "files\tconnected\t\noff\tdisabled\t\nbroken\tfailed\t{NOT_FOUND}\nprompts\tconnected\t\n"
    );
    let install = "install it, or give the full path of the program as its command";
    let said = format!("mcpdeck: broken: {install}\n");
    assert_eq!(check(&[], 3, &servers).stderr, said);
    let resources = "files\tfile:///a\tA\nfiles\tfile:///b\tb\n";
    let ran = check(&["resources"], 3, resources);
    let said = format!("mcpdeck: broken: {NOT_FOUND}; {install}\n");
    assert_eq!(ran.stderr, said);
    check(&["templates"], 3, "files\tfile:///{path}\tfile\n");
    check(&["tools"], 3, "files\tt\tT\n");
    check(&["prompts"], 3, "prompts\tp\tp\n");
    let all = "files\tfile:///a\tA\nfiles\tfile:///b\tb\nfiles\tfile:///{path}\tfile\nfiles\tt\tT\nprompts\tp\tp\n";
    check(&["all"], 3, all);
    // The disabled server was not even started.
    assert!(!home.path("work/started").exists());
}

#[test]
fn a_line_break_or_tab_inside_a_value_becomes_a_space_and_nothing_is_cut() {
    let long = "x".repeat(1_500);
    let home = Home::new();
    let hostile = Script::legacy().listing(
        "resources/list",
        listing(json!([
            {"uri": "file:///a\r\nb\tc\u{200b}\u{1b}[31m", "name": "n", "title": long},
            {"uri": "file:///ok", "name": "two\nlines\tand a tab", "title": null},
        ])),
    );
    let refusing = Script::legacy().on(
        "initialize",
        Reply::error(-32000, "first\nsecond\tthird\u{1b}[2J"),
    );
    home.configure(&[
        &home.table("hostile", &hostile),
        &home.table("refusing", &refusing),
    ]);
    let ran = home.run(&["list", "resources"]);
    let lines: Vec<&str> = ran.text(3).lines().collect();
    let escaped = r"file:///a b\u{9}c\u{200b}\u{1b}[31m";
    assert_eq!(lines[0], format!("hostile\t{escaped}\t{long}"));
    assert_eq!(lines[1], "hostile\tfile:///ok\ttwolinesand a tab");
    assert_eq!(lines.len(), 2);
    // An error is one line on stderr too: a server must not be able to write lines of its own.
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let servers = home.run(&["list"]);
    let row = servers.text(3).lines().nth(1).unwrap();
    assert!(row.contains("first second third"), "{row}");
    assert_eq!(row.split('\t').count(), 3, "{row}");
    assert!(!servers.stdout.contains('\u{1b}'), "{row}");
    // JSON keeps the URI to the byte.
    let listed = home.run(&["list", "resources", "--json"]).json(3);
    assert_eq!(
        listed["resources"][0]["uri"],
        "file:///a\r\nb\tc\u{200b}\u{1b}[31m"
    );
}

#[test]
fn on_a_terminal_text_is_an_aligned_table_with_a_header() {
    let home = mixed();
    let check = |columns: u16, what: &str, expected: &[&str]| {
        let ran = home.run_on_terminal(columns, &["list", what]);
        let lines: Vec<&str> = ran.text(3).lines().collect();
        assert_eq!(lines, expected, "{what}");
    };
    check(
        120,
        "servers",
        &[
            "NAME     STATUS     ERROR",
            "files    connected",
            "off      disabled",
            "broken   failed     could not start: no-such-command: command not found",
            "prompts  connected",
        ],
    );
    check(
        120,
        "resources",
        &[
            "SERVER  URI        TITLE",
            "files   file:///a  A",
            "files   file:///b  b",
        ],
    );
    // Nothing is cut on a narrow terminal either: the terminal breaks the line.
    check(
        20,
        "templates",
        &[
            "SERVER  URI TEMPLATE    TITLE",
            "files   file:///{path}  file",
        ],
    );
}

#[test]
fn on_a_terminal_a_list_of_nothing_says_so() {
    let home = Home::new();
    let check = |args: &[&str], expected: &str| {
        let ran = home.run_on_terminal(80, args);
        assert_eq!(ran.text(0), "", "{args:?}");
        assert_eq!(ran.stderr, expected, "{args:?}");
    };
    let bare = Script::legacy().named("prompts/list", &["p"]);
    home.configure(&[&home.table("bare", &bare)]);
    check(&["list", "templates"], "mcpdeck: no templates on bare\n");
    check(&["list", "templates", "--quiet"], "");
    home.configure(&[&home.table("bare", &bare), &home.table("other", &bare)]);
    check(
        &["list", "tools"],
        "mcpdeck: no tools on 2 connected servers\n",
    );
    let failing = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::error(-32603, "no disk"));
    home.configure(&[&home.table("x", &failing), &home.table("other", &bare)]);
    let failed = home.run_on_terminal(80, &["list", "templates"]);
    assert_eq!(failed.text(3), "");
    assert!(!failed.stderr.contains("no templates"), "{}", failed.stderr);
    home.configure(&[&home.table("bare", &bare)]);
    // A script is not told: no line is what it expects.
    assert_eq!(home.run(&["list", "tools"]).stderr, "");
}

#[test]
fn wide_characters_are_aligned_as_they_are_drawn() {
    let home = Home::new();
    let script = Script::legacy().listing(
        "resources/list",
        listing(json!([
            {"uri": "x:日本", "name": "wide"},
            {"uri": "x:abcd", "name": "narrow"},
        ])),
    );
    home.configure(&[&home.table("s", &script)]);
    let ran = home.run_on_terminal(80, &["list", "resources"]);
    assert_eq!(
        ran.text(0),
        "SERVER  URI     TITLE\ns       x:日本  wide\ns       x:abcd  narrow\n"
    );
}

#[test]
fn json_on_a_terminal_is_the_same_object() {
    let home = mixed();
    let terminal = home.run_on_terminal(80, &["list", "--json"]).json(3);
    assert_eq!(terminal, home.run(&["list", "--json"]).json(3));
}

#[test]
fn without_any_config_the_result_is_empty_and_a_hint_says_what_to_do() {
    let home = Home::new();
    let check = |args: &[&str], stdout: &str| {
        let ran = home.run(args);
        assert_eq!(ran.text(0), stdout, "{args:?}");
        assert!(
            ran.stderr.starts_with("mcpdeck: no servers are configured"),
            "{ran:?}"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        let quiet = home.run(&[args, &["--quiet"]].concat());
        assert_eq!((quiet.text(0), &*quiet.stderr), (stdout, ""), "{args:?}");
    };
    check(&["list"], "");
    check(&["list", "all"], "");
    check(&["list", "--json"], "{\"servers\":[],\"errors\":[]}\n");
    check(
        &["list", "templates", "--json"],
        "{\"servers\":[],\"resourceTemplates\":[],\"errors\":[]}\n",
    );
    check(
        &["list", "all", "--json"],
        "{\"servers\":[],\"resources\":[],\"resourceTemplates\":[],\"tools\":[],\"prompts\":[],\"errors\":[]}\n",
    );
    assert_eq!(home.run_on_terminal(80, &["list", "--quiet"]).text(0), "");
    // The file is there and holds no server: the same.
    home.write(".config/mcpdeck/config.toml", "[settings]\nmouse = false\n");
    check(&["list"], "");
}

#[test]
fn a_server_that_needs_a_log_in_says_so() {
    let home = Home::new();
    let script = Script::legacy()
        .sample()
        .http(|http| http.bearer = Some("secret-bearer-token".into()));
    let (address, _fake) = crate::support::launch::http_server(script);
    let url = format!("http://{address}/mcp");
    home.configure(&[&remote("locked", &url)]);
    let listed = home.run(&["list", "--json"]).json(5);
    let locked = server(&listed, "locked");
    assert_eq!(locked["status"], "needs-auth");
    assert_eq!(locked["transport"], "http");
    assert_eq!(locked["error"]["kind"], "auth");
    assert_eq!(listed["errors"], json!([locked["error"]]));
    let ran: Ran = home.run(&["list"]);
    assert!(
        ran.text(5).starts_with("locked\tneeds-auth\thttp://"),
        "{ran:?}"
    );
}

#[test]
fn one_bad_entry_does_not_hide_the_others() {
    let home = Home::new();
    home.configure(&[
        &home.table("good", &Script::legacy().sample()),
        "[servers.typo]\ncomand = 'x'\n",
        "[servers.both]\ncommand = 'x'\nurl = 'http://localhost'\n",
        "[servers.neither]\n",
        "[servers.type]\ncommand = 7\n",
        "[servers.variable]\ncommand = '${NO_SUCH_VARIABLE}'\n",
        "[servers.form]\ncommand = '${a:b}'\n",
        "[servers.duration]\ncommand = 'x'\nrequest_timeout = '0s'\n",
    ]);
    let file = home.path(".config/mcpdeck/config.toml");
    let listed = home.run(&["list", "--json"]).json(3);
    assert_eq!(server(&listed, "good")["status"], "connected");
    let check = |name: &str, expected: &str| {
        let server = server(&listed, name);
        assert_eq!(server["status"], "failed", "{name}");
        assert_eq!(server["error"]["kind"], "config", "{name}");
        let message = server["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{name}: {message}");
        message.to_owned()
    };
    let place = format!("{}:", file.display());
    for (name, expected) in [
        ("typo", "unknown key `comand`, did you mean `command`?"),
        ("both", "either `command` or `url`, not both"),
        ("neither", "a server needs `command` or `url`"),
        ("type", "`command` must be"),
        ("duration", "`request_timeout` must be"),
        ("form", "a literal ${ is written $${"),
    ] {
        let message = check(name, expected);
        assert!(message.starts_with(&place), "{name}: {message}");
    }
    let message = check("variable", "");
    assert_eq!(message, "environment variable NO_SUCH_VARIABLE is not set");
}
