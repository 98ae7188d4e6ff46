//! The headless face: one command, data on stdout, everything else on stderr, an exit code.

pub mod args;
mod exit;
mod list;
mod output;
mod read;
mod run;

pub use args::{Args, Command, ServeArgs};
pub use exit::Exit;
pub use run::{Prepared, complain, hint_if_empty, prepare};

use args::Command as Cmd;

/// Runs a headless command to its end.
///
/// # Errors
///
/// What went wrong inside (exit code 1); everything else is said on stderr and told by [`Exit`].
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Cmd::List { what, .. }) => list::run(args, *what),
        Some(Cmd::Read { target, output, .. }) => read::run(args, target, output.as_deref()),
        Some(Cmd::Serve { .. } | Cmd::DemoServer) | None => Ok(Exit::Success),
    }
}
