//! An entry to a [`ServerConfig`]: variables expanded, paths made whole, values made secrets.

use std::io;
use std::path::{Path, PathBuf};

use super::dotenv;
use super::entry::{Dialect, Entry, Http, OAuth, Stdio, Transport, Written};
use super::environment::Environment;
use super::expand::expand;
use super::problem::{ConfigProblem, ProblemKind, io_reason};
use crate::domain::{HttpConfig, OAuthConfig, Secret, ServerConfig, StdioConfig, TransportConfig};

/// Expands the entry. Whether it is switched on or trusted is not looked at; the caller leaves
/// out what is switched off, since a missing variable there is no failure.
///
/// # Errors
///
/// The problem that makes just this server `failed`: that of the entry itself, a variable that is
/// not set, or an `env_file` that `read_env_file` cannot read.
pub fn resolve(
    entry: &Entry,
    environment: &Environment,
    read_env_file: &dyn Fn(&Path) -> io::Result<String>,
) -> Result<ServerConfig, ConfigProblem> {
    let definition = entry.definition.as_ref().map_err(Clone::clone)?;
    let resolver = Resolver {
        entry,
        environment,
        read_env_file,
    };
    let transport = match &definition.transport {
        Transport::Stdio(stdio) => TransportConfig::Stdio(resolver.stdio(stdio)?),
        Transport::Http(http) => TransportConfig::Http(resolver.http(http)?),
    };
    Ok(ServerConfig {
        name: entry.name.clone(),
        transport,
        protocol: definition.protocol,
        connect_timeout: definition.connect_timeout,
        request_timeout: definition.request_timeout,
        traversal_timeout: definition.traversal_timeout,
    })
}

/// The URL of the entry, whatever else of it cannot be expanded; `None` for a command.
///
/// # Errors
///
/// The problem of the entry itself, or of its URL.
pub fn resolve_url(
    entry: &Entry,
    environment: &Environment,
) -> Result<Option<String>, ConfigProblem> {
    let definition = entry.definition.as_ref().map_err(Clone::clone)?;
    let resolver = Resolver {
        entry,
        environment,
        read_env_file: &|_| Err(io::ErrorKind::Unsupported.into()),
    };
    match &definition.transport {
        Transport::Http(http) => resolver.url(http).map(Some),
        Transport::Stdio(_) => Ok(None),
    }
}

