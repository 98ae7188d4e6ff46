//! `import`: the files of other tools as they stand in a home and a project, what is shown of
//! them, and what is written. The files are in `tests/fixtures/import`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::site::{Site, USER};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/import");

const TOOLS: [&str; 10] = [
    "claude-desktop",
    "claude-code",
    "cursor",
    "windsurf",
    "vscode",
    "codex",
    "gemini",
    "zed",
    "continue",
    "opencode",
];

/// A home and a project with files of every tool, and what is in them.
fn site() -> (Site, Vec<(String, String)>) {
    let site = Site::new(&[]);
    let mut files = Vec::new();
    copy(&Path::new(FIXTURES).join("home"), "", &site, &mut files);
    copy(
        &Path::new(FIXTURES).join("work"),
        "work/",
        &site,
        &mut files,
    );
    (site, files)
}

fn copy(from: &Path, to: &str, site: &Site, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{to}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy(&entry.path(), &format!("{name}/"), site, files);
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text.replace("@WORK@", &site.path("work").to_string_lossy());
        site.write(&name, &text);
        files.push((name, text));
    }
}

/// The expected text; with `MCPDECK_UPDATE_ASSETS` it is written anew.
fn assert_expected(name: &str, text: &str) {
    let path = Path::new(FIXTURES).join("expected").join(name);
    if std::env::var_os("MCPDECK_UPDATE_ASSETS").is_some() {
        fs::write(&path, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap(), "{name}");
}

#[test]
#[cfg(target_os = "linux")]
fn all_tools_are_found_and_nothing_is_written() {
    let (site, files) = site();
    let ran = site.run(&["import"]).ends_with(0);
    assert_expected("list.tsv", &site.short(&ran.stdout));
    assert_expected("list.stderr", &ran.stderr);
    let listed = site.run(&["import", "--json"]).ends_with(0).json();
    let rows = listed["servers"].as_array().unwrap().iter().map(|server| {
        let text = |key: &str| server[key].as_str().unwrap().to_owned();
        let place = format!("{}:{}", text("file"), server["line"]);
        [text("source"), text("name"), text("state"), place].join("\t") + "\n"
    });
    assert_eq!(rows.collect::<String>(), ran.stdout);
    for (name, text) in files {
        assert_eq!(site.text(&name), text, "{name}");
    }
    assert!(!site.path(USER).exists());
}

#[test]
#[cfg(target_os = "linux")]
fn the_servers_of_each_tool_are_copied_in_our_forms() {
    for tool in TOOLS {
        let (site, files) = site();
        let ran = site.run(&["import", tool]).ends_with(0);
        assert_expected(&format!("{tool}.toml"), &site.short(&site.text(USER)));
        assert_expected(&format!("{tool}.tsv"), &site.short(&ran.stdout));
        assert_expected(&format!("{tool}.stderr"), &ran.stderr);
        for (name, text) in files {
            assert_eq!(site.text(&name), text, "{name}");
        }
        // What was written is what was read.
        site.run(&["config", "show"]).ends_with(0);
        let listed = site.run(&["import", "--json"]).ends_with(0).json();
        let left = listed["servers"].as_array().unwrap().iter();
        let left: Vec<&Value> = left
            .filter(|server| server["source"] == tool && server["state"] != "equal")
            .collect();
        let twice = tool == "cursor";
        assert_eq!(left.len(), if twice { 2 } else { 0 }, "{left:#?}");
        let before = site.text(USER);
        site.run(&["import", tool]).ends_with(0);
        assert_eq!(site.text(USER), before);
    }
}
