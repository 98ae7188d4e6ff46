//! `mcpdeck trust`: approves servers of project files, and takes approvals back.

use std::path::Path;

use serde_json::{Value, json};

use super::args::Args;
use super::exit::Exit;
use super::output::{print_object, quiet_if_closed};
use super::run::{complain, load_request, not_found, refuse_adhoc};
use super::table::Table;
use crate::app::config_store::{Loaded, approvals, approve, load, revoke};
use crate::config::{Entry, describe};
use crate::domain::text;

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(
    args: &Args,
    name: Option<&str>,
    list: bool,
    revoked: Option<&str>,
) -> anyhow::Result<Exit> {
    if let Some(exit) = refuse_adhoc(args) {
        return Ok(exit);
    }
    if list {
        return print_list(args);
    }
    let loaded = match load(&load_request(args, false)) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(usage(&error.to_string())),
    };
    Ok(match (name, revoked) {
        (_, Some(name)) => take_back(args, name, &loaded),
        (Some(name), None) => give(args, name, &loaded),
        (None, None) => usage("trust takes a server, --list or --revoke NAME"),
    })
}

fn give(args: &Args, name: &str, loaded: &Loaded) -> Exit {
    let Some(entry) = find(loaded, name) else {
        complain(&not_found(name, loaded));
        return Exit::NotFound;
    };
    if let Err(problem) = &entry.definition {
        return usage(&problem.to_string());
    }
    if !args.global.quiet {
        for line in describe(entry) {
            complain(&format!("{name} {}", text::visible(&text::cell(&line))));
        }
    }
    let told = |said: &str| {
        if !args.global.quiet {
            complain(&format!("{name}: {said}"));
        }
        Exit::Success
    };
    if entry.trusted {
        return told("it is trusted already");
    }
    match approve(entry, &loaded.environment) {
        Ok(()) => told("approved; a change of its definition asks again"),
        Err(error) => usage(&error.to_string()),
    }
}

fn take_back(args: &Args, name: &str, loaded: &Loaded) -> Exit {
    // Of this project if it has such a server, else of whichever projects there are.
    let origin = find(loaded, name).and_then(|entry| entry.origin.clone());
    let file = origin.as_ref().map(|origin| origin.file.as_path());
    let of_file = |file: Option<&Path>| revoke(name, file, &loaded.environment);
    let revoked = match of_file(file) {
        Ok(revoked) if revoked.is_empty() && file.is_some() => of_file(None),
        revoked => revoked,
    };
    match revoked {
        Ok(revoked) if revoked.is_empty() => {
            complain(&format!(
                "server \"{name}\" was not approved; approvals: mcpdeck trust --list"
            ));
            Exit::NotFound
        }
        Ok(revoked) => {
            for approval in revoked.iter().filter(|_| !args.global.quiet) {
                complain(&format!("{name} of {} is no longer trusted", approval.file));
            }
            Exit::Success
        }
        Err(error) => usage(&error.to_string()),
    }
}

fn print_list(args: &Args) -> anyhow::Result<Exit> {
    let approvals = match approvals(&load_request(args, false).environment) {
        Ok(approvals) => approvals,
        Err(error) => return Ok(usage(&error.to_string())),
    };
    if args.global.json {
        let approvals: Vec<Value> = approvals.iter().map(|approval| json!(approval)).collect();
        return quiet_if_closed(print_object(&json!({ "approvals": approvals })));
    }
    let mut table = Table::new(["NAME", "FILE", "APPROVED"]);
    for approval in approvals.iter() {
        table.row([&approval.name, &approval.file, &approval.approved]);
    }
    quiet_if_closed(table.print())
}

fn find<'a>(loaded: &'a Loaded, name: &str) -> Option<&'a Entry> {
    let mut entries = loaded.entries.iter();
    entries.find(|entry| entry.name.as_str() == name)
}

fn usage(message: &str) -> Exit {
    complain(message);
    Exit::Usage
}
