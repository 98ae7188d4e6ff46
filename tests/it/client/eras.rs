//! Which era is spoken over stdio, and which version (4.2).

use std::time::Duration;

use mcpdeck::domain::{ProtocolChoice, ServerName, ServerSnapshot, Status};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Order, heard, listless, stdio, tell};
use crate::support::fake::{Action, Reply, Script};
use crate::support::rig::{NAME, Rig};

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

/// How a server was met.
struct Met {
    /// The version that was agreed on, or why there is none.
    outcome: String,
    /// What each process heard, in the order of their starts.
    heard: Vec<String>,
    /// The versions that `initialize` asked for.
    asked: Vec<String>,
    /// How long it took.
    took: Duration,
}

/// Meets a server, each of whose starts plays the next script.
async fn meet(protocol: ProtocolChoice, scripts: Vec<Script>) -> Met {
    let mut rig = Rig::start(listless());
    rig.script(NAME, scripts);
    let started = Instant::now();
    rig.handle.put(vec![stdio(NAME, protocol)]).await;
    let decided = |server: &ServerSnapshot| server.status != Status::Connecting;
    let server = rig.until("decided", decided).await;
    let took = started.elapsed();
    // A late answer changes nothing any more.
    rig.pass(Duration::from_mins(1)).await;
    assert_eq!(outcome(&rig.server()), outcome(&server));
    let (mut all, mut asked) = (Vec::new(), Vec::new());
    while let Some(fake) = rig.try_arrival() {
        let received = fake.received().await;
        let ids: Vec<&Value> = received.iter().filter_map(|it| it.id.as_ref()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "the id {id} came twice");
        }
        let versions = received.iter().filter(|entry| entry.is(INITIALIZE));
        asked.extend(versions.filter_map(|entry| {
            let version = entry.params.as_ref()?.get("protocolVersion")?;
            version.as_str().map(str::to_owned)
        }));
        all.push(
            heard(&fake)
                .await
                .replace("server/", "")
                .replace("notifications/", ""),
        );
    }
    rig.end().await;
    Met {
        outcome: outcome(&server),
        heard: all,
        asked,
        took,
    }
}

fn outcome(server: &ServerSnapshot) -> String {
    match (&server.status, server.status.failure()) {
        (Status::Connected(session), _) => session.protocol_version.to_string(),
        (status, Some(failure)) => {
            format!("{}: {}: {failure}", status.word(), failure.kind.word())
        }
        (status, None) => status.word().to_owned(),
    }
}

/// Checks a row: what is agreed on, and what each process heard.
async fn check(
    what: &str,
    protocol: ProtocolChoice,
    scripts: Vec<Script>,
    outcome: &str,
    heard: &[&str],
) -> Met {
    let met = meet(protocol, scripts).await;
    let is: Vec<&str> = met.heard.iter().map(String::as_str).collect();
    assert_eq!((met.outcome.as_str(), &*is), (outcome, heard), "{what}");
    met
}

async fn auto(what: &str, scripts: Vec<Script>, outcome: &str, heard: &[&str]) -> Met {
    check(what, ProtocolChoice::Auto, scripts, outcome, heard).await
}

fn unsupported(supported: &Value) -> Reply {
    let data = json!({"supported": supported, "requested": "2026-07-28"});
    Reply::error_object(json!({"code": -32022, "message": "unsupported", "data": data}))
}

const SAME_PROCESS: &[&str] = &["discover initialize initialized"];

