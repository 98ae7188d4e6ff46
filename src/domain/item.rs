//! What is kept of an item of a listing (everything else is dropped before it is stored).
//!
//! Field names and their order are those of the JSON output, which is also what the byte bounds
//! count. Texts are sanitized already; `uri` and `uriTemplate` are exactly as the server sent them.

use serde::Serialize;
use serde_json::value::RawValue;

use super::ids::ListMethod;

/// An item of one of the four listings.
pub trait Item: Clone + Serialize + Send + Sync + 'static {
    /// The method that lists items of this kind.
    const METHOD: ListMethod;
    /// What tells the item from others of its listing: its URI, template or name.
    fn key(&self) -> &str;
    /// Whether another item with the same key says the same.
    fn same(&self, other: &Self) -> bool;
    /// Title if there is one, else name.
    fn label(&self) -> &str;
    /// The description, if there is one.
    fn about(&self) -> Option<&str>;
}

/// Who an item is for, how important it is, and when it changed (MCP, `Annotations`).
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// `user` and `assistant`, as the server ordered them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Box<[Audience]>>,
    /// From 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<serde_json::Number>,
    /// An ISO 8601 date or date-time, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Box<str>>,
}

/// Who an item is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A concrete resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Byte-exact.
    pub uri: Box<str>,
    /// The programmatic name.
    pub name: Box<str>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// The MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Box<str>>,
    /// Audience, priority, last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// In bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A resource template (RFC 6570).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// Byte-exact.
    pub uri_template: Box<str>,
    /// The programmatic name.
    pub name: Box<str>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// The MIME type of all its resources, if they share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Box<str>>,
    /// Audience, priority, last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
}

/// A tool. Its schemas are compact JSON whose texts are sanitized.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name by which it is called.
    pub name: Box<str>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// JSON Schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
    /// JSON Schema of the structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Box<RawValue>>,
    /// Hints: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`, `title`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<RawValue>>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The name by which it is asked for.
    pub name: Box<str>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// What it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<[PromptArgument]>>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptArgument {
    /// The argument's name.
    pub name: Box<str>,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// Whether it must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

macro_rules! item {
    ($kind:ident, $method:ident, $key:ident, |$a:ident, $b:ident| $same:expr) => {
        impl Item for $kind {
            const METHOD: ListMethod = ListMethod::$method;
            fn key(&self) -> &str {
                &self.$key
            }
            fn same(&self, other: &Self) -> bool {
                let ($a, $b) = (self, other);
                $same
            }
            fn label(&self) -> &str {
                self.title.as_deref().unwrap_or(&self.name)
            }
            fn about(&self) -> Option<&str> {
                self.description.as_deref()
            }
        }
    };
}

item!(Resource, Resources, uri, |a, b| a == b);
item!(ResourceTemplate, ResourceTemplates, uri_template, |a, b| a
    == b);
item!(Prompt, Prompts, name, |a, b| a == b);
item!(Tool, Tools, name, |a, b| {
    let text = |raw: &Option<Box<RawValue>>| raw.as_ref().map(|raw| raw.get().to_owned());
    a.title == b.title
        && a.description == b.description
        && text(&a.input_schema) == text(&b.input_schema)
        && text(&a.output_schema) == text(&b.output_schema)
        && text(&a.annotations) == text(&b.annotations)
});
