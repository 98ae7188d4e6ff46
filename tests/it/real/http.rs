//! Servers of others over HTTP: in both eras, with and without streams and sessions, and on the
//! older transport.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{DEADLINE, Deck, repository_file};

/// A server that listens on a port of this machine; it ends with this value.
pub struct Listening {
    process: Child,
    address: SocketAddr,
}

impl Listening {
    /// server-everything with this transport.
    pub fn everything(deck: &Deck, transport: &str) -> Result<Self> {
        Self::start(|port| {
            let mut command = Command::new(deck.node("mcp-server-everything"));
            command.arg(transport).env("PORT", port);
            command
        })
    }

    /// `http_server.py` with this interpreter, this transport, and these flags.
    fn python(interpreter: &str, transport: &str, flags: &[&str]) -> Result<Self> {
        Self::start(|port| {
            let mut command = Command::new(interpreter);
            let script = repository_file("tests/real/servers/http_server.py");
            command.args([&script, transport, port]).args(flags);
            command
        })
    }

    fn start(command: impl FnOnce(&str) -> Command) -> Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let process = command(&address.port().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the server did not start")?;
        Ok(Self { process, address })
    }

    /// Waits until it accepts connections.
    pub async fn ready(self) -> Result<Self> {
        let accepts = async {
            let mut attempts = tokio::time::interval(Duration::from_millis(20));
            while tokio::net::TcpStream::connect(self.address).await.is_err() {
                attempts.tick().await;
            }
        };
        tokio::time::timeout(DEADLINE, accepts)
            .await
            .context("the server does not accept connections")?;
        Ok(self)
    }

    /// Its endpoint.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
#[ignore = "needs the servers of tests/real, see .ci/run"]
async fn every_way_to_serve_over_http_is_listed() -> Result<()> {
    let mut deck = Deck::new()?;
    let streamable: [(&str, &[&str]); 4] = [
        ("streams", &[]),
        ("bodies", &["json"]),
        ("stateless", &["stateless"]),
        ("plain", &["json", "stateless"]),
    ];
    let mut started = Vec::new();
    let interpreters = [
        (deck.python("python"), "2", "2026-07-28"),
        (deck.python_mcp1("python"), "1", "2025-11-25"),
    ];
    for (interpreter, sdk, version) in &interpreters {
        for (name, flags) in streamable {
            let server = Listening::python(interpreter, "streamable-http", flags)?;
            started.push((format!("{name}{sdk}"), "mcp", *version, server));
        }
        let server = Listening::python(interpreter, "sse", &[])?;
        started.push((format!("sse{sdk}"), "sse", "2025-11-25", server));
    }
    let everything = Listening::everything(&deck, "sse")?;
    started.push(("everything".to_owned(), "sse", "2025-11-25", everything));
    let mut servers = Vec::new();
    for (name, path, version, server) in started {
        let server = server.ready().await?;
        deck.add_url(&name, &server.url(path));
        servers.push((name, path, version, server));
    }

    let listed = deck.list_all(0)?;
    listed.check_errors(0);
    for (name, path, version, _) in &servers {
        let transport = if *path == "sse" { "sse" } else { "http" };
        let lists = match name.as_str() {
            "everything" => [Some(14), Some(4), Some(7), Some(2)],
            _ => [Some(1); 4],
        };
        listed.check(name, transport, version, lists)?;
        let uri = match name.as_str() {
            "everything" => "demo://resource/static/document/features.md",
            _ => "notes://today",
        };
        let output = deck.run(&["read", name, uri, "--json"])?;
        ensure!(output.status.code() == Some(0), "{name}: {output:?}");
        let read: Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(read["contents"][0]["uri"], uri, "{name}");
        assert_eq!(read["contents"][0]["mimeType"], "text/markdown", "{name}");
    }
    Ok(())
}
