//! 5.1 to 5.4: what is asked for, in what order, with which cursors, and where it ends.

use std::time::Duration;

use mcpdeck::domain::{Freshness, ListMethod};
use serde_json::{Value, json};

use super::{check, check_templates};
use crate::support::fake::listing::item;
use crate::support::fake::{Action, Listing, Page, Reply, Rule, Script};
use crate::support::rig::{Rig, discovered, listing, listings, live};

const TEMPLATES: &str = "resources/templates/list";

/// Pages of one template each, which end with these cursors; one more follows them.
fn pages(cursors: &[Value]) -> Script {
    let one = |name: usize| vec![item(TEMPLATES, &name.to_string())];
    let mut pages: Vec<Page> = cursors
        .iter()
        .enumerate()
        .map(|(index, cursor)| Page::more(one(index + 1), cursor.clone()))
        .collect();
    pages.push(Page::last(one(cursors.len() + 1)));
    Script::legacy().resources(vec![]).templates(pages)
}

#[tokio::test(start_paused = true)]
async fn only_what_is_declared_is_asked_for() {
    let check = async |capabilities: Value, expected: [usize; 4]| {
        let script = Script::legacy().sample().capabilities(capabilities.clone());
        let (server, fake) = discovered(script).await;
        let mut asked = [0; 4];
        for method in ListMethod::ALL {
            asked[method as usize] = fake.count(method.name()).await;
        }
        assert_eq!(asked, expected, "{capabilities}");
        let shown = listings(&server).map(|listing| usize::from(listing == "one"));
        assert_eq!(shown, expected, "{capabilities}");
    };
    check(json!({}), [0, 0, 0, 0]).await;
    check(json!({"resources": {}}), [1, 1, 0, 0]).await;
    check(json!({"tools": {"listChanged": false}}), [0, 0, 1, 0]).await;
    check(json!({"prompts": true}), [0, 0, 0, 1]).await;
    check(json!({"resources": null, "tools": false}), [0, 0, 0, 0]).await;
    check(
        json!({"resources": "yes", "tools": [], "prompts": 1}),
        [0, 0, 0, 0],
    )
    .await;
    check(
        json!({"completions": {}, "resourceTemplates": {}}),
        [0, 0, 0, 0],
    )
    .await;
    let all = json!({"resources": {"subscribe": true}, "tools": {}, "prompts": {}});
    check(all, [1, 1, 1, 1]).await;
}

