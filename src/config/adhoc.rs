//! One server given on the command line: `-- COMMAND ARGS...` or `--url URL`.
//!
//! Its values are literal: the shell has expanded what should be expanded.

use std::path::Path;

use super::entry::{Definition, Dialect, Entry, Http, Stdio, Transport, Written};
use super::environment::{Environment, NotUnicode};
use super::problem::ConfigError;
use super::resolve::is_http_url;
use crate::domain::{HttpFlavour, ProtocolChoice, ServerName};

/// What the command line says of the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdHoc<'a> {
    /// `-- COMMAND ARGS...`; empty: none.
    pub command: &'a [String],
    /// `--url URL`.
    pub url: Option<&'a str>,
    /// `--env K=V` or `--env K`, which takes our own value.
    pub env: &'a [String],
    /// `--inherit-env`.
    pub inherit_env: bool,
    /// `--cwd DIR`.
    pub cwd: Option<&'a str>,
    /// `--header 'K: V'`.
    pub headers: &'a [String],
    /// `--transport http|sse`.
    pub transport: Option<&'a str>,
    /// `--protocol auto|legacy|modern`.
    pub protocol: Option<&'a str>,
}

/// The server that the command line describes, named after the program or the host. It is
/// trusted, and it has no file.
///
/// # Errors
///
/// [`ConfigError::Usage`] where it describes none, or more than one.
pub fn adhoc(given: &AdHoc<'_>, environment: &Environment) -> Result<Entry, ConfigError> {
    let definition = read(given, Some(environment))?;
    Ok(Entry {
        name: ServerName::display_of(&name_of(&definition.transport)),
        transport: definition.transport_kind(),
        definition: Ok(definition),
        enabled: true,
        trusted: true,
        origin: None,
        base: environment.shared_cwd(),
        dialect: Dialect::Literal,
        inherit_env: false,
    })
}

/// The definition alone, as `add` writes it to a file: variables in it are expanded when it is
/// read, and `--env K` becomes a reference to our variable, so that no secret is written.
///
/// # Errors
///
/// As for [`adhoc`].
pub fn definition(given: &AdHoc<'_>) -> Result<Definition, ConfigError> {
    read(given, None)
}

/// `environment` gives the values of `--env K`; without it they stay references.
fn read(given: &AdHoc<'_>, environment: Option<&Environment>) -> Result<Definition, ConfigError> {
    let transport = match (given.command, given.url) {
        ([], Some(url)) => Transport::Http(http(given, url)?),
        ([command, args @ ..], None) => Transport::Stdio(stdio(given, command, args, environment)?),
        ([], None) => return usage("a server needs -- COMMAND or --url URL"),
        ([_, ..], Some(_)) => return usage("a server has either -- COMMAND or --url, not both"),
    };
    let protocol = match given.protocol {
        None | Some("auto") => ProtocolChoice::Auto,
        Some("legacy") => ProtocolChoice::Legacy,
        Some("modern") => ProtocolChoice::Modern,
        Some(_) => return usage("--protocol is auto, legacy or modern"),
    };
    Ok(Definition {
        protocol,
        ..transport.into()
    })
}

fn stdio(
    given: &AdHoc<'_>,
    command: &str,
    args: &[String],
    environment: Option<&Environment>,
) -> Result<Stdio, ConfigError> {
    if !given.headers.is_empty() {
        return usage("--header belongs to --url");
    }
    if given.transport.is_some() {
        return usage("--transport belongs to --url");
    }
    if command.is_empty() {
        return usage("the command is empty");
    }
    let env = given.env.iter().map(|text| variable(text, environment));
    Ok(Stdio {
        command: Written::plain(command),
        args: args.iter().map(|arg| Written::plain(arg)).collect(),
        env: env.collect::<Result<_, _>>()?,
        inherit_env: given.inherit_env.then_some(true),
        cwd: given.cwd.map(Written::plain),
        ..Stdio::default()
    })
}

fn http(given: &AdHoc<'_>, url: &str) -> Result<Http, ConfigError> {
    if !given.env.is_empty() || given.inherit_env || given.cwd.is_some() {
        return usage("--env, --inherit-env and --cwd belong to -- COMMAND");
    }
    if !is_http_url(url) {
        return usage("--url must begin with http:// or https:// and name a host");
    }
    let flavour = match given.transport {
        None => HttpFlavour::Auto,
        Some("http") => HttpFlavour::Streamable,
        Some("sse") => HttpFlavour::Sse,
        Some(_) => return usage("--transport is http or sse"),
    };
    let headers = given.headers.iter().map(|text| header(text));
    Ok(Http {
        url: Written::plain(url),
        headers: headers.collect::<Result<_, _>>()?,
        flavour,
        ..Http::default()
    })
}

/// `K=V`, or `K` with the value that we have or a reference to it.
fn variable(
    text: &str,
    environment: Option<&Environment>,
) -> Result<(String, Written), ConfigError> {
    let (name, value) = match (text.split_once('='), environment) {
        (Some((name, value)), _) => (name, value.to_owned()),
        (None, None) => (text, format!("${{{text}}}")),
        (None, Some(environment)) => match environment.var(text) {
            Ok(Some(value)) => (text, value.to_owned()),
            Ok(None) => return usage(&format!("environment variable {text} is not set")),
            Err(NotUnicode) => {
                return usage(&format!("environment variable {text} is not valid Unicode"));
            }
        },
    };
    if !super::dotenv::is_variable_name(name) {
        return usage("--env expects NAME=VALUE or NAME");
    }
    Ok((name.to_owned(), Written::plain(&value)))
}

