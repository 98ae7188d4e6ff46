//! What a call says of servers that fail, are late, or are unknown.

use serde_json::json;

use super::client::Client;
use crate::support::fake::{Reply, Script};
use crate::support::launch::http_server;
use crate::support::program::{Home, remote};

#[test]
fn one_of_ten_servers_fails_and_nine_are_whole() {
    let home = Home::new();
    let mut tables: Vec<String> = (1..=9)
        .map(|number| {
            let name = format!("s{number}");
            home.table(&name, &Script::legacy().sample())
        })
        .collect();
    tables.insert(4, "[servers.broken]\ncommand = 'no-such-command'\n".into());
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    home.configure(&tables);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert!(!answer.is_error());
    assert_eq!(
        answer.values("resourceTemplates", "server"),
        ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]
    );
    let line = "Server \"broken\" is not connected (failed: could not start: no-such-command: command not found)";
    assert_eq!((answer.blocks(), answer.block(1)), (2, line));
    let servers = answer.structured()["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 10);
    assert_eq!(servers[4]["status"], "failed");
    assert_eq!(answer.structured()["errors"], json!([servers[4]["error"]]));

    let answer = client.templates_of("broken");
    assert!(answer.is_error());
    assert_eq!((answer.block(0), answer.block(1)), ("[]", line));
    let answer = client.templates_of("s7");
    assert!(!answer.is_error());
    assert_eq!(answer.values("resourceTemplates", "server"), ["s7"]);
    assert_eq!(client.read("broken", "x:y").message(), line);
    client.end();
}

#[test]
fn an_unknown_server_is_told_the_known_ones() {
    let home = Home::new();
    let bare = Script::legacy().named("tools/list", &["tool"]);
    home.configure(&[
        &home.table("a", &Script::legacy().sample()),
        &home.table("b", &bare),
    ]);
    let mut client = Client::start(&home, &[]);
    let unknown = "Server \"x\" not found. Available servers: a, b";
    let answer = client.templates_of("x");
    assert_eq!(answer.message(), unknown);
    assert_eq!(answer.structured()["servers"].as_array().unwrap().len(), 2);
    assert_eq!(client.read("x", "fake:///one").message(), unknown);
    // Names are compared byte for byte.
    assert!(
        client
            .templates_of("A")
            .message()
            .starts_with("Server \"A\" not found")
    );

    let unable = "Server \"b\" does not support resources";
    assert_eq!(client.templates_of("b").message(), unable);
    assert_eq!(client.read("b", "fake:///one").message(), unable);
    // Among others it is no failure.
    let answer = client.templates();
    assert_eq!((answer.blocks(), answer.is_error()), (1, false));
    client.end();
    let asked = home.asked("b");
    assert!(
        !asked.iter().any(|method| method.starts_with("resources/")),
        "{asked:?}"
    );
}

#[test]
fn nothing_there_beside_a_failure_is_an_empty_list_and_no_error() {
    let home = Home::new();
    let empty = Script::legacy()
        .named("resources/list", &[])
        .named("resources/templates/list", &[]);
    home.configure(&[
        &home.table("empty", &empty),
        "[servers.gone]\ncommand = 'no-such-command'\n",
    ]);
    let mut client = Client::start(&home, &[]);
    for answer in [client.templates(), client.resources()] {
        assert_eq!((answer.block(0), answer.is_error()), ("[]", false));
        let line = answer.block(1);
        assert!(
            line.starts_with("Server \"gone\" is not connected (failed: "),
            "{line}"
        );
    }
    client.end();
}

#[test]
fn what_is_switched_off_or_not_approved_is_no_failure_until_it_is_asked_for() {
    let home = Home::new();
    let table = home.table("off", &Script::legacy().sample());
    home.configure(&[&format!("{table}enabled = false\n")]);
    home.write(
        "work/.mcpdeck.toml",
        &home.table("new", &Script::legacy().sample()),
    );
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert_eq!(answer.block(0), "No resource templates found.");
    assert_eq!((answer.blocks(), answer.is_error()), (1, false));
    assert_eq!(
        answer.structured()["servers"],
        json!([
            {"name": "off", "status": "disabled", "error": null},
            {"name": "new", "status": "untrusted", "error": null},
        ])
    );
    for (name, status) in [("off", "disabled"), ("new", "untrusted")] {
        let message = format!("Server \"{name}\" is not connected ({status})");
        assert_eq!(client.templates_of(name).message(), message);
        assert_eq!(client.read(name, "fake:///one").message(), message);
        let uri = format!("mcpdeck://{name}/r/x");
        let error = client.error("resources/read", json!({"uri": uri}));
        assert_eq!(error["message"], message);
    }
    client.end();
    assert_eq!(home.read("off.log") + &home.read("new.log"), "");
}

