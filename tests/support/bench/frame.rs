//! A frame of many servers with many rows, without a terminal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use chrono::FixedOffset;
use mcpdeck::app::Definition;
use mcpdeck::domain::{
    AppState, Catalog, Group, Listing, ProtocolChoice, Resource, ServerConfig, ServerName,
    ServerSnapshot, Session, Status, StdioConfig, TransportConfig,
};
use mcpdeck::tui::action::{Action, Command};
use mcpdeck::tui::format::Clock;
use mcpdeck::tui::keymap::Keymap;
use mcpdeck::tui::model::Model;
use mcpdeck::tui::theme::{Environment, Theme};
use mcpdeck::tui::update::update;
use mcpdeck::tui::view::render;
use mcpdeck::tui::view_model::ViewModel;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// A large window.
const COLUMNS: u16 = 160;
const ROWS: u16 = 50;

/// How many rows each server has.
const ITEMS: usize = 10_000;

/// A server that is never started.
pub fn definition(number: usize, enabled: bool) -> Result<Definition> {
    let mut definition = Definition::from(ServerConfig {
        name: ServerName::new(&format!("server-{number}"))?,
        transport: TransportConfig::Stdio(StdioConfig::default()),
        protocol: ProtocolChoice::Legacy,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    });
    definition.enabled = enabled;
    Ok(definition)
}

/// So many connected servers, each with 10,000 resources of its own.
pub fn many_servers(count: usize) -> Result<AppState> {
    let servers: Result<Vec<Arc<ServerSnapshot>>> = (0..count).map(connected).collect();
    Ok(AppState {
        servers: servers?.into(),
        ..AppState::default()
    })
}

fn connected(number: usize) -> Result<Arc<ServerSnapshot>> {
    let mut server = definition(number, true)?.first_snapshot();
    server.status = Status::Connected(Arc::new(Session {
        protocol_version: "2025-11-25".into(),
        modern: false,
        server_name: "fast".into(),
        server_version: "1".into(),
        server_title: None,
        instructions: None,
        capabilities: Box::new([Group::Resources.word().into()]),
        since: Instant::now(),
        took: Duration::from_millis(3),
        notes: Box::new([]),
    }));
    let items = (0..ITEMS).map(|at| Resource {
        uri: format!("mem://res/{at}/x").into(),
        name: format!("res-{at}").into(),
        title: None,
        description: Some(format!("number {at}").into()),
        mime_type: None,
        annotations: None,
        size: None,
    });
    server.catalog = Arc::new(Catalog {
        resources: Listing::renewed(items.collect(), Arc::new([]), None),
        ..Catalog::default()
    });
    Ok(Arc::new(server))
}

/// What a frame is drawn from, and onto.
#[derive(Debug)]
pub struct Frame {
    state: AppState,
    clock: Clock,
    theme: Theme,
    keymap: Keymap,
    model: Model,
    terminal: Terminal<TestBackend>,
}

impl Frame {
    /// So many servers, of which the resources of the first are looked at.
    pub fn new(servers: usize) -> Result<Self> {
        let state = many_servers(servers)?;
        let clock = Clock {
            now: Instant::now(),
            zone: FixedOffset::east_opt(0).context("UTC")?,
        };
        let mut frame = Self {
            state,
            clock,
            theme: Theme::new("dark", None, false, &Environment::default()),
            keymap: Keymap::new(&BTreeMap::new())?,
            model: Model::new(
                (COLUMNS, ROWS),
                "~/.config/mcpdeck/config.toml",
                false,
                true,
            ),
            terminal: Terminal::new(TestBackend::new(COLUMNS, ROWS))?,
        };
        frame.act(Action::State);
        frame.act(Action::Command(Command::Open));
        frame.act(Action::Command(Command::Resources));
        Ok(frame)
    }

    fn act(&mut self, action: Action) {
        update(&mut self.model, &self.state, action, &self.clock);
    }

    /// Goes one row down and draws, model to cells.
    pub fn draw(&mut self) -> Result<()> {
        self.act(Action::Command(Command::Down));
        let view = ViewModel::new(
            &self.model,
            &self.state,
            self.clock,
            &self.theme,
            &self.keymap,
        );
        self.terminal.draw(|frame| render(frame, &view))?;
        Ok(())
    }
}
