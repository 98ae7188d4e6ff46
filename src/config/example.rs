//! The example file, as it is shipped and shown by `mcpdeck config example`.

/// Every key with its default, commented for a newcomer. It parses, and changes nothing.
pub const EXAMPLE: &str = include_str!("../../.config-example.toml");

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::settings::SettingsPatch;
    use crate::config::{
        ConfigFile, Environment, FileInput, Precedence, Role, merge, read, server,
    };
    use crate::domain::Settings;

    fn read_text(text: &str) -> ConfigFile {
        let environment = Environment::new([], None, "/".into());
        let input = FileInput {
            path: Path::new(".config-example.toml"),
            text,
            role: Role::User,
            environment: &environment,
        };
        match read(input) {
            Ok(file) => file,
            Err(error) => panic!("{error}"),
        }
    }

    /// The example with every `# key = value` and `# [table]` in force.
    fn uncommented() -> String {
        let lines = EXAMPLE.lines().map(|line| {
            let Some(code) = line.strip_prefix("# ") else {
                return line;
            };
            let word = code.split([' ', '=']).next().unwrap_or_default();
            let is_key = code[word.len()..].starts_with(" = ")
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'));
            let is_code = is_key || code.starts_with("[servers.");
            if is_code { code } else { line }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_example_equals_the_defaults() {
        let file = read_text(EXAMPLE);
        assert!(file.entries.is_empty() && file.keys.actions.is_empty());
        assert_eq!(
            merge(&[file], Precedence::LastWins).settings,
            Settings::default()
        );
    }

    #[test]
    fn the_example_shows_every_key() {
        let text = uncommented();
        let file = read_text(&text);
        let shown = |key: &&&str| {
            text.lines()
                .any(|line| line.starts_with(&format!("{key} = ")))
        };
        let keys = [SettingsPatch::KEYS, &server::known_keys()].concat();
        let absent: Vec<_> = keys.iter().filter(|key| !shown(key)).collect();
        assert!(absent.is_empty(), "{absent:?}");
        for key in server::OAUTH_KEYS {
            assert!(text.contains(key), "{key}");
        }
        assert_eq!(file.entries.len(), 3);
        for entry in &file.entries {
            if let Err(problem) = &entry.definition {
                panic!("{problem}");
            }
        }
    }
}
