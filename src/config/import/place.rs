//! Where each tool keeps its files, on each platform.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{Scope, Tool};
use crate::config::Environment;

/// The platforms that differ in where files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems, with the XDG folders.
    Unix,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one that we run on.
    #[must_use]
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Unix
        }
    }
}

/// A place where files of a tool may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose place it is.
    pub tool: Tool,
    /// For whom what is there holds.
    pub scope: Scope,
    /// The folder that the pattern counts from.
    pub folder: PathBuf,
    /// A relative path with `/`, of which one part may be `*`, or `*` with an extension.
    pub pattern: &'static str,
}

/// The folders that the places of a user count from.
#[derive(Clone, Copy)]
enum Base {
    Home,
    /// The platform's folder of application data.
    Data,
    /// `~/.config` on every platform but Windows.
    Config,
    /// `~/.config` on every platform.
    Xdg,
    /// What the variable names, else a folder below home, if there is one.
    Named(&'static str, Option<&'static str>),
}

const USER: &[(Tool, Base, &str)] = &[
    (
        Tool::ClaudeDesktop,
        Base::Data,
        "Claude/claude_desktop_config.json",
    ),
    (
        Tool::ClaudeCode,
        Base::Named("CLAUDE_CONFIG_DIR", None),
        CLAUDE_JSON,
    ),
    (Tool::Cursor, Base::Home, ".cursor/mcp.json"),
    (
        Tool::Windsurf,
        Base::Home,
        ".codeium/windsurf/mcp_config.json",
    ),
    (Tool::VsCode, Base::Data, "Code/User/mcp.json"),
    (Tool::VsCode, Base::Data, "Code/User/profiles/*/mcp.json"),
    (Tool::VsCode, Base::Data, "Code - Insiders/User/mcp.json"),
    (Tool::VsCode, Base::Data, "VSCodium/User/mcp.json"),
    // Before it had files of their own, servers stood in its settings.
    (Tool::VsCode, Base::Data, "Code/User/settings.json"),
    (
        Tool::VsCode,
        Base::Data,
        "Code/User/profiles/*/settings.json",
    ),
    (
        Tool::VsCode,
        Base::Data,
        "Code - Insiders/User/settings.json",
    ),
    (Tool::VsCode, Base::Data, "VSCodium/User/settings.json"),
    (
        Tool::Codex,
        Base::Named("CODEX_HOME", Some(".codex")),
        "config.toml",
    ),
    (Tool::Gemini, Base::Home, ".gemini/settings.json"),
    (Tool::Zed, Base::Config, "zed/settings.json"),
    (Tool::Continue, Base::Home, ".continue/config.yaml"),
    (Tool::Continue, Base::Home, ".continue/mcpServers/*.yaml"),
    (Tool::Continue, Base::Home, ".continue/mcpServers/*.yml"),
    (Tool::Continue, Base::Home, ".continue/mcpServers/*.json"),
    (Tool::OpenCode, Base::Xdg, "opencode/config.json"),
    (Tool::OpenCode, Base::Xdg, "opencode/opencode.json"),
    (Tool::OpenCode, Base::Xdg, "opencode/opencode.jsonc"),
];

const PROJECT: &[(Tool, &str)] = &[
    (Tool::ClaudeCode, ".mcp.json"),
    (Tool::Cursor, ".cursor/mcp.json"),
    (Tool::VsCode, ".vscode/mcp.json"),
    (Tool::VsCode, ".vscode/settings.json"),
    (Tool::Codex, ".codex/config.toml"),
    (Tool::Gemini, ".gemini/settings.json"),
    (Tool::Zed, ".zed/settings.json"),
    (Tool::Continue, ".continue/mcpServers/*.yaml"),
    (Tool::Continue, ".continue/mcpServers/*.yml"),
    (Tool::Continue, ".continue/mcpServers/*.json"),
    (Tool::OpenCode, "opencode.json"),
    (Tool::OpenCode, "opencode.jsonc"),
    (Tool::OpenCode, ".opencode/opencode.json"),
    (Tool::OpenCode, ".opencode/opencode.jsonc"),
];

