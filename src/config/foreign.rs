//! Other tools' files: read leniently, never written.
//!
//! `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf), `servers` (VS Code) and
//! `mcp_servers` (Codex). Of `~/.claude.json` the servers of the working directory's project
//! count too; as in Claude Code they win over those of the top level.

use std::collections::HashMap;
use std::time::Duration;

use super::entry::{Definition, Http, Stdio, Transport};
use super::fields::Fields;
use super::file::{ConfigFile, Format, IgnoredKey, Reading};
use super::problem::{ConfigProblem, ProblemKind};
use super::source::Spot;
use super::tree::{Node, Pair, Value};
use crate::domain::{HttpFlavour, ServerName};

/// The keys that are read.
const READ: &[&str] = &[
    "type",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "http_headers",
    "command",
    "args",
    "env",
    "cwd",
    "envFile",
    "disabled",
    "enabled",
    "bearer_token_env_var",
    "env_http_headers",
    "env_vars",
    "startup_timeout_sec",
];
/// The keys that are known to mean nothing here.
const WITHOUT_MEANING: &[&str] = &[
    "timeout",
    "alwaysAllow",
    "autoApprove",
    "disabledTools",
    "inputs",
    "dev",
];

/// Keys whose strings are no secrets and may be shown in a message.
pub(super) fn may_be_shown(key: &str) -> bool {
    READ.contains(&key) && !matches!(key, "env" | "headers" | "http_headers" | "env_http_headers")
}

/// Reads the file.
pub(super) fn read(
    reading: &Reading<'_>,
    tree: &Node,
    json: bool,
) -> Result<ConfigFile, ConfigProblem> {
    let format = if tree.get("mcp_servers").is_some() {
        Format::Codex
    } else if tree.get("mcpServers").is_none() && tree.get("servers").is_some() {
        Format::VsCode
    } else {
        Format::McpServers
    };
    let mut file = reading.file(format);
    let mut found = false;
    let tables: &[&str] = if json {
        &["mcpServers", "servers", "mcp_servers"]
    } else {
        &["mcpServers", "mcp_servers"]
    };
    for pair in tree.table().unwrap_or_default() {
        let key = &*pair.key;
        if !tables.contains(&key) && key != "projects" && !WITHOUT_MEANING.contains(&key) {
            file.ignored.push(IgnoredKey {
                server: None,
                key: pair.key.clone(),
                line: reading.line(&pair.key_span),
            });
        }
    }
    for key in tables {
        if let Some(pairs) = reading.top_table(tree, key)? {
            found = true;
            add_all(reading, &mut file, pairs);
        }
    }
    if let Some(projects) = tree.get("projects").and_then(Node::table) {
        found |= projects
            .iter()
            .any(|pair| pair.value.get("mcpServers").is_some());
        let cwd = reading.environment.cwd();
        let here = projects
            .iter()
            .find(|pair| cwd.to_str() == Some(&*pair.key));
        let servers = here.and_then(|pair| pair.value.get("mcpServers"));
        if let Some(pairs) = servers.and_then(Node::table) {
            add_all(reading, &mut file, pairs);
        }
    }
    file.ignored.sort_by_key(|ignored| ignored.line);
    if found {
        Ok(file)
    } else {
        let start = tree.span.start;
        Err(Spot::new(&reading.source, &(start..start + 1)).problem(ProblemKind::NoServers))
    }
}

/// Adds the servers; a later one of the same name takes the place of the former.
pub(super) fn add_all(reading: &Reading<'_>, file: &mut ConfigFile, pairs: &[Pair]) {
    let entries = file.entries.iter().enumerate();
    let mut places: HashMap<ServerName, usize> = entries
        .map(|(place, entry)| (entry.name.clone(), place))
        .collect();
    for pair in pairs {
        let (definition, enabled) = read_server(reading, file, pair);
        let entry = reading.entry(pair, definition, enabled, file.format);
        if let Some(place) = places.get(&entry.name) {
            file.entries[*place] = entry;
        } else {
            places.insert(entry.name.clone(), file.entries.len());
            file.entries.push(entry);
        }
    }
}

fn read_server(
    reading: &Reading<'_>,
    file: &mut ConfigFile,
    server: &Pair,
) -> (Result<Definition, ConfigProblem>, bool) {
    let Value::Table(pairs) = &server.value.value else {
        let kind = ProblemKind::WrongType {
            key: server.key.clone(),
            expected: "an object with `command` or `url`",
            found: server.value.type_name(),
        };
        let spot = Spot::new(&reading.source, &server.value.span);
        return (Err(spot.problem(kind)), true);
    };
    for pair in pairs {
        if !READ.contains(&&*pair.key) && !WITHOUT_MEANING.contains(&&*pair.key) {
            file.ignored.push(IgnoredKey {
                server: Some(ServerName::display_of(&server.key)),
                key: pair.key.clone(),
                line: reading.line(&pair.key_span),
            });
        }
    }
    let mut fields = Fields::new(&reading.source, pairs).lenient();
    let off = fields.flag("disabled") == Some(true) || fields.flag("enabled") == Some(false);
    let transport = read_transport(&mut fields, server);
    let connect_timeout = seconds(&mut fields, "startup_timeout_sec");
    let definition = match (fields.first_problem(), transport) {
        (Some(problem), _) => Err(problem),
        (None, Some(transport)) => Ok(Definition {
            connect_timeout,
            ..transport.into()
        }),
        (None, None) => {
            let spot = Spot::new(&reading.source, &server.key_span);
            Err(spot.problem(ProblemKind::NeitherCommandNorUrl))
        }
    };
    (definition, !off)
}