struct Resolver<'a> {
    entry: &'a Entry,
    environment: &'a Environment,
    read_env_file: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl Resolver<'_> {
    fn stdio(&self, stdio: &Stdio) -> Result<StdioConfig, ConfigProblem> {
        let command = self.home(&stdio.command)?;
        if command.is_empty() {
            return Err(stdio.command.problem(ProblemKind::EmptyCommand));
        }
        Ok(StdioConfig {
            command,
            args: self.texts(&stdio.args)?,
            env: self.variables(stdio)?,
            pass_env: stdio.pass_env.clone(),
            inherit_env: stdio.inherit_env.unwrap_or(self.entry.inherit_env),
            cwd: stdio.cwd.as_ref().map(|cwd| self.path(cwd)).transpose()?,
        })
    }

    /// The variables of `env_file`, then those of `env`, which win.
    fn variables(&self, stdio: &Stdio) -> Result<Vec<(String, Secret)>, ConfigProblem> {
        let mut variables = match &stdio.env_file {
            Some(file) => self.env_file(file)?,
            None => Vec::new(),
        };
        for (name, value) in &stdio.env {
            if !dotenv::is_variable_name(name) {
                return Err(value.problem(ProblemKind::BadVariableName(name.clone())));
            }
            set(&mut variables, name, Secret::new(self.text(value)?));
        }
        Ok(variables)
    }

    fn env_file(&self, written: &Written) -> Result<Vec<(String, Secret)>, ConfigProblem> {
        let file = self.path(written)?;
        let wrong = |reason: String| {
            let file = file.clone();
            written.problem(ProblemKind::EnvFile { file, reason })
        };
        let text = (self.read_env_file)(&file).map_err(|error| wrong(io_reason(&error)))?;
        let mut variables = Vec::new();
        for (name, value) in dotenv::parse(&text).map_err(wrong)? {
            set(&mut variables, &name, Secret::new(value));
        }
        Ok(variables)
    }

    fn url(&self, http: &Http) -> Result<String, ConfigProblem> {
        let url = self.text(&http.url)?;
        if is_http_url(&url) {
            Ok(url)
        } else {
            Err(http.url.problem(ProblemKind::BadUrl))
        }
    }

    fn http(&self, http: &Http) -> Result<HttpConfig, ConfigProblem> {
        let url = self.url(http)?;
        let mut headers = Vec::with_capacity(http.headers.len());
        for (name, value) in &http.headers {
            if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(value.problem(ProblemKind::BadHeaderName(name.clone())));
            }
            let text = self.text(value)?;
            if http::HeaderValue::from_str(&text).is_err() {
                return Err(value.problem(ProblemKind::BadHeaderValue(name.clone())));
            }
            headers.push((name.clone(), Secret::new(text)));
        }
        Ok(HttpConfig {
            url,
            headers,
            headers_command: self.texts(&http.headers_command)?,
            flavour: http.flavour,
            oauth: http
                .oauth
                .as_ref()
                .map(|oauth| self.oauth(oauth))
                .transpose()?,
        })
    }

    fn oauth(&self, oauth: &OAuth) -> Result<OAuthConfig, ConfigProblem> {
        let optional = |text: &Option<Written>| {
            let text = text.as_ref();
            text.map(|text| self.text(text)).transpose()
        };
        Ok(OAuthConfig {
            client_id: optional(&oauth.client_id)?,
            client_secret: optional(&oauth.client_secret)?.map(Secret::new),
            scopes: oauth.scopes.clone(),
            redirect_port: oauth.redirect_port,
        })
    }

    fn text(&self, written: &Written) -> Result<String, ConfigProblem> {
        let Entry { dialect, base, .. } = self.entry;
        expand(written.text(), *dialect, self.environment, base)
            .map_err(|kind| written.problem(kind))
    }

    fn texts(&self, written: &[Written]) -> Result<Vec<String>, ConfigProblem> {
        written.iter().map(|text| self.text(text)).collect()
    }

    /// The text, with a leading `~/` expanded.
    fn home(&self, written: &Written) -> Result<String, ConfigProblem> {
        let text = self.text(written)?;
        let Some(rest) = text.strip_prefix("~/") else {
            return Ok(text);
        };
        if self.entry.dialect == Dialect::Literal {
            return Ok(text);
        }
        let home = self.environment.home();
        let home = home.ok_or_else(|| written.problem(ProblemKind::NoHome))?;
        match home.join(rest).into_os_string().into_string() {
            Ok(text) => Ok(text),
            Err(_) => Err(written.problem(ProblemKind::NotUnicode("HOME".to_owned()))),
        }
    }

    /// The path, from the base if it is relative.
    fn path(&self, written: &Written) -> Result<PathBuf, ConfigProblem> {
        Ok(self.entry.base.join(self.home(written)?))
    }
}

fn set(variables: &mut Vec<(String, Secret)>, name: &str, value: Secret) {
    match variables.iter_mut().find(|(old, _)| old == name) {
        Some((_, old)) => *old = value,
        None => variables.push((name.to_owned(), value)),
    }
}

