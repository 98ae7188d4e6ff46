//! Texts over several lines: broken between words, and inside a word that fits on no line.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::domain::text;

/// Breaks the text into lines of at most so many columns, and of at most `most` lines.
/// Line breaks of the text are kept; tabs are two spaces.
#[must_use]
pub fn wrap(value: &str, columns: usize, most: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in value.trim_end().lines() {
        let paragraph = paragraph.replace('\t', "  ");
        let paragraph = text::cell(&paragraph);
        let paragraph = text::visible(&paragraph);
        if text::width(&paragraph) <= columns {
            lines.push(paragraph.trim_end().to_owned());
        } else {
            fold(&paragraph, columns, most, &mut lines);
        }
        if lines.len() >= most {
            lines.truncate(most);
            break;
        }
    }
    lines
}

fn fold(paragraph: &str, columns: usize, most: usize, lines: &mut Vec<String>) {
    let indent: String = paragraph
        .chars()
        .take_while(|c| *c == ' ')
        .take(columns / 2)
        .collect();
    let mut line = indent.clone();
    let mut used = text::width(&line);
    for word in paragraph.trim_start().split_inclusive(' ') {
        let bare = text::width(word.trim_end());
        if used + bare > columns && used > indent.len() {
            lines.push(line.trim_end().to_owned());
            line.clone_from(&indent);
            used = indent.len();
        }
        for grapheme in word.graphemes(true) {
            let width = text::width(grapheme);
            if used + width > columns && grapheme != " " {
                lines.push(line.trim_end().to_owned());
                line.clone_from(&indent);
                used = indent.len();
            }
            line.push_str(grapheme);
            used += width;
        }
        if lines.len() >= most {
            return;
        }
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, columns: usize, expected: &[&str]) {
        let lines = wrap(value, columns, 100);
        assert_eq!(lines, expected, "{value} at {columns}");
        assert!(lines.iter().all(|line| text::width(line) <= columns));
    }

    #[test]
    fn lines_break_between_words_or_inside_long_ones() {
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 100, &["one two three"]);
        check("abcdefgh ij", 3, &["abc", "def", "gh", "ij"]);
        check("a\n\nb", 5, &["a", "", "b"]);
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("  one two", 6, &["  one", "  two"]);
        check("", 5, &[]);
    }

    #[test]
    fn there_are_no_more_lines_than_asked_for() {
        assert_eq!(wrap(&"x ".repeat(1_000), 1, 3).len(), 3);
        assert_eq!(wrap(&"x\n".repeat(1_000), 9, 3).len(), 3);
    }
}
