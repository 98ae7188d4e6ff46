//! The text fields of items: exact ones, and those that are sanitized.

use crate::domain::text::{Keep, metadata};

use super::fields::{Defect, Fields, Value};

/// A required text that is kept byte for byte: a URI or template.
pub(super) fn exact(fields: &Fields<'_>, key: &'static str) -> Result<Box<str>, Defect> {
    let value = fields.get(key).ok_or(Defect::missing(key))?;
    let text = value.string().ok_or(Defect::new(key, "is not a string"))?;
    Ok(text.into())
}

/// A required text, sanitized and capped.
pub(super) fn required(fields: &Fields<'_>, key: &'static str) -> Result<Box<str>, Defect> {
    clean(
        fields.get(key).ok_or(Defect::missing(key))?,
        key,
        Keep::Line,
    )
}

/// An optional text of one line, sanitized and capped.
pub(super) fn line(fields: &Fields<'_>, key: &'static str) -> Result<Option<Box<str>>, Defect> {
    let value = fields.get(key);
    value.map(|value| clean(value, key, Keep::Line)).transpose()
}

/// An optional text that may have line breaks, sanitized and capped.
pub(super) fn block(fields: &Fields<'_>, key: &'static str) -> Result<Option<Box<str>>, Defect> {
    let value = fields.get(key);
    value
        .map(|value| clean(value, key, Keep::Block))
        .transpose()
}

fn clean(value: Value<'_>, key: &'static str, keep: Keep) -> Result<Box<str>, Defect> {
    let text = value.string().ok_or(Defect::new(key, "is not a string"))?;
    metadata(&text, keep)
        .map_err(|_| Defect::new(key, "does not settle under Unicode normalization"))
}
