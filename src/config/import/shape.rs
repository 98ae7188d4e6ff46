//! One shape for the files of all tools: pairs of a name and a table with the keys that
//! [`foreign`](crate::config::foreign) reads. Everything keeps its place in the text.
//!
//! What differs between the tools is the table that holds the servers ([`HOLDERS`]) and a few
//! keys of a server ([`RENAMED`], [`UNREAD`] and [`server`]).

use std::ops::Range;
use std::path::Path;

use super::Scope;
use crate::config::problem::ProblemKind;
use crate::config::tree::{Node, Pair, Value};

/// The tables that hold servers, as paths, in the order in which they are looked for.
const HOLDERS: &[&[&str]] = &[
    // Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI; Continue has a list here.
    &["mcpServers"],
    // Codex.
    &["mcp_servers"],
    // VS Code.
    &["servers"],
    // Zed.
    &["context_servers"],
    // VS Code's settings of old, newer opencode.
    &["mcp", "servers"],
    &["mcp.servers"],
    // opencode.
    &["mcp"],
];

/// Holders of nothing but servers: whatever else stands there is wrong.
const ONLY_SERVERS: &[&str] = &["mcpServers", "mcp_servers", "context_servers"];

/// What stands where servers should be.
pub(super) struct Misplaced {
    pub(super) kind: ProblemKind,
    pub(super) span: Range<usize>,
}

/// Keys with another name than the one that is read.
const RENAMED: &[(&str, &str)] = &[("environment", "env")];

/// Keys that say how a tool shows or uses a server, not what it is.
const UNREAD: &[&str] = &[
    "$schema",
    "connectionTimeout",
    "description",
    "disabled_tools",
    "enabled_tools",
    "excludeTools",
    "faviconUrl",
    "gallery",
    "includeTools",
    "name",
    "schema",
    "settings",
    "source",
    "startup_timeout_ms",
    "tool_timeout_sec",
    "tools",
    "trust",
    "version",
];

/// The servers of the tree for the scope; `None` where it has nothing that holds servers.
pub(super) fn servers(
    tree: &Node,
    scope: &Scope,
    file: &Path,
) -> Result<Option<Vec<Pair>>, Misplaced> {
    // `~/.claude.json` has a part for every project.
    let part = match (tree.get("projects"), scope) {
        (Some(projects), Scope::Project(folder)) => {
            let here = projects.table().unwrap_or_default().iter();
            let mut here = here.filter(|pair| Path::new(&pair.key) == &**folder);
            let held = here
                .next()
                .map(|pair| held(&pair.value, file))
                .transpose()?;
            return Ok(Some(held.flatten().unwrap_or_default()));
        }
        _ => tree,
    };
    Ok(held(part, file)?.or_else(|| tree.get("projects").map(|_| Vec::new())))
}

fn held(tree: &Node, file: &Path) -> Result<Option<Vec<Pair>>, Misplaced> {
    for key in ONLY_SERVERS {
        if let Some(node) = tree.get(key) {
            all_servers(key, node)?;
        }
    }
    let holder = HOLDERS.iter().find_map(|path| {
        let node = path.iter().try_fold(tree, |node, key| node.get(key))?;
        matches!(node.value, Value::Table(_) | Value::List(_)).then_some((path, node))
    });
    if let Some((path, list)) = holder
        && matches!(list.value, Value::List(_))
    {
        all_servers(&path.join("."), list)?;
    }
    let has_only_servers = ONLY_SERVERS.iter().any(|key| tree.get(key).is_some());
    let pairs = match holder.map(|(_, node)| &node.value) {
        Some(Value::Table(pairs)) => {
            // What is no table is a setting beside the servers.
            let is_server = |pair: &&Pair| has_only_servers || pair.value.table().is_some();
            pairs.iter().filter(is_server).cloned().collect()
        }
        Some(Value::List(nodes)) => nodes.iter().filter_map(named).collect(),
        _ => match alone(tree, file) {
            Some(pair) => vec![pair],
            None => return Ok(None),
        },
    };
    // Gemini CLI switches servers off in a list beside them.
    let off = tree.get("mcp").and_then(|mcp| mcp.get("excluded"));
    let off = match off.map(|off| &off.value) {
        Some(Value::List(names)) => &names[..],
        _ => &[],
    };
    let pairs = pairs.into_iter().map(|mut pair| {
        let is_off = off
            .iter()
            .any(|name| matches!(&name.value, Value::Text(name) if *name == pair.key));
        if let Value::Table(fields) = &mut pair.value.value {
            *fields = server(std::mem::take(fields));
            if is_off {
                fields.retain(|field| field.key != "disabled");
                fields.push(plain("disabled", Value::Bool(true), &pair.key_span));
            }
        }
        pair
    });
    Ok(Some(pairs.collect()))
}

