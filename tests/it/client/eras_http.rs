//! Which era is spoken over Streamable HTTP, and what leads to a fallback (4.1, 4.2).

use std::time::Duration;

use mcpdeck::app::{Definition, Engine, EngineOptions, Ladder};
use mcpdeck::domain::{
    HttpConfig, HttpFlavour, ProtocolChoice, ServerConfig, ServerName, ServerSnapshot, Status,
    TransportConfig,
};
use serde_json::json;
use tokio::time::timeout;

use super::{heard, listless, shown};
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::http_server;
use crate::support::rig::{self, NAME};

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const SOON: Duration = Duration::from_secs(20);

/// An engine with one remote server.
struct Remote {
    engine: Engine,
    fake: FakeHandle,
    url: String,
}

impl Remote {
    async fn start(options: EngineOptions, protocol: ProtocolChoice, script: Script) -> Self {
        let (address, fake) = http_server(script);
        let url = format!("http://{address}/mcp");
        let engine = Engine::start(options);
        let definition = Definition::from(ServerConfig {
            name: ServerName::new(NAME).unwrap(),
            transport: TransportConfig::Http(HttpConfig {
                url: url.clone(),
                headers: Vec::new(),
                headers_command: Vec::new(),
                flavour: HttpFlavour::Auto,
                oauth: None,
            }),
            protocol,
            connect_timeout: Some(Duration::from_secs(5)),
            request_timeout: None,
            traversal_timeout: None,
        });
        engine.handle().put(vec![definition]).await;
        Self { engine, fake, url }
    }

    async fn until(&self, what: &str, is: impl Fn(&ServerSnapshot) -> bool) -> String {
        let mut states = self.engine.handle().state();
        let found = states.wait_for(|state| state.servers.first().is_some_and(|it| is(it)));
        let found = timeout(SOON, found).await.map(|state| state.is_ok());
        let shown = self.shown();
        assert_eq!(found, Ok(true), "not {what}: {shown}");
        shown
    }

    fn shown(&self) -> String {
        let state = self.engine.handle().snapshot();
        let server = state.servers.first().unwrap();
        match &server.status {
            Status::Connected(session) => format!("{} {}", session.protocol_version, shown(server)),
            _ => shown(server).replace(&self.url, "URL"),
        }
    }

    async fn end(self) {
        self.engine.shutdown(Ladder::BRISK).await;
    }
}

/// Checks what is agreed on with a remote server and what it heard.
async fn check(what: &str, protocol: ProtocolChoice, script: Script, outcome: &str, words: &str) {
    let remote = Remote::start(listless(), protocol, script).await;
    let decided = |server: &ServerSnapshot| server.status != Status::Connecting;
    let shown = remote.until("decided", decided).await;
    let shown = shown.split(" connected").next().unwrap();
    assert_eq!(shown, outcome, "{what}");
    // The stream is opened at some time, and a session that came to nothing is ended; neither is
    // a part of the handshake.
    let heard = heard(&remote.fake).await;
    let heard = heard.replace("server/", "").replace("notifications/", "");
    let heard: Vec<&str> = heard
        .split(' ')
        .filter(|word| !matches!(*word, "GET" | "DELETE"))
        .collect();
    assert_eq!(heard.join(" "), words, "{what}");
    remote.end().await;
}

async fn auto(what: &str, script: Script, outcome: &str, words: &str) {
    check(what, ProtocolChoice::Auto, script, outcome, words).await;
}

const FELL_BACK: &str = "discover initialize initialized";

