//! What can be wrong with a configuration, told for the person who has to correct it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::ids::NameError;
use crate::domain::{Failure, FailureKind};

/// Where a problem is. The source line shows `***` in place of values that may be secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<Path>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The line itself, cut where it is long.
    pub source_line: Arc<str>,
    /// How many columns of the shown line stand before the place.
    pub caret: usize,
    /// How many columns the place has.
    pub width: usize,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// The text is no TOML or JSON.
    #[error("{0}")]
    Syntax(String),
    /// The file has none of the tables that hold servers.
    #[error(
        "no servers in it: expected [servers.NAME] (mcpdeck), mcpServers, servers (VS Code) or [mcp_servers.NAME] (Codex)"
    )]
    NoServers,
    /// A key that nothing reads.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known key that it was most likely meant to be.
        nearest: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, not {found}")]
    WrongType {
        /// Its key.
        key: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value of the right type that is not allowed.
    #[error("`{key}` must be {expected}")]
    BadValue {
        /// Its key.
        key: String,
        /// What it should be.
        expected: String,
        /// The allowed value that it was most likely meant to be.
        nearest: Option<String>,
    },
    /// A text that is no server name.
    #[error("{0}")]
    BadName(NameError),
    /// A dot in a name that is not quoted makes two names.
    #[error("quote the name: [servers.\"{0}\"]")]
    QuoteName(String),
    /// A server with both `command` and `url`.
    #[error("a server has either `command` or `url`, not both")]
    CommandAndUrl,
    /// A server with neither `command` nor `url`.
    #[error("a server needs `command` or `url`")]
    NeitherCommandNorUrl,
    /// A key of the other kind of server.
    #[error("`{key}` belongs to a server with `{owner}`")]
    Misplaced {
        /// The key.
        key: String,
        /// `command` or `url`.
        owner: &'static str,
    },
    /// A variable that is not set.
    #[error("environment variable {0} is not set")]
    MissingVariable(String),
    /// A variable whose value is no text.
    #[error("environment variable {0} is not valid Unicode")]
    NotUnicode(String),
    /// A value that VS Code would ask for.
    #[error("input {input} is needed: set the environment variable {variable}")]
    MissingInput {
        /// The name of the input.
        input: String,
        /// The variable that gives it.
        variable: String,
    },
    /// `${prefix:...}` that is not known.
    #[error("unknown variable form ${{{0}:...}}; a literal ${{ is written $${{")]
    UnknownForm(String),
    /// `${` without a name behind it.
    #[error("expected ${{NAME}} or ${{NAME:-default}}; a literal ${{ is written $${{")]
    BadVariable,
    /// `${` without `}`.
    #[error("a ${{ is not closed by }}; a literal ${{ is written $${{")]
    OpenVariable,
    /// `~/` without a home folder.
    #[error("~/ cannot be expanded: there is no home folder")]
    NoHome,
    /// The `env_file` cannot be read.
    #[error("env file {file}: {reason}", file = .file.display())]
    EnvFile {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A text that is no URL of a server.
    #[error("`url` must begin with http:// or https:// and name a host")]
    BadUrl,
    /// A name that no header can have.
    #[error("{0:?} is not a valid header name")]
    BadHeaderName(String),
    /// A value that no header can have.
    #[error("the value of header {0} has characters that a header cannot have")]
    BadHeaderValue(String),
    /// A name that no environment variable can have.
    #[error("{0:?} is not a valid name of an environment variable")]
    BadVariableName(String),
    /// A command that is empty.
    #[error("`command` is empty")]
    EmptyCommand,
    /// Rejected by a reader of a later layer, the key map say.
    #[error("{0}")]
    Other(String),
}

impl ProblemKind {
    /// The word that was most likely meant.
    fn nearest(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { nearest, .. } | Self::BadValue { nearest, .. } => nearest.as_deref(),
            _ => None,
        }
    }

    /// Whether the cause lies outside the file: its line would send a person to the wrong place.
    const fn is_outside(&self) -> bool {
        matches!(
            self,
            Self::MissingVariable(_) | Self::NotUnicode(_) | Self::MissingInput { .. }
        )
    }
}

