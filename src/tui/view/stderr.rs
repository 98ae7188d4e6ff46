//! A row of the Stderr tab.

use ratatui::style::Style;

use super::listing::Cells;
use crate::tui::lines::StderrLine;

/// The line as it was written, cleaned, and a word where it was not on stderr.
pub fn row(cells: &mut Cells<'_>, line: &StderrLine) {
    let dim = cells.dim;
    cells.put(line.word(), dim);
    cells.put(&line.text, Style::new());
}
