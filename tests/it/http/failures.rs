//! Servers that cannot be connected to, and what a person is told.

use std::net::{Ipv4Addr, TcpListener};

use mcpdeck::domain::{FailureKind, ProtocolChoice};
use serde_json::json;

use super::{endpoint, found, header, refusal, remote};
use crate::support::fake::{Reply, Script};
use crate::support::launch::http_server;

/// What `initialize` and `server/discover` are answered with, and what is said of it.
async fn check(reply: Reply, kind: FailureKind, message: &str) {
    let script = Script::legacy()
        .on("server/discover", reply.clone())
        .on("initialize", reply);
    let mut script = script;
    script.http.no_get = true;
    let (address, _fake) = http_server(script);
    let failure = refusal(remote(endpoint(address))).await;
    let expected = format!("http://{address}/mcp: {message}");
    assert_eq!((failure.kind, &*failure.message), (kind, &*expected));
}

#[tokio::test]
async fn statuses_are_told_with_what_to_do() {
    let connect = FailureKind::Connect;
    check(
        Reply::status(401),
        FailureKind::Auth,
        "HTTP 401 Unauthorized; a log-in or a token is needed",
    )
    .await;
    check(
        Reply::status(403),
        FailureKind::Auth,
        "HTTP 403 Forbidden; the log-in or token is not allowed to do this",
    )
    .await;
    check(
        Reply::status(404),
        connect,
        "HTTP 404 Not Found; no MCP endpoint is at this URL",
    )
    .await;
    check(Reply::status(408), connect, "HTTP 408 Request Timeout").await;
    check(
        Reply::status(429).header("retry-after", "7"),
        connect,
        "HTTP 429 Too Many Requests; try again after 7 s",
    )
    .await;
    check(
        Reply::error(-32603, "do\u{1b}[1mwn").with_status(503),
        connect,
        "HTTP 503 Service Unavailable; the server says: down",
    )
    .await;
    check(
        Reply::error(-32603, "no such version here").with_status(400),
        connect,
        "initialize was refused: error -32603: no such version here",
    )
    .await;
    check(
        Reply::status(307).header("location", "https://other.example/mcp?key=1"),
        connect,
        "HTTP 307: the server redirects to https://other.example/mcp, which is another place; if you trust it, use that URL",
    )
    .await;
}

#[tokio::test]
async fn what_is_no_message_is_told_in_one_line() {
    let page = Reply::raw("<!doctype html><title>Hello</title>")
        .header("content-type", "text/html; charset=utf-8");
    check(
        page,
        FailureKind::Connect,
        "a web page was answered, not an MCP message; check the URL",
    )
    .await;
    check(
        Reply::raw("hello").header("content-type", "text/plain"),
        FailureKind::Connect,
        "text/plain was answered, not an MCP message; check the URL",
    )
    .await;
    let huge = vec![crate::support::fake::Part::fill("x", 17 * 1024 * 1024)];
    check(
        Reply::parts(huge),
        FailureKind::Malformed,
        "initialize: the answer has more than 16 MiB",
    )
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_from_one_that_does_not_exist() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = refusal(remote(format!("http://{address}/mcp"))).await;
    let expected =
        format!("http://{address}/mcp: connection refused: nothing listens at {address}");
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Connect, &*expected)
    );

    let failure = refusal(remote("http://nowhere.invalid/mcp")).await;
    assert_eq!(failure.kind, FailureKind::Connect);
    let begins = "http://nowhere.invalid/mcp: no address was found for nowhere.invalid: ";
    assert!(failure.message.starts_with(begins), "{failure}");

    // Plain HTTP where TLS was expected.
    let (address, _fake) = http_server(Script::legacy());
    let failure = refusal(remote(format!("https://{address}/mcp"))).await;
    assert_eq!(failure.kind, FailureKind::Connect);
    let begins = format!("https://{address}/mcp: TLS failed with {address}: ");
    assert!(failure.message.starts_with(&begins), "{failure}");

    let failure = refusal(remote("no url")).await;
    assert_eq!(failure.kind, FailureKind::Config);
}

