//! How long an answer may be.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::fake::{Listing, Reply, Script};
use crate::support::program::Home;

const TEMPLATES: &str = "resources/templates/list";

/// Templates whose list, with the name of the server, has exactly so many characters as JSON.
/// Characters of two bytes and one of two JSON characters are among them.
fn templates(server: &str, characters: usize) -> Vec<Value> {
    let item = |number: usize, description: &str| json!({"uriTemplate": format!("t:{number}/\"{{x}}"), "name": "n", "description": description});
    let length = |items: &[Value]| {
        let rows: Vec<Value> = items
            .iter()
            .map(|item| {
                let mut row = json!({"server": server});
                row.as_object_mut()
                    .unwrap()
                    .extend(item.as_object().unwrap().clone());
                row
            })
            .collect();
        serde_json::to_string(&rows).unwrap().chars().count()
    };
    let mut items = Vec::new();
    let full = "ä".repeat(1_500);
    while length(&items) + 1_700 < characters {
        items.push(item(items.len(), &full));
    }
    items.push(item(items.len(), ""));
    let missing = characters - length(&items);
    let last = items.len() - 1;
    items[last] = item(last, &"ö".repeat(missing));
    assert_eq!(length(&items), characters);
    items
}

#[test]
fn a_list_of_100_000_characters_passes_whole_and_one_more_is_an_error() {
    for characters in [99_999, 100_000, 100_001] {
        let home = Home::new();
        let list = Listing::of(templates("x", characters));
        let script = Script::legacy().listing(TEMPLATES, list);
        home.configure(&[
            &home.table("x", &script),
            &home.table("small", &Script::legacy().named(TEMPLATES, &[])),
        ]);
        let mut client = Client::start(&home, &[]);
        let answer = client.templates();
        if characters <= 100_000 {
            assert!(!answer.is_error());
            assert_eq!(answer.block(0).chars().count(), characters);
            answer.list("resourceTemplates");
        } else {
            assert_eq!(
                answer.message(),
                "The result has 100001 characters, and 100000 is the limit. Name one \"server\" to get a shorter list."
            );
            assert!(answer.structured().get("resourceTemplates").is_none());
            assert!(client.templates_of("x").message().contains("100001"));
            assert_eq!(
                client.templates_of("small").block(0),
                "No resource templates found."
            );
        }
        client.end();
        assert!(!home.state().contains("t:0"), "nothing of it is on disk");
    }
}

#[test]
fn the_rest_of_an_answer_is_bounded_and_what_is_left_out_is_counted() {
    let home = Home::new();
    let message = "m".repeat(5_000);
    let failing = Script::legacy()
        .named("resources/list", &["one"])
        .on(TEMPLATES, Reply::error(-32603, &message));
    let tables: Vec<String> = (0..40)
        .map(|number| home.table(&format!("{number:0>100}"), &failing))
        .collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    home.configure(&tables);
    let mut client = Client::start(&home, &[]);
    let answer = client.templates();
    assert!(answer.is_error());
    let structured = answer.structured().clone();
    let rest = answer.block(1).chars().count() + structured.to_string().chars().count();
    assert!(rest <= 20_000, "{rest}");
    let shown = structured["errors"].as_array().unwrap().len();
    let left_out = &structured["omitted"]["errors"];
    assert_eq!(left_out, &json!(40 - shown));
    assert!(shown > 10, "{shown}");
    assert_eq!(structured["servers"].as_array().unwrap().len(), 40);
    assert_eq!(structured["omitted"]["servers"], 0);
    let last = answer.block(1).lines().last().unwrap();
    assert!(last.ends_with(" more failures are left out"), "{last}");

    let answer = client.templates_of(&"0".repeat(100));
    let said = answer.structured()["errors"][0]["message"]
        .as_str()
        .unwrap();
    assert_eq!(said.chars().count(), 300);
    client.end();
}
