//! A fleet of servers for pictures and tasks: names that one knows, and answers that are always the
//! same.

use serde_json::{Value, json};

use super::fake::listing::{Listing, Page};
use super::fake::{Action, Script};
use super::launch::{fake_program, http_server};
use super::program::Home;

const RESOURCES: &str = "resources/list";

/// Eight servers: four that work, two that fail, one that wants a log-in, one that is off.
pub fn fleet(home: &Home) {
    install(
        home,
        "@modelcontextprotocol/server-everything",
        &everything(),
    );
    install(
        home,
        "@modelcontextprotocol/server-filesystem",
        &tools(
            "secure-filesystem-server",
            &[
                ("read_file", "Read the whole text of a file"),
                ("read_multiple_files", "Read several files at once"),
                ("write_file", "Make a new file, or replace one"),
                ("edit_file", "Change lines of a text file"),
                ("list_directory", "List what is in a folder"),
                ("search_files", "Find files by a pattern"),
                ("get_file_info", "Size, times and permissions of a file"),
            ],
        ),
    );
    install(
        home,
        "@modelcontextprotocol/server-memory",
        &tools(
            "memory-server",
            &[
                ("create_entities", "Remember new things"),
                (
                    "create_relations",
                    "Remember how two things belong together",
                ),
                ("add_observations", "Remember more about a thing"),
                ("delete_entities", "Forget things"),
                ("delete_observations", "Forget something about a thing"),
                ("delete_relations", "Forget how things belong together"),
                ("read_graph", "Everything that is remembered"),
                ("search_nodes", "Find things by a word"),
                ("open_nodes", "Find things by their names"),
            ],
        ),
    );
    install(
        home,
        "mcp-server-git",
        &tools(
            "mcp-git",
            &[
                ("git_status", "What has changed in the working tree"),
                ("git_diff", "The changes, line by line"),
                ("git_log", "The last commits"),
            ],
        ),
    );
    let (calendar, _server) = http_server(
        Script::legacy()
            .sample()
            .http(|http| http.bearer = Some("a-token-that-nobody-has".into())),
    );
    home.configure(&[
        "[servers.everything]\ncommand = 'npx'\nargs = ['-y', '@modelcontextprotocol/server-everything']\n",
        "[servers.filesystem]\ncommand = 'npx'\nargs = ['-y', '@modelcontextprotocol/server-filesystem', '${HOME}/notes']\n",
        "[servers.memory]\ncommand = 'npx'\nargs = ['-y', '@modelcontextprotocol/server-memory']\n",
        "[servers.git]\ncommand = 'uvx'\nargs = ['mcp-server-git']\n",
        "[servers.sqlite]\ncommand = 'sh'\nargs = ['-c', 'echo \"sqlite3.OperationalError: unable to open database file\" >&2; exit 1']\n",
        "[servers.github]\ncommand = 'npxx'\nargs = ['-y', 'github-mcp-server']\n",
        &format!("[servers.calendar]\nurl = 'http://{calendar}/mcp'\n"),
        "[servers.notes]\ncommand = 'npx'\nargs = ['-y', 'notes-mcp']\nenabled = false\n",
    ]);
}

/// Makes `npx` and `uvx` start a fake in the place of the package.
fn install(home: &Home, package: &str, script: &Script) {
    let text = serde_json::to_string(script).unwrap();
    home.write(&format!("packages/{package}.json"), &text);
    let fake = fake_program().display().to_string();
    for runner in ["npx", "uvx"] {
        let skip = if runner == "npx" { "shift\n" } else { "" };
        let text = format!("#!/bin/sh\n{skip}exec '{fake}' --script \"$HOME/packages/$1.json\"\n");
        let file = format!("bin/{runner}");
        home.write(&file, &text);
        make_executable(&home.path(&file));
    }
}

#[cfg(unix)]
fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_file: &std::path::Path) {}

fn info(name: &str, title: &str) -> Value {
    json!({"name": name, "title": title, "version": "2.1.0"})
}

