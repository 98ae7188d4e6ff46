//! The cursors of the last walk over each listing, and how they are taken out of what a server
//! says itself.
//!
//! A cursor is for the next request and for nothing else, but servers quote theirs: in errors, on
//! stderr, in log messages. There it is hidden where it stands as a whole word.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::decode::Cursor;
use super::traverse::MAX_PAGES;
use crate::domain::ListMethod;

/// What is remembered of a cursor, in bytes: no line that is kept is longer. What follows the
/// beginning of a longer one is hidden with it.
const MOST: usize = 8 * 1024;

/// What stands in place of a cursor.
const STARS: &str = "***";

/// The cursors of one walk for each listing, the running or else the last one: at most
/// [`MAX_PAGES`] each.
#[derive(Default)]
pub struct Cursors {
    walks: [Vec<Box<str>>; 4],
    running: usize,
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = self.walks.each_ref().map(Vec::len);
        write!(f, "Cursors({counts:?})")
    }
}

impl Cursors {
    /// A walk begins. What its predecessor met is forgotten.
    pub fn begin(&mut self, method: ListMethod) {
        self.running += 1;
        self.walks[method as usize] = Vec::new();
    }

    /// A walk meets a cursor, or `None` where it is of no use to know it.
    pub fn meet(&mut self, method: ListMethod, cursor: &Cursor) -> Option<&str> {
        let walk = &mut self.walks[method as usize];
        let value = cursor.value();
        if value.is_empty() || walk.len() >= MAX_PAGES {
            return None;
        }
        let end = value.floor_char_boundary(MOST);
        walk.push(value[..end].into());
        walk.last().map(|cursor| &**cursor)
    }

    /// A walk has ended. What it met is remembered until the next one begins.
    pub const fn end(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Whether a walk runs.
    #[must_use]
    pub const fn are_growing(&self) -> bool {
        self.running > 0
    }

    /// What the last walk over the listing has met so far.
    pub fn of(&self, method: ListMethod) -> impl Iterator<Item = &str> {
        self.walks[method as usize].iter().map(|cursor| &**cursor)
    }

    /// What all last walks have met so far.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.walks.iter().flatten().map(|cursor| &**cursor)
    }
}

/// The text with `***` in place of each cursor that stands in it as a whole word, as it is or as
/// JSON writes it. Of a text that is `open` the end may be the beginning of a cursor, which is
/// hidden too.
pub fn hide<'t, 'c>(
    text: &'t str,
    cursors: impl Iterator<Item = &'c str>,
    open: bool,
) -> Cow<'t, str> {
    let is_worth_it =
        |cursor: &&str| !cursor.is_empty() && (open || may_be_in(text.as_bytes(), cursor));
    let mut cursors: Vec<&str> = cursors.filter(is_worth_it).collect();
    // The longest first: a short one may be the beginning of another.
    cursors.sort_unstable_by_key(|cursor| Reverse(cursor.len()));
    let mut text = Cow::Borrowed(text);
    for cursor in cursors {
        let escaped = serde_json::to_string(cursor).unwrap_or_default();
        let escaped = escaped.trim_matches('"');
        for word in [cursor, escaped] {
            if let Some(hidden) = without_word(&text, word) {
                text = Cow::Owned(hidden);
            }
        }
        if open && let Some(hidden) = without_beginning(&text, cursor) {
            text = Cow::Owned(hidden);
        }
    }
    text
}

/// Whether [`hide`] would change the text, as far as can be told fast: never no where it would.
#[must_use]
pub fn may_be_in(text: &[u8], cursor: &str) -> bool {
    // JSON may write all but letters, digits and the like in another way.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_=+.:".contains(byte);
    let run = cursor.as_bytes().split(|byte| !plain(byte));
    let longest = run.max_by_key(|run| run.len()).unwrap_or_default();
    memchr::memmem::find(text, longest).is_some()
}

/// The text with stars where the word stands alone; `None` where it does not.
fn without_word(text: &str, word: &str) -> Option<String> {
    if !text.contains(word) {
        return None;
    }
    // Of such a one the beginning is known.
    let is_cut = word.len() + char::MAX_LEN_UTF8 > MOST;
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = &found[word.len()..];
        hidden.push_str(before);
        let ends = is_cut || !(after.starts_with(is_word) && word.ends_with(is_word));
        if begins_word(&hidden, word) && ends {
            hidden.push_str(STARS);
            rest = if is_cut { "" } else { after };
        } else {
            let step = word.chars().next().map_or(1, char::len_utf8);
            hidden.push_str(&found[..step]);
            rest = &found[step..];
        }
    }
    hidden.push_str(rest);
    Some(hidden)
}

/// The text with stars in place of its end, where that is the beginning of the word.
fn without_beginning(text: &str, word: &str) -> Option<String> {
    let most = text.len().min(word.len().saturating_sub(1));
    let beginnings = (1..=most).rev().filter(|len| word.is_char_boundary(*len));
    let before = beginnings.map(|len| &word[..len]).find_map(|beginning| {
        let before = text.strip_suffix(beginning)?;
        begins_word(before, word).then_some(before)
    })?;
    Some(format!("{before}{STARS}"))
}

fn begins_word(before: &str, word: &str) -> bool {
    !(before.ends_with(is_word) && word.starts_with(is_word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, cursors: &[&str], expected: &str) {
        assert_eq!(hide(text, cursors.iter().copied(), false), expected);
        let may = cursors
            .iter()
            .any(|cursor| may_be_in(text.as_bytes(), cursor));
        assert!(may || text == expected, "{text}");
    }

    #[test]
    fn a_cursor_is_hidden_where_it_stands_as_a_word() {
        check("cursor abc is unknown", &["abc"], "cursor *** is unknown");
        check("bad cursor: 'abc'", &["abc"], "bad cursor: '***'");
        check("abcd and xabc stay", &["abc"], "abcd and xabc stay");
        check("page 2 of 20", &["2"], "page *** of 20");
        check("a== b==c", &["=="], "a*** b***c");
        check("abc", &["abc"], "***");
        check("ab-1 and ab", &["ab", "ab-1"], "*** and ***");
        check("an empty one", &[""], "an empty one");
    }

    #[test]
    fn a_cursor_is_hidden_as_json_writes_it() {
        let cursor = "{\"page\":2}";
        check(
            r#"next {"cursor":"{\"page\":2}"}"#,
            &[cursor],
            r#"next {"cursor":"***"}"#,
        );
        check("\"\"\"", &["\""], "*********");
    }

    #[test]
    fn the_end_of_an_open_text_may_be_the_beginning_of_a_cursor() {
        let check = |text: &str, expected: &str| {
            assert_eq!(hide(text, ["abcdef"].into_iter(), true), expected);
        };
        check("next abc", "next ***");
        check("next abcdef", "next ***");
        check("next xabc", "next xabc");
        check("next abc ", "next abc ");
    }

    #[test]
    fn of_a_cursor_longer_than_any_line_the_beginning_is_enough() {
        let long = "c".repeat(3 * MOST);
        let known = &long[..MOST];
        let hidden = hide(&long, [known].into_iter(), false);
        assert_eq!(hidden, "***");
    }
}
