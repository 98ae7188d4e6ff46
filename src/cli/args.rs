//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use super::command::Command;
use crate::config::{ConfigProblem, KeyCheck, Keys, nearest, parse_duration};

const EXAMPLES: &str = "\
Examples:
  mcpdeck                                    open the deck
  mcpdeck list                               all servers, with status and what is wrong
  mcpdeck list all --json                    everything, as one JSON object
  mcpdeck list tools -- npx -y some-server   one server, without any config
  mcpdeck read files file:///notes.txt       what a resource holds";

/// An interactive terminal connection manager for MCP servers.
///
/// Without a command the deck opens: all configured servers live on one screen.
#[derive(Debug, Parser)]
#[command(name = "mcpdeck", version, after_help = EXAMPLES)]
pub struct Args {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// One server given on the command line.
    #[command(flatten)]
    pub adhoc: AdHocOptions,
    /// What to do; nothing: open the deck.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Start this command as the only server
    #[arg(last = true, value_name = "COMMAND")]
    pub server_command: Vec<String>,
    /// What checks the key lists of config files; see [`Args::read`].
    #[arg(skip = no_check as KeyCheck)]
    pub check_keys: KeyCheck,
}

const fn no_check(_: &Keys) -> Option<ConfigProblem> {
    None
}

/// Options that stand before or after the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, and they do not depend on each other"
)]
pub struct Global {
    /// Read this config file instead of the usual ones; a later one overrides servers of the same name
    #[arg(long, global = true, value_name = "PATH")]
    pub config: Vec<PathBuf>,
    /// Use only this server; may be repeated
    #[arg(long, global = true, value_name = "NAME")]
    pub server: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Start servers of project files without asking, this once
    #[arg(long, global = true)]
    pub trust: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Bound on the whole run, like 10s; unfinished servers count as failed
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// Options of a server that is given on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A server given on the command line")]
pub struct AdHocOptions {
    /// Call this URL as the only server
    #[arg(long, global = true)]
    pub url: Option<String>,
    /// A variable for the command: K=V, or K to pass on our own
    #[arg(long, global = true, value_name = "K=V")]
    pub env: Vec<String>,
    /// Pass on our whole environment
    #[arg(long, global = true)]
    pub inherit_env: bool,
    /// Where the command runs
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<String>,
    /// A header for the URL: 'K: V'
    #[arg(long, global = true, value_name = "K: V")]
    pub header: Vec<String>,
    /// Which HTTP transport the URL speaks: http or sse
    #[arg(long, global = true)]
    pub transport: Option<String>,
    /// Which protocol era is spoken: auto, legacy or modern
    #[arg(long, global = true)]
    pub protocol: Option<String>,
}

/// The options in front of the command, and the rest of the line.
#[derive(Debug, Parser)]
struct Before {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    adhoc: AdHocOptions,
    #[command(subcommand)]
    rest: Option<Rest>,
}

#[derive(Debug, Subcommand)]
enum Rest {
    #[command(external_subcommand)]
    Words(Vec<OsString>),
}

impl Args {
    /// Reads a command line, the program's name first. Options that may be repeated add up,
    /// wherever they stand. What is wrong with key lists the deck alone knows.
    ///
    /// # Errors
    ///
    /// What is to be printed, and the exit code, also for `--help` and `--version`.
    pub fn read(line: &[OsString], check_keys: KeyCheck) -> Result<Self, clap::Error> {
        let mut args = Self::try_parse_from(line).map_err(|error| match error.kind() {
            ErrorKind::UnknownArgument => unknown_command(line).unwrap_or(error),
            _ => error,
        })?;
        args.check_keys = check_keys;
        // Of a global option clap keeps what stands behind the command, and drops what stands in
        // front of it.
        let Some((program, [first, ..])) = line.split_first() else {
            return Ok(args);
        };
        if !first.as_encoded_bytes().starts_with(b"-") {
            return Ok(args);
        }
        let Ok(Before {
            global: front,
            adhoc: adhoc_front,
            rest: Some(Rest::Words(words)),
        }) = Before::try_parse_from(line)
        else {
            return Ok(args);
        };
        // Words behind `--` are no command of ours.
        if line[line.len() - words.len() - 1] != "--" {
            let behind = Self::try_parse_from(std::iter::once(program).chain(&words))?;
            args.global.config = [front.config, behind.global.config].concat();
            args.global.server = [front.server, behind.global.server].concat();
            args.adhoc.env = [adhoc_front.env, behind.adhoc.env].concat();
            args.adhoc.header = [adhoc_front.header, behind.adhoc.header].concat();
        }
        Ok(args)
    }

    /// The command behind `--`, of whichever command it is.
    #[must_use]
    pub fn server_command(&self) -> &[String] {
        match &self.command {
            Some(command) => command.server_command(),
            None => &self.server_command,
        }
    }
}

/// Says that there is no such command, and which one may be meant, where that is what is wrong.
fn unknown_command(line: &[OsString]) -> Option<clap::Error> {
    let Rest::Words(words) = Before::try_parse_from(line).ok()?.rest?;
    let word = words.first()?.to_str()?;
    let mut command = Args::command();
    let names: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .chain(["help"])
        .collect();
    if names.contains(&word) {
        return None;
    }
    let meant = match nearest(word, names.iter().copied()) {
        Some(near) => format!("; did you mean '{near}'?"),
        None => format!("; commands: {}", names.join(", ")),
    };
    let message = format!("there is no command '{word}'{meant}");
    Some(command.error(ErrorKind::InvalidSubcommand, message))
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a duration like 10s, 250ms or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        let check = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let args = Args::read(&words, |_| None).unwrap();
            assert!(args.global.json, "{line}");
            assert_eq!(args.global.server, ["a", "b"], "{line}");
            assert_eq!(args.server_command(), ["c", "--json"], "{line}");
        };
        check("mcpdeck --json --server a --server b list all -- c --json");
        check("mcpdeck list all --server a --server b --json -- c --json");
        check("mcpdeck --server a list all --server b --json -- c --json");
        check("mcpdeck --server=a --json list all --server b -- c --json");
        check("mcpdeck --json --server a --server b -- c --json");
    }
}