#[tokio::test]
async fn a_client_error_without_a_modern_one_in_it_leads_to_initialize() {
    for status in [400, 404, 405, 406, 410, 415, 422] {
        let bare = Script::legacy().on(DISCOVER, Reply::status(status));
        auto(&status.to_string(), bare, "2025-11-25", FELL_BACK).await;
        let refusal = Reply::error(-32000, "no session").with_status(status);
        let script = Script::legacy().on(DISCOVER, refusal);
        auto(&status.to_string(), script, "2025-11-25", FELL_BACK).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_modern_leads_to_initialize() {
    for code in [-32601, -32602, -32603, -32000, -32600] {
        let script = Script::legacy().discover_error(code);
        auto(&code.to_string(), script, "2025-11-25", FELL_BACK).await;
    }
    for (what, result) in [("empty", json!({})), ("of others", json!({"tools": []}))] {
        let script = Script::legacy().on(DISCOVER, Reply::result(result));
        auto(what, script, "2025-11-25", FELL_BACK).await;
    }
    let streamed = Script::legacy().http(|http| http.sse = true);
    auto("as a stream", streamed, "2025-11-25", FELL_BACK).await;
}

#[tokio::test]
async fn a_modern_server_is_not_initialized() {
    for script in [Script::modern(), Script::both()] {
        auto("modern", script.clone(), "2026-07-28", "discover").await;
        let streamed = script.http(|http| http.sse = true);
        auto("as a stream", streamed, "2026-07-28", "discover").await;
    }
    for (code, status) in [(-32020, 400), (-32021, 400), (-32022, 400), (-32022, 200)] {
        let refusal = Reply::error(code, "no").with_status(status);
        let script = Script::both().on(DISCOVER, refusal);
        let outcome =
            format!("failed: connect: URL: server/discover was refused: error {code}: no");
        auto("a modern error", script, &outcome, "discover").await;
    }
    let data = json!({"supported": ["2025-03-26"]});
    let refusal = json!({"code": -32022, "message": "no", "data": data});
    let script = Script::both().on(DISCOVER, Reply::error_object(refusal).with_status(400));
    auto("it names a legacy one", script, "2025-03-26", FELL_BACK).await;
}

#[tokio::test]
async fn log_in_time_and_load_are_no_reason_to_ask_otherwise() {
    for status in [401, 403] {
        for reply in [
            Reply::status(status),
            Reply::error(-32601, "log in first").with_status(status),
        ] {
            let remote = Remote::start(
                listless(),
                ProtocolChoice::Auto,
                Script::both().on(DISCOVER, reply),
            )
            .await;
            let needs = |server: &ServerSnapshot| server.status.word() == "needs-auth";
            let shown = remote.until("needs-auth", needs).await;
            assert!(
                shown.starts_with("needs-auth: auth: URL: HTTP 40"),
                "{shown}"
            );
            assert_eq!(heard(&remote.fake).await, DISCOVER);
            remote.end().await;
        }
    }
    for (status, words) in [
        (408, "408 Request Timeout"),
        (429, "429 Too Many Requests"),
        (500, "500 Internal Server Error"),
        (502, "502 Bad Gateway"),
        (503, "503 Service Unavailable"),
    ] {
        let outcome = format!("failed: connect: URL: HTTP {words}");
        let bare = Script::both().on(DISCOVER, Reply::status(status));
        auto("bare", bare, &outcome, "discover").await;
        let told = Reply::error(-32603, "try later").with_status(status);
        let script = Script::both().on(DISCOVER, told);
        let outcome = format!("{outcome}; the server says: try later");
        auto("with a body", script, &outcome, "discover").await;
    }
}

#[tokio::test]
async fn only_an_answer_decides_and_silence_is_bounded_by_the_connect_timeout() {
    let slow = Script::both().on(DISCOVER, Reply::delay(2_500));
    auto("slow", slow, "2026-07-28", "discover").await;
    let silent = Script::both().discover_silent();
    let outcome = "failed: timeout: URL: no answer to the handshake within 5 s";
    auto("silent", silent, outcome, "discover").await;
    let page = Reply::raw("<html></html>").header("content-type", "text/html");
    let script = Script::both().on(DISCOVER, page);
    let outcome =
        "failed: connect: URL: a web page was answered, not an MCP message; check the URL";
    auto("a web page", script, outcome, "discover").await;
}

#[tokio::test]
async fn a_definition_may_say_which_era() {
    use ProtocolChoice::{Legacy, Modern};
    let both = Script::both;
    check(
        "legacy",
        Legacy,
        both(),
        "2025-11-25",
        "initialize initialized",
    )
    .await;
    check("modern", Modern, both(), "2026-07-28", "discover").await;
    let outcome = "failed: connect: URL: HTTP 405 Method Not Allowed";
    let script = both().on(DISCOVER, Reply::status(405));
    check("not modern", Modern, script, outcome, "discover").await;
    let outcome = "failed: connect: URL: initialize was refused: error -32603: no";
    let script = both().on(INITIALIZE, Reply::error(-32603, "no"));
    check("refused", Legacy, script, outcome, "initialize").await;
    let outcome = "failed: connect: URL: no common protocol version: the server speaks banana, \
                   mcpdeck speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 in initialize";
    let script = both().version("banana");
    check("banana", Legacy, script, outcome, "initialize").await;
}

#[tokio::test]
async fn an_auth_failure_of_a_reconnect_is_not_retried() {
    let script = Script::legacy().sample();
    let remote = Remote::start(rig::live(), ProtocolChoice::Legacy, script).await;
    remote.until("settled", ServerSnapshot::is_settled).await;
    remote
        .fake
        .send(Action::SetBearer(Some("secret".to_owned())))
        .await;
    remote
        .engine
        .handle()
        .reconnect(&ServerName::new(NAME).unwrap())
        .await;
    let needs = |server: &ServerSnapshot| server.status.word() == "needs-auth";
    remote.until("needs-auth", needs).await;
    let before = remote.fake.count(INITIALIZE).await;
    assert_eq!(before, 2);
    remote.end().await;
}

/// A server without subscriptions may say so in HTTP alone.
#[tokio::test]
async fn a_status_refuses_a_subscription_for_good() {
    for status in [404, 405, 400, 501] {
        let refusal = Reply::raw("not here").with_status(status);
        let script = Script::modern()
            .sample()
            .on("subscriptions/listen", refusal);
        let remote = Remote::start(rig::live(), ProtocolChoice::Modern, script).await;
        let told = |server: &ServerSnapshot| server.is_settled() && server.no_live_updates;
        remote.until("no live updates", told).await;
        remote
            .engine
            .handle()
            .refresh(&ServerName::new(NAME).unwrap())
            .await;
        remote.fake.wait_for("tools/list", 2, SOON).await;
        assert_eq!(
            remote.fake.count("subscriptions/listen").await,
            1,
            "{status}"
        );
        remote.end().await;
    }
}

#[tokio::test]
async fn an_expired_session_is_a_new_epoch() {
    let script = Script::legacy().sample();
    let remote = Remote::start(rig::live(), ProtocolChoice::Legacy, script).await;
    remote.until("settled", ServerSnapshot::is_settled).await;
    remote
        .fake
        .send(Action::set_pages(
            "tools/list",
            Listing::named("tools/list", &["two"]),
        ))
        .await;
    remote.fake.send(Action::ExpireSessions).await;
    remote
        .engine
        .handle()
        .refresh(&ServerName::new(NAME).unwrap())
        .await;
    let renewed = |server: &ServerSnapshot| server.epoch.0 == 2 && server.is_settled();
    let shown = remote.until("renewed", renewed).await;
    assert_eq!(shown, "2025-11-25 connected 2: one | one | two | one");
    remote.end().await;
}

#[tokio::test]
async fn a_late_answer_over_http_changes_nothing_any_more() {
    let held = || Reply::hold().ignoring_cancel();
    let script = Script::legacy()
        .sample()
        .on_nth("tools/list", 1, held())
        .on_nth("resources/list", 1, held());
    let remote = Remote::start(rig::live(), ProtocolChoice::Legacy, script).await;
    let handle = remote.engine.handle();
    let name = ServerName::new(NAME).unwrap();
    remote.fake.wait_for("tools/list", 1, SOON).await;
    remote.fake.wait_for("resources/list", 1, SOON).await;
    handle.set_enabled(&name, false).await;
    remote
        .until("disabled", |server| server.status == Status::Disabled)
        .await;
    remote
        .fake
        .send(Action::set_pages(
            "tools/list",
            Listing::named("tools/list", &["two"]),
        ))
        .await;
    handle.set_enabled(&name, true).await;
    let back = |server: &ServerSnapshot| server.epoch.0 == 2 && server.is_settled();
    remote.until("back", back).await;
    for method in ["tools/list", "resources/list"] {
        remote.fake.send(Action::release(method)).await;
    }
    handle.refresh(&name).await;
    remote.fake.wait_for("tools/list", 3, SOON).await;
    remote
        .until("refreshed", |server| server.generation.0 == 4)
        .await;
    assert_eq!(
        remote.shown(),
        "2025-11-25 connected 4: one | one | two | one"
    );
    remote.end().await;
}

#[tokio::test]
async fn a_subscription_over_http_is_reopened_when_its_stream_breaks() {
    for graceful in [true] {
        let script = Script::modern().sample();
        let remote = Remote::start(rig::live(), ProtocolChoice::Auto, script).await;
        remote.until("settled", ServerSnapshot::is_settled).await;
        let fake = &remote.fake;
        let change =
            |name: &str| Action::set_pages("tools/list", Listing::named("tools/list", &[name]));
        fake.send(change("two")).await;
        fake.send(Action::list_changed("tools", 1)).await;
        let tools = |server: &ServerSnapshot, name: &str| {
            server
                .catalog
                .tools
                .items
                .iter()
                .any(|it| &*it.name == name)
        };
        remote.until("two", |server| tools(server, "two")).await;
        fake.send(change("three")).await;
        fake.send(Action::EndSubscriptions { graceful }).await;
        fake.wait_for("subscriptions/listen", 2, SOON).await;
        remote.until("three", |server| tools(server, "three")).await;
        assert!(remote.shown().contains("one | one | three | one"));
        remote.end().await;
    }
}
