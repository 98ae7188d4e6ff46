//! The `[settings]` table: what a file sets, and how several files go together.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::entry::format_duration;
use super::fields::Fields;
use super::problem::{ConfigProblem, ProblemKind};
use super::source::Source;
use super::suggest::nearest;
use super::tree::Pair;
use crate::domain::Settings;

macro_rules! patch {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)+) => {
        /// What one file sets; what it leaves out is `None`.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct SettingsPatch {
            $($(#[$doc])* pub $field: Option<$type>,)+
        }

        impl SettingsPatch {
            /// The keys of the table.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),+];

            /// Sets what the file sets.
            pub fn apply(&self, settings: &mut Settings) {
                $(if let Some(value) = &self.$field {
                    settings.$field.clone_from(value);
                })+
            }
        }
    };
}

patch! {
    /// Bound on connecting.
    connect_timeout: Duration,
    /// Bound on one request.
    request_timeout: Duration,
    /// Bound on one traversal.
    traversal_timeout: Duration,
    /// How long a silent server may take to answer the probe.
    probe_timeout: Duration,
    /// How many local servers connect at once.
    local_concurrency: usize,
    /// How many remote servers connect at once.
    remote_concurrency: usize,
    /// How often a lost connection is tried again.
    reconnect_attempts: u32,
    /// How long a `list_changed` waits for more of its kind.
    debounce: Duration,
    /// Whether servers get our whole environment.
    inherit_env: bool,
    /// The theme.
    theme: String,
    /// Whether only ASCII is drawn.
    ascii: bool,
    /// Whether the mouse is listened to.
    mouse: bool,
}

/// The settings with the keys of our TOML.
#[must_use]
pub fn settings_json(settings: &Settings) -> Value {
    json!({
        "connect_timeout": format_duration(settings.connect_timeout),
        "request_timeout": format_duration(settings.request_timeout),
        "traversal_timeout": format_duration(settings.traversal_timeout),
        "probe_timeout": format_duration(settings.probe_timeout),
        "local_concurrency": settings.local_concurrency,
        "remote_concurrency": settings.remote_concurrency,
        "reconnect_attempts": settings.reconnect_attempts,
        "debounce": format_duration(settings.debounce),
        "inherit_env": settings.inherit_env,
        "theme": settings.theme,
        "ascii": settings.ascii,
        "mouse": settings.mouse,
    })
}

/// The colours of the deck: as the terminal's background wants them, or as chosen.
const THEMES: [&str; 4] = ["auto", "dark", "light", "high-contrast"];

/// More than this many at once is certainly a mistake.
const MOST_AT_ONCE: u32 = 1_000;

/// Reads the table. An error in it is an error of the file.
pub(super) fn read(
    source: &Arc<Source>,
    pairs: &[Pair],
    home: Option<&Path>,
) -> Result<SettingsPatch, ConfigProblem> {
    let mut fields = Fields::new(source, pairs);
    fields.only(SettingsPatch::KEYS);
    let patch = SettingsPatch {
        connect_timeout: fields.duration("connect_timeout"),
        request_timeout: fields.duration("request_timeout"),
        traversal_timeout: fields.duration("traversal_timeout"),
        probe_timeout: fields.duration("probe_timeout"),
        local_concurrency: at_once(&mut fields, "local_concurrency"),
        remote_concurrency: at_once(&mut fields, "remote_concurrency"),
        reconnect_attempts: fields.whole("reconnect_attempts", 0, MOST_AT_ONCE),
        debounce: fields.duration("debounce"),
        inherit_env: fields.flag("inherit_env"),
        theme: theme(&mut fields, source, home),
        ascii: fields.flag("ascii"),
        mouse: fields.flag("mouse"),
    };
    match fields.first_problem() {
        Some(problem) => Err(problem),
        None => Ok(patch),
    }
}

/// The name of a theme, or where the file of one is. A relative path counts from the folder of the
/// config file.
fn theme(fields: &mut Fields<'_>, source: &Source, home: Option<&Path>) -> Option<String> {
    let written = fields.text("theme")?;
    let text = written.text();
    if THEMES.contains(&text) {
        return Some(text.to_owned());
    }
    if Path::new(text).extension().is_some_and(|it| it == "toml") {
        let path = match (text.strip_prefix("~/"), home) {
            (Some(below), Some(home)) => home.join(below),
            _ => source.folder().join(text),
        };
        return Some(path.display().to_string());
    }
    let quoted = THEMES.map(|word| format!("\"{word}\"")).join(" or ");
    let kind = ProblemKind::BadValue {
        key: "theme".to_owned(),
        expected: format!("{quoted} or the path of a .toml file"),
        nearest: nearest(text, THEMES).map(str::to_owned),
    };
    let value = &fields.pair("theme")?.value;
    fields.report(&value.span, kind);
    None
}

fn at_once(fields: &mut Fields<'_>, key: &str) -> Option<usize> {
    let number = fields.whole::<u32>(key, 1, MOST_AT_ONCE)?;
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_shown() {
        let shown = settings_json(&Settings::default());
        let keys: Vec<&String> = shown.as_object().unwrap().keys().collect();
        assert_eq!(keys, SettingsPatch::KEYS);
    }
}