/// What `type` says, or which of the keys is there.
fn read_transport(fields: &mut Fields<'_>, server: &Pair) -> Option<Transport> {
    let types = [
        ("stdio", None),
        ("http", Some(HttpFlavour::Streamable)),
        ("sse", Some(HttpFlavour::Sse)),
        ("streamable-http", Some(HttpFlavour::Streamable)),
        ("streamableHttp", Some(HttpFlavour::Streamable)),
        ("streamable_http", Some(HttpFlavour::Streamable)),
    ];
    let has_command = fields.has("command");
    // `httpUrl` goes first: where it stands beside `url`, the latter is the older SSE endpoint.
    let url_key = ["httpUrl", "url", "serverUrl"]
        .into_iter()
        .find(|key| fields.has(key));
    if fields.has("type") {
        let flavour = fields.word("type", &types)?;
        return match (flavour, url_key) {
            (None, _) if has_command => Some(read_stdio(fields)),
            (Some(flavour), Some(key)) => Some(read_http(fields, key, flavour)),
            (None, _) | (Some(_), None) => None,
        };
    }
    match (has_command, url_key) {
        (true, None) => Some(read_stdio(fields)),
        (false, Some("httpUrl")) => Some(read_http(fields, "httpUrl", HttpFlavour::Streamable)),
        (false, Some(key)) => Some(read_http(fields, key, HttpFlavour::Auto)),
        (true, Some(_)) => {
            fields.report(&server.key_span, ProblemKind::CommandAndUrl);
            None
        }
        (false, None) => None,
    }
}

fn read_stdio(fields: &mut Fields<'_>) -> Transport {
    Transport::Stdio(Stdio {
        command: fields.text("command").unwrap_or_default(),
        args: fields.texts("args"),
        env: fields.named_texts("env"),
        env_file: fields.text("envFile"),
        pass_env: variable_names(fields, "env_vars"),
        inherit_env: None,
        cwd: fields.text("cwd"),
    })
}

fn read_http(fields: &mut Fields<'_>, url_key: &str, flavour: HttpFlavour) -> Transport {
    let mut headers = fields.named_texts("headers");
    headers.extend(fields.named_texts("http_headers"));
    for (name, variable) in fields.named_texts("env_http_headers") {
        let value = variable.with_text(&format!("${{{}}}", variable.text()));
        headers.push((name, value));
    }
    if let Some(variable) = fields.text("bearer_token_env_var") {
        let value = variable.with_text(&format!("Bearer ${{{}}}", variable.text()));
        headers.push(("Authorization".to_owned(), value));
    }
    Transport::Http(Http {
        url: fields.text(url_key).unwrap_or_default(),
        headers,
        flavour,
        ..Http::default()
    })
}

/// Names of variables: strings, or (newer Codex) tables with a `name`.
fn variable_names(fields: &mut Fields<'_>, key: &str) -> Vec<String> {
    let Some(pair) = fields.pair(key) else {
        return Vec::new();
    };
    let Value::List(nodes) = &pair.value.value else {
        fields.wrong(key, &pair.value, "a list of strings");
        return Vec::new();
    };
    let mut names = Vec::with_capacity(nodes.len());
    for node in nodes {
        match &node.get("name").unwrap_or(node).value {
            Value::Text(name) => names.push(name.clone()),
            _ => fields.wrong(key, node, "a list of strings"),
        }
    }
    names
}

