//! Files of other tools for the tests, read as they are read from a disk.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::listing::Listing;
use crate::app::config_store::LoadRequest;
use crate::app::import::{Found, Source, State, looked_at};
use crate::app::manager::Findings;
use crate::config::Environment;
use crate::config::import::{ImportInput, Platform, Scope, Tool, read};
use crate::tui::action::{Action, Effect};
use crate::tui::ask::{Answer, Ask};
use crate::tui::harness::Deck;

pub const HOME: &str = "/home/ada";
const OURS: &str = "/home/ada/.config/mcpdeck/config.toml";

const CLAUDE: &str = r#"{"mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"]},
    "github": {"command": "docker", "args": ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server"],
        "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}},
    "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]},
    "deck": {"command": "mcpdeck", "args": ["serve"]}
}}"#;

const CURSOR: &str = r#"{"mcpServers": {
    "filesystem": {"command": "uvx", "args": ["files-server", "--root", "/home/ada"]},
    "calendar": {"url": "https://calendar.example.org/mcp", "headers": {"Authorization": "Bearer ${env:CALENDAR_TOKEN}"}},
    "weather": {"url": "https://weather.example.org/mcp?key=hunter22-long-secret", "disabled": true}
}}"#;

fn environment() -> Environment {
    let none: [(OsString, OsString); 0] = [];
    let (home, cwd) = (PathBuf::from(HOME), PathBuf::from("/home/ada/work"));
    Environment::new(none, Some(home), cwd)
}

fn source(tool: Tool, scope: Scope, file: &str, text: &str) -> Source {
    let environment = environment();
    let import = read(ImportInput {
        path: Path::new(file),
        text,
        tool: Some(tool),
        scope: &scope,
        platform: Platform::Unix,
        environment: &environment,
    });
    let (import, error) = match import {
        Ok(import) => (import.unwrap(), None),
        Err(error) => (crate::config::import::Import::default(), Some(error)),
    };
    let servers = import.servers.into_iter().map(|candidate| {
        let state = match candidate.name.as_str() {
            "memory" => State::Equal,
            "github" => State::Different,
            _ => State::New,
        };
        let ours = (state != State::New).then(|| Path::new(OURS).into());
        Found {
            candidate,
            state,
            ours,
        }
    });
    Source {
        tool: Some(tool),
        scope,
        file: file.into(),
        servers: servers.collect(),
        left_out: import.left_out,
        error,
    }
}

pub fn findings(sources: Vec<Source>) -> Findings {
    Findings {
        sources,
        places: looked_at(&LoadRequest {
            check_keys: |_| None,
            files: Vec::new(),
            settings_only: false,
            environment: environment(),
        }),
        target: Some(OURS.into()),
        followed: true,
    }
}

/// Two files with servers, and one that is broken.
pub fn full() -> Findings {
    findings(vec![
        source(
            Tool::ClaudeDesktop,
            Scope::User,
            "/home/ada/.config/Claude/claude_desktop_config.json",
            CLAUDE,
        ),
        source(
            Tool::Cursor,
            Scope::Project(Path::new("/home/ada/work").into()),
            "/home/ada/work/.cursor/mcp.json",
            CURSOR,
        ),
        source(
            Tool::Codex,
            Scope::User,
            "/home/ada/.codex/config.toml",
            "[mcp_servers.files\ncommand = \"npx\"\n",
        ),
    ])
}

/// One file with so many servers.
pub fn many(count: usize) -> Findings {
    let servers: Vec<String> = (0..count)
        .map(|nth| format!("\"server-{nth:04}\": {{\"command\": \"run-{nth}\"}}"))
        .collect();
    let text = format!("{{\"mcpServers\": {{{}}}}}", servers.join(","));
    let file = "/home/ada/.cursor/mcp.json";
    findings(vec![source(Tool::Cursor, Scope::User, file, &text)])
}

/// Opens the import, and lets it find these.
pub fn open(deck: &mut Deck, findings: Findings) {
    deck.model.home = Some(Path::new(HOME).into());
    let Some(Effect::Ask(ticket, Ask::Scan)) = deck.press("i") else {
        panic!("nothing is looked for");
    };
    let listing = Arc::new(Listing::new(findings));
    deck.act(Action::Answered(ticket, Answer::Scanned(Ok(listing))));
}
