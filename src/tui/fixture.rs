//! Servers and snapshots for the tests: one of each kind, at a fixed time.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use chrono::FixedOffset;

use super::format::Clock;
use crate::domain::diff::{Counts, Mark, Names};
use crate::domain::item::Audience;
use crate::domain::{
    Annotations, AppState, Catalog, Changes, DiscoveryError, Epoch, Event, EventKind, Failure,
    FailureKind, Freshness, Generation, Group, ListMethod, Listing, Origin, Prompt, PromptArgument,
    RefreshReport, Resource, ResourceTemplate, Revision, ServerName, ServerSnapshot, Session,
    Status, Tool, TransportKind,
};

/// 12:03:04 UTC.
pub const NOON: Duration = Duration::from_secs(1_800_014_584);

pub fn clock() -> Clock {
    use std::sync::OnceLock;
    static NOW: OnceLock<Instant> = OnceLock::new();
    // Far enough from the start of the machine for what happened before it.
    let now = *NOW.get_or_init(|| Instant::now() + Duration::from_hours(1));
    Clock {
        now,
        zone: FixedOffset::east_opt(0).unwrap(),
    }
}

/// So many seconds ago.
pub fn before(seconds: u64) -> Instant {
    let ago = Duration::from_secs(seconds);
    clock().now.checked_sub(ago).unwrap()
}

pub fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + NOON
}

pub fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

pub fn server(text: &str, status: Status) -> ServerSnapshot {
    ServerSnapshot {
        name: name(text),
        transport: TransportKind::Stdio,
        target: format!("npx -y @modelcontextprotocol/server-{text}").into(),
        origin: Some(Arc::new(Origin {
            file: "/home/ada/.config/mcpdeck/config.toml".into(),
            line: 4,
            editable: true,
        })),
        status,
        epoch: Epoch(1),
        generation: Generation(0),
        catalog: Arc::default(),
        asked: Arc::from(ListMethod::ALL),
        refreshing: Arc::new([]),
        errors: Arc::new([]),
        latency: None,
        no_live_updates: false,
        noise: 0,
        stderr_lines: 0,
    }
}

pub fn connected(capabilities: &[&str]) -> Status {
    Status::Connected(Arc::new(Session {
        protocol_version: "2025-11-25".into(),
        modern: false,
        server_name: "mcp-servers/everything".into(),
        server_version: "2.0.0".into(),
        server_title: Some("Everything Example Server".into()),
        instructions: Some(
            "Testing and demonstration server for MCP protocol features.\n\nKey capabilities: \
             resources with templates, tools, prompts and list changes."
                .into(),
        ),
        capabilities: capabilities.iter().map(|word| (*word).into()).collect(),
        since: before(192),
        took: Duration::from_millis(812),
        notes: Box::new([]),
    }))
}

pub fn failure(message: &str) -> Failure {
    Failure::new(FailureKind::Connect, message)
}

pub fn rpc(code: i64, message: &str) -> Failure {
    Failure::new(FailureKind::Rpc { code: Some(code) }, message)
}

pub fn resource(uri: &str, title: &str) -> Resource {
    Resource {
        uri: uri.into(),
        name: title.into(),
        title: None,
        description: Some(format!("About {title}: what a person reads before opening it.").into()),
        mime_type: Some("text/plain".into()),
        annotations: Some(Box::new(Annotations {
            audience: Some(Box::new([Audience::User, Audience::Assistant])),
            priority: serde_json::Number::from_f64(0.8),
            last_modified: Some("2026-11-30T12:00:00Z".into()),
        })),
        size: Some(1_234),
    }
}

pub fn template(uri: &str, title: &str) -> ResourceTemplate {
    ResourceTemplate {
        uri_template: uri.into(),
        name: title.into(),
        title: None,
        description: Some("Fill in the blanks.".into()),
        mime_type: Some("application/json".into()),
        annotations: None,
    }
}

