//! `mcpdeck config`: where the configuration is, what it says, and what is wrong with it.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};

use super::args::Args;
use super::command::ConfigCommand;
use super::exit::Exit;
use super::output::{print_object, print_plain, quiet_if_closed};
use super::run::{
    choose_names, complain, empty_hint, is_named, load_chosen, load_request, refuse_adhoc,
};
use crate::app::config_store::{
    Inspected, LoadRequest, Loaded, inspect, load, load_theme, read_env_file, write_path,
};
use crate::config::edit::table_text;
use crate::config::{
    ConfigFile, ConfigProblem, EXAMPLE, Entry, Format, Keys, Role, Written, resolve, settings_json,
};
use crate::domain::{ServerName, Settings};

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(args: &Args, command: ConfigCommand) -> anyhow::Result<Exit> {
    if let Some(exit) = refuse_adhoc(args) {
        return Ok(exit);
    }
    let request = load_request(args, false);
    match command {
        ConfigCommand::Path => path(args, &request),
        ConfigCommand::Show => show(args),
        ConfigCommand::Example => quiet_if_closed(print_plain(EXAMPLE)),
        ConfigCommand::Check { verbose } => check(args, &request, verbose),
    }
}

fn path(args: &Args, request: &LoadRequest) -> anyhow::Result<Exit> {
    let inspected = inspect(request);
    if let Err(exit) = known(args, &inspected) {
        return Ok(exit);
    }
    let path = write_path(request);
    if args.global.json {
        let files: Vec<Value> = inspected
            .iter()
            .map(|inspected| {
                json!({
                    "path": inspected.path.display().to_string(),
                    "role": role_word(inspected.role),
                    "exists": !matches!(inspected.file, Ok(None)),
                })
            })
            .collect();
        let path = path.map(|path| path.display().to_string());
        return quiet_if_closed(print_object(&json!({ "path": path, "files": files })));
    }
    let Some(path) = path else {
        complain("there is no home folder; name a file with --config");
        return Ok(Exit::Usage);
    };
    quiet_if_closed(print_plain(&format!("{}\n", path.display())))
}

/// Whether the servers of `--server` stand in one of the files, as far as they can be read.
fn known(args: &Args, inspected: &[Inspected]) -> Result<(), Exit> {
    let files = inspected
        .iter()
        .filter_map(|it| it.file.as_ref().ok()?.as_ref());
    let names = files.flat_map(|file| file.entries.iter().map(|entry| entry.name.as_str()));
    choose_names(&args.global.server, &names.collect::<Vec<_>>())
}

fn show(args: &Args) -> anyhow::Result<Exit> {
    let loaded = match load_chosen(args) {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
    };
    if args.global.json {
        return quiet_if_closed(print_object(&shown_json(&loaded)));
    }
    if !args.global.quiet {
        for note in &loaded.notes {
            complain(&note.to_string());
        }
    }
    quiet_if_closed(print_plain(&shown_toml(&loaded)))
}

fn shown_json(loaded: &Loaded) -> Value {
    let files = loaded.files.iter().map(|file| {
        json!({
            "path": file.path.display().to_string(),
            "role": role_word(file.role),
            "format": format_word(file.format),
        })
    });
    let servers = loaded.entries.iter().map(|entry| {
        let origin = entry.origin.as_ref();
        let definition = entry.definition.as_ref();
        json!({
            "name": entry.name,
            "source": origin.map(|origin| origin.file.display().to_string()),
            "line": origin.map(|origin| origin.line),
            "enabled": entry.enabled,
            "trusted": entry.trusted,
            "definition": definition.ok().map(|definition| definition.to_json(true)),
            "error": definition.err().map(ConfigProblem::one_line),
        })
    });
    let notes = loaded.notes.iter().map(ToString::to_string);
    json!({
        "files": files.collect::<Vec<_>>(),
        "settings": settings_json(&loaded.settings),
        "keys": keys_json(&loaded.keys),
        "servers": servers.collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
    })
}

/// As a config file of ours that says the same, but for the secrets.
fn shown_toml(loaded: &Loaded) -> String {
    let mut text = table_text(&["settings"], &settings_json(&loaded.settings));
    let keys = keys_json(&loaded.keys);
    if keys.as_object().is_some_and(|keys| !keys.is_empty()) {
        text.push('\n');
        text.push_str(&table_text(&["keys"], &keys));
    }
    for entry in &loaded.entries {
        text.push('\n');
        text.push_str(&shown_server(entry));
    }
    text
}

