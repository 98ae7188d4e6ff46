//! What the mouse does: it selects and scrolls what it points at.

use super::action::Effect;
use super::layer::with_top;
use super::layout::{Pane, inside};
use super::model::Model;
use super::servers::LINES_EACH;
use super::tab_bar;
use crate::domain::AppState;

/// The left button went down: what it points at is selected.
pub fn click(model: &mut Model, state: &AppState, x: u16, y: u16) -> Option<Effect> {
    model.notice = None;
    let areas = model.areas()?;
    if let Some(layer) = model.layers.top() {
        let goes_on = layer.lets_clicks_through();
        let effect = with_top(model, |layer, model| {
            layer.click(model, state, areas.window, (x, y))
        });
        if !goes_on {
            return effect;
        }
    }
    let pane = areas.pane_at(x, y)?;
    model.focus = pane;
    let below = |top: u16| usize::from(y.saturating_sub(top));
    match pane {
        Pane::Servers => {
            let inner = inside(areas.servers);
            let place = model.servers.offset() + below(inner.y) / LINES_EACH;
            if y >= inner.y && place < model.servers.len() {
                model.servers.select(place, state);
            }
        }
        Pane::List => {
            let rows = areas.rows();
            let place = model.list.offset() + below(rows.y);
            if y == areas.tabs().y {
                click_tab(
                    model,
                    state,
                    usize::from(x.saturating_sub(areas.tabs().x + 1)),
                );
            } else if y >= rows.y && place < model.list.len() {
                model.list.set_follow(false);
                model.list.select(place);
            }
        }
        Pane::Details => {}
    }
    None
}

fn click_tab(model: &mut Model, state: &AppState, column: usize) {
    let Some(areas) = model.areas() else {
        return;
    };
    let columns = usize::from(areas.tabs().width.saturating_sub(2));
    let server = model
        .servers
        .snapshot(state)
        .map(std::convert::AsRef::as_ref);
    let labels = tab_bar::labels(server, model.tab, columns);
    if let Some(label) = labels.iter().find(|label| label.columns.contains(&column)) {
        model.tab = label.tab;
    }
}

/// The wheel was turned: what it points at scrolls.
pub fn scroll(model: &mut Model, state: &AppState, x: u16, y: u16, rows: i32) {
    let rows = isize::try_from(rows).unwrap_or(0);
    if model
        .layers
        .top_mut()
        .is_some_and(|layer| layer.scroll(rows))
    {
        return;
    }
    let pane = model.areas().and_then(|areas| areas.pane_at(x, y));
    match pane {
        Some(Pane::Servers) => model.servers.step(rows.signum(), state),
        Some(Pane::List) => {
            if rows < 0 {
                model.list.set_follow(false);
            }
            model.list.scroll(rows);
        }
        Some(Pane::Details) => model.details.scroll(rows),
        None => {}
    }
}
