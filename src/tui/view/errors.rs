//! A row of the Errors tab.

use ratatui::style::Style;

use super::listing::Cells;
use crate::tui::format;
use crate::tui::rows::{ErrorRow, Trouble};
use crate::tui::view_model::ViewModel;

/// When, what was asked, how often, what is shown, what came back; in a narrow list less.
pub fn row(cells: &mut Cells<'_>, view: &ViewModel<'_>, row: &ErrorRow) {
    let dim = cells.dim;
    let (when, times, shown, style) = match &row.what {
        Trouble::Error(error) => (
            view.clock.time(error.at),
            format!("x{}", error.count),
            if error.kept { "old list" } else { "-" },
            view.theme.bad,
        ),
        Trouble::Note(_) => (String::new(), String::new(), "", dim),
    };
    if cells.is_next("When") {
        cells.put(&when, dim);
    }
    cells.put(row.asked(), Style::new());
    if cells.is_next("Times") {
        cells.put(&times, dim);
    }
    if cells.is_next("Shown") {
        cells.put(shown, dim);
    }
    match &row.what {
        Trouble::Error(error) => cells.put(&format::failure(&error.failure), style),
        Trouble::Note(text) => cells.put(&format!("note: {text}"), style),
    }
}
