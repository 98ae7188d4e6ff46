//! A one-line text field. The cursor moves by grapheme.

use unicode_segmentation::UnicodeSegmentation as _;

use super::action::Edit;

/// The text and where the cursor stands in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// Byte offset of the cursor, always between two graphemes.
    cursor: usize,
}

impl Field {
    /// A field with the text, the cursor behind it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text before and after the cursor.
    #[must_use]
    pub fn halves(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// Applies the key. Those that leave the text are not the field's business.
    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Insert(text) => {
                let text: String = text.chars().filter(|c| !c.is_control()).collect();
                self.text.insert_str(self.cursor, &text);
                self.cursor += text.len();
            }
            Edit::Left => self.cursor = self.before(),
            Edit::Right => self.cursor = self.after(),
            Edit::Home => self.cursor = 0,
            Edit::End => self.cursor = self.text.len(),
            Edit::Backspace => self.delete(self.before(), self.cursor),
            Edit::Delete => self.delete(self.cursor, self.after()),
            Edit::DeleteWord => self.delete(self.word(), self.cursor),
            Edit::DeleteToStart => self.delete(0, self.cursor),
            Edit::Accept
            | Edit::Cancel
            | Edit::Up
            | Edit::Down
            | Edit::NextField
            | Edit::PreviousField => {}
        }
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    /// Where the grapheme before the cursor begins.
    fn before(&self) -> usize {
        self.halves()
            .0
            .grapheme_indices(true)
            .next_back()
            .map_or(0, |(index, _)| index)
    }

    /// Where the grapheme behind the cursor ends.
    fn after(&self) -> usize {
        let (_, right) = self.halves();
        self.cursor + right.graphemes(true).next().map_or(0, str::len)
    }

    /// Where the word before the cursor begins.
    fn word(&self) -> usize {
        let left = self.halves().0.trim_end();
        left.rfind(char::is_whitespace).map_or(0, |space| {
            space + left[space..].chars().next().map_or(0, char::len_utf8)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: &str, edits: &[Edit], left: &str, right: &str) {
        let mut field = Field::new(start);
        for edit in edits {
            field.apply(edit);
        }
        assert_eq!(field.halves(), (left, right), "{start} {edits:?}");
    }

    #[test]
    fn keys_edit_the_text() {
        let insert = |text: &str| Edit::Insert(text.to_owned());
        check("", &[insert("a"), insert("b")], "ab", "");
        check("ab", &[Edit::Left, insert("x\r\n")], "ax", "b");
        check("e\u{301}ü", &[Edit::Left, Edit::Left], "", "e\u{301}ü");
        check("e\u{301}", &[Edit::Backspace], "", "");
        check("ab", &[Edit::Home, Edit::Delete], "", "b");
        check("ab", &[Edit::Home, Edit::Left, Edit::Backspace], "", "ab");
        check("one two ", &[Edit::DeleteWord], "one ", "");
        check("one", &[Edit::DeleteWord], "", "");
        check("one two", &[Edit::Left, Edit::DeleteToStart], "", "o");
        check(
            "ab",
            &[Edit::Home, Edit::Right, Edit::End, Edit::Right],
            "ab",
            "",
        );
    }
}
