//! The definition of one server after expansion: what is started or called, and within which bounds.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use super::error::Failure;
use super::ids::{ServerName, TransportKind};
use super::text;

/// What stands in place of a secret.
const STARS: &str = "***";

/// A text that must not be shown or logged: its Debug and Display are `***`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Values shorter than this many characters are masked by name only: masking every `1` of a
    /// message would hide more than it protects.
    pub const MASKED_BY_VALUE_FROM: usize = 8;

    /// Wraps the text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Which protocol era is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolChoice {
    /// Ask the server.
    #[default]
    Auto,
    /// `initialize`, 2024-11-05 to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// A server that can be connected to: everything is expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Its name.
    pub name: ServerName,
    /// What is started or called.
    pub transport: TransportConfig,
    /// Which era is spoken.
    pub protocol: ProtocolChoice,
    /// Bound on connecting, the handshake included; `None`: as in the settings.
    pub connect_timeout: Option<Duration>,
    /// Bound on one request; `None`: as in the settings.
    pub request_timeout: Option<Duration>,
    /// Bound on one traversal; `None`: as in the settings.
    pub traversal_timeout: Option<Duration>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum TransportConfig {
    /// A child process.
    Stdio(StdioConfig),
    /// A URL.
    Http(HttpConfig),
}

/// A child process.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StdioConfig {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set for it.
    pub env: Vec<(String, Secret)>,
    /// Names of our own variables that it gets too.
    pub pass_env: Vec<String>,
    /// Whether it gets our whole environment.
    pub inherit_env: bool,
    /// Where it runs; our own working directory where absent.
    pub cwd: Option<PathBuf>,
}

/// A remote server.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConfig {
    /// The endpoint.
    pub url: String,
    /// Headers sent with every request.
    pub headers: Vec<(String, Secret)>,
    /// A command whose output is a JSON object of further headers; empty: none.
    pub headers_command: Vec<String>,
    /// Which of the HTTP transports.
    pub flavour: HttpFlavour,
    /// How to log in, where the server asks for it.
    pub oauth: Option<OAuthConfig>,
}

impl HttpConfig {
    /// Whether the config itself says what lets us in; a log-in has no place beside it.
    #[must_use]
    pub fn brings_credentials(&self) -> bool {
        let mut names = self.headers.iter().map(|(name, _)| name);
        !self.headers_command.is_empty()
            || names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }
}

/// Which of the HTTP transports a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpFlavour {
    /// Found out by asking.
    #[default]
    Auto,
    /// Streamable HTTP.
    Streamable,
    /// The HTTP+SSE transport of MCP 2024-11-05.
    Sse,
}

/// How to log in with OAuth 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuthConfig {
    /// A client that was registered by hand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The port of the loopback redirect; a free one where absent.
    pub redirect_port: Option<u16>,
}

impl ServerConfig {
    /// The word for its transport.
    #[must_use]
    pub const fn transport_kind(&self) -> TransportKind {
        match &self.transport {
            TransportConfig::Stdio(_) => TransportKind::Stdio,
            TransportConfig::Http(http) => match http.flavour {
                HttpFlavour::Auto | HttpFlavour::Streamable => TransportKind::Http,
                HttpFlavour::Sse => TransportKind::Sse,
            },
        }
    }

    /// The command line, as a shell takes it, or the URL, for people. Environment and headers are not part of it.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.transport {
            TransportConfig::Stdio(stdio) => {
                let words = std::iter::once(&stdio.command).chain(&stdio.args);
                text::command_line(words.map(String::as_str))
            }
            TransportConfig::Http(http) => http.url.clone(),
        }
    }

    /// Every secret value of the definition.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let (pairs, client_secret) = match &self.transport {
            TransportConfig::Stdio(stdio) => (&stdio.env, None),
            TransportConfig::Http(http) => (
                &http.headers,
                http.oauth
                    .as_ref()
                    .and_then(|oauth| oauth.client_secret.as_ref()),
            ),
        };
        pairs.iter().map(|(_, value)| value).chain(client_secret)
    }
}

/// Replaces secret values in texts that may quote them. Clones share what is masked, so that a
/// token that is got later is hidden wherever the mask has gone.
#[derive(Clone, Default)]
pub struct Mask(Arc<RwLock<Vec<Secret>>>);

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({})", self.secrets().len())
    }
}

