//! One server as it is written: nothing is expanded yet.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::problem::{ConfigProblem, ProblemKind};
use super::secret;
use super::source::Spot;
use crate::domain::{HttpFlavour, Origin, ProtocolChoice, ServerName, TransportKind, text};

/// A text as written, with its place. Texts are compared, places are not. Its Debug is `***`:
/// a config file may hold secrets in plain text.
#[derive(Clone, Default)]
pub struct Written {
    text: Arc<str>,
    spot: Spot,
}

impl Written {
    pub(super) fn new(text: &str, spot: Spot) -> Self {
        Self {
            text: text.into(),
            spot,
        }
    }

    /// A text that stands in no file.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::new(text, Spot::default())
    }

    /// Another text at the same place.
    #[must_use]
    pub(super) fn with_text(&self, text: &str) -> Self {
        Self::new(text, self.spot.clone())
    }

    /// The text as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its line in its file, from 1, if it stands in one.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.spot.line()
    }

    /// A problem of this text, at its place.
    #[must_use]
    pub fn problem(&self, kind: ProblemKind) -> ConfigProblem {
        self.spot.problem(kind)
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Written {}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Which variables a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Those of our own files.
    #[default]
    Ours,
    /// Those of other tools too.
    OtherTool,
    /// None: given on the command line, where the shell has expanded everything.
    Literal,
}

/// One server as written.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name; of a name that is not allowed, a form that can be shown.
    pub name: ServerName,
    /// What it is, or why just this server fails.
    pub definition: Result<Definition, ConfigProblem>,
    /// How it is reached, as far as its keys tell.
    pub transport: TransportKind,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether it may start programs without being approved: false in project files.
    pub trusted: bool,
    /// Where it is written; `None` where it was given on the command line.
    pub origin: Option<Arc<Origin>>,
    /// What a relative `cwd` counts from.
    pub base: Arc<Path>,
    /// Which variables its texts may have.
    pub dialect: Dialect,
    /// Whether it gets our whole environment, where it does not say so itself: `[settings]`.
    pub inherit_env: bool,
}

/// The body of a server as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What is started or called.
    pub transport: Transport,
    /// Which era is spoken.
    pub protocol: ProtocolChoice,
    /// Bound on connecting.
    pub connect_timeout: Option<Duration>,
    /// Bound on one request.
    pub request_timeout: Option<Duration>,
    /// Bound on one traversal.
    pub traversal_timeout: Option<Duration>,
}

impl From<Transport> for Definition {
    fn from(transport: Transport) -> Self {
        Self {
            transport,
            protocol: ProtocolChoice::default(),
            connect_timeout: None,
            request_timeout: None,
            traversal_timeout: None,
        }
    }
}

/// How a server is reached, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process.
    Stdio(Stdio),
    /// A URL.
    Http(Http),
}

/// A child process, as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stdio {
    /// The program.
    pub command: Written,
    /// Its arguments.
    pub args: Vec<Written>,
    /// Variables set for it.
    pub env: Vec<(String, Written)>,
    /// A file of more variables; those of `env` win.
    pub env_file: Option<Written>,
    /// Names of our own variables that it gets too.
    pub pass_env: Vec<String>,
    /// Whether it gets our whole environment; `None`: as in the settings.
    pub inherit_env: Option<bool>,
    /// Where it runs.
    pub cwd: Option<Written>,
}

/// A remote server, as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http {
    /// The endpoint.
    pub url: Written,
    /// Headers sent with every request.
    pub headers: Vec<(String, Written)>,
    /// A command whose output is a JSON object of further headers; empty: none.
    pub headers_command: Vec<Written>,
    /// Which of the HTTP transports.
    pub flavour: HttpFlavour,
    /// How to log in.
    pub oauth: Option<OAuth>,
}

/// How to log in with OAuth 2.1, as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// A client that was registered by hand.
    pub client_id: Option<Written>,
    /// Its secret.
    pub client_secret: Option<Written>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The port of the loopback redirect.
    pub redirect_port: Option<u16>,
}

