//! YAML to the common tree: what the blocks of Continue are written in.
//!
//! Read are one document of mappings, lists and scalars of the core schema. Depth and size are
//! bounded, since a project can bring its own file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::tree::{Node, Pair, SyntaxError, Value};

/// No file of settings is nested deeper.
const DEEPEST: usize = 64;

/// The key that takes over the pairs of other mappings (YAML 1.1, merge keys).
const MERGE: &str = "<<";

/// How many nodes aliases may add together.
const MOST_COPIED: usize = 10_000;

/// Reads YAML. An empty text is `null`.
pub(super) fn parse_yaml(text: &str) -> Result<Node, SyntaxError> {
    let mut reader = Reader::new(text);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = reader.byte(error.marker().index());
            wrong(error.info(), at..at)
        })?;
        if reader.take(event, span)? {
            break;
        }
    }
    Ok(reader.root.unwrap_or_default())
}

/// Builds the tree from events, without recursion.
struct Reader<'a> {
    text: &'a str,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    copied: usize,
    root: Option<Node>,
    /// A character and the byte where it begins: places are asked for in rising order.
    near: (usize, usize),
}

/// A list or mapping whose end has not come yet.
struct Open {
    start: usize,
    anchor: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Table {
        pairs: Vec<Pair>,
        key: Option<(String, Range<usize>)>,
    },
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            open: Vec::new(),
            anchors: HashMap::new(),
            copied: 0,
            root: None,
            near: (0, 0),
        }
    }

    /// Takes one event; `true` at the end of the first document.
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<bool, SyntaxError> {
        let start = self.byte(span.start.index());
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd | Event::DocumentEnd => return Ok(true),
            Event::SequenceStart(anchor, _) => {
                self.begin(start, anchor, Kind::List(Vec::new()))?;
            }
            Event::MappingStart(anchor, _) => {
                let (pairs, key) = (Vec::new(), None);
                self.begin(start, anchor, Kind::Table { pairs, key })?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let end = self.byte(span.end.index());
                if let Some(Open {
                    start,
                    anchor,
                    kind,
                }) = self.open.pop()
                {
                    let value = match kind {
                        Kind::List(nodes) => Value::List(nodes),
                        Kind::Table { pairs, .. } => Value::Table(Self::merged(pairs)?),
                    };
                    let span = start..end.max(start);
                    self.put(Node { value, span }, anchor)?;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let end = self.byte(span.end.index());
                let value = scalar(text, style, tag.as_deref());
                let span = start..end;
                self.put(Node { value, span }, anchor)?;
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| wrong("unknown anchor", start..start))?;
                self.copied += size(&node);
                if self.copied > MOST_COPIED {
                    return Err(wrong("too many aliases", start..start));
                }
                self.put(node, 0)?;
            }
        }
        Ok(false)
    }

    fn begin(&mut self, start: usize, anchor: usize, kind: Kind) -> Result<(), SyntaxError> {
        if self.open.len() == DEEPEST {
            return Err(wrong("nested too deeply", start..start));
        }
        self.open.push(Open {
            start,
            anchor,
            kind,
        });
        Ok(())
    }

    /// Puts a whole node where it belongs.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(Kind::List(nodes)) => nodes.push(node),
            Some(Kind::Table { pairs, key }) => match key.take() {
                Some((key, key_span)) => {
                    if pairs.iter().any(|pair| pair.key == key) {
                        return Err(wrong("duplicate key", key_span));
                    }
                    pairs.push(Pair {
                        key,
                        key_span,
                        value: node,
                    });
                }
                None => match node.value {
                    Value::Text(text) | Value::Number(text) => *key = Some((text, node.span)),
                    Value::Bool(flag) => *key = Some((flag.to_string(), node.span)),
                    Value::Null | Value::Date(_) | Value::List(_) | Value::Table(_) => {
                        return Err(wrong("a key must be a word", node.span));
                    }
                },
            },
        }
        Ok(())
    }

    /// The pairs, with those that the merge key `<<` takes over from other mappings: what stands in
    /// the mapping itself wins, then what comes first.
    fn merged(mut pairs: Vec<Pair>) -> Result<Vec<Pair>, SyntaxError> {
        let Some(place) = pairs.iter().position(|pair| pair.key == MERGE) else {
            return Ok(pairs);
        };
        let merge = pairs.remove(place);
        let others = match merge.value.value {
            Value::Table(_) => vec![merge.value],
            Value::List(nodes) => nodes,
            _ => vec![Node::default()],
        };
        for other in others {
            let Value::Table(taken) = other.value else {
                let message =
                    "the merge key << takes a mapping or a list of mappings, as `<<: *name`";
                return Err(wrong(message, merge.key_span));
            };
            for pair in taken {
                if !pairs.iter().any(|known| known.key == pair.key) {
                    pairs.push(pair);
                }
            }
        }
        Ok(pairs)
    }

    /// The byte where the character begins.
    fn byte(&mut self, character: usize) -> usize {
        let (mut count, mut at) = self.near;
        if character < count {
            (count, at) = (0, 0);
        }
        let rest = self.text[at..].char_indices().nth(character - count);
        at = rest.map_or(self.text.len(), |(offset, _)| at + offset);
        if rest.is_some() {
            self.near = (character, at);
        }
        at
    }
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::List(nodes) => 1 + nodes.iter().map(size).sum::<usize>(),
        Value::Table(pairs) => 1 + pairs.iter().map(|pair| size(&pair.value)).sum::<usize>(),
        Value::Null | Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Date(_) => 1,
    }
}

