//! The face for models as the program starts it: config and token first, then the server.

use std::io::Write;

use mcpdeck::app::config_store::{Following, state_folder};
use mcpdeck::cli::{self, Args, Exit, ServeArgs};
use mcpdeck::serve::{self, Files, HttpOptions, ServeOptions};

/// Serves until the input ends or a signal comes.
pub fn run(args: &Args, options: &ServeArgs) -> anyhow::Result<Exit> {
    if serve::is_own_child(std::env::var_os("MCPDECK_PARENT").as_deref()) {
        let message = serve::own_child_message(&cli::load_request(args, false));
        // If nobody reads it, there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{message}");
        return Ok(Exit::Usage);
    }
    let prepared = match cli::prepare(args) {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    cli::hint_if_empty(args, &prepared);
    cli::hint_if_untrusted(args, &prepared);
    let token = options.token_env.as_deref().map(serve::token).transpose();
    let served = token.and_then(|token| {
        serve::run(ServeOptions {
            definitions: prepared.definitions,
            wait: options.wait,
            within: args.global.timeout,
            state_folder: state_folder(&prepared.loaded.environment),
            settings: prepared.loaded.settings.clone(),
            // A server of the command line is in no file.
            files: (!prepared.adhoc).then(|| Files {
                request: cli::load_request(args, false),
                following: Following {
                    servers: args.global.server.clone(),
                    trust: args.global.trust,
                    stand_in: None,
                },
                loaded: prepared.loaded,
                quiet: args.global.quiet,
            }),
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
