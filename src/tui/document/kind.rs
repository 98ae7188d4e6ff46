//! What a text is, by what the server says, by its name, and by its beginning.

/// How a text is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Laid out.
    Json,
    /// Rendered.
    Markdown,
    /// With line numbers.
    Source,
    /// As it is.
    Prose,
}

/// Endings of names of texts that are read line by line.
const SOURCES: &[&str] = &[
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "clj",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "dart",
    "diff",
    "env",
    "ex",
    "exs",
    "go",
    "gradle",
    "h",
    "hpp",
    "hs",
    "html",
    "ini",
    "java",
    "js",
    "jsx",
    "kt",
    "lock",
    "log",
    "lua",
    "mjs",
    "nix",
    "patch",
    "php",
    "pl",
    "properties",
    "proto",
    "ps1",
    "py",
    "r",
    "rb",
    "rs",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "svg",
    "swift",
    "tex",
    "tf",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

impl Kind {
    /// The kind of a text. Only what is JSON as a whole counts as such.
    #[must_use]
    pub fn of_text(mime_type: Option<&str>, uri: &str, text: &str) -> Self {
        let mime_type = mime_type.unwrap_or_default().to_ascii_lowercase();
        let mime_type = mime_type.split(';').next().unwrap_or_default().trim();
        let ending = ending(uri);
        let ending = ending.as_deref().unwrap_or_default();
        let looks_like_json = || text.trim_ascii_start().starts_with(['{', '[']);
        let is_named_json =
            mime_type == "application/json" || mime_type.ends_with("+json") || ending == "json";
        if (is_named_json || looks_like_json()) && is_json(text) {
            return Self::Json;
        }
        match mime_type {
            "text/markdown" | "text/x-markdown" => return Self::Markdown,
            "" | "text/plain" | "application/octet-stream" => {}
            _ => return Self::Source,
        }
        match ending {
            "md" | "markdown" => Self::Markdown,
            "json" | "jsonl" | "ndjson" | "json5" | "jsonc" => Self::Source,
            ending if SOURCES.contains(&ending) => Self::Source,
            _ => Self::Prose,
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// What stands behind the last dot of the last segment, in lower case.
fn ending(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next()?;
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_it_says_or_looks_like() {
        let check = |mime_type: &str, uri: &str, text: &str, expected: Kind| {
            let mime_type = (!mime_type.is_empty()).then_some(mime_type);
            let kind = Kind::of_text(mime_type, uri, text);
            assert_eq!(kind, expected, "{mime_type:?} {uri} {text}");
        };
        check("application/json", "x", "7", Kind::Json);
        check("application/ld+json; charset=utf-8", "x", "{}", Kind::Json);
        check("application/json", "x", "{oops", Kind::Source);
        check("text/plain", "x", " [1, 2]", Kind::Json);
        check("", "x", "[see below] and so on", Kind::Prose);
        check("text/markdown", "x", "a", Kind::Markdown);
        check("text/plain", "file:///README.MD?x=1", "a", Kind::Markdown);
        check("text/x-rust", "x", "a", Kind::Source);
        check("", "file:///a/main.rs", "a", Kind::Source);
        check("", "file:///a/b.rs/notes", "a", Kind::Prose);
        check("text/plain", "demo://resource/1", "7", Kind::Prose);
    }
}
