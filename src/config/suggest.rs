//! The nearest known word to one that is not known.

/// The candidate that the word was most likely meant to be, if one is near enough.
///
/// A case difference always counts as near; otherwise a third of the letters may differ.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold(word);
    let allowed = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let folded = fold(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &folded);
            // Where no letter is the same, nothing speaks for the candidate.
            let letters = wanted.chars().count().max(folded.chars().count());
            (distance, distance == 0 || distance < letters, candidate)
        })
        .filter(|(distance, is_like, _)| *distance <= allowed && *is_like)
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., candidate)| candidate)
}

/// Without case, `-` and `_`: `connectTimeout` is meant to be `connect_timeout`.
fn fold(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        let check = |word: &str, expected: Option<&str>| {
            let known = ["command", "args", "env", "connect_timeout", "url"];
            assert_eq!(nearest(word, known), expected, "{word}");
        };
        check("comand", Some("command"));
        check("COMMAND", Some("command"));
        check("connectTimeout", Some("connect_timeout"));
        check("connect-timout", Some("connect_timeout"));
        check("ulr", Some("url"));
        check("something", None);
        check("", None);
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("A", ["a", "b"]), Some("a"));
    }
}