/// What a scalar means: one that is quoted or tagged as a string is a text, else its look tells.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::Text(text.into_owned());
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        number if is_number(number) => Value::Number(text.into_owned()),
        _ => Value::Text(text.into_owned()),
    }
}

/// Digits, with sign, fraction and exponent; the special values of floats count as words.
fn is_number(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.contains(|c: char| c.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}

fn wrong(message: &str, span: Range<usize>) -> SyntaxError {
    SyntaxError {
        message: message.to_owned(),
        span,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_json;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn yaml_gives_the_same_tree_as_json() {
        let check = |yaml: &str, json: &str| {
            assert_eq!(parse_yaml(yaml), parse_json(json), "{yaml}");
        };
        check("", "");
        check(
            "# c\nname: A b\nversion: 0.0.1\nn: 1.10\non: true\nnone:\nlist:\n  - x\n  - 'y: z'\n",
            r#"{"name": "A b", "version": "0.0.1", "n": 1.10, "on": true, "none": null, "list": ["x", "y: z"]}"#,
        );
        check(
            "a: &x {b: [1, \"2\"]}\nc: *x\n3: !!str 4\n",
            r#"{"a": {"b": [1, "2"]}, "c": {"b": [1, "2"]}, "3": "4"}"#,
        );
        check("a: |\n  one\n  two\n", r#"{"a": "one\ntwo\n"}"#);
        check("a: nan\nb: .inf\n", r#"{"a": "nan", "b": ".inf"}"#);
    }

    #[test]
    fn nodes_have_places() {
        let text = "ä: ü\nservers:\n  - name: x\n";
        let tree = parse_yaml(text).unwrap();
        let servers = &tree.table().unwrap()[1];
        assert_eq!(&text[servers.key_span.clone()], "servers");
        let Value::List(nodes) = &servers.value.value else {
            panic!("no list");
        };
        let name = &nodes[0].table().unwrap()[0];
        assert_eq!(&text[name.value.span.clone()], "x");
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let check = |text: &str, expected: &str, at: usize| {
            let error = parse_yaml(text).unwrap_err();
            assert!(error.message.contains(expected), "{error:?}");
            assert_eq!(error.span.start, at, "{error:?}");
        };
        check("a: 1\na: 2\n", "duplicate key", 5);
        check("[a]: 1\n", "a key must be a word", 0);
        check(&"- ".repeat(100), "nested too deeply", 128);
        check("é: [\n", "did not find", 6);
    }

    #[test]
    fn aliases_cannot_grow_without_bound() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let list = vec![format!("*a{}", level - 1); 10].join(", ");
            text = [text, format!("a{level}: &a{level} [{list}]\n")].concat();
        }
        assert_eq!(parse_yaml(&text).unwrap_err().message, "too many aliases");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[\\[\\]{}\"'|>&*!%@,:#?\\- a-c0-9\n\té]{0,60}|\\PC{0,60}") {
            let _ = parse_yaml(&text);
        }
    }
}
