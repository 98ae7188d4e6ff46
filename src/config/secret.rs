//! Which texts of a definition look like secrets, by their name or by themselves.
//!
//! A guess, for warnings and for what is shown to a person; nothing is kept safe by it alone.

use std::ops::Range;

/// Words in the name of a variable, header or option whose value is most likely a secret.
const NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "key",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "pat",
    "dsn",
];

/// Names that have one of the words and are no secrets.
const PUBLIC: &[&str] = &[
    "keyid",
    "publickey",
    "keyfile",
    "keypath",
    "authmethod",
    "authtype",
];

/// How tokens of well-known services begin.
const PREFIXES: &[&str] = &[
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "ntn_",
    "secret_",
    "lin_api_",
    "figd_",
    "hf_",
    "tvly-",
    "fc-",
    "npm_",
    "pypi-",
    "dop_v1_",
    "shpat_",
    "SG.",
    "key-",
];

/// Words that stand where a secret should be filled in.
const PLACEHOLDERS: &[&str] = &[
    "your",
    "xxx",
    "changeme",
    "replace",
    "example",
    "placeholder",
    "insert",
    "todo",
    "...",
    "***",
];

/// Whether what has this name is most likely a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let joined = words.concat();
    if PUBLIC.iter().any(|public| joined.ends_with(public)) {
        return false;
    }
    joined.ends_with("apikey") || words.iter().any(|word| NAMES.contains(&&**word))
}

/// Where in the value of this name a secret is written out, rather than a variable; for a header
/// with a scheme (`Bearer abc`) what stands behind it.
#[must_use]
pub fn literal_in(name: &str, value: &str) -> Option<Range<usize>> {
    let range = credential(value);
    let text = &value[range.clone()];
    let is_secret = is_secret_name(name) && may_be_secret(text) || is_token(text);
    is_secret.then_some(range)
}

/// Where in an argument secrets are written out, in their order. `before` is the argument in front
/// of it.
#[must_use]
pub fn literals_in_argument(before: Option<&str>, argument: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    // `TOKEN=abc` is what `docker run -e` and `env` take, `--env=TOKEN=abc` has two names.
    for _ in 0..2 {
        let named = argument[start..].split_once('=');
        let Some((name, value)) = named.filter(|(name, _)| is_plain_name(name)) else {
            break;
        };
        start += name.len() + 1;
        if let Some(range) = literal_in(name, value) {
            return vec![shifted(range, start)];
        }
    }
    if start > 0 {
        let found = literals_in_value(None, &argument[start..]).into_iter();
        return found.map(|range| shifted(range, start)).collect();
    }
    literals_in_value(before, argument)
}

fn is_plain_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// As [`literals_in_argument`], where nothing with an `=` stands in front.
fn literals_in_value(before: Option<&str>, argument: &str) -> Vec<Range<usize>> {
    // `--header "Authorization: Bearer abc"`, as mcp-remote has it.
    if let Some((name, value)) = argument.split_once(':')
        && is_secret_name(name)
        && !value.starts_with("//")
    {
        let start = name.len() + 1 + (value.len() - value.trim_start().len());
        let range = literal_in(name, value.trim());
        return range
            .map(|range| shifted(range, start))
            .into_iter()
            .collect();
    }
    if argument.contains("://") {
        return literals_in_url(argument);
    }
    let name = before.filter(|before| before.starts_with('-') && !before.contains('='));
    let range = literal_in(name.unwrap_or_default(), argument);
    range.into_iter().collect()
}

/// Where in a URL secrets are written out, in their order: a password, what looks like a token in
/// the path, and values in the query.
#[must_use]
pub fn literals_in_url(url: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let host_start = base.find("://").map_or(0, |at| at + 3);
    let host = base[host_start..].split('/').next().unwrap_or_default();
    if let Some((user, _)) = host.rsplit_once('@')
        && let Some((name, password)) = user.split_once(':')
        && may_be_secret(password)
    {
        let start = host_start + name.len() + 1;
        found.push(start..start + password.len());
    }
    let mut at = 0;
    for part in base.split('/') {
        if is_token(part) {
            found.push(at..at + part.len());
        }
        at += part.len() + 1;
    }
    let mut at = base.len() + 1;
    for pair in query.split('&') {
        if let Some((name, value)) = pair.split_once('=')
            && let Some(range) = literal_in(name, value)
        {
            found.push(shifted(range, at + name.len() + 1));
        }
        at += pair.len() + 1;
    }
    found
}

const fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// The arguments with `***` in the place of literal secrets.
#[must_use]
pub fn masked_arguments(args: &[&str]) -> Vec<String> {
    let mut before = None;
    let masked = args
        .iter()
        .map(|arg| masked(arg, literals_in_argument(before.replace(*arg), arg)));
    masked.collect()
}

/// The URL with `***` in the place of literal secrets.
#[must_use]
pub fn masked_url(url: &str) -> String {
    masked(url, literals_in_url(url))
}

/// The text with `***` in the place of the secrets, which are in their order.
#[must_use]
pub fn masked(text: &str, secrets: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        shown.push_str(&text[done..secret.start]);
        shown.push_str("***");
        done = secret.end;
    }
    shown.push_str(&text[done..]);
    shown
}