#[tokio::test(start_paused = true)]
async fn discovery_lists_and_does_nothing_else() {
    let capabilities = json!({
        "resources": {"subscribe": true, "listChanged": true},
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    });
    let script = Script::legacy().sample().capabilities(capabilities);
    let (rig, fake) = Rig::with(script).await;
    for kind in ["resources", "tools", "prompts"] {
        fake.send(Action::list_changed(kind, 3)).await;
    }
    rig.pass(Duration::from_mins(1)).await;
    let mut methods = fake.methods().await;
    assert_eq!(methods[..2], ["initialize", "notifications/initialized"]);
    methods.drain(..2);
    assert!(
        methods.iter().all(|method| method.ends_with("/list")),
        "{methods:?}"
    );
    assert_eq!(methods.len(), 8);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn cursors_are_sent_back_byte_for_byte() {
    let long = "c".repeat(100_000);
    let cursors = [
        "a",
        "",
        " ",
        " a ",
        "a",
        "A",
        "\n",
        "\u{0}",
        "\u{feff}a",
        "a\u{200b}",
        "\u{e9}",
        "e\u{301}",
        "ﬁ",
        "😀",
        "null",
        "\"",
        "\\u0041",
        "{\"page\":2}",
        "a+b/c==",
        "\u{1b}[31m",
        &long,
    ];
    // Each of them once, and the first of them again would be a repetition.
    let cursors: Vec<Value> = cursors
        .iter()
        .enumerate()
        .filter(|(index, cursor)| !cursors[..*index].contains(cursor))
        .map(|(_, cursor)| Value::from(*cursor))
        .collect();
    let (server, fake) = discovered(pages(&cursors)).await;
    let sent: Vec<Option<Value>> = fake
        .of(TEMPLATES)
        .await
        .iter()
        .map(|request| request.params.as_ref()?.get("cursor").cloned())
        .collect();
    let expected: Vec<Option<Value>> = std::iter::once(None)
        .chain(cursors.into_iter().map(Some))
        .collect();
    assert_eq!(sent, expected);
    assert_eq!(server.catalog.templates.items.len(), expected.len());
    assert_eq!(server.error(None), None);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_with_a_lone_surrogate_is_sent_as_it_was_read() {
    let first = r#"{"resourceTemplates":[],"nextCursor":"\ud800"}"#;
    let script = Script::legacy()
        .templates(vec![])
        .on_nth(TEMPLATES, 1, Reply::result_text(first));
    let script = script.on_nth(
        TEMPLATES,
        2,
        Reply::result(json!({"resourceTemplates": []})),
    );
    let (_, fake) = discovered(script).await;
    let requests = fake.of(TEMPLATES).await;
    let cursor = requests[1].params.as_ref().map(|params| &params["cursor"]);
    assert_eq!(cursor, Some(&json!("\u{fffd}")));
}

#[tokio::test(start_paused = true)]
async fn a_listing_ends_where_the_cursor_is_absent_or_null() {
    check_templates(pages(&[]), "1", 1).await;
    check_templates(pages(&[Value::Null]), "1", 1).await;
    check_templates(pages(&["".into()]), "1 2", 2).await;
    check_templates(pages(&["a".into(), Value::Null]), "1 2", 2).await;
    for cursor in [
        json!(7),
        json!(0),
        json!(true),
        json!(false),
        json!({}),
        json!([]),
        json!(["a"]),
    ] {
        let shown = "failed !malformed: page 2: nextCursor is not a string";
        check_templates(pages(&["a".into(), cursor]), shown, 2).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_came_before_ends_the_traversal() {
    let repeated = |page: usize| {
        format!("failed !repeated_cursor: page {page} ended with a cursor that an earlier page had")
    };
    let script = |cursors: &[&str]| {
        let mut script = Script::legacy().templates(vec![]);
        for (nth, cursor) in (1..).zip(cursors) {
            let page = json!({"resourceTemplates": [], "nextCursor": cursor});
            script = script.on_nth(TEMPLATES, nth, Reply::result(page));
        }
        script
    };
    check_templates(script(&["a", "a"]), &repeated(2), 2).await;
    check_templates(script(&["a", "b", "a"]), &repeated(3), 3).await;
    check_templates(script(&["", ""]), &repeated(2), 2).await;
    check_templates(script(&["a", "b", "c", "d", "b"]), &repeated(5), 5).await;
    // By value: one that only looks the same is another.
    check_templates(
        script(&["a", "A", "a ", "\u{e4}", "a\u{308}"]),
        "failed !rpc -32602: Invalid cursor",
        6,
    )
    .await;
    // The same cursors in the other listing are no repetition.
    let page = |method| {
        vec![
            Page::more(vec![item(method, "1")], "a"),
            Page::last(vec![item(method, "2")]),
        ]
    };
    let both = Script::legacy()
        .templates(page(TEMPLATES))
        .resources(page("resources/list"));
    check_templates(both.clone(), "1 2", 2).await;
    check(ListMethod::Resources, both, "1 2", 2).await;
}

#[tokio::test(start_paused = true)]
async fn empty_pages_are_legal() {
    let empty = |cursor: &str| Page::more(vec![], cursor);
    let last = Page::last(vec![item(TEMPLATES, "x")]);
    let script = Script::legacy().templates(vec![empty("a"), empty("b"), last]);
    check_templates(script, "x", 3).await;
    let script = Script::legacy().templates(vec![empty("a"), Page::last(vec![])]);
    check_templates(script, "", 2).await;
}

#[tokio::test(start_paused = true)]
async fn page_101_is_never_asked_for() {
    let check_pages = async |count: usize, shown: Option<&str>, requests: usize| {
        let script = Script::legacy().generated(TEMPLATES, count, 1);
        let (server, fake) = discovered(script).await;
        assert_eq!(fake.count(TEMPLATES).await, requests);
        match shown {
            Some(shown) => assert_eq!(listing(&server, ListMethod::ResourceTemplates), shown),
            None => assert_eq!(server.catalog.templates.count(), Some(count)),
        }
    };
    check_pages(99, None, 99).await;
    check_pages(100, None, 100).await;
    check_pages(101, Some("failed !page_limit: more than 100 pages"), 100).await;
    check_pages(5_000, Some("failed !page_limit: more than 100 pages"), 100).await;
}

#[tokio::test(start_paused = true)]
async fn a_repeated_cursor_on_page_100_is_told_as_that() {
    let first = json!({"resourceTemplates": [], "nextCursor": "page-7"});
    let script =
        Script::legacy()
            .generated(TEMPLATES, 200, 1)
            .on_nth(TEMPLATES, 100, Reply::result(first));
    let shown = "failed !repeated_cursor: page 100 ended with a cursor that an earlier page had";
    check_templates(script, shown, 100).await;
}

#[tokio::test(start_paused = true)]
async fn a_traversal_has_one_deadline_for_all_its_pages() {
    let too_late = "failed !timeout: not all pages came within 60 s";
    // 59 pages of a second each are in time, 61 are not, however lively each of them is.
    let slow = |count| {
        Script::legacy()
            .generated(TEMPLATES, count, 1)
            .on(TEMPLATES, Reply::delay(1_000))
    };
    let (server, fake) = discovered(slow(59)).await;
    assert_eq!(server.catalog.templates.count(), Some(59));
    assert_eq!(fake.count(TEMPLATES).await, 59);
    check_templates(slow(100), too_late, 60).await;
    // Progress and log messages do not extend it.
    let chatty = (1..=90).fold(pages(&["a".into()]), |script, second| {
        let progress = json!({"progressToken": 0, "progress": second});
        let talk = Action::notify("notifications/progress", progress);
        let log = Action::notify(
            "notifications/message",
            json!({"level": "info", "data": "x"}),
        );
        script
            .after_initialized(Action::WaitMs(1_000))
            .after_initialized(talk)
            .after_initialized(log)
    });
    let chatty =
        chatty
            .on_nth(TEMPLATES, 1, Reply::delay(10_000))
            .on_nth(TEMPLATES, 2, Reply::silence());
    check_templates(chatty, too_late, 2).await;
}

#[tokio::test(start_paused = true)]
async fn no_prefix_is_ever_shown() {
    let mut rig = Rig::start(live());
    let script = pages(&["a".into(), "b".into()])
        .named("tools/list", &["t"])
        .rule(Rule::on(TEMPLATES, Reply::hold()).nth(3));
    rig.add("fake", vec![script]).await;
    let fake = rig.arrival().await;
    fake.wait_for(TEMPLATES, 3, Duration::from_mins(1)).await;
    let server = rig
        .until("with tools", |server| {
            listing(server, ListMethod::Tools) == "t"
        })
        .await;
    assert_eq!(
        server.catalog.freshness(ListMethod::ResourceTemplates),
        Freshness::Absent
    );
    assert!(server.catalog.templates.items.is_empty());
    fake.send(Action::release(TEMPLATES)).await;
    let server = rig.settled().await;
    assert_eq!(listing(&server, ListMethod::ResourceTemplates), "1 2 3");
    // Neither does a longer listing show while it replaces a shorter one, nor one that fails.
    let more = Listing::Pages(vec![
        Page::more(vec![item(TEMPLATES, "x")], "c"),
        Page::last(vec![json!(7)]),
    ]);
    fake.send(Action::set_pages(TEMPLATES, more)).await;
    rig.handle.refresh(&server.name).await;
    let failed = rig
        .until("failed", |server| !server.errors.is_empty())
        .await;
    let shown = "old: 1 2 3 !malformed: page 2, item 1: it is not an object";
    assert_eq!(listing(&failed, ListMethod::ResourceTemplates), shown);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_is_shown_without_its_cursors() {
    let says = |text: &str| {
        Action::notify(
            "notifications/message",
            json!({"level": "info", "data": text}),
        )
    };
    let progress = json!({"progressToken": 1, "progress": 1, "message": "behind c-second"});
    let script = pages(&[json!("c-first"), json!("c-second")])
        .after_initialized(says("begin"))
        .on_nth(
            TEMPLATES,
            1,
            Reply::default()
                .before(says("the next is c-first"))
                .with_default(),
        )
        .on_nth(
            TEMPLATES,
            2,
            Reply::default()
                .before(Action::notify("notifications/progress", progress))
                .after(says("c-first led to \"c-second\""))
                .with_default(),
        )
        .on_nth(TEMPLATES, 4, Reply::error(-32603, "down"));
    let (rig, fake) = Rig::with(script).await;
    let shown = async || {
        let client = rig.client().await;
        let lines = client.lines_since(0).await;
        let messages = client.messages_after(0).await.unwrap();
        let lines = lines.iter().map(|line| line.text.to_string());
        let messages = messages.iter().map(|message| message.text.to_string());
        (lines.collect::<Vec<_>>(), messages.collect::<Vec<_>>())
    };
    let told = [
        "info: begin",
        "info: the next is ***",
        "info: *** led to \"***\"",
    ];
    let (lines, messages) = shown().await;
    assert_eq!(lines, told);
    assert!(!messages.concat().contains("c-"), "{messages:#?}");
    // Those of former walks stay hidden.
    fake.send(Action::list_changed("resources", 1)).await;
    rig.until("refreshed", |server| {
        server.error(Some(ListMethod::ResourceTemplates)).is_some()
    })
    .await;
    let (lines, messages) = shown().await;
    assert_eq!(lines, told);
    assert!(!messages.concat().contains("c-"), "{messages:#?}");
    rig.end().await;
}
