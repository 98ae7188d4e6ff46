//! The tool that reads a resource.
//!
//! The URI goes to the named server as it is; nothing is opened here, `file://` neither. Text is
//! cleaned for a model, and the number of what was left out is stated. A blob becomes a file.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

use super::blobs::{Blob, Blobs};
use super::desk::{Desk, Refusal};
use super::list::json_within_bound;
use super::text;
use crate::domain::text::{Keep, contents, metadata};
use crate::mcp::decode::contents::{Body, Content};

/// One content, as the tool gives it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ContentJson<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The file that has the bytes of a blob.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The bytes of a blob.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
}

#[derive(Debug, Serialize)]
struct ReadJson<'a> {
    contents: Vec<ContentJson<'a>>,
}

/// Reads the resource.
pub(super) async fn read(desk: &Desk, blobs: &Blobs, server: &str, uri: &str) -> CallToolResult {
    match desk.read(server, uri).await {
        Ok(contents) => show(&contents, blobs).await.unwrap_or_else(failed),
        Err(Refusal::Unknown) => failed(desk.unknown(server)),
        Err(Refusal::Unable(message)) => failed(message),
        Err(Refusal::Failed(failure)) => failed(format!(
            "Server \"{}\" did not give the resource: {}",
            text::cut(server, text::MESSAGE),
            text::coded(&failure, text::MESSAGE)
        )),
    }
}

/// An answer that is an error message.
pub(super) fn failed(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

async fn show(contents: &[Content], blobs: &Blobs) -> Result<CallToolResult, String> {
    let mut files = Vec::new();
    let mut removed = 0;
    let mut shown = Vec::with_capacity(contents.len());
    for content in contents {
        let mut json = ContentJson {
            uri: &content.uri,
            mime_type: content
                .mime_type
                .as_deref()
                .and_then(|mime_type| metadata(mime_type, Keep::Line).ok()),
            text: None,
            path: None,
            size: None,
        };
        match &content.body {
            Body::Text(text) => {
                let clean = self::contents(text);
                removed += clean.removed;
                json.text = Some(clean.text);
            }
            Body::Blob(blob) => {
                let blob: Blob = blobs.name(blob, content.mime_type.as_deref())?;
                json.path = Some(blob.path.display().to_string());
                json.size = Some(blob.bytes.len());
                files.push(blob);
            }
        }
        shown.push(json);
    }
    let first =
        json_within_bound(&ReadJson { contents: shown }).map_err(text::resource_too_large)?;
    blobs.save(files).await?;
    let mut structured: Value = serde_json::from_str(&first).unwrap_or_default();
    let mut blocks = vec![ContentBlock::text(first)];
    if removed > 0 {
        structured["removed"] = json!(removed);
        blocks.push(ContentBlock::text(format!(
            "{removed} terminal sequences and control, bidi or tag characters were left out of the text"
        )));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = Some(structured);
    Ok(result)
}
