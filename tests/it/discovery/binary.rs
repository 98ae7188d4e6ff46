//! The same through the real program, over stdio and HTTP: what it prints, how it ends, and what
//! it was heard to ask.

use serde_json::{Value, json};

use super::Program;
use crate::support::fake::listing::item;
use crate::support::fake::{Action, Page, Reply, Script};
use crate::support::launch::http_server;

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";

/// The error of a listing as the JSON output has it.
fn error(method: &str, kind: &str, code: Option<i64>, message: &str) -> Value {
    let mut error = json!({"server": "fake", "method": method, "kind": kind});
    if let Some(code) = code {
        error["code"] = code.into();
    }
    error["message"] = message.into();
    error
}

#[test]
fn everything_is_listed_and_counted() {
    let program = Program::new().server("fake", &Script::legacy().sample());
    let run = program.list("all");
    assert_eq!(run.stderr, "");
    let json = run.json(0);
    let counts = json!({"resources": 1, "resourceTemplates": 1, "tools": 1, "prompts": 1});
    assert_eq!(json["servers"][0]["counts"], counts);
    assert_eq!(json["servers"][0]["generation"], 1);
    let template = json!({"server": "fake", "uriTemplate": "fake:///one/{id}", "name": "one"});
    assert_eq!(json["resourceTemplates"], json!([template]));
    assert_eq!(json["errors"], json!([]));
    for method in crate::support::fake::script::LIST_METHODS {
        assert_eq!(program.count("fake", method), 1, "{method}");
    }
}

#[test]
fn a_listing_is_asked_for_alone_and_by_nobody_else() {
    let asked = |what: &str| {
        let program = Program::new().server("fake", &Script::legacy().sample());
        assert_eq!(program.list(what).code, Some(0));
        program.home.asked("fake").split_off(2)
    };
    assert_eq!(asked("templates"), [TEMPLATES]);
    assert_eq!(asked("resources"), [RESOURCES]);
    assert_eq!(asked("tools"), ["tools/list"]);
    assert_eq!(asked("prompts"), ["prompts/list"]);
    assert_eq!(asked("servers").len(), 4);
}

#[test]
fn two_full_listings_of_100_pages_pass_and_one_more_item_fails() {
    let script = |count: usize| {
        Script::legacy()
            .generated(RESOURCES, count, count.div_ceil(100))
            .generated(TEMPLATES, count, count.div_ceil(100))
    };
    let program = Program::new().server("fake", &script(10_000));
    let run = program.list("all");
    let json = run.json(0);
    assert_eq!(json["errors"], json!([]));
    for (list, method) in [("resources", RESOURCES), ("resourceTemplates", TEMPLATES)] {
        assert_eq!(json[list].as_array().unwrap().len(), 10_000);
        assert_eq!(json[list][9_999]["name"], "item-10000");
        assert_eq!(program.count("fake", method), 100);
    }

    let program = Program::new().server("fake", &script(10_001));
    let run = program.list("all");
    let json = run.json(3);
    assert_eq!(
        [&json["resources"], &json["resourceTemplates"]],
        [&json!([]), &json!([])]
    );
    let errors = json!([
        error(
            RESOURCES,
            "item_limit",
            None,
            "page 100: more than 10,000 resources"
        ),
        error(
            TEMPLATES,
            "item_limit",
            None,
            "page 100: more than 10,000 templates"
        ),
    ]);
    assert_eq!(json["errors"], errors);
    assert_eq!(program.count("fake", TEMPLATES), 100);
}

/// A server of two pages of templates whose second answer is this; over both transports.
async fn check_second_page(reply: Reply, expected: Value) {
    let script = Script::legacy()
        .templates(vec![
            Page::more(vec![item(TEMPLATES, "1")], "secret-cursor"),
            Page::last(vec![item(TEMPLATES, "2")]),
        ])
        .on_nth(TEMPLATES, 2, reply);
    let over_stdio = Program::new().server("fake", &script);
    let (address, fake) = http_server(script);
    let over_http = Program::new().url("fake", address);
    for program in [&over_stdio, &over_http] {
        let run = program.list("templates");
        let json = run.json(3);
        assert_eq!(json["errors"], json!([expected]));
        assert_eq!(json["resourceTemplates"], json!([]));
        assert_eq!(json["servers"][0]["status"], "connected");
        assert_eq!(
            json["servers"][0]["counts"]["resourceTemplates"],
            Value::Null
        );
        for text in [&run.stdout, &run.stderr, &program.home.state()] {
            assert!(!text.contains("secret-cursor"), "{text}");
        }
    }
    assert_eq!(over_stdio.count("fake", TEMPLATES), 2);
    assert_eq!(fake.count(TEMPLATES).await, 2);
}

