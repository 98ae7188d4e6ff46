//! Config files that change while the program runs: what is new starts, what is gone stops, what
//! is different restarts, and everything else keeps its connection.

use std::fs;

use serde_json::Value;

use crate::support::fake::Script;
use crate::support::site::{Site, USER};
use crate::watch::Watching;

fn script() -> Script {
    Script::legacy().named("tools/list", &["one"])
}

/// A site whose user file has these servers.
fn site(names: &[&str]) -> Site {
    let site = Site::new(&[]);
    site.write(USER, &tables(&site, names));
    site
}

fn tables(site: &Site, names: &[&str]) -> String {
    let tables = names.iter().map(|name| site.server(name, &script()));
    tables.collect::<Vec<_>>().join("\n")
}

/// A watch whose servers have all their first catalog.
fn watching(site: &Site, names: &[&str]) -> Watching {
    let mut watching = Watching::start(site, &[]);
    for name in names {
        watching.refreshed(name);
    }
    watching
}

/// How often the server was started.
fn starts(watching: &Watching, name: &str) -> usize {
    let is_start = |line: &&Value| line["server"] == name && line["status"] == "connecting";
    watching.seen().iter().filter(is_start).count()
}

#[test]
fn added_start_removed_stop_changed_restart_and_the_rest_stays() {
    let site = site(&["keep", "change", "drop"]);
    let mut watching = watching(&site, &["keep", "change", "drop"]);
    let changed = site.server("change", &script()) + "env = { A = \"b\" }\n";
    let text = format!(
        "# new\n{}\n{changed}\n{}",
        tables(&site, &["new"]),
        tables(&site, &["keep"])
    );
    site.write(USER, &text);
    watching.refreshed("new");
    watching.refreshed("change");
    assert_eq!(starts(&watching, "keep"), 1);
    assert_eq!(starts(&watching, "change"), 2);
    let (code, stderr) = watching.signal(rustix::process::Signal::INT);
    assert_eq!(code, 130);
    assert_eq!(
        stderr,
        "mcpdeck: config reloaded: added new; removed drop; changed change\n"
    );
}

#[test]
fn an_editor_that_writes_by_rename_is_followed_again_and_again() {
    let site = site(&["a"]);
    let mut watching = watching(&site, &["a"]);
    for name in ["b", "c", "d"] {
        let text = site.text(USER) + "\n" + &tables(&site, &[name]);
        site.write(".config/mcpdeck/.config.toml.swp", &text);
        fs::rename(
            site.path(".config/mcpdeck/.config.toml.swp"),
            site.path(USER),
        )
        .unwrap();
        watching.refreshed(name);
    }
    assert_eq!(starts(&watching, "a"), 1);
}

#[test]
fn a_half_written_file_changes_nothing_and_is_told() {
    let site = site(&["a"]);
    let mut watching = watching(&site, &["a"]);
    site.write(USER, "[servers.a\ncomm");
    watching.said("config kept as it was: ");
    site.write(USER, &tables(&site, &["a", "b"]));
    watching.refreshed("b");
    assert_eq!(starts(&watching, "a"), 1);
    let (_, stderr) = watching.signal(rustix::process::Signal::INT);
    assert!(stderr.contains("config.toml:1:"), "{stderr}");
    assert!(stderr.ends_with("config reloaded: added b\n"), "{stderr}");
}

#[test]
fn a_file_that_disappears_and_comes_back_changes_nothing() {
    let site = site(&["a"]);
    let mut watching = watching(&site, &["a"]);
    let text = site.text(USER);
    fs::remove_file(site.path(USER)).unwrap();
    site.write(USER, "");
    site.write(USER, &format!("{text}\n{}", tables(&site, &["b"])));
    watching.refreshed("b");
    assert_eq!(starts(&watching, "a"), 1);
    // Where it stays away, its servers go.
    fs::remove_dir_all(site.path(".config")).unwrap();
    watching.said("config reloaded: removed a, b");
    site.write(USER, &text);
    watching.refreshed("a");
}

#[test]
fn a_named_file_that_is_gone_leaves_its_servers() {
    let site = Site::new(&[]);
    site.write("work/mine.toml", &tables(&site, &["a"]));
    let mut watching = Watching::start(&site, &["--config", "mine.toml"]);
    watching.refreshed("a");
    let text = site.text("work/mine.toml");
    fs::remove_file(site.path("work/mine.toml")).unwrap();
    watching.said("config kept as it was: mine.toml: no such file or directory");
    site.write(
        "work/mine.toml",
        &format!("{text}\n{}", tables(&site, &["b"])),
    );
    watching.refreshed("b");
    assert_eq!(starts(&watching, "a"), 1);
}

#[test]
fn files_that_are_not_there_yet_are_waited_for() {
    let site = Site::new(&[]);
    let mut watching = Watching::start(&site, &[]);
    watching.said("no servers are configured");
    site.write(USER, &tables(&site, &["a"]));
    watching.refreshed("a");
    site.write("work/.mcpdeck.toml", &tables(&site, &["p"]));
    watching.status("p", "untrusted");
    assert_eq!(site.run(&["trust", "p"]).code, 0);
    watching.refreshed("p");
    site.run(&["trust", "--revoke", "p"]).ends_with(0);
    watching.status("p", "untrusted");
    assert_eq!(starts(&watching, "a"), 1);
}

#[test]
fn what_another_mcpdeck_switches_takes_effect() {
    let site = site(&["a", "b"]);
    let mut watching = watching(&site, &["a", "b"]);
    site.run(&["disable", "a"]).ends_with(0);
    watching.status("a", "disabled");
    site.run(&["enable", "a"]).ends_with(0);
    watching.refreshed("a");
    assert_eq!(starts(&watching, "b"), 1);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_followed() {
    let site = Site::new(&[]);
    site.write("dots/real.toml", &tables(&site, &["a"]));
    fs::create_dir_all(site.path(".config/mcpdeck")).unwrap();
    std::os::unix::fs::symlink("../../dots/real.toml", site.path(USER)).unwrap();
    let mut watching = watching(&site, &["a"]);
    site.write("dots/real.toml", &tables(&site, &["a", "b"]));
    watching.refreshed("b");
    assert_eq!(starts(&watching, "a"), 1);
}

#[test]
fn chosen_servers_stay_chosen() {
    let site = site(&["a"]);
    let mut watching = Watching::start(&site, &["--server", "a"]);
    watching.refreshed("a");
    site.write(USER, &tables(&site, &["b"]));
    watching.said("config reloaded: removed a");
    assert!(watching.seen().iter().all(|line| line["server"] == "a"));
}
