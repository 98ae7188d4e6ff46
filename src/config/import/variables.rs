//! The variable forms of other tools, written in ours: nothing is expanded.

use std::path::Path;

use super::{Platform, Scope, Tool};

/// A text with its variables in our forms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Converted {
    pub(super) text: String,
    /// Our variables that stand for what the other tool asks a person for.
    pub(super) inputs: Vec<String>,
    /// Forms that we have nothing for; they stay as they are.
    pub(super) unknown: Vec<String>,
}

/// What the forms of a file mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forms<'a> {
    pub(super) tool: Option<Tool>,
    pub(super) scope: &'a Scope,
    pub(super) platform: Platform,
}

impl Forms<'_> {
    /// Converts the text.
    pub(super) fn convert(self, text: &str) -> Converted {
        let mut converted = Converted::default();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            converted.text.push_str(&rest[..at]);
            rest = &rest[at..];
            let taken = self.one(rest, &mut converted);
            rest = &rest[taken..];
        }
        converted.text.push_str(rest);
        converted
    }

    /// Converts what the text begins with, and says how long it is.
    fn one(self, text: &str, converted: &mut Converted) -> usize {
        if text.starts_with("$${") {
            converted.text.push_str("$${");
            return 3;
        }
        if let Some(rest) = text.strip_prefix("${{")
            && let Some((body, _)) = rest.split_once("}}")
        {
            let name = body.trim().split_once('.');
            match name.filter(|(kind, _)| matches!(*kind, "secrets" | "inputs")) {
                Some((_, name)) if is_name(name) => converted.variable(name),
                _ => converted.unknown(&text[..body.len() + 5], "${{...}}"),
            }
            return body.len() + 5;
        }
        if let Some(rest) = text.strip_prefix("${") {
            let Some((body, _)) = rest.split_once('}') else {
                converted.unknown("${", "${ without }");
                return 2;
            };
            self.braced(body, converted);
            return body.len() + 3;
        }
        if let Some(rest) = text.strip_prefix('{')
            && self.tool == Some(Tool::OpenCode)
            && let Some((body, _)) = rest.split_once('}')
            && let Some((kind, name)) = body.split_once(':')
        {
            match kind {
                "env" if is_name(name) => converted.variable(name),
                "env" | "file" => {
                    converted.unknown(&text[..body.len() + 2], &format!("{{{kind}:...}}"));
                }
                _ => converted.text.push_str(&text[..body.len() + 2]),
            }
            return body.len() + 2;
        }
        if let Some(rest) = text.strip_prefix('$')
            && self.tool == Some(Tool::Gemini)
        {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &rest[..end.unwrap_or(rest.len())];
            if is_name(name) {
                converted.variable(name);
                return name.len() + 1;
            }
        }
        converted.text.push_str(&text[..1]);
        1
    }

    /// Converts `${body}`.
    fn braced(self, body: &str, converted: &mut Converted) {
        let written = format!("${{{body}}}");
        let separator = match self.platform {
            Platform::Windows => "\\",
            Platform::Unix | Platform::MacOs => "/",
        };
        let folder = match self.scope {
            Scope::Project(folder) => Some(&**folder),
            Scope::User => None,
        };
        match (body, folder) {
            ("userHome", _) if self.platform == Platform::Windows => {
                converted.variable("USERPROFILE");
            }
            ("userHome", _) => converted.variable("HOME"),
            ("workspaceFolder", Some(folder)) => converted.path(folder),
            // Of a user's file it is the folder where one happens to be.
            ("workspaceFolder", None) => converted.variable("PWD"),
            ("workspaceFolderBasename", Some(folder)) => {
                converted.path(Path::new(folder.file_name().unwrap_or_default()));
            }
            ("workspaceFolderBasename", None) => converted.unknown(&written, &written),
            ("/" | "pathSeparator", _) => converted.text.push_str(separator),
            _ => match body.split_once(':') {
                Some(("env", name)) => {
                    let bare = name.split_once(":-").map_or(name, |(name, _)| name);
                    if is_name(bare) {
                        converted.variable(name);
                    } else {
                        converted.unknown(&written, "${env:...}");
                    }
                }
                Some(("input", name)) => {
                    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
                    let name: String = name.chars().map(plain).collect();
                    let variable = format!("MCPDECK_INPUT_{name}");
                    converted.variable(&variable);
                    if !converted.inputs.contains(&variable) {
                        converted.inputs.push(variable);
                    }
                }
                Some((kind, _)) if !is_name(kind) || !body[kind.len()..].starts_with(":-") => {
                    let kind: String = kind.chars().take(32).collect();
                    converted.unknown(&written, &format!("${{{kind}:...}}"));
                }
                None if !is_name(body) => converted.unknown(&written, "${...}"),
                Some(_) | None => converted.text.push_str(&written),
            },
        }
    }
}

