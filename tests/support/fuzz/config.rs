//! Config files: ours, those of other tools, and edits of ours.

use std::io;
use std::path::{Path, PathBuf};

use mcpdeck::config::edit::{Edit, EditError, edit as make};
use mcpdeck::config::import::{self, ImportInput, Platform, Scope, Tool};
use mcpdeck::config::theme;
use mcpdeck::config::{
    ConfigFile, Environment, FileInput, Http, Precedence, Role, Transport, Written, describe,
    merge, read, resolve,
};
use mcpdeck::domain::ServerName;
use mcpdeck::tui::theme as screen;

/// The names of files, one for each way in which files are read.
const FILES: [&str; 5] = [
    "config.toml",
    ".mcp.json",
    "mcp.json",
    "x.yaml",
    "codex.toml",
];

fn environment() -> Environment {
    let variables = [("TOKEN", "opensesame"), ("NAME", "ada"), ("EMPTY", "")];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let home = PathBuf::from("/home/ada");
    Environment::new(variables, Some(home.clone()), home.join("work"))
}

fn parse(text: &str, file: &str, role: Role) -> Option<ConfigFile> {
    let path = Path::new("/home/ada/work").join(file);
    let file = read(FileInput {
        path: &path,
        text,
        role,
        environment: &environment(),
    });
    file.map_err(|error| error.one_line()).ok()
}

/// A file of any tool, up to what would be started.
pub fn config(data: &[u8]) {
    let Some((choice, text)) = super::choice_and_text(data) else {
        return;
    };
    let choice = usize::from(choice);
    let role = [Role::Named, Role::User, Role::Project][choice / FILES.len() % 3];
    let Some(file) = parse(text, FILES[choice % FILES.len()], role) else {
        return;
    };
    let merged = merge(&[file.clone(), file], Precedence::FirstWins);
    for entry in &merged.entries {
        let no_file = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        let _ = resolve(entry, &environment(), &no_file).map_err(|problem| problem.one_line());
        let _ = entry.canonical();
        if let Ok(definition) = &entry.definition {
            let _ = (definition.target(), definition.to_json(true));
        }
        let _ = describe(entry);
        assert!(entry.same_definition(entry));
    }
}

/// Whatever is taken over from another tool's file stands in ours as it was understood.
pub fn import(data: &[u8]) {
    let Some((choice, text)) = super::choice_and_text(data) else {
        return;
    };
    let choice = usize::from(choice);
    let tool = Tool::ALL.get(choice % (Tool::ALL.len() + 1)).copied();
    let scope = match choice % 3 {
        0 => Scope::Project(Path::new("/home/ada/work").into()),
        _ => Scope::User,
    };
    let file = FILES[choice / 11 % FILES.len()];
    let read = import::read(ImportInput {
        path: &Path::new("/home/ada").join(file),
        text,
        tool,
        scope: &scope,
        platform: [Platform::Unix, Platform::MacOs, Platform::Windows][choice % 3],
        environment: &environment(),
    });
    let Ok(Some(import)) = read else { return };
    for server in import.servers {
        for definition in [server.definition, server.without_secrets] {
            let add = Edit::Add {
                name: server.name.clone(),
                definition: Box::new(definition.clone()),
                enabled: server.enabled,
            };
            let Ok(added) = make("# mine\n", &add) else {
                continue;
            };
            let text = &added.text;
            let file = parse(text, "config.toml", Role::User);
            let file = file.unwrap_or_else(|| panic!("it does not parse again:\n{text}"));
            let [entry] = &*file.entries else {
                panic!("it is not one server:\n{text}");
            };
            assert_eq!((&entry.name, entry.enabled), (&server.name, server.enabled));
        }
    }
}

/// An edit of any text fails, or gives a text that parses, in which every other server is as before.
pub fn edit(data: &[u8]) {
    let Some((choice, text)) = super::choice_and_text(data) else {
        return;
    };
    let before = parse(text, "config.toml", Role::User);
    let names = before.iter().flat_map(|file| &file.entries);
    let mut names: Vec<ServerName> = names.map(|entry| entry.name.clone()).collect();
    names.push(ServerName::new("new one").unwrap());
    let name = &names[usize::from(choice / 4) % names.len()];
    let change = match choice % 4 {
        0 | 1 => Edit::SetEnabled {
            name: name.clone(),
            enabled: choice % 4 == 0,
        },
        2 => Edit::Remove { name: name.clone() },
        _ if names.iter().filter(|other| *other == name).count() == 1 => Edit::Replace {
            name: name.clone(),
            definition: Box::new(
                Transport::Http(Http {
                    url: Written::plain("https://example.org/mcp"),
                    ..Http::default()
                })
                .into(),
            ),
            enabled: true,
        },
        _ => return,
    };
    let edited = match make(text, &change) {
        Ok(edited) => edited,
        Err(EditError::Syntax(_)) => {
            assert!(before.is_none());
            return;
        }
        Err(_) => return,
    };
    let Some(before) = before else { return };
    let after = parse(&edited.text, "config.toml", Role::User);
    let after = after.unwrap_or_else(|| panic!("it does not parse again:\n{}", edited.text));
    let others = |file: &ConfigFile| -> Vec<String> {
        let others = file.entries.iter().filter(|entry| entry.name != *name);
        others
            .map(|entry| format!("{} {}", entry.name, entry.canonical()))
            .collect()
    };
    assert_eq!(others(&before), others(&after));
    let own = after.entries.iter().find(|entry| entry.name == *name);
    match &change {
        Edit::SetEnabled { enabled, .. } => assert_eq!(own.unwrap().enabled, *enabled),
        Edit::Remove { .. } => assert!(own.is_none()),
        _ => assert!(own.is_some()),
    }
    if let Some(removed) = edited.removed {
        let back = make(&edited.text, &Edit::Insert(removed)).expect("what was there has a place");
        assert_eq!(back.text, text);
    }
}

/// A theme of a person's own, up to what is drawn with it: no terminal gets colours that it does not
/// have or that nobody wants, and what is wrong has a place in the text.
pub fn theme(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let file = match theme::read(Path::new("/home/ada/mine.toml"), text) {
        Ok(file) => file,
        Err(problem) => {
            assert!(problem.one_line().starts_with("/home/ada/mine.toml:"));
            let _ = problem.to_string();
            return;
        }
    };
    for terminal in 0..8_u8 {
        let environment = screen::Environment {
            no_color: terminal & 1 != 0,
            true_color: terminal & 2 != 0,
            colorfgbg: Some("15;0".to_owned()),
        };
        let ascii = terminal & 4 != 0;
        let theme = screen::Theme::new("mine.toml", Some(&file), ascii, &environment);
        for style in [
            theme.text,
            theme.dim,
            theme.accent,
            theme.selected,
            theme.bad,
        ] {
            let colours = [style.fg, style.bg].into_iter().flatten();
            let drawn: Vec<String> = colours.map(|colour| format!("{colour:?}")).collect();
            assert!(drawn.is_empty() || !environment.no_color);
            let any = environment.true_color && !ascii;
            assert!(any || drawn.iter().all(|colour| !colour.starts_with("Rgb")));
        }
    }
}