/// `K: V`. The message does not repeat the text: it may be a secret.
fn header(text: &str) -> Result<(String, Written), ConfigError> {
    match split_header(text) {
        Some((name, value)) => Ok((name.to_owned(), Written::plain(value))),
        None => usage("--header expects 'NAME: VALUE'"),
    }
}

/// The name and the value of a header that is written as `K: V`.
#[must_use]
pub fn split_header(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let is_valid = http::HeaderName::from_bytes(name.as_bytes()).is_ok()
        && http::HeaderValue::from_str(value).is_ok();
    is_valid.then_some((name, value))
}

/// What the server is called where nobody has given it a name: after its program or its host.
#[must_use]
pub fn name_of(transport: &Transport) -> String {
    match transport {
        Transport::Stdio(stdio) => command_name(stdio.command.text()),
        Transport::Http(http) => host(http.url.text()),
    }
}

/// The file name of the command without its extension.
fn command_name(command: &str) -> String {
    let stem = Path::new(command).file_stem();
    stem.map_or_else(
        || command.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

fn host(url: &str) -> String {
    let uri = url.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(http::Uri::host);
    host.unwrap_or(url).to_owned()
}

fn usage<T>(message: &str) -> Result<T, ConfigError> {
    Err(ConfigError::Usage(message.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::domain::TransportConfig;

    fn environment() -> Environment {
        Environment::new([("TOKEN".into(), "t0ken".into())], None, "/code".into())
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_command_is_taken_literally() {
        let entry = adhoc(
            &AdHoc {
                command: &owned(&["/opt/my-server.py", "${HOME}", "~/x"]),
                env: &owned(&["A=${B}", "TOKEN", "E="]),
                cwd: Some("sub"),
                inherit_env: true,
                protocol: Some("modern"),
                ..AdHoc::default()
            },
            &environment(),
        )
        .unwrap();
        assert_eq!(entry.name.as_str(), "my-server");
        let config = resolve(&entry, &environment(), &|_| unreachable!()).unwrap();
        let TransportConfig::Stdio(stdio) = config.transport else {
            unreachable!();
        };
        assert_eq!(stdio.args, ["${HOME}", "~/x"]);
        let env: Vec<_> = stdio.env.iter().map(|(k, v)| (&**k, v.expose())).collect();
        assert_eq!(env, [("A", "${B}"), ("TOKEN", "t0ken"), ("E", "")]);
        assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/code/sub")));
        assert!(stdio.inherit_env);
        assert_eq!(config.protocol, ProtocolChoice::Modern);
    }

    #[test]
    fn a_url_is_named_after_its_host() {
        let given = AdHoc {
            url: Some("https://example.org:8443/mcp?x=1"),
            headers: &owned(&["Authorization: Bearer a:b"]),
            transport: Some("sse"),
            ..AdHoc::default()
        };
        let entry = adhoc(&given, &environment()).unwrap();
        assert_eq!(entry.name.as_str(), "example.org");
        let config = resolve(&entry, &environment(), &|_| unreachable!()).unwrap();
        let TransportConfig::Http(http) = config.transport else {
            unreachable!();
        };
        assert_eq!(http.headers[0].0, "Authorization");
        assert_eq!(http.headers[0].1.expose(), "Bearer a:b");
        assert_eq!(http.flavour, HttpFlavour::Sse);
    }

    #[test]
    fn what_is_added_to_a_file_keeps_its_references() {
        let given = AdHoc {
            command: &owned(&["npx", "${HOME}"]),
            env: &owned(&["TOKEN"]),
            ..AdHoc::default()
        };
        assert_eq!(
            definition(&given).unwrap().to_json(false).to_string(),
            r#"{"command":"npx","args":["${HOME}"],"env":{"TOKEN":"${TOKEN}"}}"#
        );
    }

    #[test]
    fn what_is_no_server_is_told() {
        let command = owned(&["a"]);
        let check = |given: AdHoc<'_>, expected: &str| {
            let error = adhoc(&given, &environment()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        let none = AdHoc::default;
        check(none(), "a server needs -- COMMAND or --url URL");
        let url = Some("http://a");
        check(
            AdHoc {
                command: &command,
                url,
                ..none()
            },
            "a server has either -- COMMAND or --url, not both",
        );
        check(
            AdHoc {
                url: Some("example.org"),
                ..none()
            },
            "--url must begin with http:// or https:// and name a host",
        );
        let env = owned(&["NOPE"]);
        check(
            AdHoc {
                command: &command,
                env: &env,
                ..none()
            },
            "environment variable NOPE is not set",
        );
        let headers = owned(&["secret"]);
        check(
            AdHoc {
                url,
                headers: &headers,
                ..none()
            },
            "--header expects 'NAME: VALUE'",
        );
        check(
            AdHoc {
                command: &command,
                headers: &headers,
                ..none()
            },
            "--header belongs to --url",
        );
    }
}
