//! Pages of 15 MiB over HTTP, as one event and as one body: the real program stays under 64 MB.

use std::io::Read as _;
use std::process::Stdio;

use super::endpoint;
use crate::support::fake::{Part, Reply, Script};
use crate::support::launch::http_server;
use crate::support::program::{Home, own_peak_kib, remote as table, server};

const SIZE: usize = 15 * 1024 * 1024;

/// With the program's whole file, which has 16 MB as it ships, it stays far below the 64 MB that are
/// promised.
const MAX_KIB: u64 = 36_000_000 / 1024;

/// A text of [`SIZE`] bytes: a start, many of these, and an end.
fn text(start: &str, fill: &[u8], end: &str) -> Vec<Part> {
    let count = (SIZE - start.len() - end.len()) / fill.len();
    let bytes = fill.to_vec();
    vec![
        Part::from(start),
        Part::FillBytes { bytes, count },
        Part::from(end),
    ]
}

/// Lists a server that answers its templates with this, and checks the error and the peak of
/// memory.
fn check(answer: Reply, expected: &str) {
    // The healthy listing is more than a pipe holds: while it is printed the program waits for us.
    let script = Script::legacy()
        .generated("tools/list", 3_000, 1_000)
        .resources(vec![])
        .on("resources/templates/list", answer);
    let (address, _fake) = http_server(script);
    let home = Home::new();
    home.configure(&[&table("far", &endpoint(address))]);
    let mut command = home.program(&["list", "all", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut json = vec![0];
    stdout.read_exact(&mut json).unwrap();
    let peak = own_peak_kib(child.id());
    stdout.read_to_end(&mut json).unwrap();
    child.wait().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let error = &json["errors"][0];
    let [kind, message] = ["kind", "message"].map(|key| error[key].as_str().unwrap_or_default());
    assert_eq!(format!("{kind}: {message}"), expected);
    assert_eq!(server(&json, "far")["counts"]["tools"], 3_000);
    assert!(peak < MAX_KIB, "{peak} KiB for {expected}");
}

/// An answer with this result, as a body and as an event.
fn check_all(start: &str, fill: &[u8], end: &str, expected: &str) {
    let start = format!("{{\"id\":{{id}},\"result\":{start}");
    let body = Reply::parts(text(&start, fill, end));
    check(body.header("content-type", "application/json"), expected);
    let event = text(&format!("data: {start}"), fill, &format!("{end}\n\n"));
    check(
        Reply::parts(event).header("content-type", "text/event-stream"),
        expected,
    );
}

#[test]
fn a_page_of_15_mib_costs_no_more_than_a_few_times_its_size() {
    let one = r#"{"uriTemplate":"","name":""}"#;
    let list = r#"{"resourceTemplates":["#;
    let too_many = "item_limit: page 1: more than 10,000 templates";
    let fill = format!("{one},");
    check_all(list, fill.as_bytes(), &format!("{one}]}}}}"), too_many);
    let missing = "malformed: page 1, item 1: uriTemplate is missing";
    check_all(list, b"{},", "{}]}}", missing);
    check_all(list, b"[", "", "malformed: the answer is no valid JSON");
    check_all("\"", &[0xff], "\"}", "malformed: the answer is not UTF-8");
}

#[test]
fn other_fields_and_lines_of_an_event_cost_no_more() {
    let missing = "malformed: page 1, item 1: uriTemplate is missing";
    let answer = "data: {\"id\":{id},\"result\":{\"resourceTemplates\":[{}]}}\n\n";
    for (start, fill, end) in [
        ("event: ", &b"\xff"[..], "\n\n"),
        ("data: 7\n", b"data:\n", "\n"),
        ("", b"data\n\n", "\n"),
        ("", b"\r", "\n"),
    ] {
        let before = text(start, fill, end);
        let answer = Reply::parts([before, vec![Part::from(answer)]].concat());
        check(answer.header("content-type", "text/event-stream"), missing);
    }
}
