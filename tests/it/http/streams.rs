//! Streams that break, stall or say too much.

use std::sync::Arc;
use std::time::Duration;

use mcpdeck::domain::{Event, EventKind, FailureKind, ListMethod, ProtocolChoice};

use super::{SOON, connected, endpoint, found, remote};
use crate::support::fake::{Action, Part, Reply, Rule, Script};
use crate::support::launch::http_server;
use crate::support::rig::{Rig, listing};

/// A stream that ends before its answer, with what stands on it so far.
fn broken(text: &str) -> Reply {
    Reply::raw(text).sse(true).abort()
}

#[tokio::test]
async fn answers_come_as_json_and_on_streams() {
    for sse in [false, true] {
        for script in [Script::legacy(), Script::modern()] {
            let mut script = script.sample();
            script.http.sse = sse;
            let (address, _fake) = http_server(script);
            let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
            assert_eq!(server.status.word(), "connected", "{server:?}");
            assert_eq!(listing(&server, ListMethod::Tools), "one");
        }
    }
}

#[tokio::test]
async fn in_the_modern_era_a_broken_stream_is_asked_again_once_under_a_new_id() {
    let script = Script::modern()
        .sample()
        .rule(Rule::on("tools/list", broken(": nothing yet\n\nid: 1\ndata:\n\n")).nth(1));
    let (address, fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(listing(&server, ListMethod::Tools), "one");
    let asked = fake.of("tools/list").await;
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0].id, asked[1].id);
    assert_eq!(fake.count("GET").await, 0);

    let script = Script::modern()
        .sample()
        .on("tools/list", broken(": nothing yet\n\n"));
    let (address, fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    let error = server.error(Some(ListMethod::Tools)).unwrap();
    assert_eq!(error.failure.kind, FailureKind::Closed);
    assert_eq!(
        &*error.failure.message,
        "the connection broke off before the answer came"
    );
    assert_eq!(fake.count("tools/list").await, 2);
}

#[tokio::test]
async fn in_the_legacy_era_a_broken_stream_is_resumed_when_the_server_wants_it() {
    // The server numbers its first event and closes; what it still has comes on a GET.
    let result =
        r#"{"jsonrpc":"2.0","id":{id},"result":{"tools":[{"name":"late","inputSchema":{}}]}}"#;
    let resumed =
        Reply::raw(&format!("id: 8\ndata: {}\n\n", result.replace("{id}", "0"))).sse(true);
    let script = Script::legacy()
        .listing(
            "tools/list",
            crate::support::fake::Listing::named("tools/list", &["one"]),
        )
        .on("tools/list", broken("id: 7\nretry: 300\ndata:\n\n"))
        .on("GET", resumed);
    let (address, fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(listing(&server, ListMethod::Tools), "late", "{server:?}");
    let get = fake.wait_for("GET", 1, SOON).await;
    let headers = get.headers.clone().unwrap();
    assert_eq!(headers["last-event-id"], "7");
    assert_eq!(headers["mcp-session-id"], "session-1");
    let asked = fake.of("tools/list").await;
    assert_eq!(asked.len(), 1);
    let waited = get.at_ms - asked[0].at_ms;
    assert!((300..1000).contains(&waited), "{waited} ms");
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up_after_the_bound_on_one_request() {
    let script = Script::legacy()
        .sample()
        .on("tools/list", Reply::silence().sse(true));
    let (address, fake) = http_server(script);
    let mut config = super::server_config(remote(endpoint(address)), ProtocolChoice::Auto);
    config.request_timeout = Some(Duration::from_millis(300));
    let rig = crate::support::rig::Rig::start(crate::support::rig::live());
    rig.handle.put(vec![config.into()]).await;
    let server = rig
        .until("told", |server| {
            server.error(Some(ListMethod::Tools)).is_some()
        })
        .await;
    let error = server.error(Some(ListMethod::Tools)).unwrap();
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!(&*error.failure.message, "no answer within 300 ms");
    assert_eq!(listing(&server, ListMethod::Resources), "one");
    fake.wait_for("notifications/cancelled", 1, SOON).await;
    rig.end().await;
}

#[tokio::test]
async fn an_event_over_the_bound_fails_only_the_request_that_it_answers() {
    let huge = Reply::parts(vec![
        Part::from("data: {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"tools\":\""),
        Part::fill("x", 17 * 1024 * 1024),
        Part::from("\"}}\n\n"),
    ])
    .sse(true);
    let (address, _fake) = http_server(Script::legacy().sample().on("tools/list", huge));
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    let error = server.error(Some(ListMethod::Tools)).unwrap();
    assert_eq!(error.failure.kind, FailureKind::Malformed);
    assert_eq!(&*error.failure.message, "the answer has more than 16 MiB");
    assert_eq!(listing(&server, ListMethod::Resources), "one");
}

#[tokio::test]
async fn a_stream_for_changes_that_ends_is_opened_again_and_nothing_is_missed() {
    let (rig, fake, _) = connected(Script::legacy().sample()).await;
    fake.send(Action::stdout("retry: 100\n\n")).await;
    fake.send(Action::CloseStreams).await;
    fake.wait_for("GET", 2, SOON).await;
    // Whatever changed in between is asked for, and nobody says that the server said so.
    fake.wait_for("tools/list", 2, SOON).await;
    fake.wait_for("resources/list", 2, SOON).await;
    let told = |rig: &Rig| {
        let state = rig.handle.snapshot();
        let is_told = |event: &&Arc<Event>| matches!(event.kind, EventKind::ListChanged { .. });
        state.events.iter().filter(is_told).count()
    };
    assert_eq!(told(&rig), 0);
    // So it is where the stream is resumed after an event.
    fake.send(Action::stdout("id: 7\n\n")).await;
    fake.send(Action::CloseStreams).await;
    fake.wait_for("GET", 3, SOON).await;
    fake.wait_for("tools/list", 3, SOON).await;
    fake.send(Action::list_changed("tools", 1)).await;
    fake.wait_for("tools/list", 4, SOON).await;
    rig.until("told", |_| told(&rig) == 1).await;
    assert_eq!(rig.server().epoch, mcpdeck::domain::Epoch::default().next());
    rig.end().await;
}
