//! Which definitions of project files a person has approved.
//!
//! An approval is bound to a hash of the definition, its name and its folder: whatever changes in
//! it, the approval no longer holds. The texts come from and go to the state folder, see
//! [`crate::app::config_store`].

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entry::{Entry, Stdio, Transport, Written};
use super::secret;

/// The version of the file. A file of a later one approves nothing.
const VERSION: u32 = 1;

/// The approvals of this user, in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvals(Vec<Approval>);

/// One approval. The hash alone decides; the rest is for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The server.
    pub name: String,
    /// The file with its definition.
    pub file: String,
    /// The SHA-256 of [`Entry::canonical`], in hexadecimal.
    pub hash: String,
    /// When it was given, RFC 3339.
    pub approved: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    approvals: Vec<Approval>,
}

impl Approvals {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// What is wrong with it: then nothing is approved.
    pub fn parse(text: &str) -> Result<Self, String> {
        let stored: Stored =
            serde_json::from_str(text).map_err(|error| format!("no list of approvals: {error}"))?;
        if stored.version != VERSION {
            return Err(format!("written by another version ({})", stored.version));
        }
        Ok(Self(stored.approvals))
    }

    /// The text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let stored = Stored {
            version: VERSION,
            approvals: self.0.clone(),
        };
        let text = serde_json::to_string_pretty(&stored);
        // Strings and a number can always be written.
        text.unwrap_or_default() + "\n"
    }

    /// Whether exactly this definition was approved.
    #[must_use]
    pub fn holds_for(&self, entry: &Entry) -> bool {
        let hash = fingerprint(entry);
        self.0.iter().any(|approval| approval.hash == hash)
    }

    /// Approves the definition, in the place of earlier ones of the same name and file.
    pub fn approve(&mut self, entry: &Entry, now: String) {
        let file = entry.origin.as_ref().map(|origin| origin.file.as_path());
        let file = file.unwrap_or(Path::new("")).display().to_string();
        let name = entry.name.to_string();
        self.0.retain(|old| old.name != name || old.file != file);
        self.0.push(Approval {
            hash: fingerprint(entry),
            name,
            file,
            approved: now,
        });
    }

    /// Takes approvals of the name back: those of one file, or all. Returns which.
    pub fn revoke(&mut self, name: &str, file: Option<&Path>) -> Vec<Approval> {
        let file = file.map(|file| file.display().to_string());
        let is_meant = |approval: &mut Approval| {
            approval.name == name && file.as_ref().is_none_or(|file| *file == approval.file)
        };
        self.0.extract_if(.., is_meant).collect()
    }

    /// All approvals.
    pub fn iter(&self) -> impl Iterator<Item = &Approval> {
        self.0.iter()
    }
}

