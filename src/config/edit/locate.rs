//! Where a server is defined in a text: its tables, its dotted keys, or a place in an inline table.

use std::ops::Range;

use super::scan::{Kind, Pair, Segment, Statement, inline_pairs};

/// The table that holds the servers.
pub(super) const SERVERS: &str = "servers";

/// The statements of a text, and the server that is looked for.
pub(super) struct Located<'a> {
    pub(super) text: &'a str,
    pub(super) statements: &'a [Statement],
    pub(super) name: &'a str,
}

/// How a statement belongs to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// `[servers.x]`.
    Header,
    /// `[servers.x.env]`.
    SubHeader,
    /// A pair below one of the headers.
    Body,
    /// `x.command = ...` in `[servers]`, or `servers.x.command = ...`; how many parts of the key
    /// name the server.
    Dotted(usize),
    /// `x = { ... }` in `[servers]`, or `servers.x = { ... }`.
    Inline,
}

/// An inline table that holds all servers: `servers = { ... }`.
pub(super) struct Container {
    pub(super) value: Range<usize>,
    pub(super) pairs: Vec<Pair>,
}

impl Located<'_> {
    /// How the statement belongs to the server, if it does.
    pub(super) fn part(&self, statement: &Statement) -> Option<Part> {
        owner(statement)
            .filter(|(name, _)| *name == self.name)
            .map(|(_, part)| part)
    }

    /// `servers = { ... }`, if that is how the servers are written.
    pub(super) fn container(&self) -> Option<Container> {
        let value = self
            .statements
            .iter()
            .find_map(|statement| match &statement.kind {
                Kind::Pair(Some(table), pair)
                    if table.is_empty() && names(&pair.key) == [SERVERS] =>
                {
                    Some(pair.value.clone())
                }
                _ => None,
            })?;
        let pairs = self.inline_pairs(&value)?;
        Some(Container { value, pairs })
    }

    /// The pairs of the inline table; `None` where the value is something else.
    pub(super) fn inline_pairs(&self, value: &Range<usize>) -> Option<Vec<Pair>> {
        self.text[value.clone()].starts_with('{').then_some(())?;
        inline_pairs(self.text, value)
    }

    /// Whether the pair of the container is of the server.
    pub(super) fn owns(&self, pair: &Pair) -> bool {
        pair.key.first().is_some_and(|key| key.name == self.name)
    }
}

/// The server that the statement belongs to, and how.
pub(super) fn owner(statement: &Statement) -> Option<(&str, Part)> {
    let server = |path: &[&str]| path.len() > 1 && path[0] == SERVERS;
    match &statement.kind {
        Kind::Blank | Kind::Comment | Kind::ArrayHeader | Kind::Pair(None, _) => None,
        Kind::Header(key) => {
            let path = names(key);
            server(&path).then(|| {
                let is_whole = path.len() == 2;
                let part = if is_whole {
                    Part::Header
                } else {
                    Part::SubHeader
                };
                (path[1], part)
            })
        }
        Kind::Pair(Some(table), pair) => {
            let mut path: Vec<&str> = table.iter().map(String::as_str).collect();
            path.extend(names(&pair.key));
            server(&path).then(|| {
                let part = match (table.len(), path.len()) {
                    (2.., _) => Part::Body,
                    (_, 2) => Part::Inline,
                    (outer, _) => Part::Dotted(2 - outer),
                };
                (path[1], part)
            })
        }
    }
}

/// The names of a key.
pub(super) fn names(key: &[Segment]) -> Vec<&str> {
    key.iter().map(|segment| &*segment.name).collect()
}
