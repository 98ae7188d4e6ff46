//! Credentials that a command prints.

use std::fs;
use std::path::Path;

use mcpdeck::domain::{FailureKind, HttpConfig, ProtocolChoice};

use super::{SOON, connected_to, endpoint, found, header, refusal, remote};
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::launch::http_server;

/// A command that prints another token at each run, `tok-0000-1` and so on.
fn rotating(folder: &Path) -> Vec<String> {
    let count = folder.join("count");
    let script = format!(
        r#"echo run >> '{count}'; n=$(wc -l < '{count}'); printf '{{"Authorization": "Bearer tok-0000-%d", "X-Run": %d}}' $n $n"#,
        count = count.display()
    );
    vec!["sh".to_owned(), "-c".to_owned(), script]
}

#[tokio::test]
async fn a_command_is_run_once_and_again_where_its_headers_are_no_longer_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = Script::legacy().sample();
    script.http.bearer = Some("tok-0000-1".to_owned());
    let (address, fake) = http_server(script);
    let rig = connected_to(HttpConfig {
        headers_command: rotating(folder.path()),
        ..remote(endpoint(address))
    })
    .await;
    let runs = || {
        let text = fs::read_to_string(folder.path().join("count")).unwrap();
        text.lines().count()
    };
    assert_eq!(runs(), 1);
    // Several requests find it out at the same time, and one run serves all.
    fake.send(Action::SetBearer(Some("tok-0000-2".to_owned())))
        .await;
    let before = rig.server().generation;
    rig.handle.refresh_all().await;
    rig.until("listed again", |server| {
        server.generation > before && server.is_settled()
    })
    .await;
    assert_eq!(rig.server().status.word(), "connected");
    assert_eq!(runs(), 2);
    // What it prints is masked, also later.
    let quoting = Rule::on("tools/list", Reply::error(-32000, "bad tok-0000-2"));
    fake.send(Action::rule(quoting)).await;
    rig.handle.refresh_all().await;
    let server = rig.until("told", |server| !server.errors.is_empty()).await;
    assert_eq!(&*server.errors[0].failure.message, "bad ***");
    // And what is not taken even when it is fresh needs a person.
    fake.send(Action::SetBearer(Some("another".to_owned())))
        .await;
    rig.handle.refresh_all().await;
    rig.until("needs-auth", |server| server.status.word() == "needs-auth")
        .await;
    assert!(runs() >= 3, "{}", runs());
    rig.end().await;
}

#[tokio::test]
async fn a_command_that_fails_says_why() {
    let check = async |command: &[&str], kind, message: &str| {
        let failure = refusal(HttpConfig {
            headers_command: command.iter().map(ToString::to_string).collect(),
            ..remote("http://127.0.0.1:1/mcp")
        })
        .await;
        let expected = format!("http://127.0.0.1:1/mcp: {message}");
        assert_eq!(failure.kind, kind);
        assert!(failure.message.starts_with(&expected), "{failure}");
    };
    check(
        &["sh", "-c", "echo 'please sign in' >&2; exit 4"],
        FailureKind::Auth,
        "headers_command failed (exit status 4): please sign in",
    )
    .await;
    check(
        &["echo", "hello"],
        FailureKind::Config,
        "headers_command did not print a JSON object of header names and texts",
    )
    .await;
    check(
        &["no-such-helper"],
        FailureKind::Config,
        "headers_command could not run: no-such-helper: ",
    )
    .await;
}

#[tokio::test]
async fn configured_headers_go_with_every_request() {
    let (address, fake) = http_server(Script::legacy().sample());
    let config = HttpConfig {
        headers: vec![header("X-Key", "k-0123456789")],
        ..remote(endpoint(address))
    };
    found(config, ProtocolChoice::Auto).await;
    fake.wait_for("DELETE", 1, SOON).await;
    for entry in fake.received().await {
        if let Some(headers) = entry.headers {
            assert_eq!(headers["x-key"], "k-0123456789", "{:?}", entry.method);
        }
    }
}
