//! Which commands the footer offers over the panes: those that do something here, the most
//! useful first.

use super::action::Command;
use super::layout::Pane;
use super::model::Model;
use super::rows::Tab;
use super::update::refusal;
use crate::domain::{AppState, ServerSnapshot, Status};

/// The commands of the pane with the focus.
#[must_use]
pub fn commands(model: &Model, state: &AppState) -> Vec<Command> {
    let server = model.servers.snapshot(state).map(AsRef::as_ref);
    let usual = usual(model, server);
    let works = |command: &&Command| works(model, state, server, **command);
    usual.iter().filter(works).copied().collect()
}

/// What one would do in the pane, as if everything worked.
const fn usual(model: &Model, server: Option<&ServerSnapshot>) -> &'static [Command] {
    match (model.focus, server, model.tab) {
        (Pane::Servers, None, _) => &[Command::Import, Command::Add, Command::Back],
        (Pane::Servers, Some(server), _) => match server.status {
            Status::Untrusted => &[
                Command::Trust,
                Command::Toggle,
                Command::Filter,
                Command::Remove,
                Command::Sort,
                Command::NextPane,
                Command::RefreshAll,
            ],
            Status::NeedsAuth(_) => &[
                Command::LogIn,
                Command::Toggle,
                Command::Filter,
                Command::Reconnect,
                Command::Remove,
                Command::NextPane,
            ],
            Status::Failed(_) => &[
                Command::Open,
                Command::Edit,
                Command::Reconnect,
                Command::Toggle,
                Command::Remove,
                Command::Filter,
                Command::Add,
                Command::NextPane,
                Command::RefreshAll,
            ],
            Status::Connecting
            | Status::Connected(_)
            | Status::Reconnecting { .. }
            | Status::Disabled => &[
                Command::Open,
                Command::Toggle,
                Command::Filter,
                Command::Refresh,
                Command::Remove,
                Command::Add,
                Command::Reconnect,
                Command::Edit,
                Command::Import,
                Command::Sort,
                Command::NextPane,
                Command::RefreshAll,
            ],
        },
        (Pane::List, _, Tab::Trace) => &[
            Command::Open,
            Command::Filter,
            Command::OnlyErrors,
            Command::Follow,
            Command::Copy,
            Command::NextTab,
            Command::Back,
        ],
        (Pane::List, _, Tab::Events | Tab::Stderr) => &[
            Command::Open,
            Command::Filter,
            Command::Follow,
            Command::Copy,
            Command::NextTab,
            Command::Back,
            Command::NextPane,
        ],
        (Pane::List, _, Tab::Items(_) | Tab::Errors) => &[
            Command::Open,
            Command::Filter,
            Command::Copy,
            Command::Refresh,
            Command::NextTab,
            Command::Back,
            Command::NextPane,
            Command::Reconnect,
        ],
        (Pane::Details, ..) => &[Command::Up, Command::Copy, Command::Back, Command::Refresh],
    }
}

/// Whether the key would do what it says, and not answer that it cannot.
fn works(
    model: &Model,
    state: &AppState,
    server: Option<&ServerSnapshot>,
    command: Command,
) -> bool {
    let row = match model.focus {
        Pane::Servers => server.is_some(),
        Pane::List | Pane::Details => model.list.selected().is_some(),
    };
    match command {
        Command::Refresh | Command::Reconnect => {
            server.is_some_and(|server| refusal(server, command).is_none())
        }
        Command::Edit => server.is_some_and(|server| server.origin.is_some()),
        Command::Open | Command::Copy => row,
        Command::Filter => match model.focus {
            Pane::Servers => !state.servers.is_empty(),
            Pane::List | Pane::Details => !model.list.rows().is_empty(),
        },
        Command::Up => model.details.rows.len() > model.details.height,
        Command::Back => model.focus != Pane::Servers || !model.servers.needle().is_empty(),
        _ => true,
    }
}
