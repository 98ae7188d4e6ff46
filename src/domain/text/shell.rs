//! Command lines for people: what is shown can be pasted into a shell, and does there what the
//! program does.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
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
}
