//! Bytes as a hex dump, made line by line when it is drawn.

use std::fmt::Write as _;

use super::line::{Ink, Line};

/// How many bytes stand on a line of so many columns: offset, two digits and a space each, and the
/// characters.
#[must_use]
pub const fn bytes_each(columns: usize) -> usize {
    match columns {
        0..44 => 4,
        44..76 => 8,
        _ => 16,
    }
}

/// How many lines so many bytes take.
#[must_use]
pub const fn len(bytes: usize, each: usize) -> usize {
    bytes.div_ceil(each)
}

/// One line: `00000010  48 65 6c 6c 6f 0a                                Hello.`.
#[must_use]
pub fn line(bytes: &[u8], index: usize, each: usize) -> Line<'static> {
    let start = (index * each).min(bytes.len());
    let part = &bytes[start..(start + each).min(bytes.len())];
    let mut text = format!("{start:08x}  ");
    let mut inks = vec![(text.len(), Ink::Dim)];
    for place in 0..each {
        let gap = if place + 1 == each / 2 && each > 4 {
            "  "
        } else {
            " "
        };
        // Writing to a string does not fail.
        let _ = match part.get(place) {
            Some(byte) => write!(text, "{byte:02x}{gap}"),
            None => write!(text, "  {gap}"),
        };
    }
    text.push(' ');
    inks.push((text.len(), Ink::Plain));
    text.extend(part.iter().map(|byte| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '.',
    }));
    inks.push((text.len(), Ink::String));
    Line {
        inks,
        ..Line::plain(text, Ink::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_as_digits_and_characters() {
        let bytes: Vec<u8> = (0x30..0x43).collect();
        let check = |index, each, expected: &str| {
            assert_eq!(line(&bytes, index, each).text, expected);
        };
        check(
            0,
            16,
            "00000000  30 31 32 33 34 35 36 37  38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?",
        );
        check(
            1,
            16,
            "00000010  40 41 42                                          @AB",
        );
        check(4, 4, "00000010  40 41 42     @AB");
        assert_eq!(len(bytes.len(), 16), 2);
        assert!(
            (1..200).all(|columns| columns < 30
                || line(&bytes, 0, bytes_each(columns)).text.len() <= columns)
        );
    }
}
