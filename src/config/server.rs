//! One `[servers.NAME]` table of our own files, read strictly.

use std::sync::Arc;

use super::entry::{Definition, Http, OAuth, Stdio, Transport};
use super::fields::Fields;
use super::problem::{ConfigProblem, ProblemKind};
use super::source::{Source, Spot};
use super::tree::{Pair, Value};
use crate::domain::{HttpFlavour, ProtocolChoice};

/// The keys of a server with `command`.
const STDIO_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "env_file",
    "pass_env",
    "cwd",
    "inherit_env",
];
/// The keys of a server with `url`.
const HTTP_KEYS: &[&str] = &[
    "url",
    "headers",
    "headers_command",
    "transport",
    "auth",
    "oauth",
];
/// The keys of every server.
const COMMON_KEYS: &[&str] = &[
    "enabled",
    "protocol",
    "connect_timeout",
    "request_timeout",
    "traversal_timeout",
];
/// The keys of the `oauth` table.
pub(super) const OAUTH_KEYS: &[&str] = &["client_id", "client_secret", "scopes", "redirect_port"];

/// Every key that a server may have.
pub(super) fn known_keys() -> Vec<&'static str> {
    [STDIO_KEYS, HTTP_KEYS, COMMON_KEYS].concat()
}

/// Whether the server is switched on, and what it is.
pub(super) struct ServerTable {
    pub(super) enabled: bool,
    pub(super) definition: Result<Definition, ConfigProblem>,
}

/// Reads the pair of a server.
pub(super) fn read(source: &Arc<Source>, server: &Pair) -> ServerTable {
    let Value::Table(pairs) = &server.value.value else {
        let kind = ProblemKind::WrongType {
            key: server.key.clone(),
            expected: "a table with `command` or `url`",
            found: server.value.type_name(),
        };
        let spot = Spot::new(source, &server.value.span);
        return ServerTable {
            enabled: true,
            definition: Err(spot.problem(kind)),
        };
    };
    let mut fields = Fields::new(source, pairs);
    let enabled = fields.flag("enabled").unwrap_or(true);
    check_keys(&mut fields, server, pairs);
    let transport = match (fields.has("command"), fields.has("url")) {
        (true, false) => Some(read_stdio(&mut fields)),
        (false, true) => Some(read_http(&mut fields, source)),
        (true, true) => {
            let url = pairs.iter().find(|pair| pair.key == "url");
            let range = url.map_or(&server.key_span, |pair| &pair.key_span);
            fields.report(range, ProblemKind::CommandAndUrl);
            None
        }
        (false, false) => None,
    };
    let protocols = [
        ("auto", ProtocolChoice::Auto),
        ("legacy", ProtocolChoice::Legacy),
        ("modern", ProtocolChoice::Modern),
    ];
    let protocol = fields.word("protocol", &protocols).unwrap_or_default();
    let connect_timeout = fields.duration("connect_timeout");
    let request_timeout = fields.duration("request_timeout");
    let traversal_timeout = fields.duration("traversal_timeout");
    let definition = match (fields.first_problem(), transport) {
        (Some(problem), _) => Err(problem),
        (None, Some(transport)) => Ok(Definition {
            transport,
            protocol,
            connect_timeout,
            request_timeout,
            traversal_timeout,
        }),
        (None, None) => {
            let spot = Spot::new(source, &server.key_span);
            Err(spot.problem(ProblemKind::NeitherCommandNorUrl))
        }
    };
    ServerTable {
        enabled,
        definition,
    }
}

/// Reports keys that are not known, and those of the other kind of server.
fn check_keys(fields: &mut Fields<'_>, server: &Pair, pairs: &[Pair]) {
    let known = known_keys();
    let (has_command, has_url) = (fields.has("command"), fields.has("url"));
    for pair in pairs {
        let key = &*pair.key;
        if known.contains(&key) {
            let (owner, misplaced) = if has_command && !has_url {
                ("url", HTTP_KEYS.contains(&key))
            } else if has_url && !has_command {
                ("command", STDIO_KEYS.contains(&key))
            } else {
                ("", false)
            };
            if misplaced {
                let key = key.to_owned();
                fields.report(&pair.key_span, ProblemKind::Misplaced { key, owner });
            }
            continue;
        }
        let is_body = !has_command && !has_url;
        match dotted_name(&server.key, pair, is_body) {
            Some(name) => fields.report(&pair.key_span, ProblemKind::QuoteName(name)),
            None => fields.unknown(pair, &known),
        }
    }
}

/// `a.b` for the table `b` in the server `a`, if it looks like a server of its own: it has a
/// command or URL, or the server around it has neither.
fn dotted_name(outer: &str, inner: &Pair, outer_is_empty: bool) -> Option<String> {
    let pairs = inner.value.table()?;
    let name = format!("{outer}.{}", inner.key);
    let is_server = |pairs: &[Pair]| {
        pairs
            .iter()
            .any(|pair| matches!(&*pair.key, "command" | "url"))
    };
    if is_server(pairs) {
        return Some(name);
    }
    // `[servers.a.b.c]`: the name goes on as long as there is nothing but one more table.
    if let [only] = pairs
        && only.value.table().is_some()
        && !known_keys().contains(&&*only.key)
    {
        return dotted_name(&name, only, outer_is_empty);
    }
    outer_is_empty.then_some(name)
}

