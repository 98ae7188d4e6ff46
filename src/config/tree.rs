//! One tree for both syntaxes: what TOML and JSON with comments have in common, with places.
//!
//! The readers look only at this tree, so a rule holds for every kind of file.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast;
use toml_edit::{Document, Item, TableLike};

/// A value and where it stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Value {
    #[default]
    Null,
    Text(String),
    /// As it is written, save the separators of TOML.
    Number(String),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<Pair>),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

/// A text that is neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) message: String,
    pub(super) span: Range<usize>,
}

/// Values are compared, places and the order of keys are not.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        let (Value::Table(one), Value::Table(two)) = (&self.value, &other.value) else {
            return self.value == other.value;
        };
        one.len() == two.len()
            && one
                .iter()
                .all(|pair| other.get(&pair.key) == Some(&pair.value))
    }
}

/// The key and the value are compared, places are not.
impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl Node {
    /// The pairs, if it is a table.
    pub(super) fn table(&self) -> Option<&[Pair]> {
        match &self.value {
            Value::Table(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The value of the key, if it is a table that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let mut pairs = self.table()?.iter();
        pairs.find(|pair| pair.key == key).map(|pair| &pair.value)
    }

    /// Its type, for messages.
    pub(super) const fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date(_) => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Reads TOML.
pub(super) fn parse_toml(text: &str) -> Result<Node, SyntaxError> {
    let document = Document::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = first_lower(error.message());
        let word = text.get(span.clone()).unwrap_or_default();
        // The parser takes a bare word for a number that went wrong.
        let is_wrong = message.starts_with("invalid") || message.starts_with("string values");
        let is_bare = is_wrong && word.starts_with(char::is_alphabetic);
        let message = if is_bare {
            "a string needs quotes".to_owned()
        } else {
            message
        };
        SyntaxError { message, span }
    })?;
    Ok(Node {
        value: toml_table(document.as_table()),
        span: 0..text.len(),
    })
}

fn toml_table(table: &dyn TableLike) -> Value {
    let pairs = table.iter().filter_map(|(name, item)| {
        let key_span = table.key(name).and_then(toml_edit::Key::span);
        let key_span = key_span.or_else(|| item.span()).unwrap_or(0..0);
        toml_item(item, &key_span).map(|value| Pair {
            key: name.to_owned(),
            key_span,
            value,
        })
    });
    Value::Table(pairs.collect())
}

fn toml_item(item: &Item, key_span: &Range<usize>) -> Option<Node> {
    let span = item.span().unwrap_or_else(|| key_span.clone());
    let value = match item {
        Item::None => return None,
        Item::Value(value) => return Some(toml_value(value, &span)),
        Item::Table(table) => toml_table(table),
        Item::ArrayOfTables(tables) => {
            let nodes = tables.iter().map(|table| Node {
                value: toml_table(table),
                span: table.span().unwrap_or_else(|| span.clone()),
            });
            Value::List(nodes.collect())
        }
    };
    Some(Node { value, span })
}

fn toml_value(value: &toml_edit::Value, around: &Range<usize>) -> Node {
    let span = value.span().unwrap_or_else(|| around.clone());
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        toml_edit::Value::Datetime(date) => Value::Date(date.value().to_string()),
        toml_edit::Value::Array(list) => {
            Value::List(list.iter().map(|value| toml_value(value, &span)).collect())
        }
        toml_edit::Value::InlineTable(table) => toml_table(table),
    };
    Node { value, span }
}

/// Reads JSON with comments and trailing commas. An empty text is `null`; of a repeated key the
/// last counts.
pub(super) fn parse_json(text: &str) -> Result<Node, SyntaxError> {
    let options = jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed =
        jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &options)
            .map_err(|error| SyntaxError {
                message: first_lower(&error.kind().to_string()),
                span: error.range().start..error.range().end,
            })?;
    Ok(parsed.value.map_or_else(Node::default, json_value))
}

fn json_value(value: ast::Value<'_>) -> Node {
    let range = match &value {
        ast::Value::StringLit(node) => node.range,
        ast::Value::NumberLit(node) => node.range,
        ast::Value::BooleanLit(node) => node.range,
        ast::Value::Object(node) => node.range,
        ast::Value::Array(node) => node.range,
        ast::Value::NullKeyword(node) => node.range,
    };
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => Value::List(list.elements.into_iter().map(json_value).collect()),
        ast::Value::Object(object) => Value::Table(json_object(object)),
    };
    Node {
        value,
        span: range.start..range.end,
    }
}

fn json_object(object: ast::Object<'_>) -> Vec<Pair> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut pairs: Vec<Pair> = Vec::with_capacity(object.properties.len());
    for property in object.properties {
        let range = match &property.name {
            ast::ObjectPropName::String(name) => name.range,
            ast::ObjectPropName::Word(name) => name.range,
        };
        let pair = Pair {
            key: property.name.into_string(),
            key_span: range.start..range.end,
            value: json_value(property.value),
        };
        if let Some(place) = places.get(&pair.key) {
            pairs[*place] = pair;
        } else {
            places.insert(pair.key.clone(), pairs.len());
            pairs.push(pair);
        }
    }
    pairs
}

/// Messages of the parsers begin with a capital; ours are fragments.
fn first_lower(message: &str) -> String {
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "wrong syntax".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_syntaxes_give_the_same_tree() {
        let toml = "a = [1, true]\n[b.c]\nd = \"x\"\n";
        let json = "{\"a\": [1, true,], /* c */ \"b\": {\"c\": {\"d\": \"x\"}}}";
        assert_eq!(parse_toml(toml), parse_json(json));
    }

    #[test]
    fn keys_have_places() {
        let text = "[servers.a]\nx = 1\n[servers.b.env]\ny = 2\n";
        let tree = parse_toml(text).unwrap();
        let servers = tree.get("servers").unwrap().table().unwrap();
        let places: Vec<&str> = servers
            .iter()
            .map(|pair| &text[pair.key_span.clone()])
            .collect();
        assert_eq!(places, ["a", "b"]);
        assert_eq!(servers[1].key_span.start, text.find('b').unwrap());
    }

    #[test]
    fn a_bare_word_needs_quotes() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_toml(text).unwrap_err().message, expected, "{text}");
        };
        check("command = npx", "a string needs quotes");
        check("enabled = yes", "a string needs quotes");
        check("command = [server]", "a string needs quotes");
        check("a = 1\na = 2", "duplicate key");
    }

    #[test]
    fn of_a_repeated_json_key_the_last_counts() {
        let tree = parse_json("{\"a\": 1, \"b\": 2, \"a\": 3}").unwrap();
        assert_eq!(tree, parse_json("{\"a\": 3, \"b\": 2}").unwrap());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "[\\[\\]{}=\"'.,:#/\\\\a-c0-9 \n\ré]{0,60}|\\PC{0,60}") {
            let _ = parse_toml(&text);
            let _ = parse_json(&text);
        }
    }
}
