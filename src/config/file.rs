//! One file: which syntax and whose file it is, then its settings, keys and servers.
//!
//! JSON or TOML is told by the extension, else by the first character. Whose file it is, is told
//! by its content: our own is TOML with `servers`, `settings` or `keys`; see [`super::foreign`]
//! for the others.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::entry::{Definition, Dialect, Entry};
use super::environment::Environment;
use super::keys::Keys;
use super::problem::{ConfigError, ConfigProblem, ProblemKind};
use super::settings::SettingsPatch;
use super::source::{Source, Spot};
use super::suggest::nearest;
use super::tree::{Node, Pair, Value, parse_json, parse_toml};
use super::yaml::parse_yaml;
use super::{foreign, keys, server, settings};
use crate::domain::{Origin, ServerName, TransportKind};

/// The top-level tables of our own files.
const OUR_TABLES: &[&str] = &["settings", "keys", "servers"];

/// Tables whose values may be secrets.
const SECRET_TABLES: &[&str] = &["env", "headers", "http_headers", "env_http_headers"];

/// How a file came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Named by the user.
    Named,
    /// The user's own file at its default place.
    User,
    /// Found in the working directory: its servers are untrusted.
    Project,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own TOML.
    Ours,
    /// JSON with `mcpServers`: Claude Desktop, Claude Code, Cursor, Windsurf and others.
    McpServers,
    /// JSON with `servers`: VS Code.
    VsCode,
    /// TOML with `mcp_servers`: Codex.
    Codex,
}

/// A key of another tool's file that nothing reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredKey {
    /// The server in whose table it stands; `None` for one of the file itself.
    pub server: Option<ServerName>,
    /// The key.
    pub key: String,
    /// Its line, from 1.
    pub line: usize,
}

/// A file to be read.
#[derive(Debug, Clone, Copy)]
pub struct FileInput<'a> {
    /// Where it is; also what messages name.
    pub path: &'a Path,
    /// What is in it.
    pub text: &'a str,
    /// How it came to be read.
    pub role: Role,
    /// The working directory is needed of it.
    pub environment: &'a Environment,
}

/// What a file says.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// Where it is.
    pub path: Arc<Path>,
    /// How it came to be read.
    pub role: Role,
    /// Whose file it is.
    pub format: Format,
    /// What it sets; nothing in other tools' files.
    pub settings: SettingsPatch,
    /// What it binds; nothing in other tools' files.
    pub keys: Keys,
    /// Its servers in its order.
    pub entries: Vec<Entry>,
    /// Keys of other tools' files that nothing reads.
    pub ignored: Vec<IgnoredKey>,
}

/// Reads a file.
///
/// # Errors
///
/// [`ConfigError::Invalid`] where the syntax is wrong, where something outside the tables of the
/// servers is, or where the file has no servers of any known form. What is wrong inside the table
/// of a server is kept in its [`Entry`].
pub fn read(input: FileInput<'_>) -> Result<ConfigFile, ConfigError> {
    let (reading, tree, syntax) = open(input)?;
    match syntax {
        Syntax::Yaml => {
            let spot = Spot::new(&reading.source, &(0..1));
            Err(spot.problem(ProblemKind::NoServers).into())
        }
        Syntax::Json => Ok(foreign::read(&reading, &tree, true)?),
        Syntax::Toml if is_foreign(&tree) => Ok(foreign::read(&reading, &tree, false)?),
        Syntax::Toml => Ok(reading.read_ours(&tree)?),
    }
}

/// Parses the text, and keeps in mind what of it may be shown.
pub(super) fn open(input: FileInput<'_>) -> Result<(Reading<'_>, Node, Syntax), ConfigProblem> {
    let text = input.text.strip_prefix('\u{feff}').unwrap_or(input.text);
    let path: Arc<Path> = input.path.into();
    let syntax = Syntax::of(input.path, text);
    let parsed = match syntax {
        Syntax::Toml => parse_toml(text),
        Syntax::Json => parse_json(text),
        Syntax::Yaml => parse_yaml(text),
    };
    let tree = parsed.map_err(|error| {
        let source = Source::unparsed(Arc::clone(&path), text);
        let place = source.place(&error.span);
        ConfigProblem::new(ProblemKind::Syntax(error.message), Some(place))
    })?;
    let mut hidden = Vec::new();
    for pair in tree.table().unwrap_or_default() {
        let shown = match &*pair.key {
            "keys" => Shown::Always,
            key => Shown::ByKey.below(key, &pair.value),
        };
        hide(text, &pair.value, shown, &mut hidden);
    }
    let reading = Reading {
        source: Source::new(Arc::clone(&path), text, hidden),
        path,
        role: input.role,
        environment: input.environment,
    };
    Ok((reading, tree, syntax))
}

