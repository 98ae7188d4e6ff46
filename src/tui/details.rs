//! Everything about one row or server, as lines of a width.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::format::{self, Clock, Tone};
use super::lines::StderrLine;
use super::rows::{ErrorRow, Rows, Trouble};
use super::wrap::wrap;
use crate::domain::item::Audience;
use crate::domain::text;
use crate::domain::{
    Annotations, Event, Origin, Prompt, PromptArgument, Resource, ResourceTemplate, ServerSnapshot,
    Tool,
};

/// The most lines that are made of one subject.
const MOST_LINES: usize = 2_000;

/// The most bytes of a schema that are laid out.
const MOST_SCHEMA_BYTES: usize = 64 * 1_024;

/// The last stderr lines beside an error.
const STDERR_LINES: usize = 20;

/// One line: a label on the first line of a value, and the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What the value is; empty on its further lines.
    pub label: &'static str,
    /// The value, or a part of it.
    pub text: String,
    /// How it is to be read.
    pub tone: Tone,
}

/// The columns of the labels.
pub const LABEL_COLUMNS: usize = 12;

/// Collects lines of a width.
#[derive(Debug)]
pub struct Lines {
    lines: Vec<Line>,
    columns: usize,
}

impl Lines {
    /// No lines yet, for so many columns.
    #[must_use]
    pub const fn new(columns: usize) -> Self {
        Self {
            lines: Vec::new(),
            columns,
        }
    }

    /// The lines.
    #[must_use]
    pub fn finish(self) -> Vec<Line> {
        self.lines
    }

    fn toned(&mut self, label: &'static str, value: &str, tone: Tone) {
        let columns = self.columns.saturating_sub(LABEL_COLUMNS).max(1);
        let most = MOST_LINES.saturating_sub(self.lines.len());
        for (index, text) in wrap(value, columns, most).into_iter().enumerate() {
            self.lines.push(Line {
                label: if index == 0 { label } else { "" },
                text,
                tone,
            });
        }
    }

    fn add(&mut self, label: &'static str, value: &str) {
        self.toned(label, value, Tone::Plain);
    }

