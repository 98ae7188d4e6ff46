//! The program: parse, start, dispatch, exit code.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use mcpdeck::app::config_store::state_folder;
use mcpdeck::cli::{self, Args, Command, Exit, ServeArgs};
use mcpdeck::serve::{self, HttpOptions, ServeOptions};
use mcpdeck::{demo, telemetry};

fn main() -> ExitCode {
    let args = Args::parse();
    let _log = telemetry::state_folder(|name| std::env::var_os(name))
        .and_then(|folder| telemetry::start(&folder));
    telemetry::log_panics();
    let outcome = match &args.command {
        Some(Command::DemoServer) => serve_demo(),
        Some(Command::Serve { options, .. }) => serve(&args, options),
        Some(_) => cli::run(&args),
        None => deck(&args),
    };
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

fn serve(args: &Args, options: &ServeArgs) -> anyhow::Result<Exit> {
    if serve::is_own_child(std::env::var_os("MCPDECK_PARENT").as_deref()) {
        let message = serve::own_child_message(&cli::load_request(args));
        // If nobody reads it, there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{message}");
        return Ok(Exit::Usage);
    }
    let prepared = match cli::prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    cli::hint_if_empty(args, &prepared);
    let token = options.token_env.as_deref().map(serve::token).transpose();
    let served = token.and_then(|token| {
        serve::run(ServeOptions {
            definitions: prepared.definitions,
            wait: options.wait.unwrap_or(serve::WAIT),
            state_folder: state_folder(&prepared.loaded.environment),
            settings: prepared.loaded.settings,
            http: options.http.map(|address| HttpOptions {
                address,
                allow_remote: options.allow_remote,
                token,
            }),
        })
    });
    match served {
        Ok(signal) => Ok(signal.map_or(Exit::Success, Exit::from)),
        Err(error) if error.is_usage() => {
            cli::complain(&error.to_string());
            Ok(Exit::Usage)
        }
        Err(error) => Err(error.into()),
    }
}

fn deck(args: &Args) -> anyhow::Result<Exit> {
    cli::run(args)
}