/// The file of a user that has a part for each project too.
const CLAUDE_JSON: &str = ".claude.json";

/// Every place that is looked at: those of the user, then those of the working directory.
#[must_use]
pub fn places(platform: Platform, environment: &Environment) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let project = Scope::Project(environment.shared_cwd());
    let mut add = |place: Place| {
        let same = |old: &Place| old.folder == place.folder && old.pattern == place.pattern;
        if !places.iter().any(same) || place.pattern == CLAUDE_JSON {
            places.push(place);
        }
    };
    for (tool, base, pattern) in USER.iter().copied() {
        let Some(folder) = base.folder(platform, environment) else {
            continue;
        };
        let place = Place {
            tool,
            scope: Scope::User,
            folder,
            pattern,
        };
        if pattern == CLAUDE_JSON {
            add(Place {
                scope: project.clone(),
                ..place.clone()
            });
        }
        add(place);
    }
    for (tool, pattern) in PROJECT.iter().copied() {
        add(Place {
            tool,
            scope: project.clone(),
            folder: environment.cwd().to_owned(),
            pattern,
        });
    }
    places
}

/// Whose file it is and for whom it holds, judged by where it stands: one of the places, else one
/// like it in another project. More than one where a file has several parts.
#[must_use]
pub fn recognise(path: &Path, platform: Platform, environment: &Environment) -> Vec<(Tool, Scope)> {
    let path = environment.cwd().join(path);
    let path: PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let known = places(platform, environment);
    let known = known.into_iter().filter(|place| {
        let rest = path.strip_prefix(&place.folder);
        rest.is_ok_and(|rest| matches(rest, place.pattern))
    });
    let known: Vec<(Tool, Scope)> = known.map(|place| (place.tool, place.scope)).collect();
    if !known.is_empty() {
        return known;
    }
    let elsewhere = PROJECT.iter().find_map(|(tool, pattern)| {
        let folder = path.ancestors().nth(pattern.split('/').count())?;
        let rest = path.strip_prefix(folder).ok()?;
        matches(rest, pattern).then(|| (*tool, Scope::Project(Arc::from(folder))))
    });
    elsewhere.into_iter().collect()
}

/// Whether the relative path is one that the pattern means.
fn matches(path: &Path, pattern: &str) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let wanted: Vec<&str> = pattern.split('/').collect();
    parts.len() == wanted.len()
        && parts
            .iter()
            .zip(wanted)
            .all(|(part, wanted)| part_matches(part, wanted))
}

/// Whether one part of a path is the one of a pattern.
#[must_use]
pub fn part_matches(part: &str, wanted: &str) -> bool {
    match wanted.strip_prefix('*') {
        Some(end) => part.len() > end.len() && part.ends_with(end),
        None => part == wanted,
    }
}

