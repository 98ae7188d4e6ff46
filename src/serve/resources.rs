//! The servers' resources and templates as our own, beside the tools.
//!
//! Lists come in pages of 1,000. A cursor holds its place and the mark of the list it belongs to,
//! so that pages of two different lists are never mixed. What is read is passed on exactly.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource as OurResource, ResourceContents, ResourceTemplate as OurTemplate, Role,
};

use super::address::{self, Address};
use super::desk::{Desk, Refusal, Seen};
use super::text;
use crate::domain::catalog::Slot;
use crate::domain::item::Audience;
use crate::domain::{self, FailureKind, Resource, ResourceTemplate};
use crate::mcp::decode::contents::{Body, Content};

/// How many items a page has.
const PAGE: usize = 1_000;

/// MCP 2025-11-25, resources, error handling: the resource does not exist. Since 2026-07-28 it is
/// JSON-RPC's "invalid params".
const NOT_FOUND: [i64; 2] = [-32002, -32602];

/// A page of all servers' resources.
pub(super) async fn list(
    desk: &Desk,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let seen = desk.look(None).await;
    let (page, next) = page::<Resource>(&seen, cursor)?;
    let ours = page
        .into_iter()
        .map(|(server, item)| resource(server, item));
    let mut result = ListResourcesResult::with_all_items(ours.collect());
    result.next_cursor = next;
    Ok(result)
}

/// A page of all servers' templates.
pub(super) async fn list_templates(
    desk: &Desk,
    cursor: Option<&str>,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    let seen = desk.look(None).await;
    let (page, next) = page::<ResourceTemplate>(&seen, cursor)?;
    let ours = page
        .into_iter()
        .map(|(server, item)| template(server, item));
    let mut result = ListResourceTemplatesResult::with_all_items(ours.collect());
    result.next_cursor = next;
    Ok(result)
}

/// Reads what one of our URIs stands for.
pub(super) async fn read(desk: &Desk, ours: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found = |message: String| {
        let data = serde_json::json!({ "uri": ours });
        ErrorData::resource_not_found(message, Some(data))
    };
    let address = address::parse(ours).ok_or_else(|| not_found("Resource not found".to_owned()))?;
    let contents = match desk.read(&address.server, &address.uri).await {
        Ok(contents) => contents,
        Err(Refusal::Unknown) => return Err(not_found(desk.unknown(&address.server))),
        Err(Refusal::Unable(message)) => return Err(ErrorData::internal_error(message, None)),
        Err(Refusal::Failed(failure)) => {
            let message = text::coded(&failure, text::MESSAGE);
            return Err(match failure.kind {
                FailureKind::Rpc { code: Some(code) } if NOT_FOUND.contains(&code) => {
                    not_found(message)
                }
                _ => ErrorData::internal_error(message, None),
            });
        }
    };
    let contents = contents.into_iter();
    let contents = contents.map(|content| passed_on(content, ours, &address));
    Ok(ReadResourceResult::new(contents.collect()))
}

/// The content, exactly, under a URI of ours: the one that was asked for, or that of the part.
fn passed_on(content: Content, asked: &str, address: &Address) -> ResourceContents {
    let uri = if *content.uri == *address.uri {
        asked.to_owned()
    } else {
        address::of_resource(&address.server, &content.uri)
    };
    let mime_type = content.mime_type.map(String::from);
    match content.body {
        Body::Text(text) => ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text: text.into(),
            meta: None,
        },
        Body::Blob(blob) => ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob: blob.into(),
            meta: None,
        },
    }
}

/// Items with the names of their servers, and the cursor of the page after them.
type Page<'a, T> = (Vec<(&'a str, &'a T)>, Option<String>);

/// The page that the cursor stands for.
fn page<'a, T: Slot>(seen: &'a [Seen], cursor: Option<&str>) -> Result<Page<'a, T>, ErrorData> {
    let all = seen.iter().flat_map(|seen| {
        let server = seen.server.name.as_str();
        let items = T::of(&seen.server.catalog).items.iter();
        items.map(move |item| (server, item))
    });
    let mark = {
        let mut hasher = DefaultHasher::new();
        for (server, item) in all.clone() {
            (server, item.key()).hash(&mut hasher);
        }
        hasher.finish()
    };
    let start = match cursor {
        None => 0,
        Some(cursor) => start_of(cursor, mark)?,
    };
    let mut items: Vec<_> = all.skip(start).take(PAGE + 1).collect();
    let next = (items.len() > PAGE).then(|| {
        items.truncate(PAGE);
        URL_SAFE_NO_PAD.encode(format!("{:x}.{mark:x}", start + PAGE))
    });
    Ok((items, next))
}

/// Where the page of a cursor starts.
fn start_of(cursor: &str, mark: u64) -> Result<usize, ErrorData> {
    let invalid = || ErrorData::invalid_params("Invalid cursor", None);
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let text = String::from_utf8(bytes).map_err(|_| invalid())?;
    let (start, of) = text.split_once('.').ok_or_else(invalid)?;
    let start = usize::from_str_radix(start, 16).map_err(|_| invalid())?;
    if u64::from_str_radix(of, 16).map_err(|_| invalid())? != mark {
        let changed = "Invalid cursor: the list has changed; start again without one";
        return Err(ErrorData::invalid_params(changed, None));
    }
    Ok(start)
}

fn resource(server: &str, item: &Resource) -> OurResource {
    let mut ours = OurResource::new(address::of_resource(server, &item.uri), &*item.name);
    ours.title = owned(item.title.as_deref());
    ours.description = owned(item.description.as_deref());
    ours.mime_type = owned(item.mime_type.as_deref());
    ours.size = item.size;
    ours.annotations = item.annotations.as_deref().map(annotations);
    ours
}

fn template(server: &str, item: &ResourceTemplate) -> OurTemplate {
    let template = address::of_template(server, &item.uri_template);
    let mut ours = OurTemplate::new(template, &*item.name);
    ours.title = owned(item.title.as_deref());
    ours.description = owned(item.description.as_deref());
    ours.mime_type = owned(item.mime_type.as_deref());
    ours.annotations = item.annotations.as_deref().map(annotations);
    ours
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn annotations(given: &domain::Annotations) -> Annotations {
    let mut ours = Annotations::default();
    ours.audience = given.audience.as_deref().map(|audience| {
        let role = |audience: &Audience| match audience {
            Audience::User => Role::User,
            Audience::Assistant => Role::Assistant,
        };
        audience.iter().map(role).collect()
    });
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a priority is between 0 and 1, and the protocol's type has no more digits"
    )]
    {
        let priority = given.priority.as_ref();
        ours.priority = priority
            .and_then(serde_json::Number::as_f64)
            .map(|priority| priority as f32);
    }
    ours.last_modified = owned(given.last_modified.as_deref());
    ours
}