#[tokio::test]
async fn failures_are_told_alike_over_stdio_and_http() {
    let check = check_second_page;
    let page = |items: &str| Reply::result_text(format!(r#"{{"resourceTemplates":{items}}}"#));
    let good = r#"{"uriTemplate":"u","name":"n"}"#;
    check(
        page(&format!(r#"[{good},{good},{{"uriTemplate":"u"}}]"#)),
        error(
            TEMPLATES,
            "malformed",
            None,
            "page 2, item 3: name is missing",
        ),
    )
    .await;
    check(
        page("7"),
        error(
            TEMPLATES,
            "malformed",
            None,
            "page 2: resourceTemplates is not an array",
        ),
    )
    .await;
    let again = format!(r#"{{"resourceTemplates":[{good}],"nextCursor":"secret-cursor"}}"#);
    check(
        Reply::result_text(again),
        error(
            TEMPLATES,
            "repeated_cursor",
            None,
            "page 2 ended with a cursor that an earlier page had",
        ),
    )
    .await;
    check(
        Reply::error(-32601, "gone"),
        error(TEMPLATES, "rpc", Some(-32601), "gone"),
    )
    .await;
    check(
        Reply::error_object(json!({"code": "-32601", "message": "gone"})),
        error(
            TEMPLATES,
            "malformed",
            None,
            "the error's code is not an integer",
        ),
    )
    .await;
}

#[tokio::test]
async fn a_cursor_in_a_servers_own_message_is_masked() {
    let check = check_second_page;
    let masked = |message: &str, shown: &str| {
        let reply = Reply::error(-32602, message);
        (reply, error(TEMPLATES, "rpc", Some(-32602), shown))
    };
    for (reply, expected) in [
        masked("Invalid cursor: secret-cursor", "Invalid cursor: ***"),
        masked("'secret-cursor' and \"secret-cursor\"", "'***' and \"***\""),
        masked("cursor=secret-cursor.", "cursor=***."),
    ] {
        check(reply, expected).await;
    }
}

/// In whatever order they are looked for: each run has another one.
#[tokio::test]
async fn a_cursor_that_begins_as_another_does_is_masked_whole() {
    for _ in 0..8 {
        let script = crate::support::fake::Script::legacy()
            .templates(vec![
                crate::support::fake::listing::Page::more(vec![], "MQ"),
                crate::support::fake::listing::Page::more(vec![], "MQ=="),
                crate::support::fake::listing::Page::last(vec![]),
            ])
            .on_nth(TEMPLATES, 3, Reply::error(-32602, "bad cursor MQ=="));
        let (server, _) = crate::support::rig::discovered(script).await;
        let shown =
            crate::support::rig::listing(&server, mcpdeck::domain::ListMethod::ResourceTemplates);
        assert_eq!(shown, "failed !rpc -32602: bad cursor ***");
    }
}

#[test]
fn a_cursor_is_masked_as_a_word_only() {
    let check = |cursors: &[&str], message: &str, shown: &str| {
        let mut pages: Vec<Page> = cursors
            .iter()
            .map(|cursor| Page::more(vec![], *cursor))
            .collect();
        pages.push(Page::last(vec![]));
        let nth = u64::try_from(pages.len()).unwrap();
        let script =
            Script::legacy()
                .templates(pages)
                .on_nth(TEMPLATES, nth, Reply::error(-32602, message));
        let run = Program::new().server("fake", &script).list("templates");
        let expected = error(TEMPLATES, "rpc", Some(-32602), shown);
        assert_eq!(run.json(3)["errors"], json!([expected]), "{cursors:?}");
    };
    check(
        &["abc"],
        "abcd, xabc and abc_ stay, abc does not",
        "abcd, xabc and abc_ stay, *** does not",
    );
    check(&["page", "2"], "no page 2 of 20", "no *** *** of 20");
    // An empty cursor is no word.
    check(&[""], "empty cursor", "empty cursor");
    check(&["a+b/=="], "what is a+b/==?", "what is ***?");
}

#[tokio::test]
async fn no_templates_over_http_is_the_error_in_a_200_or_without_a_session_a_404() {
    let script = |stateless: bool, reply: Reply| {
        Script::legacy()
            .http(|http| http.stateless = stateless)
            .named(RESOURCES, &["r"])
            .named(TEMPLATES, &["t"])
            .on(TEMPLATES, reply)
    };
    let list = |script: Script, code: i32| {
        let (address, fake) = http_server(script);
        let run = Program::new().url("fake", address).list("templates");
        (run.json(code), fake)
    };
    let no_such_method = || Reply::error(-32601, "Method not found");
    for (stateless, reply) in [
        (true, no_such_method()),
        (false, no_such_method()),
        (false, no_such_method().sse(true)),
        (true, no_such_method().with_status(404)),
        (true, no_such_method().with_status(400)),
    ] {
        let (json, fake) = list(script(stateless, reply.clone()), 0);
        assert_eq!(json["errors"], json!([]), "{reply:?}");
        assert_eq!(json["servers"][0]["counts"]["resourceTemplates"], 0);
        assert_eq!(fake.count(TEMPLATES).await, 1);
    }
    // With a session, 404 says that it has expired.
    let (json, _) = list(script(false, no_such_method().with_status(404)), 3);
    assert_eq!(json["servers"][0]["status"], "failed");
    assert_eq!(json["errors"][0]["kind"], "closed");
    // Without such a body it is only a status.
    let (json, _) = list(script(true, Reply::status(404)), 3);
    assert_eq!(json["errors"][0]["kind"], "connect");
}

#[tokio::test]
async fn cursors_go_over_http_byte_for_byte() {
    let cursors = ["a", "", " ", "é\u{200b}\n", "{\"a\":1}"];
    let mut pages: Vec<Page> = cursors
        .iter()
        .map(|cursor| Page::more(vec![], *cursor))
        .collect();
    pages.push(Page::last(vec![item(TEMPLATES, "last")]));
    for sse in [false, true] {
        let script = Script::legacy()
            .templates(pages.clone())
            .http(|http| http.sse = sse);
        let (address, fake) = http_server(script);
        let program = Program::new().url("fake", address);
        let run = program.list("templates");
        assert_eq!(run.json(0)["resourceTemplates"][0]["name"], "last");
        let sent: Vec<Option<Value>> = fake
            .of(TEMPLATES)
            .await
            .iter()
            .map(|request| request.params.as_ref()?.get("cursor").cloned())
            .collect();
        let mut expected = vec![None];
        expected.extend(cursors.map(|cursor| Some(Value::from(cursor))));
        assert_eq!(sent, expected);
    }
}

#[test]
fn a_failed_server_leaves_the_others_whole() {
    let broken = Script::legacy()
        .sample()
        .on(RESOURCES, Reply::error(-32603, "no"))
        .on(TEMPLATES, Reply::result(json!({})))
        .at_start(Action::stdout("noise\n"));
    let dead = Script::legacy().on("initialize", Reply::exit(3, "bye\n"));
    let program = Program::new()
        .server("good", &Script::legacy().sample())
        .server("broken", &broken)
        .server("dead", &dead);
    let run = program.list("all");
    let json = run.json(3);
    let statuses: Vec<&Value> = json["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| &server["status"])
        .collect();
    assert_eq!(statuses, ["connected", "connected", "failed"]);
    let of = |list: &str| {
        let items = json[list].as_array().unwrap().iter();
        items
            .map(|item| item["server"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("resources"), ["good"]);
    assert_eq!(of("resourceTemplates"), ["good"]);
    assert_eq!(of("tools"), ["good", "broken"]);
    assert_eq!(json["servers"][0]["error"], Value::Null);
    let counts = json!({"resources": null, "resourceTemplates": null, "tools": 1, "prompts": 1});
    assert_eq!(json["servers"][1]["counts"], counts);
    let kinds: Vec<_> = json["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (&error["server"], &error["kind"]))
        .collect();
    let expected = [
        ("broken", "rpc"),
        ("broken", "malformed"),
        ("dead", "connect"),
    ];
    assert_eq!(kinds.len(), 3);
    for ((server, kind), (expected_server, expected_kind)) in kinds.into_iter().zip(expected) {
        assert_eq!(
            (server, kind),
            (&json!(expected_server), &json!(expected_kind))
        );
    }
    assert_eq!(json["servers"][2]["error"], json["errors"][2]);
}

#[test]
fn texts_are_clean_and_uris_exact_in_json() {
    let raw = "\u{1b}]0;x\u{7}a\u{202e}\u{200b}b\u{9b}1m";
    let script = Script::legacy()
        .templates(vec![Page::last(vec![
            json!({"uriTemplate": raw, "name": raw}),
        ])])
        .on(RESOURCES, Reply::error(-32000, raw))
        .on(
            "tools/list",
            Reply::result(json!({"tools": [{"name": raw}]})),
        )
        .capabilities(json!({"resources": {}, "tools": {}}));
    let program = Program::new().server("fake", &script);
    let json = program.list("all").json(3);
    let template = json!({"server": "fake", "uriTemplate": raw, "name": "ab"});
    assert_eq!(json["resourceTemplates"], json!([template]));
    assert_eq!(json["tools"][0]["name"], "ab");
    assert_eq!(
        json["errors"],
        json!([error(RESOURCES, "rpc", Some(-32000), "ab")])
    );
    // As text nothing of it reaches a terminal, in the exact template neither.
    // As text nothing of it reaches a terminal, not even in the exact template.
    let text = program.home.run(&["list", "all"]);
    for output in [&text.stdout, &text.stderr] {
        let bad =
            |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{200b}".contains(c);
        assert!(!output.contains(bad), "{output:?}");
    }
}

#[test]
fn the_log_has_method_kind_and_code_and_never_what_the_server_said() {
    let script = Script::legacy()
        .sample()
        .on(TEMPLATES, Reply::error(-32603, "said by the server"))
        .on("tools/list", Reply::result(json!({"tools": 7})));
    let program = Program::new().server("fake", &script);
    assert_eq!(program.list("all").code, Some(3));
    let logs = program.home.state();
    let line = |words: &[&str]| {
        logs.lines()
            .any(|line| words.iter().all(|word| line.contains(word)))
    };
    assert!(line(&[TEMPLATES, "rpc", "-32603"]), "{logs}");
    assert!(line(&["tools/list", "malformed"]), "{logs}");
    assert!(!logs.contains("said by the server"), "{logs}");
}
