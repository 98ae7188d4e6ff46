//! Reading through the tool: what reaches the server, what reaches the model, what reaches disk.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::client::Client;
use crate::support::fake::{Reply, Script};
use crate::support::program::Home;

/// What is removed for a model, and what stays.
const HOSTILE: &str = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}1mb\u{202e}c\u{2066}\u{e0041}d\u{7f}\u{8}\r\ne\tf\u{200d}\u{fb01}\u{a0}";
const CLEANED: &str = "aredbcd\r\ne\tf\u{200d}\u{fb01}\u{a0}";

#[test]
fn text_is_cleaned_for_a_model_and_the_count_is_stated() {
    let home = Home::new();
    let script = Script::legacy()
        .named("resources/list", &["x"])
        .read_text("fake:///x", HOSTILE)
        .read_text("fake:///plain", "plain");
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let answer = client.read("x", "fake:///x");
    assert!(!answer.is_error());
    let contents = json!([{"uri": "fake:///x", "mimeType": "text/plain", "text": CLEANED}]);
    let first: serde_json::Value = serde_json::from_str(answer.block(0)).unwrap();
    assert_eq!(first, json!({"contents": contents}));
    assert_eq!(answer.structured()["contents"], contents);
    assert_eq!(answer.structured()["removed"], 8);
    assert!(
        answer
            .block(1)
            .starts_with("8 terminal sequences and control")
    );

    let answer = client.read("x", "fake:///plain");
    assert_eq!(answer.blocks(), 1);
    assert!(answer.structured().get("removed").is_none());

    // As a native resource it is exact.
    let uri = "mcpdeck://x/r/fake%3A%2F%2F%2Fx";
    let read = client.ask("resources/read", json!({"uri": uri}));
    assert_eq!(
        read["contents"],
        json!([{"uri": uri, "mimeType": "text/plain", "text": HOSTILE}])
    );
    client.end();
}

#[test]
fn a_uri_reaches_the_server_as_it_is() {
    let home = Home::new();
    home.configure(&[&home.table("x", &Script::legacy().sample())]);
    let mut client = Client::start(&home, &[]);
    let odd = "fake:///one/%41 ä\"\\\u{202e}?#{x}/../\n";
    assert_eq!(
        client.read("x", odd).structured()["contents"][0]["text"],
        format!("content of {odd}").replace('\u{202e}', "")
    );
    let answer = client.read("x", "file:///etc/hostname");
    let message = "Server \"x\" did not give the resource: error -32002: Resource not found";
    assert_eq!(answer.message(), message);
    client.end();
    let log = home.read("x.log");
    let read = log.lines().find(|line| line.contains("resources/read"));
    let read: serde_json::Value = serde_json::from_str(read.unwrap()).unwrap();
    assert_eq!(read["params"]["uri"], odd);
}

#[test]
fn a_blob_is_saved_for_its_owner_and_its_path_returned() {
    let home = Home::new();
    let script = Script::legacy()
        .named("resources/list", &["x"])
        .read_blob("fake:///x", "image/png", "AAH/")
        .read_blob("fake:///bad", "image/png", "no base64!");
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let answer = client.read("x", "fake:///x");
    let content = &answer.structured()["contents"][0];
    let path = content["path"].as_str().unwrap().to_owned();
    assert_eq!(
        content,
        &json!({"uri": "fake:///x", "mimeType": "image/png", "path": path, "size": 3})
    );
    let path = Path::new(&path);
    assert!(
        path.starts_with(home.path(".local/state/mcpdeck")),
        "{path:?}"
    );
    assert_eq!(fs::read(path).unwrap(), [0, 1, 255]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let message = client.read("x", "fake:///bad").message().to_owned();
    assert!(
        message.starts_with("The server's blob is no Base64: "),
        "{message}"
    );

    let uri = "mcpdeck://x/t/fake:///x";
    let read = client.ask("resources/read", json!({"uri": uri}));
    assert_eq!(
        read["contents"],
        json!([{"uri": uri, "mimeType": "image/png", "blob": "AAH/"}])
    );
    client.end();
}

#[test]
fn a_resource_that_is_too_long_for_a_model_is_an_error() {
    let home = Home::new();
    let text = "x".repeat(100_000);
    let script = Script::legacy()
        .named("resources/list", &["x"])
        .read_text("fake:///x", &text);
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let message = client.read("x", "fake:///x").message().to_owned();
    assert!(message.starts_with("The resource has 1000"), "{message}");
    assert!(message.contains("100000 is the limit"), "{message}");
    client.end();
}

#[test]
fn a_server_that_wants_to_ask_back_is_refused() {
    let home = Home::new();
    let asks =
        json!({"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "s"});
    let script = Script::modern()
        .named("resources/list", &["x"])
        .read("fake:///x", Reply::result(asks));
    home.configure(&[&home.table("x", &script)]);
    let mut client = Client::start(&home, &[]);
    let message = "Server \"x\" did not give the resource: the server asks for input (elicitation), which mcpdeck does not give";
    assert_eq!(client.read("x", "fake:///x").message(), message);
    client.end();
}
