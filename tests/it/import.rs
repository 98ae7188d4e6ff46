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

const OURS: &str =
    "# mine\n[servers.a]   # first\ncommand = 'a'\nenabled = false\n\n[servers.b]\ncommand = 'b'\n";

const THEIRS: &str = r#"{"mcpServers": {
    "a": {"command": "other", "env": {"TOKEN": "hunter22-long"}},
    "b": {"command": "b"},
    "c d": {"command": "c"}
}}"#;

fn pair() -> Site {
    Site::new(&[(USER, OURS), ("work/theirs.json", THEIRS)])
}

#[test]
fn what_is_there_is_compared_and_kept() {
    let site = pair();
    let ran = site.run(&["import", "theirs.json"]).ends_with(0);
    assert_eq!(
        site.short(&ran.stdout),
        "a\tskipped\t\nb\tequal\t\nc d\tadded\t~/.config/mcpdeck/config.toml\n"
    );
    assert_eq!(
        ran.stderr,
        "mcpdeck: a: skipped, since there is another server of that name; --replace takes this one instead\n"
    );
    let added = format!("{OURS}\n[servers.\"c d\"]\ncommand = \"c\"\n");
    assert_eq!(site.text(USER), added);
    let ran = site.run(&["import", "theirs.json", "--json"]).ends_with(0);
    let results = ran.json();
    let results = results["servers"].as_array().unwrap().iter();
    let results: Vec<&Value> = results.map(|server| &server["result"]).collect();
    assert_eq!(results, ["skipped", "equal", "equal"]);
}

#[test]
fn a_different_one_is_replaced_only_when_asked_to() {
    let site = pair();
    let args = ["import", "theirs.json", "--replace", "--server", "a"];
    let dry = site.run(&[&args[..], &["--dry-run"]].concat()).ends_with(0);
    assert_eq!(
        site.short(&dry.stdout),
        "a\treplace\t~/.config/mcpdeck/config.toml\n"
    );
    assert!(
        dry.stderr
            .ends_with("mcpdeck: nothing was written: --dry-run\n")
    );
    assert_eq!(site.text(USER), OURS);
    let ran = site.run(&args).ends_with(0);
    assert!(ran.stderr.contains(
        "a: a secret stands in plain text in theirs.json:2 (env TOKEN) and was copied; --secrets-to-env writes ${A_TOKEN} instead"
    ));
    // It is switched off still, and everything else is as it was.
    assert_eq!(
        site.text(USER),
        "# mine\n[servers.a]\ncommand = \"other\"\nenv = { TOKEN = \"hunter22-long\" }\nenabled = false\n\n[servers.b]\ncommand = 'b'\n"
    );
}

#[test]
fn a_secret_becomes_a_variable_and_is_never_shown() {
    let site = pair();
    let args = ["import", "theirs.json", "--replace", "--secrets-to-env"];
    let ran = site.run(&args).ends_with(0);
    assert!(
        ran.stderr.contains(
            "mcpdeck: a: set the environment variable A_TOKEN; its value stands in theirs.json:2 (env TOKEN)\n"
        ),
        "{ran:?}"
    );
    assert!(site.text(USER).contains("env = { TOKEN = \"${A_TOKEN}\" }"));
    assert!(!site.text(USER).contains("hunter22"));
    // It counts as the same from now on.
    for more in [&["--json"][..], &["--dry-run"], &[]] {
        let ran = site.run(&[&args[..], more].concat()).ends_with(0);
        assert!(ran.stdout.contains("equal"), "{ran:?}");
        assert!(!format!("{ran:?}").contains("hunter22"));
    }
    let listed = site
        .run(&["import", "theirs.json", "--json", "--dry-run"])
        .json();
    assert_eq!(
        listed["servers"][0]["secrets"],
        json!([{ "place": "env TOKEN", "line": 2, "variable": "A_TOKEN" }])
    );
}

#[test]
fn what_cannot_be_imported_says_why() {
    let site = pair();
    site.write("work/empty.json", "{}");
    site.write(
        "work/broken.json",
        "{\"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter22\"},}",
    );
    site.write(
        "work/self.json",
        r#"{"servers": {"deck": {"command": "mcpdeck"}}}"#,
    );
    let check = |args: &[&str], code: i32, expected: &str| {
        let ran = site.run(&[&["import"], args].concat()).ends_with(code);
        assert!(ran.stderr.contains(expected), "{ran:?}");
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.contains("hunter22"));
        assert_eq!(site.text(USER), OURS);
    };
    check(
        &["cursr"],
        2,
        "neither a tool nor a file \"cursr\"; tools: claude-desktop, ",
    );
    check(&["cursor"], 4, "cursor has no servers where mcpdeck looks");
    check(&["no.json"], 2, "no.json: no such file or directory");
    check(&["empty.json"], 2, "empty.json: no servers in it");
    check(&["broken.json"], 2, "--> broken.json:1:");
    check(
        &["theirs.json", "--server", "x"],
        4,
        "server \"x\" not found; servers there: a, b, c d",
    );
    check(
        &["self.json", "--server", "deck"],
        2,
        "deck cannot be imported: its command is mcpdeck",
    );
    check(
        &["self.json"],
        0,
        "deck is left out: its command is mcpdeck",
    );
    check(&["--replace"], 2, "--replace");
    check(
        &["theirs.json", "--url", "https://x"],
        2,
        "--url belongs to",
    );
    // A broken file of ours cannot be compared with, and is not overwritten.
    let broken = "[servers.a\n";
    site.write(USER, broken);
    for args in [&["import"][..], &["import", "theirs.json"]] {
        let ran = site.run(args).ends_with(2);
        assert!(ran.stderr.contains("config.toml:1:"), "{ran:?}");
        assert_eq!(site.text(USER), broken);
    }
}

