//! 5.7 to 5.9: what makes a page malformed, what is kept of an item, and in which order.

use mcpdeck::domain::ListMethod;
use serde_json::{Value, json};

use super::{check, check_templates};
use crate::support::fake::listing::item;
use crate::support::fake::{Page, Reply, Script};
use crate::support::rig::{discovered, listing};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";

/// A good page of two templates, and a second page with this result.
fn second(result: &str) -> Script {
    let one = [item(TEMPLATES, "1"), item(TEMPLATES, "2")];
    Script::legacy()
        .resources(vec![])
        .templates(vec![Page::more(one.to_vec(), "next"), Page::last(vec![])])
        .on_nth(TEMPLATES, 2, Reply::result_text(result))
}

#[tokio::test(start_paused = true)]
async fn a_page_without_its_array_is_malformed() {
    let check = async |result: &str, reason: &str| {
        let shown = format!("failed !malformed: page 2: {reason}");
        check_templates(second(result), &shown, 2).await;
    };
    check("{}", "resourceTemplates is missing").await;
    check(
        r#"{"resourceTemplates":null}"#,
        "resourceTemplates is missing",
    )
    .await;
    check(r#"{"resources":[]}"#, "resourceTemplates is missing").await;
    check(
        r#"{"resourceTemplates":{}}"#,
        "resourceTemplates is not an array",
    )
    .await;
    check(
        r#"{"resourceTemplates":"[]"}"#,
        "resourceTemplates is not an array",
    )
    .await;
    check(
        r#"{"resourceTemplates":0}"#,
        "resourceTemplates is not an array",
    )
    .await;
    check("[]", "the result is not an object").await;
    check("null", "the result is not an object").await;
    check(
        r#"{"resourceTemplates":[],"resultType":"input_required"}"#,
        "resultType is not complete",
    )
    .await;
    check(
        r#"{"resourceTemplates":[],"resultType":1}"#,
        "resultType is not complete",
    )
    .await;
    check(
        r#"{"resourceTemplates":[],"nextCursor":["x"]}"#,
        "nextCursor is not a string",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_bad_item_fails_the_traversal_and_is_named() {
    let check = async |item: &str, reason: &str| {
        let good = r#"{"uriTemplate":"u","name":"n"}"#;
        let page =
            format!(r#"{{"resourceTemplates":[{good},{good},{item},{good}],"nextCursor":"x"}}"#);
        let shown = format!("failed !malformed: page 2, item 3: {reason}");
        check_templates(second(&page), &shown, 2).await;
    };
    check(r#"{"uriTemplate":"u"}"#, "name is missing").await;
    check(r#"{"name":"n"}"#, "uriTemplate is missing").await;
    check(r#"{"uriTemplate":"u","name":7}"#, "name is not a string").await;
    check(
        r#"{"uriTemplate":["u"],"name":"n"}"#,
        "uriTemplate is not a string",
    )
    .await;
    check(r#"{"uri":"u","name":"n"}"#, "uriTemplate is missing").await;
    check("[]", "it is not an object").await;
    check("null", "it is not an object").await;
    let optional = async |field: &str, reason: &str| {
        check(
            &format!(r#"{{"uriTemplate":"u","name":"n",{field}}}"#),
            reason,
        )
        .await;
    };
    optional(r#""title":{}"#, "title is not a string").await;
    optional(r#""description":7"#, "description is not a string").await;
    optional(r#""mimeType":[]"#, "mimeType is not a string").await;
    optional(r#""annotations":"a""#, "annotations is not an object").await;
    optional(
        r#""annotations":{"audience":["robot"]}"#,
        "annotations.audience is not a list of user and assistant",
    )
    .await;
    optional(
        r#""annotations":{"priority":1.01}"#,
        "annotations.priority is not a number from 0 to 1",
    )
    .await;
    optional(
        r#""annotations":{"priority":"1"}"#,
        "annotations.priority is not a number from 0 to 1",
    )
    .await;
    optional(
        r#""annotations":{"lastModified":"today"}"#,
        "annotations.lastModified is not an ISO 8601 date or date-time",
    )
    .await;
    optional(r#""title":"t","title":7"#, "title is not a string").await;
}

#[tokio::test(start_paused = true)]
async fn a_bad_resource_is_named_like_a_bad_template() {
    let check = async |resource: Value, reason: &str| {
        let page = Page::last(vec![item(RESOURCES, "r"), resource]);
        let script = Script::legacy().resources(vec![page]).templates(vec![]);
        let shown = format!("failed !malformed: page 1, item 2: {reason}");
        super::check(ListMethod::Resources, script, &shown, 1).await;
    };
    check(json!({"uri": "u"}), "name is missing").await;
    check(json!({"uri": 1, "name": "n"}), "uri is not a string").await;
    check(
        json!({"uri": "u", "name": "n", "size": "48"}),
        "size is not a number",
    )
    .await;
    check(
        json!({"uri": "u", "name": "n", "mimeType": 1}),
        "mimeType is not a string",
    )
    .await;
}

/// What is kept of the only item of a listing, as JSON, and what was noted.
async fn kept(method: ListMethod, raw: &str) -> (String, Vec<String>) {
    let page = format!(r#"{{"{}":[{raw}]}}"#, method.field());
    let script = Script::legacy()
        .listing(method.name(), crate::support::fake::Listing::of(vec![]))
        .on(method.name(), Reply::result_text(page));
    let (server, _) = discovered(script).await;
    let catalog = &server.catalog;
    let (json, notes) = match method {
        ListMethod::Resources => (
            serde_json::to_string(&catalog.resources.items),
            &catalog.resources.notes,
        ),
        ListMethod::ResourceTemplates => (
            serde_json::to_string(&catalog.templates.items),
            &catalog.templates.notes,
        ),
        ListMethod::Tools => (
            serde_json::to_string(&catalog.tools.items),
            &catalog.tools.notes,
        ),
        ListMethod::Prompts => (
            serde_json::to_string(&catalog.prompts.items),
            &catalog.prompts.notes,
        ),
    };
    let notes = notes.iter().map(ToString::to_string).collect();
    assert!(server.error(Some(method)).is_none(), "{:?}", server.errors);
    (json.unwrap(), notes)
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_of_resources_and_templates() {
    let check = async |method, raw: &str, expected: &str, noted: &[&str]| {
        let (json, notes) = kept(method, raw).await;
        assert_eq!(
            (json, notes),
            (
                format!("[{expected}]"),
                noted.iter().map(ToString::to_string).collect()
            )
        );
    };
    let template = ListMethod::ResourceTemplates;
    check(
        template,
        r#"{"annotations":{"lastModified":"2025-01-12T15:00Z","audience":["assistant"],"priority":1,"x":{}},"_meta":{"a":1},
            "icons":7,"mimeType":"text/plain","description":"a\nb","title":"T","name":"n","uriTemplate":"u{x}","size":1,"unknown":[]}"#
            .replace('\n', " ")
            .as_str(),
        r#"{"uriTemplate":"u{x}","name":"n","title":"T","description":"a\nb","mimeType":"text/plain","annotations":{"audience":["assistant"],"priority":1,"lastModified":"2025-01-12T15:00Z"}}"#,
        &[],
    )
    .await;
    check(
        template,
        r#"{"uriTemplate":"u","name":"n","title":null,"description":null,"mimeType":null,"annotations":null,"_meta":null}"#,
        r#"{"uriTemplate":"u","name":"n"}"#,
        &[],
    )
    .await;
    check(
        template,
        r#"{"uriTemplate":7,"name":[],"uriTemplate":"u","name":"n"}"#,
        r#"{"uriTemplate":"u","name":"n"}"#,
        &[],
    )
    .await;
    let resource = ListMethod::Resources;
    check(
        resource,
        r#"{"uri":"u","name":"n","size":48.0}"#,
        r#"{"uri":"u","name":"n","size":48}"#,
        &[],
    )
    .await;
    let note = "page 1, item 1 (n): size is not a whole number from 0, left out";
    for size in ["-1", "1.5"] {
        let raw = format!(r#"{{"uri":"u","name":"n","size":{size}}}"#);
        check(resource, &raw, r#"{"uri":"u","name":"n"}"#, &[note]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn tools_and_prompts_need_only_a_name() {
    let check = async |method, raw: &str, expected: &str, noted: &[&str]| {
        let (json, notes) = kept(method, raw).await;
        assert_eq!(
            (json, notes),
            (
                format!("[{expected}]"),
                noted.iter().map(ToString::to_string).collect()
            )
        );
    };
    check(ListMethod::Tools, r#"{"name":"n"}"#, r#"{"name":"n"}"#, &[]).await;
    check(
        ListMethod::Tools,
        r#"{"name":"n","title":1,"inputSchema":"none","description":"d"}"#,
        r#"{"name":"n","description":"d"}"#,
        &[
            "page 1, item 1 (n): title is not a string, left out",
            "page 1, item 1 (n): inputSchema is not an object, left out",
        ],
    )
    .await;
    check(
        ListMethod::Prompts,
        r#"{"name":"n","arguments":[{"name":"a","required":1},{"title":"b"}]}"#,
        r#"{"name":"n","arguments":[{"name":"a"}]}"#,
        &[
            "page 1, item 1 (n): argument 1: required is not true or false, left out",
            "page 1, item 1 (n): argument 2: name is missing, left out",
        ],
    )
    .await;
    for method in [ListMethod::Tools, ListMethod::Prompts] {
        let good = item(method.name(), "a");
        let page = json!({method.field(): [good, {"title": "no name"}]});
        let script = Script::legacy()
            .named(method.name(), &["a"])
            .on(method.name(), Reply::result(page));
        super::check(
            method,
            script,
            "failed !malformed: page 1, item 2: name is missing",
            1,
        )
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn order_and_duplicates_are_the_servers() {
    let names = ["b", "a", "b", "c", "a"];
    for method in ListMethod::ALL {
        let script = Script::legacy().named(method.name(), &names);
        check(method, script, "b a b c a", 1).await;
    }
    let one = vec![item(TEMPLATES, "x"), item(TEMPLATES, "y")];
    let pages = vec![Page::more(one.clone(), "a"), Page::last(one)];
    let script = Script::legacy().resources(vec![]).templates(pages);
    check_templates(script, "x y x y", 2).await;
    // Equal templates with different names are two rows as well.
    let twice = vec![
        json!({"uriTemplate": "u", "name": "1"}),
        json!({"uriTemplate": "u", "name": "2"}),
    ];
    let script = Script::legacy()
        .resources(vec![])
        .templates(vec![Page::last(twice)]);
    let (server, _) = discovered(script).await;
    assert_eq!(listing(&server, ListMethod::ResourceTemplates), "1 2");
}
