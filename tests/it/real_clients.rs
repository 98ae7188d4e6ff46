//! `mcpdeck serve`, driven by clients that others wrote: the official SDKs for Python and
//! TypeScript, fastmcp, and the Inspector's command line.
//!
//! They run on request only: `.ci/run` installs what `tests/real` pins into the folder that
//! `MCPDECK_REAL_SERVERS` names, and runs them. Each takes the same walk (`walk.py`, `walk.mjs`)
//! over the demo server and one that cannot start, and prints what it saw. The TypeScript SDKs
//! and the Inspector validate structured content against the output schemas on their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::serve::listening::Server;
use crate::support::program::{Home, table, until, wait};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcpdeck");
const WELCOME: &str = "mcpdeck://demo/r/demo%3A%2F%2Fwelcome";

/// Who drives, and how it is started.
#[derive(Debug, Clone, Copy)]
enum Driver {
    /// With version 2 of the SDK.
    Python(&'static str),
    /// With version 1 of the SDK.
    PythonV1(&'static str),
    TypeScript(&'static str),
}

/// How the client reaches us.
#[derive(Debug, Clone, Copy)]
enum Way<'a> {
    Stdio,
    Http(&'a Server<'a>),
}

struct Setup {
    home: Home,
    installed: PathBuf,
}

impl Setup {
    fn new() -> Result<Self> {
        let installed = std::env::var_os("MCPDECK_REAL_SERVERS")
            .context("MCPDECK_REAL_SERVERS names no folder; .ci/run installs one")?;
        let home = Home::new();
        let demo = [PROGRAM, "demo-server"].map(str::to_owned);
        let missing = "[servers.missing]\ncommand = 'mcpdeck-no-such-command'\n";
        home.configure(&[&table("demo", &demo), missing]);
        Ok(Self {
            home,
            installed: installed.into(),
        })
    }

    fn serve_line(&self) -> Vec<String> {
        let config = self.home.path(".config/mcpdeck/config.toml");
        let config = config.display().to_string();
        [PROGRAM, "serve", "--config", &config]
            .map(str::to_owned)
            .into()
    }

    /// Node 22: the Inspector needs it, and the others take it as well.
    fn node(&self) -> PathBuf {
        self.clients().join("node_modules/.bin/node")
    }

    fn clients(&self) -> PathBuf {
        self.installed.join("clients")
    }

    /// Runs a client to its end and returns the one JSON object that it prints.
    fn run(&self, program: &Path, args: &[String]) -> Result<Value> {
        let child = Command::new(program)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.root())
            .env("MCP_INSPECTOR_SECRET_STORE", "memory")
            .current_dir(self.home.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let ran = wait(child);
        ensure!(ran.code == Some(0), "{args:?}: {ran:?}");
        serde_json::from_str(&ran.stdout).with_context(|| format!("{args:?}: {ran:?}"))
    }

    fn walk(&self, driver: Driver, mode: &str, way: Way<'_>) -> Result<Value> {
        let script = match driver {
            Driver::Python(script) | Driver::PythonV1(script) | Driver::TypeScript(script) => {
                script
            }
        };
        let script = self.clients().join(script).display().to_string();
        let mut args = vec![script, mode.to_owned()];
        match way {
            Way::Stdio => {
                args.push("stdio".to_owned());
                args.extend(self.serve_line());
            }
            Way::Http(server) => args.extend([
                "http".to_owned(),
                format!("http://{}/mcp", server.address),
                server.token.clone(),
            ]),
        }
        match driver {
            Driver::Python(_) => self.run(&self.installed.join("venv/bin/python"), &args),
            Driver::PythonV1(_) => self.run(&self.installed.join("venv-mcp1/bin/python"), &args),
            Driver::TypeScript(_) => self.run(&self.node(), &args),
        }
    }

    /// Lets the client take its walk in both ways.
    fn check(&self, driver: Driver, mode: &str, version: &str) -> Result<()> {
        let saw = self.walk(driver, mode, Way::Stdio)?;
        check_walk(&saw, version);
        until("nothing is left", || self.home.left().is_empty());
        let server = Server::start(&self.home, &[], None);
        let saw = self.walk(driver, mode, Way::Http(&server))?;
        check_walk(&saw, version);
        server.end();
        Ok(())
    }

    /// Runs the Inspector's command line with these arguments about the server.
    fn inspect(&self, server: &[String], args: &[&str]) -> Result<Value> {
        let inspector = self.clients().join("node_modules/.bin/mcp-inspector");
        let mut all = vec![inspector.display().to_string(), "--cli".to_owned()];
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        all.extend(server.iter().cloned());
        self.run(&self.node(), &all)
    }
}

fn check_walk(saw: &Value, version: &str) {
    assert_eq!(saw["version"], version);
    assert_eq!(
        saw["tools"],
        json!([
            "list_mcp_resources",
            "list_mcp_resource_templates",
            "read_mcp_resource",
            "list_mcp_servers"
        ])
    );
    check_templates(&saw["templates"]);

    let unknown = "Server \"nobody\" not found. Available servers: demo, missing";
    assert_eq!(saw["unknown"]["isError"], true);
    assert_eq!(saw["unknown"]["text"], json!([unknown]));

    let servers = saw["servers"]["structured"]["servers"].as_array().unwrap();
    assert_eq!(servers[0]["status"], "connected");
    assert_eq!(servers[1]["status"], "failed");

    let text = &saw["read"]["structured"]["contents"][0]["text"];
    assert!(text.as_str().unwrap().starts_with("# Welcome aboard"));
    assert_eq!(&saw["native"], text);
    let has = |list: &str, uri: &str| saw[list].as_array().unwrap().contains(&json!(uri));
    assert!(has("resources", WELCOME), "{}", saw["resources"]);
    let template = "mcpdeck://demo/t/demo://squares{?from,to}";
    assert!(
        has("resourceTemplates", template),
        "{}",
        saw["resourceTemplates"]
    );
    let filled: Value = serde_json::from_str(saw["filled"].as_str().unwrap()).unwrap();
    assert_eq!(filled["squares"][1], json!({"number": 3, "square": 9}));
}

/// The demo server's templates beside the reason why the other server gave none.
fn check_templates(answer: &Value) {
    assert_eq!(answer["isError"], false, "{answer}");
    let templates = &answer["structured"]["resourceTemplates"];
    assert_eq!(templates.as_array().map(Vec::len), Some(3), "{answer}");
    let first: Value = serde_json::from_str(answer["text"][0].as_str().unwrap()).unwrap();
    assert_eq!(&first, templates);
    let second = answer["text"][1].as_str().unwrap();
    assert!(
        second.starts_with("Server \"missing\" is not connected (failed: "),
        "{second}"
    );
    assert_eq!(answer["structured"]["errors"][0]["server"], "missing");
}

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

#[test]
#[ignore = "needs the clients of tests/real, see .ci/run"]
fn the_official_python_clients_drive_it_in_both_eras() -> Result<()> {
    let setup = Setup::new()?;
    setup.check(Driver::PythonV1("sdk_v1.py"), "legacy", LEGACY)?;
    setup.check(Driver::Python("sdk.py"), "legacy", LEGACY)?;
    setup.check(Driver::Python("sdk.py"), "auto", MODERN)
}

#[test]
#[ignore = "needs the clients of tests/real, see .ci/run"]
fn the_client_of_fastmcp_drives_it_in_both_eras() -> Result<()> {
    let setup = Setup::new()?;
    setup.check(Driver::Python("fastmcp_client.py"), "legacy", LEGACY)?;
    setup.check(Driver::Python("fastmcp_client.py"), "auto", MODERN)
}

#[test]
#[ignore = "needs the clients of tests/real, see .ci/run"]
fn the_official_typescript_clients_drive_it_in_both_eras() -> Result<()> {
    let setup = Setup::new()?;
    setup.check(Driver::TypeScript("sdk1.mjs"), "legacy", LEGACY)?;
    setup.check(Driver::TypeScript("sdk2.mjs"), "legacy", LEGACY)?;
    setup.check(Driver::TypeScript("sdk2.mjs"), "auto", MODERN)
}

#[test]
#[ignore = "needs the clients of tests/real, see .ci/run"]
fn the_inspector_drives_it_over_stdio_and_http() -> Result<()> {
    let setup = Setup::new()?;
    let line = setup.serve_line();
    let servers = json!({"mcpServers": {"deck": {
        "type": "stdio", "command": line[0], "args": line[1..],
    }}});
    setup.home.write("mcp.json", &servers.to_string());
    let file = setup.home.path("mcp.json").display().to_string();
    let server = Server::start(&setup.home, &[], None);
    let stdio = ["--config", &file, "--server", "deck"].map(str::to_owned);
    let http = [
        "--transport".to_owned(),
        "http".to_owned(),
        "--server-url".to_owned(),
        format!("http://{}/mcp", server.address),
        "--header".to_owned(),
        format!("Authorization: Bearer {}", server.token),
    ];
    for way in [&stdio[..], &http] {
        // With --strict a schema that some model provider cannot take ends it with 6.
        let listed = setup.inspect(way, &["--method", "tools/list", "--strict"])?;
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(4));
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            "list_mcp_resource_templates",
        ];
        let result = setup.inspect(way, &call)?;
        check_templates(&json!({
            "isError": result["isError"],
            "structured": result["structuredContent"],
            "text": [result["content"][0]["text"], result["content"][1]["text"]],
        }));
        let read = setup.inspect(way, &["--method", "resources/read", "--uri", WELCOME])?;
        let text = read["contents"][0]["text"].as_str().context("no text")?;
        assert!(text.starts_with("# Welcome aboard"), "{text}");
    }
    server.end();
    Ok(())
}
