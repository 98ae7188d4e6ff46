//! Definitions of other tools' files as they would stand in ours.
//!
//! More forms are read than at a start: `shape` brings the files of all tools into one shape,
//! `foreign` reads it, and what comes out is written in our terms: variables in
//! our forms, paths that hold wherever we run, and no literal secret unnoticed. Files are found,
//! read and written by [`crate::app::import`].

mod literal;
mod place;
mod shape;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

pub use literal::LiteralSecret;
pub use place::{Place, Platform, part_matches, places, recognise};

use self::literal::Names;
use self::variables::Forms;
use super::entry::{Definition, Entry, Http, Stdio, Transport, Written};
use super::file::{self, Format, Syntax};
use super::foreign;
use super::problem::ConfigError;
use super::source::Spot;
use super::{Environment, FileInput, Role};
use crate::domain::ServerName;

/// A tool whose files we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Windsurf.
    Windsurf,
    /// Visual Studio Code.
    VsCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Zed.
    Zed,
    /// Continue.
    Continue,
    /// opencode.
    OpenCode,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 10] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::Windsurf,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Zed,
        Self::Continue,
        Self::OpenCode,
    ];

    /// Its name, as it calls itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::Windsurf => "Windsurf",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Zed => "Zed",
            Self::Continue => "Continue",
            Self::OpenCode => "opencode",
        }
    }

    /// The word for it on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Windsurf => "windsurf",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Zed => "zed",
            Self::Continue => "continue",
            Self::OpenCode => "opencode",
        }
    }

    /// The tool of the word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.word() == word)
    }
}

/// For whom a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The user, wherever they work.
    User,
    /// Whoever works in the project, whose folder it is.
    Project(Arc<Path>),
}

/// A file to be read.
#[derive(Debug, Clone, Copy)]
pub struct ImportInput<'a> {
    /// Where it is; also what messages name.
    pub path: &'a Path,
    /// What is in it.
    pub text: &'a str,
    /// Whose it is, where that is known.
    pub tool: Option<Tool>,
    /// For whom it holds.
    pub scope: &'a Scope,
    /// The platform that it was written on.
    pub platform: Platform,
    /// The environment of the process.
    pub environment: &'a Environment,
}

/// What can be taken over from a file.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The servers, in its order.
    pub servers: Vec<Candidate>,
    /// The servers that cannot or should not be taken over.
    pub left_out: Vec<LeftOut>,
}

/// A server as it would stand in a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: ServerName,
    /// What it is.
    pub definition: Definition,
    /// The same with variables in the place of literal secrets.
    pub without_secrets: Definition,
    /// Whether the other tool has it switched on.
    pub enabled: bool,
    /// Its file.
    pub file: Arc<Path>,
    /// Its line, from 1.
    pub line: usize,
    /// The secrets that stand in it in plain text.
    pub secrets: Vec<LiteralSecret>,
    /// What a person should know or do, as fragments.
    pub remarks: Vec<String>,
}

/// A server that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: ServerName,
    /// Its file.
    pub file: Arc<Path>,
    /// Its line, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Reads the file; `None` where it has none of the tables that hold servers.
///
/// # Errors
///
/// [`ConfigError::Invalid`] where the syntax is wrong. What is wrong with one server makes it
/// [`LeftOut`].
pub fn read(input: ImportInput<'_>) -> Result<Option<Import>, ConfigError> {
    let opened = FileInput {
        path: input.path,
        text: input.text,
        role: Role::Named,
        environment: input.environment,
    };
    let (reading, tree, syntax) = file::open(opened)?;
    let pairs = shape::servers(&tree, input.scope, input.path)
        .map_err(|misplaced| Spot::new(&reading.source, &misplaced.span).problem(misplaced.kind))?;
    let is_ours = syntax == Syntax::Toml && input.tool.is_none() && !file::is_foreign(&tree);
    let mut import = Import::default();
    let mut names = Names::new(input.environment);
    if is_ours {
        for entry in reading.read_ours(&tree)?.entries {
            import.add(entry, None, &mut names);
        }
        return Ok(Some(import));
    }
    let Some(pairs) = pairs else {
        return Ok(None);
    };
    let mut read = reading.file(Format::McpServers);
    foreign::add_all(&reading, &mut read, &pairs);
    let mut ignored: HashMap<&ServerName, Vec<&str>> = HashMap::new();
    for key in &read.ignored {
        if let Some(server) = &key.server {
            ignored.entry(server).or_default().push(&key.key);
        }
    }
    for entry in read.entries {
        let ignored = ignored.get(&entry.name).map_or(&[][..], Vec::as_slice);
        import.add(entry, Some((&input, ignored)), &mut names);
    }
    Ok(Some(import))
}

