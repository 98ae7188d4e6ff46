//! The servers' resources and templates as our own.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::program::{Home, table};

const TEMPLATES: &str = "resources/templates/list";

/// All pages of a list, and how many items each has.
fn pages(client: &mut Client<'_>, method: &str, field: &str) -> (Vec<Value>, Vec<usize>) {
    let (mut all, mut sizes) = (Vec::new(), Vec::new());
    let mut params = json!({});
    loop {
        let mut page = client.ask(method, params);
        let items = page[field].take();
        let items = items.as_array().unwrap();
        sizes.push(items.len());
        all.extend(items.iter().cloned());
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return (all, sizes),
        }
    }
}

#[test]
fn lists_come_in_pages_of_1_000_over_all_servers() {
    let home = Home::new();
    let script = |count| {
        Script::legacy()
            .generated("resources/list", count, 500)
            .generated(TEMPLATES, count, 500)
    };
    home.configure(&[
        &home.table("a", &script(1_400)),
        &home.table("b", &script(600)),
        &home.table("c", &script(1)),
    ]);
    let mut client = Client::start(&home, &[]);
    let (resources, sizes) = pages(&mut client, "resources/list", "resources");
    assert_eq!(sizes, [1_000, 1_000, 1]);
    assert_eq!(
        resources[0]["uri"],
        "mcpdeck://a/r/fake%3A%2F%2F%2Fitem%2F00001"
    );
    assert_eq!(
        resources[1_400]["uri"],
        "mcpdeck://b/r/fake%3A%2F%2F%2Fitem%2F00001"
    );
    assert_eq!(
        resources[2_000]["uri"],
        "mcpdeck://c/r/fake%3A%2F%2F%2Fitem%2F00001"
    );
    let (templates, sizes) = pages(&mut client, TEMPLATES, "resourceTemplates");
    assert_eq!(sizes, [1_000, 1_000, 1]);
    assert_eq!(
        templates[0]["uriTemplate"],
        "mcpdeck://a/t/fake:///item/00001/{id}"
    );

    for cursor in ["", "x", "MA", "page-1"] {
        let error = client.error("resources/list", json!({"cursor": cursor}));
        assert_eq!(error["code"], -32602, "{cursor}");
    }
    // A cursor of the one list is none of the other.
    let page = client.ask("resources/list", json!({}));
    let error = client.error(TEMPLATES, json!({"cursor": page["nextCursor"]}));
    assert_eq!(error["code"], -32602);
    client.end();
}

#[test]
fn a_cursor_is_no_longer_good_when_the_list_has_changed() {
    let home = Home::new();
    let change = Reply::default()
        .before(Action::set_pages(
            "resources/list",
            Listing::generated(2_500, 500),
        ))
        .before(Action::list_changed("resources", 1));
    let script = Script::legacy()
        .generated("resources/list", 1_500, 500)
        .read("fake:///change", change);
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let first = client.ask("resources/list", json!({}));
    let params = json!({"cursor": first["nextCursor"]});
    let second = client.ask("resources/list", params.clone());
    assert_eq!(second["resources"].as_array().unwrap().len(), 500);
    client.read("x", "fake:///change");
    let error = client.error("resources/list", params);
    assert_eq!(error["code"], -32602);
    let message = "Invalid cursor: the list has changed; start again without one";
    assert_eq!(error["message"], message);
    let (_, sizes) = pages(&mut client, "resources/list", "resources");
    assert_eq!(sizes, [1_000, 1_000, 500]);
    client.end();
}

#[test]
fn everything_that_is_kept_of_an_item_is_offered() {
    let home = Home::new();
    let resource = json!({
        "uri": "x:1", "name": "n", "title": "T\u{202e}itle", "description": "d\u{1b}[31m",
        "mimeType": "text/plain", "size": 5_000_000_000_u64,
        "annotations": {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-02"},
        "_meta": {"secret": 1}, "icons": [],
    });
    let script = Script::legacy().listing("resources/list", Listing::of(vec![resource]));
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let listed = client.ask("resources/list", json!({}));
    assert_eq!(
        listed["resources"],
        json!([{
            "uri": "mcpdeck://x/r/x%3A1", "name": "n", "title": "Title", "description": "d",
            "mimeType": "text/plain", "size": 5_000_000_000_u64,
            "annotations": {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-02"},
        }])
    );
    client.end();
}

#[test]
fn uris_with_every_kind_of_odd_character_lead_back() {
    let home = Home::new();
    let mut uris: Vec<String> = (0_u8..=0x7f)
        .map(|c| format!("x:{}y", char::from(c)))
        .collect();
    uris.extend(
        [
            "%",
            "%41",
            "%zz",
            "a/b/../c",
            "//",
            "?q=1#f",
            "{+x}",
            "ä",
            "\u{202e}\u{200b}",
            "\u{10ffff}",
            "",
            " ",
        ]
        .map(str::to_owned),
    );
    let items = uris
        .iter()
        .map(|uri| json!({"uri": uri, "name": "n"}))
        .collect();
    let script = Script::legacy().listing("resources/list", Listing::of(items));
    let name = "n.ä/%?";
    let table = table("quoted", &home.fake("x", &script));
    home.configure(&[&table.replacen("quoted", &format!("\"{name}\""), 1)]);
    let mut client = Client::start(&home, &[]);
    let listed = client.ask("resources/list", json!({}));
    let resources = listed["resources"].as_array().unwrap();
    assert_eq!(resources.len(), uris.len());
    for (resource, uri) in resources.iter().zip(&uris) {
        let ours = resource["uri"].as_str().unwrap();
        let rest = ours
            .strip_prefix("mcpdeck://n%2E%C3%A4%2F%25%3F/r/")
            .unwrap();
        assert!(
            rest.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_~%".contains(&b)),
            "{ours}"
        );
        let read = client.ask("resources/read", json!({"uri": ours}));
        let contents = &read["contents"][0];
        assert_eq!(contents["text"], format!("content of {uri}"));
        assert_eq!(contents["uri"], ours);
    }
    client.end();
}

#[test]
fn what_is_not_found_has_the_code_of_the_era() {
    let home = Home::new();
    let script = Script::legacy()
        .sample()
        .read("fake:///broken", Reply::error(-32603, "disk is full"));
    home.configure(&[
        &home.table("x", &script),
        "[servers.gone]\ncommand = 'no-such-command'\n",
    ]);
    let not_found = [
        "mcpdeck://x/r/fake%3A%2F%2F%2Ftwo",
        "mcpdeck://x/t/fake:///two",
        "mcpdeck://nobody/r/x",
        "mcpdeck://x/r/%F",
        "fake:///one",
    ];
    let check = |mut client: Client<'_>, code: i64| {
        for uri in not_found {
            let error = client.error("resources/read", json!({"uri": uri}));
            assert_eq!(error["code"], code, "{uri}: {error}");
            assert_eq!(error["data"], json!({"uri": uri}));
        }
        let error = client.error(
            "resources/read",
            json!({"uri": "mcpdeck://x/t/fake:///broken"}),
        );
        assert_eq!(error["code"], -32603);
        assert_eq!(error["message"], "error -32603: disk is full");
        let error = client.error("resources/read", json!({"uri": "mcpdeck://gone/r/x"}));
        assert_eq!(error["code"], -32603);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("Server \"gone\" is not connected (failed: "),
            "{message}"
        );
        client.end();
    };
    check(Client::start(&home, &[]), -32002);
    check(Client::start_modern(&home, &[]), -32602);
    assert!(
        !home.state().contains("disk is full"),
        "no server's words in the log"
    );
}
