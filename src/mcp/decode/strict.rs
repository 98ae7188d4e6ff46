//! Resources and resource templates: a bad optional field makes the item malformed.

use crate::domain::item::{Annotations, Audience, Resource, ResourceTemplate};

use super::date::is_iso_8601;
use super::fields::{Defect, Fields, Keys, Value};
use super::rules::{Notes, Rules};
use super::texts::{block, exact, line, required};

impl Rules for Resource {
    const KEYS: &'static [&'static str] = &[
        "uri",
        "name",
        "title",
        "description",
        "mimeType",
        "annotations",
        "size",
    ];
    const MAX_BYTES: usize = 10_000_000;

    fn decode(fields: &Fields<'_>, notes: &mut Notes<'_>) -> Result<Self, Defect> {
        let mut resource = Self {
            uri: exact(fields, "uri")?,
            name: required(fields, "name")?,
            title: line(fields, "title")?,
            description: block(fields, "description")?,
            mime_type: line(fields, "mimeType")?,
            annotations: annotations(fields)?,
            size: None,
        };
        if let Some(value) = fields.get("size") {
            if !value.is_number() {
                return Err(Defect::new("size", "is not a number"));
            }
            resource.size = value.whole();
            if resource.size.is_none() {
                notes.left_out(&resource.name, &"size is not a whole number from 0");
            }
        }
        Ok(resource)
    }
}

impl Rules for ResourceTemplate {
    const KEYS: &'static [&'static str] = &[
        "uriTemplate",
        "name",
        "title",
        "description",
        "mimeType",
        "annotations",
    ];
    const MAX_BYTES: usize = 1_000_000;

    fn decode(fields: &Fields<'_>, _: &mut Notes<'_>) -> Result<Self, Defect> {
        Ok(Self {
            uri_template: exact(fields, "uriTemplate")?,
            name: required(fields, "name")?,
            title: line(fields, "title")?,
            description: block(fields, "description")?,
            mime_type: line(fields, "mimeType")?,
            annotations: annotations(fields)?,
        })
    }
}

const AUDIENCE: &str = "annotations.audience";
const PRIORITY: &str = "annotations.priority";
const LAST_MODIFIED: &str = "annotations.lastModified";
const ANNOTATION_KEYS: Keys = &["audience", "priority", "lastModified"];

fn annotations(fields: &Fields<'_>) -> Result<Option<Box<Annotations>>, Defect> {
    let Some(value) = fields.get("annotations") else {
        return Ok(None);
    };
    let fields = Fields::read(ANNOTATION_KEYS, value.0)
        .ok_or(Defect::new("annotations", "is not an object"))?;
    Ok(Some(Box::new(Annotations {
        audience: fields.get("audience").map(audience).transpose()?,
        priority: fields.get("priority").map(priority).transpose()?,
        last_modified: fields.get("lastModified").map(last_modified).transpose()?,
    })))
}

fn audience(value: Value<'_>) -> Result<Box<[Audience]>, Defect> {
    let mut roles = Some(Vec::new());
    let array = value.each_element(|role| {
        if let Some(list) = &mut roles {
            match role.string().as_deref() {
                Some("user") => list.push(Audience::User),
                Some("assistant") => list.push(Audience::Assistant),
                _ => roles = None,
            }
        }
    });
    array
        .and(roles)
        .map(Box::from)
        .ok_or(Defect::new(AUDIENCE, "is not a list of user and assistant"))
}

fn priority(value: Value<'_>) -> Result<serde_json::Number, Defect> {
    let defect = Defect::new(PRIORITY, "is not a number from 0 to 1");
    let number: serde_json::Number = serde_json::from_str(value.0).map_err(|_| defect)?;
    let in_range = number.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n));
    in_range.then_some(number).ok_or(defect)
}

fn last_modified(value: Value<'_>) -> Result<Box<str>, Defect> {
    let text = value.string();
    text.filter(|text| is_iso_8601(text))
        .map(Box::from)
        .ok_or(Defect::new(
            LAST_MODIFIED,
            "is not an ISO 8601 date or date-time",
        ))
}
