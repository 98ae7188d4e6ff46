//! Secrets that stand in plain text in a definition, and the variables that could take their place.

use std::collections::HashMap;

use std::fmt::Write as _;
use std::ops::Range;

use crate::config::entry::{Definition, Http, Stdio, Transport, Written};
use crate::config::{Environment, secret};

/// A secret in plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralSecret {
    /// Where in the definition: `env TOKEN`, `header Authorization`, `argument 3` or `url`.
    pub place: String,
    /// Its line in the file, from 1.
    pub line: Option<usize>,
    /// The variable that could take its place.
    pub variable: String,
}

/// Gives names to variables, so that one name never stands for two values.
pub(super) struct Names<'a> {
    environment: &'a Environment,
    given: HashMap<String, String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            given: HashMap::new(),
        }
    }

    /// A name for the value of the server's key.
    fn give(&mut self, server: &str, key: &str, value: &str) -> String {
        let server = upper(server);
        let key = match upper(key) {
            key if key.is_empty() || key == "AUTHORIZATION" => "TOKEN".to_owned(),
            key => key,
        };
        let name = if server.is_empty() || key.starts_with(&server) {
            key
        } else {
            format!("{server}_{key}")
        };
        let name = if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("MCP_{name}")
        } else {
            name
        };
        let mut count = 1;
        let mut free = name.clone();
        while self.is_taken(&free, value) {
            count += 1;
            free = format!("{name}_{count}");
        }
        self.given.insert(free.clone(), value.to_owned());
        free
    }

    fn is_taken(&self, name: &str, value: &str) -> bool {
        let set = self.environment.var_os(name);
        self.given.get(name).is_some_and(|other| other != value)
            || set.is_some_and(|set| set != value)
    }
}

/// The definition with variables in the place of its literal secrets, and which those are.
pub(super) fn without_secrets(
    server: &str,
    definition: &Definition,
    names: &mut Names<'_>,
) -> (Definition, Vec<LiteralSecret>) {
    let mut search = Search {
        server,
        names,
        found: Vec::new(),
    };
    let transport = match &definition.transport {
        Transport::Stdio(stdio) => Transport::Stdio(Stdio {
            args: search.arguments(&stdio.args),
            env: search.named("env", &stdio.env),
            ..stdio.clone()
        }),
        Transport::Http(http) => Transport::Http(Http {
            url: search.url(&http.url),
            headers: search.named("header", &http.headers),
            ..http.clone()
        }),
    };
    let definition = Definition {
        transport,
        ..definition.clone()
    };
    (definition, search.found)
}

struct Search<'s, 'n, 'e> {
    server: &'s str,
    names: &'n mut Names<'e>,
    found: Vec<LiteralSecret>,
}

impl Search<'_, '_, '_> {
    fn named(&mut self, kind: &str, values: &[(String, Written)]) -> Vec<(String, Written)> {
        let values = values.iter().map(|(name, value)| {
            let secret = secret::literal_in(name, value.text());
            let place = format!("{kind} {name}");
            let value = self.replaced(value, secret, |_| name, &place);
            (name.clone(), value)
        });
        values.collect()
    }

    fn arguments(&mut self, args: &[Written]) -> Vec<Written> {
        let mut before: Option<&str> = None;
        let mut replaced = Vec::with_capacity(args.len());
        for (index, written) in args.iter().enumerate() {
            let text = written.text();
            let secrets = secret::literals_in_argument(before, text);
            let option = before.filter(|before| before.starts_with('-'));
            let key = |front| argument_key(front, option);
            let place = format!("argument {}", index + 1);
            replaced.push(self.replaced(written, secrets, key, &place));
            before = Some(text);
        }
        replaced
    }

    fn url(&mut self, url: &Written) -> Written {
        let secrets = secret::literals_in_url(url.text());
        self.replaced(url, secrets, key_in_url, "url")
    }

    /// The text with variables in the place of the secrets, which are in their order. `key` names
    /// one by what stands in front of it.
    fn replaced<'t>(
        &mut self,
        written: &'t Written,
        secrets: impl IntoIterator<Item = Range<usize>>,
        key: impl Fn(&'t str) -> &'t str,
        place: &str,
    ) -> Written {
        let text = written.text();
        let mut replaced = String::with_capacity(text.len());
        let mut done = 0;
        for range in secrets {
            let key = key(&text[..range.start]);
            let variable = self.names.give(self.server, key, &text[range.clone()]);
            replaced.push_str(&text[done..range.start]);
            // Writing to a string cannot fail.
            let _ = write!(replaced, "${{{variable}}}");
            done = range.end;
            self.found.push(LiteralSecret {
                place: place.to_owned(),
                line: written.line(),
                variable,
            });
        }
        replaced.push_str(&text[done..]);
        written.with_text(&replaced)
    }
}

/// What a secret in an argument is called, by what stands in front of it there, or else by the
/// option in front of the argument.
fn argument_key<'t>(front: &'t str, option: Option<&'t str>) -> &'t str {
    if front.contains("://") {
        return key_in_url(front);
    }
    match front.split(['=', ':']).next() {
        Some(name) if !name.is_empty() => name,
        _ => option.unwrap_or_default(),
    }
}