#[tokio::test]
async fn only_a_status_that_does_not_know_the_probe_leads_to_initialize() {
    for status in [400, 404, 405, 406, 422] {
        let script = Script::legacy()
            .sample()
            .on("server/discover", Reply::status(status));
        let (address, fake) = http_server(script);
        let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
        assert_eq!(server.status.word(), "connected", "{status}: {server:?}");
        assert_eq!(fake.count("initialize").await, 1);
    }
    // What a framework says of a path or method that it does not know is no JSON-RPC.
    let script = Script::legacy().sample().on(
        "server/discover",
        Reply::raw(r#"{"detail":"Not Found"}"#)
            .with_status(404)
            .header("content-type", "application/json"),
    );
    let (address, _fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(server.status.word(), "connected", "{server:?}");
    for status in [401, 403, 408, 429, 500, 503] {
        let script = Script::legacy()
            .sample()
            .on("server/discover", Reply::status(status));
        let (address, fake) = http_server(script);
        refusal(remote(endpoint(address))).await;
        assert_eq!(fake.count("initialize").await, 0, "{status}");
    }
}

#[tokio::test]
async fn a_bearer_token_lets_in_and_is_never_told() {
    const TOKEN: &str = "tok-0123456789";
    let mut script = Script::legacy().sample();
    script.http.bearer = Some(TOKEN.to_owned());
    let (address, _fake) = http_server(script.clone());
    let mut config = remote(endpoint(address));
    config.headers = vec![header("Authorization", &format!("Bearer {TOKEN}"))];
    let server = found(config.clone(), ProtocolChoice::Auto).await;
    assert_eq!(server.status.word(), "connected", "{server:?}");

    let quoting = format!("bad header: Bearer {TOKEN} {TOKEN}");
    let script = script.on("initialize", Reply::error(-32000, &quoting));
    let (address, _fake) = http_server(script);
    config.url = endpoint(address);
    let failure = refusal(config).await;
    assert!(!failure.message.contains(TOKEN), "{failure}");
    assert!(failure.message.contains("bad header: *** ***"), "{failure}");
}

#[tokio::test]
async fn a_bad_header_is_an_error_of_the_config() {
    let mut config = remote("http://127.0.0.1:1/mcp");
    config.headers = vec![header("A", "b\nc")];
    let failure = refusal(config).await;
    assert_eq!(failure.kind, FailureKind::Config);
    assert!(
        failure
            .message
            .ends_with("the value of the header A is not allowed in HTTP"),
        "{failure}"
    );
}

#[tokio::test]
async fn an_error_of_a_list_is_told_as_over_stdio() {
    let rows = [
        (
            Reply::error_object(json!({"code": -32603})).with_status(500),
            FailureKind::Connect,
            "HTTP 500 Internal Server Error",
        ),
        (
            Reply::error(-32603, "no\ndisk\u{1b}[1m").with_status(500),
            FailureKind::Connect,
            "HTTP 500 Internal Server Error; the server says: no\ndisk",
        ),
        (
            Reply::error(-32601, "later").with_status(501),
            FailureKind::Connect,
            "HTTP 501 Not Implemented; the server says: later",
        ),
        (
            Reply::error(-32000, "too many")
                .with_status(429)
                .header("retry-after", "7"),
            FailureKind::Connect,
            "HTTP 429 Too Many Requests; try again after 7 s; the server says: too many",
        ),
        (
            Reply::error(-32000, "slow").with_status(408),
            FailureKind::Connect,
            "HTTP 408 Request Timeout; the server says: slow",
        ),
        (
            Reply::error(-32602, "no such list").with_status(400),
            FailureKind::Rpc { code: Some(-32602) },
            "no such list",
        ),
        (
            Reply::error(-32001, "not here").with_status(409),
            FailureKind::Rpc { code: Some(-32001) },
            "not here",
        ),
        (
            Reply::status(502),
            FailureKind::Connect,
            "HTTP 502 Bad Gateway",
        ),
        (
            Reply::result(json!({"resources": [{"uri": "a://b"}]})),
            FailureKind::Malformed,
            "page 1, item 1: name is missing",
        ),
        (
            Reply::raw("{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"resources\":[}"),
            FailureKind::Malformed,
            "the answer is no valid JSON",
        ),
        (
            Reply::raw("{\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":{}}"),
            FailureKind::Malformed,
            "the body does not answer the request",
        ),
        (
            Reply::raw(
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"m\"}}",
            ),
            FailureKind::Rpc { code: Some(-32000) },
            "m",
        ),
        (
            Reply::result(json!({"resources": []})).abort(),
            FailureKind::Closed,
            "the connection broke off before the answer came",
        ),
    ];
    for (reply, kind, message) in rows {
        let script = Script::legacy().sample().on("resources/list", reply);
        let (address, _fake) = http_server(script);
        let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
        assert_eq!(server.status.word(), "connected");
        let error = server
            .error(Some(mcpdeck::domain::ListMethod::Resources))
            .unwrap_or_else(|| panic!("{message}: {server:?}"));
        assert_eq!(
            (error.failure.kind, &*error.failure.message),
            (kind, message)
        );
    }
}
