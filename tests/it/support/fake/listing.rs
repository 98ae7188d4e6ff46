//! What a list method returns: pages written out, or generated ones.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The listing of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// Pages, written out. A request without a cursor gets the first one, a request with a cursor
    /// the page after the first one whose `next_cursor` equals it.
    Pages(Vec<Page>),
    /// Generated items.
    Generated(Generated),
}

/// One page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Page {
    /// The items, verbatim.
    pub items: Vec<Value>,
    /// The cursor, verbatim: any JSON; `null` is sent, absent is left out.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub next_cursor: Option<Value>,
    /// More members of the result.
    pub extra: Map<String, Value>,
    /// The whole result as JSON text instead of all this; `next_cursor` still tells which cursor
    /// leads on.
    pub text: Option<String>,
}

/// Items made by number: `fake:///item/00001` and so on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Generated {
    /// How many items.
    pub items: usize,
    /// How many of them on a page.
    pub page_size: usize,
    /// The word in names and URIs.
    pub prefix: String,
    /// The number of the first item.
    pub first: usize,
    /// Bytes of description for each item; none when 0.
    pub pad: usize,
}

impl Default for Generated {
    fn default() -> Self {
        Self {
            items: 0,
            page_size: 100,
            prefix: "item".to_owned(),
            first: 1,
            pad: 0,
        }
    }
}

impl Page {
    /// The last page: no cursor.
    pub fn last(items: Vec<Value>) -> Self {
        Self {
            items,
            ..Self::default()
        }
    }

    /// A page that is followed by another, with any JSON as the cursor.
    pub fn more(items: Vec<Value>, next_cursor: impl Into<Value>) -> Self {
        Self {
            items,
            next_cursor: Some(next_cursor.into()),
            ..Self::default()
        }
    }

    /// A page whose result is given as JSON text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }
}

impl Listing {
    /// One page with these items.
    pub fn of(items: Vec<Value>) -> Self {
        Self::Pages(vec![Page::last(items)])
    }

    /// Items with these names (see [`item`]), on one page.
    pub fn named(method: &str, names: &[&str]) -> Self {
        Self::of(names.iter().map(|name| item(method, name)).collect())
    }

    /// `items` generated items in pages of `page_size`.
    pub fn generated(items: usize, page_size: usize) -> Self {
        Self::Generated(Generated {
            items,
            page_size,
            ..Generated::default()
        })
    }

    /// The result for a request with this cursor, as JSON text, with `extra` members added;
    /// `None` where the cursor is unknown.
    pub fn result(
        &self,
        method: &str,
        cursor: Option<&Value>,
        extra: &Map<String, Value>,
    ) -> Option<String> {
        match self {
            Self::Pages(pages) => {
                let index = match cursor {
                    None => 0,
                    Some(cursor) => {
                        1 + pages
                            .iter()
                            .position(|page| page.next_cursor.as_ref() == Some(cursor))?
                    }
                };
                match pages.get(index) {
                    Some(page) => Some(page.result(method, extra)),
                    None if index == 0 => Some(Page::default().result(method, extra)),
                    None => None,
                }
            }
            Self::Generated(generated) => generated.result(method, cursor, extra),
        }
    }

    /// The values of one member (`uri`, `uriTemplate`) of all items that are written out, or the
    /// common start of the generated ones.
    pub fn lists(&self, member: &str, wanted: &str) -> bool {
        match self {
            Self::Pages(pages) => pages
                .iter()
                .flat_map(|page| &page.items)
                .filter_map(|item| item.get(member)?.as_str())
                .any(|value| match value.split_once('{') {
                    Some((start, _)) if member == "uriTemplate" => wanted.starts_with(start),
                    _ => value == wanted,
                }),
            Self::Generated(generated) => {
                wanted.starts_with(&format!("fake:///{}/", generated.prefix))
            }
        }
    }
}

impl Page {
    fn result(&self, method: &str, extra: &Map<String, Value>) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let mut result = Map::new();
        result.insert(array_name(method).to_owned(), self.items.clone().into());
        if let Some(cursor) = &self.next_cursor {
            result.insert("nextCursor".to_owned(), cursor.clone());
        }
        for (key, value) in extra.iter().chain(&self.extra) {
            result.insert(key.clone(), value.clone());
        }
        Value::Object(result).to_string()
    }
}

impl Generated {
    fn result(
        &self,
        method: &str,
        cursor: Option<&Value>,
        extra: &Map<String, Value>,
    ) -> Option<String> {
        let page_size = self.page_size.max(1);
        let page: usize = match cursor {
            None => 0,
            Some(cursor) => cursor.as_str()?.strip_prefix("page-")?.parse().ok()?,
        };
        let start = page * page_size;
        if page > 0 && start >= self.items {
            return None;
        }
        let end = (start + page_size).min(self.items);
        let mut out = String::with_capacity((end - start) * (90 + self.pad));
        let _ = write!(out, "{{\"{}\":[", array_name(method));
        let pad = if self.pad == 0 {
            String::new()
        } else {
            format!(",\"description\":\"{}\"", "d".repeat(self.pad))
        };
        for index in start..end {
            if index > start {
                out.push(',');
            }
            let name = format!("{}-{:05}", self.prefix, self.first + index);
            let path = name.replace('-', "/");
            let _ = match method {
                "resources/list" => {
                    write!(
                        out,
                        "{{\"uri\":\"fake:///{path}\",\"name\":\"{name}\"{pad}}}"
                    )
                }
                "resources/templates/list" => write!(
                    out,
                    "{{\"uriTemplate\":\"fake:///{path}/{{id}}\",\"name\":\"{name}\"{pad}}}"
                ),
                "tools/list" => write!(
                    out,
                    "{{\"name\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}}{pad}}}"
                ),
                _ => write!(out, "{{\"name\":\"{name}\"{pad}}}"),
            };
        }
        out.push(']');
        if end < self.items {
            let _ = write!(out, ",\"nextCursor\":\"page-{}\"", page + 1);
        }
        for (key, value) in extra {
            let _ = write!(out, ",\"{key}\":{value}");
        }
        out.push('}');
        Some(out)
    }
}

/// An ordinary item with a name: `fake:///NAME`, `fake:///NAME/{id}`, a tool or a prompt.
pub fn item(method: &str, name: &str) -> Value {
    match method {
        "resources/list" => json!({"uri": format!("fake:///{name}"), "name": name}),
        "resources/templates/list" => {
            json!({"uriTemplate": format!("fake:///{name}/{{id}}"), "name": name})
        }
        "tools/list" => json!({"name": name, "inputSchema": {"type": "object"}}),
        _ => json!({"name": name}),
    }
}

/// The member of the result that has the items.
fn array_name(method: &str) -> &'static str {
    match method {
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        "tools/list" => "tools",
        _ => "prompts",
    }
}

/// Tells `null` from absent: what is there is `Some`, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}