impl Converted {
    fn variable(&mut self, name: &str) {
        self.text.push_str("${");
        self.text.push_str(name);
        self.text.push('}');
    }

    /// A path as it is: nothing in it is a variable.
    fn path(&mut self, path: &Path) {
        self.text.push_str(&literal(&path.to_string_lossy()));
    }

    fn unknown(&mut self, written: &str, form: &str) {
        self.text.push_str(written);
        if !self.unknown.iter().any(|old| old == form) {
            self.unknown.push(form.to_owned());
        }
    }
}

/// The text so that nothing in it is a variable.
pub(super) fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forms(tool: Option<Tool>, scope: &Scope) -> Forms<'_> {
        Forms {
            tool,
            scope,
            platform: Platform::Unix,
        }
    }

    #[test]
    fn forms_become_ours() {
        let project = Scope::Project(Path::new("/code/$${x").into());
        let check = |tool, scope: &Scope, text: &str, expected: &str| {
            let found = forms(tool, scope).convert(text);
            assert_eq!(found.text, expected, "{text}");
            assert!(found.unknown.is_empty(), "{found:?}");
        };
        let user = &Scope::User;
        for text in [
            "",
            "plain",
            "$A $ {x} {env:A}",
            "${A}",
            "${A:-b:c}",
            "$${env:A}",
        ] {
            check(None, user, text, text);
        }
        check(None, user, "a${env:A}b${env:B:-c}", "a${A}b${B:-c}");
        check(None, user, "${userHome}${/}x", "${HOME}/x");
        check(None, user, "${pathSeparator}", "/");
        check(None, user, "${workspaceFolder}/x", "${PWD}/x");
        check(None, &project, "${workspaceFolder}/x", "/code/$$${x/x");
        check(None, &project, "${workspaceFolderBasename}", "$$${x");
        check(None, user, "${input:api-key}", "${MCPDECK_INPUT_api_key}");
        check(
            Some(Tool::Continue),
            user,
            "Bearer ${{ secrets.A }}${{inputs.B}}",
            "Bearer ${A}${B}",
        );
        check(Some(Tool::OpenCode), user, "x{env:A}{y}", "x${A}{y}");
        check(Some(Tool::Gemini), user, "$A/${B}$ $1", "${A}/${B}$ $1");
    }

    #[test]
    fn what_we_have_nothing_for_stays_and_is_named() {
        let check = |tool, text: &str, expected: &str| {
            let found = forms(tool, &Scope::User).convert(text);
            assert_eq!(found.text, text);
            assert_eq!(found.unknown, [expected], "{text}");
        };
        check(None, "${command:x.y}${command:z}", "${command:...}");
        check(None, "${config:a}", "${config:...}");
        check(None, "${env:a b}", "${env:...}");
        check(None, "${A:?b}", "${A:...}");
        check(None, "${a b}", "${...}");
        check(
            None,
            "${workspaceFolderBasename}",
            "${workspaceFolderBasename}",
        );
        check(None, "a${b", "${ without }");
        check(None, "${{ github.token }}", "${{...}}");
        check(Some(Tool::OpenCode), "{file:~/.key}", "{file:...}");
    }

    #[test]
    fn what_a_person_is_asked_for_is_named_once() {
        let found = forms(None, &Scope::User).convert("${input:a}${input:a}${input:b}");
        assert_eq!(found.inputs, ["MCPDECK_INPUT_a", "MCPDECK_INPUT_b"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[${}a-c:./_ -é]{0,40}") {
            for tool in [None, Some(Tool::Gemini), Some(Tool::OpenCode), Some(Tool::Continue)] {
                let _ = forms(tool, &Scope::User).convert(&text);
            }
        }
    }
}
