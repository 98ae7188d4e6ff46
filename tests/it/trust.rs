//! Approvals of project files: given, bound to the definition, taken back.

use crate::support::fake::Script;
use crate::support::site::{Site, USER};

const FILE: &str = "work/.mcpdeck.toml";

fn statuses(site: &Site, args: &[&str]) -> Vec<String> {
    let ran = site.run(&[&["list", "--json"], args].concat());
    let servers = ran.json()["servers"].as_array().unwrap().clone();
    servers
        .iter()
        .map(|server| server["status"].as_str().unwrap().to_owned())
        .collect()
}

fn site() -> Site {
    let site = Site::new(&[]);
    site.write(FILE, &site.server("a", &Script::legacy().sample()));
    site
}

#[test]
fn an_approval_holds_until_the_definition_changes() {
    let site = site();
    assert_eq!(statuses(&site, &[]), ["untrusted"]);
    assert_eq!(statuses(&site, &["--trust"]), ["connected"]);
    assert_eq!(statuses(&site, &[]), ["untrusted"]);
    let ran = site.run(&["trust", "a"]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("mcpdeck: a runs: ") && ran.stderr.contains("fake-mcp-server"));
    assert!(
        ran.stderr
            .ends_with("mcpdeck: a: approved; a change of its definition asks again\n")
    );
    assert_eq!(statuses(&site, &[]), ["connected"]);
    assert!(
        site.run(&["trust", "a"])
            .ends_with(0)
            .stderr
            .contains("trusted already")
    );
    // A comment is no change; an argument is.
    let text = site.text(FILE);
    site.write(FILE, &format!("# mine\n{text}"));
    assert_eq!(statuses(&site, &[]), ["connected"]);
    site.write(FILE, &format!("{text}env = {{ A = \"b\" }}\n"));
    assert_eq!(statuses(&site, &[]), ["untrusted"]);
    site.write(FILE, &text);
    assert_eq!(statuses(&site, &[]), ["connected"]);
    let ran = site.run(&["trust", "--revoke", "a"]).ends_with(0);
    assert_eq!(
        ran.stderr,
        format!("mcpdeck: a of ~/{FILE} is no longer trusted\n")
    );
    assert_eq!(statuses(&site, &[]), ["untrusted"]);
}

#[test]
fn another_folder_needs_its_own_approval() {
    let site = site();
    site.run(&["trust", "a"]).ends_with(0);
    site.write("other/.mcpdeck.toml", &site.text(FILE));
    let mut elsewhere = site.command(&["list", "--json"]);
    elsewhere.current_dir(site.path("other"));
    let listed = site.finish(&mut elsewhere).json();
    assert_eq!(listed["servers"][0]["status"], "untrusted");
}

#[test]
fn approvals_are_listed() {
    let site = site();
    assert_eq!(site.run(&["trust", "--list"]).ends_with(0).stdout, "");
    site.run(&["trust", "a", "--quiet"]).ends_with(0);
    let ran = site.run(&["trust", "--list"]).ends_with(0);
    let cells: Vec<&str> = ran.stdout.trim_end().split('\t').collect();
    assert_eq!((cells[0], site.short(cells[1])), ("a", format!("~/{FILE}")));
    assert!(chrono::DateTime::parse_from_rfc3339(cells[2]).is_ok());
    let listed = site.run(&["trust", "--list", "--json"]).ends_with(0).json();
    assert_eq!(listed["approvals"][0]["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn what_cannot_be_approved_is_told() {
    let site = site();
    let check = |args: &[&str], code: i32, expected: &str| {
        let ran = site.run(args).ends_with(code);
        assert!(ran.stderr.contains(expected), "{ran:?}");
        assert_eq!(ran.stdout, "");
    };
    check(&["trust", "nope"], 4, "server \"nope\" not found");
    check(&["trust", "--revoke", "a"], 4, "was not approved");
    check(&["trust"], 2, "required");
    check(&["trust", "a", "--list"], 2, "cannot be used with");
    site.write(FILE, "servers.a = { comand = 'x' }");
    check(&["trust", "a"], 2, "did you mean `command`?");
    site.write(USER, "servers.b = { command = 'x' }");
    check(&["trust", "b"], 0, "trusted already");
}

#[test]
fn a_broken_list_approves_nothing_and_is_told() {
    let site = site();
    site.run(&["trust", "a"]).ends_with(0);
    site.write(".local/state/mcpdeck/trust/approvals.json", "{");
    let ran = site.run(&["list", "--json"]).ends_with(0);
    assert_eq!(ran.json()["servers"][0]["status"], "untrusted");
    assert!(
        ran.stderr.contains("no approval of a project file holds"),
        "{ran:?}"
    );
    assert!(
        site.run(&["trust", "a"])
            .ends_with(2)
            .stderr
            .contains("approvals.json")
    );
}
