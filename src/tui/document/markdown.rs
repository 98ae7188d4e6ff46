//! Markdown as lines: headings, lists, quotes, code, tables, links.
//!
//! The text was cleaned before; what its entities stand for is cleaned once more.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::aside::Wanted;
use super::line::Ink;
use super::rich::Rich;
use crate::domain::text;

/// The widest column of a table.
const WIDEST: usize = 80;

/// The lines of a Markdown text, as long as they are wanted.
#[must_use]
pub fn render(markdown: &str, wanted: &Wanted) -> Rich {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut page = Page::default();
    for event in Parser::new_ext(markdown, options).take_while(|_| wanted.holds()) {
        page.take(event);
    }
    page.finish();
    page.rich
}

/// What is being laid out.
#[derive(Debug, Default)]
struct Page {
    rich: Rich,
    /// What stands before each line: bars of quotes, indents of lists.
    margin: String,
    /// What stands before the next line in place of the end of the margin: a bullet.
    bullet: Option<String>,
    /// The number of the next item of each open list; `None`: it has bullets.
    lists: Vec<Option<u64>>,
    /// The line so far.
    parts: Vec<(String, Ink)>,
    inks: Vec<Ink>,
    links: Vec<String>,
    in_code: bool,
    table: Option<Table>,
}

