//! 4.8 and 4.9: requests that are given up, and what a server asks of us and tells us.

use std::time::Duration;

use mcpdeck::app::EngineOptions;
use mcpdeck::domain::{FailureKind, ListMethod, Settings};
use mcpdeck::mcp::LineKind;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::fake::{Action, Ask, Reply, Rule, Script};
use crate::support::rig::{NAME, Rig, listing, live};

const TOOLS: &str = "tools/list";
const LONG: Duration = Duration::from_mins(5);

fn tools() -> Script {
    Script::legacy().named(TOOLS, &["a"])
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_is_cancelled_and_its_late_answer_ignored() {
    let late = Reply::hold().ignoring_cancel();
    let script = Script::legacy().sample().rule(Rule::on(TOOLS, late).nth(2));
    let (rig, fake) = Rig::with(script).await;
    let name = rig.server().name.clone();
    rig.handle.refresh(&name).await;
    let request = fake.wait_for(TOOLS, 2, LONG).await;
    let old = "old: one !timeout: no answer within 60 s";
    let before = rig
        .until("timed out", |server| {
            listing(server, ListMethod::Tools) == old
        })
        .await;
    let cancelled = fake.wait_for("notifications/cancelled", 1, LONG).await;
    assert_eq!(cancelled.params.unwrap()["requestId"], request.id.unwrap());
    let noise = rig.server().noise;
    fake.send(Action::release(TOOLS)).await;
    let after = rig.until("answered", |server| server.noise > noise).await;
    rig.pass(LONG).await;
    assert_eq!(listing(&rig.server(), ListMethod::Tools), old);
    assert_eq!(after.errors, before.errors);
    assert_eq!(rig.server().status.word(), "connected");
    assert_eq!(fake.count("notifications/cancelled").await, 1);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_read_that_nobody_waits_for_is_cancelled() {
    let script = Script::legacy()
        .sample()
        .on("resources/read", Reply::silence());
    let (rig, fake) = Rig::with(script).await;
    let client = rig.client().await;
    let deadline = Instant::now() + Duration::from_secs(3);
    let failure = client.read("fake:///one", deadline).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    let request = fake.of("resources/read").await.remove(0);
    let cancelled = fake.wait_for("notifications/cancelled", 1, LONG).await;
    assert_eq!(cancelled.params.unwrap()["requestId"], request.id.unwrap());
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn initialize_is_never_cancelled() {
    let script = tools().on("initialize", Reply::late(40_000));
    let mut rig = Rig::start(live());
    rig.add(NAME, vec![script]).await;
    let fake = rig.arrival().await;
    let failed = rig
        .until("failed", |server| server.status.word() == "failed")
        .await;
    let failure = failed.status.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(
        &*failure.message,
        "fake: no answer to the handshake within 30 s"
    );
    rig.pass(LONG).await;
    assert_eq!(fake.methods().await, ["initialize"]);
    assert_eq!(rig.server().status.word(), "failed");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_servers_own_bounds_hold() {
    let settings = Settings {
        request_timeout: Duration::from_secs(5),
        traversal_timeout: Duration::from_secs(8),
        ..Settings::default()
    };
    let check_bound = async |script: Script, shown: &str| {
        let mut rig = Rig::start(EngineOptions {
            settings: settings.clone(),
            ..live()
        });
        rig.add(NAME, vec![script]).await;
        let server = rig.settled().await;
        assert_eq!(listing(&server, ListMethod::Tools), shown);
        rig.end().await;
    };
    check_bound(
        tools().on(TOOLS, Reply::silence()),
        "failed !timeout: no answer within 5 s",
    )
    .await;
    let slow = Script::legacy()
        .generated(TOOLS, 10, 1)
        .on(TOOLS, Reply::delay(1_000));
    check_bound(slow, "failed !timeout: not all pages came within 8 s").await;
}

/// What a server asked, and what it was answered.
async fn answers(script: Script, asked: &[&str]) -> Vec<(Option<Value>, Option<i64>)> {
    let (rig, fake) = Rig::with(script).await;
    let mut answers = Vec::new();
    for method in asked {
        let answer = fake.wait_answer(method, 1, LONG).await;
        let code = answer.error.and_then(|error| error["code"].as_i64());
        answers.push((answer.result, code));
    }
    assert_eq!(listing(&rig.server(), ListMethod::Tools), "a");
    rig.end().await;
    answers
}

#[tokio::test(start_paused = true)]
async fn a_server_is_answered_also_during_the_handshake() {
    let asked = [
        "ping",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "tools/list",
        "x",
    ];
    let expected = [
        (Some(json!({})), None),
        (Some(json!({"roots": []})), None),
        (None, Some(-32601)),
        (None, Some(-32601)),
        (None, Some(-32601)),
        (None, Some(-32601)),
    ];
    let after = asked.iter().fold(tools(), |script, method| {
        script.after_initialized(Action::ask(method))
    });
    assert_eq!(answers(after, &asked).await, expected);
    // At the start, and with `initialize` held back until they are answered.
    let during = asked.iter().fold(tools(), |script, method| {
        script.at_start(Action::ask(method))
    });
    let during = during.on("initialize", Reply::delay(1_000));
    assert_eq!(answers(during, &asked).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_servers_request_is_answered_under_its_own_id() {
    let ids = [
        json!(0),
        json!("ping-1"),
        json!(1_000_000_000),
        json!(-7),
        json!("\u{e9}\n\""),
        json!(1.5),
    ];
    let script = ids.iter().fold(tools(), |script, id| {
        script.after_initialized(Action::Ask(Ask {
            method: "ping".to_owned(),
            params: Some(json!({"x": 1})),
            id: Some(id.clone()),
        }))
    });
    let (rig, fake) = Rig::with(script).await;
    let mut answered = Vec::new();
    for nth in 1..=ids.len() {
        answered.push(fake.wait_answer("ping", nth, LONG).await.id.unwrap());
    }
    assert_eq!(answered, ids);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_we_declare_is_roots_and_nothing_else() {
    let (rig, fake) = Rig::with(tools()).await;
    let initialize = fake.of("initialize").await.remove(0);
    let params = initialize.params.unwrap();
    assert_eq!(params["capabilities"], json!({"roots": {}}));
    assert_eq!(params["protocolVersion"], "2025-11-25");
    assert_eq!(params["clientInfo"]["name"], "mcpdeck");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn log_messages_and_progress_come_at_any_time() {
    let log = |data: Value| {
        Action::notify(
            "notifications/message",
            json!({"level": "warning", "logger": "db", "data": data}),
        )
    };
    let progress = Action::notify(
        "notifications/progress",
        json!({"progressToken": 1, "progress": 1}),
    );
    let script = tools()
        .at_start(log(json!("early")))
        .at_start(progress.clone())
        .after_initialized(log(json!({"a": "\u{1b}[31mred"})))
        .after_initialized(progress);
    let (rig, _) = Rig::with(script).await;
    let lines = rig.client().await.lines_since(0).await;
    let lines: Vec<_> = lines
        .iter()
        .map(|line| (line.kind, line.text.to_string()))
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], (LineKind::Log, "warning db: early".to_owned()));
    assert_eq!(lines[1].0, LineKind::Log);
    assert!(!lines[1].1.contains('\u{1b}'), "{:?}", lines[1].1);
    assert_eq!(rig.server().noise, 0);
    rig.end().await;
}