#[tokio::test(start_paused = true)]
async fn any_other_answer_to_the_probe_leads_to_initialize_in_the_same_process() {
    for code in [-32601, -32602, -32603, -32000, -32600, -32001, 1] {
        let script = Script::legacy().discover_error(code);
        auto(&code.to_string(), vec![script], "2025-11-25", SAME_PROCESS).await;
    }
    let null_id = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
    let both = r#"{"jsonrpc":"2.0","id":{id},"result":{},"error":{"code":1,"message":""}}"#;
    for (what, reply) in [
        ("no discover result", Reply::result(json!({}))),
        ("of another method", Reply::result(json!({"tools": []}))),
        ("a result that is no object", Reply::result(json!("ok"))),
        (
            "an error without an id",
            Reply::raw(&format!("{null_id}\n")),
        ),
        ("both result and error", Reply::raw(&format!("{both}\n"))),
    ] {
        let script = Script::legacy().on(DISCOVER, reply);
        auto(what, vec![script], "2025-11-25", SAME_PROCESS).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_not_initialized() {
    for script in [Script::modern(), Script::both()] {
        let slow = script.clone().on(DISCOVER, Reply::delay(1_900));
        auto("at once", vec![script], "2026-07-28", &["discover"]).await;
        auto("slow", vec![slow], "2026-07-28", &["discover"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_waited_out_with_our_own_timer() {
    let script = Script::legacy().discover_silent();
    let met = auto("silence", vec![script], "2025-11-25", SAME_PROCESS).await;
    let waited = met.took.as_millis();
    assert!((2_000..2_100).contains(&waited), "{waited} ms");
    // An answer that says nothing for modern may come late, too.
    for ms in [2_500, 10_000] {
        let script = Script::legacy()
            .on(DISCOVER, Reply::error(-32601, "no").delayed(ms))
            .on(INITIALIZE, Reply::delay(3_000));
        auto("late", vec![script], "2025-11-25", SAME_PROCESS).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_modern_answer_decides_until_initialize_has_succeeded() {
    let slow = Script::both().on(DISCOVER, Reply::delay(3_000));
    let slower = slow.clone().on(INITIALIZE, Reply::delay(5_000));
    // The second process has no probe timer: it is as slow, and no `initialize` is sent.
    auto(
        "before",
        vec![slower],
        "2026-07-28",
        &["discover initialize", "discover"],
    )
    .await;
    auto("after", vec![slow], "2025-11-25", SAME_PROCESS).await;
    let refusing = Script::both()
        .on(DISCOVER, Reply::error(-32021, "no").delayed(3_000))
        .on(INITIALIZE, Reply::delay(5_000));
    auto(
        "a late modern error",
        vec![refusing],
        "failed: connect: fake: server/discover was refused: error -32021: no",
        &["discover initialize", "discover"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn if_initialize_fails_after_silence_one_modern_attempt_is_made() {
    let silent = |script: Script| script.discover_silent();
    let modern = Script::modern;
    auto(
        "a modern server that was not ready",
        vec![silent(modern()), modern()],
        "2026-07-28",
        &["discover initialize", "discover"],
    )
    .await;
    auto(
        "it ends on initialize",
        vec![
            silent(modern()).on(INITIALIZE, Reply::exit(1, "")),
            modern(),
        ],
        "2026-07-28",
        &["discover initialize", "discover"],
    )
    .await;
    let unwilling = Script::legacy().on(INITIALIZE, Reply::error(-32603, "boom"));
    let refused = "failed: connect: fake: initialize was refused: error -32603: boom";
    auto(
        "it does not speak modern either",
        vec![silent(unwilling.clone()), unwilling.clone()],
        refused,
        &["discover initialize", "discover"],
    )
    .await;
    // Silence again: the failure of `initialize` is reported at the connect deadline.
    let met = auto(
        "it stays silent",
        vec![silent(unwilling)],
        refused,
        &["discover initialize", "discover"],
    )
    .await;
    assert_eq!(met.took.as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn an_exit_during_the_probe_leads_to_one_fresh_process() {
    let exits = || Script::legacy().discover_exits(1);
    auto(
        "exit",
        vec![exits(), Script::legacy()],
        "2025-11-25",
        &["discover", "initialize initialized"],
    )
    .await;
    auto(
        "exit, and again",
        vec![exits(), Script::legacy().on(INITIALIZE, Reply::exit(3, ""))],
        "failed: connect: fake: the connection closed during the handshake",
        &["discover", "initialize"],
    )
    .await;
    auto(
        "its failure is the one reported",
        vec![
            exits(),
            Script::legacy().on(INITIALIZE, Reply::error(-32000, "not today")),
        ],
        "failed: connect: fake: initialize was refused: error -32000: not today",
        &["discover", "initialize"],
    )
    .await;
    auto(
        "closed stdout",
        vec![
            Script::legacy().on(DISCOVER, Reply::close_stdout()),
            Script::legacy(),
        ],
        "2025-11-25",
        &["discover", "initialize initialized"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn modern_errors_stay_modern() {
    for code in [-32020, -32021, -32022] {
        let outcome = format!(
            "failed: connect: fake: server/discover was refused: error {code}: what is this?"
        );
        let script = Script::both().discover_error(code);
        auto("a modern error", vec![script], &outcome, &["discover"]).await;
    }
    let refuses = |supported: Value| Script::both().on(DISCOVER, unsupported(&supported));
    let met = auto(
        "it names legacy versions",
        vec![refuses(json!(["2024-11-05", "2025-06-18", "banana"]))],
        "2025-06-18",
        SAME_PROCESS,
    )
    .await;
    assert_eq!(met.asked, ["2025-06-18"]);
    auto(
        "it names ours",
        vec![refuses(json!(["2026-07-28", "2025-06-18"]))],
        "failed: connect: fake: server/discover was refused: error -32022: unsupported",
        &["discover"],
    )
    .await;
    auto(
        "it names none of ours",
        vec![refuses(json!(["banana", "2030-01-01"]))],
        "failed: connect: fake: no common protocol version: the server speaks banana, \
         2030-01-01, mcpdeck speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
        &["discover"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_versions_of_a_discover_result_decide() {
    let discovers = |versions: &[&str]| Script {
        supported_versions: Some(versions.iter().map(|it| (*it).to_owned()).collect()),
        ..Script::both()
    };
    auto(
        "both",
        vec![discovers(&["2025-11-25", "2026-07-28"])],
        "2026-07-28",
        &["discover"],
    )
    .await;
    let met = auto(
        "legacy ones: the newest",
        vec![discovers(&["2024-11-05", "2025-03-26", "2027-01-01"])],
        "2025-03-26",
        SAME_PROCESS,
    )
    .await;
    assert_eq!(met.asked, ["2025-03-26"]);
    for (versions, theirs) in [(vec!["banana"], "banana"), (vec![], "none")] {
        let outcome = format!(
            "failed: connect: fake: no common protocol version: the server speaks {theirs}, \
             mcpdeck speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"
        );
        auto("none", vec![discovers(&versions)], &outcome, &["discover"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_may_say_which_era() {
    use ProtocolChoice::{Legacy, Modern};
    let silent = || Script::both().discover_silent();
    let initialize: &[&str] = &["initialize initialized"];
    let discover: &[&str] = &["discover"];
    check("legacy", Legacy, vec![silent()], "2025-11-25", initialize).await;
    let met = check(
        "modern",
        Modern,
        vec![Script::both()],
        "2026-07-28",
        discover,
    )
    .await;
    assert!(met.took < Duration::from_secs(1));
    let slow = Script::modern().on(DISCOVER, Reply::delay(20_000));
    check("slow", Modern, vec![slow], "2026-07-28", discover).await;
    let why = "which protocol = \"modern\" asks for";
    let outcome = format!("failed: connect: fake: the server does not speak 2026-07-28, {why}");
    check(
        "not modern",
        Modern,
        vec![Script::legacy()],
        &outcome,
        discover,
    )
    .await;
    let older = Script {
        supported_versions: Some(vec!["2025-11-25".to_owned()]),
        ..Script::both()
    };
    let outcome = "failed: connect: fake: no common protocol version: the server speaks \
                   2025-11-25, mcpdeck speaks 2026-07-28 (protocol = \"modern\")";
    check("older", Modern, vec![older], outcome, discover).await;
    let outcome = "failed: timeout: fake: no answer to the handshake within 30 s";
    check("silent", Modern, vec![silent()], outcome, discover).await;
    let outcome =
        "failed: connect: fake: initialize was refused: error -32601: Method not found: initialize";
    check(
        "not legacy",
        Legacy,
        vec![Script::modern()],
        outcome,
        &["initialize"],
    )
    .await;
    check(
        "an exit is no reason to start it again",
        Modern,
        vec![Script::modern().discover_exits(1)],
        "failed: connect: fake: the connection closed during the handshake",
        discover,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn only_four_versions_are_taken_from_initialize() {
    use ProtocolChoice::Legacy;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let script = Script::legacy().version(version);
        let initialize = &["initialize initialized"];
        let met = check("known", Legacy, vec![script], version, initialize).await;
        assert_eq!(met.asked, ["2025-11-25"]);
    }
    for version in ["banana", "2026-07-28", "2025-11-26"] {
        let outcome = format!(
            "failed: connect: fake: no common protocol version: the server speaks {version}, \
             mcpdeck speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 in initialize"
        );
        let script = Script::legacy().version(version);
        check(version, Legacy, vec![script], &outcome, &["initialize"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_to_initialize_that_names_versions_is_answered_once() {
    let refuses = |supported: Value| {
        let data = json!({"supported": supported, "requested": "2025-11-25"});
        Reply::error_object(json!({"code": -32602, "message": "version", "data": data}))
    };
    let older = json!(["2024-11-05", "2025-03-26"]);
    let met = check(
        "then it takes it",
        ProtocolChoice::Auto,
        vec![Script::legacy().on_nth(INITIALIZE, 1, refuses(older.clone()))],
        "2025-03-26",
        &["discover initialize initialize initialized"],
    )
    .await;
    assert_eq!(met.asked, ["2025-11-25", "2025-03-26"]);
    check(
        "not twice",
        ProtocolChoice::Legacy,
        vec![Script::legacy().on(INITIALIZE, refuses(older))],
        "failed: connect: fake: initialize was refused: error -32602: version",
        &["initialize initialize"],
    )
    .await;
    check(
        "nothing in common",
        ProtocolChoice::Legacy,
        vec![Script::legacy().on(INITIALIZE, refuses(json!(["banana"])))],
        "failed: connect: fake: no common protocol version: the server speaks banana, mcpdeck \
         speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 in initialize",
        &["initialize"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_era_is_remembered_for_the_definition_and_forgotten_with_it() {
    let slow = |script: Script| script.on(DISCOVER, Reply::delay(5_000));
    let rows = [
        // A remembered modern server may be slower than the probe.
        (
            vec![Script::both(), slow(Script::both())],
            ["discover", "discover", "discover initialize initialized"],
        ),
        (
            vec![Script::legacy()],
            [
                "discover initialize initialized",
                "initialize initialized",
                "discover initialize initialized",
            ],
        ),
    ];
    for (scripts, expected) in rows {
        let mut rig = Rig::start(listless());
        rig.script(NAME, scripts);
        let definition = stdio(NAME, ProtocolChoice::Auto);
        rig.handle.put(vec![definition.clone()]).await;
        let connected = |epoch: u64| {
            move |server: &ServerSnapshot| {
                server.epoch.0 == epoch && server.status.session().is_some()
            }
        };
        let mut all = Vec::new();
        for (epoch, order) in [
            (1, Order::Reconnect),
            (2, Order::Replace),
            (3, Order::Remove),
        ] {
            rig.until("connected", connected(epoch)).await;
            let fake = rig.arrival().await;
            fake.send(Action::stdout("")).await;
            let words = heard(&fake).await;
            all.push(words.replace("server/", "").replace("notifications/", ""));
            tell(&rig, order, &definition).await;
        }
        assert_eq!(all, expected);
        assert!(
            rig.handle
                .snapshot()
                .server(&ServerName::new(NAME).unwrap())
                .is_none()
        );
        rig.end().await;
    }
}