#[test]
fn a_server_that_wants_a_log_in_is_named() {
    let home = Home::new();
    let mut script = Script::legacy().sample();
    script.http.bearer = Some("right-token".to_owned());
    let (address, _fake) = http_server(script);
    home.configure(&[
        &remote("closed", &format!("http://{address}/mcp")),
        &home.table("open", &Script::legacy().sample()),
    ]);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert_eq!(answer.values("resourceTemplates", "server"), ["open"]);
    let line = answer.block(1).to_owned();
    let start = "Server \"closed\" is not connected (needs-auth: ";
    assert!(line.starts_with(start), "{line}");
    assert_eq!(answer.structured()["errors"][0]["kind"], "auth");
    assert_eq!(client.read("closed", "fake:///one").message(), line);
    client.end();
}

#[test]
fn where_all_failed_the_answer_is_an_error() {
    let home = Home::new();
    let failing = Script::legacy().sample().on(
        "resources/templates/list",
        Reply::error(-32000, "no database"),
    );
    home.configure(&[
        &home.table("a", &failing),
        "[servers.b]\ncommand = 'no-such-command'\n",
    ]);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert!(answer.is_error());
    assert_eq!((answer.blocks(), answer.block(0)), (2, "[]"));
    let lines: Vec<&str> = answer.block(1).lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(
        lines[0],
        "a: resources/templates/list: error -32000: no database"
    );
    assert!(lines[1].starts_with("Server \"b\" is not connected (failed: "));
    // The other listing of the same server is well.
    let answer = client.resources();
    assert!(!answer.is_error());
    assert_eq!(answer.values("resources", "server"), ["a"]);
    client.end();
}

#[test]
fn a_call_waits_for_servers_that_connect_and_names_those_that_still_do() {
    let home = Home::new();
    let slow = Script::legacy()
        .sample()
        .process(|process| process.start_delay_ms = 1_500);
    let mute = Script::legacy().on("*", Reply::silence());
    let slow_list = Script::legacy()
        .sample()
        .on("resources/list", Reply::silence());
    home.configure(&[
        &home.table("fast", &Script::legacy().sample()),
        &home.table("slow", &slow),
        &home.table("mute", &mute),
        &home.table("slowlist", &slow_list),
    ]);
    let mut client = Client::start(&home, &["--wait", "300ms"]);
    let answer = client.templates();
    assert!(!answer.is_error());
    assert_eq!(answer.values("resourceTemplates", "server"), ["fast"]);
    let waiting = "is not connected (connecting: not ready after 300 ms; ask again)";
    assert_eq!(
        answer.block(1).lines().collect::<Vec<_>>(),
        [
            format!("Server \"slow\" {waiting}"),
            format!("Server \"mute\" {waiting}"),
            "slowlist: resources/templates/list: not ready after 300 ms; ask again".to_owned(),
        ]
    );
    let servers = &answer.structured()["servers"];
    assert_eq!(servers[1]["status"], "connecting");
    assert_eq!(servers[1]["error"]["kind"], "timeout");
    assert_eq!(
        client.read("mute", "x:y").message(),
        format!("Server \"mute\" {waiting}")
    );
    assert!(client.templates_of("mute").is_error());
    let answer = client.call("list_mcp_servers", &json!({}));
    assert_eq!(answer.list("servers")[2]["status"], "connecting");
    client.end();

    let mut client = Client::start(&home, &["--server", "slow", "--server", "fast"]);
    let answer = client.templates();
    assert_eq!(
        answer.values("resourceTemplates", "server"),
        ["fast", "slow"]
    );
    assert_eq!((answer.blocks(), answer.is_error()), (1, false));
    client.end();
}
