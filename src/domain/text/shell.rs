//! Command lines for people: what is shown can be pasted into a shell, and does there what the
//! program does; what is typed is read as a shell would read it.

use std::borrow::Cow;
use std::str::Chars;

/// The words as a line of a POSIX shell.
#[must_use]
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<Cow<'a, str>> = words.into_iter().map(shell_word).collect();
    words.join(" ")
}

/// The word, in quotes where a shell would take it for more or something else than it is. A
/// variable in braces, as config files have it, stays one.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    const SPECIAL: &str = "'\"`\\;&|<>()*?[]!^";
    let is_special = |c: char| c.is_whitespace() || c.is_control() || SPECIAL.contains(c);
    let has_variable = word
        .match_indices('$')
        .any(|(at, _)| !word[at + 1..].starts_with('{'));
    // Outside a variable braces make several words of one.
    let has_braces = word
        .match_indices('{')
        .any(|(at, _)| !word[..at].ends_with('$'));
    let is_start = word.starts_with(['#', '~', '=']) && !word.starts_with("~/");
    let is_special = has_variable || has_braces || is_start || word.contains(is_special);
    if word.is_empty() || is_special {
        in_quotes(word)
    } else {
        Cow::Borrowed(word)
    }
}

/// The word, which a shell leaves as it is: nothing in it is a variable.
#[must_use]
pub fn literal_word(word: &str) -> Cow<'_, str> {
    match shell_word(word) {
        Cow::Borrowed(word) if word.contains('$') || word.starts_with('~') => in_quotes(word),
        word => word,
    }
}

fn in_quotes(word: &str) -> Cow<'_, str> {
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Why a line is no command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A quote is open at the end.
    #[error("the quote {0} is not closed")]
    Open(char),
    /// The line ends with a backslash.
    #[error("nothing follows the backslash at the end")]
    Escape,
    /// Something that only a shell can do.
    #[error("{0} is for a shell: put it in quotes, or write sh -c '...'")]
    Shell(char),
}

/// The words of a line as a POSIX shell splits and unquotes them. Nothing is expanded: `$` and `~`
/// stay as they are.
///
/// # Errors
///
/// [`LineError`], where a quote is open, or the line wants a shell: a pipe, a redirection.
pub fn words(line: &str) -> Result<Vec<String>, LineError> {
    let mut words = Vec::new();
    // None: between two words. An empty pair of quotes is a word.
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => single(&mut chars, word.get_or_insert_default())?,
            '"' => double(&mut chars, word.get_or_insert_default())?,
            '\\' => {
                let escaped = chars.next().ok_or(LineError::Escape)?;
                word.get_or_insert_default().push(escaped);
            }
            '|' | '&' | ';' | '<' | '>' | '`' => return Err(LineError::Shell(c)),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads up to the closing single quote: everything stands for itself.
fn single(chars: &mut Chars<'_>, word: &mut String) -> Result<(), LineError> {
    for c in chars {
        if c == '\'' {
            return Ok(());
        }
        word.push(c);
    }
    Err(LineError::Open('\''))
}

/// Reads up to the closing double quote: a backslash stands for itself before most characters.
fn double(chars: &mut Chars<'_>, word: &mut String) -> Result<(), LineError> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\' | '`' | '$')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => break,
            },
            c => word.push(c),
        }
    }
    Err(LineError::Open('"'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_what_a_shell_would_take_for_the_words() {
        let check = |words: &[&str], line: &str| {
            assert_eq!(command_line(words.iter().copied()), line, "{words:?}");
        };
        check(
            &["npx", "-y", "@scope/server@1.2"],
            "npx -y @scope/server@1.2",
        );
        check(
            &["sh", "-c", "echo disk on fire >&2; exit 7"],
            "sh -c 'echo disk on fire >&2; exit 7'",
        );
        check(&["say", "it's", "", "#1"], r"say 'it'\''s' '' '#1'");
        check(&["~/bin/x", "${HOME}/notes"], "~/bin/x ${HOME}/notes");
        check(&["echo", "$HOME", "$(id)"], "echo '$HOME' '$(id)'");
        check(&["a{b,c}", "${X}{d}"], "'a{b,c}' '${X}{d}'");
    }

    #[test]
    fn a_literal_word_has_no_variable() {
        let check = |word: &str, expected: &str| assert_eq!(literal_word(word), expected);
        check("files", "files");
        check("my server", "'my server'");
        check("${HOME}", "'${HOME}'");
        check("~/x", "'~/x'");
        check("it's", r"'it'\''s'");
    }

    #[test]
    fn a_line_is_split_as_a_shell_does_it() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        };
        check("", &[]);
        check(
            "  npx   -y\t@scope/server@1.2 ",
            &["npx", "-y", "@scope/server@1.2"],
        );
        check(r#"say 'it'\''s' "" ''"#, &["say", "it's", "", ""]);
        check(
            r#"a "b c"d e\ f "\$x \y \"z\"""#,
            &["a", "b cd", "e f", r#"$x \y "z""#],
        );
        check(
            "run ${HOME}/x ~/y #1 $z",
            &["run", "${HOME}/x", "~/y", "#1", "$z"],
        );
        check("sh -c 'a | b && c'", &["sh", "-c", "a | b && c"]);
        check("日本語 \"ä ö\"", &["日本語", "ä ö"]);
    }

    #[test]
    fn what_is_no_command_line_is_told() {
        let check = |line: &str, expected: &str| {
            assert_eq!(words(line).unwrap_err().to_string(), expected, "{line}");
        };
        check("a 'b", "the quote ' is not closed");
        check(r#"a "b\"#, "the quote \" is not closed");
        check(r"a \", "nothing follows the backslash at the end");
        check(
            "a | b",
            "| is for a shell: put it in quotes, or write sh -c '...'",
        );
    }

    proptest! {
        /// What is shown for the words is read as the words.
        #[test]
        fn a_line_that_is_shown_is_read_back(given in prop::collection::vec("\\PC*", 0..5)) {
            let line = command_line(given.iter().map(String::as_str));
            prop_assert_eq!(words(&line), Ok(given));
        }
    }
}
