//! Cuts a server out of a text, and pastes it back at its old place.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::{Line, LineMap};
use super::locate::{Container, Located, Part, names, owner};
use super::scan::{Kind, Statement, behind_comma, statements};
use super::toggle::line_end_of;

/// What was cut out at one place.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it stood, in the text without all pieces.
    offset: usize,
    text: String,
    anchor: Anchor,
}

/// How its place is found again in a text that has changed.
#[derive(Clone, PartialEq, Eq)]
enum Anchor {
    /// Whole lines: between the lines around it.
    Lines,
    /// In `servers = { ... }`, before the next key, with what stood between them.
    Before(String, String),
    /// In `servers = { ... }`, behind the former key.
    Behind(String),
    /// Alone in `servers = { ... }`, so far behind the brace.
    Alone(usize),
}

impl Piece {
    /// Where another table can take its place, and the blank lines that were cut out with it.
    pub(super) fn table_place(&self) -> Option<(usize, &str)> {
        let gap = gap_of(&self.text).filter(|_| self.anchor == Anchor::Lines)?;
        Some((self.offset, gap))
    }
}

/// The text without the server, and what was cut out; `None` where the server is not found.
pub(super) fn cut(located: &Located<'_>) -> Option<(String, Vec<Piece>)> {
    let mut cuts: Vec<(Range<usize>, Anchor)> = line_cuts(located);
    if cuts.is_empty() {
        cuts = inline_cuts(located, &located.container()?)?;
    }
    if cuts.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(located.text.len());
    let mut pieces = Vec::new();
    let mut from = 0;
    for (range, anchor) in cuts {
        text.push_str(&located.text[from..range.start]);
        from = range.end;
        pieces.push(Piece {
            offset: text.len(),
            text: located.text[range].to_owned(),
            anchor,
        });
    }
    text.push_str(&located.text[from..]);
    Some((text, pieces))
}

/// The lines of the server. A comment above a header stays: nothing says whose it is.
fn line_cuts(located: &Located<'_>) -> Vec<(Range<usize>, Anchor)> {
    let all = located.statements;
    let parts = all.iter().enumerate();
    let parts = parts.filter_map(|(index, one)| Some((index, located.part(one)?)));
    let cuts = cuts_of(all, parts).into_iter();
    cuts.map(|cut| (cut, Anchor::Lines)).collect()
}

/// Where the tables of servers stand that could be replaced in place: one table each, in whole
/// lines, and not the last of the text. With each the blank lines that were cut out with it.
pub(super) fn tables<'a>(
    text: &'a str,
    all: &'a [Statement],
) -> HashMap<&'a str, (Range<usize>, &'a str)> {
    let mut parts: HashMap<&str, Vec<(usize, Part)>> = HashMap::new();
    for (index, statement) in all.iter().enumerate() {
        if let Some((name, part)) = owner(statement) {
            parts.entry(name).or_default().push((index, part));
        }
    }
    let tables = parts.into_iter().filter_map(|(name, parts)| {
        let cuts = cuts_of(all, parts.into_iter());
        let [cut] = &cuts[..] else { return None };
        let gap = gap_of(&text[cut.clone()])?;
        (cut.end < text.len()).then(|| (name, (cut.clone(), gap)))
    });
    tables.collect()
}

/// The blank lines behind a table that was cut out; `None` where it is no table.
fn gap_of(cut: &str) -> Option<&str> {
    let gap = cut.trim_end_matches(['\n', '\r']).len();
    let gap = cut[gap..].split_once('\n').map_or("", |(_, gap)| gap);
    cut.trim_start().starts_with('[').then_some(gap)
}

/// The lines of the statements of one server.
fn cuts_of(all: &[Statement], parts: impl Iterator<Item = (usize, Part)>) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut next = 0;
    for (index, part) in parts {
        if index < next {
            continue;
        }
        let mut last = index;
        if matches!(part, Part::Header | Part::SubHeader) {
            let body = all.iter().enumerate().skip(index + 1);
            let body = body.take_while(|(_, one)| !is_header(one));
            let pairs = body.filter(|(_, one)| matches!(one.kind, Kind::Pair(..)));
            last = pairs.last().map_or(index, |(place, _)| place);
            cuts.push(with_blank_lines(all, index, last));
        } else {
            cuts.push(all[index].lines.clone());
        }
        next = last + 1;
    }
    // Blank lines between two tables of the server may be cut from both sides.
    cuts.dedup_by(|next, former| {
        let touches = next.start <= former.end;
        if touches {
            former.end = former.end.max(next.end);
        }
        touches
    });
    cuts
}

fn is_header(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Header(_) | Kind::ArrayHeader)
}

/// The table with the blank lines on one side of it, so that no gap doubles.
fn with_blank_lines(all: &[Statement], first: usize, last: usize) -> Range<usize> {
    let is_blank = |one: &&Statement| one.kind == Kind::Blank;
    let before = all[..first].iter().rev().take_while(is_blank).count();
    let behind = all[last + 1..].iter().take_while(is_blank).count();
    let (mut start, mut end) = (first, last);
    if last + 1 + behind == all.len() {
        start -= before;
        end += behind;
    } else if before > 0 || first == 0 {
        end += behind;
    }
    all[start].lines.start..all[end].lines.end
}

