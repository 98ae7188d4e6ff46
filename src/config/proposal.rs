//! A name for a server that somebody adds: what it serves rather than what runs it.

use std::path::Path;

use super::adhoc::name_of;
use super::entry::{Stdio, Transport, Written};

/// Programs that run what one of their arguments names.
const RUNNERS: [&str; 15] = [
    "bun", "bunx", "deno", "docker", "node", "npm", "npx", "pipx", "pnpm", "podman", "python",
    "python3", "uv", "uvx", "yarn",
];

/// Their commands, which name nothing.
const COMMANDS: [&str; 6] = ["dlx", "exec", "run", "tool", "x", "start"];

/// Their options that have a value of their own.
const WITH_VALUE: [&str; 14] = [
    "--directory",
    "--env",
    "--from",
    "--mount",
    "--name",
    "--network",
    "--package",
    "--project",
    "--publish",
    "--volume",
    "--with",
    "-e",
    "-p",
    "-v",
];

/// What is called after MCP or servers says nothing with it.
const PREFIXES: [&str; 6] = [
    "mcp-server-",
    "mcp_server_",
    "server-",
    "server_",
    "mcp-",
    "mcp_",
];
const SUFFIXES: [&str; 6] = [
    "-mcp-server",
    "_mcp_server",
    "-server",
    "_server",
    "-mcp",
    "_mcp",
];

const ENDINGS: [&str; 5] = [".py", ".js", ".mjs", ".cjs", ".ts"];

/// Names that many have.
const SILENT: [&str; 8] = [
    "mcp", "server", "index", "main", "build", "dist", "src", "bin",
];

/// A name for the server: of a program the one that it runs, as `everything` for
/// `npx -y @modelcontextprotocol/server-everything`; of a URL its host. `None` where there is
/// nothing to call it after.
#[must_use]
pub fn proposed_name(transport: &Transport) -> Option<String> {
    let name = match transport {
        Transport::Stdio(stdio) => served(stdio).map_or_else(|| name_of(transport), bare),
        Transport::Http(_) => name_of(transport),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The argument that names what a runner runs.
fn served(stdio: &Stdio) -> Option<&str> {
    let program = Path::new(stdio.command.text()).file_stem()?.to_str()?;
    if !RUNNERS.contains(&program) {
        return None;
    }
    let mut args = stdio.args.iter().map(Written::text);
    while let Some(arg) = args.next() {
        if WITH_VALUE.contains(&arg) {
            args.next();
        } else if !arg.starts_with('-') && !COMMANDS.contains(&arg) {
            return Some(arg);
        }
    }
    None
}

/// The name in a package, an image or a script. Where the last part says nothing, it is the one
/// before: `@playwright/mcp`, `notes/build/index.js`.
fn bare(argument: &str) -> String {
    let parts = || argument.rsplit(['/', '\\']).filter_map(part);
    let telling = parts().find(|part| !SILENT.contains(&&**part));
    telling
        .or_else(|| parts().next())
        .unwrap_or_else(|| argument.to_owned())
}

/// The part without its version, its ending, and what only says that it is a server.
fn part(part: &str) -> Option<String> {
    let part = part.split(['@', ':', '[']).find(|part| !part.is_empty())?;
    let part = ENDINGS
        .iter()
        .find_map(|ending| part.strip_suffix(ending))
        .unwrap_or(part);
    let rest = |rest: Option<&'_ str>| rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
    let mut name = part.to_owned();
    if let Some(short) = PREFIXES.iter().find_map(|it| rest(name.strip_prefix(it))) {
        name = short;
    }
    if let Some(short) = SUFFIXES.iter().find_map(|it| rest(name.strip_suffix(it))) {
        name = short;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::entry::Http;
    use crate::domain::text;

    #[test]
    fn a_program_is_called_after_what_it_serves() {
        let check = |line: &str, expected: &str| {
            let mut words = text::words(line).unwrap().into_iter();
            let stdio = Stdio {
                command: Written::plain(&words.next().unwrap()),
                args: words.map(|word| Written::plain(&word)).collect(),
                ..Stdio::default()
            };
            let name = proposed_name(&Transport::Stdio(stdio));
            assert_eq!(name.as_deref(), Some(expected), "{line}");
        };
        check(
            "npx -y @modelcontextprotocol/server-everything",
            "everything",
        );
        check(
            "npx -y @modelcontextprotocol/server-filesystem@1.2 ~/x",
            "filesystem",
        );
        check("npx @playwright/mcp@latest", "playwright");
        check("uvx mcp-server-git --repository .", "git");
        check("uvx --from git+https://x/y mcp-thing", "thing");
        check("python -m mcp_server_time", "time");
        check("uv --directory /opt/x run server.py", "server");
        check("node /opt/notes/build/index.js", "notes");
        check("docker run -i --rm -e TOKEN mcp/time:latest", "time");
        check("/opt/bin/my-server.sh --verbose", "my-server");
        check("npx", "npx");
        check("npx -y", "npx");
    }

    #[test]
    fn a_url_is_called_after_its_host() {
        let http = Http {
            url: Written::plain("https://mcp.example.org:8443/mcp?x=1"),
            ..Http::default()
        };
        let name = proposed_name(&Transport::Http(http));
        assert_eq!(name.as_deref(), Some("mcp.example.org"));
    }
}
