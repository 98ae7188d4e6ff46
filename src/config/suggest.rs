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
            let distance = strsim::damerau_levenshtein(&wanted, &fold(candidate));
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
    }
}
