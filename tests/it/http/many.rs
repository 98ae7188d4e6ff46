//! Many servers at once, and all of them after a network that was away.

use mcpdeck::app::{Definition, EngineOptions};
use mcpdeck::domain::{AppState, FailureKind, ProtocolChoice, ServerConfig, ServerName, Settings};

use super::{SOON, connected, endpoint, kill, remote, server_config};
use crate::support::fake::{Reply, Script};
use crate::support::launch::{http_server, http_server_at};
use crate::support::rig::{Rig, live};

fn named(number: usize, url: String) -> Definition {
    Definition::from(ServerConfig {
        name: ServerName::new(&format!("s{number}")).unwrap(),
        ..server_config(remote(url), ProtocolChoice::Legacy)
    })
}

#[tokio::test]
async fn at_one_host_4_connect_at_once_and_silent_ones_keep_others_waiting_for_2_s_only() {
    let script = Script::legacy().sample().on("initialize", Reply::silence());
    let (address, fake) = http_server(script);
    let rig = Rig::start(live());
    let definitions = (0..7).map(|number| named(number, endpoint(address)));
    rig.handle.put(definitions.collect()).await;
    let fourth = fake.wait_for("initialize", 4, SOON).await;
    let fifth = fake.wait_for("initialize", 5, SOON).await;
    let waited = fifth.at_ms - fourth.at_ms;
    assert!(waited >= 1_500, "{waited} ms");
    fake.wait_for("initialize", 7, SOON).await;
    rig.end().await;
}

#[tokio::test]
async fn twenty_servers_connect_and_come_back_together_when_a_person_says_so() {
    let servers: Vec<_> = (0..20)
        .map(|_| http_server(Script::legacy().sample()))
        .collect();
    let rig = Rig::start(EngineOptions {
        settings: Settings {
            reconnect_attempts: 0,
            ..Settings::default()
        },
        ..live()
    });
    let definitions = servers.iter().enumerate();
    let definitions = definitions.map(|(number, (address, _))| named(number, endpoint(*address)));
    rig.handle.put(definitions.collect()).await;
    let all = |word: &'static str| {
        move |state: &AppState| {
            let mut servers = state.servers.iter();
            state.servers.len() == 20 && servers.all(|server| server.status.word() == word)
        }
    };
    rig.state("all connected", all("connected")).await;
    let mut ports = Vec::new();
    for (address, fake) in &servers {
        ports.push(kill(fake, *address).await);
    }
    rig.state("all failed", all("failed")).await;
    drop(ports);
    let _again: Vec<_> = servers
        .iter()
        .map(|(address, _)| http_server_at(*address, Script::legacy().sample()))
        .collect();
    rig.handle.refresh_all().await;
    rig.state("all connected again", all("connected")).await;
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_after_a_sleep_is_connected_again() {
    let (rig, fake, _) = connected(Script::legacy().sample().on("ping", Reply::silence())).await;
    rig.client().await.check_alive().await;
    fake.wait_for("ping", 1, SOON).await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    let cause = lost.status.failure().unwrap();
    assert_eq!(cause.kind, FailureKind::Closed);
    let expected = "the server did not answer within 5 s after a sleep";
    assert_eq!(&*cause.message, expected);
    rig.until("back", |server| server.status.word() == "connected")
        .await;
    rig.end().await;

    // Any answer is a sign of life, in either era.
    let refusing = Script::legacy()
        .sample()
        .on("ping", Reply::error(-32601, "no"));
    let modern = Script::modern().sample();
    for (script, method) in [(refusing, "ping"), (modern, "server/discover")] {
        let (rig, fake, _) = connected(script).await;
        let before = rig.server();
        let asked = fake.count(method).await;
        rig.client().await.check_alive().await;
        fake.wait_for(method, asked + 1, SOON).await;
        rig.handle.refresh_all().await;
        let after = rig
            .until("listed again", |server| {
                server.generation > before.generation
            })
            .await;
        assert_eq!(after.epoch, before.epoch, "{method}");
        rig.end().await;
    }
}
