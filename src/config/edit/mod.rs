//! Edits of our own TOML: a text and an edit give a text, of which everything else is the same to
//! the byte: comments, order, quoting, line ends, a BOM, a missing line end at the end.
//!
//! The text is cut and pasted, not written anew. What comes out is parsed and compared with what
//! went in: where anything but the server has changed, the edit is refused.

mod batch;
mod lines;
mod locate;
#[cfg(test)]
mod random;
mod remove;
mod scan;
mod toggle;
mod write;

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

pub use self::batch::{Made, edit_all};
use self::locate::{Located, SERVERS};
use self::remove::Piece;
pub use self::write::table_text;
use super::entry::Definition;
use super::tree::{Node, Pair, Value, parse_toml};
use crate::domain::ServerName;

/// A change of one server.
#[derive(Debug, Clone)]
pub enum Edit {
    /// Switches it on or off.
    SetEnabled {
        /// The server.
        name: ServerName,
        /// On or off.
        enabled: bool,
    },
    /// Takes it out. [`Edited::removed`] is what puts it back.
    Remove {
        /// The server.
        name: ServerName,
    },
    /// Puts a server that was removed back at its old place, as it was.
    Insert(Removed),
    /// Adds a new server at the end.
    Add {
        /// Its name.
        name: ServerName,
        /// What it is.
        definition: Box<Definition>,
        /// Whether it is switched on.
        enabled: bool,
    },
    /// Takes the place of the definition that is there, at its place if that can be.
    Replace {
        /// Its name.
        name: ServerName,
        /// What it is.
        definition: Box<Definition>,
        /// Whether it is switched on.
        enabled: bool,
    },
}

impl Edit {
    /// The server that is changed.
    #[must_use]
    pub fn name(&self) -> &ServerName {
        match self {
            Self::SetEnabled { name, .. }
            | Self::Remove { name }
            | Self::Add { name, .. }
            | Self::Replace { name, .. } => name,
            Self::Insert(removed) => &removed.0.name,
        }
    }
}

/// A server that was taken out of a text, and where it stood. Cheap to clone.
#[derive(Clone)]
pub struct Removed(Arc<Cutting>);

struct Cutting {
    name: ServerName,
    /// The text without it.
    base: String,
    pieces: Vec<Piece>,
    /// What it says.
    server: Node,
}

impl Removed {
    /// The server.
    #[must_use]
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }
}

/// The text may hold secrets.
impl fmt::Debug for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Removed({})", self.0.name)
    }
}

/// What an edit gives.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// What was taken out, after [`Edit::Remove`].
    pub removed: Option<Removed>,
}

/// Why an edit is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is no TOML; a file with an error is never overwritten.
    #[error("the file has an error: {0}")]
    Syntax(String),
    /// The file is another tool's.
    #[error("the file belongs to another tool and is only read")]
    NotOurs,
    /// The server is not in the file.
    #[error("there is no server \"{0}\" in the file")]
    NoSuchServer(ServerName),
    /// The name is taken.
    #[error("there is a server \"{0}\" in the file already")]
    Exists(ServerName),
    /// The server is written in a way that cannot be changed without changing something else.
    #[error("server \"{0}\" is written in a form that has to be edited by hand")]
    ByHand(ServerName),
}

/// Makes the edit.
///
/// # Errors
///
/// [`EditError`]: the text stays as it is.
pub fn edit(text: &str, edit: &Edit) -> Result<Edited, EditError> {
    let (bom, body) = split_bom(text);
    let before = parse(body)?;
    let (candidates, expected, removed) = proposals(body, &before, edit)?;
    let name = edit.name();
    let right = candidates.into_iter().find(|candidate| {
        parse_toml(candidate).is_ok_and(|after| {
            server(&after, name) == expected.as_ref()
                && others(&after, name) == others(&before, name)
        })
    });
    let text = right.ok_or_else(|| EditError::ByHand(name.clone()))?;
    Ok(Edited {
        text: format!("{bom}{text}"),
        removed,
    })
}

