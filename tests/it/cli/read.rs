//! What `read` prints: the text itself, an object, or bytes into a file.

use std::fs;

use serde_json::json;

use crate::support::fake::{Reply, Script};
use crate::support::program::{Home, remote, shell};

/// Text with a terminal sequence, an invisible character, a bidi control and no line break at its
/// end.
const ODD: &str = "caf\u{65}\u{301}\r\n\u{1b}[31mred\u{1b}[0m\ta\u{200b}b \u{202e}x\u{7}";

/// Base64 of the bytes 0, 255, 10, 13.
const BLOB: &str = "AP8KDQ==";

fn script() -> Script {
    Script::legacy()
        .sample()
        .read_text("x:plain", "line one\nline two\n")
        .read_text("x:odd", ODD)
        .read_blob("x:blob", "image/png", BLOB)
        .read_blob("x:bad-blob", "image/png", "no base64!")
        .read(
            "x:many",
            Reply::result(json!({"contents": [
                {"uri": "x:1", "text": "one\n"},
                {"uri": "x:2", "mimeType": "a/b", "blob": BLOB},
                {"uri": "x:3", "text": "three"},
            ]})),
        )
        .read("x:empty", Reply::result(json!({"contents": []})))
        .read("x:gone", Reply::error(-32002, "Resource not found"))
        .read("x:params", Reply::error(-32602, "no such\nresource"))
        .read("x:broken", Reply::error(-32603, "the disk is\non fire"))
        .read("x:malformed", Reply::result(json!({"contents": 7})))
        .read("x:silent", Reply::silence())
}

fn home() -> Home {
    let home = Home::new();
    home.configure(&[
        &home.table("s", &script()),
        &format!("{}enabled = false\n", shell("off", "touch started")),
        "[servers.broken]\ncommand = 'no-such-command'\n",
    ]);
    home
}

#[test]
fn text_is_exact_on_a_pipe() {
    let home = home();
    let check = |uri: &str, expected: &str| {
        let ran = home.run(&["read", "s", uri]);
        assert_eq!(ran.text(0), expected, "{uri}");
        assert_eq!(ran.stderr, "", "{uri}");
    };
    check("x:plain", "line one\nline two\n");
    check("x:odd", ODD);
    check("x:empty", "");
    // Reading asks for that alone.
    let mut asked = home.asked("s");
    asked.retain(|method| method.contains('/') && method != "server/discover");
    asked.dedup();
    assert_eq!(
        asked,
        ["notifications/initialized", "resources/read"].repeat(3)
    );
}

