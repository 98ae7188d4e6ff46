//! How results are printed: one JSON object, an aligned table on a terminal, or tab-separated lines.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::command::What;
use super::exit::Exit;
use super::table::Table;
use crate::app::report::{ErrorJson, ItemJson, ServerJson, all_errors};
use crate::domain::catalog::Slot;
use crate::domain::text;
use crate::domain::{
    AppState, ListMethod, Prompt, Resource, ResourceTemplate, ServerSnapshot, Tool,
};

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

/// Prints the text as it is.
///
/// # Errors
///
/// What the system says of the write.
pub fn print_plain(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A closed pipe is success: whoever reads has seen enough.
///
/// # Errors
///
/// Every other failure of a write.
pub fn quiet_if_closed(written: io::Result<()>) -> anyhow::Result<Exit> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(Exit::Success),
    }
}

/// Prints the state as text: a table on a terminal, tab-separated lines elsewhere.
///
/// # Errors
///
/// What the system says of the write.
pub fn print_text(state: &AppState, what: What) -> io::Result<()> {
    match what {
        What::Servers => {
            let mut table = Table::new(["NAME", "STATUS", "ERROR"]);
            for server in state.servers.iter() {
                let error = server.error(None);
                let error = error.map_or("", |error| &error.failure.message);
                table.row([server.name.as_str(), server.status.word(), error]);
            }
            table.print()
        }
        What::Resources => print_items(state, what, ["SERVER", "URI", "TITLE"]),
        What::Templates => print_items(state, what, ["SERVER", "URI TEMPLATE", "TITLE"]),
        What::Tools | What::Prompts => print_items(state, what, ["SERVER", "NAME", "TITLE"]),
        // Programs have the three fields of the other listings, and the kinds in the JSON.
        What::All if io::stdout().is_terminal() => {
            print_items(state, what, ["SERVER", "URI OR NAME", "TITLE", "KIND"])
        }
        What::All => print_items(state, what, ["SERVER", "URI OR NAME", "TITLE"]),
    }
}

/// Prints the items, with as many of their cells as there are columns.
fn print_items<const N: usize>(
    state: &AppState,
    what: What,
    header: [&'static str; N],
) -> io::Result<()> {
    let mut table = Table::new(header);
    for server in state.servers.iter() {
        add_items::<Resource, N>(&mut table, server, what);
        add_items::<ResourceTemplate, N>(&mut table, server, what);
        add_items::<Tool, N>(&mut table, server, what);
        add_items::<Prompt, N>(&mut table, server, what);
    }
    table.print()
}

fn add_items<T: Slot, const N: usize>(table: &mut Table<N>, server: &ServerSnapshot, what: What) {
    if what.shows(T::METHOD) {
        for item in T::of(&server.catalog).items.iter() {
            let key = key_cell(item.key());
            let cells = [server.name.as_str(), &key, item.label(), kind(T::METHOD)];
            table.row(std::array::from_fn(|column| cells[column]));
        }
    }
}

/// What a row of `list all` is, for a person.
const fn kind(method: ListMethod) -> &'static str {
    match method {
        ListMethod::Resources => "resource",
        ListMethod::ResourceTemplates => "template",
        ListMethod::Tools => "tool",
        ListMethod::Prompts => "prompt",
    }
}

/// A URI or name on one line: a line break becomes a space, and what else cannot be seen an
/// escape.
fn key_cell(key: &str) -> String {
    let one_line = key.replace("\r\n", " ").replace(['\r', '\n'], " ");
    text::cell(&text::visible(&one_line)).into_owned()
}