impl Base {
    fn folder(self, platform: Platform, environment: &Environment) -> Option<PathBuf> {
        let home = || environment.home().map(Path::to_path_buf);
        let xdg = || {
            let named = environment.path("XDG_CONFIG_HOME");
            let named = named.filter(|path| path.is_absolute());
            named.or_else(|| Some(home()?.join(".config")))
        };
        match (self, platform) {
            (Self::Home, _) => home(),
            (Self::Data | Self::Config, Platform::Windows) => environment.path("APPDATA"),
            (Self::Data, Platform::MacOs) => Some(home()?.join("Library/Application Support")),
            (Self::Data, Platform::Unix) | (Self::Config | Self::Xdg, _) => xdg(),
            (Self::Named(variable, below), _) => environment.path(variable).or_else(|| {
                let home = home()?;
                Some(below.map_or_else(|| home.clone(), |below| home.join(below)))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        Environment::new(variables, Some("/home/ada".into()), "/code/notes".into())
    }

    #[test]
    fn every_tool_has_its_place_on_every_platform() {
        let check = |platform, variables: &[(&str, &str)], tool: Tool, expected: &[&str]| {
            let places = places(platform, &environment(variables));
            let shown: Vec<String> = places
                .iter()
                .filter(|place| place.tool == tool && place.scope == Scope::User)
                .map(|place| format!("{}/{}", place.folder.display(), place.pattern))
                .collect();
            assert_eq!(shown, expected, "{platform:?} {tool:?}");
        };
        let win: &[(&str, &str)] = &[("APPDATA", "/data")];
        let desktop = "Claude/claude_desktop_config.json";
        for (platform, variables, folder) in [
            (Platform::Unix, &[][..], "/home/ada/.config"),
            (Platform::Unix, &[("XDG_CONFIG_HOME", "/xdg")], "/xdg"),
            (
                Platform::MacOs,
                &[],
                "/home/ada/Library/Application Support",
            ),
            (Platform::Windows, win, "/data"),
        ] {
            check(
                platform,
                variables,
                Tool::ClaudeDesktop,
                &[&format!("{folder}/{desktop}")],
            );
            let code = [
                "Code/User/mcp.json",
                "Code/User/profiles/*/mcp.json",
                "Code - Insiders/User/mcp.json",
                "VSCodium/User/mcp.json",
                "Code/User/settings.json",
                "Code/User/profiles/*/settings.json",
                "Code - Insiders/User/settings.json",
                "VSCodium/User/settings.json",
            ]
            .map(|path| format!("{folder}/{path}"));
            check(
                platform,
                variables,
                Tool::VsCode,
                &code.each_ref().map(String::as_str),
            );
        }
        check(
            Platform::MacOs,
            &[],
            Tool::Zed,
            &["/home/ada/.config/zed/settings.json"],
        );
        check(
            Platform::Windows,
            win,
            Tool::Zed,
            &["/data/zed/settings.json"],
        );
        check(
            Platform::Unix,
            &[("CODEX_HOME", "/codex")],
            Tool::Codex,
            &["/codex/config.toml"],
        );
        check(
            Platform::Unix,
            &[],
            Tool::Codex,
            &["/home/ada/.codex/config.toml"],
        );
        check(
            Platform::Unix,
            &[],
            Tool::ClaudeCode,
            &["/home/ada/.claude.json"],
        );
        check(
            Platform::Windows,
            &[],
            Tool::Windsurf,
            &["/home/ada/.codeium/windsurf/mcp_config.json"],
        );
    }

    #[test]
    fn a_file_is_recognised_by_where_it_stands() {
        let check = |path: &str, expected: &[(Tool, Option<&str>)]| {
            let found = recognise(Path::new(path), Platform::Unix, &environment(&[]));
            let found: Vec<(Tool, Option<&str>)> = found
                .iter()
                .map(|(tool, scope)| match scope {
                    Scope::User => (*tool, None),
                    Scope::Project(folder) => (*tool, folder.to_str()),
                })
                .collect();
            assert_eq!(found, expected, "{path}");
        };
        let here = Some("/code/notes");
        check(".mcp.json", &[(Tool::ClaudeCode, here)]);
        check("./.vscode/mcp.json", &[(Tool::VsCode, here)]);
        check("/x/.cursor/mcp.json", &[(Tool::Cursor, Some("/x"))]);
        check("/home/ada/.cursor/mcp.json", &[(Tool::Cursor, None)]);
        check(
            "/home/ada/.claude.json",
            &[(Tool::ClaudeCode, here), (Tool::ClaudeCode, None)],
        );
        check(
            "/home/ada/.config/Code/User/profiles/1a/mcp.json",
            &[(Tool::VsCode, None)],
        );
        check(".continue/mcpServers/docs.yaml", &[(Tool::Continue, here)]);
        check("servers.json", &[]);
        check("/mcp.json", &[]);
    }

    #[test]
    fn no_place_is_looked_at_twice() {
        let environment = Environment::new([], Some("/home/ada".into()), "/home/ada".into());
        let places = places(Platform::Unix, &environment);
        let cursor = places.iter().filter(|place| place.tool == Tool::Cursor);
        assert_eq!(cursor.count(), 1);
    }
}
