//! What the header of a server tells, as far as it has room.

use super::format::{self, Clock, Tone};
use crate::domain::{ServerSnapshot, Status, text};

/// The name, and the facts that fit behind it and the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// The name, cut where it has to be.
    pub name: String,
    /// The status, and where a reconnect stands: `connected`, `reconnecting 2/5 in 3s`.
    pub status: String,
    /// The facts, the most important first.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it says.
    pub text: String,
    /// How it is to be read.
    pub tone: Tone,
    /// Whether it says something else with time.
    pub ticks: bool,
}

impl Headline {
    /// The header of so many columns; what matters less is left out first.
    #[must_use]
    pub fn of(server: &ServerSnapshot, clock: &Clock, columns: usize) -> Self {
        // A space on both sides; between name and status a gap; a glyph and a space before it.
        let status = status(server, clock);
        let taken = 2 + 2 + 2 + text::width(&status);
        let room = columns.saturating_sub(taken);
        let name = format::safe(server.name.as_str());
        let name = text::fit(&name, room).into_owned();
        let mut left = room - text::width(&name);
        let facts = facts(server, clock).into_iter().map_while(|mut fact| {
            fact.text = format::safe(&fact.text).into_owned();
            left = left.checked_sub(text::width(&fact.text) + 2)?;
            Some(fact)
        });
        let facts = facts.collect();
        Self {
            name,
            status,
            facts,
        }
    }

    /// Whether a running clock is among the facts.
    #[must_use]
    pub fn ticks(&self) -> bool {
        self.facts.iter().any(|fact| fact.ticks)
    }
}

fn status(server: &ServerSnapshot, clock: &Clock) -> String {
    let word = server.status.word();
    match server.status {
        Status::Reconnecting {
            attempt,
            limit,
            due,
            ..
        } => format!("{word} {}", format::attempt(attempt, limit, due, clock)),
        _ => word.to_owned(),
    }
}

fn facts(server: &ServerSnapshot, clock: &Clock) -> Vec<Fact> {
    let fact = |text: String, tone: Tone| Fact {
        text,
        tone,
        ticks: false,
    };
    let mut facts = Vec::new();
    if let Some(since) = server.catalog.old_since() {
        facts.push(fact(format!("old since {}", clock.time(since)), Tone::Warn));
    }
    facts.push(fact(server.transport.word().to_owned(), Tone::Plain));
    let Some(session) = server.status.session() else {
        return facts;
    };
    if server.no_live_updates {
        facts.push(fact("no live updates".to_owned(), Tone::Warn));
    }
    facts.push(fact(session.protocol_version.to_string(), Tone::Plain));
    let up = format::lasting(clock.since(session.since));
    facts.push(Fact {
        text: format!("up {up}"),
        tone: Tone::Plain,
        ticks: true,
    });
    if let Some(latency) = server.latency {
        facts.push(fact(format::brief(latency), Tone::Plain));
    }
    let generation = format!("generation {}", server.generation);
    facts.push(fact(generation, Tone::Dim));
    if !server.refreshing.is_empty() {
        facts.push(fact("↻ refreshing".to_owned(), Tone::Warn));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::fixture as make;

    #[test]
    fn what_matters_less_is_left_out_first() {
        let check = |columns, expected: &str| {
            let headline = Headline::of(&make::everything(), &make::clock(), columns);
            let mut texts = vec![headline.name.as_str()];
            texts.extend(headline.facts.iter().map(|fact| fact.text.as_str()));
            assert_eq!(texts.join("|"), expected, "{columns}");
            let ticks = expected.contains("up");
            assert_eq!(headline.ticks(), ticks, "{columns}");
        };
        check(80, "everything|stdio|2025-11-25|up 3m12s|8 ms|generation 5");
        check(50, "everything|stdio|2025-11-25");
        check(32, "everything|stdio");
        check(20, "ever…");
        check(0, "");
    }
}