#[derive(Debug, Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cell: String,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.write(&code, Ink::Code),
            Event::Html(html) | Event::InlineHtml(html) => {
                self.inks.push(Ink::Dim);
                self.lines(&html);
                self.inks.pop();
            }
            Event::SoftBreak => self.write(" ", self.ink()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.rich.gap();
                self.write("────────────", Ink::Dim);
                self.flush();
                self.rich.gap();
            }
            Event::TaskListMarker(done) => {
                self.write(if done { "[x] " } else { "[ ] " }, Ink::Dim);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.write(&text, Ink::Code),
            Event::FootnoteReference(name) => self.write(&format!("[{name}]"), Ink::Dim),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                self.inks.push(if level > HeadingLevel::H2 {
                    Ink::Strong
                } else {
                    Ink::Heading
                });
            }
            Tag::Paragraph | Tag::HtmlBlock => self.gap_before_block(),
            Tag::BlockQuote(_) => {
                self.gap();
                self.margin.push_str("│ ");
            }
            Tag::CodeBlock(kind) => {
                self.gap_before_block();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.write(&language, Ink::Dim);
                    self.flush();
                }
                self.margin.push_str("  ");
                self.in_code = true;
                self.inks.push(Ink::Code);
            }
            Tag::MetadataBlock(_) => {
                self.in_code = true;
                self.inks.push(Ink::Dim);
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.inks.push(Ink::Emphasis),
            Tag::Strong => self.inks.push(Ink::Strong),
            Tag::Strikethrough => self.inks.push(Ink::Dim),
            Tag::Link { dest_url, .. } => {
                self.links.push(dest_url.to_string());
                self.inks.push(Ink::Link);
            }
            Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.to_string());
                self.write("image: ", Ink::Dim);
                self.inks.push(Ink::Link);
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::FootnoteDefinition(name) => {
                self.gap();
                self.write(&format!("[{name}] "), Ink::Dim);
            }
            Tag::TableCell
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.inks.pop();
                self.gap();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => self.flush(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.unindent("│ ".len());
                self.gap();
            }
            TagEnd::CodeBlock => {
                self.flush_code();
                self.unindent(2);
                self.gap();
            }
            TagEnd::MetadataBlock(_) => {
                self.flush_code();
                self.gap();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.gap();
                }
            }
            TagEnd::Item => {
                self.flush();
                self.bullet = None;
                self.unindent(self.item_indent());
                if let Some(Some(number)) = self.lists.last_mut() {
                    *number += 1;
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.inks.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table {
                    let cell = std::mem::take(&mut table.cell);
                    if let Some(row) = table.rows.last_mut() {
                        row.push(cell);
                    }
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lay_out(&table);
                }
                self.gap();
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
        }
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or(Ink::Plain)
    }

    fn text(&mut self, text: &str) {
        if self.in_code {
            self.lines(text);
        } else {
            self.write(text, self.ink());
        }
    }

    /// Adds to the line, or to the cell of a table.
    fn write(&mut self, text: &str, ink: Ink) {
        let clean = text::contents(text).text;
        match &mut self.table {
            Some(table) => table.cell.push_str(&clean),
            None => self.parts.push((clean, ink)),
        }
    }

    /// Adds a text that has line breaks of its own.
    fn lines(&mut self, text: &str) {
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            if !line.is_empty() {
                self.write(line, self.ink());
            }
            if lines.peek().is_some() {
                self.end_line();
            }
        }
    }

    fn item(&mut self) {
        self.flush();
        let bullet = match self.lists.last() {
            Some(Some(number)) => format!("{number}. "),
            _ => "• ".to_owned(),
        };
        self.bullet = Some(format!("{}{bullet}", self.margin));
        let indent = " ".repeat(self.item_indent());
        self.margin.push_str(&indent);
    }

    fn item_indent(&self) -> usize {
        match self.lists.last() {
            Some(Some(number)) => number.to_string().len() + 2,
            _ => 2,
        }
    }

    fn end_link(&mut self) {
        self.inks.pop();
        let Some(url) = self.links.pop() else {
            return;
        };
        let said = match &self.table {
            Some(table) => table.cell.ends_with(&url),
            None => self.parts.last().is_some_and(|(text, _)| *text == url),
        };
        if !said && !url.is_empty() && !url.starts_with('#') {
            let url = text::visible(&url).into_owned();
            self.write(&format!(" ({url})"), Ink::Dim);
        }
    }

    /// Ends the line, if there is one.
    fn flush(&mut self) {
        if !self.parts.is_empty() {
            self.end_line();
        }
    }

    fn flush_code(&mut self) {
        self.flush();
        self.in_code = false;
        self.inks.pop();
    }

    fn end_line(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let lead = self.bullet.take();
        let lead = lead.as_deref().unwrap_or(&self.margin);
        self.rich.push(lead, &self.margin, &parts);
    }

    fn unindent(&mut self, bytes: usize) {
        let left = self.margin.len().saturating_sub(bytes);
        self.margin.truncate(self.margin.floor_char_boundary(left));
    }

    /// A block within an item follows its bullet without a gap.
    fn gap_before_block(&mut self) {
        self.flush();
        if self.bullet.is_none() {
            self.gap();
        }
    }

    fn gap(&mut self) {
        self.flush();
        self.rich.gap();
    }

    fn finish(&mut self) {
        self.flush();
        self.rich.trim_end();
    }

    /// The rows of a table, its columns as wide as they need to be.
    fn lay_out(&mut self, table: &Table) {
        let count = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = table.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| text::width(cell)).max().unwrap_or(0);
            widest.min(WIDEST)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        for (index, row) in table.rows.iter().enumerate() {
            let ink = if index == 0 { Ink::Strong } else { Ink::Plain };
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    self.write(" │ ", Ink::Dim);
                }
                let gap = widths[column].saturating_sub(text::width(cell));
                self.write(cell, ink);
                if column + 1 < row.len() {
                    self.write(&" ".repeat(gap), Ink::Plain);
                }
            }
            self.end_line();
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.write(&rules.join("─┼─"), Ink::Dim);
                self.end_line();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &[&str]) {
        let rich = render(markdown, &Wanted::default());
        let lines: Vec<String> = (0..rich.len())
            .map(|index| {
                let line = rich.line(index);
                format!("{}{}", line.lead, line.text).trim_end().to_owned()
            })
            .collect();
        assert_eq!(lines, expected, "{markdown}");
    }

    #[test]
    fn blocks_have_gaps_and_lists_have_bullets() {
        check(
            "# Title\nSome *text*\nhere.\n\n- one\n- two\n  1. deep\n  2. deeper\n\n### End\n> quoted\n> more",
            &[
                "Title",
                "",
                "Some text here.",
                "",
                "• one",
                "• two",
                "  1. deep",
                "  2. deeper",
                "",
                "End",
                "",
                "│ quoted more",
            ],
        );
        check(
            "```rust\nfn a() {\n\n}\n```\nafter\n\n---\n",
            &[
                "rust",
                "  fn a() {",
                "",
                "  }",
                "",
                "after",
                "",
                "────────────",
            ],
        );
    }

    #[test]
    fn tables_are_aligned() {
        check(
            "| a | b |\n|---|---|\n| long cell | 1 |\n| x | 2 |",
            &[
                "a         │ b",
                "──────────┼──",
                "long cell │ 1",
                "x         │ 2",
            ],
        );
    }

    #[test]
    fn links_tell_where_they_lead() {
        check(
            "[docs](https://example.org/a)",
            &["docs (https://example.org/a)"],
        );
        check("<https://example.org>", &["https://example.org"]);
        check("![a cat](cat.png)", &["image: a cat (cat.png)"]);
    }

    #[test]
    fn entities_smuggle_nothing() {
        check("a&#x1b;[31mb&#x202e;c", &["a[31mbc"]);
    }

    #[test]
    fn inks_follow_the_nesting() {
        let rich = render("a **b _c_** `d`", &Wanted::default());
        let line = rich.line(0);
        let parts: Vec<(&str, Ink)> = line.parts(0..line.text.len()).collect();
        assert_eq!(
            parts,
            [
                ("a ", Ink::Plain),
                ("b ", Ink::Strong),
                ("c", Ink::Emphasis),
                (" ", Ink::Plain),
                ("d", Ink::Code)
            ]
        );
    }
}
