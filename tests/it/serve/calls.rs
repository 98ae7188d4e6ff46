//! The tools when all goes well: what is asked of servers, and what is answered from memory.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::fake::{Action, Listing, Page, Reply, Rule, Script};
use crate::support::launch::http_server;
use crate::support::program::{Home, remote, until};

const TEMPLATES: &str = "resources/templates/list";

/// How often the fake of this name was asked with each of the methods.
fn counts(home: &Home, name: &str, methods: [&str; 3]) -> [usize; 3] {
    let asked = home.asked(name);
    methods.map(|method| asked.iter().filter(|asked| *asked == method).count())
}

const LISTS_AND_READ: [&str; 3] = ["resources/list", TEMPLATES, "resources/read"];

#[test]
fn a_server_with_only_templates_becomes_visible_without_a_read() {
    let home = Home::new();
    let script = Script::legacy()
        .named(TEMPLATES, &["only"])
        .named("resources/list", &[])
        .named("tools/list", &["tool"]);
    home.configure(&[&home.table("files", &script)]);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert!(!answer.is_error());
    assert_eq!(answer.blocks(), 1);
    assert_eq!(
        answer.list("resourceTemplates"),
        &json!([{"server": "files", "uriTemplate": "fake:///only/{id}", "name": "only"}])
    );
    let structured = answer.structured();
    assert_eq!(structured["errors"], json!([]));
    assert_eq!(
        structured["servers"],
        json!([{"name": "files", "status": "connected", "error": null}])
    );
    let answer = client.resources();
    assert!(!answer.is_error());
    assert_eq!(
        answer.block(0),
        "No resources found. MCP servers may still provide tools even if they have no resources."
    );
    assert_eq!(answer.structured()["resources"], json!([]));
    client.end();
    assert_eq!(counts(&home, "files", LISTS_AND_READ), [1, 1, 0]);
    // Nothing else is asked: no tools, which are not served, and nothing is read or completed.
    assert_eq!(
        home.asked("files"),
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "resources/list",
            TEMPLATES
        ]
    );
}

#[test]
fn unknown_templates_are_an_empty_list_and_every_other_failure_is_named() {
    let check = |method: &str, code: i64, is_failure: bool| {
        let home = Home::new();
        let script = Script::legacy()
            .sample()
            .on(method, Reply::error(code, "that failed"));
        home.configure(&[&home.table("x", &script)]);
        let mut client = Client::start(&home, &[]);
        let (answer, field) = if method == TEMPLATES {
            (client.templates(), "resourceTemplates")
        } else {
            (client.resources(), "resources")
        };
        assert_eq!(answer.is_error(), is_failure, "{method} {code}");
        if is_failure {
            assert_eq!(answer.block(0), "[]");
            let line = format!("x: {method}: error {code}: that failed");
            assert_eq!(answer.block(1), line);
            assert_eq!(answer.list(field), &json!([]));
            let error = json!({
                "server": "x", "method": method, "kind": "rpc", "code": code,
                "message": "that failed",
            });
            assert_eq!(answer.structured()["errors"], json!([error]));
        } else {
            assert_eq!(answer.block(0), "No resource templates found.");
            assert_eq!(answer.structured()["errors"], json!([]));
        }
        client.end();
    };
    check(TEMPLATES, -32601, false);
    for code in [-32603, -32602, -32600, -32000, -32001, -32700, 1] {
        check(TEMPLATES, code, true);
    }
    check("resources/list", -32601, true);
    check("resources/list", -32603, true);

    // That code on a later page is a failure, too.
    let home = Home::new();
    let pages = vec![
        Page::more(
            vec![json!({"uriTemplate": "fake:///{a}", "name": "a"})],
            "next",
        ),
        Page::last(vec![json!({"uriTemplate": "fake:///{b}", "name": "b"})]),
    ];
    let second = Rule::on(TEMPLATES, Reply::error(-32601, "that failed"));
    let script = Script::legacy()
        .sample()
        .templates(pages)
        .rule(second.params(json!({"cursor": "next"})));
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert_eq!((answer.block(0), answer.is_error()), ("[]", true));
    let line = "x: resources/templates/list: error -32601: that failed";
    assert_eq!(answer.block(1), line);
    client.end();
}