/// A number of seconds above 0.
fn seconds(fields: &mut Fields<'_>, key: &str) -> Option<Duration> {
    let node = &fields.pair(key)?.value;
    let seconds = match &node.value {
        Value::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let duration = duration.filter(|duration| !duration.is_zero());
    if duration.is_none() {
        fields.bad(key, node, "a number of seconds above 0");
    }
    duration
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::environment::Environment;
    use super::super::file::{FileInput, Role, read};
    use super::*;

    fn read_as(path: &str, text: &str) -> ConfigFile {
        let environment = Environment::new([], None, "/code/proj".into());
        read(FileInput {
            path: Path::new(path),
            text,
            role: Role::Named,
            environment: &environment,
        })
        .unwrap()
    }

    /// The first server of a JSON file.
    fn first(body: &str) -> String {
        let file = read_as("c.json", &format!("{{\"mcpServers\": {{\"a\": {body}}}}}"));
        match &file.entries[0].definition {
            Ok(definition) => definition.to_json(false).to_string(),
            Err(problem) => problem.message(),
        }
    }

    #[test]
    fn the_keys_of_other_tools_are_understood() {
        let check = |body: &str, expected: &str| assert_eq!(first(body), expected, "{body}");
        check(
            r#"{"command": "x", "args": ["a", 1], "env": {"N": 1, "B": true, "S": "s", "Z": null}, "cwd": "c", "envFile": ".env", "timeout": 1}"#,
            r#"{"command":"x","args":["a","1"],"env":{"N":"1","B":"true","S":"s"},"env_file":".env","cwd":"c"}"#,
        );
        check(
            r#"{"type": "stdio", "command": "x", "url": ""}"#,
            r#"{"command":"x"}"#,
        );
        check(r#"{"url": "http://x"}"#, r#"{"url":"http://x"}"#);
        check(r#"{"serverUrl": "http://x"}"#, r#"{"url":"http://x"}"#);
        check(
            r#"{"httpUrl": "http://x"}"#,
            r#"{"url":"http://x","transport":"http"}"#,
        );
        for kind in [
            "http",
            "streamable-http",
            "streamableHttp",
            "streamable_http",
        ] {
            check(
                &format!(r#"{{"type": "{kind}", "url": "http://x"}}"#),
                r#"{"url":"http://x","transport":"http"}"#,
            );
        }
        check(
            r#"{"type": "sse", "url": "http://x", "headers": {"A": "b"}}"#,
            r#"{"url":"http://x","headers":{"A":"b"},"transport":"sse"}"#,
        );
        check(r#"{"type": "http"}"#, "a server needs `command` or `url`");
        check(
            r#"{"command": "x", "url": "y"}"#,
            "a server has either `command` or `url`, not both",
        );
        check(
            r#"{"command": 1}"#,
            "`command` must be a string, not a number",
        );
        check(
            "3",
            "`a` must be an object with `command` or `url`, not a number",
        );
        check(
            r#"{"type": "websocket", "url": "x"}"#,
            "`type` must be \"stdio\" or \"http\" or \"sse\" or \"streamable-http\" or \"streamableHttp\" or \"streamable_http\"",
        );
    }

    #[test]
    fn codex_is_understood() {
        let text = "[mcp_servers.a]\nurl = 'https://x'\nbearer_token_env_var = 'TOK'\nhttp_headers = { A = 'b' }\nenv_http_headers = { C = 'VAR' }\nstartup_timeout_sec = 1.5\n[mcp_servers.b]\ncommand = 'x'\nenv_vars = ['P', { name = 'Q' }]\nenabled = false\n";
        let file = read_as("config.toml", text);
        let shown: Vec<String> = file
            .entries
            .iter()
            .map(|entry| {
                entry
                    .definition
                    .as_ref()
                    .unwrap()
                    .to_json(false)
                    .to_string()
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"{"url":"https://x","headers":{"A":"b","C":"${VAR}","Authorization":"Bearer ${TOK}"},"connect_timeout":"1.5s"}"#,
                r#"{"command":"x","pass_env":["P","Q"]}"#,
            ]
        );
        assert_eq!(
            file.entries.iter().map(|e| e.enabled).collect::<Vec<_>>(),
            [true, false]
        );
        assert!(!file.entries[0].origin.as_ref().unwrap().editable);
    }

    #[test]
    fn of_claude_json_the_project_of_the_working_directory_counts() {
        let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}},
            "projects": {"/code/proj": {"mcpServers": {"b": {"command": "z"}, "c": {"command": "w", "disabled": true}}},
                         "/other": {"mcpServers": {"d": {"command": "v"}}}}}"#;
        let file = read_as(".claude.json", text);
        let shown: Vec<String> = file
            .entries
            .iter()
            .map(|entry| {
                format!(
                    "{} {}",
                    entry.name,
                    entry.definition.as_ref().unwrap().target()
                )
            })
            .collect();
        assert_eq!(shown, ["a x", "b z", "c w"]);
        assert!(!file.entries[2].enabled);
    }

    #[test]
    fn keys_that_nothing_reads_are_named() {
        let text = "{\"inputs\": [], \"mcpServers\": {\"a\": {\"command\": \"x\",\n\"alwaysAllow\": [],\n\"foo\": 1}},\n\"bar\": 2}";
        let ignored = read_as("c.json", text).ignored;
        let named: Vec<_> = ignored
            .iter()
            .map(|it| {
                (
                    it.server.as_ref().map(ServerName::as_str),
                    &*it.key,
                    it.line,
                )
            })
            .collect();
        assert_eq!(named, [(Some("a"), "foo", 3), (None, "bar", 4)]);
    }
}