impl Entry {
    /// Whether both define the same server. Where they are written, and whether they are switched
    /// on or trusted, is not looked at: moving a line or a toggle is no new definition.
    #[must_use]
    pub fn same_definition(&self, other: &Self) -> bool {
        let same = match (&self.definition, &other.definition) {
            (Ok(one), Ok(two)) => one == two,
            (Err(one), Err(two)) => one.kind() == two.kind(),
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        same && self.name == other.name
            && self.dialect == other.dialect
            && self.base == other.base
            && self.inherit_env == other.inherit_env
    }

    /// The definition as one line of JSON that is the same for the same definition: what an
    /// approval is bound to. It holds secrets in plain text and is for hashing only.
    #[must_use]
    pub fn canonical(&self) -> String {
        let body = match &self.definition {
            Ok(definition) => definition.to_json(false),
            Err(_) => Value::Null,
        };
        json!({
            "name": self.name,
            "base": self.base.to_string_lossy(),
            "dialect": match self.dialect {
                Dialect::Ours => "ours",
                Dialect::OtherTool => "other",
                Dialect::Literal => "literal",
            },
            "definition": body,
        })
        .to_string()
    }
}

impl Definition {
    /// The word for its transport.
    #[must_use]
    pub const fn transport_kind(&self) -> TransportKind {
        match &self.transport {
            Transport::Http(http) if matches!(http.flavour, HttpFlavour::Sse) => TransportKind::Sse,
            Transport::Http(_) => TransportKind::Http,
            Transport::Stdio(_) => TransportKind::Stdio,
        }
    }

    /// The command line or the URL, as written but for literal secrets.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.transport {
            Transport::Stdio(stdio) => {
                let command = std::iter::once(stdio.command.text().to_owned());
                let args = texts(&stdio.args, true);
                let words: Vec<String> = command.chain(args).collect();
                text::command_line(words.iter().map(String::as_str))
            }
            Transport::Http(http) => secret::masked_url(http.url.text()),
        }
    }

    /// The definition with the keys of our TOML; what is at its default is left out. `masked`
    /// writes `***` in place of the values of variables and headers, and of secrets elsewhere.
    #[must_use]
    pub fn to_json(&self, masked: bool) -> Value {
        let mut map = serde_json::Map::new();
        match &self.transport {
            Transport::Stdio(stdio) => stdio.fill(&mut map, masked),
            Transport::Http(http) => http.fill(&mut map, masked),
        }
        match self.protocol {
            ProtocolChoice::Auto => {}
            ProtocolChoice::Legacy => put(&mut map, "protocol", "legacy"),
            ProtocolChoice::Modern => put(&mut map, "protocol", "modern"),
        }
        for (key, timeout) in [
            ("connect_timeout", self.connect_timeout),
            ("request_timeout", self.request_timeout),
            ("traversal_timeout", self.traversal_timeout),
        ] {
            if let Some(timeout) = timeout {
                put(&mut map, key, format_duration(timeout));
            }
        }
        Value::Object(map)
    }
}

impl Stdio {
    fn fill(&self, map: &mut serde_json::Map<String, Value>, masked: bool) {
        put(map, "command", self.command.text());
        if !self.args.is_empty() {
            put(map, "args", texts(&self.args, masked));
        }
        if !self.env.is_empty() {
            put(map, "env", pairs(&self.env, masked));
        }
        if let Some(file) = &self.env_file {
            put(map, "env_file", file.text());
        }
        if !self.pass_env.is_empty() {
            put(map, "pass_env", self.pass_env.clone());
        }
        if let Some(inherit) = self.inherit_env {
            put(map, "inherit_env", inherit);
        }
        if let Some(cwd) = &self.cwd {
            put(map, "cwd", cwd.text());
        }
    }
}