/// Whether the tree of a TOML file is another tool's.
pub(super) fn is_foreign(tree: &Node) -> bool {
    tree.get("mcp_servers").is_some() || tree.get("mcpServers").is_some()
}

/// A file that is being read: what every entry of it needs.
pub(super) struct Reading<'a> {
    pub(super) source: Arc<Source>,
    pub(super) path: Arc<Path>,
    pub(super) role: Role,
    pub(super) environment: &'a Environment,
}

impl Reading<'_> {
    pub(super) fn read_ours(&self, tree: &Node) -> Result<ConfigFile, ConfigProblem> {
        let top = tree.table().unwrap_or_default();
        if let Some(unknown) = top.iter().find(|pair| !OUR_TABLES.contains(&&*pair.key)) {
            let is_ours = top.iter().any(|pair| OUR_TABLES.contains(&&*pair.key));
            let near = nearest(&unknown.key, OUR_TABLES.iter().copied());
            let kind = if is_ours || near.is_some() {
                ProblemKind::UnknownKey {
                    key: unknown.key.clone(),
                    nearest: near.map(str::to_owned),
                }
            } else {
                ProblemKind::NoServers
            };
            return Err(Spot::new(&self.source, &unknown.key_span).problem(kind));
        }
        let mut file = self.file(Format::Ours);
        if let Some(pairs) = self.top_table(tree, "settings")? {
            file.settings = settings::read(&self.source, pairs, self.environment.home())?;
        }
        if let Some(pairs) = self.top_table(tree, "keys")? {
            file.keys = keys::read(&self.source, pairs)?;
        }
        for pair in self.top_table(tree, "servers")?.unwrap_or_default() {
            let table = server::read(&self.source, pair);
            let entry = self.entry(pair, table.definition, table.enabled, Format::Ours);
            file.entries.push(entry);
        }
        Ok(file)
    }

    /// The pairs of a top-level table.
    pub(super) fn top_table<'n>(
        &self,
        tree: &'n Node,
        key: &str,
    ) -> Result<Option<&'n [Pair]>, ConfigProblem> {
        let Some(node) = tree.get(key).filter(|node| node.value != Value::Null) else {
            return Ok(None);
        };
        match &node.value {
            Value::Table(pairs) => Ok(Some(pairs)),
            _ => Err(
                Spot::new(&self.source, &node.span).problem(ProblemKind::WrongType {
                    key: key.to_owned(),
                    expected: "a table",
                    found: node.type_name(),
                }),
            ),
        }
    }

    /// The file without anything in it.
    pub(super) fn file(&self, format: Format) -> ConfigFile {
        ConfigFile {
            path: Arc::clone(&self.path),
            role: self.role,
            format,
            settings: SettingsPatch::default(),
            keys: Keys::default(),
            entries: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// The line of the range, from 1.
    pub(super) fn line(&self, range: &Range<usize>) -> usize {
        self.source.line(range.start)
    }

    /// The entry of the pair.
    pub(super) fn entry(
        &self,
        pair: &Pair,
        definition: Result<Definition, ConfigProblem>,
        enabled: bool,
        format: Format,
    ) -> Entry {
        let (name, definition) = match ServerName::new(&pair.key) {
            Ok(name) => (name, definition),
            Err(error) => {
                let spot = Spot::new(&self.source, &pair.key_span);
                let problem = spot.problem(ProblemKind::BadName(error));
                (ServerName::display_of(&pair.key), Err(problem))
            }
        };
        let transport = match &definition {
            Ok(definition) => definition.transport_kind(),
            Err(_) => transport_by_keys(&pair.value),
        };
        Entry {
            name,
            definition,
            transport,
            enabled,
            trusted: self.role != Role::Project,
            origin: Some(Arc::new(Origin {
                file: self.path.to_path_buf(),
                line: self.line(&pair.key_span),
                editable: format == Format::Ours,
            })),
            base: self.base(),
            dialect: match format {
                Format::Ours => Dialect::Ours,
                Format::McpServers | Format::VsCode | Format::Codex => Dialect::OtherTool,
            },
            inherit_env: false,
        }
    }

    /// What relative paths count from: the folder of a project file, else the working directory.
    fn base(&self) -> Arc<Path> {
        let folder = match self.role {
            Role::Project => self.path.parent(),
            Role::Named | Role::User => None,
        };
        match folder {
            Some(folder) => self.environment.cwd().join(folder).into(),
            None => self.environment.shared_cwd(),
        }
    }
}

/// How a server with an error is reached, by the keys that it has.
fn transport_by_keys(server: &Node) -> TransportKind {
    let word = |key: &str| match &server.get(key)?.value {
        Value::Text(text) => Some(&**text),
        _ => None,
    };
    let has_url = ["url", "httpUrl", "serverUrl"].iter().any(|key| {
        server
            .get(key)
            .is_some_and(|url| url.value != Value::Text(String::new()))
    });
    match word("transport").or_else(|| word("type")) {
        Some("sse") => TransportKind::Sse,
        Some("stdio" | "local") => TransportKind::Stdio,
        Some(word) if word.contains("http") => TransportKind::Http,
        _ if has_url => TransportKind::Http,
        _ => TransportKind::Stdio,
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Toml,
    Json,
    Yaml,
}

impl Syntax {
    /// What the extension says, else the first character.
    fn of(path: &Path, text: &str) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json" | "jsonc" | "json5") => Self::Json,
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ if matches!(text.trim_start().chars().next(), Some('{' | '/')) => Self::Json,
            _ => Self::Toml,
        }
    }
}

