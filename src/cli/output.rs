//! How results are printed: one JSON object, an aligned table on a terminal, or tab-separated lines.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::args::What;
use crate::app::report::{ErrorJson, ItemJson, ServerJson, all_errors};
use crate::domain::catalog::Slot;
use crate::domain::text;
use crate::domain::{AppState, Prompt, Resource, ResourceTemplate, ServerSnapshot, Tool};

/// The whole result as one JSON object.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    servers: Vec<ServerJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Items<'a, Resource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_templates: Option<Items<'a, ResourceTemplate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Items<'a, Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Items<'a, Prompt>>,
    errors: Vec<ErrorJson<'a>>,
}

/// All items of one kind, each with its server.
#[derive(Debug)]
struct Items<'a, T> {
    state: &'a AppState,
    kind: std::marker::PhantomData<T>,
}

impl<T: Slot> Serialize for Items<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for server in self.state.servers.iter() {
            for item in T::of(&server.catalog).items.iter() {
                items.serialize_element(&ItemJson {
                    server: server.name.as_str(),
                    item,
                })?;
            }
        }
        items.end()
    }
}

fn items<T: Slot>(state: &AppState, what: What) -> Option<Items<'_, T>> {
    what.shows(T::METHOD).then_some(Items {
        state,
        kind: std::marker::PhantomData,
    })
}

/// Prints the state as one JSON object: indented for a person, on one line for a program.
///
/// # Errors
///
/// What the system says of the write.
pub fn print_json(state: &AppState, what: What) -> io::Result<()> {
    let result = ResultJson {
        servers: state
            .servers
            .iter()
            .map(|server| ServerJson::new(server))
            .collect(),
        resources: items(state, what),
        resource_templates: items(state, what),
        tools: items(state, what),
        prompts: items(state, what),
        errors: all_errors(state)
            .map(|(server, error)| ErrorJson::new(server, error))
            .collect(),
    };
    print_object(&result)
}

/// Prints one JSON object and a line break.
///
/// # Errors
///
/// What the system says of the write.
pub fn print_object(object: &impl Serialize) -> io::Result<()> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let mut out = io::BufWriter::with_capacity(64 * 1024, stdout.lock());
    if is_terminal {
        serde_json::to_writer_pretty(&mut out, object)?;
    } else {
        serde_json::to_writer(&mut out, object)?;
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints the state as text: a table on a terminal, tab-separated lines elsewhere.
///
/// # Errors
///
/// What the system says of the write.
pub fn print_text(state: &AppState, what: What) -> io::Result<()> {
    let mut table = match what {
        What::Servers => Table::new(&["NAME", "STATUS", "ERROR"]),
        What::Resources => Table::new(&["SERVER", "URI", "TITLE"]),
        What::Templates => Table::new(&["SERVER", "URI TEMPLATE", "TITLE"]),
        What::Tools | What::Prompts => Table::new(&["SERVER", "NAME", "TITLE"]),
        What::All => Table::new(&["SERVER", "URI OR NAME", "TITLE"]),
    };
    if what == What::Servers {
        for server in state.servers.iter() {
            let error = server
                .error(None)
                .map_or("", |error| &error.failure.message);
            table.row([server.name.as_str(), server.status.word(), error]);
        }
    }
    for server in state.servers.iter() {
        add_items::<Resource>(&mut table, server, what);
        add_items::<ResourceTemplate>(&mut table, server, what);
        add_items::<Tool>(&mut table, server, what);
        add_items::<Prompt>(&mut table, server, what);
    }
    table.print()
}

fn add_items<T: Slot>(table: &mut Table, server: &ServerSnapshot, what: What) {
    if what.shows(T::METHOD) {
        for item in T::of(&server.catalog).items.iter() {
            table.row([server.name.as_str(), &key_cell(item.key()), item.label()]);
        }
    }
}

/// A URI or name on one line: a line break becomes a space, and what else cannot be seen an
/// escape.
fn key_cell(key: &str) -> String {
    let one_line = key.replace("\r\n", " ").replace(['\r', '\n'], " ");
    text::cell(&text::visible(&one_line)).into_owned()
}

/// Rows of three cells.
struct Table {
    header: [&'static str; 3],
    rows: Vec<[String; 3]>,
}

impl Table {
    const fn new(header: &'static [&'static str; 3]) -> Self {
        Self {
            header: *header,
            rows: Vec::new(),
        }
    }

    /// Adds a row; a line break or tab inside a value becomes a space.
    fn row(&mut self, cells: [&str; 3]) {
        self.rows
            .push(cells.map(|cell| text::cell(cell).into_owned()));
    }

    fn print(&self) -> io::Result<()> {
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
        let width = |column: usize| {
            self.rows
                .iter()
                .map(|row| text::width(&row[column]))
                .chain([self.header[column].len()])
                .max()
                .unwrap_or(0)
        };
        let widths = [width(0), width(1)];
        let mut line = |cells: [&str; 3]| {
            let pad = |column: usize| " ".repeat(widths[column] - text::width(cells[column]) + 2);
            let text = format!("{}{}{}{}{}", cells[0], pad(0), cells[1], pad(1), cells[2]);
            writeln!(out, "{}", text.trim_end())
        };
        line(self.header)?;
        for [a, b, c] in &self.rows {
            line([a, b, c])?;
        }
        Ok(())
    }
}
