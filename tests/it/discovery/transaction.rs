//! 5.10, 5.11 and 5.14: what a refresh may change when some of it fails.

use mcpdeck::domain::{Group, ListMethod, ServerName, ServerSnapshot};
use serde_json::json;

use crate::support::fake::{Action, Listing, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::rig::{Rig, discovered, listings, live};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";
const TOOLS: &str = "tools/list";

/// A live server whose listings are changed step by step.
struct Steps {
    rig: Rig,
    fake: FakeHandle,
}

/// What a listing answers from now on: items with these names, or an error.
fn answers(method: &str, answer: &str) -> Vec<Action> {
    let clear = Action::ClearRules(method.to_owned());
    let answers = if let Some(code) = answer.strip_prefix('!') {
        let reply = Reply::error(code.parse().unwrap(), "no");
        Action::rule(Rule::on(method, reply))
    } else {
        let names: Vec<&str> = answer.split_whitespace().collect();
        Action::set_pages(method, Listing::named(method, &names))
    };
    vec![clear, answers]
}

impl Steps {
    async fn start(script: Script) -> Self {
        let (rig, fake) = Rig::with(script).await;
        Self { rig, fake }
    }

    /// Lets resources and templates answer like this, refreshes, and checks what is shown then
    /// and which generation it is.
    async fn refresh(&self, resources: &str, templates: &str, shown: [&str; 2], generation: u64) {
        for action in [answers(RESOURCES, resources), answers(TEMPLATES, templates)].concat() {
            self.fake.send(action).await;
        }
        let server = self.refreshed(Group::Resources).await;
        let [showing_resources, showing_templates, ..] = listings(&server);
        assert_eq!([&*showing_resources, &*showing_templates], shown);
        assert_eq!(server.generation.0, generation, "{shown:?}");
        assert_eq!(server.status.word(), "connected");
    }

    /// Refreshes everything and waits for the end of the group's refresh.
    async fn refreshed(&self, group: Group) -> std::sync::Arc<ServerSnapshot> {
        let of_group = || {
            let refreshes = self.rig.refreshes();
            refreshes
                .iter()
                .filter(|report| report.group == group)
                .count()
        };
        let before = of_group();
        self.rig.handle.refresh(&self.rig.server().name).await;
        self.rig.state("refreshed", |_| of_group() > before).await;
        self.rig.settled().await
    }
}

#[tokio::test(start_paused = true)]
async fn resources_and_templates_change_together_or_not_at_all() {
    let steps = Steps::start(
        Script::legacy()
            .named(RESOURCES, &["r1"])
            .named(TEMPLATES, &["t1"]),
    )
    .await;
    assert_eq!(steps.rig.server().generation.0, 1);
    steps.refresh("r2", "t2", ["r2", "t2"], 2).await;
    let failed = "old: t2 !rpc -32603: no";
    steps.refresh("r3", "!-32603", ["old: r2", failed], 2).await;
    let first_failure = steps.rig.server().catalog.old_since();
    steps.refresh("r4", "!-32603", ["old: r2", failed], 2).await;
    let server = steps.rig.server();
    let error = server.error(Some(ListMethod::ResourceTemplates)).unwrap();
    assert_eq!((error.count, error.kept), (2, true));
    assert_eq!(server.catalog.old_since(), first_failure);
    // The other fails now; this one came back, and only waits for it.
    steps
        .refresh("!-32000", "t5", ["old: r2 !rpc -32000: no", "old: t2"], 2)
        .await;
    let both = ["old: r2 !rpc -32000: no", "old: t2 !rpc -32602: no"];
    steps.refresh("!-32000", "!-32602", both, 2).await;
    steps.refresh("r6", "t6", ["r6", "t6"], 3).await;
    assert_eq!(steps.rig.server().errors.len(), 0);
    // A server without templates is a success, and so is one that has nothing any more.
    steps.refresh("r7", "!-32601", ["r7", ""], 4).await;
    steps.refresh("", "", ["", ""], 5).await;
    assert_eq!(
        steps.rig.server().catalog.count(ListMethod::Resources),
        Some(0)
    );
    steps
        .refresh("!-32601", "!-32601", ["old:  !rpc -32601: no", "old: "], 5)
        .await;
    steps.rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn both_are_swapped_in_one_snapshot() {
    let (rig, fake) = Rig::with(
        Script::legacy()
            .named(RESOURCES, &["r1"])
            .named(TEMPLATES, &["t1"]),
    )
    .await;
    for method in [RESOURCES, TEMPLATES] {
        fake.send(Action::set_pages(method, Listing::named(method, &["new"])))
            .await;
        fake.send(Action::rule(Rule::on(method, Reply::hold())))
            .await;
    }
    rig.handle.refresh(&rig.server().name).await;
    let refreshing = |server: &ServerSnapshot| server.refreshing.contains(&Group::Resources);
    rig.until("refreshing", refreshing).await;
    fake.wait_for(TEMPLATES, 2, std::time::Duration::from_mins(1))
        .await;
    fake.send(Action::release(RESOURCES)).await;
    rig.pass(std::time::Duration::from_secs(10)).await;
    let server = rig.server();
    assert_eq!(listings(&server)[..2], ["r1", "t1"]);
    assert!(refreshing(&server));
    fake.send(Action::release(TEMPLATES)).await;
    let server = rig.settled().await;
    assert_eq!(listings(&server)[..2], ["new", "new"]);
    assert_eq!(server.generation.0, 2);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_first_discovery_shows_what_succeeded() {
    let script = Script::legacy()
        .sample()
        .on(TEMPLATES, Reply::error(-32603, "broken"))
        .on(TOOLS, Reply::result(json!({"tools": 7})));
    let (server, _) = discovered(script).await;
    let expected = [
        "one",
        "failed !rpc -32603: broken",
        "failed !malformed: page 1: tools is not an array",
        "one",
    ];
    assert_eq!(listings(&server), expected);
    assert_eq!(server.status.word(), "connected");
    let counts = ListMethod::ALL.map(|method| server.catalog.count(method));
    assert_eq!(counts, [Some(1), None, None, Some(1)]);
    assert_eq!(server.generation.0, 1);

    let all = ListMethod::ALL
        .into_iter()
        .fold(Script::legacy().sample(), |script, method| {
            script.on(method.name(), Reply::error(-32603, "broken"))
        });
    let (server, _) = discovered(all).await;
    assert_eq!(listings(&server), ["failed !rpc -32603: broken"; 4]);
    assert_eq!(
        (server.status.word(), server.generation.0),
        ("connected", 0)
    );
}

#[tokio::test(start_paused = true)]
async fn until_both_have_succeeded_together_each_is_for_itself() {
    let script = Script::legacy()
        .named(RESOURCES, &["r1"])
        .named(TEMPLATES, &["t1"])
        .on(TEMPLATES, Reply::error(-32603, "no"));
    let steps = Steps::start(script).await;
    assert_eq!(
        listings(&steps.rig.server())[..2],
        ["r1", "failed !rpc -32603: no"]
    );
    // Rows that were shown on this connection stay, marked.
    steps
        .refresh("!-32000", "t2", ["old: r1 !rpc -32000: no", "t2"], 2)
        .await;
    steps
        .refresh("r3", "!-32000", ["r3", "old: t2 !rpc -32000: no"], 3)
        .await;
    steps
        .refresh(
            "!-32000",
            "!-32000",
            ["old: r3 !rpc -32000: no", "old: t2 !rpc -32000: no"],
            3,
        )
        .await;
    steps.refresh("r4", "t4", ["r4", "t4"], 4).await;
    // From here on they are one transaction.
    steps
        .refresh("r5", "!-32000", ["old: r4", "old: t4 !rpc -32000: no"], 4)
        .await;
    steps.rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn tools_and_prompts_refresh_on_their_own() {
    let steps = Steps::start(Script::legacy().sample()).await;
    for action in [
        answers(TEMPLATES, "!-32603"),
        answers(TOOLS, "a b"),
        answers("prompts/list", "!-32601"),
    ]
    .concat()
    {
        steps.fake.send(action).await;
    }
    steps.refreshed(Group::Resources).await;
    let server = steps
        .rig
        .until("refreshed", |server| server.errors.len() == 2)
        .await;
    let expected = [
        "old: one",
        "old: one !rpc -32603: no",
        "a b",
        "old: one !rpc -32601: no",
    ];
    assert_eq!(listings(&server), expected);
    for action in [answers(TEMPLATES, "t"), answers("prompts/list", "")].concat() {
        steps.fake.send(action).await;
    }
    steps.refreshed(Group::Resources).await;
    let server = steps
        .rig
        .until("well", |server| server.errors.is_empty())
        .await;
    assert_eq!(listings(&server), ["one", "t", "a b", ""]);
    steps.rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn one_servers_failure_never_touches_anothers_data() {
    let mut rig = Rig::start(live());
    let good = Script::legacy().sample();
    rig.add("good", vec![good]).await;
    let good_fake = rig.arrival().await;
    let bad = Script::legacy()
        .sample()
        .on(RESOURCES, Reply::result(json!({"resources": {}})))
        .on(TEMPLATES, Reply::error(-32603, "no"))
        .on(TOOLS, Reply::exit(3, "bye\n"));
    rig.add("bad", vec![bad]).await;
    let name = |name: &str| ServerName::new(name).unwrap();
    let (good, bad) = (name("good"), name("bad"));
    let is_settled = |server: &ServerSnapshot| server.is_settled();
    let before = rig
        .state("good", |state| {
            state.server(&good).is_some_and(|server| is_settled(server))
        })
        .await;
    let failed = |server: &ServerSnapshot| server.status.word() == "failed";
    let after = rig
        .state("bad", |state| {
            state.server(&bad).is_some_and(|server| failed(server))
        })
        .await;
    let catalog = |state: &mcpdeck::domain::AppState| state.server(&good).unwrap().catalog.clone();
    assert_eq!(listings(after.server(&good).unwrap()), ["one"; 4]);
    assert_eq!(listings(after.server(&bad).unwrap()), ["-"; 4]);
    let same = std::sync::Arc::ptr_eq(
        &catalog(&before).resources.items,
        &catalog(&after).resources.items,
    );
    assert!(same);
    assert_eq!(good_fake.count(RESOURCES).await, 1);
    rig.end().await;
}