#[test]
fn nothing_there_is_no_error() {
    let site = Site::new(&[]);
    let ran = site.run(&["import"]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        "mcpdeck: no servers of other tools were found; name a file: mcpdeck import FILE\n"
    );
    assert_eq!(
        site.run(&["import", "--json", "--quiet"])
            .ends_with(0)
            .json(),
        json!({ "servers": [], "leftOut": [], "errors": [] })
    );
    // One file that cannot be read hides no other.
    site.write("work/.mcp.json", "{");
    site.write(".cursor/mcp.json", THEIRS);
    let listed = site.run(&["import", "--json"]).ends_with(0).json();
    assert_eq!(listed["servers"].as_array().unwrap().len(), 3);
    assert_eq!(listed["errors"][0]["source"], "claude-code");
    assert!(site.run(&["import"]).stderr.contains(".mcp.json:1:"));
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_written_stays_and_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = pair();
    fs::set_permissions(site.path(USER), fs::Permissions::from_mode(0o444)).unwrap();
    let ran = site
        .run(&["import", "theirs.json", "--server", "c d"])
        .ends_with(2);
    assert_eq!(ran.stdout, "c d\tfailed\t\n");
    assert!(ran.stderr.contains("config.toml is read-only: "), "{ran:?}");
    assert_eq!(site.text(USER), OURS);
}

#[test]
fn the_target_is_the_last_toml_that_is_named() {
    let site = pair();
    site.write("work/own.toml", "");
    let args = ["--config", "own.toml", "import", "theirs.json", "--quiet"];
    assert_eq!(site.run(&args).ends_with(0).stderr, "");
    assert_eq!(site.text("work/own.toml").matches("[servers.").count(), 3);
    assert_eq!(site.text(USER), OURS);
}

#[test]
fn thousands_are_added_in_their_order_as_one_by_one() {
    let ours = "# mine\n[servers.kept]\ncommand = \"k\"\n";
    let site = Site::new(&[(USER, ours)]);
    let servers = 0..2_000;
    let names: Vec<String> = servers.map(|number| format!("s{number}")).collect();
    let pairs = names
        .iter()
        .map(|name| (name.clone(), json!({"command": name, "args": ["a b"]})));
    let file = json!({"mcpServers": pairs.collect::<serde_json::Map<_, _>>()});
    site.write("work/many.json", &file.to_string());
    let ran = site.run(&["import", "many.json"]).ends_with(0);
    assert_eq!(ran.stdout.lines().count(), names.len());
    let file = file["mcpServers"].as_object().unwrap();
    let tables = file
        .keys()
        .map(|name| format!("\n[servers.{name}]\ncommand = \"{name}\"\nargs = [\"a b\"]\n"));
    let expected: String = std::iter::once(ours.to_owned()).chain(tables).collect();
    assert_eq!(site.text(USER), expected);
}

/// There the file of the user is also the one of a project.
#[test]
fn in_the_home_folder_a_file_is_one_file() {
    let site = Site::new(&[]);
    site.write(
        "work/.codex/config.toml",
        "[mcp_servers.memory]\ncommand = \"memory-server\"\n",
    );
    let home = site.path("work");
    let ran = site.finish(site.command(&["import"]).env("HOME", &home));
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    let ran = site.finish(site.command(&["import", "codex"]).env("HOME", &home));
    let ran = ran.ends_with(0);
    assert!(!ran.stderr.contains("skipped"), "{}", ran.stderr);
}

/// In Claude Code the servers of a project win over those of the user in the same file.
#[test]
fn of_one_file_the_definition_that_its_tool_uses_is_copied() {
    let site = Site::new(&[]);
    let file = json!({
        "mcpServers": {"docs": {"command": "users"}, "other": {"command": "o"}},
        "projects": {site.path("work").to_string_lossy(): {
            "mcpServers": {"docs": {"command": "projects"}},
        }},
    });
    site.write(".claude.json", &file.to_string());
    let path = site.path(".claude.json").display().to_string();
    for source in ["claude-code", &path] {
        let args = ["import", source, "--dry-run", "--json"];
        let ran = site.run(&args).ends_with(0).json();
        let copied: Vec<[&Value; 3]> = ran["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| [&it["name"], &it["definition"]["command"], &it["result"]])
            .collect();
        assert_eq!(
            json!(copied),
            json!([["docs", "projects", "add"], ["other", "o", "add"]])
        );
    }
    // Both are shown, since both are there.
    let shown = site.run(&["import", "--server", "docs"]).ends_with(0);
    assert_eq!(shown.stdout.lines().count(), 2, "{shown:?}");
}