fn read_stdio(fields: &mut Fields<'_>) -> Transport {
    Transport::Stdio(Stdio {
        command: fields.text("command").unwrap_or_default(),
        args: fields.texts("args"),
        env: fields.named_texts("env"),
        env_file: fields.text("env_file"),
        pass_env: fields.names("pass_env"),
        inherit_env: fields.flag("inherit_env"),
        cwd: fields.text("cwd"),
    })
}

fn read_http(fields: &mut Fields<'_>, source: &Arc<Source>) -> Transport {
    let flavours = [("http", HttpFlavour::Streamable), ("sse", HttpFlavour::Sse)];
    let wants_oauth = fields.word("auth", &[("oauth", ())]).is_some();
    let oauth = read_oauth(fields, source);
    Transport::Http(Http {
        url: fields.text("url").unwrap_or_default(),
        headers: fields.named_texts("headers"),
        headers_command: fields.texts("headers_command"),
        flavour: fields.word("transport", &flavours).unwrap_or_default(),
        oauth: oauth.or_else(|| wants_oauth.then(OAuth::default)),
    })
}

fn read_oauth(fields: &mut Fields<'_>, source: &Arc<Source>) -> Option<OAuth> {
    let pair = fields.pair("oauth")?;
    let Value::Table(pairs) = &pair.value.value else {
        fields.wrong("oauth", &pair.value, "a table");
        return None;
    };
    let mut inner = Fields::new(source, pairs);
    inner.only(OAUTH_KEYS);
    let oauth = OAuth {
        client_id: inner.text("client_id"),
        client_secret: inner.text("client_secret"),
        scopes: inner.names("scopes"),
        redirect_port: inner.whole("redirect_port", 1, u32::from(u16::MAX)),
    };
    fields.take_problems(inner);
    Some(oauth)
}

/// Keys whose strings are no secrets and may be shown in a message.
pub(super) fn may_be_shown(key: &str) -> bool {
    known_keys().contains(&key) && key != "headers_command" || matches!(key, "scopes" | "client_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tree::parse_toml;

    fn definition(body: &str) -> Result<Definition, String> {
        let text = format!("[servers.a]\n{body}\n");
        let tree = parse_toml(&text).unwrap();
        let source = Source::new(std::path::Path::new("f").into(), &text, Vec::new());
        let servers = tree.get("servers").unwrap().table().unwrap();
        let table = read(&source, &servers[0]);
        table.definition.map_err(|problem| problem.one_line())
    }

    #[test]
    fn a_problem_names_place_and_reason() {
        let check = |body: &str, expected: &str| {
            assert_eq!(definition(body).unwrap_err(), expected, "{body}");
        };
        check("", "f:1:10: a server needs `command` or `url`");
        check(
            "command = 'a'\nurl = 'b'",
            "f:3:1: a server has either `command` or `url`, not both",
        );
        check(
            "comand = 'a'",
            "f:2:1: unknown key `comand`, did you mean `command`?",
        );
        check(
            "command = 'a'\nargs = 'b'",
            "f:3:8: `args` must be a list of strings, not a string",
        );
        check(
            "command = 'a'\nargs = ['b', 1]",
            "f:3:14: `args` must be a list of strings, not a number",
        );
        check(
            "command = 'a'\nenv = { A = 1 }",
            "f:3:13: `env.A` must be a string, not a number",
        );
        check(
            "url = 'a'\nargs = []",
            "f:3:1: `args` belongs to a server with `command`",
        );
        check(
            "url = 'a'\ntransport = 'ssee'",
            "f:3:13: `transport` must be \"http\" or \"sse\", did you mean `sse`?",
        );
        check(
            "url = 'a'\noauth = { port = 1 }",
            "f:3:11: unknown key `port`",
        );
        check(
            "command = 'a'\nconnect_timeout = '0s'",
            "f:3:19: `connect_timeout` must be a duration above 0, like \"30s\", \"250ms\" or \"2m\"",
        );
        check(
            "[servers.a.b]\ncommand = 'x'",
            "f:2:12: quote the name: [servers.\"a.b\"]",
        );
        check(
            "[servers.a.b.c]\ncommand = 'x'",
            "f:2:12: quote the name: [servers.\"a.b.c\"]",
        );
        check(
            "command = 'a'\n[servers.a.env2]\nA = 'x'",
            "f:3:12: unknown key `env2`, did you mean `env`?",
        );
    }

    #[test]
    fn every_key_is_read() {
        let body = "command = 'a'\nargs = ['b']\nenv = { A = '1' }\nenv_file = '.env'\npass_env = ['P']\ncwd = '~/x'\ninherit_env = true\nprotocol = 'modern'\nconnect_timeout = '1s'\nrequest_timeout = '2s'\ntraversal_timeout = '3s'";
        let json = definition(body).unwrap().to_json(false).to_string();
        assert_eq!(
            json,
            r#"{"command":"a","args":["b"],"env":{"A":"1"},"env_file":".env","pass_env":["P"],"inherit_env":true,"cwd":"~/x","protocol":"modern","connect_timeout":"1s","request_timeout":"2s","traversal_timeout":"3s"}"#
        );
        let body = "url = 'https://a'\nheaders = { B = 'c' }\nheaders_command = ['h']\ntransport = 'sse'\nauth = 'oauth'\noauth = { client_id = 'i', client_secret = 's', scopes = ['x'], redirect_port = 80 }";
        let json = definition(body).unwrap().to_json(true).to_string();
        assert_eq!(
            json,
            r#"{"url":"https://a","headers":{"B":"***"},"headers_command":["h"],"transport":"sse","oauth":{"client_id":"i","client_secret":"***","scopes":["x"],"redirect_port":80}}"#
        );
    }
}