#[test]
fn a_second_call_is_answered_from_memory_and_after_a_failure_the_next_asks_again() {
    let home = Home::new();
    let healthy = Script::legacy().sample();
    // It fails until its other resource is read, however often it is asked.
    let heal = Reply::default().before(Action::ClearRules(TEMPLATES.to_owned()));
    let failing = Script::legacy()
        .sample()
        .on(TEMPLATES, Reply::error(-32603, "not now"))
        .read("fake:///one", heal);
    let (address, fake) = http_server(Script::legacy().sample());
    home.configure(&[
        &home.table("healthy", &healthy),
        &home.table("failing", &failing),
        &remote("web", &format!("http://{address}/mcp")),
    ]);
    let mut client = Client::start(&home, &[]);
    let first = client.templates();
    assert_eq!(
        first.values("resourceTemplates", "server"),
        ["healthy", "web"]
    );
    assert_eq!(
        first.block(1),
        "failing: resources/templates/list: error -32603: not now"
    );
    client.read("failing", "fake:///one");
    let second = client.templates();
    assert_eq!(
        second.values("resourceTemplates", "server"),
        ["healthy", "failing", "web"]
    );
    assert_eq!((second.blocks(), second.is_error()), (1, false));
    let before = counts(&home, "failing", LISTS_AND_READ);
    for _ in 0..5 {
        client.templates();
        client.resources();
        client.call("list_mcp_servers", &json!({}));
        client.ask("resources/list", json!({}));
        client.ask(TEMPLATES, json!({}));
    }
    client.end();
    assert_eq!(counts(&home, "healthy", LISTS_AND_READ), [1, 1, 0]);
    assert_eq!(counts(&home, "failing", LISTS_AND_READ), before);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        assert_eq!(fake.count("resources/list").await, 1);
        assert_eq!(fake.count(TEMPLATES).await, 1);
    });
}

#[test]
fn a_call_after_a_change_waits_for_the_new_list_or_gets_the_old_one_with_the_reason() {
    let home = Home::new();
    let change = |names: &[&str]| Action::set_pages(TEMPLATES, Listing::named(TEMPLATES, names));
    let announced = |uri: &str, names: &[&str]| {
        let reply = Reply::default()
            .before(change(names))
            .before(Action::list_changed("resources", 3));
        (uri.to_owned(), reply)
    };
    let (good, to_good) = announced("fake:///good", &["two", "three"]);
    let (bad, to_bad) = announced("fake:///bad", &["four"]);
    let to_bad = to_bad.before(Action::rule(crate::support::fake::Rule::on(
        TEMPLATES,
        Reply::error(-32603, "lost"),
    )));
    let script = Script::legacy()
        .named("resources/list", &["good", "bad"])
        .named(TEMPLATES, &["one"])
        .read(&good, to_good)
        .read(&bad, to_bad);
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let names = |answer: &super::client::Answer| {
        let values = answer.values("resourceTemplates", "name");
        values.join(" ")
    };
    assert_eq!(names(&client.templates()), "one");
    // The announcement precedes the answer to the read on the same pipe.
    client.read("x", &good);
    assert_eq!(names(&client.templates()), "two three");
    client.read("x", &bad);
    let answer = client.templates();
    assert_eq!(names(&answer), "two three");
    assert!(!answer.is_error());
    let line = answer.block(1);
    let start = "x: resources/templates/list: error -32603: lost (the list is kept from ";
    assert!(
        line.starts_with(start) && line.ends_with(" s ago)"),
        "{line}"
    );
    assert_eq!(answer.structured()["errors"][0]["message"], "lost");
    client.end();
}

