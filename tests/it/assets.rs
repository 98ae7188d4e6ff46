//! What is shipped beside the program: the man page is that of the command line, real output
//! satisfies the JSON schemas, and every command has examples.
//!
//! `MCPDECK_UPDATE_ASSETS=1 cargo test assets` writes the man page anew.

mod man;

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use mcpdeck::cli::Args;
use serde_json::{Value, json};

use crate::support::fake::{Action, Reply, Script};
use crate::support::site::{Site, USER};

fn asset(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

#[test]
fn the_man_page_is_that_of_the_command_line() {
    let page = man::page(Args::command());
    if std::env::var_os("MCPDECK_UPDATE_ASSETS").is_some() {
        fs::write(asset("mcpdeck.1"), &page).unwrap();
    }
    let shipped = fs::read_to_string(asset("mcpdeck.1")).unwrap_or_default();
    assert!(
        shipped == page,
        "the man page is old: MCPDECK_UPDATE_ASSETS=1 cargo test --test it assets"
    );
}

#[test]
fn the_man_page_has_every_command_and_option_and_names_no_other_page() {
    let page = man::page(Args::command());
    let mut waiting = vec![Args::command()];
    while let Some(command) = waiting.pop() {
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            let option = format!("--{option}").replace('-', "\\-");
            assert!(page.contains(&option), "{option}");
        }
        if command.get_name() != "mcpdeck" && command.get_subcommands().next().is_none() {
            let name = command.get_name().replace('-', "\\-");
            let has = page.lines().any(|line| {
                let title = line.strip_prefix(".SS \"mcpdeck ");
                title.is_some_and(|title| title.trim_end_matches('"').ends_with(&name))
            });
            assert!(has, "{name}");
        }
        waiting.extend(command.get_subcommands().cloned());
    }
    assert!(!page.contains("(1)"));
    // An example stands as it is to be typed, outside of filled text.
    let mut verbatim = false;
    let mut examples = 0;
    for line in page.lines() {
        match line {
            ".nf" => verbatim = true,
            ".fi" => verbatim = false,
            line if line.starts_with("  mcpdeck ") => {
                assert!(verbatim, "{line}");
                examples += 1;
            }
            _ => {}
        }
    }
    assert!(examples > 40, "{examples}");
}

#[test]
fn every_command_has_examples() {
    let mut waiting = vec![Args::command()];
    while let Some(command) = waiting.pop() {
        if command.get_subcommands().next().is_none() || command.get_name() == "mcpdeck" {
            let help = command.get_after_help().map(ToString::to_string);
            let has =
                help.is_some_and(|help| help.contains("Example") && help.contains("  mcpdeck"));
            assert!(has, "{}", command.get_name());
        }
        waiting.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn completions_are_given_for_each_shell() {
    let site = Site::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let ran = site.run(&["completions", shell]).ends_with(0);
        assert!(
            ran.stdout.contains("demo-server") && ran.stderr.is_empty(),
            "{shell}"
        );
    }
    let ran = site.run(&["completions", "nosh"]).ends_with(2);
    assert_eq!(ran.stdout, "");
}

/// A schema of `assets/schema`, ready to be asked.
struct Schema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn new(name: &str) -> Self {
        let text = fs::read_to_string(asset("schema").join(name)).unwrap();
        let url = format!("https://mcpdeck.invalid/{name}");
        let mut compiler = boon::Compiler::new();
        compiler
            .add_resource(&url, serde_json::from_str(&text).unwrap())
            .unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(&url, &mut schemas).unwrap();
        Self { schemas, index }
    }

    #[track_caller]
    fn accepts(&self, value: &Value) {
        if let Err(error) = self.schemas.validate(value, self.index) {
            panic!("{error:#}\n{value:#}");
        }
    }

    #[track_caller]
    fn refuses(&self, value: &Value) {
        assert!(
            self.schemas.validate(value, self.index).is_err(),
            "{value:#}"
        );
    }
}

/// Servers in every state that a script can bring about.
fn many() -> Site {
    let site = Site::new(&[("work/.mcpdeck.toml", "servers.new = { command = 'x' }")]);
    let fails = Script::legacy()
        .sample()
        .on("tools/list", Reply::error(-32000, "no"));
    let servers = [
        site.server("good", &Script::legacy().sample()),
        site.server("modern", &Script::modern().sample()),
        site.server("fails", &fails),
        site.server(
            "noisy",
            &Script::legacy()
                .sample()
                .after_initialized(Action::list_changed("resources", 5)),
        ),
        "[servers.none]\ncommand = 'no-such-program'\n".to_owned(),
        "[servers.wrong]\ncommand = 1\n".to_owned(),
        "[servers.off]\ncommand = 'x'\nenabled = false\n".to_owned(),
        "[servers.remote]\nurl = 'http://127.0.0.1:9/mcp'\n".to_owned(),
    ];
    site.write(USER, &servers.join("\n"));
    site
}

#[test]
fn list_satisfies_its_schema() {
    let schema = Schema::new("list.json");
    let site = many();
    for what in [
        "servers",
        "resources",
        "templates",
        "tools",
        "prompts",
        "all",
    ] {
        schema.accepts(&site.run(&["list", what, "--json"]).ends_with(3).json());
    }
    schema.accepts(&site.run(&["check", "--json"]).ends_with(3).json());
    schema.accepts(
        &Site::new(&[])
            .run(&["list", "all", "--json"])
            .ends_with(0)
            .json(),
    );
    schema.refuses(&json!({"servers": []}));
    schema.refuses(&json!({"servers": [{"name": "x"}], "errors": []}));
    let error = json!({"server": "x", "method": null, "kind": "odd", "message": ""});
    schema.refuses(&json!({"servers": [], "errors": [error]}));
}

#[test]
fn watch_satisfies_its_schema() {
    let schema = Schema::new("watch.json");
    let ran = many()
        .run(&["watch", "--json", "--for", "1500ms"])
        .ends_with(0);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &lines {
        schema.accepts(line);
    }
    for event in ["status", "list_changed", "refresh"] {
        assert!(lines.iter().any(|line| line["event"] == event), "{event}");
    }
    schema.accepts(
        &json!({"time": "2026-01-01T00:00:00Z", "server": null, "event": "lost", "count": 3}),
    );
    schema.refuses(&json!({"time": "2026-01-01T00:00:00Z", "server": "x", "event": "odd"}));
    schema
        .refuses(&json!({"server": "x", "event": "status", "status": "connected", "error": null}));
}