#[test]
fn on_a_terminal_text_is_cleaned_and_the_count_is_said() {
    let home = home();
    let ran = home.run_on_terminal(80, &["read", "s", "x:odd"]);
    // Contents are never normalised, CR before a line break stays; a line break is added for the
    // prompt that follows.
    assert_eq!(ran.text(0), "caf\u{65}\u{301}\r\nred\ta\u{200b}b x\n");
    assert!(
        ran.stderr
            .starts_with("mcpdeck: 4 control or invisible characters were left out"),
        "{ran:?}"
    );
    let ran = home.run_on_terminal(80, &["read", "s", "x:odd", "--quiet"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let ran = home.run_on_terminal(80, &["read", "s", "x:plain"]);
    assert_eq!(ran.text(0), "line one\nline two\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn json_is_one_exact_object() {
    let home = home();
    let check = |uri: &str, contents: serde_json::Value| {
        let ran = home.run(&["read", "s", uri, "--json"]);
        let expected = json!({"server": "s", "uri": uri, "contents": contents});
        assert_eq!(ran.json(0), expected);
        assert!(ran.stdout.starts_with(r#"{"server":"s","uri":"#), "{ran:?}");
    };
    let text =
        |uri: &str, text: &str| json!([{"uri": uri, "mimeType": "text/plain", "text": text}]);
    check("x:odd", text("x:odd", ODD));
    check(
        "x:blob",
        json!([{"uri": "x:blob", "mimeType": "image/png", "blob": BLOB}]),
    );
    check(
        "x:many",
        json!([
            {"uri": "x:1", "text": "one\n"},
            {"uri": "x:2", "mimeType": "a/b", "blob": BLOB},
            {"uri": "x:3", "text": "three"},
        ]),
    );
    // Also on a terminal: a blob is no bytes there.
    let ran = home.run_on_terminal(80, &["read", "s", "x:blob", "--json"]);
    assert_eq!(ran.json(0)["contents"][0]["blob"], BLOB);
}

#[test]
fn a_blob_goes_into_a_file_or_a_pipe_but_not_on_a_terminal() {
    let home = home();
    let output = home.program(&["read", "s", "x:blob"]).output().unwrap();
    assert_eq!(output.stdout, [0, 255, 10, 13]);
    let ran = home.run_on_terminal(80, &["read", "s", "x:blob"]);
    assert!(ran.refused(2).contains("-o FILE"), "{ran:?}");
    // One blob among texts is enough.
    home.run_on_terminal(80, &["read", "s", "x:many"])
        .refused(2);
    let check = |uri: &str, expected: &[u8]| {
        let ran = home.run_on_terminal(80, &["read", "s", uri, "-o", "out"]);
        assert_eq!((ran.text(0), &*ran.stderr), ("", ""), "{uri}");
        assert_eq!(fs::read(home.path("work/out")).unwrap(), expected, "{uri}");
    };
    check("x:blob", &[0, 255, 10, 13]);
    check("x:odd", ODD.as_bytes());
    check("x:many", b"one\n\x00\xff\n\rthree");
}

#[test]
fn a_failed_read_prints_nothing_on_stdout_and_its_code_says_why() {
    let home = home();
    let check = |args: &[&str], code: i32, expected: &str| {
        for extra in [&[][..], &["--json"]] {
            let ran = home.run(&[&["read"], args, extra].concat());
            let stderr = ran.refused(code);
            assert!(stderr.contains(expected), "{args:?}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
            assert!(stderr.starts_with("mcpdeck: "), "{args:?}: {stderr}");
        }
    };
    check(&["s", "x:gone"], 4, "s: Resource not found");
    check(&["s", "x:params"], 4, "s: no such resource");
    check(&["s", "x:broken"], 3, "s: the disk is on fire");
    check(&["s", "x:malformed"], 3, "s: ");
    check(
        &["s", "x:silent", "--timeout", "400ms"],
        3,
        "s: not finished within --timeout",
    );
    check(
        &["nobody", "x:plain"],
        4,
        "server \"nobody\" not found; available servers: s, off, broken",
    );
    check(
        &["off", "x:plain"],
        3,
        "off: the server is disabled; switch it on with: mcpdeck enable off",
    );
    check(
        &["broken", "x:plain"],
        3,
        "broken: could not start: no-such-command: command not found",
    );
    check(&["s"], 2, "read takes a server and a URI");
    assert!(!home.path("work/started").exists());
    // Bytes that are none, and a file that cannot be written, fail too.
    let ran = home.run(&["read", "s", "x:bad-blob"]);
    assert!(ran.refused(3).contains("base64"), "{ran:?}");
    let ran = home.run(&["read", "s", "x:plain", "-o", "no/such/folder"]);
    assert!(ran.refused(3).contains("no/such/folder"), "{ran:?}");
}

#[test]
fn an_untrusted_server_is_not_started_for_a_read() {
    let home = Home::new();
    home.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"p": {"command": "touch", "args": ["started"]}}}"#,
    );
    let ran = home.run(&["read", "p", "x:1"]);
    assert!(ran.refused(3).contains("not approved"), "{ran:?}");
    assert!(ran.stderr.contains("--trust"), "{ran:?}");
    assert!(!home.path("work/started").exists());
}

#[test]
fn a_missing_log_in_has_a_code_of_its_own() {
    let home = Home::new();
    let script = script().http(|http| http.bearer = Some("secret-bearer-token".into()));
    let (address, _fake) = crate::support::launch::http_server(script);
    let url = format!("http://{address}/mcp");
    home.configure(&[
        &remote("locked", &url),
        &remote("open", &url),
        "headers = { Authorization = 'Bearer secret-bearer-token' }\n",
    ]);
    let ran = home.run(&["read", "locked", "x:plain"]);
    assert!(ran.refused(5).contains("401"), "{ran:?}");
    let ran = home.run(&["read", "open", "x:plain"]);
    assert_eq!(ran.text(0), "line one\nline two\n");
}

#[test]
fn the_uri_is_sent_to_the_byte() {
    let home = Home::new();
    let uri = "x://Ä/%2e%2E/a b?\u{200b}#\"";
    home.configure(&[&home.table("s", &Script::legacy().sample().read_text(uri, "found"))]);
    assert_eq!(home.run(&["read", "s", uri]).text(0), "found");
}
