//! Servers that others wrote, listed and read by the real binary.
//!
//! They come from npm and `PyPI`, so these tests run on request only: `.ci/run` installs what
//! `tests/real` pins into the folder that `MCPDECK_REAL_SERVERS` names, and runs them.
//!
//! What each answers, tried by hand with single JSON-RPC messages (tools / prompts / resources /
//! templates; a dash where the capability is not declared):
//!
//! | server | answer to `server/discover` | lists |
//! |---|---|---|
//! | server-everything 2026.8.31 | -32601; over HTTP 400 with -32000 and a null id | 14 / 4 / 7 / 2 |
//! | server-filesystem 2026.8.31 | -32601 | 14 / - / - / - |
//! | server-memory 2026.8.31 | -32601 | 9 / - / 1 / 0 |
//! | mcp-server-git 2026.10.19 | 2026-07-28 alone, refuses `initialize` with -32022 | 12 / 0 / 0 / 0 |
//! | mcp-server-time 2026.10.19 | the same | 2 / 0 / 0 / 0 |
//! | lowlevel.py on mcp 2.3.0 | the same | - / - / 1 / -32601 |
//! | `fastmcp_server.py` on fastmcp 4.2.3 | the same | 1 / 1 / 1 / 1 |
//! | lowlevel.py on mcp 1.30.0 | -32602, and three screens of complaint on stderr | - / - / 1 / -32601 |
//! | mcp-server-sqlite 2025.4.25 on mcp 1.30.0 | the same | 6 / 1 / 1 / -32601 |
//! | `http_server.py` on mcp 2.3.0 | 2026-07-28 and older ones; over SSE older ones alone | 1 / 1 / 1 / 1 |
//! | `http_server.py` on mcp 1.30.0 | HTTP 400 | 1 / 1 / 1 / 1 |
//!
//! server-everything sends `roots/list` 350 ms after `initialized`; with that request unanswered
//! it lives on for 60 s after its stdin was closed, so it must be told to end.

mod http;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use toml_edit::{Array, Value as Toml};

use self::http::Listening;
use crate::deck::Terminal;
use crate::support::program::{Home, left_of, table};

/// Long enough for an interpreter to start on a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// A home of our own with a config file. Its path marks every process that is started from it, as
/// `HOME` is passed on to servers.
struct Deck {
    home: TempDir,
    installed: PathBuf,
    config: Vec<String>,
}

impl Deck {
    fn new() -> Result<Self> {
        let installed = std::env::var_os("MCPDECK_REAL_SERVERS")
            .context("MCPDECK_REAL_SERVERS names no folder; .ci/run installs one")?;
        Ok(Self {
            home: tempfile::tempdir()?,
            installed: installed.into(),
            config: Vec::new(),
        })
    }

    fn node(&self, command: &str) -> String {
        self.installed_path(&["node_modules", ".bin", command])
    }

    /// A command of the environment with version 2 of the SDK.
    fn python(&self, command: &str) -> String {
        self.installed_path(&["venv", "bin", command])
    }

    /// A command of the environment with version 1 of the SDK.
    fn python_mcp1(&self, command: &str) -> String {
        self.installed_path(&["venv-mcp1", "bin", command])
    }

    fn installed_path(&self, parts: &[&str]) -> String {
        let path = parts
            .iter()
            .fold(self.installed.clone(), |path, part| path.join(part));
        path.display().to_string()
    }

    fn at_home(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    fn add(&mut self, name: &str, command: &str, args: &[&str]) {
        let command = Toml::from(command);
        let args = Toml::from(args.iter().copied().collect::<Array>());
        self.config.push(format!(
            "[servers.{name}]\ncommand = {command}\nargs = {args}\n"
        ));
    }

    fn add_url(&mut self, name: &str, url: &str) {
        let url = Toml::from(url);
        self.config.push(format!("[servers.{name}]\nurl = {url}\n"));
    }

    /// Sets a variable in the environment of the server that was added last.
    fn set(&mut self, name: &str, value: &str) {
        self.config
            .push(format!("env.{name} = {}\n", Toml::from(value)));
    }

    /// Runs mcpdeck, and checks that nothing that it started is left when it has ended.
    fn run(&self, args: &[&str]) -> Result<Output> {
        let config = self.home.path().join("config.toml");
        fs::write(&config, self.config.concat())?;
        let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_mcpdeck"))
            .args(args)
            .arg("--config")
            .arg(&config)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .timeout(DEADLINE)
            .output()?;
        let left = left_of(self.home.path());
        ensure!(left.is_empty(), "still running: {left:?}");
        Ok(output)
    }

    fn list_all(&self, exit_code: i32) -> Result<Listed> {
        let output = self.run(&["list", "all", "--json"])?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(exit_code),
            "{:?}: {stderr}",
            output.status
        );
        Ok(Listed(serde_json::from_slice(&output.stdout)?))
    }
}

