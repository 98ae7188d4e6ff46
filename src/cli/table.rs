//! Rows of cells: an aligned table on a terminal, tab-separated lines elsewhere.

use std::io::{self, IsTerminal, Write};

use crate::domain::text;

/// Rows of N cells, N at least 1.
#[derive(Debug)]
pub struct Table<const N: usize> {
    header: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub const fn new(header: [&'static str; N]) -> Self {
        Self {
            header,
            rows: Vec::new(),
        }
    }

    /// Adds a row; a line break or tab inside a value becomes a space.
    pub fn row(&mut self, cells: [&str; N]) {
        self.rows
            .push(cells.map(|cell| text::cell(cell).into_owned()));
    }

    /// Prints it: with a header on a terminal, if there are rows.
    ///
    /// # Errors
    ///
    /// What the system says of the write.
    pub fn print(&self) -> io::Result<()> {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let mut out = io::BufWriter::with_capacity(64 * 1024, stdout.lock());
        if is_terminal {
            self.print_aligned(&mut out)?;
        } else {
            for row in &self.rows {
                writeln!(out, "{}", row.join("\t"))?;
            }
        }
        out.flush()
    }

    /// The last column is as long as it is: a terminal breaks it, nothing is cut.
    fn print_aligned(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths = self.header.map(str::len);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = text::width(cell).max(*width);
            }
        }
        let mut line = |cells: [&str; N]| {
            let mut line = String::new();
            for (cell, width) in cells.into_iter().zip(widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - text::width(cell) + 2));
            }
            writeln!(out, "{}", line.trim_end())
        };
        line(self.header)?;
        for row in &self.rows {
            line(row.each_ref().map(String::as_str))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["NAME", "X", "ERROR"]);
        table.row(["a", "long", "what\nhappened"]);
        table.row(["日本語", "", ""]);
        let mut out = Vec::new();
        table.print_aligned(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "NAME    X     ERROR\na       long  what happened\n日本語\n"
        );
    }
}
