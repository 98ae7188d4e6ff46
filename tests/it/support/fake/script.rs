//! The script: everything a fake server is, as JSON or built in Rust.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::listing::item;
use super::{Action, Listing, Page, Part, Reply, Rule};

/// A server, as a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Which handshakes it answers.
    pub era: Era,
    /// The version that `initialize` is answered with; the client's, if it is a known legacy one,
    /// when absent.
    pub protocol_version: Option<Value>,
    /// The versions in the answer to `server/discover`.
    pub supported_versions: Option<Vec<String>>,
    /// The capabilities, verbatim; made from the listings when absent.
    pub capabilities: Option<Value>,
    /// `serverInfo`, verbatim.
    pub server_info: Option<Value>,
    /// `instructions`, verbatim.
    pub instructions: Option<Value>,
    /// `ttlMs` of modern results; 0 when absent.
    pub ttl_ms: Option<u64>,
    /// The filter that `subscriptions/listen` is acknowledged with; the asked one when absent.
    pub acknowledge: Option<Value>,
    /// Listings by method. A list method without one is answered with -32601.
    pub listings: BTreeMap<String, Listing>,
    /// Rules, which win over everything else.
    pub rules: Vec<Rule>,
    /// Done at the start, before anything is read.
    pub start: Vec<Action>,
    /// Done after `notifications/initialized`.
    pub initialized: Vec<Action>,
    /// Done after `subscriptions/listen` was acknowledged.
    pub listening: Vec<Action>,
    /// Done before every request is looked at.
    pub each_request: Vec<Action>,
    /// Done after every answer to a list method.
    pub each_list: Vec<Action>,
    /// How the process behaves.
    pub process: Process,
    /// How it behaves over HTTP.
    pub http: HttpScript,
}

/// Which handshakes a fake answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// `initialize` only; `server/discover` is -32601 unless a rule says otherwise.
    #[default]
    Legacy,
    /// `server/discover` only; `initialize` is -32601 unless a rule says otherwise.
    Modern,
    /// Both.
    Both,
}

/// How the process behaves beside the protocol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Process {
    /// Waits before it reads anything.
    pub start_delay_ms: u64,
    /// Never reads its stdin (and so never notices its end).
    pub never_read: bool,
    /// Lives on when its stdin ends.
    pub ignore_eof: bool,
    /// Waits between the end of its stdin and its exit.
    pub linger_ms: u64,
    /// The status with which it exits after the end of its stdin.
    pub eof_code: i32,
    /// What TERM does.
    pub sigterm: Sigterm,
    /// A child that it starts first.
    pub grandchild: Option<Grandchild>,
}

/// What TERM does. It is recorded unless it has its default effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sigterm {
    /// Ends the process, as usual.
    #[default]
    Default,
    /// Nothing.
    Ignore,
    /// An orderly exit with this status.
    Exit(i32),
}

/// A child of the server, which keeps the pipes open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grandchild {
    /// Ignores TERM.
    pub ignore_term: bool,
    /// Leads a process group of its own.
    pub own_group: bool,
    /// How long it lives; 1,000 s when 0.
    pub seconds: u32,
}

/// How a fake behaves over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the JSON"
)]
pub struct HttpScript {
    /// Hands out no session ids.
    pub stateless: bool,
    /// Answers requests as SSE streams instead of JSON.
    pub sse: bool,
    /// Answers GET with 405 instead of a stream.
    pub no_get: bool,
    /// Requires this bearer token; else 401.
    pub bearer: Option<String>,
    /// The `WWW-Authenticate` header of a 401; `Bearer` when absent.
    pub www_authenticate: Option<String>,
    /// Speaks the legacy HTTP+SSE transport (`GET /sse`, `POST /messages`) instead of `/mcp`.
    pub legacy_sse: bool,
    /// The data of the legacy `endpoint` event, `{base}` substituted; `/messages?sessionId=...`
    /// when absent.
    pub endpoint: Option<String>,
    /// Fixed answers of other paths, for log-in metadata and the like.
    pub routes: Vec<Route>,
}

/// A fixed answer for a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Route {
    /// `GET`, `POST`, ...
    pub verb: String,
    /// The path, without the query.
    pub path: String,
    /// The status; 200 when 0.
    pub status: u16,
    /// Headers, `{base}` (as in `http://127.0.0.1:1234`) substituted.
    pub headers: BTreeMap<String, String>,
    /// The body, `{base}` substituted.
    pub body: String,
}

impl Script {
    /// A legacy server that declares nothing yet.
    pub fn legacy() -> Self {
        Self::default()
    }

    /// A modern server (2026-07-28) that declares nothing yet.
    pub fn modern() -> Self {
        Self {
            era: Era::Modern,
            ..Self::default()
        }
    }