/// What a secret in a URL is called, by what stands in front of it.
fn key_in_url(front: &str) -> &str {
    match front.strip_suffix('=') {
        Some(front) => &front[front.rfind(['?', '&']).map_or(0, |at| at + 1)..],
        None if front.ends_with(':') => "password",
        None => "",
    }
}

/// The text as it may stand in the name of a variable.
fn upper(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut was_lower = false;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && was_lower {
                name.push('_');
            }
            name.push(c.to_ascii_uppercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
        was_lower = c.is_ascii_lowercase();
    }
    name.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(server: &str, transport: Transport) -> (String, Vec<(String, String)>) {
        let set = [("SHOP_TOKEN".into(), "other".into())];
        let environment = Environment::new(set, None, "/".into());
        let mut names = Names::new(&environment);
        let (definition, found) = without_secrets(server, &transport.into(), &mut names);
        let found = found.into_iter().map(|found| (found.place, found.variable));
        (definition.to_json(false).to_string(), found.collect())
    }

    fn check(server: &str, transport: Transport, expected: &str, places: &[(&str, &str)]) {
        let (found, secrets) = search(server, transport);
        assert_eq!(found, expected);
        let secrets: Vec<(&str, &str)> = secrets.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(secrets, places);
    }

    fn written(texts: &[&str]) -> Vec<Written> {
        texts.iter().map(|text| Written::plain(text)).collect()
    }

    #[test]
    fn each_kind_of_place_is_found_and_replaced() {
        let stdio = Stdio {
            command: Written::plain("npx"),
            args: written(&["-y", "x", "--api-key", "hunter22", "--token=hunter23"]),
            env: vec![
                ("GITHUB_TOKEN".into(), Written::plain("hunter24")),
                ("OTHER".into(), Written::plain("${SET}")),
            ],
            ..Stdio::default()
        };
        check(
            "git hub",
            Transport::Stdio(stdio),
            r#"{"command":"npx","args":["-y","x","--api-key","${GIT_HUB_API_KEY}","--token=${GIT_HUB_TOKEN}"],"env":{"GITHUB_TOKEN":"${GIT_HUB_GITHUB_TOKEN}","OTHER":"${SET}"}}"#,
            &[
                ("argument 4", "GIT_HUB_API_KEY"),
                ("argument 5", "GIT_HUB_TOKEN"),
                ("env GITHUB_TOKEN", "GIT_HUB_GITHUB_TOKEN"),
            ],
        );
        let http = Http {
            url: Written::plain("https://ada:hunter22@example.org/mcp?api_key=hunter23"),
            headers: vec![("Authorization".into(), Written::plain("Bearer hunter24"))],
            ..Http::default()
        };
        check(
            "docs",
            Transport::Http(http),
            r#"{"url":"https://ada:${DOCS_PASSWORD}@example.org/mcp?api_key=${DOCS_API_KEY}","headers":{"Authorization":"Bearer ${DOCS_TOKEN}"}}"#,
            &[
                ("url", "DOCS_PASSWORD"),
                ("url", "DOCS_API_KEY"),
                ("header Authorization", "DOCS_TOKEN"),
            ],
        );
    }

    #[test]
    fn one_name_never_stands_for_two_values() {
        let stdio = Stdio {
            args: written(&[
                "--token", "hunter22", "--token", "hunter23", "--token", "hunter22",
            ]),
            ..Stdio::default()
        };
        check(
            "shop",
            Transport::Stdio(stdio),
            r#"{"command":"","args":["--token","${SHOP_TOKEN_2}","--token","${SHOP_TOKEN_3}","--token","${SHOP_TOKEN_2}"]}"#,
            &[
                ("argument 2", "SHOP_TOKEN_2"),
                ("argument 4", "SHOP_TOKEN_3"),
                ("argument 6", "SHOP_TOKEN_2"),
            ],
        );
        assert_eq!(upper("9 a.b--Cd_apiKey"), "9_A_B_CD_API_KEY");
    }

    #[test]
    fn variables_and_urls_among_the_arguments_are_found() {
        let stdio = Stdio {
            command: Written::plain("docker"),
            args: written(&[
                "-e",
                "API_TOKEN=hunter22",
                "--header=X-Api-Key: hunter23",
                "postgres://ann:hunter24@h/db?key=hunter25",
            ]),
            ..Stdio::default()
        };
        check(
            "db",
            Transport::Stdio(stdio),
            r#"{"command":"docker","args":["-e","API_TOKEN=${DB_API_TOKEN}","--header=X-Api-Key: ${DB_HEADER}","postgres://ann:${DB_PASSWORD}@h/db?key=${DB_KEY}"]}"#,
            &[
                ("argument 2", "DB_API_TOKEN"),
                ("argument 3", "DB_HEADER"),
                ("argument 4", "DB_PASSWORD"),
                ("argument 4", "DB_KEY"),
            ],
        );
    }
}
