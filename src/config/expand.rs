//! Variables in texts: `${VAR}`, `${VAR:-default}`, and the forms of other tools.
//!
//! What is missing is an error; a text with `${...}` left in it is never passed on. The messages
//! name variables, never the text around them: it may hold a secret.

use super::entry::Dialect;
use super::environment::Environment;
use super::problem::ProblemKind;

use std::path::Path;

/// Expands the variables of one text. `base` is what other tools call the workspace folder.
pub(super) fn expand(
    text: &str,
    dialect: Dialect,
    environment: &Environment,
    base: &Path,
) -> Result<String, ProblemKind> {
    if dialect == Dialect::Literal {
        return Ok(text.to_owned());
    }
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$${") {
            expanded.push_str("${");
            rest = after;
        } else if let Some(after) = rest.strip_prefix("${") {
            let (body, after) = after.split_once('}').ok_or(ProblemKind::OpenVariable)?;
            let value = match (dialect, body) {
                (Dialect::OtherTool, "userHome") => path_text(environment.home(), body)?,
                (Dialect::OtherTool, "workspaceFolder") => path_text(Some(base), body)?,
                (Dialect::OtherTool, "workspaceFolderBasename") => {
                    path_text(base.file_name().map(Path::new), body)?
                }
                (Dialect::OtherTool, "/") => std::path::MAIN_SEPARATOR.to_string(),
                _ => variable(body, dialect, environment)?,
            };
            expanded.push_str(&value);
            rest = after;
        } else {
            expanded.push('$');
            rest = &rest[1..];
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The value for what stands between `${` and `}`.
fn variable(
    body: &str,
    dialect: Dialect,
    environment: &Environment,
) -> Result<String, ProblemKind> {
    let name_end = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(body.len());
    let (name, rest) = body.split_at(name_end);
    let is_name = name.starts_with(|c: char| !c.is_ascii_digit());
    if is_name && rest.is_empty() {
        return set(name, environment)?.ok_or_else(|| ProblemKind::MissingVariable(name.into()));
    }
    if is_name && let Some(default) = rest.strip_prefix(":-") {
        let value = set(name, environment)?.filter(|value| !value.is_empty());
        return Ok(value.unwrap_or_else(|| default.to_owned()));
    }
    match (dialect, body.split_once(':')) {
        (Dialect::OtherTool, Some(("env", name))) if !name.is_empty() => {
            // Cursor and Claude Code know the default here too.
            let (name, default) = match name.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (name, None),
            };
            let value = set(name, environment)?
                .filter(|value| default.is_none() || !value.is_empty())
                .or_else(|| default.map(str::to_owned));
            value.ok_or_else(|| ProblemKind::MissingVariable(shown_name(name)))
        }
        (Dialect::OtherTool, Some(("input", input))) if !input.is_empty() => {
            let exact = format!("MCPDECK_INPUT_{input}");
            if let Some(value) = set(&exact, environment)? {
                return Ok(value);
            }
            // A shell cannot set a variable with `-` in its name.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let plain = |c: char| if is_plain(c) { c } else { '_' };
            let variable: String = exact.chars().map(plain).collect();
            set(&variable, environment)?.ok_or_else(|| ProblemKind::MissingInput {
                input: shown_name(input),
                variable: shown_name(&variable),
            })
        }
        (_, Some((prefix, _))) if !prefix.is_empty() && prefix.len() <= 32 && is_name => {
            Err(ProblemKind::UnknownForm(shown_name(prefix)))
        }
        _ => Err(ProblemKind::BadVariable),
    }
}

fn set(name: &str, environment: &Environment) -> Result<Option<String>, ProblemKind> {
    match environment.var(name) {
        Ok(value) => Ok(value.map(str::to_owned)),
        Err(_) => Err(ProblemKind::NotUnicode(shown_name(name))),
    }
}

fn path_text(path: Option<&Path>, name: &str) -> Result<String, ProblemKind> {
    let path = path.ok_or_else(|| ProblemKind::MissingVariable(name.to_owned()))?;
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(ProblemKind::NotUnicode(name.to_owned())),
    }
}

