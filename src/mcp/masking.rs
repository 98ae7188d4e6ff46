//! Takes cursors and secrets out of the text of a message, for people, and knows what else than
//! the values of `env` and `headers` is secret.
//!
//! The text is gone through token by token, so that one that was cut off is masked too.

use super::cursors::hide;
use crate::config::secret::{is_secret_name, literals_in_argument, literals_in_url};
use crate::domain::server::Mask;
use crate::domain::{Secret, ServerConfig, TransportConfig};

/// What stands in place of a value.
const STARS: &str = "\"***\"";

/// The mask of a definition: of its own secrets, of those that it writes out in its arguments or
/// its URL, and of those among our variables that its child gets too.
#[must_use]
pub fn mask_of(config: &ServerConfig, ours: impl Iterator<Item = (String, String)>) -> Mask {
    let mask = Mask::new(config.secrets());
    let add = |text: &str| mask.add(&Secret::new(text));
    match &config.transport {
        TransportConfig::Http(http) => {
            for range in literals_in_url(&http.url) {
                add(&http.url[range]);
            }
        }
        TransportConfig::Stdio(stdio) => {
            let mut before = None;
            for argument in &stdio.args {
                for range in literals_in_argument(before, argument) {
                    add(&argument[range]);
                }
                before = Some(&**argument);
            }
            let is_passed = |name: &String| stdio.inherit_env || stdio.pass_env.contains(name);
            for (name, value) in ours {
                if is_passed(&name) && is_secret_name(&name) {
                    add(&value);
                }
            }
        }
    }
    mask
}

/// The text without the values of `cursor` and `nextCursor`, of what has the name of a secret, and
/// of secrets that are known; and without the cursors, where a value quotes one.
#[must_use]
pub fn masked(text: &str, mask: &Mask, cursors: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        out.push_str(&rest[..at]);
        let token = string(&rest[at..]);
        rest = &rest[at + token.len()..];
        let gap = rest.len() - rest.trim_ascii_start().len();
        let is_key = rest[gap..].starts_with(':');
        if !is_key {
            let token = hide(token, cursors.iter().copied(), !token.ends_with('"'));
            out.push_str(&without_secrets(&token, mask));
            continue;
        }
        out.push_str(&without_secrets(token, mask));
        let name: String = serde_json::from_str(token).unwrap_or_default();
        let colon = gap + 1;
        let gap = rest[colon..].len() - rest[colon..].trim_ascii_start().len();
        let (before, value) = rest.split_at(colon + gap);
        let is_cursor = matches!(&*name, "cursor" | "nextCursor");
        let is_secret = value.starts_with('"') && is_secret_name(&name);
        if is_cursor && !value.starts_with("null") || is_secret {
            out.push_str(before);
            out.push_str(STARS);
            rest = &value[length_of(value)..];
        }
    }
    out.push_str(rest);
    out
}

/// The string token at the beginning; up to the end of the text if nothing ends it.
fn string(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return &text[..at];
        }
        at += 1;
    }
    text
}

