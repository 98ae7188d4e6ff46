//! 4.7, as far as lists depend on it: noise, answers that cannot be used, odd handshakes.

use mcpdeck::domain::{FailureKind, ListMethod, ServerSnapshot};
use mcpdeck::mcp::LineKind;
use serde_json::{Value, json};

use super::check;
use crate::support::fake::{Action, Part, Reply, Rule, Script};
use crate::support::rig::{NAME, Rig, discovered, listing, live};

const TOOLS: &str = "tools/list";

fn tools() -> Script {
    Script::legacy().named(TOOLS, &["a"])
}

/// Checks what is shown of the tools.
async fn check_tools(script: Script, shown: &str) {
    check(ListMethod::Tools, script, shown, 1).await;
}

/// The result that lists one tool with this JSON as its name.
fn named(name: &str) -> String {
    format!(r#"{{"tools":[{{"name":{name}}}]}}"#)
}

#[tokio::test(start_paused = true)]
async fn noise_is_counted_and_breaks_nothing() {
    let noise = "Server listening\n\n   \n\u{1b}[32mready\u{1b}[0m\n{}\n[]\n7\n\"x\"\n{\"level\":\"info\"}\n{broken\n";
    let (rig, fake) = Rig::with(tools().banner(noise).noise(noise)).await;
    let server = rig.server();
    assert_eq!(listing(&server, ListMethod::Tools), "a");
    let lines = rig.client().await.lines_since(0).await;
    assert!(lines.iter().all(|line| line.kind == LineKind::Noise));
    let count = |text: &str| lines.iter().filter(|line| &*line.text == text).count();
    // At the start, before `initialize` and before the list.
    assert_eq!(
        (count("Server listening"), count("ready"), count("{broken")),
        (3, 3, 3)
    );
    assert!(server.noise >= 3 * 8, "{}", server.noise);
    // Nobody answers it.
    assert_eq!(fake.events("unparsed").await.len(), 0);
    let asked = ["initialize", "notifications/initialized", TOOLS];
    assert_eq!(fake.methods().await, asked);
    assert_eq!(
        fake.received()
            .await
            .iter()
            .filter(|entry| entry.error.is_some())
            .count(),
        0
    );
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_found_in_what_wraps_it() {
    let answer = r#"{"jsonrpc":"2.0","id":{id},"result":{result}}"#;
    for wrapped in [
        format!("\u{feff}{answer}\n"),
        format!("  \t{answer}  \r\n"),
        format!("\u{1b}[1m{answer}\u{1b}[0m\n"),
        format!("[{answer}]\n"),
        format!("[7,{{\"method\":\"x\"}},{answer},null]\n"),
        answer.replace("\"jsonrpc\":\"2.0\",", "") + "\n",
        answer.replace("{id}", "\"{id}\"") + "\n",
        format!("{}\n", answer.replace("\"id\"", "\"id\":\"x\",\"id\"")),
        answer.replace("\"result\"", "\"error\":null,\"result\"") + "\n",
        answer.replace("\"result\"", "\"more\":[{\"id\":1}],\"result\"") + "\n",
        format!("noise {answer}\n{answer}\n"),
        format!("{answer}\n{answer}\n"),
    ] {
        check_tools(tools().on(TOOLS, Reply::raw(&wrapped)), "a").await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_used_fails_its_request_at_once() {
    let check_malformed = async |answer: &str, reason: &str| {
        let script = tools().on(TOOLS, Reply::raw(&format!("{answer}\n")));
        check_tools(script, &format!("failed !malformed: {reason}")).await;
    };
    let both = "the answer has both result and error";
    check_malformed(
        r#"{"id":{id},"result":{},"error":{"code":1,"message":""}}"#,
        both,
    )
    .await;
    check_malformed(r#"{"id":{id}}"#, "the answer has neither result nor error").await;
    check_malformed(
        r#"{"id":{id},"result":{"tools":[}}"#,
        "the answer is no valid JSON",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"result":{"tools":["#,
        "the answer is no valid JSON",
    )
    .await;
    check_malformed(
        r#"{"result":{"tools":[}},"id":{id}}"#,
        "the answer is no valid JSON",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"error":{"message":"x"}}"#,
        "the error's code is not an integer",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"error":{"code":1.5}}"#,
        "the error's code is not an integer",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"error":"no"}"#,
        "the error is not an object with a code",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"error":[]}"#,
        "the error is not an object with a code",
    )
    .await;
    check_malformed(
        r#"{"id":{id},"result":7}"#,
        "page 1: the result is not an object",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn answers_to_nobody_are_counted_and_dropped() {
    for stray in [
        r#"{"id":4711,"result":{"tools":[{"name":"stray"}]}}"#,
        r#"{"id":null,"result":{"tools":[{"name":"stray"}]}}"#,
        r#"{"result":{"tools":[{"name":"stray"}]}}"#,
        r#"{"id":"abc","error":{"code":-32601,"message":"stray"}}"#,
        r#"{"id":{},"result":{}}"#,
        r#"{"id":4711,"error":{"code":-32000,"message":"stray"}}"#,
    ] {
        let before = Action::WriteStdout(vec![Part::from(stray), Part::from("\n")]);
        let script = tools().rule(Rule::on(TOOLS, Reply::default().before(before)));
        let (server, _) = discovered(script).await;
        assert_eq!(listing(&server, ListMethod::Tools), "a", "{stray}");
        assert_eq!(server.noise, 1, "{stray}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lone_surrogate_is_read_as_a_replacement() {
    for (name, shown) in [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""a\udfffb""#, "a\u{fffd}b"),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
    ] {
        check_tools(tools().on(TOOLS, Reply::result_text(named(name))), shown).await;
    }
    let bytes = vec![
        Part::from(r#"{"id":{id},"result":{"tools":[{"name":"a"#),
        Part::Bytes(vec![0xff, 0xc3]),
        Part::from("b\"}]}}\n"),
    ];
    check_tools(tools().on(TOOLS, Reply::parts(bytes)), "a\u{fffd}\u{fffd}b").await;
}

#[tokio::test(start_paused = true)]
async fn deep_nesting_is_survived_wherever_it_stands() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let maps = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for deep in [&deep, &maps] {
        let item = |fields: &str| format!(r#"{{"tools":[{{"name":"a",{fields}}}]}}"#);
        let results = [
            item(&format!(r#""unknown":{deep}"#)),
            item(&format!(r#""_meta":{deep}"#)),
            item(&format!(r#""inputSchema":{{"x":{deep}}}"#)),
            item(&format!(r#""annotations":{deep}"#)),
            format!(r#"{{"unknown":{deep},"tools":[{{"name":"a"}}]}}"#),
        ];
        for result in results {
            check_tools(tools().on(TOOLS, Reply::result_text(result)), "a").await;
        }
        let bad = [
            format!(r#"{{"tools":{deep}}}"#),
            format!(r#"{{"tools":[{deep}]}}"#),
            named(deep),
            format!(r#"{{"tools":[],"nextCursor":{deep}}}"#),
        ];
        for result in bad {
            let (server, _) = discovered(tools().on(TOOLS, Reply::result_text(result))).await;
            let error = server.error(Some(ListMethod::Tools)).unwrap();
            assert_eq!(error.failure.kind, FailureKind::Malformed);
        }
        let error =
            format!(r#"{{"id":{{id}},"error":{{"code":-32000,"message":"no","data":{deep}}}}}"#);
        let (server, _) = discovered(tools().on(TOOLS, Reply::raw(&(error + "\n")))).await;
        assert!(server.error(Some(ListMethod::Tools)).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_over_the_limit_fails_the_request_that_it_answers() {
    let limit = 16 * 1024 * 1024;
    let long = |start: &str, end: &str| {
        Reply::parts(vec![
            Part::from(start),
            Part::fill("x", limit),
            Part::from(end),
            Part::from("\n"),
        ])
    };
    let too_long = "the answer is a line of more than 16 MiB";
    let (rig, fake) = Rig::with(tools().on_nth(
        TOOLS,
        2,
        long(r#"{"id":{id},"result":{"tools":[""#, "\"]}}"),
    ))
    .await;
    let name = rig.server().name.clone();
    let refresh = async |shown: &str| {
        rig.handle.refresh(&name).await;
        rig.until(shown, |server| listing(server, ListMethod::Tools) == shown)
            .await;
    };
    refresh(&format!("old: a !malformed: {too_long}")).await;
    // The connection goes on.
    refresh("a").await;
    // The id may stand behind all this, too.
    fake.send(Action::rule(Rule::on(
        TOOLS,
        long(r#"{"result":{"tools":[""#, r#""]},"id":{id}}"#),
    )))
    .await;
    refresh(&format!("old: a !malformed: {too_long}")).await;
    fake.send(Action::ClearRules(TOOLS.to_owned())).await;
    refresh("a").await;
    // Noise of any length is noise.
    fake.send(Action::WriteStdout(vec![
        Part::fill("noise ", 4 * 1024 * 1024),
        Part::from("\n"),
    ]))
    .await;
    refresh("a").await;
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_odd_handshake_is_set_right_and_noted() {
    let check_connected = async |result: Value, connected: bool| {
        let script = tools().on("initialize", Reply::result(result.clone()));
        let mut rig = Rig::start(live());
        rig.add(NAME, vec![script]).await;
        let over = |server: &ServerSnapshot| server.is_settled();
        let server = rig.until("over", over).await;
        let status = if connected { "connected" } else { "failed" };
        assert_eq!(server.status.word(), status, "{result}");
        rig.end().await;
    };
    let version = "2025-06-18";
    check_connected(
        json!({"protocolVersion": version, "capabilities": {"tools": {}}}),
        true,
    )
    .await;
    check_connected(json!({"protocolVersion": version, "capabilities": {}, "serverInfo": 7, "instructions": []}), true).await;
    check_connected(json!({"protocolVersion": version, "capabilities": {"tools": {}, "logging": 7}, "serverInfo": {"name": null}}), true).await;
    for version in ["2024-11-05", "2025-03-26", "2025-11-25"] {
        check_connected(
            json!({"protocolVersion": version, "capabilities": {}}),
            true,
        )
        .await;
    }
    for result in [
        json!({"capabilities": {}}),
        json!({"protocolVersion": version}),
        json!({"protocolVersion": 7, "capabilities": {}}),
        json!({"protocolVersion": version, "capabilities": []}),
        json!({"protocolVersion": "2023-01-01", "capabilities": {}}),
        json!([]),
    ] {
        check_connected(result, false).await;
    }
}
