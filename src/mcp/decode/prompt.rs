//! Reads the result of `prompts/get` (MCP 2025-11-25, prompts).

use super::contents::{self, Body, Content};
use super::fields::{Fields, Keys, Value};
use super::{MAX_ITEMS, malformed, repair_surrogates};
use crate::domain::item::Audience;
use crate::domain::{Failure, FailureKind};

/// A prompt with its arguments filled in, exactly as the server sent it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptText {
    /// What the prompt is for.
    pub description: Option<Box<str>>,
    /// Its messages, in order.
    pub messages: Vec<PromptMessage>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Audience,
    /// What is said.
    pub content: PromptContent,
}

/// What a message holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptContent {
    /// Text.
    Text(Box<str>),
    /// An embedded resource, or an image or a sound, which has no URI: as the contents of a read.
    Embedded(Content),
    /// Something else: its type, and its URI or MIME type where it has one.
    Other {
        /// `resource_link`, ...
        kind: Box<str>,
        /// URI or MIME type.
        detail: Option<Box<str>>,
    },
}

const RESULT_KEYS: Keys = &["description", "messages"];
const MESSAGE_KEYS: Keys = &["role", "content"];
const CONTENT_KEYS: Keys = &["type", "text", "mimeType", "uri", "data", "resource"];

/// Reads the JSON text of the result.
///
/// # Errors
///
/// A [`Failure`] of kind `malformed`, or `item_limit` for more than 10,000 messages.
pub fn read(json: &str) -> Result<PromptText, Failure> {
    let json = repair_surrogates(json);
    let bad = |reason: String| malformed(format!("prompt: {reason}"));
    let result = Fields::read(RESULT_KEYS, &json)
        .ok_or_else(|| bad("the result is not an object".into()))?;
    let messages = result
        .get("messages")
        .ok_or_else(|| bad("messages is missing".into()))?;
    let mut read = Ok(Vec::new());
    let mut number = 0;
    messages
        .each_element(|value| {
            number += 1;
            let Ok(list) = &mut read else { return };
            if number > MAX_ITEMS {
                let reason = "the prompt has more than 10,000 messages";
                read = Err(Failure::new(FailureKind::ItemLimit, reason));
                return;
            }
            match message(value) {
                Ok(message) => list.push(message),
                Err(reason) => read = Err(bad(format!("message {number}: {reason}"))),
            }
        })
        .ok_or_else(|| bad("messages is not an array".into()))?;
    Ok(PromptText {
        description: text(&result, "description"),
        messages: read?,
    })
}

fn message(value: Value<'_>) -> Result<PromptMessage, String> {
    let fields = Fields::read(MESSAGE_KEYS, value.0).ok_or("it is not an object")?;
    let role = match fields.get("role").and_then(Value::string).as_deref() {
        Some("user") => Audience::User,
        Some("assistant") => Audience::Assistant,
        _ => return Err("role is neither user nor assistant".to_owned()),
    };
    let content = fields.get("content").ok_or("content is missing")?;
    let content = Fields::read(CONTENT_KEYS, content.0).ok_or("content is not an object")?;
    let kind = text(&content, "type").ok_or("content.type is missing")?;
    let content = match &*kind {
        "text" => PromptContent::Text(text(&content, "text").ok_or("content.text is missing")?),
        "image" | "audio" => PromptContent::Embedded(Content {
            uri: "".into(),
            mime_type: text(&content, "mimeType"),
            body: Body::Blob(text(&content, "data").ok_or("content.data is missing")?),
        }),
        "resource" => {
            let resource = content
                .get("resource")
                .ok_or("content.resource is missing")?;
            let resource = contents::content(resource);
            PromptContent::Embedded(resource.map_err(|reason| format!("resource: {reason}"))?)
        }
        _ => PromptContent::Other {
            detail: text(&content, "uri").or_else(|| text(&content, "mimeType")),
            kind,
        },
    };
    Ok(PromptMessage { role, content })
}

fn text(fields: &Fields<'_>, key: &'static str) -> Option<Box<str>> {
    fields.get(key)?.string().map(Box::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_in_order() {
        let read = read(
            r#"{"description":"d","messages":[
                {"role":"user","content":{"type":"text","text":"hello"}},
                {"role":"assistant","content":{"type":"image","mimeType":"image/png","data":"AA=="}},
                {"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":"inside"}}},
                {"role":"user","content":{"type":"resource_link","uri":"a:c","name":"c"}}
            ]}"#,
        )
        .unwrap();
        assert_eq!(read.description.as_deref(), Some("d"));
        let drawn: Vec<String> = read
            .messages
            .iter()
            .map(|message| match &message.content {
                PromptContent::Text(text) => format!("{:?} {text}", message.role),
                PromptContent::Embedded(content) => serde_json::to_string(content).unwrap(),
                PromptContent::Other { kind, detail } => format!("{kind} {detail:?}"),
            })
            .collect();
        assert_eq!(
            drawn,
            [
                "User hello",
                r#"{"uri":"","mimeType":"image/png","blob":"AA=="}"#,
                r#"{"uri":"a:b","text":"inside"}"#,
                "resource_link Some(\"a:c\")",
            ]
        );
    }

    #[test]
    fn what_is_malformed_is_named() {
        let check = |json, expected: &str| assert_eq!(&*read(json).unwrap_err().message, expected);
        check("{}", "prompt: messages is missing");
        check(r#"{"messages":{}}"#, "prompt: messages is not an array");
        check(
            r#"{"messages":[{"role":"system","content":{}}]}"#,
            "prompt: message 1: role is neither user nor assistant",
        );
        check(
            r#"{"messages":[{"role":"user","content":{"type":"image"}}]}"#,
            "prompt: message 1: content.data is missing",
        );
        check(
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"text":""}}}]}"#,
            "prompt: message 1: resource: uri is missing",
        );
    }
}