/// Whether the text is an absolute URL with a host; what is behind it is the server's business.
#[must_use]
pub fn is_http_url(text: &str) -> bool {
    let uri = text.parse::<http::Uri>();
    uri.is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FileInput, Role, read};

    fn resolved(path: &str, role: Role, text: &str) -> Result<ServerConfig, String> {
        let variables = [("TOKEN", "t0ken"), ("BAD", "a\nb")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::new(variables, Some("/home/ann".into()), "/cwd".into());
        let path = Path::new(path);
        let file = read(FileInput {
            path,
            text,
            role,
            environment: &environment,
        })
        .unwrap();
        let read_env_file = |path: &Path| match path.to_str() {
            Some("/cwd/.env" | "/home/ann/.env") => Ok("A=file\nB=file\n".to_owned()),
            Some("/cwd/bad.env") => Ok("secret\n".to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        resolve(&file.entries[0], &environment, &read_env_file)
            .map_err(|problem| problem.to_failure().message.to_string())
    }

    fn stdio(text: &str) -> StdioConfig {
        match resolved("c.toml", Role::Named, text).unwrap().transport {
            TransportConfig::Stdio(stdio) => stdio,
            TransportConfig::Http(_) => unreachable!("a server with a command"),
        }
    }

    #[test]
    fn a_command_is_expanded() {
        let found = stdio(
            "[servers.a]\ncommand = '~/bin/x'\nargs = ['${TOKEN}', '~/y']\nenv = { B = '${NOPE:-b}' }\nenv_file = '~/.env'\ncwd = 'sub'\n",
        );
        assert_eq!(found.command, "/home/ann/bin/x");
        assert_eq!(found.args, ["t0ken", "~/y"]);
        let env: Vec<_> = found.env.iter().map(|(k, v)| (&**k, v.expose())).collect();
        assert_eq!(env, [("A", "file"), ("B", "b")]);
        assert_eq!(found.cwd.as_deref(), Some(Path::new("/cwd/sub")));
        assert!(!found.inherit_env);
        assert_eq!(stdio("servers.a = { command = 'x' }").cwd, None);
    }

    #[test]
    fn a_project_file_counts_from_its_folder() {
        let text = "servers.a = { command = 'x', cwd = 'sub' }";
        let config = resolved("/proj/.mcpdeck.toml", Role::Project, text).unwrap();
        let TransportConfig::Stdio(stdio) = config.transport else {
            unreachable!("a server with a command");
        };
        assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/proj/sub")));
    }

    #[test]
    fn a_problem_makes_just_the_server_fail() {
        let check = |text: &str, expected: &str| {
            let error = resolved("c.toml", Role::Named, text).unwrap_err();
            assert_eq!(error, expected, "{text}");
        };
        check(
            "[servers.docs]\nurl = 'https://x'\nheaders = { Authorization = 'Bearer ${DOCS_TOKEN}' }",
            "environment variable DOCS_TOKEN is not set",
        );
        check(
            "[mcp_servers.docs]\nurl = 'https://x'\nbearer_token_env_var = 'DOCS_TOKEN'",
            "environment variable DOCS_TOKEN is not set",
        );
        check(
            "[servers.a]\ncommand = '${x:y}'",
            "c.toml:2:11: unknown variable form ${x:...}; a literal ${ is written $${",
        );
        check(
            "[servers.a]\nurl = 'example.org'",
            "c.toml:2:7: `url` must begin with http:// or https:// and name a host",
        );
        check(
            "servers.a = { url = 'http://x', headers = { A = '${BAD}' } }",
            "c.toml:1:49: the value of header A has characters that a header cannot have",
        );
        check(
            "servers.a = { url = 'http://x', headers = { 'A B' = 'c' } }",
            "c.toml:1:53: \"A B\" is not a valid header name",
        );
        check(
            "servers.a = { command = 'x', env_file = 'bad.env' }",
            "c.toml:1:41: env file /cwd/bad.env: line 1: expected NAME=value",
        );
        check(
            "servers.a = { command = 'x', env_file = 'no.env' }",
            "c.toml:1:41: env file /cwd/no.env: entity not found",
        );
        check(
            "servers.a = { command = '' }",
            "c.toml:1:25: `command` is empty",
        );
    }

    #[test]
    fn values_of_variables_and_headers_are_secrets() {
        let text = "servers.a = { url = 'http://x', headers = { A = '${TOKEN}' } }";
        let config = resolved("c.toml", Role::Named, text).unwrap();
        assert_eq!(config.secrets().count(), 1);
        assert!(!format!("{config:?}").contains("t0ken"));
    }
}