    /// A server of both eras that declares nothing yet.
    pub fn both() -> Self {
        Self {
            era: Era::Both,
            ..Self::default()
        }
    }

    /// Sets the listing of a method, and so declares its capability.
    pub fn listing(mut self, method: &str, listing: Listing) -> Self {
        self.listings.insert(method.to_owned(), listing);
        self
    }

    /// Resources in pages.
    pub fn resources(self, pages: Vec<Page>) -> Self {
        self.listing("resources/list", Listing::Pages(pages))
    }

    /// Resource templates in pages.
    pub fn templates(self, pages: Vec<Page>) -> Self {
        self.listing("resources/templates/list", Listing::Pages(pages))
    }

    /// Items with these names on one page of a method, as [`Listing::named`].
    pub fn named(self, method: &str, names: &[&str]) -> Self {
        self.listing(method, Listing::named(method, names))
    }

    /// Generated items in pages.
    pub fn generated(self, method: &str, items: usize, page_size: usize) -> Self {
        self.listing(method, Listing::generated(items, page_size))
    }

    /// One item in each of the four listings: `one` (the template `fake:///one/{id}`).
    pub fn sample(mut self) -> Self {
        for method in LIST_METHODS {
            self = self.listing(method, Listing::of(vec![item(method, "one")]));
        }
        self
    }

    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a rule for every message of a method.
    pub fn on(self, method: &str, reply: Reply) -> Self {
        self.rule(Rule::on(method, reply))
    }

    /// Adds a rule for the nth message of a method, counted from 1.
    pub fn on_nth(self, method: &str, nth: u64, reply: Reply) -> Self {
        self.rule(Rule::on(method, reply).nth(nth))
    }

    /// Answers `resources/templates/list` with an error.
    pub fn templates_error(self, code: i64) -> Self {
        self.on(
            "resources/templates/list",
            Reply::error(code, "no such method"),
        )
    }

    /// Answers `server/discover` with an error.
    pub fn discover_error(self, code: i64) -> Self {
        self.on("server/discover", Reply::error(code, "what is this?"))
    }

    /// Never answers `server/discover`.
    pub fn discover_silent(self) -> Self {
        self.on("server/discover", Reply::silence())
    }

    /// Exits on `server/discover`.
    pub fn discover_exits(self, code: i32) -> Self {
        self.on(
            "server/discover",
            Reply::exit(code, "unknown request, good bye\n"),
        )
    }

    /// Answers a read of this URI with a text.
    pub fn read_text(self, uri: &str, text: &str) -> Self {
        let contents = json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]});
        self.read(uri, Reply::result(contents))
    }

    /// Answers a read of this URI with a blob, already in Base64.
    pub fn read_blob(self, uri: &str, mime_type: &str, blob: &str) -> Self {
        let contents = json!({"contents": [{"uri": uri, "mimeType": mime_type, "blob": blob}]});
        self.read(uri, Reply::result(contents))
    }

    /// Answers a read of this URI.
    pub fn read(self, uri: &str, reply: Reply) -> Self {
        self.rule(Rule::on("resources/read", reply).params(json!({"uri": uri})))
    }

    /// Declares exactly these capabilities.
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Answers `initialize` with this version, whatever was asked for.
    pub fn version(mut self, version: &str) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Writes text to stdout before anything else.
    pub fn banner(mut self, text: &str) -> Self {
        self.start.push(Action::stdout(text));
        self
    }

    /// Writes text to stdout before every request.
    pub fn noise(mut self, text: &str) -> Self {
        self.each_request
            .push(Action::WriteStdout(vec![Part::from(text)]));
        self
    }

    /// Does something at the start.
    pub fn at_start(mut self, action: Action) -> Self {
        self.start.push(action);
        self
    }

    /// Does something after `notifications/initialized`.
    pub fn after_initialized(mut self, action: Action) -> Self {
        self.initialized.push(action);
        self
    }

    /// Does something after `subscriptions/listen` was acknowledged.
    pub fn after_listening(mut self, action: Action) -> Self {
        self.listening.push(action);
        self
    }

    /// Does something after every answer to a list method.
    pub fn after_each_list(mut self, action: Action) -> Self {
        self.each_list.push(action);
        self
    }

    /// Changes how the process behaves.
    pub fn process(mut self, change: impl FnOnce(&mut Process)) -> Self {
        change(&mut self.process);
        self
    }

    /// Changes how it behaves over HTTP.
    pub fn http(mut self, change: impl FnOnce(&mut HttpScript)) -> Self {
        change(&mut self.http);
        self
    }
}

/// The four list methods.
pub const LIST_METHODS: [&str; 4] = [
    "resources/list",
    "resources/templates/list",
    "tools/list",
    "prompts/list",
];
