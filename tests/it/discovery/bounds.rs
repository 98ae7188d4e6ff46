//! 5.3 and 5.5: 10,000 items, 1,000,000 bytes of templates, 10,000,000 of everything else, and
//! which of two broken bounds is told.

use mcpdeck::domain::ListMethod;
use serde_json::{Value, json};

use super::{check, check_templates};
use crate::support::fake::listing::item;
use crate::support::fake::{Listing, Page, Reply, Script};
use crate::support::rig::{discovered, listing};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";
const TOO_MANY: &str = "failed !item_limit: page 100: more than 10,000 templates";

/// One item whose compact JSON, as it is kept, has so many bytes. Its large texts are as large as
/// such texts may be.
fn item_of(method: ListMethod, bytes: usize) -> String {
    let (start, text, end) = match method {
        ListMethod::Resources => return exactly(r#"{"uri":"#, bytes, r#","name":"n"}"#),
        ListMethod::ResourceTemplates => {
            return exactly(r#"{"uriTemplate":"#, bytes, r#","name":"n"}"#);
        }
        ListMethod::Tools => (r#"{"name":"n","inputSchema":{"enum":["#, 65_536, "]}}"),
        ListMethod::Prompts => (r#"{"name":"n","arguments":["#, 2_048, "]}"),
    };
    let element = |size: usize| match method {
        ListMethod::Prompts => format!(r#"{{"name":"{}"}}"#, "a".repeat(size)),
        _ => format!(r#""{}""#, "a".repeat(size)),
    };
    let mut json = start.to_owned();
    let bare = element(0).len() + 1;
    while bytes - json.len() > end.len() + text + 2 * bare {
        json.push_str(&element(text));
        json.push(',');
    }
    // Two more share what is left.
    let left = bytes - json.len() - end.len() - 2 * bare + 1;
    json.push_str(&element(left / 2));
    json.push(',');
    json.push_str(&element(left - left / 2));
    json.push_str(end);
    json
}

/// A JSON text between others, so that all have so many bytes.
fn exactly(start: &str, bytes: usize, end: &str) -> String {
    let size = bytes - start.len() - end.len() - 2;
    format!("{start}\"{}\"{end}", "u".repeat(size))
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_templates_and_resources_pass_and_one_more_fails() {
    let script = |count| {
        Script::legacy()
            .generated(TEMPLATES, count, count.div_ceil(100))
            .generated(RESOURCES, count, count.div_ceil(100))
    };
    let (server, fake) = discovered(script(10_000)).await;
    let counts = [ListMethod::Resources, ListMethod::ResourceTemplates]
        .map(|method| server.catalog.count(method));
    assert_eq!(counts, [Some(10_000); 2]);
    assert_eq!(server.errors.len(), 0);
    assert_eq!(&*server.catalog.templates.items[9_999].name, "item-10000");
    assert_eq!(
        [fake.count(RESOURCES).await, fake.count(TEMPLATES).await],
        [100, 100]
    );

    let (server, fake) = discovered(script(10_001)).await;
    for (method, noun) in [
        (ListMethod::Resources, "resources"),
        (ListMethod::ResourceTemplates, "templates"),
    ] {
        let shown = format!("failed !item_limit: page 100: more than 10,000 {noun}");
        assert_eq!(listing(&server, method), shown);
        assert_eq!(fake.count(method.name()).await, 100);
    }
}

#[tokio::test(start_paused = true)]
async fn the_bound_on_items_holds_for_tools_and_prompts_too() {
    for (method, noun) in [
        (ListMethod::Tools, "tools"),
        (ListMethod::Prompts, "prompts"),
    ] {
        let script = |count| Script::legacy().generated(method.name(), count, 1_000);
        let (server, _) = discovered(script(10_000)).await;
        assert_eq!(server.catalog.count(method), Some(10_000));
        let shown = format!("failed !item_limit: page 11: more than 10,000 {noun}");
        check(method, script(10_001), &shown, 11).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_item_after_the_last_is_not_looked_at() {
    // 99 pages of 100 items, and a page 100 that these items make.
    let script = |last: Vec<Value>, cursor: Option<&str>| {
        let mut page = Page::last(last);
        page.next_cursor = cursor.map(Value::from);
        let text = json!({"resourceTemplates": page.items, "nextCursor": page.next_cursor});
        Script::legacy()
            .resources(vec![])
            .generated(TEMPLATES, 20_000, 100)
            .on_nth(TEMPLATES, 100, Reply::result(text))
    };
    let good = |count: usize| vec![item(TEMPLATES, "x"); count];
    let with = |mut items: Vec<Value>, item: Value| {
        items.push(item);
        items
    };
    check_templates(script(with(good(100), json!(7)), None), TOO_MANY, 100).await;
    let bad = "failed !malformed: page 100, item 100: it is not an object";
    check_templates(script(with(good(99), json!(7)), None), bad, 100).await;
    // What is wrong with an item before it is told first, what is wrong with the cursor is not.
    let both = with(with(good(99), json!(7)), json!(8));
    check_templates(script(both, None), bad, 100).await;
    check_templates(script(good(101), Some("page-1")), TOO_MANY, 100).await;
    check_templates(script(good(101), Some("page-100")), TOO_MANY, 100).await;
    // A byte bound that is broken on the same page comes after the bound on items.
    let large = json!({"uriTemplate": "u".repeat(1_000_000), "name": "n"});
    let mut items = vec![large.clone()];
    items.extend(good(100));
    check_templates(script(items, None), TOO_MANY, 100).await;
    let mut items = vec![large];
    items.extend(good(99));
    let too_large = "failed !byte_limit: page 100, item 1: more than 1,000,000 bytes of templates";
    check_templates(script(items, None), too_large, 100).await;
}

#[tokio::test(start_paused = true)]
async fn a_listing_of_just_so_many_bytes_passes_and_one_more_fails() {
    for method in ListMethod::ALL {
        let bound = match method {
            ListMethod::ResourceTemplates => 1_000_000,
            ListMethod::Resources | ListMethod::Tools | ListMethod::Prompts => 10_000_000,
        };
        let millions = bound / 1_000_000;
        let noun = method.noun();
        let shown = format!("page 1, item 1: more than {millions},000,000 bytes of {noun}");
        for (bytes, expected) in [(bound, None), (bound + 1, Some(shown))] {
            let item = item_of(method, bytes);
            assert_eq!(item.len(), bytes);
            let page = format!(r#"{{"{}":[{item}]}}"#, method.field());
            let pages = Listing::Pages(vec![Page::text(page)]);
            let script = Script::legacy().listing(method.name(), pages);
            let (server, _) = discovered(script).await;
            let error = server.error(Some(method)).map(|error| &error.failure);
            let message = error.map(|failure| failure.message.to_string());
            assert_eq!(message, expected);
            let count = expected.is_none().then_some(1);
            assert_eq!(
                server.catalog.count(method),
                count,
                "{bytes} bytes of {noun}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_all_pages_count_together() {
    let script = |last: usize| {
        let page = |bytes, cursor| {
            let item = item_of(ListMethod::ResourceTemplates, bytes);
            let text = format!(r#"{{"resourceTemplates":[{item}],"nextCursor":{cursor}}}"#);
            Page {
                next_cursor: Some(cursor),
                ..Page::text(text)
            }
        };
        let pages = vec![
            page(400_000, json!("a")),
            page(400_000, json!("b")),
            page(last, json!("c")),
            page(30, Value::Null),
        ];
        Script::legacy().resources(vec![]).templates(pages)
    };
    let (server, fake) = discovered(script(199_970)).await;
    assert_eq!(server.catalog.templates.count(), Some(4));
    assert_eq!(fake.count(TEMPLATES).await, 4);
    let shown = "failed !byte_limit: page 4, item 1: more than 1,000,000 bytes of templates";
    check_templates(script(199_971), shown, 4).await;
    // No page is asked for after the one that breaks the bound.
    let shown = "failed !byte_limit: page 3, item 1: more than 1,000,000 bytes of templates";
    check_templates(script(200_001), shown, 3).await;
}

#[tokio::test(start_paused = true)]
async fn bytes_are_counted_of_what_is_kept() {
    // One item uses the bound up to `spare` bytes, a second one has to fit into these.
    let check_fits = async |second: Value, kept: &str| {
        let first = |spare: usize| {
            let bare = json!({"uriTemplate": "", "name": ""}).to_string().len();
            json!({"uriTemplate": "u".repeat(1_000_000 - bare - spare), "name": ""})
        };
        for (spare, passes) in [(kept.len(), true), (kept.len() - 1, false)] {
            let page = Page::last(vec![first(spare), second.clone()]);
            let script = Script::legacy().resources(vec![]).templates(vec![page]);
            let (server, _) = discovered(script).await;
            let counted = server.catalog.templates.count();
            assert_eq!(counted, passes.then_some(2), "{kept}");
            if passes {
                let item = serde_json::to_string(&server.catalog.templates.items[1]).unwrap();
                assert_eq!(item, kept);
            }
        }
    };
    check_fits(
        json!({"name": "n", "uriTemplate": "t", "_meta": {"x": "y"}, "icons": [{"src": "data:"}], "more": 1}),
        r#"{"uriTemplate":"t","name":"n"}"#,
    )
    .await;
    check_fits(
        json!({"uriTemplate": "t", "name": "n", "description": "d".repeat(5_000)}),
        &format!(
            r#"{{"uriTemplate":"t","name":"n","description":"{}"}}"#,
            "d".repeat(2_048)
        ),
    )
    .await;
    check_fits(
        json!({"uriTemplate": "t\u{200b}", "name": "a\u{200b}\u{1b}[31mb", "title": "ﬁ é \"q\""}),
        "{\"uriTemplate\":\"t\u{200b}\",\"name\":\"ab\",\"title\":\"fi é \\\"q\\\"\"}",
    )
    .await;
    check_fits(
        json!({"uriTemplate": "t", "name": "n", "annotations": {"priority": 0.5, "x": 1, "audience": ["user"]}}),
        r#"{"uriTemplate":"t","name":"n","annotations":{"audience":["user"],"priority":0.5}}"#,
    )
    .await;
}