impl Import {
    /// Adds a server; of another tool, with what is known of its file and its keys that nothing
    /// reads.
    fn add(
        &mut self,
        entry: Entry,
        foreign: Option<(&ImportInput<'_>, &[&str])>,
        names: &mut Names<'_>,
    ) {
        let Some(origin) = &entry.origin else { return };
        let (file, line) = (Arc::from(origin.file.as_path()), origin.line);
        let reason = match &entry.definition {
            Err(problem) => Some(problem.message()),
            Ok(definition) if starts_us(definition) => {
                Some("its command is mcpdeck, which would start itself".to_owned())
            }
            Ok(_) => None,
        };
        let definition = match (reason, entry.definition) {
            (None, Ok(definition)) => definition,
            (reason, _) => {
                let reason = reason.unwrap_or_default();
                let name = entry.name;
                self.left_out.push(LeftOut {
                    name,
                    file,
                    line,
                    reason,
                });
                return;
            }
        };
        let (definition, remarks) = match foreign {
            Some((input, ignored)) => in_our_terms(&definition, input, ignored),
            None => (definition, Vec::new()),
        };
        let (without_secrets, secrets) =
            literal::without_secrets(entry.name.as_str(), &definition, names);
        self.servers.push(Candidate {
            name: entry.name,
            definition,
            without_secrets,
            enabled: entry.enabled,
            file,
            line,
            secrets,
            remarks,
        });
    }
}

/// Whether the command is mcpdeck, or something that is told to start `mcpdeck serve`.
fn starts_us(definition: &Definition) -> bool {
    let Transport::Stdio(stdio) = &definition.transport else {
        return false;
    };
    let is_us = |text: &str| {
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == env!("CARGO_PKG_NAME")
    };
    let words = stdio.args.iter().map(Written::text);
    let words: Vec<&str> = words.flat_map(str::split_whitespace).collect();
    is_us(stdio.command.text())
        || words
            .windows(2)
            .any(|pair| is_us(pair[0]) && pair[1] == "serve")
}

/// The definition in our forms, and what is to be said of it.
fn in_our_terms(
    definition: &Definition,
    input: &ImportInput<'_>,
    ignored: &[&str],
) -> (Definition, Vec<String>) {
    let forms = Forms {
        tool: input.tool,
        scope: input.scope,
        platform: input.platform,
    };
    let mut remarks = Vec::new();
    let mut remark = |text: String| {
        if !remarks.contains(&text) {
            remarks.push(text);
        }
    };
    let mut convert = |written: &Written| {
        let converted = forms.convert(written.text());
        for variable in &converted.inputs {
            remark(format!("needs the environment variable {variable}"));
        }
        for form in &converted.unknown {
            remark(format!(
                "{form} means nothing to mcpdeck and was copied as it is; replace it"
            ));
        }
        written.with_text(&converted.text)
    };
    let transport = match &definition.transport {
        Transport::Stdio(stdio) => {
            let mut stdio = Stdio {
                command: convert(&stdio.command),
                args: stdio.args.iter().map(&mut convert).collect(),
                env: named(&stdio.env, &mut convert),
                env_file: stdio.env_file.as_ref().map(&mut convert),
                cwd: stdio.cwd.as_ref().map(&mut convert),
                ..stdio.clone()
            };
            if let Scope::Project(folder) = input.scope {
                below(&mut stdio, folder);
            }
            Transport::Stdio(stdio)
        }
        Transport::Http(http) => Transport::Http(Http {
            url: convert(&http.url),
            headers: named(&http.headers, &mut convert),
            ..http.clone()
        }),
    };
    for key in ignored {
        remark(format!("its key `{key}` was not copied"));
    }
    let definition = Definition {
        transport,
        ..definition.clone()
    };
    (definition, remarks)
}

fn named(
    values: &[(String, Written)],
    convert: &mut impl FnMut(&Written) -> Written,
) -> Vec<(String, Written)> {
    let values = values.iter();
    values
        .map(|(name, value)| (name.clone(), convert(value)))
        .collect()
}

/// A server of a project runs in its folder, wherever we are: what is relative counts from there.
fn below(stdio: &mut Stdio, folder: &Path) {
    let absolute = |written: &Written| {
        let text = written.text();
        if text.starts_with("~/") || text.starts_with("${") || Path::new(text).is_absolute() {
            return written.clone();
        }
        let folder = variables::literal(&folder.to_string_lossy());
        written.with_text(&Path::new(&folder).join(text).to_string_lossy())
    };
    stdio.env_file = stdio.env_file.as_ref().map(absolute);
    stdio.cwd = Some(match &stdio.cwd {
        Some(cwd) => absolute(cwd),
        None => Written::plain(&variables::literal(&folder.to_string_lossy())),
    });
}
