//! The JSON schema of a tool as a person reads it: a line for each value, with what it has to be.

use serde_json::{Map, Value};

use super::document::line::Ink;
use super::document::rich::{LABEL_COLUMNS, Rich};
use super::format;
use crate::domain::text;

/// What lies deeper is not followed: a schema may refer to itself.
const DEEPEST: usize = 6;

/// The most lines of one schema.
const MOST_LINES: usize = 2_000;

/// The most values of an `enum` that are named.
const MOST_VALUES: usize = 24;

/// Adds the outline of an object schema.
pub fn outline(rich: &mut Rich, label: &str, schema: &Value) {
    let mut outline = Outline {
        rich,
        root: schema,
        label: label.to_owned(),
        lines: 0,
    };
    outline.object(schema, 0);
    if outline.lines == 0 {
        rich.labelled(label, "no named values", Ink::Plain);
    }
}

struct Outline<'a> {
    rich: &'a mut Rich,
    root: &'a Value,
    /// Stands before the first line.
    label: String,
    lines: usize,
}

impl Outline<'_> {
    /// A line for each property of the schema.
    fn object(&mut self, schema: &Value, depth: usize) {
        let schema = self.resolved(schema).clone();
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return;
        };
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in properties {
            if self.lines >= MOST_LINES {
                return;
            }
            let needed = required.is_some_and(|names| names.iter().any(|other| other == name));
            self.property(name, property, needed, depth);
        }
    }

    fn property(&mut self, name: &str, property: &Value, needed: bool, depth: usize) {
        let property = self.resolved(property).clone();
        let label = std::mem::take(&mut self.label);
        let indent = "  ".repeat(depth);
        let lead = format!("{label:<LABEL_COLUMNS$}{indent}");
        let hang = format!("{:<LABEL_COLUMNS$}{indent}  ", "");
        let mut parts = vec![
            (format::safe(name).into_owned(), Ink::Key),
            (format!("  {}", self.kind(&property)), Ink::Dim),
        ];
        if needed {
            parts.push(("  required".to_owned(), Ink::Warn));
        }
        if let Some(default) = property.get("default") {
            parts.push((format!("  default {}", short(default)), Ink::Good));
        }
        for bound in bounds(&property) {
            parts.push((format!("  {bound}"), Ink::Dim));
        }
        if let Some(about) = property.get("description").and_then(Value::as_str) {
            parts.push((format!("  {}", format::safe(about)), Ink::Plain));
        }
        self.rich.push(&lead, &hang, &parts);
        self.lines += 1;
        if depth < DEEPEST {
            self.object(&property, depth + 1);
            if let Some(items) = property.get("items") {
                self.object(items, depth + 1);
            }
        }
    }

    /// `string`, `array of integer`, `"fast" | "slow"`.
    fn kind(&self, schema: &Value) -> String {
        let schema = self.resolved(schema);
        if let Some(Value::Array(values)) = schema.get("enum") {
            let shown: Vec<String> = values.iter().take(MOST_VALUES).map(short).collect();
            let more = if values.len() > MOST_VALUES {
                " | …"
            } else {
                ""
            };
            return format!("{}{more}", shown.join(" | "));
        }
        if let Some(value) = schema.get("const") {
            return short(value);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(choices)) = schema.get(key) {
                let shown = choices.iter().take(MOST_VALUES);
                let shown: Vec<String> = shown.map(|choice| self.kind_of_choice(choice)).collect();
                return shown.join(" | ");
            }
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                kinds.join(" | ")
            }
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ => "any".to_owned(),
        };
        match schema.get("items") {
            Some(items) if kind == "array" => format!("array of {}", self.kind_of_choice(items)),
            _ => format::safe(&kind).into_owned(),
        }
    }

    /// As [`kind`](Self::kind), but not any deeper.
    fn kind_of_choice(&self, schema: &Value) -> String {
        let schema = self.resolved(schema);
        let is_deep = ["anyOf", "oneOf", "items"]
            .iter()
            .any(|key| schema.get(key).is_some());
        if is_deep {
            let kind = schema.get("type").and_then(Value::as_str);
            return kind.unwrap_or("any").to_owned();
        }
        self.kind(schema)
    }

    /// What a reference within the schema refers to, over a few steps.
    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            let target = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| self.root.pointer(pointer));
            match target {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }
}

/// `1 to 100`, `at least 1`, `format uri`.
fn bounds(schema: &Value) -> Vec<String> {
    let Value::Object(schema) = schema else {
        return Vec::new();
    };
    let mut bounds = Vec::new();
    range(schema, ["minimum", "maximum"], "", &mut bounds);
    range(
        schema,
        ["minLength", "maxLength"],
        " characters",
        &mut bounds,
    );
    range(schema, ["minItems", "maxItems"], " items", &mut bounds);
    for key in ["format", "pattern"] {
        if let Some(Value::String(value)) = schema.get(key) {
            bounds.push(format!("{key} {}", format::safe(value)));
        }
    }
    bounds
}

fn range(schema: &Map<String, Value>, keys: [&str; 2], noun: &str, bounds: &mut Vec<String>) {
    match keys.map(|key| schema.get(key).filter(|value| value.is_number())) {
        [Some(least), Some(most)] => bounds.push(format!("{least} to {most}{noun}")),
        [Some(least), None] => bounds.push(format!("at least {least}{noun}")),
        [None, Some(most)] => bounds.push(format!("at most {most}{noun}")),
        [None, None] => {}
    }
}

/// A value in a few characters.
fn short(value: &Value) -> String {
    let value = value.to_string();
    text::fit(&format::safe(&value), 40).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, expected: &[&str]) {
        let mut rich = Rich::default();
        outline(&mut rich, "Takes", schema);
        let lines: Vec<String> = (0..rich.len())
            .map(|index| format!("{}{}", rich.line(index).lead, rich.raw(index)))
            .collect();
        assert_eq!(lines, expected, "{schema}");
    }

    #[test]
    fn a_schema_is_read_line_by_line() {
        check(
            &json!({
                "type": "object",
                "required": ["path"],
                "$defs": {"mode": {"enum": ["fast", "slow"]}},
                "properties": {
                    "path": {"type": "string", "description": "Where it is", "minLength": 1},
                    "limit": {"type": "integer", "default": 10, "minimum": 1, "maximum": 100},
                    "mode": {"$ref": "#/$defs/mode"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "edits": {"type": "array", "items": {"type": "object", "properties": {
                        "old": {"type": ["string", "null"]}}}},
                    "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
            }),
            &[
                "Takes       path  string  required  at least 1 characters  Where it is",
                "            limit  integer  default 10  1 to 100",
                r#"            mode  "fast" | "slow""#,
                "            tags  array of string",
                "            edits  array of object",
                "              old  string | null",
                "            either  string | null",
            ],
        );
    }

    #[test]
    fn what_is_no_object_or_refers_to_itself_is_told_too() {
        check(&json!({"type": "object"}), &["Takes       no named values"]);
        check(&json!(true), &["Takes       no named values"]);
        let itself = json!({"properties": {"next": {"$ref": "#"}}});
        let mut rich = Rich::default();
        outline(&mut rich, "Takes", &itself);
        assert_eq!(rich.len(), DEEPEST + 1);
        let round = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        check(&round, &["Takes       a  any"]);
    }
}
