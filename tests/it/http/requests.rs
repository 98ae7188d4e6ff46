//! What is sent: headers of the protocol and of the config, redirects, the end of a session.

use mcpdeck::domain::{HttpConfig, ListMethod, ProtocolChoice};
use serde_json::json;

use super::{SOON, connected, endpoint, found, header, put, remote};
use crate::support::fake::{Action, Reply, Route, Script};
use crate::support::launch::http_server;
use crate::support::rig::listing;

#[tokio::test]
async fn headers_of_the_protocol_are_sent_and_cannot_be_overridden() {
    let meddling = |address| HttpConfig {
        headers: vec![
            header("MCP-Protocol-Version", "1999-01-01"),
            header("Mcp-Method", "evil"),
            header("Mcp-Name", "evil"),
            header("Mcp-Session-Id", "evil"),
            header("Accept", "text/html"),
            header("X-Mine", "kept"),
        ],
        ..remote(endpoint(address))
    };
    let (address, fake) = http_server(Script::legacy().sample());
    let rig = put(meddling(address), ProtocolChoice::Legacy).await;
    rig.settled().await;
    let list = fake.wait_for("tools/list", 1, SOON).await;
    let headers = list.headers.unwrap();
    assert_eq!(headers["mcp-protocol-version"], "2025-11-25");
    assert_eq!(headers["mcp-session-id"], "session-1");
    assert_eq!(headers["x-mine"], "kept");
    assert_eq!(headers["accept"], "application/json, text/event-stream");
    assert!(!headers.contains_key("mcp-method"));
    let initialize = fake.wait_for("initialize", 1, SOON).await.headers.unwrap();
    assert!(!initialize.contains_key("mcp-protocol-version"));
    rig.end().await;
    fake.wait_for("DELETE", 1, SOON).await;

    let script = Script::modern().sample().read_text("fake:///é", "text");
    let (address, fake) = http_server(script);
    let rig = put(meddling(address), ProtocolChoice::Auto).await;
    rig.settled().await;
    for method in ["server/discover", "subscriptions/listen", "tools/list"] {
        let headers = fake.wait_for(method, 1, SOON).await.headers.unwrap();
        assert_eq!(headers["mcp-protocol-version"], "2026-07-28", "{method}");
        assert_eq!(headers["mcp-method"], method);
        assert!(!headers.contains_key("mcp-name"));
        assert!(!headers.contains_key("mcp-session-id"));
        assert_eq!(headers["x-mine"], "kept");
    }
    let deadline = tokio::time::Instant::now() + SOON;
    let read = rig.client().await.read("fake:///é", deadline).await;
    assert!(read.is_ok(), "{read:?}");
    let headers = fake
        .wait_for("resources/read", 1, SOON)
        .await
        .headers
        .unwrap();
    assert_eq!(headers["mcp-name"], "=?base64?ZmFrZTovLy/DqQ==?=");
    rig.end().await;
    assert_eq!(fake.count("DELETE").await, 0);
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_with_method_and_headers() {
    let (address, fake) = http_server(Script::legacy().sample());
    let mut script = Script::legacy();
    // Another server that redirects; its own origin has nothing else.
    script.http.routes = ["POST", "GET"]
        .map(|verb| Route {
            verb: verb.to_owned(),
            path: "/old".to_owned(),
            status: 308,
            headers: [("location".to_owned(), "/mcp".to_owned())].into(),
            body: String::new(),
        })
        .into();
    let script = Script {
        http: script.http,
        ..Script::legacy().sample()
    };
    let (redirecting, other) = http_server(script);
    let server = found(
        remote(format!("http://{redirecting}/old")),
        ProtocolChoice::Auto,
    )
    .await;
    assert_eq!(server.status.word(), "connected", "{server:?}");
    assert_eq!(other.count("tools/list").await, 1);
    drop((address, fake));
}

#[tokio::test]
async fn a_one_shot_command_opens_no_stream_and_a_live_one_opens_it_before_it_lists() {
    let (address, fake) = http_server(Script::legacy().sample());
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(server.status.word(), "connected");
    assert_eq!(fake.count("GET").await, 0);

    let (rig, fake, _) = connected(Script::legacy().sample()).await;
    let methods = fake.methods().await;
    let place = |method: &str| methods.iter().position(|it| it == method).unwrap();
    assert!(place("GET") < place("tools/list"), "{methods:?}");
    assert!(!rig.server().no_live_updates);
    fake.send(Action::list_changed("tools", 3)).await;
    fake.wait_for("tools/list", 2, SOON).await;
    rig.end().await;

    let mut script = Script::legacy().sample();
    script.http.no_get = true;
    let (rig, _fake, _) = connected(script).await;
    assert!(rig.server().no_live_updates);
    rig.end().await;
}

#[tokio::test]
async fn requests_of_the_server_are_answered_over_a_post() {
    let (rig, fake, _) = connected(Script::legacy().sample()).await;
    for (method, expected) in [("ping", json!({})), ("roots/list", json!({"roots": []}))] {
        fake.send(Action::ask(method)).await;
        let answer = fake.wait_answer(method, 1, SOON).await;
        assert_eq!(answer.result, Some(expected), "{method}");
    }
    fake.send(Action::ask("sampling/createMessage")).await;
    let answer = fake.wait_answer("sampling/createMessage", 1, SOON).await;
    assert_eq!(answer.error.unwrap()["code"], -32601);
    rig.end().await;
}

#[tokio::test]
async fn a_request_that_is_given_up_is_cancelled_as_the_era_has_it() {
    let (rig, fake, _) = connected(
        Script::legacy()
            .sample()
            .on("resources/read", Reply::silence()),
    )
    .await;
    let client = rig.client().await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_millis(300);
    assert!(client.read("fake:///one", deadline).await.is_err());
    fake.wait_for("notifications/cancelled", 1, SOON).await;
    rig.end().await;

    let script = Script::modern()
        .sample()
        .on("resources/read", Reply::silence().sse(true));
    let (rig, fake, _) = connected(script).await;
    let client = rig.client().await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_millis(300);
    assert!(client.read("fake:///one", deadline).await.is_err());
    let gone = fake.wait_event("gone", 1, SOON).await;
    assert_eq!(gone.method.as_deref(), Some("resources/read"));
    assert_eq!(fake.count("notifications/cancelled").await, 0);
    rig.end().await;
}

#[tokio::test]
async fn over_modern_http_a_tool_with_a_bad_header_annotation_is_left_out() {
    let tools = || {
        Reply::result(
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [
                {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}},
                {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "array", "x-mcp-header": "A"}}}},
            ]}),
        )
    };
    let (address, _fake) = http_server(Script::modern().sample().on("tools/list", tools()));
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(listing(&server, ListMethod::Tools), "good");
    let notes = &server.catalog.tools.notes;
    assert_eq!(
        notes.first().map(|note| &**note),
        Some("bad: x-mcp-header is wrong, its property is no string, integer or boolean; left out")
    );
    let (address, _fake) = http_server(Script::legacy().sample().on("tools/list", tools()));
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(listing(&server, ListMethod::Tools), "good bad");
}
