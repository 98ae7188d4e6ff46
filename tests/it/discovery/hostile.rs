//! Pages of 15 MiB that are made to cost: they fail, the server stays, and the real program stays
//! under 64 MB.

use std::io::Read as _;

use serde_json::Value;

use super::Program;
use crate::support::fake::{Part, Reply, Script};
use crate::support::program::own_peak_kib;

const SIZE: usize = 15 * 1024 * 1024;
/// With the program's whole file, which has 16 MB as it ships, it stays far below the 64 MB that are
/// promised.
const MAX_KIB: u64 = 36_000_000 / 1024;

/// A line of [`SIZE`] bytes: a start, many of these, and an end.
fn line(start: &str, fill: &[u8], end: &str) -> Vec<Part> {
    let count = (SIZE - start.len() - end.len()) / fill.len();
    let bytes = fill.to_vec();
    vec![
        Part::from(start),
        Part::FillBytes { bytes, count },
        Part::from(end),
        Part::from("\n"),
    ]
}

/// Lists a server that answers its templates with this, and checks the error, if there shall be
/// one, and the peak of memory.
fn check(answer: Vec<Part>, expected: Option<&str>) {
    // The healthy listing is more than a pipe holds: while it is printed the program waits for us.
    let script = Script::legacy()
        .generated("tools/list", 3_000, 1_000)
        .resources(vec![])
        .on("resources/templates/list", Reply::parts(answer));
    let program = Program::new().server("fake", &script);
    let mut child = program.listing("all").spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut json = vec![0];
    stdout.read_exact(&mut json).unwrap();
    let peak = own_peak_kib(child.id());
    stdout.read_to_end(&mut json).unwrap();
    child.wait().unwrap();

    let json: Value = serde_json::from_slice(&json).unwrap();
    let error = json["errors"].get(0).map(|error| {
        let [kind, message] = ["kind", "message"].map(|key| error[key].as_str().unwrap());
        format!("{kind}: {message}")
    });
    assert_eq!(error.as_deref(), expected);
    assert_eq!(json["servers"][0]["counts"]["tools"], 3_000);
    assert!(peak < MAX_KIB, "{peak} KiB for {expected:?}");
}

/// A page of templates.
fn page(start: &str, fill: &str, end: &str, expected: &str) {
    let start = format!("{{\"id\":{{id}},\"result\":{{\"resourceTemplates\":[{start}");
    check(line(&start, fill.as_bytes(), end), Some(expected));
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_of_15_mib_costs_no_more_than_a_few_times_its_size() {
    let one = r#"{"uriTemplate":"","name":""}"#;
    let too_many = "item_limit: page 1: more than 10,000 templates";
    page("", &format!("{one},"), &format!("{one}]}}}}"), too_many);
    let missing = "malformed: page 1, item 1: uriTemplate is missing";
    page("", "{},", "{}]}}", missing);
    let broken = "malformed: the answer is no valid JSON";
    page("", "[", "", broken);
    let large = r#"{"name":"","uriTemplate":""#;
    let too_large = "byte_limit: page 1, item 1: more than 1,000,000 bytes of templates";
    page(large, r"\ud800", "\"}]}}", too_large);
    let name = r#"{"uriTemplate":7,"name":""#;
    let bad = "malformed: page 1, item 1: uriTemplate is not a string";
    page(name, "\u{301}\u{323}", "\"}]}}", bad);
}

#[cfg(target_os = "linux")]
#[test]
fn other_lines_of_15_mib_do_not_either() {
    let invalid = Some("malformed: the answer is not UTF-8");
    check(line(r#"{"id":{id},"result":""#, &[0xff], "\"}"), invalid);
    // What is no answer to us comes before one.
    let check_before = |noise: Vec<Part>| {
        let answer = Part::from("{\"id\":{id},\"result\":{\"resourceTemplates\":[]}}\n");
        check([noise, vec![answer]].concat(), None);
    };
    check_before(line("[", b"7,", "7]"));
    check_before(line("[", br#"{"id":99,"result":1},"#, "7]"));
    check_before(line("\u{1b}", "\u{fdfa}".as_bytes(), ""));
    let error = r#"{"id":{id},"error":{"code":-32000,"message":"no","data":["#;
    check(line(error, b"[],", "[]]}}"), Some("rpc: no"));
}