/// The hash of the definition.
fn fingerprint(entry: &Entry) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(entry.canonical().as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What would be started or called, line by line, for the question whether to approve it. Values
/// that look like secrets are `***`; everything else is shown, since a variable can make a
/// harmless program do anything.
#[must_use]
pub fn describe(entry: &Entry) -> Vec<String> {
    let mut lines = Vec::new();
    match entry
        .definition
        .as_ref()
        .map(|definition| &definition.transport)
    {
        Ok(Transport::Stdio(stdio)) => {
            lines.push(format!("runs: {}", command_line(stdio)));
            if let Some(cwd) = &stdio.cwd {
                lines.push(format!("in: {}", cwd.text()));
            }
            lines.extend(
                stdio
                    .env
                    .iter()
                    .map(|(name, value)| with("env", name, value)),
            );
            if let Some(file) = &stdio.env_file {
                lines.push(format!("env file: {}", file.text()));
            }
            if !stdio.pass_env.is_empty() {
                lines.push(format!("gets your: {}", stdio.pass_env.join(", ")));
            }
            if stdio.inherit_env == Some(true) {
                lines.push("gets your whole environment".to_owned());
            }
        }
        Ok(Transport::Http(http)) => {
            lines.push(format!("calls: {}", secret::masked_url(http.url.text())));
            lines.extend(
                http.headers
                    .iter()
                    .map(|(name, value)| with("header", name, value)),
            );
            if !http.headers_command.is_empty() {
                let words: Vec<&str> = http.headers_command.iter().map(Written::text).collect();
                let words = secret::masked_arguments(&words);
                let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
                lines.push(format!("runs: {}", words.join(" ")));
            }
        }
        Err(problem) => lines.push(format!("has an error: {}", problem.message())),
    }
    if let Some(origin) = &entry.origin {
        lines.push(format!("from: {}:{}", origin.file.display(), origin.line));
    }
    lines
}

fn command_line(stdio: &Stdio) -> String {
    let args: Vec<&str> = stdio.args.iter().map(Written::text).collect();
    let command = shell_word(stdio.command.text());
    let args = secret::masked_arguments(&args);
    let args = args.iter().map(|arg| shell_word(arg));
    let words: Vec<String> = std::iter::once(command).chain(args).collect();
    words.join(" ")
}

/// The word as a shell takes it, so that it is seen where one argument ends.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%*${}~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn with(what: &str, name: &str, value: &Written) -> String {
    let text = value.text();
    format!(
        "{what}: {name}={}",
        secret::masked(text, secret::literal_in(name, text))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, FileInput, Role, read};

    fn entry(text: &str) -> Entry {
        let environment = Environment::new([], None, "/code".into());
        let input = FileInput {
            path: Path::new("/code/.mcpdeck.toml"),
            text,
            role: Role::Project,
            environment: &environment,
        };
        read(input).unwrap().entries.remove(0)
    }

    const TEXT: &str = "servers.a = { command = 'npx', args = ['-y', 'x y', '--token', 'hunter22'], env = { LD_PRELOAD = './x.so', API_KEY = 'hunter22' } }";

    #[test]
    fn an_approval_holds_for_exactly_one_definition() {
        let mut approvals = Approvals::default();
        assert!(!approvals.holds_for(&entry(TEXT)));
        approvals.approve(&entry(TEXT), "now".into());
        let approvals = Approvals::parse(&approvals.to_text()).unwrap();
        assert!(approvals.holds_for(&entry(TEXT)));
        // Where it stands, and whether it is switched on, does not matter.
        let moved = format!("# c\n\n{}", TEXT.replace("env =", "enabled = false, env ="));
        assert!(approvals.holds_for(&entry(&moved)));
        for changed in ["npx2", "x z", "./y.so"] {
            let (old, new) = match changed {
                "npx2" => ("npx", changed),
                "x z" => ("x y", changed),
                _ => ("./x.so", changed),
            };
            assert!(
                !approvals.holds_for(&entry(&TEXT.replace(old, new))),
                "{changed}"
            );
        }
        assert!(!approvals.holds_for(&entry(&TEXT.replace("servers.a", "servers.b"))));
    }

    #[test]
    fn a_newer_approval_takes_the_place_of_the_older() {
        let mut approvals = Approvals::default();
        approvals.approve(&entry(TEXT), "1".into());
        let newer = TEXT.replace("npx", "other");
        approvals.approve(&entry(&newer), "2".into());
        assert_eq!(approvals.iter().count(), 1);
        assert!(approvals.holds_for(&entry(&newer)) && !approvals.holds_for(&entry(TEXT)));
        assert!(
            approvals
                .revoke("a", Some(Path::new("/elsewhere")))
                .is_empty()
        );
        assert_eq!(approvals.revoke("a", None).len(), 1);
        assert!(!approvals.holds_for(&entry(&newer)));
    }

    #[test]
    fn what_is_no_list_approves_nothing() {
        for text in ["", "{}", "[]", "{\"version\": 2, \"approvals\": []}"] {
            assert!(Approvals::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_question_shows_all_but_secrets() {
        assert_eq!(
            describe(&entry(TEXT)),
            [
                "runs: npx -y 'x y' --token ***",
                "env: LD_PRELOAD=./x.so",
                "env: API_KEY=***",
                "from: /code/.mcpdeck.toml:1"
            ]
        );
    }
}