impl Mask {
    /// A mask of the values that have [`Secret::MASKED_BY_VALUE_FROM`] characters or more, the
    /// longest first, so that a value inside another leaves nothing of the longer one. Of a
    /// header value with a scheme (`Bearer abc`) the part behind it is masked too.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mask = Self::default();
        for secret in secrets {
            mask.add(secret);
        }
        mask
    }

    /// Masks another value, here and in all clones.
    pub fn add(&self, secret: &Secret) {
        let text = secret.expose().trim();
        let credential = text.split_once(' ').map_or("", |(_, rest)| rest.trim());
        let mut secrets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for part in [text, credential] {
            let is_long = part.chars().count() >= Secret::MASKED_BY_VALUE_FROM;
            if is_long && !secrets.iter().any(|secret| secret.expose() == part) {
                secrets.push(Secret::new(part));
            }
        }
        secrets.sort_by_key(|value| std::cmp::Reverse(value.expose().len()));
    }

    /// The failure with `***` in place of each secret value of its message.
    #[must_use]
    pub fn failure(&self, mut failure: Failure) -> Failure {
        failure.message = self.apply(failure.message.to_string()).into();
        failure
    }

    /// The text with `***` in place of each secret value. The end of a text that may have been
    /// cut (see [`text::MAX_CHARS`]) is looked at as [`apply_to_beginning`](Self::apply_to_beginning)
    /// does.
    #[must_use]
    pub fn apply(&self, text: String) -> String {
        let is_cut = text.len() >= text::MAX_CHARS && text.chars().count() >= text::MAX_CHARS;
        let masked = self.secrets().iter().fold(text, |text, secret| {
            if text.contains(secret.expose()) {
                text.replace(secret.expose(), STARS)
            } else {
                text
            }
        });
        if is_cut {
            self.apply_to_beginning(masked)
        } else {
            masked
        }
    }

    /// The text with `***` in place of its end, where a secret value begins so.
    #[must_use]
    pub fn apply_to_beginning(&self, mut text: String) -> String {
        let secrets = self.secrets();
        let starts = text.char_indices().map(|(at, _)| at);
        let begins = |at: &usize| {
            let end = &text[*at..];
            let mut secrets = secrets.iter();
            secrets.any(|secret| secret.expose().starts_with(end))
        };
        let longest = secrets.first().map_or(0, |secret| secret.expose().len());
        let nearest = text.len().saturating_sub(longest);
        if let Some(at) = starts.filter(|at| *at >= nearest).find(begins) {
            text.truncate(at);
            text.push_str(STARS);
        }
        text
    }

    /// The last place up to `at` that is within no secret value of the bytes, also within none
    /// that they end with the beginning of.
    #[must_use]
    pub fn before(&self, bytes: &[u8], at: usize) -> usize {
        let secrets = self.secrets();
        let begins = |start: &usize| {
            let rest = &bytes[*start..];
            secrets.iter().any(|secret| {
                let secret = secret.expose().as_bytes();
                start + secret.len() > at && (rest.starts_with(secret) || secret.starts_with(rest))
            })
        };
        let longest = secrets.first().map_or(0, |secret| secret.expose().len());
        (at.saturating_sub(longest)..at).find(begins).unwrap_or(at)
    }

    fn secrets(&self) -> RwLockReadGuard<'_, Vec<Secret>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("hunter22");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
    }

    #[test]
    fn a_mask_hides_values_of_8_characters_or_more() {
        let secrets = [
            Secret::new("Bearer token-12345"),
            Secret::new("short"),
            Secret::new("token-12345-longer"),
        ];
        let mask = Mask::new(&secrets);
        let check = |text: &str, expected: &str| assert_eq!(mask.apply(text.into()), expected);
        check("bad header Bearer token-12345", "bad header ***");
        check("token-12345 is short", "*** is short");
        check("token-12345-longer", "***");
        mask.clone().add(&Secret::new("later-token"));
        check("later-token", "***");
    }

    #[test]
    fn a_mask_hides_what_was_cut_off_within_a_secret() {
        let mask = Mask::new(&[Secret::new("hunter-two-22"), Secret::new("twelve-letters")]);
        let check = |text: &str, expected: &str| {
            assert_eq!(mask.apply_to_beginning(text.into()), expected);
        };
        check("key hunter-tw", "key ***");
        check("key tw", "key ***");
        check("key hunter-x", "key hunter-x");
        check("", "");
        let padding = "x".repeat(text::MAX_CHARS - 6);
        let cut = format!("{padding}hunter");
        assert_eq!(mask.apply(cut), format!("{padding}***"));
        let short = "x hunter".to_owned();
        assert_eq!(mask.apply(short.clone()), short);
    }

    #[test]
    fn a_text_is_cut_before_a_secret_and_never_within_one() {
        let mask = Mask::new(&[Secret::new("hunter two"), Secret::new("another-one")]);
        let check = |text: &str, at: usize, expected: usize| {
            assert_eq!(mask.before(text.as_bytes(), at), expected, "{text} {at}");
        };
        check("a hunter two b", 9, 2);
        check("a hunter two b", 2, 2);
        check("a hunter two b", 12, 12);
        check("a hunter t", 9, 2);
        check("a hunter x", 9, 9);
    }
}