pub fn tool(text: &str, about: &str) -> Tool {
    let raw = |json: &str| serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
    Tool {
        name: text.into(),
        title: None,
        description: Some(about.into()),
        input_schema: Some(raw(
            r#"{"type":"object","properties":{"message":{"type":"string","description":"What to say"},"loud":{"type":"boolean"}},"required":["message"]}"#,
        )),
        output_schema: None,
        annotations: Some(raw(r#"{"readOnlyHint":true,"openWorldHint":false}"#)),
    }
}

pub fn prompt(text: &str) -> Prompt {
    let argument = |text: &str, required| PromptArgument {
        name: text.into(),
        title: None,
        description: Some("What it is about".into()),
        required: Some(required),
    };
    Prompt {
        name: text.into(),
        title: None,
        description: Some("Asks a model for something.".into()),
        arguments: Some(Box::new([
            argument("topic", true),
            argument("style", false),
        ])),
    }
}

pub fn listed<T>(items: Vec<T>) -> Listing<T> {
    Listing::renewed(items.into(), Arc::new([]), None)
}

/// A connected server with all four listings, of which resources just changed.
pub fn everything() -> ServerSnapshot {
    let mut resources: Vec<Resource> = (1..=7)
        .map(|number| {
            resource(
                &format!("demo://resource/static/{number}"),
                &format!("Static resource {number}"),
            )
        })
        .collect();
    resources[2].title = Some("日本語のタイトル (wide)".into());
    resources[2].mime_type = Some("application/json".into());
    resources[3].size = Some(48);
    resources[4].uri =
        "demo://resource/with/a/very/long/path/that/goes/on/and/on/until/it/is/cut".into();
    resources[5].uri = "demo://resource/zero\u{200b}width".into();
    resources[5].size = None;
    let mut marks = vec![Mark::Same; 7];
    marks[0] = Mark::Added;
    marks[1] = Mark::Changed;
    let changes = Changes {
        marks: marks.into(),
        counts: Counts {
            added: 1,
            removed: 0,
            changed: 1,
            total: 7,
        },
        names: Names::default(),
        at: before(2),
    };
    let mut snapshot = server(
        "everything",
        connected(&["completions", "logging", "prompts", "resources", "tools"]),
    );
    snapshot.generation = Generation(5);
    snapshot.latency = Some(Duration::from_millis(8));
    snapshot.catalog = Arc::new(Catalog {
        resources: Listing::renewed(resources.into(), Arc::new([]), Some(Arc::new(changes))),
        templates: listed(vec![
            template("demo://resource/dynamic/text/{id}", "Dynamic text"),
            template("demo://resource/dynamic/blob/{id}", "Dynamic blob"),
        ]),
        tools: listed(vec![
            tool("echo", "Echoes back the input string"),
            tool("get-sum", "Returns the sum of two numbers"),
            tool(
                "delete-everything",
                "Deletes everything, without a question",
            ),
        ]),
        prompts: listed(vec![prompt("simple-prompt"), prompt("complex-prompt")]),
    });
    snapshot
}

/// The same server after a refresh of its resources failed: the old ones are kept.
/// The server that stands in for a config.
pub fn demo() -> ServerSnapshot {
    ServerSnapshot {
        name: name("demo"),
        origin: None,
        ..everything()
    }
}

pub fn old() -> ServerSnapshot {
    let mut snapshot = everything();
    let since = wall() - Duration::from_secs(30);
    let mut catalog = Catalog::clone(&snapshot.catalog);
    catalog.resources.freshness = Freshness::Old { since };
    catalog.templates.freshness = Freshness::Old { since };
    catalog.tools.notes = Arc::new(["page 1, item 3: title is no string".into()]);
    snapshot.catalog = Arc::new(catalog);
    snapshot.errors = Arc::new([DiscoveryError {
        method: Some(ListMethod::ResourceTemplates),
        failure: rpc(-32603, "Internal error: the database is locked"),
        at: wall(),
        count: 3,
        kept: true,
    }]);
    snapshot
}

/// A server that has tools and nothing else.
pub fn files() -> ServerSnapshot {
    let mut snapshot = server("filesystem", connected(&["tools"]));
    snapshot.generation = Generation(1);
    snapshot.catalog = Arc::new(Catalog {
        tools: listed(
            (1..=14)
                .map(|number| tool(&format!("tool-{number}"), "Does something to a file"))
                .collect(),
        ),
        ..Catalog::default()
    });
    snapshot
}

/// A server that declares everything and has nothing.
pub fn empty() -> ServerSnapshot {
    let mut snapshot = server("empty", connected(&["prompts", "resources", "tools"]));
    snapshot.generation = Generation(1);
    snapshot.catalog = Arc::new(Catalog {
        resources: listed(Vec::new()),
        templates: listed(Vec::new()),
        tools: listed(Vec::new()),
        prompts: listed(Vec::new()),
    });
    snapshot
}

pub fn failed() -> ServerSnapshot {
    let why = failure(
        "exited with status 1 during the handshake\nsqlite3.OperationalError: unable to open database file",
    );
    let mut snapshot = server("sqlite", Status::Failed(why.clone()));
    snapshot.stderr_lines = 2;
    snapshot.errors = Arc::new([DiscoveryError {
        method: None,
        failure: why,
        at: wall(),
        count: 1,
        kept: false,
    }]);
    snapshot
}

pub fn needs_auth() -> ServerSnapshot {
    let why = Failure::new(
        FailureKind::Auth,
        "https://calendar.example.org/mcp: HTTP 401 Unauthorized; a log-in or a token is needed",
    );
    let mut snapshot = server("calendar", Status::NeedsAuth(why));
    snapshot.transport = TransportKind::Http;
    snapshot.target = "https://calendar.example.org/mcp".into();
    snapshot
}

pub fn reconnecting() -> ServerSnapshot {
    let mut snapshot = server(
        "github",
        Status::Reconnecting {
            attempt: 2,
            limit: 5,
            due: Some(clock().now + Duration::from_millis(2_400)),
            cause: Failure::new(
                FailureKind::Closed,
                "the connection was closed by the server",
            ),
        },
    );
    snapshot.transport = TransportKind::Http;
    snapshot.target = "https://api.example.org/mcp".into();
    snapshot
}

pub fn with_events(servers: Vec<ServerSnapshot>) -> AppState {
    let event = |seq, server: &str, seconds, kind| {
        Arc::new(Event {
            seq,
            at: wall() - Duration::from_secs(seconds),
            server: Some(name(server)),
            kind,
        })
    };
    let status = |word, failure| EventKind::Status { word, failure };
    let names = Names {
        added: vec!["demo://resource/static/9".into()],
        changed: vec!["demo://resource/static/2".into()],
        ..Names::default()
    };
    let refresh = |counts| {
        EventKind::Refresh(RefreshReport {
            group: Group::Resources,
            notifications: 14,
            generation: Generation(5),
            took: Duration::from_millis(38),
            counts,
            names: vec![(ListMethod::Resources, names.clone())],
            failures: Vec::new(),
        })
    };
    let counts = Counts {
        added: 1,
        removed: 0,
        changed: 1,
        total: 7,
    };
    AppState {
        revision: Revision(1),
        servers: servers.into_iter().map(Arc::new).collect(),
        events: Arc::new(
            [
                event(1, "everything", 192, status("connected", None)),
                event(
                    2,
                    "sqlite",
                    190,
                    status(
                        "failed",
                        Some(failure("could not start: npxx: command not found")),
                    ),
                ),
                event(3, "github", 60, status("reconnecting", None)),
                event(
                    4,
                    "everything",
                    2,
                    refresh(vec![
                        (ListMethod::Resources, counts),
                        (ListMethod::ResourceTemplates, Counts::default()),
                    ]),
                ),
            ]
            .into(),
        ),
    }
}

/// One server of each status.
pub fn full() -> AppState {
    let mut memory = empty();
    memory.name = name("memory");
    memory.refreshing = Arc::new([Group::Resources]);
    with_events(vec![
        everything(),
        files(),
        memory,
        reconnecting(),
        failed(),
        server("notes", Status::Disabled),
        server("project", Status::Untrusted),
    ])
}