/// The value behind a scheme.
fn credential(value: &str) -> Range<usize> {
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "] {
        if let Some(rest) = value.strip_prefix(scheme) {
            let start = value.len() - rest.trim_start().len();
            return start..value.len();
        }
    }
    0..value.len()
}

/// Whether the text looks like a token wherever it stands.
fn is_token(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+');
    text.len() >= 16
        && text.chars().all(is_plain)
        && may_be_secret(text)
        && PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// Whether the text can be a secret at all: no variable, no placeholder, no switch.
fn may_be_secret(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_path = text.starts_with(['/', '.', '~']) || text.contains("://");
    let is_switch = matches!(
        &*lower,
        "true" | "false" | "none" | "null" | "oauth" | "auto"
    );
    text.len() >= 4
        && !text.contains("${")
        && !text.contains("{env:")
        && !text.contains("{file:")
        && !text.starts_with(['<', '$', '%', '['])
        && !is_path
        && !is_switch
        && !PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// `apiKey`, `API_KEY` and `--api-key` as `api`, `key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let starts = !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && was_lower;
        if starts {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        let check =
            |name: &str, expected: bool| assert_eq!(is_secret_name(name), expected, "{name}");
        for name in [
            "TOKEN",
            "API_KEY",
            "apiKey",
            "OPENAI_APIKEY",
            "X-Api-Key",
            "--api-key",
            "Authorization",
            "DB_PASSWORD",
            "GITHUB_PAT",
        ] {
            check(name, true);
        }
        for name in [
            "PATH",
            "LOG_LEVEL",
            "MONKEY",
            "AWS_ACCESS_KEY_ID",
            "AUTHOR",
            "KEY_FILE",
            "TOKENIZER",
        ] {
            check(name, false);
        }
    }

    #[test]
    fn values_are_told_from_references_and_placeholders() {
        let check = |name: &str, value: &str, expected: Option<&str>| {
            let found = literal_in(name, value).map(|range| &value[range]);
            assert_eq!(found, expected, "{name}={value}");
        };
        check("TOKEN", "hunter22", Some("hunter22"));
        check("Authorization", "Bearer hunter22", Some("hunter22"));
        check("Authorization", "Bearer ${T}", None);
        check("TOKEN", "${env:TOKEN}", None);
        check("TOKEN", "<your token>", None);
        check("API_KEY", "YOUR_API_KEY", None);
        check("TOKEN", "", None);
        check("LOG", "debug", None);
        check(
            "X",
            "ghp_0123456789abcdef0123",
            Some("ghp_0123456789abcdef0123"),
        );
        check("KEY_FILE", "/etc/key", None);
        check("USE_AUTH", "true", None);
    }

    #[test]
    fn arguments_and_urls_are_looked_at() {
        let check = |before: Option<&str>, argument: &str, expected: Option<&str>| {
            let found = literals_in_argument(before, argument).into_iter();
            let found: Vec<&str> = found.map(|range| &argument[range]).collect();
            assert_eq!(found, Vec::from_iter(expected), "{argument}");
        };
        check(Some("--api-key"), "hunter22", Some("hunter22"));
        check(None, "--token=hunter22", Some("hunter22"));
        check(
            Some("--header"),
            "Authorization: Bearer hunter22",
            Some("hunter22"),
        );
        check(None, "--header=X-Api-Key: hunter22", Some("hunter22"));
        check(Some("-e"), "API_TOKEN=hunter22", Some("hunter22"));
        check(None, "--env=API_TOKEN=hunter22", Some("hunter22"));
        check(None, &"=".repeat(1_000_000), None);
        check(Some("-e"), "API_TOKEN", None);
        check(None, "TOKEN=${TOKEN}", None);
        check(None, "level=debug", None);
        check(None, "postgres://ann:hunter22@h/db", Some("hunter22"));
        check(None, "--db=postgres://ann:hunter22@h/db", Some("hunter22"));
        check(None, "https://x/mcp?a=b&token=hunter22", Some("hunter22"));
        check(None, "https://x/mcp?key", None);
        check(Some("--port"), "8080", None);
        check(None, "@scope/package", None);
        check(None, "sk-0123456789abcdef", Some("sk-0123456789abcdef"));
        let check = |url: &str, expected: Option<&str>| {
            let found = literals_in_url(url).into_iter();
            let found: Vec<&str> = found.map(|range| &url[range]).collect();
            assert_eq!(found, Vec::from_iter(expected), "{url}");
        };
        check("https://x/mcp?a=b&api_key=hunter22", Some("hunter22"));
        check("https://ann:hunter22@x/mcp", Some("hunter22"));
        check(
            "https://x/fc-0123456789abcdef/mcp",
            Some("fc-0123456789abcdef"),
        );
        check("https://example.org:80/mcp", None);
        check("https://x/mcp?api_key=${K}", None);
        assert_eq!(
            masked_url("https://ann:hunter22@x/?key=hunter23&a=b&token=hunter24"),
            "https://ann:***@x/?key=***&a=b&token=***"
        );
        assert_eq!(
            masked_arguments(&["--key", "hunter22", "--token=hunter23", "hunter24"]),
            ["--key", "***", "--token=***", "hunter24"]
        );
        assert_eq!(
            masked_arguments(&["https://ann:hunter22@x/?key=hunter23"]),
            ["https://ann:***@x/?key=***"]
        );
        check("é", None);
    }
}