/// The object that `list all --json` prints.
struct Listed(Value);

impl Listed {
    fn server(&self, name: &str) -> Result<&Value> {
        let servers = self.0["servers"].as_array().context("no servers")?;
        servers
            .iter()
            .find(|server| server["name"] == name)
            .with_context(|| format!("{name} is not listed"))
    }

    fn names(&self) -> Vec<&str> {
        let servers = self.0["servers"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        servers
            .iter()
            .filter_map(|server| server["name"].as_str())
            .collect()
    }

    /// The values of `field` in the list `kind` that belong to one server.
    fn of(&self, kind: &str, server: &str, field: &str) -> Vec<&str> {
        let items = self.0[kind]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        items
            .iter()
            .filter(|item| item["server"] == server)
            .filter_map(|item| item[field].as_str())
            .collect()
    }

    /// Checks that a server is connected, how, and that it has exactly these lists: tools,
    /// prompts, resources, templates.
    fn check(
        &self,
        name: &str,
        transport: &str,
        version: &str,
        lists: [Option<usize>; 4],
    ) -> Result<()> {
        let server = self.server(name)?;
        assert_eq!(server["status"], "connected", "{server}");
        assert_eq!(server["error"], Value::Null, "{server}");
        assert_eq!(server["transport"], transport, "{server}");
        assert_eq!(server["protocolVersion"], version, "{server}");
        // A listing that takes its time comes in a generation of its own.
        assert!(server["generation"].as_u64() >= Some(1), "{server}");
        let [tools, prompts, resources, templates] = lists;
        let counts = json!({
            "resources": resources,
            "resourceTemplates": templates,
            "tools": tools,
            "prompts": prompts,
        });
        assert_eq!(server["counts"], counts, "{name}");
        for (kind, field, count) in [
            ("tools", "name", tools),
            ("prompts", "name", prompts),
            ("resources", "uri", resources),
            ("resourceTemplates", "uriTemplate", templates),
        ] {
            let found = self.of(kind, name, field).len();
            assert_eq!(found, count.unwrap_or(0), "{kind} of {name}");
        }
        Ok(())
    }

    /// Checks that a server failed to connect, and that the reason holds all of `parts`.
    fn check_failed(&self, name: &str, parts: &[&str]) -> Result<()> {
        let server = self.server(name)?;
        assert_eq!(server["status"], "failed", "{server}");
        assert_eq!(server["error"]["kind"], "connect", "{server}");
        assert_eq!(server["error"]["method"], Value::Null, "{server}");
        let message = server["error"]["message"].as_str().context("no message")?;
        for part in parts {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
        let errors = self.0["errors"].as_array().context("no errors")?;
        let same = |error: &&Value| error["server"] == name && error["message"] == message;
        assert_eq!(errors.iter().filter(same).count(), 1, "{errors:?}");
        Ok(())
    }

    fn check_errors(&self, count: usize) {
        let errors = self.0["errors"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        assert!(
            self.0["errors"].is_array() && errors.len() == count,
            "{errors:?}"
        );
    }
}

fn repository_file(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(path)
        .display()
        .to_string()
}

#[tokio::test]
#[ignore = "needs the servers of tests/real, see .ci/run"]
async fn two_failing_servers_leave_five_healthy_ones_whole() -> Result<()> {
    let mut deck = Deck::new()?;
    let everything = Listening::everything(&deck, "streamableHttp")?
        .ready()
        .await?;
    let repository = deck.at_home("repository");
    let made = Command::new("git")
        .args(["init", "--quiet", &repository])
        .status()?;
    ensure!(made.success(), "git init: {made}");

    deck.add_url("everything", &everything.url("mcp"));
    deck.add("missing", "mcpdeck-no-such-command", &[]);
    let (command, home) = (deck.node("mcp-server-filesystem"), deck.at_home(""));
    deck.add("filesystem", &command, &[&home]);
    let (command, memory) = (deck.node("mcp-server-memory"), deck.at_home("memory.json"));
    deck.add("memory", &command, &[]);
    deck.set("MEMORY_FILE_PATH", &memory);
    let complaint = "echo 'no such database: /nowhere' >&2; exit 17";
    deck.add("broken", "sh", &["-c", complaint]);
    let command = deck.python("mcp-server-git");
    deck.add("git", &command, &["--repository", &repository]);
    let (command, database) = (
        deck.python_mcp1("mcp-server-sqlite"),
        deck.at_home("test.db"),
    );
    deck.add("sqlite", &command, &["--db-path", &database]);

    let listed = deck.list_all(3)?;
    let names = [
        "everything",
        "missing",
        "filesystem",
        "memory",
        "broken",
        "git",
        "sqlite",
    ];
    assert_eq!(listed.names(), names);
    listed.check(
        "everything",
        "http",
        "2025-11-25",
        [Some(14), Some(4), Some(7), Some(2)],
    )?;
    listed.check(
        "filesystem",
        "stdio",
        "2025-11-25",
        [Some(14), None, None, None],
    )?;
    listed.check(
        "memory",
        "stdio",
        "2025-11-25",
        [Some(9), None, Some(1), Some(0)],
    )?;
    listed.check(
        "git",
        "stdio",
        "2026-07-28",
        [Some(12), Some(0), Some(0), Some(0)],
    )?;
    listed.check(
        "sqlite",
        "stdio",
        "2025-11-25",
        [Some(6), Some(1), Some(1), Some(0)],
    )?;
    listed.check_failed("missing", &["mcpdeck-no-such-command", "command not found"])?;
    listed.check_failed("broken", &["no such database: /nowhere", "17"])?;
    listed.check_errors(2);

    let templates = [
        "demo://resource/dynamic/text/{resourceId}",
        "demo://resource/dynamic/blob/{resourceId}",
    ];
    assert_eq!(
        listed.of("resourceTemplates", "everything", "uriTemplate"),
        templates
    );
    assert_eq!(
        listed.of("resources", "memory", "uri"),
        ["memory://knowledge-graph"]
    );
    assert_eq!(
        listed.server("filesystem")?["capabilities"],
        json!(["tools"])
    );
    Ok(())
}

#[test]
#[ignore = "needs the servers of tests/real, see .ci/run"]
fn python_servers_of_both_eras_are_listed() -> Result<()> {
    let mut deck = Deck::new()?;
    let repository = deck.at_home("repository");
    let made = Command::new("git")
        .args(["init", "--quiet", &repository])
        .status()?;
    ensure!(made.success(), "git init: {made}");
    let lowlevel = repository_file("tests/real/servers/lowlevel.py");

    let command = deck.python("mcp-server-git");
    deck.add("git", &command, &["--repository", &repository]);
    let command = deck.python("mcp-server-time");
    deck.add("time", &command, &[]);
    let command = deck.python("python");
    deck.add("lowlevel", &command, &[&lowlevel]);
    deck.add(
        "fastmcp",
        &command,
        &[&repository_file("tests/real/servers/fastmcp_server.py")],
    );
    let (command, database) = (
        deck.python_mcp1("mcp-server-sqlite"),
        deck.at_home("test.db"),
    );
    deck.add("sqlite", &command, &["--db-path", &database]);
    let command = deck.python_mcp1("python");
    deck.add("lowlevel1", &command, &[&lowlevel]);

    let listed = deck.list_all(0)?;
    listed.check_errors(0);
    listed.check(
        "git",
        "stdio",
        "2026-07-28",
        [Some(12), Some(0), Some(0), Some(0)],
    )?;
    listed.check(
        "time",
        "stdio",
        "2026-07-28",
        [Some(2), Some(0), Some(0), Some(0)],
    )?;
    listed.check(
        "lowlevel",
        "stdio",
        "2026-07-28",
        [None, None, Some(1), Some(0)],
    )?;
    listed.check("fastmcp", "stdio", "2026-07-28", [Some(1); 4])?;
    listed.check(
        "sqlite",
        "stdio",
        "2025-11-25",
        [Some(6), Some(1), Some(1), Some(0)],
    )?;
    listed.check(
        "lowlevel1",
        "stdio",
        "2025-11-25",
        [None, None, Some(1), Some(0)],
    )?;
    assert_eq!(
        listed.of("resourceTemplates", "fastmcp", "uriTemplate"),
        ["notes://{day}/{topic}"]
    );
    assert_eq!(
        listed.server("lowlevel")?["capabilities"],
        json!(["resources"])
    );
    assert_eq!(listed.server("lowlevel")?["serverInfo"]["name"], "lowlevel");
    Ok(())
}

#[test]
#[ignore = "needs the servers of tests/real, see .ci/run"]
fn a_resource_is_read_byte_for_byte() -> Result<()> {
    let mut deck = Deck::new()?;
    let command = deck.node("mcp-server-everything");
    deck.add("everything", &command, &[]);
    let package = ["node_modules", "@modelcontextprotocol", "server-everything"];
    let document = Path::new(&deck.installed_path(&package)).join("dist/docs/features.md");
    let document = fs::read_to_string(document)?;
    let uri = "demo://resource/static/document/features.md";

    let output = deck.run(&["read", "everything", uri, "--json"])?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    let read: Value = serde_json::from_slice(&output.stdout)?;
    let contents = json!([{ "uri": uri, "mimeType": "text/markdown", "text": document }]);
    assert_eq!(
        read,
        json!({ "server": "everything", "uri": uri, "contents": contents })
    );

    let output = deck.run(&["read", "everything", uri])?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout)?, document);

    // It answers an unknown address with -32602.
    let output = deck.run(&["read", "everything", "demo://nowhere", "--json"])?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    Ok(())
}

/// In the deck: a template is filled in and read, and so are prompts, with what the server suggests
/// for the one argument depending on the other.
#[test]
#[ignore = "needs the servers of tests/real, see .ci/run"]
fn a_template_and_prompts_are_filled_in() -> Result<()> {
    let servers = Deck::new()?;
    let home = Home::new();
    let command = servers.node("mcp-server-everything");
    home.configure(&[&table("everything", &[command])]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.line_with(&["everything", "connected"]);
    deck.shows(&["7r 2t"]);
    deck.press("\r2\r");
    deck.shows(&["demo://resource/dynamic/text/{resourceId}"]);
    deck.line_with(&["▌ resourceId", "required"]);
    deck.press("42\r");
    deck.shows(&["Resource 42: This is a plaintext resource"]);
    deck.press("\x1b");
    deck.line_with(&["▌ resourceId", "42"]);
    deck.press("\x1b");
    deck.hides("▌ resourceId");
    deck.press("/blob\r\r");
    deck.line_with(&["▌ resourceId", "required"]);
    deck.press("7\r");
    deck.line_with(&["00000000", "Resource 7: This"]);
    deck.press("\x1b\x1b\x1b");
    deck.hides("▌ resourceId");
    deck.press("1");
    deck.shows(&["demo://resource/static/document/architecture.md"]);
    deck.press("/architecture\r\r");
    deck.shows(&["Everything Server"]);
    deck.press("\x1b");

    deck.press("4");
    deck.line_with(&["completable-prompt"]);
    deck.press("/completable\r\r");
    deck.line_with(&["▌ department", "required"]);
    deck.shows(&["Engineering", "Sales", "Marketing", "Support"]);
    deck.press("Sa");
    deck.hides("Marketing");
    deck.press("\x1b[B");
    deck.shows(&["›Sales"]);
    deck.press("\t");
    deck.line_with(&["▌ department", "Sales"]);
    deck.press("\t");
    deck.shows(&["David", "Eve", "Frank"]);
    deck.press("Eve\r");
    deck.shows(&["Please promote Eve to the head of the Sales team."]);
    deck.press("\x1b\x1b");
    deck.hides("▌ department");

    deck.press("/");
    deck.press("\x15resource-prompt\r\r");
    deck.line_with(&["▌ resourceType", "required"]);
    deck.press("Text\t7\r");
    deck.shows(&[
        "part 1 of 2",
        "This prompt includes the Text resource with id: 7",
    ]);
    deck.shows(&["[part 2]", "Resource 7: This is a plaintext resource"]);
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
    Ok(())
}
