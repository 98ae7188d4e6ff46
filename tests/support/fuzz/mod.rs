//! What is fed with anything, and what then has to hold. The fuzz targets of `tests/fuzz` run these
//! functions without an end, the tests run them over the seeds and over what was found.
//!
//! Only the public library is used. A function panics where a promise is broken.

mod config;
mod reader;
mod text;
mod wire;

/// A target's name and what it does with its input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("answers", wire::answers),
    ("config", config::config),
    ("document", reader::document),
    ("edit", config::edit),
    ("envelope", wire::envelope),
    ("import", config::import),
    ("listing", wire::listing),
    ("picture", reader::picture),
    ("sanitizer", text::sanitizer),
    ("sse", wire::sse),
    ("template", text::template),
    ("terminal", text::terminal),
    ("theme", config::theme),
];

/// Runs one target on one input.
///
/// # Panics
///
/// Where a promise is broken, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(target, _)| *target == name);
    let (_, run) = target.expect("a target of this name");
    run(data);
}

/// The first byte, which chooses between ways, and the rest as text.
fn choice_and_text(data: &[u8]) -> Option<(u8, &str)> {
    let (choice, text) = data.split_first()?;
    Some((*choice, std::str::from_utf8(text).ok()?))
}
