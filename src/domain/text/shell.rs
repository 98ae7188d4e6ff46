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
    let is_start = word.starts_with(['#', '~', '=']) && !word.starts_with("~/");
    if word.is_empty() || has_variable || is_start || word.contains(is_special) {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    } else {
        Cow::Borrowed(word)
    }
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
    }
}