fn tools(name: &str, tools: &[(&str, &str)]) -> Script {
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, about)| {
            json!({"name": name, "description": about, "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": name.starts_with("read") || name.starts_with("get")}})
        })
        .collect();
    serde_json::from_value(json!({
        "server_info": info(name, name),
        "capabilities": {"tools": {}},
        "listings": {"tools/list": {"pages": [{"items": tools}]}},
    }))
    .unwrap()
}

const REPORT: &str = "# Harbour report\n\nA quiet week: **no delays**, and one visitor from far away.\n\n## Ships in port\n\n| ship | from | berth |\n|---|---|---|\n| Ada | Lisbon | 3 |\n| Kaiwo Maru | Yokohama | 1 |\n| Bo | Bergen | 7 |\n\n## To do\n\n- paint the bollards at berth 3\n- answer the pilots, see `mail/14`\n- mend the lamp on the mole; until then ring the bell twice when the fog comes in\n\n> The tide table is in `demo://resource/tides`.\n";

fn resource(path: &str, name: &str, mime_type: &str, size: u64) -> Value {
    json!({"uri": format!("demo://resource/{path}"), "name": name, "mimeType": mime_type,
        "size": size, "description": format!("{name}, as the harbour office keeps it."),
        "annotations": {"audience": ["user"], "priority": 0.8}})
}

/// Seven resources, one of which comes late and one of which changes.
fn everything() -> Script {
    let mut items = vec![
        resource("ships", "Ships in port", "application/json", 2_048),
        resource("tides", "Tide table", "text/csv", 18_432),
        resource("map", "Map of the harbour", "image/png", 88_064),
        resource("rules", "Harbour rules", "text/markdown", 5_120),
        resource("radio", "Radio channels", "text/plain", 640),
        resource("report/march", "Report of March", "text/markdown", 812),
    ];
    let before = items.clone();
    items[1] = resource("tides", "Tide table", "text/csv", 18_944);
    let april = resource("report/april", "Report of April", "text/markdown", 780);
    let uri = april["uri"].as_str().unwrap().to_owned();
    items.push(april);
    let script: Script = serde_json::from_value(json!({
        "server_info": info("mcp-servers/everything", "Harbour office"),
        "instructions": "Ask for the ships first; everything else hangs on them.",
        "capabilities": {"resources": {"listChanged": true}, "tools": {}, "prompts": {}, "completions": {}},
        "listings": {
            "resources/list": {"pages": [{"items": before}]},
            "resources/templates/list": {"pages": [{"items": [
                {"uriTemplate": "demo://ships/{port}/{name}", "name": "A ship", "mimeType": "application/json",
                    "description": "What is known about a ship that has been in a port."},
                {"uriTemplate": "demo://log{?from,to}", "name": "The log", "mimeType": "text/plain"},
            ]}]},
            "tools/list": {"pages": [{"items": [
                {"name": "moor", "description": "Give a ship a berth", "inputSchema": {"type": "object"}},
                {"name": "signal", "description": "Hoist a signal", "inputSchema": {"type": "object"}},
                {"name": "weather", "description": "The forecast for the next hours", "inputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": true}},
            ]}]},
            "prompts/list": {"pages": [{"items": [
                {"name": "greet", "description": "A greeting for a ship", "arguments": [{"name": "ship", "required": true}]},
                {"name": "daily", "description": "What happened today"},
            ]}]},
        },
        "rules": [
            {"method": "completion/complete", "reply": {"result": {"completion":
                {"values": ["Hamburg", "Hammerfest", "Hamilton"], "total": 3, "hasMore": false}}}},
            {"method": "resources/read", "reply": {"result": {"contents": [
                {"uri": uri, "mimeType": "text/markdown", "text": REPORT}]}}},
        ],
    }))
    .unwrap();
    script
        .after_initialized(Action::WaitMs(1_000))
        .after_initialized(Action::set_pages(
            RESOURCES,
            Listing::Pages(vec![Page::last(items)]),
        ))
        .after_initialized(Action::list_changed("resources", 1))
}
