//! 5.6: the one error that means "no templates", and all the others that do not.

use mcpdeck::app::EngineOptions;
use mcpdeck::domain::{Interest, ListMethod};
use serde_json::json;

use super::{check, check_templates};
use crate::support::fake::listing::item;
use crate::support::fake::{Page, Reply, Script};
use crate::support::rig::{NAME, Rig, discovered, listing, live};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";

#[tokio::test(start_paused = true)]
async fn a_server_without_templates_says_so_by_one_code_on_the_first_page() {
    let server = || {
        Script::legacy()
            .named(RESOURCES, &["r"])
            .named(TEMPLATES, &["t"])
    };
    let first = |reply| server().on(TEMPLATES, reply);
    check_templates(first(Reply::error(-32601, "Method not found")), "", 1).await;
    check_templates(first(Reply::error_object(json!({"code": -32601}))), "", 1).await;
    let odd = json!({"code": -32601, "message": {"a": 1}, "data": [1]});
    check_templates(first(Reply::error_object(odd)), "", 1).await;
    let (shown, _) = discovered(first(Reply::error(-32601, "no"))).await;
    assert_eq!(shown.catalog.templates.count(), Some(0));
    assert_eq!(shown.errors.len(), 0);

    let failed = |code: i64, message: &str| format!("failed !rpc {code}: {message}");
    for code in [
        -32603, -32602, -32001, -32000, -32600, -32002, -32700, 32601, 0, 1, 404,
    ] {
        check_templates(
            first(Reply::error(code, "no such")),
            &failed(code, "no such"),
            1,
        )
        .await;
    }
    // As text under another code.
    for message in ["Method not found", "-32601: Method not found", "-32601"] {
        check_templates(
            first(Reply::error(-32603, message)),
            &failed(-32603, message),
            1,
        )
        .await;
    }
    let malformed = "failed !malformed: the error's code is not an integer";
    for code in [json!("-32601"), json!(-32601.5), json!(null), json!({})] {
        let error = json!({"code": code, "message": "Method not found"});
        check_templates(first(Reply::error_object(error)), malformed, 1).await;
    }
    let silent = "failed !rpc -32000: the server gave no message";
    check_templates(first(Reply::error(-32000, "")), silent, 1).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_code_on_a_later_page_is_a_failure() {
    let pages = vec![
        Page::more(vec![item(TEMPLATES, "1")], "a"),
        Page::last(vec![]),
    ];
    let script = Script::legacy().resources(vec![]).templates(pages).on_nth(
        TEMPLATES,
        2,
        Reply::error(-32601, "gone"),
    );
    check_templates(script, "failed !rpc -32601: gone", 2).await;
    // Also after a page without items.
    let script = Script::legacy()
        .resources(vec![])
        .templates(vec![Page::more(vec![], ""), Page::last(vec![])])
        .on_nth(TEMPLATES, 2, Reply::error(-32601, "gone"));
    check_templates(script, "failed !rpc -32601: gone", 2).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_code_from_another_method_is_a_failure() {
    for method in [
        ListMethod::Resources,
        ListMethod::Tools,
        ListMethod::Prompts,
    ] {
        let script = Script::legacy()
            .sample()
            .on(method.name(), Reply::error(-32601, "Method not found"));
        check(method, script, "failed !rpc -32601: Method not found", 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn silence_an_end_and_nonsense_are_failures_too() {
    let server = || Script::legacy().named(RESOURCES, &["r"]);
    let silent = server().on(TEMPLATES, Reply::silence());
    check_templates(silent, "failed !timeout: no answer within 60 s", 1).await;
    let nonsense = server().on(TEMPLATES, Reply::result(json!("no templates")));
    check_templates(
        nonsense,
        "failed !malformed: page 1: the result is not an object",
        1,
    )
    .await;
    let (server, _) = discovered(server().on(TEMPLATES, Reply::exit(3, "bye\n"))).await;
    let error = server.error(None).unwrap();
    assert_eq!(
        (server.status.word(), error.failure.kind.word()),
        ("failed", "closed")
    );
    assert_eq!(server.catalog.count(ListMethod::Resources), None);
}

/// 4.7: an error without an id is for the one outstanding request, if there is exactly one.
#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_answers_the_only_request() {
    let check_alone = async |interest: Interest, shown: &str| {
        for id in ["", "\"id\":null,"] {
            let error = format!("{{{id}\"error\":{{\"code\":-32601,\"message\":\"no\"}}}}\n");
            let script = Script::legacy()
                .named(TEMPLATES, &["t"])
                .named(RESOURCES, &["r"])
                .on(RESOURCES, Reply::silence())
                .on(TEMPLATES, Reply::raw(&error));
            let mut rig = Rig::start(EngineOptions { interest, ..live() });
            rig.add(NAME, vec![script]).await;
            let fake = rig.arrival().await;
            let server = rig.settled().await;
            assert_eq!(listing(&server, ListMethod::ResourceTemplates), shown);
            assert_eq!(fake.count(TEMPLATES).await, 1);
            rig.end().await;
        }
    };
    let alone = Interest::only(ListMethod::ResourceTemplates);
    check_alone(alone, "").await;
    // Of two requests it could be for either, so it is for none.
    let two = alone.with(ListMethod::Resources);
    check_alone(two, "failed !timeout: no answer within 60 s").await;
}
