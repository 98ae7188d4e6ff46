//! Sessions that are forgotten, and servers that go away and come back.

use mcpdeck::domain::{EventKind, FailureKind, ListMethod, ProtocolChoice};

use super::{SOON, connected, endpoint, found, kill, put, remote};
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::launch::{http_server, http_server_at};
use crate::support::rig::{Rig, listing};

fn words(rig: &Rig) -> Vec<&'static str> {
    let state = rig.handle.snapshot();
    let words = state.events.iter().filter_map(|event| match &event.kind {
        EventKind::Status { word, .. } => Some(*word),
        _ => None,
    });
    words.collect()
}

#[tokio::test]
async fn a_forgotten_session_is_replaced_at_once_and_everything_is_listed_again() {
    let (rig, fake, _) = connected(Script::legacy().sample()).await;
    let before = rig.server();
    fake.send(Action::ExpireSessions).await;
    // What changes while there is no session is not missed.
    fake.send(Action::set_pages(
        "tools/list",
        Listing::named("tools/list", &["one", "two"]),
    ))
    .await;
    rig.handle.refresh_all().await;
    let after = rig
        .until("listed again", |server| {
            server.epoch > before.epoch && server.is_settled()
        })
        .await;
    assert_eq!(listing(&after, ListMethod::Tools), "one two");
    assert_eq!(after.epoch, before.epoch.next());
    // No wait of the back-off: it was never reconnecting.
    let words = words(&rig);
    assert!(!words.contains(&"reconnecting"), "{words:?}");
    assert_eq!(words.last(), Some(&"connected"));
    // The stream belongs to the new session.
    fake.send(Action::list_changed("tools", 1)).await;
    let list = fake.wait_for("tools/list", 3, SOON).await;
    assert_eq!(list.headers.unwrap()["mcp-session-id"], "session-2");
    rig.end().await;
}

#[tokio::test]
async fn a_session_that_is_forgotten_at_once_is_replaced_only_once() {
    let script = Script::legacy()
        .sample()
        .on("tools/list", Reply::status(404));
    let (address, fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    let failure = server.status.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Closed);
    assert_eq!(&*failure.message, "the server has forgotten the session");
    assert_eq!(fake.count("initialize").await, 2);
}

#[tokio::test]
async fn a_404_without_a_session_is_the_error_that_it_carries() {
    let mut script = Script::legacy()
        .sample()
        .rule(crate::support::fake::Rule::on(
            "resources/templates/list",
            Reply::error(-32601, "no such method").with_status(404),
        ));
    script.http.stateless = true;
    let (address, _fake) = http_server(script);
    let server = found(remote(endpoint(address)), ProtocolChoice::Auto).await;
    assert_eq!(server.status.word(), "connected");
    assert_eq!(listing(&server, ListMethod::ResourceTemplates), "");
}

#[tokio::test]
async fn a_server_that_was_killed_and_started_again_is_connected_and_listed_again() {
    let (rig, fake, address) = connected(Script::legacy().sample()).await;
    let port = kill(&fake, address).await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    assert!(lost.catalog.tools.items.is_empty());
    let script = Script::legacy()
        .sample()
        .named("tools/list", &["one", "two"]);
    drop(port);
    let (_, _again) = http_server_at(address, script);
    let back = rig
        .until("back", |server| {
            server.status.word() == "connected" && server.is_settled()
        })
        .await;
    assert_eq!(listing(&back, ListMethod::Tools), "one two");
    let refreshes = rig.refreshes();
    let mut counts = refreshes.iter().flat_map(|refresh| &refresh.counts);
    let (_, tools) = counts
        .rfind(|(method, _)| *method == ListMethod::Tools)
        .unwrap();
    assert_eq!((tools.added, tools.removed, tools.total), (1, 0, 2));
    rig.end().await;
}

#[tokio::test]
async fn a_server_without_a_stream_is_lost_when_a_request_cannot_reach_it() {
    let mut script = Script::legacy().sample();
    script.http.no_get = true;
    script.http.stateless = true;
    let (rig, fake, address) = connected(script.clone()).await;
    let port = kill(&fake, address).await;
    assert_eq!(rig.server().status.word(), "connected");
    rig.handle.refresh_all().await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    let cause = lost.status.failure().unwrap();
    assert_eq!(cause.kind, FailureKind::Closed);
    assert_eq!(
        &*cause.message,
        format!("connection refused: nothing listens at {address}")
    );
    drop(port);
    let (_, _again) = http_server_at(address, script);
    rig.until("back", |server| server.status.word() == "connected")
        .await;
    rig.end().await;
}

#[tokio::test]
async fn credentials_that_are_no_longer_taken_need_a_log_in() {
    let mut script = Script::legacy().sample();
    script.http.bearer = Some("tok-0123456789".to_owned());
    let (address, fake) = http_server(script);
    let mut config = remote(endpoint(address));
    config.headers = vec![super::header("Authorization", "Bearer tok-0123456789")];
    let rig = put(config, ProtocolChoice::Auto).await;
    rig.settled().await;
    fake.send(Action::SetBearer(Some("another-token".to_owned())))
        .await;
    rig.handle.refresh_all().await;
    let server = rig
        .until("needs-auth", |server| server.status.word() == "needs-auth")
        .await;
    assert_eq!(server.status.failure().unwrap().kind, FailureKind::Auth);
    let tries = fake.count("initialize").await;
    rig.pass(std::time::Duration::from_secs(2)).await;
    assert_eq!(fake.count("initialize").await, tries);
    rig.end().await;
}