/// The byte order mark if there is one, and the text without it.
fn split_bom(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

/// What a text of ours says.
fn parse(text: &str) -> Result<Node, EditError> {
    let tree = parse_toml(text).map_err(|error| EditError::Syntax(error.message))?;
    if tree.get("mcp_servers").is_some() || tree.get("mcpServers").is_some() {
        return Err(EditError::NotOurs);
    }
    Ok(tree)
}

/// Texts that may be the result, what the server must be in it, and what was taken out.
type Proposals = (Vec<String>, Option<Node>, Option<Removed>);

fn proposals(text: &str, before: &Node, edit: &Edit) -> Result<Proposals, EditError> {
    let name = edit.name();
    let old = server(before, name);
    let old = |wanted: bool| match old {
        Some(old) if wanted => Ok(Some(old.clone())),
        None if !wanted => Ok(None),
        Some(_) => Err(EditError::Exists(name.clone())),
        None => Err(EditError::NoSuchServer(name.clone())),
    };
    let statements = scan::statements(text).ok_or_else(|| EditError::ByHand(name.clone()))?;
    let located = Located {
        text,
        statements: &statements,
        name: name.as_str(),
    };
    match edit {
        Edit::SetEnabled { enabled, .. } => {
            let expected = old(true)?.map(|old| with_enabled(old, *enabled));
            let result = toggle::set_enabled(&located, *enabled);
            Ok((result.into_iter().collect(), expected, None))
        }
        Edit::Remove { .. } => {
            let server = old(true)?.unwrap_or_default();
            let Some((base, pieces)) = remove::cut(&located) else {
                return Err(EditError::ByHand(name.clone()));
            };
            let cutting = Cutting {
                name: name.clone(),
                base: base.clone(),
                pieces,
                server,
            };
            Ok((vec![base], None, Some(Removed(Arc::new(cutting)))))
        }
        Edit::Insert(Removed(cutting)) => {
            old(false)?;
            let mut results = remove::paste(text, &cutting.base, &cutting.pieces);
            results.extend(write::added(text, name.as_str(), &to_json(&cutting.server)));
            Ok((results, Some(cutting.server.clone()), None))
        }
        Edit::Add {
            definition,
            enabled,
            ..
        } => {
            old(false)?;
            let json = definition_json(definition, *enabled);
            let expected = from_json(&json);
            Ok((
                write::added(text, name.as_str(), &json),
                Some(expected),
                None,
            ))
        }
        Edit::Replace {
            definition,
            enabled,
            ..
        } => {
            old(true)?;
            let json = definition_json(definition, *enabled);
            let (base, pieces) =
                remove::cut(&located).ok_or_else(|| EditError::ByHand(name.clone()))?;
            let place = pieces.first().and_then(Piece::table_place);
            let in_place =
                place.map(|(at, gap)| write::inserted(&base, at, gap, name.as_str(), &json));
            let at_end = write::added(&base, name.as_str(), &json);
            let results = in_place.into_iter().chain(at_end).collect();
            Ok((results, Some(from_json(&json)), None))
        }
    }
}

/// What the text says of the server.
fn server<'a>(tree: &'a Node, name: &ServerName) -> Option<&'a Node> {
    tree.get(SERVERS)?.get(name.as_str())
}

/// The names of all servers of the text.
fn server_names(tree: &Node) -> impl Iterator<Item = &str> {
    let servers = tree.get(SERVERS).and_then(Node::table).unwrap_or_default();
    servers.iter().map(|pair| &*pair.key)
}

/// Everything else that the text says.
fn others<'a>(tree: &'a Node, name: &ServerName) -> (Vec<&'a Pair>, Vec<&'a Pair>) {
    others_than(tree, |key| key == name.as_str())
}

