//! The program: parse, start, dispatch, exit code.

mod deck;
mod serving;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use mcpdeck::app::adopt_orphans;
use mcpdeck::cli::{self, Args, Command, Exit};
use mcpdeck::{demo, telemetry};

fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let args = Args::read(&line, deck::wrong_keys).unwrap_or_else(|error| error.exit());
    let _log = telemetry::state_folder(|name| std::env::var_os(name))
        .and_then(|folder| telemetry::start(&folder));
    telemetry::log_panics();
    let _orphans = adopt_orphans();
    // A panic inside is an internal error like any other; its place is in the log.
    let outcome = catch_unwind(AssertUnwindSafe(|| match &args.command {
        Some(Command::DemoServer) => serve_demo(),
        Some(Command::Serve { options, .. }) => serving::run(&args, options),
        Some(_) => cli::run(&args),
        None => deck::run(&args),
    }))
    .unwrap_or(Ok(Exit::Internal));
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => {
            // If nobody reads it, there is nobody to tell.
            let _ = writeln!(std::io::stderr().lock(), "mcpdeck: {error:#}");
            Exit::Internal.into()
        }
    }
}

fn serve_demo() -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(demo::serve_stdio());
    // The blocking read of stdin cannot be interrupted.
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}
