//! What a frame is drawn from: borrowed, and complete. Drawing asks for nothing else.

use std::sync::Arc;

use ratatui::style::Style;

use super::format::Clock;
use super::keymap::Keymap;
use super::layout::{Areas, Pane};
use super::model::{MARKS_LAST, Model, marks_at};
use super::rows::Tab;
use super::theme::Theme;
use crate::domain::{AppState, Mark, ServerSnapshot};

/// Everything that a frame shows.
#[derive(Debug, Clone, Copy)]
pub struct ViewModel<'a> {
    /// What the deck remembers.
    pub model: &'a Model,
    /// What is known of the servers.
    pub state: &'a AppState,
    /// The selected server.
    pub server: Option<&'a Arc<ServerSnapshot>>,
    /// Where everything stands; `None` where the window is too small.
    pub areas: Option<Areas>,
    /// When it is.
    pub clock: Clock,
    /// How it looks.
    pub theme: &'a Theme,
    /// Which keys work.
    pub keymap: &'a Keymap,
}

impl<'a> ViewModel<'a> {
    /// The frame of a settled model.
    #[must_use]
    pub fn new(
        model: &'a Model,
        state: &'a AppState,
        clock: Clock,
        theme: &'a Theme,
        keymap: &'a Keymap,
    ) -> Self {
        Self {
            model,
            state,
            server: model.servers.snapshot(state),
            areas: model.areas(),
            clock,
            theme,
            keymap,
        }
    }

    /// Whether the pane has the focus.
    #[must_use]
    pub fn has_focus(&self, pane: Pane) -> bool {
        self.model.focus == pane
    }

    /// The style of the bar beside the selected row of the pane.
    #[must_use]
    pub fn bar(&self, pane: Pane) -> Style {
        if self.has_focus(pane) {
            self.theme.accent
        } else {
            self.theme.dim
        }
    }

    /// The mark beside a row of the open list, while it is shown.
    #[must_use]
    pub fn mark(&self, row: usize) -> Mark {
        let (Some(server), Tab::Items(method)) = (self.server, self.model.tab) else {
            return Mark::Same;
        };
        match marks_at(server, method) {
            Some(at) if self.clock.since(at) < MARKS_LAST => {
                self.model.list.rows().mark(server, row)
            }
            _ => Mark::Same,
        }
    }
}
