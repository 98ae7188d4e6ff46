//! Pages of 15 MiB that are made to cost: they fail, the server stays, and the real program stays
//! under 64 MiB.

use std::io::Read as _;

use serde_json::{Value, json};

use super::Program;
use crate::support::fake::{Part, Reply, Script};

const SIZE: usize = 15 * 1024 * 1024;
const MAX_KIB: u64 = 64 * 1024;

/// Lists a server whose page of templates is this, and checks the error and the peak of memory.
fn check(start: &str, fill: &str, end: &str, expected: &str) {
    let page = vec![
        Part::from("{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":"),
        Part::from(start),
        Part::fill(fill, (SIZE - start.len() - end.len()) / fill.len()),
        Part::from(end),
        Part::from("}\n"),
    ];
    // The healthy listing is more than a pipe holds: while it is printed the program waits for us.
    let script = Script::legacy()
        .generated("tools/list", 3_000, 1_000)
        .resources(vec![])
        .on("resources/templates/list", Reply::parts(page));
    let program = Program::new().server("fake", &script);
    let mut child = program.listing("all").spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut json = vec![0];
    stdout.read_exact(&mut json).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    stdout.read_to_end(&mut json).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));

    let json: Value = serde_json::from_slice(&json).unwrap();
    let error = &json["errors"][0];
    let told = format!(
        "{}: {}",
        error["kind"].as_str().unwrap(),
        error["message"].as_str().unwrap()
    );
    assert_eq!(told, expected);
    assert_eq!(json["servers"][0]["counts"]["tools"], 3_000);
    assert_eq!(
        json["servers"][0]["counts"]["resourceTemplates"],
        json!(null)
    );
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MAX_KIB, "{peak} KiB: {start}{fill}...");
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_of_15_mib_costs_no_more_than_a_few_times_its_size() {
    let templates = r#"{"resourceTemplates":["#;
    let large = r#"{"resourceTemplates":[{"name":"","uriTemplate":""#;
    let one = r#"{"uriTemplate":"","name":""},"#;
    let last = r#"{"uriTemplate":"","name":""}]}"#;
    let too_large = "byte_limit: page 1, item 1: more than 1,000,000 bytes of templates";
    check(
        templates,
        one,
        last,
        "item_limit: page 1: more than 10,000 templates",
    );
    check(
        templates,
        "{},",
        "{}]}",
        "malformed: page 1, item 1: uriTemplate is missing",
    );
    check(large, "u", "\"}]}", too_large);
    check(templates, "[", "", "malformed: the answer is no valid JSON");
    let name = r#"{"resourceTemplates":[{"uriTemplate":7,"name":""#;
    let bad = "malformed: page 1, item 1: uriTemplate is not a string";
    check(name, "\u{301}\u{323}", "\"}]}", bad);
}