fn shown_server(entry: &Entry) -> String {
    let mut text = String::new();
    if let Some(origin) = &entry.origin {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {}:{}", origin.file.display(), origin.line);
    }
    if entry.enabled && !entry.trusted {
        text.push_str("# untrusted: of a project file that was not approved\n");
    }
    let mut body = match &entry.definition {
        Ok(definition) => definition.to_json(true),
        Err(problem) => {
            let _ = writeln!(text, "# failed: {}", problem.message());
            json!({})
        }
    };
    if let (false, Some(map)) = (entry.enabled, body.as_object_mut()) {
        map.insert("enabled".to_owned(), Value::Bool(false));
    }
    text.push_str(&table_text(&["servers", entry.name.as_str()], &body));
    text
}

fn keys_json(keys: &Keys) -> Value {
    let actions = keys.actions.iter().map(|action| {
        let keys: Vec<&str> = action.keys.iter().map(Written::text).collect();
        (action.action.clone(), Value::from(keys))
    });
    Value::Object(actions.collect())
}

/// Reads every file and resolves every server that is switched on, as a start would.
fn check(args: &Args, request: &LoadRequest, verbose: bool) -> anyhow::Result<Exit> {
    let inspected = inspect(request);
    let mut problems = 0;
    let mut report = |text: &str| {
        problems += 1;
        complain(text);
    };
    let mut files: Vec<&ConfigFile> = Vec::new();
    for Inspected { file, .. } in &inspected {
        match file {
            Ok(Some(file)) => files.push(file),
            Ok(None) => {}
            Err(error) => report(&format!("error: {error}")),
        }
    }
    let wanted = &args.global.server;
    let is_wanted =
        |name: &ServerName| wanted.is_empty() || wanted.iter().any(|it| is_named(name, it));
    for file in &files {
        if let Some(wrong) = (request.check_keys)(&file.keys) {
            report(&format!("error: {wrong}"));
        }
        let mut settings = Settings::default();
        file.settings.apply(&mut settings);
        if let Err(error) = load_theme(&settings) {
            report(&format!("error: {error}"));
        }
        for entry in file.entries.iter().filter(|entry| is_wanted(&entry.name)) {
            if let Some(problem) = problem_of(entry, request) {
                report(&format!("error: server \"{}\": {problem}", entry.name));
            }
        }
    }
    if verbose {
        for file in &files {
            for ignored in &file.ignored {
                let server = ignored.server.as_ref();
                let of_server = server.map(|name| format!(" of server \"{name}\""));
                complain(&format!(
                    "{}:{}: key `{}`{} is not read",
                    file.path.display(),
                    ignored.line,
                    ignored.key,
                    of_server.unwrap_or_default()
                ));
            }
        }
    }
    // Each file alone may be right and all together wrong: their key lists are laid over each other.
    let loaded = load(request);
    if problems == 0
        && let Err(error) = &loaded
    {
        problems += 1;
        complain(&format!("error: {error}"));
    }
    if problems > 0 {
        let s = if problems == 1 { "" } else { "s" };
        complain(&format!("{problems} error{s}"));
        return Ok(Exit::Usage);
    }
    if let Err(exit) = known(args, &inspected) {
        return Ok(exit);
    }
    if let (false, Ok(loaded)) = (args.global.quiet, loaded) {
        for note in loaded.notes {
            complain(&note.to_string());
        }
    }
    if files.is_empty() && !args.global.quiet {
        complain(&empty_hint(write_path(request).as_deref()));
    }
    quiet_if_closed(print_checked(args, &files))
}

fn problem_of(entry: &Entry, request: &LoadRequest) -> Option<ConfigProblem> {
    match &entry.definition {
        Err(problem) => Some(problem.clone()),
        Ok(_) if !entry.enabled => None,
        Ok(_) => resolve(entry, &request.environment, &read_env_file).err(),
    }
}

fn print_checked(args: &Args, files: &[&ConfigFile]) -> io::Result<()> {
    if args.global.json {
        let files: Vec<Value> = files
            .iter()
            .map(|file| {
                json!({
                    "path": file.path.display().to_string(),
                    "role": role_word(file.role),
                    "format": format_word(file.format),
                    "servers": file.entries.len(),
                })
            })
            .collect();
        return print_object(&json!({ "files": files }));
    }
    let lines = files.iter().map(|file| {
        let count = file.entries.len();
        let s = if count == 1 { "" } else { "s" };
        format!("{}: {count} server{s}, no error\n", file.path.display())
    });
    print_plain(&lines.collect::<String>())
}

const fn role_word(role: Role) -> &'static str {
    match role {
        Role::Named => "named",
        Role::User => "user",
        Role::Project => "project",
    }
}

const fn format_word(format: Format) -> &'static str {
    match format {
        Format::Ours => "mcpdeck",
        Format::McpServers => "mcpServers",
        Format::VsCode => "vscode",
        Format::Codex => "codex",
    }
}