/// How long the value at the beginning is.
fn length_of(value: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = &value[at..];
        let Some(first) = rest.chars().next() else {
            return value.len();
        };
        match first {
            '"' => {
                at += string(rest).len();
                if depth == 0 {
                    return at;
                }
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' if depth <= 1 => return at + depth,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
        at += first.len_utf8();
    }
}

/// The string token without known secrets, however they are escaped in it.
fn without_secrets(token: &str, mask: &Mask) -> String {
    if !token.contains('\\') {
        return mask.apply(token.to_owned());
    }
    let Ok(value) = serde_json::from_str::<String>(token) else {
        return mask.apply(token.to_owned());
    };
    let masked = mask.apply(value.clone());
    if masked == value {
        return token.to_owned();
    }
    serde_json::to_string(&masked).unwrap_or_else(|_| STARS.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{HttpConfig, HttpFlavour, ProtocolChoice, ServerName, StdioConfig};

    fn check(text: &str, expected: &str) {
        let mask = Mask::new(&[Secret::new("hunter-two-22"), Secret::new("with\"quote")]);
        assert_eq!(masked(text, &mask, &["c-7"]), expected, "{text}");
    }

    #[test]
    fn cursors_are_never_shown() {
        check(r#"{"cursor":"abc","a":1}"#, r#"{"cursor":"***","a":1}"#);
        check(r#"{"nextCursor" : "a\"b" }"#, r#"{"nextCursor" : "***" }"#);
        check(r#"{"next\u0043ursor":"x"}"#, r#"{"next\u0043ursor":"***"}"#);
        check(r#"{"cursor":17,"b":2}"#, r#"{"cursor":"***","b":2}"#);
        check(
            r#"{"cursor":{"a":[1,"}"]},"b":2}"#,
            r#"{"cursor":"***","b":2}"#,
        );
        check(r#"{"cursor":17}"#, r#"{"cursor":"***"}"#);
        check(r#"{"nextCursor":null}"#, r#"{"nextCursor":null}"#);
        // Cut off in the middle.
        check(r#"{"nextCursor":"abc"#, r#"{"nextCursor":"***""#);
        check(r#"{"cursor":"#, r#"{"cursor":"***""#);
        // A value that only reads like it.
        check(r#"{"a":"cursor","b":"x"}"#, r#"{"a":"cursor","b":"x"}"#);
    }

    #[test]
    fn a_cursor_that_is_quoted_is_never_shown() {
        check(
            r#"{"data":"at c-7 of c-77"}"#,
            r#"{"data":"at *** of c-77"}"#,
        );
        check(r#"{"c-7":1,"data":"c-"#, r#"{"c-7":1,"data":"***"#);
    }

    #[test]
    fn what_a_server_is_given_by_other_ways_is_masked_too() {
        let stdio = |change: &dyn Fn(&mut StdioConfig)| {
            let mut stdio = StdioConfig::default();
            change(&mut stdio);
            TransportConfig::Stdio(stdio)
        };
        let args = |args: &[&str]| args.iter().map(ToString::to_string).collect::<Vec<_>>();
        let check = |transport: TransportConfig, expected: &str| {
            let config = ServerConfig {
                name: ServerName::new("x").unwrap(),
                transport,
                protocol: ProtocolChoice::Auto,
                connect_timeout: None,
                request_timeout: None,
                traversal_timeout: None,
            };
            let ours = [("A_TOKEN", "hunter-one-11"), ("EDITOR", "hunter-editor")];
            let ours = ours.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let text = "hunter-one-11 hunter-editor hunter-arg-33".to_owned();
            let mask = mask_of(&config, ours.into_iter());
            assert_eq!(mask.apply(text), expected, "{config:?}");
        };
        let plain = "hunter-one-11 hunter-editor hunter-arg-33";
        check(stdio(&|_| {}), plain);
        let passed = "*** hunter-editor hunter-arg-33";
        check(
            stdio(&|it| it.pass_env = args(&["A_TOKEN", "EDITOR"])),
            passed,
        );
        check(stdio(&|it| it.inherit_env = true), passed);
        let argument = "hunter-one-11 hunter-editor ***";
        check(
            stdio(&|it| it.args = args(&["--api-key", "hunter-arg-33", "--name", "hunter-editor"])),
            argument,
        );
        check(
            stdio(&|it| it.args = args(&["--token=hunter-arg-33"])),
            argument,
        );
        let http = HttpConfig {
            url: "https://a.example/mcp?api_key=hunter-arg-33".to_owned(),
            headers: Vec::new(),
            headers_command: Vec::new(),
            flavour: HttpFlavour::Auto,
            oauth: None,
        };
        check(TransportConfig::Http(http), argument);
    }

    #[test]
    fn secrets_are_masked_by_name_and_by_value() {
        check(r#"{"apiKey":"abc"}"#, r#"{"apiKey":"***"}"#);
        check(
            r#"{"Authorization":"Bearer x"}"#,
            r#"{"Authorization":"***"}"#,
        );
        check(
            r#"{"token":{"type":"string"}}"#,
            r#"{"token":{"type":"string"}}"#,
        );
        check(r#"["a hunter-two-22 b"]"#, r#"["a *** b"]"#);
        check(r#"["with\"quote"]"#, r#"["***"]"#);
        check(r#"["hunter\u002dtwo-22"]"#, r#"["***"]"#);
    }
}