impl Http {
    fn fill(&self, map: &mut serde_json::Map<String, Value>, masked: bool) {
        let url = self.url.text();
        if masked {
            put(map, "url", secret::masked_url(url));
        } else {
            put(map, "url", url);
        }
        if !self.headers.is_empty() {
            put(map, "headers", pairs(&self.headers, masked));
        }
        if !self.headers_command.is_empty() {
            let words = texts(&self.headers_command, masked);
            put(map, "headers_command", words);
        }
        match self.flavour {
            HttpFlavour::Auto => {}
            HttpFlavour::Streamable => put(map, "transport", "http"),
            HttpFlavour::Sse => put(map, "transport", "sse"),
        }
        match &self.oauth {
            Some(oauth) if *oauth == OAuth::default() => put(map, "auth", "oauth"),
            Some(oauth) => put(map, "oauth", oauth.to_json(masked)),
            None => {}
        }
    }
}

impl OAuth {
    fn to_json(&self, masked: bool) -> Value {
        let mut map = serde_json::Map::new();
        if let Some(id) = &self.client_id {
            put(&mut map, "client_id", id.text());
        }
        if let Some(secret) = &self.client_secret {
            let shown = if masked { "***" } else { secret.text() };
            put(&mut map, "client_secret", shown);
        }
        if !self.scopes.is_empty() {
            put(&mut map, "scopes", self.scopes.clone());
        }
        if let Some(port) = self.redirect_port {
            put(&mut map, "redirect_port", port);
        }
        Value::Object(map)
    }
}

fn put(map: &mut serde_json::Map<String, Value>, key: &str, value: impl Into<Value>) {
    map.insert(key.to_owned(), value.into());
}

fn texts(values: &[Written], masked: bool) -> Vec<String> {
    let texts: Vec<&str> = values.iter().map(Written::text).collect();
    if masked {
        secret::masked_arguments(&texts)
    } else {
        texts.into_iter().map(str::to_owned).collect()
    }
}

fn pairs(values: &[(String, Written)], masked: bool) -> Value {
    let pairs = values.iter().map(|(name, value)| {
        let shown = if masked { "***" } else { value.text() };
        (name.clone(), Value::from(shown))
    });
    Value::Object(pairs.collect())
}

/// The duration as it is written in a file, exact to the nanosecond.
pub(super) fn format_duration(duration: Duration) -> String {
    let nanos = duration.subsec_nanos();
    if duration.as_secs() == 0 && nanos.is_multiple_of(1_000_000) {
        return format!("{}ms", duration.subsec_millis());
    }
    if nanos == 0 {
        return format!("{}s", duration.as_secs());
    }
    let fraction = format!("{nanos:09}");
    format!("{}.{}s", duration.as_secs(), fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(definition: Transport) -> Entry {
        Entry {
            name: ServerName::new("x").unwrap(),
            definition: Ok(definition.into()),
            transport: TransportKind::Stdio,
            enabled: true,
            trusted: true,
            origin: None,
            base: Path::new("/").into(),
            dialect: Dialect::Ours,
            inherit_env: false,
        }
    }

    fn stdio(token: &str) -> Transport {
        Transport::Stdio(Stdio {
            command: Written::plain("npx"),
            args: vec![Written::plain("-y")],
            env: vec![("TOKEN".into(), Written::plain(token))],
            ..Stdio::default()
        })
    }

    #[test]
    fn a_toggle_is_no_new_definition() {
        let one = entry(stdio("a"));
        let two = Entry {
            enabled: false,
            trusted: false,
            ..one.clone()
        };
        assert!(one.same_definition(&two));
        assert!(!one.same_definition(&entry(stdio("b"))));
    }

    #[test]
    fn the_canonical_form_is_stable_and_the_shown_one_masked() {
        let entry = entry(stdio("hunter22"));
        let expected = r#"{"name":"x","base":"/","dialect":"ours","definition":{"command":"npx","args":["-y"],"env":{"TOKEN":"hunter22"}}}"#;
        assert_eq!(entry.canonical(), expected);
        let shown = entry.definition.as_ref().unwrap().to_json(true).to_string();
        assert_eq!(
            shown,
            r#"{"command":"npx","args":["-y"],"env":{"TOKEN":"***"}}"#
        );
        assert!(!format!("{entry:?}").contains("hunter22"));
    }

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in ["30s", "1.5s", "250ms", "0.0005s"] {
            let duration = super::super::parse_duration(text).unwrap();
            assert_eq!(format_duration(duration), text);
        }
    }
}