/// What the text says but of some servers. That a table of servers is there but empty says nothing.
fn others_than(tree: &Node, is_one: impl Fn(&str) -> bool) -> (Vec<&Pair>, Vec<&Pair>) {
    let top = tree.table().unwrap_or_default().iter();
    let servers = tree.get(SERVERS).and_then(Node::table).unwrap_or_default();
    (
        top.filter(|pair| pair.key != SERVERS).collect(),
        servers.iter().filter(|pair| !is_one(&pair.key)).collect(),
    )
}

/// The server as it should be after a toggle: switched on is also said by leaving it out.
fn with_enabled(mut server: Node, enabled: bool) -> Node {
    if let Value::Table(pairs) = &mut server.value {
        let value = Value::Bool(enabled);
        match pairs.iter_mut().find(|pair| pair.key == "enabled") {
            Some(pair) => pair.value.value = value,
            None if enabled => {}
            None => pairs.push(pair("enabled".to_owned(), value)),
        }
    }
    server
}

fn definition_json(definition: &Definition, enabled: bool) -> Json {
    let mut json = definition.to_json(false);
    if let Json::Object(map) = &mut json
        && !enabled
    {
        map.insert("enabled".to_owned(), Json::Bool(false));
    }
    json
}

fn pair(key: String, value: Value) -> Pair {
    Pair {
        key,
        key_span: 0..0,
        value: Node { value, span: 0..0 },
    }
}

fn from_json(json: &Json) -> Node {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(from_json).collect()),
        Json::Object(map) => {
            let pairs = map.iter();
            Value::Table(
                pairs
                    .map(|(key, value)| pair(key.clone(), from_json(value).value))
                    .collect(),
            )
        }
    };
    Node { value, span: 0..0 }
}

fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Text(text) | Value::Date(text) => Json::String(text.clone()),
        Value::Number(number) => number.parse().map_or_else(|_| Json::Null, Json::Number),
        Value::Bool(flag) => Json::Bool(*flag),
        Value::List(nodes) => Json::Array(nodes.iter().map(to_json).collect()),
        Value::Table(pairs) => {
            let pairs = pairs.iter();
            Json::Object(
                pairs
                    .map(|pair| (pair.key.clone(), to_json(&pair.value)))
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Http, Stdio, Transport, Written};
    use proptest::prelude::*;

    fn name(name: &str) -> ServerName {
        ServerName::new(name).unwrap()
    }

    fn toggled(text: &str, server: &str, enabled: bool) -> String {
        let change = Edit::SetEnabled {
            name: name(server),
            enabled,
        };
        edit(text, &change).unwrap().text
    }

    fn removed(text: &str, server: &str) -> (String, Removed) {
        let change = Edit::Remove { name: name(server) };
        let edited = edit(text, &change).unwrap();
        (edited.text, edited.removed.unwrap())
    }

    #[test]
    fn a_toggle_changes_one_value() {
        let check = |before: &str, after: &str| {
            let off = toggled(before, "x", false);
            assert_eq!(off, after);
            assert_eq!(toggled(&off, "x", false), after);
            let on = after.replacen("false", "true", 1);
            assert_eq!(toggled(&off, "x", true), on);
        };
        check(
            "[servers.x] # c\r\ncommand = 'a'\r\n\r\n# next\r\n[servers.y]\r\n",
            "[servers.x] # c\r\ncommand = 'a'\r\nenabled = false\r\n\r\n# next\r\n[servers.y]\r\n",
        );
        check(
            "\u{feff}  [ servers . \"x\" ]\n  command = 'a' # c",
            "\u{feff}  [ servers . \"x\" ]\n  command = 'a' # c\n  enabled = false",
        );
        check(
            "[servers.x]\nenabled   =   true  # why\ncommand = 'a'\n",
            "[servers.x]\nenabled   =   false  # why\ncommand = 'a'\n",
        );
        check("[servers.x]", "[servers.x]\nenabled = false");
        check(
            "[servers.x.env]\nenabled = 'v'\n",
            "[servers.x]\nenabled = false\n\n[servers.x.env]\nenabled = 'v'\n",
        );
        check(
            "[servers.x]\ncommand = 'a'\n[servers.x.env]\nA = 'b'\n",
            "[servers.x]\ncommand = 'a'\nenabled = false\n[servers.x.env]\nA = 'b'\n",
        );
        check(
            "[servers]\nx.command = 'a'\ny.command = 'b'\n",
            "[servers]\nx.command = 'a'\nx.enabled = false\ny.command = 'b'\n",
        );
        check(
            "servers.x.command = 'a'\n[settings]\n",
            "servers.x.command = 'a'\nservers.x.enabled = false\n[settings]\n",
        );
        check(
            "[servers]\nx = { command = 'a' } # c\n",
            "[servers]\nx = { command = 'a', enabled = false } # c\n",
        );
        check("servers.x = {}", "servers.x = { enabled = false }");
        check(
            "servers = { y = {}, x = { command = 'a' } }",
            "servers = { y = {}, x = { command = 'a', enabled = false } }",
        );
        check(
            "servers = { x.command = 'a', y = {} }",
            "servers = { x.command = 'a', x.enabled = false, y = {} }",
        );
        check(
            "servers = { x = {command = 'a', enabled = true} }",
            "servers = { x = {command = 'a', enabled = false} }",
        );
        // On is the default and is not written.
        assert_eq!(toggled("[servers.x]\n", "x", true), "[servers.x]\n");
    }

    #[test]
    fn a_removal_takes_out_the_server_alone_and_undo_puts_it_back() {
        let check = |before: &str, after: &str| {
            let (text, removed) = removed(before, "x");
            assert_eq!(text, after);
            assert_eq!(edit(&text, &Edit::Insert(removed)).unwrap().text, before);
        };
        check(
            "# top\n[servers.x]\ncommand = 'a' # c\n\n# about y\n[servers.y]\n",
            "# top\n\n# about y\n[servers.y]\n",
        );
        check(
            "[servers.y]\n\n[servers.x]\ncommand = 'a'\n# inside\nargs = [\n]\n\n[servers.z]\n",
            "[servers.y]\n\n[servers.z]\n",
        );
        check(
            "[servers.y]\r\n\r\n[servers.x]\r\ncommand = 'a'",
            "[servers.y]\r\n",
        );
        check(
            "[servers.x]\na = 1\n[servers.y]\nb = 1\n[servers.x.env]\nc = 1\n[servers.z]\n",
            "[servers.y]\nb = 1\n[servers.z]\n",
        );
        check("[servers.x]\n\n[servers.x.env]\nc = 1\n", "");
        check(
            "[servers]\nx.command = 'a'\ny = {}\nx.args = []\n",
            "[servers]\ny = {}\n",
        );
        check(
            "servers.x = { command = 'a' } # c\nservers.y = {}",
            "servers.y = {}",
        );
        check("servers = { x = {}, y = {} }", "servers = { y = {} }");
        check("servers = { y = {}, x = {} }", "servers = { y = {} }");
        check("servers = { x = {}, }", "servers = {  }");
        check(
            "servers = {\n  x = {}, # about x\n  y = {},\n}\n",
            "servers = {\n   # about x\n  y = {},\n}\n",
        );
        check(
            "servers = { x.a = 1, x.b = 2, y = {}, x.c = 3 }",
            "servers = { y = {} }",
        );
    }

    #[test]
    fn undo_finds_its_place_in_a_changed_text() {
        let check = |before: &str, changed: fn(&str) -> String, expected: &str| {
            let (text, removed) = removed(before, "x");
            let edited = edit(&changed(&text), &Edit::Insert(removed)).unwrap();
            assert_eq!(edited.text, expected);
        };
        check(
            "[servers.a]\ncommand = 'a'\n[servers.x]\n[servers.b]\n",
            |text| toggled(&toggled(text, "a", false), "b", false),
            "[servers.a]\ncommand = 'a'\nenabled = false\n[servers.x]\n[servers.b]\nenabled = false\n",
        );
        check(
            "servers = { a = {}, x = {}, b = {} }",
            |text| toggled(&toggled(text, "a", false), "b", false),
            "servers = { a = { enabled = false }, x = {}, b = { enabled = false } }",
        );
        // The table that followed a line is not the one that it stood in.
        check(
            "[servers]\na = {}\nx = {}\n",
            |text| format!("{text}\n[servers.new]\ncommand = 'n'\n"),
            "[servers]\na = {}\nx = {}\n\n[servers.new]\ncommand = 'n'\n",
        );
        check(
            "[servers.a]\n[servers.x]\ncommand = 'x'\n",
            |_| "servers = {}\n".to_owned(),
            "servers = { x = { command = \"x\" } }\n",
        );
        let (_, cutting) = removed("[servers.x]\n", "x");
        let error = edit("[servers.x]\n", &Edit::Insert(cutting)).unwrap_err();
        assert_eq!(error, EditError::Exists(name("x")));
    }

    #[test]
    fn a_server_is_added_where_the_text_allows_it() {
        let definition: Definition = Transport::Stdio(Stdio {
            command: Written::plain("np\"x"),
            args: vec![Written::plain("C:\\a\n")],
            env: vec![("A.B".into(), Written::plain("c"))],
            ..Stdio::default()
        })
        .into();
        let check = |before: &str, after: &str| {
            let change = Edit::Add {
                name: name("a.b"),
                definition: Box::new(definition.clone()),
                enabled: false,
            };
            assert_eq!(edit(before, &change).unwrap().text, after);
        };
        let table = "[servers.\"a.b\"]\ncommand = \"np\\\"x\"\nargs = [\"C:\\\\a\\n\"]\nenv = { \"A.B\" = \"c\" }\nenabled = false\n";
        let inline = "{ command = \"np\\\"x\", args = [\"C:\\\\a\\n\"], env = { \"A.B\" = \"c\" }, enabled = false }";
        check("", table);
        check("# c", &format!("# c\n\n{table}"));
        check("[settings]\n\n", &format!("[settings]\n\n{table}"));
        check(
            "a = 1\r\n",
            &format!("a = 1\r\n\r\n{}", table.replace('\n', "\r\n")),
        );
        check(
            "servers = {}",
            &format!("servers = {{ \"a.b\" = {inline} }}"),
        );
    }

    #[test]
    fn a_server_is_replaced_at_its_place() {
        let http = Http {
            url: Written::plain("http://h"),
            ..Http::default()
        };
        let change = Edit::Replace {
            name: name("x"),
            definition: Box::new(Transport::Http(http).into()),
            enabled: true,
        };
        let check = |before: &str, after: &str| {
            assert_eq!(edit(before, &change).unwrap().text, after);
        };
        check(
            "[servers.x]\ncommand = 'a'\n\n[servers.y]\n",
            "[servers.x]\nurl = \"http://h\"\n\n[servers.y]\n",
        );
        check(
            "[servers]\nx = {}\ny = {}\n",
            "[servers]\ny = {}\n\n[servers.x]\nurl = \"http://h\"\n",
        );
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let check = |text: &str, expected: &str| {
            let change = Edit::Remove { name: name("x") };
            let error = edit(text, &change).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("[servers.y]\n", "there is no server \"x\" in the file");
        check("[servers.x", "the file has an error: ");
        check("[mcp_servers.x]\n", "belongs to another tool");
        check("[servers.x]\n[[servers.x.y]]\n", "edited by hand");
    }

    /// One server in one of the forms it may be written in.
    fn server_text(form: usize, name: &str, comment: &str) -> String {
        match form {
            0 => format!(
                "{comment}[servers.{name}] # h\ncommand = 'c' # {name}\nargs = [\n 'a', # b\n]\n\n"
            ),
            1 => format!(
                "[servers.{name}]\n{comment}command = \"c\"\n[servers.{name}.env]\nA = 'b'\n"
            ),
            2 => format!("\n  [servers.{name}]\n  enabled = true   # on\n{comment}\n"),
            _ => format!("[ servers . '{name}' ]\ncommand='''\n[servers.y]\n'''\n\n\n"),
        }
    }

    fn line_text(form: usize, name: &str, comment: &str) -> String {
        match form {
            0 => format!("{comment}{name} = {{ command = 'c', env = {{ A = '}}' }} }} # i\n"),
            1 => format!("{name}.command = 'c'\n{comment}{name}.args = ['a']\n"),
            2 => format!("{name} = {{}}\n\n"),
            _ => format!("  \"{name}\" . enabled = true\n"),
        }
    }

    prop_compose! {
        fn config()(
            lines in prop::collection::vec((0..4_usize, any::<bool>()), 0..4),
            tables in prop::collection::vec((0..4_usize, any::<bool>()), 0..4),
            style in 0..3_u8,
            crlf: bool, bom: bool, cut: bool,
        ) -> (String, usize) {
            let comment = |has: bool| if has { "# comment [servers.s0]\n" } else { "" };
            let count = lines.len() + tables.len();
            let mut text = String::from("# my config\n[settings]\nmouse = false # no\n\n[servers]\n");
            if style == 1 {
                // All servers in one inline table.
                let servers = lines.iter().enumerate().map(|(index, (form, _))| match form {
                    0 => format!("s{index} = {{ command = 'c' }}"),
                    1 => format!("s{index}.command = 'c', s{index}.args = []"),
                    2 => format!("s{index} = {{}}"),
                    _ => format!("\"s{index}\" = {{enabled=true}}"),
                });
                let servers: Vec<String> = servers.collect();
                text = format!("# c\nservers = {{ {} }} # d\n[settings]\n", servers.join(", "));
            } else {
                for (index, (form, has)) in lines.iter().enumerate() {
                    text.push_str(&line_text(*form, &format!("s{index}"), comment(*has)));
                }
                for (index, (form, has)) in tables.iter().enumerate() {
                    let name = format!("s{}", lines.len() + index);
                    text.push_str(&server_text(*form, &name, comment(*has)));
                }
                text.push_str("# the end\n");
            }
            let count = if style == 1 { lines.len() } else { count };
            if cut {
                text.truncate(text.trim_end().len());
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            if bom {
                text.insert(0, '\u{feff}');
            }
            (text, count)
        }
    }

    proptest! {
        #[test]
        fn edits_and_their_undo_leave_the_rest_alone(
            (text, count) in config(),
            steps in prop::collection::vec((0..8_usize, 0..3_u8), 0..10),
        ) {
            // What the toggles alone would have made, and what toggles and removals made.
            let (mut expected, mut found) = (text.clone(), text);
            let mut stack: Vec<Removed> = Vec::new();
            let undo = |found: &mut String, removed: Removed| {
                *found = edit(found, &Edit::Insert(removed)).unwrap().text;
            };
            for (server, action) in steps {
                let server = format!("s{}", server % count.max(1));
                let gone = stack.iter().any(|one| one.name().as_str() == server);
                match action {
                    0 if count > 0 && !gone => {
                        let (text, cutting) = removed(&found, &server);
                        found = text;
                        stack.push(cutting);
                    }
                    1 if count > 0 && !gone => {
                        let on = server.ends_with(['1', '3']);
                        expected = toggled(&expected, &server, on);
                        found = toggled(&found, &server, on);
                    }
                    2 => if let Some(cutting) = stack.pop() {
                        undo(&mut found, cutting);
                    },
                    _ => {}
                }
            }
            while let Some(cutting) = stack.pop() {
                undo(&mut found, cutting);
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn no_text_makes_an_edit_panic(text in "(\\[|\\]|servers|\\.|x|=|\\{|\\}|'|\"|#|\n|1|,| ){0,30}") {
            for change in [
                Edit::SetEnabled { name: name("x"), enabled: false },
                Edit::Remove { name: name("x") },
            ] {
                let _ = edit(&text, &change);
            }
        }
    }
}
