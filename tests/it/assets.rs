//! What is shipped beside the program: the man page is that of the command line, real output
//! satisfies the JSON schemas, and every command has examples.
//!
//! `MCPDECK_UPDATE_ASSETS=1 cargo test assets` writes the man page anew.

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

/// The pages of the program and of each command, one behind the other.
fn man_page() -> String {
    let mut page = Vec::new();
    let mut command = Args::command();
    command.build();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .unwrap();
    let mut waiting: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    waiting.reverse();
    while let Some(command) = waiting.pop() {
        if command.get_name() == "help" {
            continue;
        }
        let title = command
            .get_bin_name()
            .unwrap_or(command.get_name())
            .to_uppercase();
        page.extend(format!(".SH \"{title}\"\n").into_bytes());
        let man = clap_mangen::Man::new(command.clone());
        man.render_description_section(&mut page).unwrap();
        man.render_synopsis_section(&mut page).unwrap();
        man.render_extra_section(&mut page).unwrap();
        let below: Vec<clap::Command> = command.get_subcommands().cloned().collect();
        waiting.extend(below.into_iter().rev());
    }
    let page = String::from_utf8(page).unwrap();
    // Sections of a command are below that of its name.
    let (own, commands) = page.split_once(".SH \"MCPDECK ").unwrap();
    let commands = format!(".SH \"MCPDECK {commands}");
    let lines = commands
        .lines()
        .map(|line| match line.strip_prefix(".SH ") {
            Some(title) if !title.starts_with("\"MCPDECK ") => format!(".SS {title}\n"),
            _ => format!("{line}\n"),
        });
    format!("{own}{}", lines.collect::<String>())
}

#[test]
fn the_man_page_is_that_of_the_command_line() {
    let page = man_page();
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