#[test]
fn servers_are_told_as_on_the_command_line() {
    let home = Home::new();
    let off = "[servers.off]\ncommand = 'x'\nenabled = false\n";
    let missing = "[servers.missing]\ncommand = 'no-such-command'\n";
    home.configure(&[&home.table("x", &Script::legacy().sample()), missing, off]);
    let mut client = Client::start(&home, &[]);
    let answer = client.call("list_mcp_servers", &json!({}));
    assert!(!answer.is_error());
    let servers = answer.list("servers");
    let config = home.path(".config/mcpdeck/config.toml");
    assert_eq!(
        servers[0],
        json!({
            "name": "x", "status": "connected", "transport": "stdio",
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "fake-mcp-server", "version": "1.2.3"},
            "capabilities": ["prompts", "resources", "tools"],
            "counts": {"resources": 1, "resourceTemplates": 1, "tools": null, "prompts": null},
            "generation": 1, "error": null, "source": config,
        })
    );
    assert_eq!(servers[1]["status"], "failed");
    assert_eq!(servers[1]["error"]["kind"], "connect");
    assert_eq!(answer.structured()["errors"], json!([servers[1]["error"]]));
    assert_eq!(
        (&servers[2]["status"], &servers[2]["error"]),
        (&json!("disabled"), &Value::Null)
    );
    let reason = "could not start: no-such-command: command not found";
    assert_eq!(
        answer.block(1),
        format!("Server \"missing\" is not connected (failed: {reason})")
    );
    client.end();
}

#[test]
fn without_any_server_there_is_nothing_and_nothing_failed() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert_eq!(
        (answer.block(0), answer.is_error()),
        ("No resource templates found.", false)
    );
    let answer = client.call("list_mcp_servers", &json!({}));
    assert_eq!((answer.block(0), answer.is_error()), ("[]", false));
    assert_eq!(
        client.templates_of("x").message(),
        "Server \"x\" not found. Available servers: none"
    );
    client.end();
}

#[test]
fn a_server_of_the_command_line_can_be_served() {
    let home = Home::new();
    let mut args = vec!["--"];
    let command = home.fake("x", &Script::modern().sample());
    args.extend(command.iter().map(String::as_str));
    let mut client = Client::start_modern(&home, &args);
    let answer = client.templates();
    assert_eq!(
        answer.values("resourceTemplates", "server"),
        ["fake-mcp-server"]
    );
    client.end();
}

#[test]
fn the_tools_are_described() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        names,
        [
            "list_mcp_resources",
            "list_mcp_resource_templates",
            "read_mcp_resource",
            "list_mcp_servers"
        ]
    );
    for tool in tools {
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], true);
        assert_eq!(hints["idempotentHint"], true);
        assert_eq!(hints["destructiveHint"], false);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    assert_eq!(
        tools[2]["inputSchema"]["required"],
        json!(["server", "uri"])
    );
    let error = client.error("tools/call", json!({"name": "nope"}));
    assert_eq!(error["code"], -32602);
    let answer = client.call("read_mcp_resource", &json!({"server": "x"}));
    assert_eq!(answer.message(), "The argument \"uri\" is missing");
    let answer = client.call("list_mcp_resources", &json!({"server": 7}));
    assert_eq!(answer.message(), "The argument \"server\" must be a string");
    client.end();
}

#[test]
fn a_switched_off_server_is_never_started() {
    let home = Home::new();
    let table = home.table("off", &Script::legacy().sample());
    home.configure(&[&format!("{table}enabled = false\n")]);
    let mut client = Client::start(&home, &[]);
    assert!(!client.resources().is_error());
    assert_eq!(
        client.templates_of("off").message(),
        "Server \"off\" is not connected (disabled)"
    );
    assert_eq!(
        client.read("off", "fake:///one").message(),
        "Server \"off\" is not connected (disabled)"
    );
    client.call("list_mcp_servers", &json!({}));
    until("nothing runs", || home.left().is_empty());
    client.end();
    assert_eq!(home.read("off.log"), "");
}
