//! Everything about one row or server, as lines of a width.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use super::document::line::Ink;
use super::document::rich::Rich;
use super::format::{self, Clock, Tone};
use super::lines::StderrLine;
use super::outline::outline;
use super::rows::{ErrorRow, Rows, Trouble};
use crate::domain::item::Audience;
use crate::domain::text;
use crate::domain::{
    Annotations, Event, EventKind, Origin, Prompt, PromptArgument, Resource, ResourceTemplate,
    ServerSnapshot, Tool,
};
use crate::mcp::{Direction, Message};

/// The last stderr lines beside an error.
const STDERR_LINES: usize = 20;

/// Collects lines.
#[derive(Debug, Default)]
pub struct Lines(Rich);

impl Lines {
    /// The lines.
    #[must_use]
    pub fn finish(self) -> Rich {
        self.0
    }

    fn toned(&mut self, label: &'static str, value: &str, tone: Tone) {
        let ink = match tone {
            Tone::Plain => Ink::Plain,
            Tone::Dim => Ink::Dim,
            Tone::Warn => Ink::Warn,
            Tone::Bad => Ink::Bad,
        };
        // What is metadata shows whatever is hidden in it; tabs are two spaces.
        let lines = value.split('\n').map(|line| line.replace('\t', "  "));
        let lines: Vec<String> = lines.map(|line| format::safe(&line).into_owned()).collect();
        self.0.labelled(label, &lines.join("\n"), ink);
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
            Rows::Messages(messages) => messages
                .get(row)
                .map(|message| self.message(message, clock)),
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

    /// The outline of the schema, then the schema itself.
    fn schema(&mut self, label: &'static str, json: &str) {
        let Ok(schema) = serde_json::from_str::<serde_json::Value>(json) else {
            let size = format::size(json.len() as u64);
            self.add(label, &format!("a schema of {size} that cannot be read"));
            return;
        };
        outline(&mut self.0, label, &schema);
        if let Ok(pretty) = serde_json::to_string_pretty(&schema) {
            self.toned("Schema", &pretty, Tone::Dim);
        }
    }

    fn message(&mut self, message: &Message, clock: &Clock) {
        self.add("When", &clock.time(message.at));
        let way = match message.direction {
            Direction::Out => "to the server",
            Direction::In => "from the server",
        };
        self.add("Way", way);
        self.add("What", format::message_kind(message.kind));
        self.add("Method", &message.method);
        self.add("Size", &sizes(message.size as u64));
        if let Some(latency) = message.latency {
            self.add("Latency", &format::brief(latency));
        }
        self.toned("Text", &text::contents(&message.text).text, Tone::Dim);
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
        if let EventKind::Refresh(report) = &event.kind {
            for (method, names) in &report.names {
                let counts = report.counts.iter().find(|(of, _)| of == method);
                let counts = counts.map(|(_, counts)| *counts).unwrap_or_default();
                self.names("Added", &names.added, counts.added);
                self.names("Removed", &names.removed, counts.removed);
                self.names("Changed", &names.changed, counts.changed);
            }
        }
    }

    /// The first of so many names, each on a line.
    fn names(&mut self, label: &'static str, names: &[Box<str>], count: usize) {
        for (index, name) in names.iter().enumerate() {
            self.uri(if index == 0 { label } else { "" }, name);
        }
        let left = count.saturating_sub(names.len());
        if left > 0 {
            self.toned("", &format!("and {left} more"), Tone::Dim);
        }
    }

    /// Everything about the server. Paths below the home folder begin with `~`.
    pub fn server(&mut self, server: &ServerSnapshot, home: Option<&Path>) {
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
        self.origin(server.origin.as_deref(), home);
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

    fn origin(&mut self, origin: Option<&Origin>, home: Option<&Path>) {
        let Some(origin) = origin else {
            return;
        };
        let read_only = if origin.editable { "" } else { " (read only)" };
        let place = format!(
            "{}:{}{read_only}",
            format::path(&origin.file, home),
            origin.line
        );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_shown_and_the_rest_is_counted() {
        let mut lines = Lines::default();
        lines.names("Added", &["note:///a".into(), "note:///b".into()], 14);
        lines.names("Removed", &[], 0);
        lines.names("Changed", &["note:///c".into()], 1);
        let rich = lines.finish();
        let shown: Vec<String> = (0..rich.len())
            .map(|index| rich.line(index))
            .map(|line| format!("{}{}", line.lead, line.text))
            .collect();
        assert_eq!(
            shown,
            [
                "Added       note:///a",
                "            note:///b",
                "            and 12 more",
                "Changed     note:///c",
            ]
        );
    }
}
