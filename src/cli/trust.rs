//! `mcpdeck trust`: approves servers of project files, and takes approvals back.

use std::path::Path;

use serde_json::{Value, json};

use super::args::Args;
use super::exit::Exit;
use super::output::{print_object, quiet_if_closed};
use super::run::{choose, complain, load_chosen, load_request, not_found, refuse_adhoc};
use super::table::Table;
use crate::app::config_store::{Loaded, approvals, approve, load, revoke};
use crate::config::{Approval, Entry, describe};
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
    let loaded = match load_chosen(args) {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
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

/// Prints the approvals, with `--server` only those of these servers.
fn print_list(args: &Args) -> anyhow::Result<Exit> {
    let request = load_request(args, false);
    let approvals = match approvals(&request.environment) {
        Ok(approvals) => approvals,
        Err(error) => return Ok(usage(&error.to_string())),
    };
    let wanted = &args.global.server;
    // An approval may be of another project; whatever else is named has to be a server of this one.
    let is_approved = |name: &&String| approvals.iter().any(|approval| approval.name == **name);
    let others: Vec<String> = wanted
        .iter()
        .filter(|name| !is_approved(name))
        .cloned()
        .collect();
    if !others.is_empty() {
        match load(&request) {
            Ok(mut loaded) => {
                if let Err(exit) = choose(&mut loaded, &others) {
                    return Ok(exit);
                }
            }
            Err(error) => return Ok(usage(&error.to_string())),
        }
    }
    let is_shown = |approval: &&Approval| wanted.is_empty() || wanted.contains(&approval.name);
    if args.global.json {
        let approvals: Vec<Value> = approvals
            .iter()
            .filter(is_shown)
            .map(|approval| json!(approval))
            .collect();
        return quiet_if_closed(print_object(&json!({ "approvals": approvals })));
    }
    let mut table = Table::new(["NAME", "FILE", "APPROVED"]);
    for approval in approvals.iter().filter(is_shown) {
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
