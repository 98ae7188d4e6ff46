//! `mcpdeck import`: shows the servers of other tools, and copies those of one into our file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Value, json};

use super::args::Args;
use super::exit::Exit;
use super::output::{print_object, quiet_if_closed};
use super::run::{complain, load_request, refuse_adhoc};
use super::table::Table;
use crate::app::config_store::LoadRequest;
use crate::app::import::{Copied, Found, How, Source, apply, open, scan};
use crate::config::import::{Candidate, LiteralSecret, Tool};
use crate::domain::ServerName;

/// What the command line says of the command.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// A tool or a file; `None` shows everything.
    pub source: Option<&'a str>,
    /// How it is copied.
    pub how: How,
}

/// Runs the command.
///
/// # Errors
///
/// Something is wrong inside.
pub fn run(args: &Args, wanted: Wanted<'_>) -> anyhow::Result<Exit> {
    if let Some(exit) = refuse_adhoc(args) {
        return Ok(exit);
    }
    let request = load_request(args, false);
    let Some(word) = wanted.source else {
        let sources = match scan(&request) {
            Ok(sources) => sources,
            Err(error) => return Ok(usage(&error.to_string())),
        };
        return show(args, &sources);
    };
    match of_word(word, &request) {
        Ok(sources) => copy(args, &request, &sources, wanted.how),
        Err(exit) => Ok(exit),
    }
}

/// The sources that the word means: all of a tool, or those of a file.
fn of_word(word: &str, request: &LoadRequest) -> Result<Vec<Source>, Exit> {
    let found = match Tool::of_word(word) {
        Some(tool) => scan(request).map(|mut sources| {
            sources.retain(|source| source.tool == Some(tool));
            sources
        }),
        None if !word.contains(['.', '/', '\\']) && !Path::new(word).exists() => {
            return Err(usage(&format!(
                "there is neither a tool nor a file \"{word}\"; tools: {}",
                Tool::ALL.map(Tool::word).join(", ")
            )));
        }
        None => open(request, Path::new(word)),
    };
    let sources = found.map_err(|error| usage(&error.to_string()))?;
    let broken = sources.iter().filter_map(|source| source.error.as_ref());
    let broken: Vec<String> = broken.map(ToString::to_string).collect();
    if !broken.is_empty() {
        return Err(usage(&broken.join("\n")));
    }
    if sources.is_empty() {
        complain(&format!(
            "{word} has no servers where mcpdeck looks; name its file: mcpdeck import FILE"
        ));
        return Err(Exit::NotFound);
    }
    Ok(sources)
}

fn show(args: &Args, sources: &[Source]) -> anyhow::Result<Exit> {
    let servers: Vec<(&Source, &Found)> = match chosen(args, sources) {
        Ok(servers) => servers,
        Err(exit) => return Ok(exit),
    };
    if !args.global.quiet {
        for source in sources {
            if let Some(error) = &source.error {
                complain(&error.to_string());
            }
            say_left_out(args, source);
        }
        if servers.is_empty() {
            complain("no servers of other tools were found; name a file: mcpdeck import FILE");
        }
    }
    let printed = if args.global.json {
        let shown = servers.iter().map(|(source, found)| {
            let mut shown = candidate_json(source, &found.candidate);
            shown["state"] = found.state.word().into();
            shown
        });
        let errors = sources.iter().filter_map(|source| {
            let error = source.error.as_ref()?;
            let file = source.file.display().to_string();
            Some(json!({ "source": source.word(), "file": file, "message": error.one_line() }))
        });
        print_object(&json!({
            "servers": shown.collect::<Vec<_>>(),
            "leftOut": left_out_json(args, sources),
            "errors": errors.collect::<Vec<_>>(),
        }))
    } else {
        let mut table = Table::new(["SOURCE", "NAME", "STATE", "FILE"]);
        for (source, found) in &servers {
            let Candidate {
                name, file, line, ..
            } = &found.candidate;
            let place = format!("{}:{line}", file.display());
            table.row([&source.word(), name.as_str(), found.state.word(), &place]);
        }
        table.print()
    };
    quiet_if_closed(printed)
}

fn copy(args: &Args, request: &LoadRequest, sources: &[Source], how: How) -> anyhow::Result<Exit> {
    let mut servers = match chosen(args, sources) {
        Ok(servers) => servers,
        Err(exit) => return Ok(exit),
    };
    // The parts of one file are in the order in which its tool looks at them.
    let mut seen = HashSet::new();
    servers.retain(|(_, Found { candidate, .. })| seen.insert((&candidate.file, &candidate.name)));
    if !args.global.quiet {
        for source in sources {
            say_left_out(args, source);
        }
    }
    let candidates: Vec<&Candidate> = servers.iter().map(|(_, found)| &found.candidate).collect();
    let copied = match apply(request, &candidates, how) {
        Ok(copied) => copied,
        Err(error) => return Ok(usage(&error.to_string())),
    };
    let mut exit = Exit::Success;
    let mut table = Table::new(["NAME", "RESULT", "FILE"]);
    let mut shown: Vec<Value> = Vec::new();
    // Of a name that is there twice the first counts.
    let by_name = servers.iter().rev();
    let by_name: HashMap<&ServerName, (&Source, &Found)> = by_name
        .map(|(source, found)| (&found.candidate.name, (*source, *found)))
        .collect();
    for (name, copied) in &copied {
        let Some((source, found)) = by_name.get(name) else {
            continue;
        };
        let told = Told::new(copied, how);
        if let Some(reason) = &told.reason {
            complain(&format!("{name}: {reason}"));
        }
        if matches!(copied, Copied::Failed(_)) {
            exit = Exit::Usage;
        }
        if !args.global.quiet && matches!(copied, Copied::Added(_) | Copied::Replaced(_)) {
            say_copied(&found.candidate, how);
        }
        table.row([name.as_str(), told.word, &told.file]);
        let mut json = candidate_json(source, &found.candidate);
        json["result"] = told.word.into();
        json["target"] = (!told.file.is_empty()).then_some(told.file).into();
        json["reason"] = told.reason.into();
        shown.push(json);
    }
    if how.dry_run && !args.global.quiet {
        complain("nothing was written: --dry-run");
    }
    let printed = if args.global.json {
        print_object(&json!({
            "dryRun": how.dry_run,
            "servers": shown,
            "leftOut": left_out_json(args, sources),
        }))
    } else {
        table.print()
    };
    quiet_if_closed(printed)?;
    Ok(exit)
}