    fn option(&mut self, label: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(label, value);
        }
    }

    fn uri(&mut self, label: &'static str, value: &str) {
        self.add(label, &text::visible(value));
    }

    /// Everything about the row.
    pub fn row(&mut self, rows: &Rows, row: usize, clock: &Clock, stderr: &VecDeque<StderrLine>) {
        match rows {
            Rows::Resources(items) => items.get(row).map(|item| self.resource(item)),
            Rows::Templates(items) => items.get(row).map(|item| self.template(item)),
            Rows::Tools(items) => items.get(row).map(|item| self.tool(item)),
            Rows::Prompts(items) => items.get(row).map(|item| self.prompt(item)),
            Rows::Errors(rows) => rows.get(row).map(|row| self.error(row, clock, stderr)),
            Rows::Events(events) => events.get(row).map(|event| self.event(event, clock)),
            Rows::Stderr(lines) => lines.get(row).map(|line| {
                self.add("Line", &line.number.to_string());
                self.add("Kind", line.word());
                self.add("Text", &line.text);
            }),
        };
    }

    fn resource(&mut self, item: &Resource) {
        self.uri("URI", &item.uri);
        self.add("Name", &item.name);
        self.option("Title", item.title.as_deref());
        self.option("Type", item.mime_type.as_deref());
        if let Some(size) = item.size {
            self.add("Size", &sizes(size));
        }
        self.annotations(item.annotations.as_deref());
        self.option("About", item.description.as_deref());
    }

    fn template(&mut self, item: &ResourceTemplate) {
        self.uri("Template", &item.uri_template);
        self.add("Name", &item.name);
        self.option("Title", item.title.as_deref());
        self.option("Type", item.mime_type.as_deref());
        self.annotations(item.annotations.as_deref());
        self.option("About", item.description.as_deref());
    }

    fn annotations(&mut self, annotations: Option<&Annotations>) {
        let Some(annotations) = annotations else {
            return;
        };
        if let Some(audience) = &annotations.audience {
            let words: Vec<&str> = audience
                .iter()
                .map(|audience| match audience {
                    Audience::User => "user",
                    Audience::Assistant => "assistant",
                })
                .collect();
            self.add("For", &words.join(", "));
        }
        if let Some(priority) = &annotations.priority {
            self.add("Priority", &priority.to_string());
        }
        self.option("Changed", annotations.last_modified.as_deref());
    }

    fn tool(&mut self, item: &Tool) {
        self.add("Name", &item.name);
        self.option("Title", item.title.as_deref());
        self.option("About", item.description.as_deref());
        self.option("Hints", item.annotations.as_deref().map(hints).as_deref());
        for (label, schema) in [
            ("Takes", &item.input_schema),
            ("Returns", &item.output_schema),
        ] {
            if let Some(schema) = schema {
                self.schema(label, schema.get());
            }
        }
    }

    /// The properties of an object schema, a line each, then the whole schema.
    fn schema(&mut self, label: &'static str, json: &str) {
        let parsed = (json.len() <= MOST_SCHEMA_BYTES)
            .then(|| serde_json::from_str::<serde_json::Value>(json).ok())
            .flatten();
        let Some(schema) = parsed else {
            self.add(
                label,
                &format!("a schema of {}", format::size(json.len() as u64)),
            );
            return;
        };
        let properties = properties(&schema);
        if properties.is_empty() {
            self.add(label, "no named values");
        }
        for (index, property) in properties.iter().enumerate() {
            self.add(if index == 0 { label } else { "" }, property);
        }
        if let Ok(pretty) = serde_json::to_string_pretty(&schema) {
            self.toned("Schema", &pretty, Tone::Dim);
        }
    }

    fn prompt(&mut self, item: &Prompt) {
        self.add("Name", &item.name);
        self.option("Title", item.title.as_deref());
        self.option("About", item.description.as_deref());
        for (index, argument) in item.arguments.iter().flatten().enumerate() {
            self.add(if index == 0 { "Takes" } else { "" }, &takes(argument));
        }
    }

    fn error(&mut self, row: &ErrorRow, clock: &Clock, stderr: &VecDeque<StderrLine>) {
        self.add("Asked", row.asked());
        match &row.what {
            Trouble::Note(text) => self.add("Note", text),
            Trouble::Error(error) => {
                let came_back = format::failure(&error.failure);
                self.toned("Came back", &came_back, Tone::Bad);
                self.add("Kind", error.failure.kind.word());
                let times = if error.count > 1 {
                    format!("{}, {} times in a row", clock.time(error.at), error.count)
                } else {
                    clock.time(error.at)
                };
                self.add("When", &times);
                if error.method.is_some() {
                    let kept = if error.kept {
                        "the older list is still shown"
                    } else {
                        "there is no older list to show"
                    };
                    self.add("Shown", kept);
                }
            }
        }
        let first = stderr.len().saturating_sub(STDERR_LINES);
        for (index, line) in stderr.iter().skip(first).enumerate() {
            let label = if index == 0 { "Stderr" } else { "" };
            self.toned(label, &line.text, Tone::Dim);
        }
    }

    fn event(&mut self, event: &Event, clock: &Clock) {
        self.add("When", &clock.time(event.at));
        if let Some(server) = &event.server {
            self.add("Server", server.as_str());
        }
        self.add("What", &format::event(event));
    }

    /// Everything about the server.
    pub fn server(&mut self, server: &ServerSnapshot) {
        if let Some(failure) = server.status.failure() {
            self.toned("Reason", &format::failure(failure), Tone::Bad);
        }
        let session = server.status.session();
        if let Some(session) = session {
            self.option("Title", session.server_title.as_deref());
            let name = [&*session.server_name, &*session.server_version].join(" ");
            if !name.trim().is_empty() {
                self.add("Program", name.trim());
            }
        }
        let target = match server.transport {
            crate::domain::TransportKind::Stdio => "Command",
            crate::domain::TransportKind::Http | crate::domain::TransportKind::Sse => "URL",
        };
        self.add(target, &server.target);
        self.origin(server.origin.as_deref());
        if let Some(session) = session {
            let version = &session.protocol_version;
            self.add("Protocol", &format!("{version} ({})", format::era(session)));
            self.add("Declares", &declares(&session.capabilities));
            self.add("Connected", &format!("in {}", format::brief(session.took)));
            if server.no_live_updates {
                self.add(
                    "Updates",
                    "none: the server does not tell when its lists change",
                );
            }
            for note in &session.notes {
                self.toned("Note", note, Tone::Dim);
            }
        }
        if server.noise > 0 {
            let lines = format::plural(usize::try_from(server.noise).unwrap_or(usize::MAX), "line");
            self.toned("Noise", &format!("{lines} that were no message"), Tone::Dim);
        }
        if let Some(instructions) = session.and_then(|session| session.instructions.as_deref()) {
            self.add("Says", instructions);
        }
    }

    fn origin(&mut self, origin: Option<&Origin>) {
        let Some(origin) = origin else {
            return;
        };
        let read_only = if origin.editable { "" } else { " (read only)" };
        let place = format!("{}:{}{read_only}", origin.file.display(), origin.line);
        self.add("Defined in", &place);
    }
}