/// Whether the values of a table are shown in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Values of known keys are.
    ByKey,
    /// None is: variables and headers.
    Never,
    /// All are: key bindings.
    Always,
}

impl Shown {
    /// What holds for the value of a key in the table. Only values of known keys are shown: a key
    /// that is not known may be a misspelt `env`.
    fn below(self, key: &str, value: &Node) -> Self {
        match self {
            Self::Always => Self::Always,
            Self::ByKey if SECRET_TABLES.contains(&key) => Self::Never,
            Self::ByKey if matches!(value.value, Value::Table(_)) => Self::ByKey,
            Self::ByKey if may_be_shown(key) => Self::ByKey,
            Self::ByKey | Self::Never => Self::Never,
        }
    }
}

/// Collects the ranges of values that may be secrets.
fn hide(text: &str, node: &Node, shown: Shown, hidden: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Table(pairs) => {
            for pair in pairs {
                let shown = shown.below(&pair.key, &pair.value);
                hide(text, &pair.value, shown, hidden);
            }
        }
        Value::List(nodes) => {
            for node in nodes {
                hide(text, node, shown, hidden);
            }
        }
        Value::Text(_) if shown == Shown::Never => {
            let written = text.get(node.span.clone()).unwrap_or_default();
            let quotes = usize::from(written.starts_with(['"', '\'']));
            let range = node.span.start + quotes..node.span.end.saturating_sub(quotes);
            if range.start < range.end {
                hidden.push(range);
            }
        }
        Value::Number(_) if shown == Shown::Never => hidden.push(node.span.clone()),
        Value::Text(_) | Value::Number(_) | Value::Null | Value::Bool(_) | Value::Date(_) => {}
    }
}