/// Whether what the key holds is servers: a table of them, or a list of such that have a name or,
/// in Continue, stand elsewhere.
fn all_servers(key: &str, node: &Node) -> Result<(), Misplaced> {
    let misplaced = |node: &Node, what: String, expected| Misplaced {
        kind: ProblemKind::WrongType {
            key: what,
            expected,
            found: node.type_name(),
        },
        span: node.span.clone(),
    };
    match &node.value {
        Value::Table(_) | Value::Null => Ok(()),
        Value::List(nodes) => {
            let mut nodes = nodes.iter();
            let wrong = nodes.find(|node| named(node).is_none() && node.get("uses").is_none());
            match wrong {
                None => Ok(()),
                Some(node) => Err(misplaced(
                    node,
                    format!("{key}[]"),
                    "a server with a `name`",
                )),
            }
        }
        _ => Err(misplaced(
            node,
            key.to_owned(),
            "a table of servers by their names",
        )),
    }
}

/// A server of a list, which has its name inside.
fn named(node: &Node) -> Option<Pair> {
    let name = node.get("name")?;
    let Value::Text(key) = &name.value else {
        return None;
    };
    Some(Pair {
        key: key.clone(),
        key_span: name.span.clone(),
        value: node.clone(),
    })
}

/// A file that is one server: a JSON block of Continue. It is named after the file.
fn alone(tree: &Node, file: &Path) -> Option<Pair> {
    let is_server = ["command", "url"].iter().any(|key| tree.get(key).is_some());
    let stem = file.file_stem()?.to_str()?;
    is_server.then(|| named(tree).unwrap_or_else(|| plain(stem, tree.value.clone(), &tree.span)))
}

/// The keys of a server, with the names and forms that are read.
fn server(fields: Vec<Pair>) -> Vec<Pair> {
    let mut read: Vec<Pair> = Vec::with_capacity(fields.len());
    let mut arguments: Vec<Node> = Vec::new();
    for mut field in fields {
        if UNREAD.contains(&&*field.key) {
            continue;
        }
        if let Some((_, name)) = RENAMED.iter().find(|(key, _)| *key == field.key) {
            (*name).clone_into(&mut field.key);
        }
        let span = field.key_span.clone();
        let key = field.key.clone();
        match (&*key, std::mem::take(&mut field.value.value)) {
            // opencode: one list for the command and its arguments.
            ("command", Value::List(words)) => {
                let mut words = words.into_iter();
                if let Some(value) = words.next() {
                    read.push(Pair { value, ..field });
                }
                arguments.extend(words);
            }
            // Zed, in older versions: a table for the command, its arguments and variables.
            ("command", Value::Table(parts)) => {
                read.extend(parts.into_iter().map(|part| match &*part.key {
                    "path" => Pair {
                        key: "command".to_owned(),
                        ..part
                    },
                    _ => part,
                }));
            }
            ("type", Value::Text(kind)) if kind == "remote" => {}
            ("type", Value::Text(kind)) if kind == "local" => {
                read.push(plain("type", Value::Text("stdio".to_owned()), &span));
            }
            // Continue.
            ("requestOptions", value) => {
                let headers = Node { value, span }.get("headers").cloned();
                read.extend(headers.map(|value| Pair {
                    key: "headers".to_owned(),
                    value,
                    ..field
                }));
            }
            ("apiKey", Value::Text(key)) => {
                let value = Value::Text(format!("Bearer {key}"));
                let header = plain("Authorization", value, &field.value.span);
                read.push(plain("http_headers", Value::Table(vec![header]), &span));
            }
            (_, value) => {
                field.value.value = value;
                read.push(field);
            }
        }
    }
    if !arguments.is_empty() {
        let span = arguments[0].span.clone();
        if let Some(place) = read.iter().position(|field| field.key == "args")
            && let Value::List(more) = read.remove(place).value.value
        {
            arguments.extend(more);
        }
        read.push(plain("args", Value::List(arguments), &span));
    }
    read
}

fn plain(key: &str, value: Value, span: &Range<usize>) -> Pair {
    Pair {
        key: key.to_owned(),
        key_span: span.clone(),
        value: Node {
            value,
            span: span.clone(),
        },
    }
}
