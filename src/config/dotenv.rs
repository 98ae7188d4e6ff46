//! The lines of an `env_file`: `NAME=value`, with `#` comments, `export` and quotes.
//!
//! Nothing is expanded in it. A message names the line, never what stands on it.

/// The variables of the file, in its order.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut variables = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| format!("line {}: {what}", index + 1);
        let assignment = match line.strip_prefix("export") {
            Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
            _ => line,
        };
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| wrong("expected NAME=value"))?;
        let name = name.trim();
        if !is_variable_name(name) {
            return Err(wrong("expected NAME=value"));
        }
        let value = unquoted(value.trim()).ok_or_else(|| wrong("a quote is not closed"))?;
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

/// Whether an environment variable can have the name.
#[must_use]
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control())
}

/// The value without its quotes and without a comment behind it.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        let (inner, _) = rest.split_once('\'')?;
        return Some(inner.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        let comment = value.find(" #").or_else(|| value.find("\t#"));
        let plain = value[..comment.unwrap_or(value.len())].trim_end();
        return Some(plain.to_owned());
    };
    let mut inner = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(inner),
            '\\' => match chars.next()? {
                'n' => inner.push('\n'),
                'r' => inner.push('\r'),
                't' => inner.push('\t'),
                c @ ('"' | '\\' | '$') => inner.push(c),
                c => inner.extend(['\\', c]),
            },
            c => inner.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_become_variables() {
        let check = |text: &str, expected: Result<&[(&str, &str)], &str>| {
            let owned = |pairs: &[(&str, &str)]| {
                let pairs = pairs.iter();
                pairs
                    .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                    .collect::<Vec<_>>()
            };
            let expected = expected.map(owned).map_err(str::to_owned);
            assert_eq!(parse(text), expected, "{text}");
        };
        check("", Ok(&[]));
        check(
            "\u{feff}A=1\r\nB = two words \r\n",
            Ok(&[("A", "1"), ("B", "two words")]),
        );
        check("# c\n\nexport A=x # note\n", Ok(&[("A", "x")]));
        check(
            "A='a # b'\nB=\"a\\n\\\"b\\\"\" # c",
            Ok(&[("A", "a # b"), ("B", "a\n\"b\"")]),
        );
        check(
            "A=a#b\nB=${HOME}\nC=",
            Ok(&[("A", "a#b"), ("B", "${HOME}"), ("C", "")]),
        );
        check("exported=1", Ok(&[("exported", "1")]));
        check("A=1\nsecret", Err("line 2: expected NAME=value"));
        check("=x", Err("line 1: expected NAME=value"));
        check("A=\"x", Err("line 1: a quote is not closed"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[A-C=\"'#\\\\ \n\té]{0,40}|\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
