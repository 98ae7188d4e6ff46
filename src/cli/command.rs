//! The commands, each with examples and its exit codes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};

use super::args::duration;
use crate::domain::ListMethod;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List servers, or what they offer
    #[command(after_help = "\
Examples:
  mcpdeck list
  mcpdeck list templates --json
  mcpdeck list all --server files --server memory
  mcpdeck list resources -- npx -y @modelcontextprotocol/server-memory

Exit codes: 0 all went well, 3 a server or listing failed, 4 no such server, 5 only log-ins are missing.")]
    List {
        /// What to list
        #[arg(value_enum, default_value_t = What::Servers)]
        what: What,
        /// Start this command as the only server
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Print what a resource holds
    #[command(after_help = "\
Examples:
  mcpdeck read files file:///home/me/notes.txt
  mcpdeck read everything demo://resource/static/1 -o picture.png
  mcpdeck read demo://welcome -- mcpdeck demo-server

Exit codes: 0 read, 3 failed, 4 no such server or resource, 5 a log-in is missing.")]
    Read {
        /// The server's name and the URI; the URI alone with a server given on the command line
        #[arg(required = true, num_args = 1..=2, value_names = ["SERVER", "URI"])]
        target: Vec<String>,
        /// Write to this file instead of stdout
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Start this command as the only server
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Connect to all servers, and say of each how it went and what to do
    #[command(after_help = "\
Examples:
  mcpdeck check
  mcpdeck check --timeout 30s --json
  mcpdeck check --server files --server memory
  mcpdeck check --config .vscode/mcp.json
  mcpdeck check -- npx -y @modelcontextprotocol/server-memory

Exit codes: 0 all went well, 3 a server or listing failed, 4 no such server, 5 only log-ins are missing.")]
    Check {
        /// Start this command as the only server
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Print a line for everything that happens to the servers
    #[command(after_help = "\
Examples:
  mcpdeck watch
  mcpdeck watch --json --for 10s
  mcpdeck watch --json | jq -c 'select(.event == \"refresh\" and (.ok | not))'
  mcpdeck watch --server files

Exit codes: 0 when --for is over, 4 no such server, 130 interrupted.")]
    Watch {
        /// End after this time, like 10s
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        within: Option<Duration>,
        /// Start this command as the only server
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Add a server to the config file
    #[command(after_help = "\
Examples:
  mcpdeck add files -- npx -y @modelcontextprotocol/server-filesystem /tmp
  mcpdeck add notes --env LOG=debug --env TOKEN --cwd ~/notes -- ./server
  mcpdeck add docs --url https://example.org/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'

--env NAME writes a reference to the variable, not its value. The server is written to the last
TOML file named with --config, else to the file that `mcpdeck config path` prints.

Exit codes: 0 added, 2 there is a server of that name, or the file cannot be written.")]
    Add {
        /// The name of the new server
        name: String,
        /// The command that starts it
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Remove a server from its config file
    #[command(after_help = "\
Example:
  mcpdeck remove files

Exit codes: 0 removed, 2 the file cannot be written or is another tool's, 4 no such server.")]
    Remove {
        /// The server
        name: String,
    },
    /// Switch a server on, in its config file
    #[command(after_help = "\
Example:
  mcpdeck enable files

Exit codes: 0 it is on, 2 the file cannot be written or is another tool's, 4 no such server.")]
    Enable {
        /// The server
        name: String,
    },
    /// Switch a server off, in its config file
    #[command(after_help = "\
Example:
  mcpdeck disable files

Exit codes: 0 it is off, 2 the file cannot be written or is another tool's, 4 no such server.")]
    Disable {
        /// The server
        name: String,
    },
    /// Show the servers of other tools, and copy those of one to the config file
    #[command(after_help = "\
Examples:
  mcpdeck import                          what there is, and whether it is new, equal or different
  mcpdeck import cursor                   copy the servers of Cursor that are new
  mcpdeck import .vscode/mcp.json --server docs --dry-run
  mcpdeck import claude-code --secrets-to-env
  mcpdeck import codex --replace

Sources: claude-desktop, claude-code, cursor, windsurf, vscode, codex, gemini, zed, continue,
opencode, or a file. Files of other tools are only read. Variables are copied, not their values.

Exit codes: 0 copied or shown, 2 a file cannot be used or written, 4 no such server.")]
    Import {
        /// A tool or a file; without it nothing is copied
        source: Option<String>,
        /// Put them in the place of different servers of the same name
        #[arg(long, requires = "source")]
        replace: bool,
        /// Write ${NAME} in the place of secrets, and say which variables to set
        #[arg(long, requires = "source")]
        secrets_to_env: bool,
        /// Say what would be done, and write nothing
        #[arg(long, requires = "source")]
        dry_run: bool,
    },
    /// Approve a server of a project file, so that it is started
    #[command(after_help = "\
Examples:
  mcpdeck trust files            approve it as it is defined now
  mcpdeck trust --list
  mcpdeck trust --revoke files
  mcpdeck list --trust           approve everything for one run

A project file (./.mcp.json, ./.mcpdeck.toml) can start programs, so its servers wait until they
are approved. A change of the definition asks again. A file named with --config needs no approval.

Exit codes: 0 approved or revoked, 2 it cannot be, 4 no such server or approval.")]
    Trust {
        /// The server
        #[arg(required_unless_present_any = ["list", "revoke"], conflicts_with_all = ["list", "revoke"])]
        name: Option<String>,
        /// Print all approvals
        #[arg(long, conflicts_with = "revoke")]
        list: bool,
        /// Take the approval of this server back
        #[arg(long, value_name = "NAME")]
        revoke: Option<String>,
    },
    /// Look into the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the script that makes a shell complete this command line
    #[command(after_help = "\
Examples:
  mcpdeck completions bash > ~/.local/share/bash-completion/completions/mcpdeck
  mcpdeck completions zsh > ~/.zfunc/_mcpdeck
  mcpdeck completions fish > ~/.config/fish/completions/mcpdeck.fish
  mcpdeck completions powershell >> $PROFILE")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Log in at a remote server
    #[command(after_help = "\
Examples:
  mcpdeck login docs
  mcpdeck login docs --no-browser          over SSH: paste the address that the browser ends at
  mcpdeck login --url https://example.org/mcp

Exit codes: 0 logged in, 2 not a remote server, 3 not reachable, 4 no such server, 5 not logged in.")]
    Login {
        /// The server's name; none with a server given by --url
        name: Option<String>,
        /// Start no browser, only print the address to open
        #[arg(long)]
        no_browser: bool,
    },
    /// Forget the log-in at a remote server
    #[command(after_help = "\
Examples:
  mcpdeck logout docs
  mcpdeck logout --url https://example.org/mcp

Exit codes: 0 nobody is logged in any more, 2 not a remote server, 4 no such server.")]
    Logout {
        /// The server's name; none with a server given by --url
        name: Option<String>,
    },
    /// Be an MCP server that shows a model the resources of all servers
    #[command(after_help = "\
Examples:
  mcpdeck serve                           on stdin and stdout, as agents start it
  mcpdeck serve --server files            one of the configured servers only
  mcpdeck serve --http 127.0.0.1:7777     over Streamable HTTP at /mcp

Exit codes: 0 the input ended or --timeout is over, 2 wrong usage or config, 129, 130 and 143 ended by a signal.")]
    Serve {
        /// What is served, and where
        #[command(flatten)]
        options: ServeArgs,
        /// Start this command as the only server
        #[arg(last = true, value_name = "COMMAND")]
        server_command: Vec<String>,
    },
    /// Be a small MCP server on stdio, to try things with
    #[command(after_help = "\
Examples:
  mcpdeck list all -- mcpdeck demo-server
  mcpdeck add demo -- mcpdeck demo-server")]
    DemoServer,
}

/// What `config` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Print where new servers are written
    #[command(after_help = "\
Examples:
  mcpdeck config path
  $EDITOR \"$(mcpdeck config path)\"
  mcpdeck config path --json        every place that is looked at")]
    Path,
    /// Print what all config files say together; secrets are shown as ***
    #[command(after_help = "\
Examples:
  mcpdeck config show
  mcpdeck config show --server files
  mcpdeck config show --json | jq '.servers[] | {name, source}'

Exit codes: 0 shown, 2 a file cannot be used, 4 no such server.")]
    Show,
    /// Print a config file with every key and its default
    #[command(after_help = "\
Examples:
  mcpdeck config example
  mcpdeck config example > .mcpdeck.toml")]
    Example,
    /// Look for errors in the config files without starting anything
    #[command(after_help = "\
Examples:
  mcpdeck config check
  mcpdeck config check -v                            name the keys that nothing reads, too
  mcpdeck config check --config .vscode/mcp.json

Exit codes: 0 no error, 2 errors.")]
    Check {
        /// Name the keys of other tools' files that nothing reads
        #[arg(long, short)]
        verbose: bool,
    },
}

/// Options of `serve`.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeArgs {
    /// Serve over HTTP on this address instead of stdin and stdout; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    /// Let --http listen where other machines can reach it
    #[arg(long, requires = "http")]
    pub allow_remote: bool,
    /// Take the bearer token of --http from this environment variable instead of making one
    #[arg(long, requires = "http", value_name = "NAME")]
    pub token_env: Option<String>,
    /// How long a call waits for servers that still connect
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub wait: Duration,
}

/// What `list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The servers themselves
    Servers,
    /// Concrete resources
    Resources,
    /// Resource templates
    Templates,
    /// Tools
    Tools,
    /// Prompts
    Prompts,
    /// Everything
    All,
}

impl What {
    /// The one listing that is meant, if it is one.
    #[must_use]
    pub const fn method(self) -> Option<ListMethod> {
        match self {
            Self::Resources => Some(ListMethod::Resources),
            Self::Templates => Some(ListMethod::ResourceTemplates),
            Self::Tools => Some(ListMethod::Tools),
            Self::Prompts => Some(ListMethod::Prompts),
            Self::Servers | Self::All => None,
        }
    }

    /// Whether items of the listing are printed.
    #[must_use]
    pub fn shows(self, method: ListMethod) -> bool {
        self == Self::All || self.method() == Some(method)
    }
}

impl Command {
    /// The command behind `--`.
    #[must_use]
    pub fn server_command(&self) -> &[String] {
        match self {
            Self::List { server_command, .. }
            | Self::Read { server_command, .. }
            | Self::Serve { server_command, .. }
            | Self::Watch { server_command, .. }
            | Self::Check { server_command }
            | Self::Add { server_command, .. } => server_command,
            Self::Remove { .. }
            | Self::Enable { .. }
            | Self::Disable { .. }
            | Self::Import { .. }
            | Self::Trust { .. }
            | Self::Login { .. }
            | Self::Logout { .. }
            | Self::Config(_)
            | Self::Completions { .. }
            | Self::DemoServer => &[],
        }
    }
}
