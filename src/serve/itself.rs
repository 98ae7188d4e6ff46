//! A server that is started by itself would start itself again, without end.

use std::ffi::OsStr;
use std::path::Path;

use crate::app::Face;
use crate::app::config_store::{LoadRequest, Loaded, load};
use crate::app::definition::starts_itself;
use crate::config::{Entry, Transport};

/// Whether the value of `MCPDECK_PARENT` says that a serving mcpdeck has started us.
#[must_use]
pub fn is_own_child(parent: Option<&OsStr>) -> bool {
    parent.is_some_and(|parent| parent == Face::Serve(None).word())
}

/// What to say then. The file is the one that has us among its servers, as far as we read the
/// same files as the one who started us.
#[must_use]
pub fn own_child_message(request: &LoadRequest) -> String {
    let file = load(request).ok().and_then(|loaded| file(&loaded));
    let file = file.unwrap_or_else(|| "the config of the mcpdeck that started it".to_owned());
    starts_itself(&file)
}

fn file(loaded: &Loaded) -> Option<String> {
    let entry = loaded.entries.iter().find(|entry| starts_us(entry))?;
    let origin = entry.origin.as_ref()?;
    Some(origin.file.display().to_string())
}

/// Whether the entry's command is mcpdeck, or something that is told to start it.
fn starts_us(entry: &Entry) -> bool {
    let Ok(definition) = &entry.definition else {
        return false;
    };
    let Transport::Stdio(stdio) = &definition.transport else {
        return false;
    };
    let is_us = |text: &str| {
        let stem = Path::new(text).file_stem();
        stem.is_some_and(|stem| stem == env!("CARGO_PKG_NAME"))
    };
    let words = std::iter::once(&stdio.command).chain(&stdio.args);
    words
        .flat_map(|word| word.text().split_whitespace())
        .any(is_us)
}
