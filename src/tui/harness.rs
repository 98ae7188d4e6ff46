//! A deck without a terminal and an engine, for the tests.

use std::collections::BTreeMap;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::action::{Action, Command, Effect};
use super::aside::Wanted;
use super::ask::{Answer, Ask};
use super::fixture::clock;
use super::key::Key;
use super::keymap::Keymap;
use super::model::Model;
use super::theme::{Environment, Theme};
use super::update::{context, update};
use super::view::render;
use super::view_model::ViewModel;
use crate::domain::{AppState, text};

/// What the loop holds while the deck runs.
pub struct Deck {
    pub model: Model,
    pub state: AppState,
    pub theme: Theme,
    keymap: Keymap,
}

impl Deck {
    pub fn new(size: (u16, u16), state: AppState) -> Self {
        let mut deck = Self {
            model: Model::new(size, "~/.config/mcpdeck/config.toml", false, true),
            state,
            theme: Theme::new("dark", None, false, &Environment::default()),
            keymap: Keymap::new(&BTreeMap::new()).unwrap(),
        };
        deck.act(Action::State);
        deck
    }

    pub fn act(&mut self, action: Action) -> Option<Effect> {
        update(&mut self.model, &self.state, action, &clock())
    }

    /// Presses keys, each written as in the config; returns what the last one asks for.
    pub fn press(&mut self, keys: &str) -> Option<Effect> {
        let mut effect = None;
        for key in keys.split_whitespace() {
            let key = Key::parse(key).unwrap();
            let action = self.keymap.action(context(&self.model), key);
            effect = self.act(action);
        }
        effect
    }

    /// The keys of the command, as shown.
    pub fn keys_of(&self, command: Command) -> Vec<String> {
        let keys = self.keymap.keys_of(command).iter();
        keys.map(ToString::to_string).collect()
    }

    /// Finds what was asked for without a server, and gives the answer to the layer that awaits
    /// it.
    pub fn answer(&mut self, effect: Option<Effect>) -> Option<Effect> {
        match effect {
            Some(Effect::Ask(ticket, Ask::Find(query))) => self.act(Action::Answered(
                ticket,
                Answer::Hits(query.run(&Wanted::default())),
            )),
            other => panic!("{other:?} asks nothing that is answered here"),
        }
    }

    /// Publishes another snapshot.
    pub fn publish(&mut self, state: AppState) {
        self.state = state;
        self.act(Action::State);
    }

    pub fn draw(&self) -> Buffer {
        let (columns, rows) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let view = ViewModel::new(&self.model, &self.state, clock(), &self.theme, &self.keymap);
        terminal.draw(|frame| render(frame, &view)).unwrap();
        terminal.backend().buffer().clone()
    }

    pub fn text(&self) -> String {
        lines(&self.draw()).join("\n")
    }
}

/// The lines of the buffer, as a person sees them.
fn lines(buffer: &Buffer) -> Vec<String> {
    let columns = usize::from(buffer.area.width);
    buffer
        .content
        .chunks(columns)
        .map(|cells| {
            let mut line = String::new();
            let mut index = 0;
            while let Some(cell) = cells.get(index) {
                line.push_str(cell.symbol());
                index += text::width(cell.symbol()).max(1);
            }
            line.trim_end().to_owned()
        })
        .collect()
}
