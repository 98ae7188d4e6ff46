//! A server that is written anew: as a table at the end, or where the text wants it otherwise.

use serde_json::Value;

use super::locate::{Located, SERVERS};
use super::scan::{Kind, statements};
use super::toggle::{into_inline, line_end_of, replaced};

/// The texts with the server added, from the most to the least usual form.
pub(super) fn added(text: &str, name: &str, server: &Value) -> Vec<String> {
    let Some(statements) = statements(text) else {
        return Vec::new();
    };
    let located = Located {
        text,
        statements: &statements,
        name,
    };
    let key = toml_edit::Key::new(name).display_repr().into_owned();
    let inline = toml_value(server);
    if let Some(container) = located.container() {
        let pair = format!("{key} = {inline}");
        let place = into_inline(&located, &container.value, &pair);
        let place = place.map(|(at, inserted)| replaced(text, &(at..at), &inserted));
        return place.into_iter().collect();
    }
    // Where dotted keys have closed the table of servers, a line among them is what is left.
    let last = statements.iter().rfind(|statement| match &statement.kind {
        Kind::Pair(Some(table), pair) => {
            table.is_empty() && pair.key.first().is_some_and(|key| key.name == SERVERS)
        }
        _ => false,
    });
    let line = last.map(|last| {
        let at = last.lines.end;
        let end = line_end_of(text);
        let pair = format!("{SERVERS}.{key} = {inline}");
        let line = if text[..at].ends_with('\n') {
            format!("{pair}{end}")
        } else {
            format!("{end}{pair}")
        };
        replaced(text, &(at..at), &line)
    });
    std::iter::once(with_table(text, &key, server))
        .chain(line)
        .collect()
}

/// The table at the end, behind a blank line.
fn with_table(text: &str, key: &str, server: &Value) -> String {
    let mut result = text.to_owned();
    append_table(&mut result, key, server);
    result
}

/// Adds the server to the text in the most usual form, as the first text of [`added`] has it.
pub(super) fn append(text: &mut String, name: &str, server: &Value) {
    let key = toml_edit::Key::new(name).display_repr().into_owned();
    append_table(text, &key, server);
}

fn append_table(text: &mut String, key: &str, server: &Value) {
    let end = line_end_of(text);
    if !text.is_empty() {
        if !text.ends_with('\n') {
            text.push_str(end);
        }
        if !text.ends_with("\n\n") && !text.ends_with("\n\r\n") {
            text.push_str(end);
        }
    }
    text.push_str(&table(key, server, end));
}

/// The text with the table at a place between two lines.
pub(super) fn inserted(text: &str, at: usize, gap: &str, name: &str, server: &Value) -> String {
    let table = of(text, name, server);
    replaced(text, &(at..at), &format!("{table}{gap}"))
}

/// The lines of a server's table, with line ends as in the text.
pub(super) fn of(text: &str, name: &str, server: &Value) -> String {
    let key = toml_edit::Key::new(name).display_repr().into_owned();
    table(&key, server, line_end_of(text))
}

/// The lines of a server's table.
fn table(key: &str, server: &Value, end: &str) -> String {
    lines_of(&format!("{SERVERS}.{key}"), server, end)
}

/// The table as text, its keys one a line: for a person to look at.
#[must_use]
pub fn table_text(path: &[&str], table: &Value) -> String {
    let keys = path.iter().map(|key| {
        let key = toml_edit::Key::new(*key);
        key.display_repr().into_owned()
    });
    lines_of(&keys.collect::<Vec<_>>().join("."), table, "\n")
}

fn lines_of(header: &str, table: &Value, end: &str) -> String {
    let pairs = table.as_object().into_iter().flatten();
    let pairs = pairs.map(|(key, value)| {
        let key = toml_edit::Key::new(key.as_str());
        format!("{} = {}{end}", key.display_repr(), toml_value(value))
    });
    std::iter::once(format!("[{header}]{end}"))
        .chain(pairs)
        .collect()
}

/// The value as TOML on one line.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => toml_text(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(toml_value).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| {
                let key = toml_edit::Key::new(key.as_str());
                format!("{} = {}", key.display_repr(), toml_value(value))
            });
            let pairs: Vec<String> = pairs.collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A basic string on one line, whatever is in it.
fn toml_text(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