/// The pairs of the server in `servers = { ... }`, each run of them with one comma.
fn inline_cuts(
    located: &Located<'_>,
    container: &Container,
) -> Option<Vec<(Range<usize>, Anchor)>> {
    let (text, pairs) = (located.text, &container.pairs);
    let mut cuts = Vec::new();
    let mut index = 0;
    while index < pairs.len() {
        let run = pairs[index..]
            .iter()
            .take_while(|pair| located.owns(pair))
            .count();
        if run == 0 {
            index += 1;
            continue;
        }
        let (first, last) = (&pairs[index], &pairs[index + run - 1]);
        let former = index.checked_sub(1).map(|former| &pairs[former]);
        let cut = match (pairs.get(index + run), former) {
            (Some(next), _) => {
                let comma = behind_comma(text, last.value.end)?;
                let between = &text[comma..next.start()];
                // A comment there may be about the next one.
                let (end, gap) = if between.contains('#') {
                    (comma, between)
                } else {
                    (next.start(), "")
                };
                let key = next.key.first()?.name.clone();
                (first.start()..end, Anchor::Before(key, gap.to_owned()))
            }
            (None, Some(former)) => {
                let key = former.key.first()?.name.clone();
                (former.value.end..last.value.end, Anchor::Behind(key))
            }
            (None, None) => {
                let end = behind_comma(text, last.value.end).unwrap_or(last.value.end);
                let offset = first.start() - container.value.start;
                (first.start()..end, Anchor::Alone(offset))
            }
        };
        cuts.push(cut);
        index += run;
    }
    Some(cuts)
}

/// The text with the pieces at their old places. `base` is the text that they were cut from,
/// without them. The results go from the most to the least likely one.
pub(super) fn paste(text: &str, base: &str, pieces: &[Piece]) -> Vec<String> {
    if text == base {
        let places = pieces.iter().map(|piece| piece.offset).collect::<Vec<_>>();
        return vec![pasted(text, pieces, &places)];
    }
    let (Some(old), Some(new)) = (identified(base), identified(text)) else {
        return Vec::new();
    };
    let map = LineMap::new(&old, &new);
    let found = |before_next: bool| {
        let places = pieces.iter().map(|piece| match &piece.anchor {
            Anchor::Lines => Some(map.place(piece.offset, before_next)),
            anchor => inline_place(text, anchor),
        });
        let places = places.collect::<Option<Vec<usize>>>()?;
        places.is_sorted().then(|| pasted(text, pieces, &places))
    };
    [true, false].into_iter().filter_map(found).collect()
}

/// The lines of the text: a pair or a header is told by its path, everything else by itself.
fn identified(text: &str) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for statement in statements(text)? {
        let path = match &statement.kind {
            Kind::Header(key) => Some(format!("{:?}", names(key))),
            Kind::Pair(table, pair) => Some(format!("{table:?} {:?}", names(&pair.key))),
            Kind::Blank | Kind::Comment | Kind::ArrayHeader => None,
        };
        let own = text[statement.lines].split_inclusive('\n').enumerate();
        lines.extend(own.map(|(index, line)| Line {
            identity: match &path {
                Some(path) if index == 0 => path.clone(),
                _ => line.trim_end_matches(['\n', '\r']).to_owned(),
            },
            bytes: line.len(),
        }));
    }
    Some(lines)
}

/// Where a piece belongs in `servers = { ... }`.
fn inline_place(text: &str, anchor: &Anchor) -> Option<usize> {
    let statements = statements(text)?;
    let located = Located {
        text,
        statements: &statements,
        name: "",
    };
    let container = located.container()?;
    let has_key = |key: &str| {
        let key = key.to_owned();
        move |pair: &&super::scan::Pair| names(&pair.key).first() == Some(&&*key)
    };
    match anchor {
        Anchor::Lines => None,
        Anchor::Before(key, gap) => {
            let at = container.pairs.iter().find(has_key(key))?.start();
            let before = text[..at].strip_suffix(&**gap);
            Some(before.map_or(at, str::len))
        }
        Anchor::Behind(key) => Some(container.pairs.iter().rfind(has_key(key))?.value.end),
        Anchor::Alone(offset) => {
            let at = container.value.start + offset;
            (container.pairs.is_empty() && at < container.value.end).then_some(at)
        }
    }
}

fn pasted(text: &str, pieces: &[Piece], places: &[usize]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (piece, place) in pieces.iter().zip(places) {
        result.push_str(&text[from..*place]);
        let lines = piece.anchor == Anchor::Lines;
        if lines && !result.is_empty() && !result.ends_with('\n') {
            result.push_str(line_end_of(text));
        }
        result.push_str(&piece.text);
        if lines && *place < text.len() && !piece.text.ends_with('\n') {
            result.push_str(line_end_of(text));
        }
        from = *place;
    }
    result.push_str(&text[from..]);
    result
}