/// A name as it may stand in a message.
fn shown_name(name: &str) -> String {
    let shown = name
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c });
    shown.take(128).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn environment() -> Environment {
        let variables = [
            ("TOKEN", "t0ken"),
            ("EMPTY", ""),
            ("MCPDECK_INPUT_key", "typed"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        Environment::new(variables, Some("/home/ann".into()), "/code/proj".into())
    }

    fn expanded(text: &str, dialect: Dialect) -> Result<String, String> {
        let environment = environment();
        expand(text, dialect, &environment, environment.cwd()).map_err(|kind| kind.to_string())
    }

    #[test]
    fn our_forms_are_expanded() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expanded(text, Dialect::Ours), expected, "{text}");
            assert_eq!(expanded(text, Dialect::OtherTool), expected, "{text}");
        };
        check("", Ok(""));
        check("plain", Ok("plain"));
        check("a ${TOKEN} b ${TOKEN}", Ok("a t0ken b t0ken"));
        check("${EMPTY}", Ok(""));
        check("${EMPTY:-x}", Ok("x"));
        check("${NOPE:-}", Ok(""));
        check("${NOPE:-a:-b ${X}!", Ok("a:-b ${X!"));
        check("${TOKEN:-x}", Ok("t0ken"));
        check("$TOKEN $ $$ $1", Ok("$TOKEN $ $$ $1"));
        check("$${TOKEN}", Ok("${TOKEN}"));
        check("$$${TOKEN}", Ok("$${TOKEN}"));
        check("é${TOKEN}é", Ok("ét0kené"));
        check(
            "${DOCS_TOKEN}",
            Err("environment variable DOCS_TOKEN is not set"),
        );
        let bad = "expected ${NAME} or ${NAME:-default}; a literal ${ is written $${";
        check("${}", Err(bad));
        check("${1A}", Err(bad));
        check("${A-b}", Err(bad));
        check("${A B}", Err(bad));
        let open = "a ${ is not closed by }; a literal ${ is written $${";
        check("x ${TOKEN", Err(open));
        let form = "unknown variable form ${command:...}; a literal ${ is written $${";
        check("${command:secret}", Err(form));
        check(
            "${TOKEN:?x}",
            Err("unknown variable form ${TOKEN:...}; a literal ${ is written $${"),
        );
    }

    #[test]
    fn forms_of_other_tools_are_theirs() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expanded(text, Dialect::OtherTool), expected, "{text}");
            assert!(expanded(text, Dialect::Ours).is_err(), "{text}");
            assert_eq!(expanded(text, Dialect::Literal).as_deref(), Ok(text));
        };
        check("${env:TOKEN}", Ok("t0ken"));
        check("${env:NOPE}", Err("environment variable NOPE is not set"));
        check("${env:NOPE:-x}", Ok("x"));
        check("${userHome}/x", Ok("/home/ann/x"));
        check("${workspaceFolder}${/}x", Ok("/code/proj/x"));
        check("${workspaceFolderBasename}", Ok("proj"));
        check("${input:key}", Ok("typed"));
        check(
            "${input:api-key}",
            Err("input api-key is needed: set the environment variable MCPDECK_INPUT_api_key"),
        );
        check(
            "${config:x}",
            Err("unknown variable form ${config:...}; a literal ${ is written $${"),
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_text_is_an_error() {
        use std::os::unix::ffi::OsStringExt;
        let value = std::ffi::OsString::from_vec(vec![0xff]);
        let environment = Environment::new([("X".into(), value)], None, "/".into());
        let error = expand("${X}", Dialect::Ours, &environment, Path::new("/"));
        assert_eq!(error, Err(ProblemKind::NotUnicode("X".into())));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[${}:a-cA-E_/\\-é ]{0,40}") {
            for dialect in [Dialect::Ours, Dialect::OtherTool] {
                let _ = expanded(&text, dialect);
            }
        }

        #[test]
        fn a_text_without_a_brace_stays(text in "[$a-zA-Z }:é]{0,40}") {
            prop_assert_eq!(expanded(&text, Dialect::Ours), Ok(text));
        }
    }
}