/// One problem and its place. Cheap to clone; it never holds a secret.
///
/// Its Display has several lines, like a compiler's; [`ConfigProblem::one_line`] has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    kind: ProblemKind,
    place: Option<Place>,
}

impl ConfigProblem {
    /// A problem, at the place if there is one.
    #[must_use]
    pub fn new(kind: ProblemKind, place: Option<Place>) -> Self {
        Self(Arc::new(Inner { kind, place }))
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ProblemKind {
        &self.0.kind
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What is wrong, and what was most likely meant, without the place.
    #[must_use]
    pub fn message(&self) -> String {
        match self.0.kind.nearest() {
            Some(nearest) => format!("{}, did you mean `{nearest}`?", self.0.kind),
            None => self.0.kind.to_string(),
        }
    }

    /// `FILE:LINE:COLUMN: message`.
    #[must_use]
    pub fn one_line(&self) -> String {
        match &self.0.place {
            Some(Place {
                file, line, column, ..
            }) => {
                format!("{}:{line}:{column}: {}", file.display(), self.message())
            }
            None => self.message(),
        }
    }

    /// The failure of the server that has the problem. It names file and line, except where the
    /// cause is a variable that is not set.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let message = if self.0.kind.is_outside() {
            self.message()
        } else {
            self.one_line()
        };
        Failure::new(FailureKind::Config, message)
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        let nearest = self.0.kind.nearest();
        let Some(place) = &self.0.place else {
            return match nearest {
                Some(nearest) => write!(f, ", did you mean `{nearest}`?"),
                None => Ok(()),
            };
        };
        let gutter = place.line.to_string().len();
        let Place {
            file,
            line,
            column,
            source_line,
            caret,
            width,
        } = place;
        writeln!(f, "\n{:gutter$}--> {}:{line}:{column}", "", file.display())?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line} | {source_line}")?;
        write!(f, "{:gutter$} | {:caret$}{}", "", "", "^".repeat(*width))?;
        match nearest {
            Some(nearest) => write!(f, " did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigProblem {}

/// Why a configuration cannot be used at all (exit code 2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{file}: {reason}", file = .file.display())]
    Unreadable {
        /// The file.
        file: Arc<Path>,
        /// What the system says.
        reason: Arc<str>,
    },
    /// A file is wrong outside the tables of its servers.
    #[error("{0}")]
    Invalid(ConfigProblem),
    /// The command line describes no server.
    #[error("{0}")]
    Usage(Arc<str>),
}

impl ConfigError {
    /// The error without line breaks.
    #[must_use]
    pub fn one_line(&self) -> String {
        match self {
            Self::Invalid(problem) => problem.one_line(),
            Self::Unreadable { .. } | Self::Usage(_) => self.to_string(),
        }
    }
}

impl From<ConfigProblem> for ConfigError {
    fn from(problem: ConfigProblem) -> Self {
        Self::Invalid(problem)
    }
}

/// What the system says of a failed read or write, as a fragment without its number.
#[must_use]
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_in_several_lines_or_in_one() {
        let kind = ProblemKind::UnknownKey {
            key: "comand".into(),
            nearest: Some("command".into()),
        };
        let place = Place {
            file: Path::new("/c.toml").into(),
            line: 12,
            column: 1,
            source_line: "comand = \"npx\"".into(),
            caret: 0,
            width: 6,
        };
        let problem = ConfigProblem::new(kind.clone(), Some(place));
        let expected = "unknown key `comand`\n  --> /c.toml:12:1\n   |\n12 | comand = \"npx\"\n   | ^^^^^^ did you mean `command`?";
        assert_eq!(problem.to_string(), expected);
        assert_eq!(
            problem.one_line(),
            "/c.toml:12:1: unknown key `comand`, did you mean `command`?"
        );
        let nowhere = ConfigProblem::new(kind, None);
        assert_eq!(nowhere.to_string(), nowhere.one_line());
    }

    #[test]
    fn a_missing_variable_is_told_without_a_place() {
        let kind = ProblemKind::MissingVariable("DOCS_TOKEN".into());
        let failure = ConfigProblem::new(kind, None).to_failure();
        assert_eq!(
            &*failure.message,
            "environment variable DOCS_TOKEN is not set"
        );
    }
}
