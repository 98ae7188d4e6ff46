//! Sets `enabled` of a server, in whatever form the server is written.

use std::ops::Range;

use super::locate::{Located, Part, names};
use super::scan::{Kind, Pair, Statement};

const KEY: &str = "enabled";

/// The text with `enabled` of the server set; `None` where the server is not found.
pub(super) fn set_enabled(located: &Located<'_>, enabled: bool) -> Option<String> {
    let text = located.text;
    if let Some(value) = existing(located) {
        return Some(replaced(
            text,
            &value,
            if enabled { "true" } else { "false" },
        ));
    }
    let (at, inserted) = insertion(located)?;
    // Switched on is the default.
    if enabled {
        return Some(text.to_owned());
    }
    Some(replaced(text, &(at..at), &inserted))
}

/// The value that is written already.
fn existing(located: &Located<'_>) -> Option<Range<usize>> {
    let inline = |value: &Range<usize>| {
        let pairs = located.inline_pairs(value)?;
        value_of(&pairs, &[KEY])
    };
    for statement in located.statements {
        let Kind::Pair(_, pair) = &statement.kind else {
            continue;
        };
        let found = match located.part(statement) {
            // In `[servers.x.env]` it would be a variable of that name.
            Some(Part::Body) if is_direct(statement) => {
                (names(&pair.key) == [KEY]).then(|| pair.value.clone())
            }
            Some(Part::Dotted(own)) => {
                (names(&pair.key[own..]) == [KEY]).then(|| pair.value.clone())
            }
            Some(Part::Inline) => inline(&pair.value),
            Some(Part::Body | Part::Header | Part::SubHeader) | None => None,
        };
        if found.is_some() {
            return found;
        }
    }
    let container = located.container()?;
    let own = container.pairs.iter().filter(|pair| located.owns(pair));
    own.clone()
        .find(|pair| names(&pair.key[1..]) == [KEY])
        .map(|pair| pair.value.clone())
        .or_else(|| {
            own.filter(|pair| pair.key.len() == 1)
                .find_map(|pair| inline(&pair.value))
        })
}

/// Where it is written anew, and what.
fn insertion(located: &Located<'_>) -> Option<(usize, String)> {
    let Located {
        text, statements, ..
    } = located;
    let parts: Vec<Option<Part>> = statements.iter().map(|one| located.part(one)).collect();
    if let Some(header) = parts.iter().position(|part| *part == Some(Part::Header)) {
        let body = statements[header + 1..].iter();
        let body = body.take_while(|one| !matches!(one.kind, Kind::Header(_) | Kind::ArrayHeader));
        let last = body.filter(|one| matches!(one.kind, Kind::Pair(..))).last();
        let last = last.unwrap_or(&statements[header]);
        return Some(line_after(text, last, &format!("{KEY} = false")));
    }
    let dotted = parts
        .iter()
        .rposition(|part| matches!(part, Some(Part::Dotted(_))));
    if let Some(index) = dotted
        && let (Some(Part::Dotted(own)), Kind::Pair(_, pair)) =
            (parts[index], &statements[index].kind)
    {
        let prefix = &text[pair.start()..pair.key[own - 1].range.end];
        return Some(line_after(
            text,
            &statements[index],
            &format!("{prefix}.{KEY} = false"),
        ));
    }
    for (statement, part) in statements.iter().zip(&parts) {
        match (part, &statement.kind) {
            (Some(Part::Inline), Kind::Pair(_, pair)) => {
                return into_inline(located, &pair.value, &format!("{KEY} = false"));
            }
            (Some(Part::SubHeader), Kind::Header(key)) => {
                let header = &text[key.first()?.range.start..key.get(1)?.range.end];
                let end = line_end(&text[statement.lines.clone()]).unwrap_or("\n");
                let lines = format!("[{header}]{end}{KEY} = false{end}{end}");
                return Some((statement.lines.start, lines));
            }
            _ => {}
        }
    }
    let container = located.container()?;
    let last = container.pairs.iter().rfind(|pair| located.owns(pair))?;
    if last.key.len() == 1 {
        return into_inline(located, &last.value, &format!("{KEY} = false"));
    }
    let prefix = &text[last.key.first()?.range.clone()];
    Some((last.value.end, format!(", {prefix}.{KEY} = false")))
}

/// Where a pair is put at the end of an inline table, and with which separators.
pub(super) fn into_inline(
    located: &Located<'_>,
    value: &Range<usize>,
    pair: &str,
) -> Option<(usize, String)> {
    match located.inline_pairs(value)?.last() {
        Some(last) => Some((last.value.end, format!(", {pair}"))),
        None => Some((value.start + 1, format!(" {pair} "))),
    }
}

/// A line behind the statement, with its indentation and its line end.
fn line_after(text: &str, statement: &Statement, line: &str) -> (usize, String) {
    let lines = &text[statement.lines.clone()];
    let indent = &lines[..lines.len() - lines.trim_start_matches([' ', '\t']).len()];
    let at = statement.lines.end;
    match line_end(lines) {
        Some(end) => (at, format!("{indent}{line}{end}")),
        // The last line of a text without a line end: it stays without one.
        None => (at, format!("{}{indent}{line}", line_end_of(text))),
    }
}

/// The line end of the lines, if they have one.
fn line_end(lines: &str) -> Option<&'static str> {
    if lines.ends_with("\r\n") {
        Some("\r\n")
    } else {
        lines.ends_with('\n').then_some("\n")
    }
}

/// The line end that the text uses.
pub(super) fn line_end_of(text: &str) -> &'static str {
    text.find('\n')
        .and_then(|at| line_end(&text[..=at]))
        .unwrap_or("\n")
}

/// Whether the pair stands in the table of a server itself, and in none below it.
fn is_direct(statement: &Statement) -> bool {
    matches!(&statement.kind, Kind::Pair(Some(table), _) if table.len() == 2)
}

fn value_of(pairs: &[Pair], path: &[&str]) -> Option<Range<usize>> {
    let pair = pairs.iter().find(|pair| names(&pair.key) == path)?;
    Some(pair.value.clone())
}

/// The text with the range replaced.
pub(super) fn replaced(text: &str, range: &Range<usize>, by: &str) -> String {
    [&text[..range.start], by, &text[range.end..]].concat()
}
