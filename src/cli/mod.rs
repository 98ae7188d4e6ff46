//! The headless face: one command, data on stdout, everything else on stderr, an exit code.

pub mod args;
mod check;
pub mod command;
mod config;
mod edit;
mod exit;
mod hint;
mod import;
mod list;
mod login;
mod output;
mod progress;
mod read;
mod run;
mod table;
mod trust;
mod watch;

pub use args::Args;
pub use command::{Command, ServeArgs};
pub use exit::Exit;
pub use run::{Prepared, complain, hint_if_empty, hint_if_untrusted, load_request, prepare};

use crate::app::import::How;
use clap::CommandFactory;
use edit::Change;

/// Runs a headless command to its end.
///
/// # Errors
///
/// What went wrong inside (exit code 1); everything else is said on stderr and told by [`Exit`].
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::List { what, .. }) => list::run(args, *what),
        Some(Command::Read { target, output, .. }) => read::run(args, target, output.as_deref()),
        Some(Command::Check { .. }) => check::run(args),
        Some(Command::Watch { within, .. }) => watch::run(args, *within),
        Some(Command::Add { name, .. }) => Ok(edit::add(args, name)),
        Some(Command::Remove { name }) => Ok(edit::change(args, name, Change::Remove)),
        Some(Command::Enable { name }) => Ok(edit::change(args, name, Change::Enable)),
        Some(Command::Disable { name }) => Ok(edit::change(args, name, Change::Disable)),
        Some(Command::Import {
            source,
            replace,
            secrets_to_env,
            dry_run,
        }) => {
            let how = How {
                replace: *replace,
                secrets_to_env: *secrets_to_env,
                dry_run: *dry_run,
            };
            let source = source.as_deref();
            import::run(args, import::Wanted { source, how })
        }
        Some(Command::Trust { name, list, revoke }) => {
            trust::run(args, name.as_deref(), *list, revoke.as_deref())
        }
        Some(Command::Login { name, no_browser }) => {
            login::log_in(args, name.as_deref(), !no_browser)
        }
        Some(Command::Logout { name }) => login::log_out(args, name.as_deref()),
        Some(Command::Config(command)) => config::run(args, *command),
        Some(Command::Completions { shell }) => completions(*shell),
        Some(Command::Serve { .. } | Command::DemoServer) | None => Ok(Exit::Success),
    }
}

/// Prints the script that makes the shell complete our command line.
fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "mcpdeck", &mut script);
    let script = String::from_utf8(script)?;
    output::quiet_if_closed(output::print_plain(&script))
}