fn may_be_shown(key: &str) -> bool {
    server::may_be_shown(key)
        || foreign::may_be_shown(key)
        || SettingsPatch::KEYS.contains(&key)
        || OUR_TABLES.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_as(path: &str, text: &str) -> Result<ConfigFile, ConfigError> {
        let environment = Environment::new([], Some("/home/ann".into()), "/code/proj".into());
        read(FileInput {
            path: Path::new(path),
            text,
            role: Role::Named,
            environment: &environment,
        })
    }

    /// `name=target` of each server, with `off` or the problem.
    fn summary(file: &ConfigFile) -> String {
        let servers = file.entries.iter().map(|entry| match &entry.definition {
            Ok(definition) if entry.enabled => format!("{}={}", entry.name, definition.target()),
            Ok(definition) => format!("{}={} off", entry.name, definition.target()),
            Err(problem) => problem.one_line(),
        });
        servers.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn whose_file_it_is_is_told_by_its_content() {
        let check = |path: &str, text: &str, expected: Result<(Format, &str), &str>| {
            let file = read_as(path, text);
            let found = match &file {
                Ok(file) => Ok((file.format, summary(file))),
                Err(error) => Err(error.one_line()),
            };
            let expected = expected.map(|(format, text)| (format, text.to_owned()));
            assert_eq!(found, expected.map_err(str::to_owned), "{text}");
        };
        let none = "no servers in it: expected [servers.NAME] (mcpdeck), mcpServers, servers (VS Code) or [mcp_servers.NAME] (Codex)";
        check("c.toml", "", Ok((Format::Ours, "")));
        check("c.toml", "# only a comment\n", Ok((Format::Ours, "")));
        check(
            "c",
            "\u{feff}[servers.a]\ncommand = 'x'\n",
            Ok((Format::Ours, "a=x")),
        );
        check(
            "c.toml",
            "[mcp_servers.a]\ncommand = 'x'",
            Ok((Format::Codex, "a=x")),
        );
        check(
            "c.toml",
            "[settings]\n[mcp_servers.a]\nurl = 'https://x'",
            Ok((Format::Codex, "a=https://x")),
        );
        check(
            "c.json",
            "\u{feff}{ // c\n\"mcpServers\": {\"a\": {\"command\": \"x\",},},}",
            Ok((Format::McpServers, "a=x")),
        );
        check(
            "c",
            "/* c */ {\"servers\": {\"a\": {\"url\": \"http://x\"}}}",
            Ok((Format::VsCode, "a=http://x")),
        );
        check("c.json", "{}", Err(&format!("c.json:1:1: {none}")));
        check("c.json", "", Err(&format!("c.json:1:1: {none}")));
        check("c.json", "[1]", Err(&format!("c.json:1:1: {none}")));
        check("c.toml", "model = 'x'", Err(&format!("c.toml:1:1: {none}")));
        check(
            "c.toml",
            "[setings]",
            Err("c.toml:1:2: unknown key `setings`, did you mean `settings`?"),
        );
        check(
            "c.toml",
            "servers = 1",
            Err("c.toml:1:11: `servers` must be a table, not a number"),
        );
        check(
            "c.json",
            "{\"mcpServers\": []}",
            Err("c.json:1:16: `mcpServers` must be a table, not a list"),
        );
        check(
            "c.json",
            "{\"mcpServers\": {}",
            Err("c.json:1:1: unterminated object"),
        );
    }

    #[test]
    fn settings_and_keys_are_read_strictly() {
        let check = |text: &str, expected: &str| {
            let error = read_as("c.toml", text)
                .map(|file| summary(&file))
                .unwrap_err();
            assert_eq!(error.one_line(), expected, "{text}");
        };
        check(
            "[settings]\nmous = true",
            "c.toml:2:1: unknown key `mous`, did you mean `mouse`?",
        );
        check(
            "[settings]\nmouse = 1",
            "c.toml:2:9: `mouse` must be true or false, not a number",
        );
        check(
            "[settings]\nlocal_concurrency = 0",
            "c.toml:2:21: `local_concurrency` must be a whole number from 1 to 1000",
        );
        check(
            "[keys]\nquit = 'q'",
            "c.toml:2:8: `quit` must be a list of strings, not a string",
        );
        let file = read_as(
            "c.toml",
            "settings.debounce = '1s'\n[keys]\nquit = ['q', 'ctrl-c']\nhelp = []",
        )
        .unwrap();
        assert_eq!(
            file.settings.debounce,
            Some(std::time::Duration::from_secs(1))
        );
        let quit: Vec<_> = file
            .keys
            .of("quit")
            .unwrap()
            .keys
            .iter()
            .map(super::super::Written::text)
            .collect();
        assert_eq!(quit, ["q", "ctrl-c"]);
        let problem = file.keys.of("help").unwrap().unknown(["quit"]);
        assert_eq!(problem.one_line(), "c.toml:4:1: unknown key `help`");
    }

    #[test]
    fn a_bad_server_hides_no_other() {
        let text = "[servers.a]\ncommand = 'x'\n[servers.b.c]\ncommand = 'y'\n[servers.\"d\\u0007\"]\ncommand = 'z'\n[servers.e]\nenabled = false\ncommand = 'w'\nurl = 'v'\n";
        let file = read_as("c.toml", text).unwrap();
        assert_eq!(
            summary(&file),
            "a=x; c.toml:3:12: quote the name: [servers.\"b.c\"]; c.toml:5:10: the name of a server must not contain control characters; c.toml:10:1: a server has either `command` or `url`, not both"
        );
        assert!(!file.entries[3].enabled);
        let origin = file.entries[1].origin.as_ref().unwrap();
        assert_eq!((origin.line, origin.editable), (3, true));
    }

    #[test]
    fn a_bad_server_is_reached_as_its_keys_tell() {
        let check = |path: &str, text: &str, expected: TransportKind| {
            let entry = &read_as(path, text).unwrap().entries[0];
            assert!(entry.definition.is_err(), "{text}");
            assert_eq!(entry.transport, expected, "{text}");
        };
        let (stdio, http, sse) = (
            TransportKind::Stdio,
            TransportKind::Http,
            TransportKind::Sse,
        );
        check("c.toml", "servers.a = { comand = 'x' }", stdio);
        check("c.toml", "servers.a = { url = 'https://x', x = 1 }", http);
        check("c.toml", "servers.a = { url = 1 }", http);
        check(
            "c.toml",
            "servers.a = { url = 'https://x', transport = 'sse', x = 1 }",
            sse,
        );
        check("c.toml", "servers.a.b = { command = 'x' }", stdio);
        check("c.toml", "servers = { '' = { url = 'https://x' } }", http);
        let foreign = |body: &str| format!("{{\"mcpServers\": {{\"a\": {body}}}}}");
        check("c.json", &foreign(r#"{"type": "sse", "url": 1}"#), sse);
        check("c.json", &foreign(r#"{"serverUrl": 1}"#), http);
        check("c.json", &foreign(r#"{"type": "http"}"#), http);
        check(
            "c.json",
            &foreign(r#"{"type": "stdio", "command": 1, "url": ""}"#),
            stdio,
        );
        check("c.json", &foreign("3"), stdio);
    }

    #[test]
    fn no_message_shows_a_secret() {
        let check = |text: &str| {
            let message = match read_as("c.toml", text) {
                Ok(file) => file.entries[0].definition.as_ref().unwrap_err().to_string(),
                Err(error) => error.to_string(),
            };
            assert!(message.contains("c.toml:"), "{message}");
            assert!(!message.contains("hunter22"), "{message}");
        };
        check("servers.a = { command = 'x', env = { T = 'hunter22' }, foo = 1 }");
        check("servers.a = { command = 'x', enviro = { T = 'hunter22' }, foo = 1 }");
        check("servers.a = { url = 'x', headers = { T = ['hunter22'] } }");
        check("servers.a = { url = 'x', token = 'hunter22' }");
        check("servers.a = { url = 'x', env = 'hunter22' }");
        check("servers.a = { url = 'x', oauth = { client_secret = 'hunter22', x = 1 } }");
        check("servers.a = { url = 'x', env = { T = 'hunter22 }");
        check("servers.a = { url = 'x', env = { T = hunter22 }}");
        check("[servers.a.env]\nT = '''\nhunter22\n\u{1}'''");
        check("[servers.a]\nkeys = { command = 'x', T = 'hunter22' }");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(
            text in "([a-e]|servers|mcpServers|mcp_servers|command|url|env|[\\[\\]{}=\"'.,:# \n1]){0,40}|\\PC{0,60}",
            json: bool,
        ) {
            let path = if json { "c.json" } else { "c.toml" };
            if let Err(error) = read_as(path, &text) {
                let _ = error.to_string();
            }
        }

        #[test]
        fn no_server_makes_a_reader_panic(
            body in "((command|url|args|env|type|oauth|x)[:=](\"a\"|1|true|null|\\[\\]|\\{\\}|\\[1\\])[,\n]){0,6}",
            json: bool,
        ) {
            let text = if json {
                format!("{{\"mcpServers\":{{\"a\":{{{}}}}}}}", body.replace('=', ":"))
            } else {
                format!("[servers.a]\n{}", body.replace(':', "=").replace(',', "\n"))
            };
            let _ = read_as(if json { "c.json" } else { "c.toml" }, &text);
        }
    }
}
