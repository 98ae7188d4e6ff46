//! The JSON objects in which the faces without a screen tell of servers, their failures and their
//! items, and the one line that says a failure to a person.
//!
//! Field names and their order are those of the documented output. Everything is borrowed from a
//! snapshot; nothing is printed here.

use serde::Serialize;

use crate::domain::{
    AppState, DiscoveryError, Failure, FailureKind, ListMethod, ServerName, ServerSnapshot, text,
};

/// A server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerJson<'a> {
    /// Its name.
    pub name: &'a str,
    /// The status word.
    pub status: &'a str,
    /// `stdio`, `http` or `sse`.
    pub transport: &'a str,
    /// The agreed version, while connected.
    pub protocol_version: Option<&'a str>,
    /// What the server calls itself, while connected.
    pub server_info: Option<ServerInfoJson<'a>>,
    /// The sorted names of what it declared, while connected.
    pub capabilities: &'a [Box<str>],
    /// How many items each listing has.
    pub counts: CountsJson,
    /// Which catalog this is; 0 before the first.
    pub generation: u64,
    /// What is wrong with the connection.
    pub error: Option<ErrorJson<'a>>,
    /// The file that defines it.
    pub source: Option<String>,
}

/// What a server calls itself.
#[derive(Debug, Serialize)]
pub struct ServerInfoJson<'a> {
    /// Its own name.
    pub name: &'a str,
    /// Its own version.
    pub version: &'a str,
}

/// Items of each listing; null where there is no such listing, it failed, or it was not asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CountsJson {
    /// Concrete resources.
    pub resources: Option<usize>,
    /// Resource templates.
    pub resource_templates: Option<usize>,
    /// Tools.
    pub tools: Option<usize>,
    /// Prompts.
    pub prompts: Option<usize>,
}

/// A failure.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ErrorJson<'a> {
    /// Whose.
    pub server: &'a str,
    /// Which list method failed; null for the connection.
    pub method: Option<&'a str>,
    /// The word of its kind.
    pub kind: &'a str,
    /// The code of the server's error answer, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// What happened.
    pub message: &'a str,
}

/// An item with the name of its server.
#[derive(Debug, Serialize)]
pub struct ItemJson<'a, T> {
    /// Whose.
    pub server: &'a str,
    /// The fields of MCP.
    #[serde(flatten)]
    pub item: &'a T,
}

impl<'a> ErrorJson<'a> {
    /// The failure of a server.
    #[must_use]
    pub fn new(server: &'a ServerSnapshot, error: &'a DiscoveryError) -> Self {
        Self::of(server.name.as_str(), error.method, &error.failure)
    }

    /// A failure of the method, or of the connection.
    #[must_use]
    pub fn of(server: &'a str, method: Option<ListMethod>, failure: &'a Failure) -> Self {
        Self {
            server,
            method: method.map(ListMethod::name),
            kind: failure.kind.word(),
            code: failure.kind.code(),
            message: &failure.message,
        }
    }
}

impl<'a> ServerJson<'a> {
    /// The server as it stands.
    #[must_use]
    pub fn new(server: &'a ServerSnapshot) -> Self {
        let session = server.status.session();
        let count = |method| server.catalog.count(method);
        Self {
            name: server.name.as_str(),
            status: server.status.word(),
            transport: server.transport.word(),
            protocol_version: session.map(|session| &*session.protocol_version),
            server_info: session.map(|session| ServerInfoJson {
                name: &session.server_name,
                version: &session.server_version,
            }),
            capabilities: session.map_or(&[], |session| &session.capabilities),
            counts: CountsJson {
                resources: count(ListMethod::Resources),
                resource_templates: count(ListMethod::ResourceTemplates),
                tools: count(ListMethod::Tools),
                prompts: count(ListMethod::Prompts),
            },
            generation: server.generation.0,
            error: server
                .error(None)
                .map(|error| ErrorJson::new(server, error)),
            source: server
                .origin
                .as_ref()
                .map(|origin| origin.file.display().to_string()),
        }
    }
}

/// Every failure, in config order, that of the connection before those of its listings.
pub fn all_errors(state: &AppState) -> impl Iterator<Item = (&ServerSnapshot, &DiscoveryError)> {
    state
        .servers
        .iter()
        .flat_map(|server| server.errors.iter().map(|error| (&**server, error)))
}

/// Says a failure on one line.
#[must_use]
pub fn error_line(server: &ServerSnapshot, error: &DiscoveryError) -> String {
    let failure = &error.failure;
    let what = match (error.method, failure.kind) {
        (Some(method), FailureKind::Rpc { code: Some(code) }) => {
            format!("{}: error {code}: ", method.name())
        }
        (Some(method), _) => format!("{}: ", method.name()),
        (None, _) => String::new(),
    };
    failure_line(&server.name, &format!("{what}{failure}"))
}

/// The failure of a server on one line: a server must not be able to write lines of its own.
#[must_use]
pub fn failure_line(server: &ServerName, failure: &str) -> String {
    format!("{server}: {}", text::cell(failure))
}