/// `1.2 kB (1234 bytes)`.
fn sizes(bytes: u64) -> String {
    if bytes < 1_000 {
        format::size(bytes)
    } else {
        format!("{} ({bytes} bytes)", format::size(bytes))
    }
}

fn declares(capabilities: &[Box<str>]) -> String {
    if capabilities.is_empty() {
        "nothing".to_owned()
    } else {
        capabilities.join(", ")
    }
}

/// The hints that are true: `read-only, idempotent`.
fn hints(annotations: &serde_json::value::RawValue) -> String {
    const WORDS: [(&str, &str, &str); 4] = [
        ("readOnlyHint", "read-only", "may write"),
        ("destructiveHint", "destructive", "not destructive"),
        ("idempotentHint", "idempotent", "not idempotent"),
        ("openWorldHint", "open world", "closed world"),
    ];
    let Ok(serde_json::Value::Object(map)) = serde_json::from_str(annotations.get()) else {
        return String::new();
    };
    let words: Vec<&str> = WORDS
        .iter()
        .filter_map(|(key, yes, no)| {
            let holds = map.get(*key)?.as_bool()?;
            Some(if holds { *yes } else { *no })
        })
        .collect();
    words.join(", ")
}

/// `path  string, required  Where the file is`.
fn properties(schema: &serde_json::Value) -> Vec<String> {
    let Some(properties) = schema.get("properties").and_then(|value| value.as_object()) else {
        return Vec::new();
    };
    let required = schema.get("required").and_then(|value| value.as_array());
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
    };
    properties
        .iter()
        .map(|(name, property)| {
            let mut line = name.clone();
            if let Some(kind) = property.get("type").and_then(|kind| kind.as_str()) {
                let _ = write!(line, " ({kind}");
                line.push_str(if is_required(name) {
                    ", required)"
                } else {
                    ")"
                });
            } else if is_required(name) {
                line.push_str(" (required)");
            }
            if let Some(about) = property.get("description").and_then(|text| text.as_str()) {
                let _ = write!(line, ": {}", text::cell(about));
            }
            line
        })
        .collect()
}

fn takes(argument: &PromptArgument) -> String {
    let mut line = argument.name.to_string();
    if argument.required == Some(true) {
        line.push_str(" (required)");
    }
    let about = argument
        .description
        .as_deref()
        .or(argument.title.as_deref());
    if let Some(about) = about {
        let _ = write!(line, ": {}", text::cell(about));
    }
    line
}
