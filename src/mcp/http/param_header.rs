//! Whether a tool's `x-mcp-header` annotations are usable (MCP 2026-07-28, transports, parameter
//! headers). Over HTTP a tool with others could not be called, so it is not listed.

use std::collections::HashSet;

use serde_json::{Map, Value};

const ANNOTATION: &str = "x-mcp-header";

/// What is wrong with the annotations of an input schema, given as JSON text.
#[must_use]
pub fn misfit(schema: &str) -> Option<&'static str> {
    if !schema.contains(ANNOTATION) {
        return None;
    }
    let schema: Map<String, Value> = serde_json::from_str(schema).ok()?;
    if schema.contains_key(ANNOTATION) {
        return Some("it annotates the whole schema");
    }
    let mut seen = HashSet::new();
    check(&schema, true, &mut seen)
}

/// Walks a schema; `reached` says whether `properties` alone lead to it.
fn check(
    schema: &Map<String, Value>,
    reached: bool,
    seen: &mut HashSet<String>,
) -> Option<&'static str> {
    schema.iter().find_map(|(key, value)| match key.as_str() {
        ANNOTATION if !reached => Some("it stands where no property is reached directly"),
        "properties" if reached => each(value, |property| {
            annotated(property, seen).or_else(|| check(property, true, seen))
        }),
        "properties" | "$defs" | "definitions" | "dependencies" | "dependentSchemas"
        | "patternProperties" => each(value, |schema| check(schema, false, seen)),
        // Instances and names, not schemas.
        ANNOTATION | "default" | "const" | "enum" | "examples" | "dependentRequired" => None,
        _ => match value {
            Value::Object(schema) => check(schema, false, seen),
            Value::Array(schemas) => schemas
                .iter()
                .filter_map(Value::as_object)
                .find_map(|schema| check(schema, false, seen)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        },
    })
}

fn each<'a>(
    schemas: &'a Value,
    mut check: impl FnMut(&'a Map<String, Value>) -> Option<&'static str>,
) -> Option<&'static str> {
    schemas
        .as_object()?
        .values()
        .filter_map(Value::as_object)
        .find_map(&mut check)
}

/// What is wrong with the annotation of one property, if it has one.
fn annotated(property: &Map<String, Value>, seen: &mut HashSet<String>) -> Option<&'static str> {
    let name = match property.get(ANNOTATION)? {
        Value::String(name) if !name.is_empty() => name,
        Value::String(_) => return Some("it is empty"),
        _ => return Some("it is not a string"),
    };
    if !name.chars().all(is_token) {
        return Some("it is no name of a header");
    }
    if !seen.insert(name.to_ascii_lowercase()) {
        return Some("two properties have the same");
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => None,
        _ => Some("its property is no string, integer or boolean"),
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_names_of_headers_on_plain_properties() {
        let check = |schema, expected: Option<&str>| {
            assert_eq!(misfit(schema), expected, "{schema}");
        };
        check(r#"{"type":"object"}"#, None);
        check(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"Region"},"o":{"properties":{"b":{"type":"integer","x-mcp-header":"N"}}}}}"#,
            None,
        );
        check(
            r#"{"properties":{"a":{"enum":[{"x-mcp-header":1}]},"x-mcp-header":{"type":"string"}}}"#,
            None,
        );
        check(
            r#"{"x-mcp-header":"A"}"#,
            Some("it annotates the whole schema"),
        );
        check(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
            Some("it is empty"),
        );
        check(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#,
            Some("it is not a string"),
        );
        check(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
            Some("it is no name of a header"),
        );
        check(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            Some("two properties have the same"),
        );
        check(
            r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
            Some("its property is no string, integer or boolean"),
        );
        check(
            r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#,
            Some("it stands where no property is reached directly"),
        );
    }
}
