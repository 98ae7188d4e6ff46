//! The four tools: what they are called, what they take and give, and who answers.

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::blobs::Blobs;
use super::desk::Desk;
use super::{list, read};
use crate::domain::{Resource, ResourceTemplate};

const LIST_RESOURCES: &str = "list_mcp_resources";
const LIST_TEMPLATES: &str = "list_mcp_resource_templates";
const READ_RESOURCE: &str = "read_mcp_resource";
const LIST_SERVERS: &str = "list_mcp_servers";

/// All tools.
pub(super) static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        tool(
            LIST_RESOURCES,
            "List MCP resources",
            "Lists the resources that the configured MCP servers offer, each with its server. \
             Give a server's name to list that one alone. Servers that could not be listed are \
             named with the reason.",
            &server_filter(),
            &list_output("resources", &item_schema("uri")),
        ),
        tool(
            LIST_TEMPLATES,
            "List MCP resource templates",
            "Lists the resource templates (RFC 6570) that the configured MCP servers offer, each \
             with its server. Fill in a template's variables to get a URI for read_mcp_resource. \
             Give a server's name to list that one alone. Servers that could not be listed are \
             named with the reason.",
            &server_filter(),
            &list_output("resourceTemplates", &item_schema("uriTemplate")),
        ),
        tool(
            READ_RESOURCE,
            "Read an MCP resource",
            "Reads a resource of a configured MCP server by its URI, exactly as it was listed or \
             as a filled-in template. Terminal sequences and invisible control characters are \
             left out of text; binary contents are saved to a file whose path is given.",
            &json!({
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "The name of the server"},
                    "uri": {"type": "string", "description": "The URI of the resource"},
                },
                "required": ["server", "uri"],
                "additionalProperties": false,
            }),
            &read_output(),
        ),
        tool(
            LIST_SERVERS,
            "List MCP servers",
            "Lists the configured MCP servers: status, what they offer, how many resources and \
             templates, and what is wrong with those that failed.",
            &json!({"type": "object", "properties": {}, "additionalProperties": false}),
            &servers_output(),
        ),
    ]
});

/// Calls a tool; `None` where there is no such tool.
pub(super) async fn call(
    desk: &Desk,
    blobs: &Blobs,
    name: &str,
    arguments: &JsonObject,
) -> Option<CallToolResult> {
    let known: &[&str] = match name {
        LIST_RESOURCES | LIST_TEMPLATES => &["server"],
        READ_RESOURCE => &["server", "uri"],
        LIST_SERVERS => &[],
        _ => return None,
    };
    let given = match Arguments::read(arguments, known) {
        Ok(given) => given,
        Err(message) => return Some(read::failed(message)),
    };
    Some(match (name, given.server, given.uri) {
        (LIST_RESOURCES, server, _) => list::list::<Resource>(desk, server).await,
        (LIST_TEMPLATES, server, _) => list::list::<ResourceTemplate>(desk, server).await,
        (READ_RESOURCE, Some(server), Some(uri)) => read::read(desk, blobs, server, uri).await,
        (READ_RESOURCE, None, _) => read::failed("The argument \"server\" is missing".to_owned()),
        (READ_RESOURCE, _, None) => read::failed("The argument \"uri\" is missing".to_owned()),
        _ => list::servers(desk).await,
    })
}

/// The arguments of a call; null counts as absent.
#[derive(Debug, Default)]
struct Arguments<'a> {
    server: Option<&'a str>,
    uri: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    fn read(given: &'a JsonObject, known: &[&str]) -> Result<Self, String> {
        let mut arguments = Self::default();
        for (name, value) in given {
            let place = match name.as_str() {
                "server" if known.contains(&"server") => &mut arguments.server,
                "uri" if known.contains(&"uri") => &mut arguments.uri,
                _ => {
                    let name = super::text::cut(name, super::text::MESSAGE);
                    return Err(format!("There is no argument \"{name}\""));
                }
            };
            *place = match value {
                Value::Null => None,
                Value::String(text) => Some(text),
                _ => return Err(format!("The argument \"{name}\" must be a string")),
            };
        }
        Ok(arguments)
    }
}

fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: &Value,
    output: &Value,
) -> Tool {
    let mut tool = Tool::new(name, description, object(input));
    tool.title = Some(title.to_owned());
    tool.output_schema = Some(object(output));
    tool.annotations = Some(
        ToolAnnotations::with_title(title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(true),
    );
    tool
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

fn server_filter() -> Value {
    json!({
        "type": "object",
        "properties": {
            "server": {
                "type": "string",
                "description": "The name of the one server to list; all servers without it",
            },
        },
        "additionalProperties": false,
    })
}

/// A resource or template; the key tells which.
fn item_schema(key: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "server": {"type": "string"},
            key: {"type": "string"},
            "name": {"type": "string"},
            "title": {"type": "string"},
            "description": {"type": "string"},
            "mimeType": {"type": "string"},
            "annotations": {"type": "object"},
            "size": {"type": "integer", "description": "In bytes"},
        },
        "required": ["server", key, "name"],
    })
}

/// What is wrong, as in the output of `mcpdeck list --json`.
fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "server": {"type": "string"},
            "method": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "description": "The list method that failed; null for the connection",
            },
            "kind": {"type": "string"},
            "code": {"type": "integer", "description": "The server's JSON-RPC error code"},
            "message": {"type": "string"},
        },
        "required": ["server", "method", "kind", "message"],
    })
}

fn omitted_schema() -> Value {
    json!({
        "type": "object",
        "description": "How many entries had no room",
        "properties": {"servers": {"type": "integer"}, "errors": {"type": "integer"}},
    })
}

/// The list is absent where the call failed as a whole.
fn list_output(field: &str, item: &Value) -> Value {
    let error = error_schema();
    let nullable_error = json!({"anyOf": [error, {"type": "null"}]});
    json!({
        "type": "object",
        "properties": {
            "servers": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "status": {"type": "string"},
                        "error": nullable_error,
                    },
                    "required": ["name", "status", "error"],
                },
            },
            "errors": {"type": "array", "items": error},
            field: {"type": "array", "items": item},
            "omitted": omitted_schema(),
        },
        "required": ["servers", "errors"],
    })
}

fn servers_output() -> Value {
    let row = json!({"type": "object", "required": ["name", "status", "error"]});
    let mut schema = list_output("servers", &row);
    schema["properties"]["servers"]["description"] = "All servers, and how each stands".into();
    schema
}

fn read_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "contents": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "uri": {"type": "string"},
                        "mimeType": {"type": "string"},
                        "text": {"type": "string"},
                        "path": {
                            "type": "string",
                            "description": "The file that has the bytes of a binary content",
                        },
                        "size": {"type": "integer", "description": "In bytes, of that file"},
                    },
                    "required": ["uri"],
                },
            },
            "removed": {
                "type": "integer",
                "description": "How many sequences and characters were left out of the text",
            },
        },
        "required": ["contents"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_read_only_and_says_what_it_takes_and_gives() {
        for tool in TOOLS.iter() {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!(hints.read_only_hint, Some(true), "{}", tool.name);
            assert_eq!(hints.destructive_hint, Some(false), "{}", tool.name);
            assert_eq!(hints.idempotent_hint, Some(true), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            let output = tool.output_schema.as_ref().unwrap();
            assert_eq!(output["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn every_type_in_a_schema_is_one_word() {
        fn check(schema: &Value) {
            if let Some(object) = schema.as_object() {
                for (key, value) in object {
                    assert!(key != "type" || value.is_string(), "{schema}");
                    check(value);
                }
            }
            schema.as_array().into_iter().flatten().for_each(check);
        }
        for tool in TOOLS.iter() {
            // Some clients refuse a list of types.
            check(&Value::Object((*tool.input_schema).clone()));
            check(&Value::Object(
                (**tool.output_schema.as_ref().unwrap()).clone(),
            ));
        }
    }

    #[test]
    fn arguments_are_strings_or_null_and_known() {
        let check = |given: Value, known: &[&str], expected: Result<Option<&str>, &str>| {
            let object = given.as_object().unwrap();
            let read = Arguments::read(object, known).map(|arguments| arguments.server);
            assert_eq!(read, expected.map_err(str::to_owned), "{given}");
        };
        check(json!({}), &["server"], Ok(None));
        check(json!({"server": null}), &["server"], Ok(None));
        check(json!({"server": "x"}), &["server"], Ok(Some("x")));
        check(
            json!({"server": 7}),
            &["server"],
            Err("The argument \"server\" must be a string"),
        );
        check(
            json!({"uri": "x"}),
            &["server"],
            Err("There is no argument \"uri\""),
        );
    }
}
