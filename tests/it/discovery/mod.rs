//! How resources, templates, tools and prompts are listed: a case for each sentence of section 5
//! of the contract, and for those of 4.7 to 4.9 and 6 that discovery depends on.
//!
//! Most cases drive the whole engine against a fake in the same process, in paused time; `binary`
//! and `hostile` run the real program. Requests are counted where they arrive.

mod binary;
mod bounds;
mod codes;
mod demand;
mod epochs;
mod hostile;
mod malformed;
mod pages;
mod peer;
mod refresh;
mod text;
mod transaction;
mod wire;

use std::net::SocketAddr;
use std::process::Command;

use mcpdeck::domain::ListMethod;

use crate::support::fake::Script;
use crate::support::program::{Home, Ran, remote};
use crate::support::rig::{discovered, listing};

/// Checks what is shown of one listing after the first discovery, and how many requests it took.
async fn check(method: ListMethod, script: Script, shown: &str, requests: usize) {
    let (server, fake) = discovered(script).await;
    let listed = listing(&server, method);
    let asked = fake.count(method.name()).await;
    assert_eq!((listed.as_str(), asked), (shown, requests));
}

/// As [`check`], for resource templates.
async fn check_templates(script: Script, shown: &str, requests: usize) {
    check(ListMethod::ResourceTemplates, script, shown, requests).await;
}

/// The real program and its servers, which speak the era with `initialize`.
struct Program {
    home: Home,
    tables: Vec<String>,
}

impl Program {
    fn new() -> Self {
        Self {
            home: Home::new(),
            tables: Vec::new(),
        }
    }

    /// Adds a fake that speaks over stdio.
    fn server(mut self, name: &str, script: &Script) -> Self {
        let table = self.home.table(name, script);
        self.tables.push(table + "protocol = \"legacy\"\n");
        self
    }

    /// Adds the server of this address.
    fn url(mut self, name: &str, address: SocketAddr) -> Self {
        let table = remote(name, &format!("http://{address}/mcp"));
        self.tables.push(table + "protocol = \"legacy\"\n");
        self
    }

    /// The command that lists, to be run.
    fn listing(&self, what: &str) -> Command {
        let tables: Vec<&str> = self.tables.iter().map(String::as_str).collect();
        self.home.configure(&tables);
        self.home.program(&["list", what, "--json"])
    }

    /// Lists as JSON.
    fn list(&self, what: &str) -> Ran {
        self.home.finish(self.listing(what))
    }

    /// How often a fake was asked.
    fn count(&self, name: &str, method: &str) -> usize {
        let asked = self.home.asked(name);
        asked.iter().filter(|asked| *asked == method).count()
    }
}
