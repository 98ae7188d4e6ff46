//! What one sees first where nothing is configured: what this is, and how to bring servers in. Any
//! key closes it, and does what it does.

use super::action::{Command, Effect};
use super::ask::{Answer, Ask, Ticket};
use super::import::Scanned;
use super::layer::Layer;
use super::model::Model;
use crate::app::import::{Source, State};
use crate::config::import::Tool;

/// How many tools are named.
const NAMED: usize = 3;

/// The layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// Who looks for servers of other tools.
    ticket: Ticket,
    found: Option<Scanned>,
}

impl Welcome {
    /// The welcome, and the search for what could be imported.
    #[must_use]
    pub const fn asking(model: &mut Model) -> (Self, Effect) {
        let ticket = model.next_ticket();
        let welcome = Self {
            ticket,
            found: None,
        };
        (welcome, Effect::Ask(ticket, Ask::Scan))
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.found.is_none() && self.ticket == ticket
    }

    /// Takes the answer that it awaits.
    pub fn take(&mut self, answer: Answer) {
        if let Answer::Scanned(found) = answer {
            self.found = Some(found);
        }
    }

    /// What an import would bring.
    #[must_use]
    pub fn offer(&self) -> String {
        match &self.found {
            None => "copy servers from other tools; looking for them ...".to_owned(),
            Some(Ok(listing)) => of_sources(&listing.findings.sources),
            Some(Err(_)) => "copy servers from other tools".to_owned(),
        }
    }
}

/// Any key closes the welcome. Returns whether that is all that a key of the command does.
pub fn closes(model: &mut Model, command: Command) -> bool {
    if !matches!(model.layers.top(), Some(Layer::Welcome(_))) {
        return false;
    }
    model
        .layers
        .close(|layer| matches!(layer, Layer::Welcome(_)));
    matches!(command, Command::Back | Command::Open | Command::Quit)
}

fn of_sources(sources: &[Source]) -> String {
    let new = |source: &Source| {
        let servers = source.servers.iter();
        servers.filter(|found| found.state == State::New).count()
    };
    let mut tools: Vec<Tool> = Vec::new();
    for tool in sources
        .iter()
        .filter(|it| new(it) > 0)
        .filter_map(|it| it.tool)
    {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    let servers = match sources.iter().map(new).sum() {
        0 => return "copy servers from other tools; none are found here".to_owned(),
        1 => "the server".to_owned(),
        count => format!("{count} servers"),
    };
    let mut names: Vec<String> = tools
        .iter()
        .take(NAMED)
        .map(|it| it.name().to_owned())
        .collect();
    if tools.len() > NAMED {
        names.push(format!("{} more tools", tools.len() - NAMED));
    }
    let last = names.pop().unwrap_or_default();
    let from = if names.is_empty() {
        last
    } else {
        format!("{} and {last}", names.join(", "))
    };
    format!("copy {servers} found in {from}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::Action;
    use crate::tui::fixture as make;
    use crate::tui::harness::Deck;
    use crate::tui::layout::Pane;

    fn deck() -> Deck {
        let mut deck = Deck::new((110, 30), make::with_events(vec![make::demo()]));
        deck.model.demo = true;
        deck.act(Action::Welcome);
        assert!(deck.text().contains("Welcome to mcpdeck"));
        deck
    }

    #[test]
    fn any_key_closes_it_and_does_what_it_does() {
        let check = |key: &str, is: fn(&Deck, Option<&Effect>) -> bool| {
            let mut deck = deck();
            let effect = deck.press(key);
            assert!(!deck.text().contains("Welcome to mcpdeck"), "{key}");
            assert!(is(&deck, effect.as_ref()), "{key}: {effect:?}");
        };
        check("i", |deck, _| {
            matches!(deck.model.layers.top(), Some(Layer::Import(_)))
        });
        check("a", |deck, _| {
            matches!(deck.model.layers.top(), Some(Layer::Add(_)))
        });
        check("?", |deck, _| {
            matches!(deck.model.layers.top(), Some(Layer::Help(_)))
        });
        check("tab", |deck, _| deck.model.focus == Pane::List);
        check("r", |_, effect| matches!(effect, Some(Effect::Refresh(_))));
        for key in ["q", "esc", "enter", "Z"] {
            check(key, |deck, effect| {
                effect.is_none() && deck.model.focus == Pane::Servers
            });
        }
    }

    #[test]
    fn it_gives_way_to_servers_of_a_file() {
        let mut deck = deck();
        deck.publish(make::full());
        assert!(deck.model.layers.is_empty());
    }
}
