//! The HTTP+SSE transport of MCP 2024-11-05.

use mcpdeck::domain::{
    FailureKind, HttpConfig, HttpFlavour, ListMethod, ProtocolChoice, TransportKind,
};

use super::{SOON, found, kill, put, refusal, remote};
use crate::support::fake::{Action, Script};
use crate::support::launch::{http_server, http_server_at};
use crate::support::rig::listing;

fn old(script: Script) -> Script {
    let mut script = script;
    script.http.legacy_sse = true;
    script
}

#[tokio::test]
async fn it_is_found_where_nothing_else_is_spoken_or_where_the_config_says_so() {
    for flavour in [HttpFlavour::Auto, HttpFlavour::Sse] {
        let (address, fake) = http_server(old(Script::legacy().sample()));
        let config = HttpConfig {
            flavour,
            ..remote(format!("http://{address}/sse"))
        };
        let server = found(config, ProtocolChoice::Auto).await;
        assert_eq!(server.status.word(), "connected", "{server:?}");
        assert_eq!(server.transport, TransportKind::Sse);
        for method in ListMethod::ALL {
            assert_eq!(server.catalog.count(method), Some(1), "{method:?}");
        }
        assert_eq!(fake.count("server/discover").await, 0);
        assert_eq!(fake.count("initialize").await, 1);
    }
    // Where the config says Streamable HTTP, nothing else is tried.
    let (address, fake) = http_server(old(Script::legacy().sample()));
    let failure = refusal(HttpConfig {
        flavour: HttpFlavour::Streamable,
        ..remote(format!("http://{address}/sse"))
    })
    .await;
    assert_eq!(failure.kind, FailureKind::Connect);
    assert_eq!(fake.count("GET").await, 0);
}

#[tokio::test]
async fn the_endpoint_must_be_of_the_origin() {
    let mut script = old(Script::legacy().sample());
    script.http.endpoint = Some("http://other.example/messages".to_owned());
    let (address, _fake) = http_server(script);
    let failure = refusal(HttpConfig {
        flavour: HttpFlavour::Sse,
        ..remote(format!("http://{address}/sse"))
    })
    .await;
    assert_eq!(failure.kind, FailureKind::Connect);
    assert!(failure.message.contains("another origin"), "{failure}");
}

#[tokio::test]
async fn it_is_alive_as_any_other_server() {
    let (address, fake) = http_server(old(Script::legacy().sample()));
    let config = remote(format!("http://{address}/sse"));
    let rig = put(config, ProtocolChoice::Auto).await;
    rig.settled().await;
    fake.send(Action::ask("ping")).await;
    fake.wait_answer("ping", 1, SOON).await;
    fake.send(Action::list_changed("tools", 2)).await;
    fake.wait_for("tools/list", 2, SOON).await;
    let port = kill(&fake, address).await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    let cause = &lost.status.failure().unwrap();
    assert_eq!(cause.kind, FailureKind::Closed);
    let script = old(Script::legacy().sample().named("tools/list", &["two"]));
    drop(port);
    let (_, _again) = http_server_at(address, script);
    let back = rig
        .until("back", |server| {
            server.status.word() == "connected" && server.is_settled()
        })
        .await;
    assert_eq!(listing(&back, ListMethod::Tools), "two");
    rig.end().await;
}