/// What became of one server, for a person.
struct Told {
    word: &'static str,
    file: String,
    reason: Option<String>,
}

impl Told {
    fn new(copied: &Copied, how: How) -> Self {
        let (word, file, reason) = match copied {
            Copied::Added(file) if how.dry_run => ("add", Some(file), None),
            Copied::Added(file) => ("added", Some(file), None),
            Copied::Replaced(file) if how.dry_run => ("replace", Some(file), None),
            Copied::Replaced(file) => ("replaced", Some(file), None),
            Copied::Unchanged => ("equal", None, None),
            Copied::Different => {
                let reason = "skipped, since there is another server of that name; --replace takes this one instead";
                ("skipped", None, Some(reason.to_owned()))
            }
            Copied::Ambiguous => {
                let reason =
                    "skipped, since two files define it differently; name one: mcpdeck import FILE";
                ("skipped", None, Some(reason.to_owned()))
            }
            Copied::Failed(reason) => ("failed", None, Some(reason.to_string())),
        };
        Self {
            word,
            file: file.map_or_else(String::new, |file| file.display().to_string()),
            reason,
        }
    }
}

/// The servers of `--server`, else all.
fn chosen<'a>(args: &Args, sources: &'a [Source]) -> Result<Vec<(&'a Source, &'a Found)>, Exit> {
    let wanted = &args.global.server;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let all = sources
        .iter()
        .flat_map(|source| source.servers.iter().map(move |found| (source, found)));
    let all: Vec<(&Source, &Found)> = all.collect();
    for name in wanted {
        let is_there = all
            .iter()
            .any(|(_, found)| found.candidate.name.as_str() == name);
        if is_there {
            continue;
        }
        let left_out = sources.iter().flat_map(|source| &source.left_out);
        if let Some(left_out) = left_out.into_iter().find(|out| out.name.as_str() == name) {
            return Err(usage(&format!(
                "{name} cannot be imported: {}",
                left_out.reason
            )));
        }
        let names: Vec<&str> = all
            .iter()
            .map(|(_, found)| found.candidate.name.as_str())
            .collect();
        complain(&format!(
            "server \"{name}\" not found; servers there: {}",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        ));
        return Err(Exit::NotFound);
    }
    let kept = all.into_iter();
    Ok(kept
        .filter(|(_, found)| is_wanted(found.candidate.name.as_str()))
        .collect())
}

fn say_left_out(args: &Args, source: &Source) {
    for left_out in &source.left_out {
        if args.global.server.is_empty() {
            complain(&format!(
                "{} is left out: {} ({}:{})",
                left_out.name,
                left_out.reason,
                left_out.file.display(),
                left_out.line
            ));
        }
    }
}

/// What a person has to know of a server that was copied.
fn say_copied(candidate: &Candidate, how: How) {
    let Candidate { name, file, .. } = candidate;
    for remark in &candidate.remarks {
        complain(&format!("{name}: {remark}"));
    }
    for LiteralSecret {
        place,
        line,
        variable,
    } in &candidate.secrets
    {
        let line = line.unwrap_or(candidate.line);
        let where_it_stands = format!("{}:{line} ({place})", file.display());
        complain(&if how.secrets_to_env {
            format!(
                "{name}: set the environment variable {variable}; its value stands in {where_it_stands}"
            )
        } else {
            let copied = if how.dry_run { "would be" } else { "was" };
            format!(
                "{name}: a secret stands in plain text in {where_it_stands} and {copied} copied; --secrets-to-env writes ${{{variable}}} instead"
            )
        });
    }
}

fn candidate_json(source: &Source, candidate: &Candidate) -> Value {
    let secrets = candidate.secrets.iter().map(
        |secret| json!({ "place": secret.place, "line": secret.line, "variable": secret.variable }),
    );
    json!({
        "source": source.word(),
        "file": candidate.file.display().to_string(),
        "line": candidate.line,
        "name": candidate.name,
        "enabled": candidate.enabled,
        "definition": candidate.definition.to_json(true),
        "secrets": secrets.collect::<Vec<_>>(),
        "remarks": candidate.remarks,
    })
}

fn left_out_json(args: &Args, sources: &[Source]) -> Vec<Value> {
    let all = sources
        .iter()
        .flat_map(|source| source.left_out.iter().map(move |out| (source, out)));
    let shown = all.filter(|_| args.global.server.is_empty());
    let shown = shown.map(|(source, out)| {
        json!({
            "source": source.word(),
            "file": out.file.display().to_string(),
            "line": out.line,
            "name": out.name,
            "reason": out.reason,
        })
    });
    shown.collect()
}

fn usage(message: &str) -> Exit {
    complain(message);
    Exit::Usage
}
