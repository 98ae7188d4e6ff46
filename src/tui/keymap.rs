//! Which key does what: one table, which the help screen, the footer and the README are made of.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::action::{Action, Choice, Command, Edit};
use super::key::{Code, Key};

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Wherever the deck itself has the focus.
    Everywhere,
    /// In lists and texts.
    Moving,
    /// In the Servers pane.
    Servers,
    /// On the selected server, from any pane.
    Server,
    /// In the lists on the right.
    Lists,
    /// In the reader.
    Reader,
}

impl Scope {
    /// All of them, in the order of the help screen.
    pub const ALL: [Self; 6] = [
        Self::Servers,
        Self::Server,
        Self::Lists,
        Self::Reader,
        Self::Moving,
        Self::Everywhere,
    ];

    /// The heading of the help screen.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Moving => "Moving",
            Self::Servers => "In Servers",
            Self::Server => "On the selected server",
            Self::Lists => "In a list",
            Self::Reader => "In the reader",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// What it does.
    pub command: Command,
    /// Its name in the config.
    pub name: &'static str,
    /// Where it works.
    pub scope: Scope,
    /// The default keys.
    keys: &'static [&'static str],
    /// A word or two for the footer.
    pub hint: &'static str,
    /// A line for the help screen.
    pub help: &'static str,
}

macro_rules! table {
    ($($scope:ident { $($command:ident $name:literal [$($key:literal),*] $hint:literal $help:literal)* })*) => {
        &[$($(Binding {
            command: Command::$command,
            name: $name,
            scope: Scope::$scope,
            keys: &[$($key),*],
            hint: $hint,
            help: $help,
        }),*),*]
    };
}

/// All bindings, in the order of the help screen.
pub const TABLE: &[Binding] = table! {
    Servers {
        Toggle "toggle" ["space"] "on/off" "switch the server on or off"
        Remove "remove" ["D", "delete"] "remove" "remove the server, after a question"
        Trust "trust" ["t"] "trust" "approve the server of a project file, after a question"
        LogIn "log-in" ["L"] "log in" "log in to a server that wants it"
        Edit "edit" ["e"] "edit" "open its entry in the config file with your $EDITOR"
        Sort "sort" ["s"] "sort" "sort by config order, status or name"
    }
    Server {
        Refresh "refresh" ["r"] "refresh" "ask this server for its lists again"
        RefreshAll "refresh-all" ["R"] "refresh all" "refresh all servers, reconnect those that failed"
        Reconnect "reconnect" ["c", "ctrl-r"] "reconnect" "close the connection and open a new one"
        Resources "resources" ["1"] "resources" "show its resources"
        Templates "templates" ["2"] "templates" "show its resource templates"
        Tools "tools" ["3"] "tools" "show its tools"
        Prompts "prompts" ["4"] "prompts" "show its prompts"
        Errors "errors" ["5"] "errors" "show what went wrong with it"
        Events "events" ["6"] "events" "show what happened, of all servers"
        Stderr "stderr" ["7"] "stderr" "show what it wrote to stderr"
        Trace "trace" ["8"] "trace" "show the messages in both directions"
        PreviousTab "previous-tab" ["["] "previous tab" "show the tab to the left"
        NextTab "next-tab" ["]"] "next tab" "show the tab to the right"
    }
    Lists {
        Open "open" ["enter"] "open" "open: a list, a resource, a form, a row in full"
        Filter "filter" ["/"] "filter" "show only rows that have the words; find in the reader"
        Copy "copy" ["y"] "copy" "copy the row's URI, name or message; the reader's text"
        Follow "follow" ["F"] "follow" "stay at the newest line (Events, Stderr, Trace)"
        OnlyErrors "only-errors" ["x"] "only errors" "show only errors, or all messages again (Trace)"
    }
    Reader {
        Save "save" ["w"] "save" "save it to a file, exactly as it came"
        Fold "fold" ["z"] "fold" "fold the JSON at the line, or unfold it; on line 1 all"
        NextMatch "next-match" ["n"] "next match" "to the next line that was found"
        PreviousMatch "previous-match" ["N"] "previous match" "to the one before"
    }
    Moving {
        Up "up" ["up", "k"] "up" "one row up"
        Down "down" ["down", "j"] "down" "one row down"
        PageUp "page-up" ["pgup"] "page up" "one page up"
        PageDown "page-down" ["pgdn"] "page down" "one page down"
        HalfPageUp "half-page-up" ["ctrl-u"] "half up" "half a page up"
        HalfPageDown "half-page-down" ["ctrl-d"] "half down" "half a page down"
        First "first" ["g", "home"] "first" "to the first row"
        Last "last" ["G", "end"] "last" "to the last row"
        NextPane "next-pane" ["tab"] "next pane" "to the next pane"
        PreviousPane "previous-pane" ["shift-tab"] "previous pane" "to the previous pane"
        LeftPane "left-pane" ["left", "h"] "left" "to the pane on the left"
        RightPane "right-pane" ["right", "l"] "right" "to the pane on the right"
    }
    Everywhere {
        Back "back" ["esc"] "back" "back: clear a filter, leave a pane"
        Find "find" ["ctrl-f", "f"] "find" "find a server or anything that it has, in all servers"
        Add "add" ["a"] "add" "add a server: it is tested, then saved"
        Import "import" ["i"] "import" "copy servers from the config files of other tools"
        Undo "undo" ["u"] "undo" "take the last removal back"
        Mouse "mouse" ["m"] "mouse" "switch the mouse off and on"
        Help "help" ["?"] "help" "show all keys"
        Suspend "suspend" ["ctrl-z"] "suspend" "back to the shell; `fg` comes back here"
        Quit "quit" ["q", "ctrl-c"] "quit" "leave"
    }
};

/// The keys that have a meaning only where one chooses what to import. They are the same for
/// everyone.
pub const CHOICES: &[(char, Choice, &str)] = &[
    (
        'a',
        Choice::Source,
        "all servers of the file, or none of them",
    ),
    (
        'v',
        Choice::Variables,
        "variables in place of secrets, or as they are",
    ),
];

/// Their heading.
pub const CHOOSING: &str = "When importing";

/// The lines of the help screen: a heading for each scope and for the import, and a gap between
/// two.
pub const HELP_LINES: usize = TABLE.len() + Scope::ALL.len() * 2 + CHOICES.len() + 1;

/// The binding of the command.
///
/// Every command has a row: a test proves it. Should one be missing, it is shown as the first row.
#[must_use]
pub fn binding(command: Command) -> &'static Binding {
    TABLE
        .iter()
        .find(|binding| binding.command == command)
        .unwrap_or(&TABLE[0])
}

/// What is wrong with the `[keys]` of the config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No action has this name.
    #[error("unknown action `{action}` in [keys]; the nearest is `{nearest}`")]
    UnknownAction {
        /// As written.
        action: String,
        /// The action whose name is most like it.
        nearest: &'static str,
    },
    /// No key has this name.
    #[error("unknown key `{key}` for `{action}` in [keys]")]
    UnknownKey {
        /// The action it was to be bound to.
        action: &'static str,
        /// As written.
        key: String,
    },
    /// Terminals send another key in its place.
    #[error("`{key}` for `{action}` in [keys] cannot be told from {other} on a terminal")]
    Indistinct {
        /// The action it was to be bound to.
        action: &'static str,
        /// As written.
        key: String,
        /// The key that arrives.
        other: &'static str,
    },
    /// One key would do two things.
    #[error("key `{key}` is bound to both `{first}` and `{second}` in [keys]")]
    Twice {
        /// The key, as shown.
        key: String,
        /// One action.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Nothing would quit.
    #[error("[keys] leaves no key for `quit`")]
    NoQuit,
}

impl KeyError {
    /// The actions whose lists may have caused it, the likeliest first.
    #[must_use]
    pub fn actions(&self) -> Vec<&str> {
        match self {
            Self::UnknownAction { action, .. } => vec![action],
            Self::UnknownKey { action, .. } | Self::Indistinct { action, .. } => vec![action],
            Self::Twice { first, second, .. } => vec![second, first],
            Self::NoQuit => vec![binding(Command::Quit).name],
        }
    }

    /// Whether it is about the key that is written so.
    #[must_use]
    pub fn is_about(&self, text: &str) -> bool {
        match self {
            Self::UnknownKey { key, .. } | Self::Indistinct { key, .. } => key == text,
            Self::Twice { key, .. } => {
                Key::parse(text).is_some_and(|found| found.to_string() == *key)
            }
            Self::UnknownAction { .. } | Self::NoQuit => false,
        }
    }
}

/// What the deck listens for at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The panes, and the help screen.
    Deck,
    /// The reader: the space bar pages down.
    Reader,
    /// The filter field: everything printable is text.
    Field,
    /// What to import is chosen: `a` and `v` have a meaning there.
    Choices,
    /// A question: `y`, or anything else.
    Question,
}

/// The keys in effect.
#[derive(Debug, Clone)]
pub struct Keymap {
    commands: BTreeMap<Key, Command>,
    keys: BTreeMap<Command, Vec<Key>>,
}

impl Keymap {
    /// The defaults, with the config's `[keys]` in place of those it names.
    ///
    /// # Errors
    ///
    /// [`KeyError`] says which action or key is wrong.
    pub fn new(overrides: &BTreeMap<String, Vec<String>>) -> Result<Self, KeyError> {
        for action in overrides.keys() {
            if !TABLE.iter().any(|binding| binding.name == action) {
                return Err(KeyError::UnknownAction {
                    action: action.clone(),
                    nearest: nearest(action),
                });
            }
        }
        let mut map = Self {
            commands: BTreeMap::new(),
            keys: BTreeMap::new(),
        };
        for binding in TABLE {
            let keys = match overrides.get(binding.name) {
                Some(keys) => keys.iter().map(String::as_str).collect(),
                None => binding.keys.to_vec(),
            };
            map.bind(binding, &keys)?;
        }
        if map.keys_of(Command::Quit).is_empty() {
            return Err(KeyError::NoQuit);
        }
        Ok(map)
    }

    fn bind(&mut self, binding: &Binding, keys: &[&str]) -> Result<(), KeyError> {
        let action = binding.name;
        for text in keys {
            let key = Key::parse(text).ok_or_else(|| KeyError::UnknownKey {
                action,
                key: (*text).to_owned(),
            })?;
            if let Some(other) = key.indistinct() {
                return Err(KeyError::Indistinct {
                    action,
                    key: (*text).to_owned(),
                    other,
                });
            }
            match self.commands.insert(key, binding.command) {
                Some(first) if first != binding.command => {
                    return Err(KeyError::Twice {
                        key: key.to_string(),
                        first: self::binding(first).name,
                        second: action,
                    });
                }
                Some(_) => {}
                None => self.keys.entry(binding.command).or_default().push(key),
            }
        }
        Ok(())
    }

    /// The keys of the command, the preferred one first.
    #[must_use]
    pub fn keys_of(&self, command: Command) -> &[Key] {
        self.keys.get(&command).map_or(&[], Vec::as_slice)
    }

    /// The preferred key of the command, as shown; `None` where it is unbound.
    #[must_use]
    pub fn shown(&self, command: Command) -> Option<String> {
        self.keys_of(command).first().map(Key::to_string)
    }

    /// All keys of the command, as shown.
    #[must_use]
    pub fn all_shown(&self, command: Command) -> String {
        let keys: Vec<String> = self.keys_of(command).iter().map(Key::to_string).collect();
        keys.join(" ")
    }

    /// What the press means, key by key: an unbound Alt-X counts as Esc and X, because that is
    /// what terminals send for the two in quick succession.
    #[must_use]
    pub fn split(&self, key: Key) -> (Key, Option<Key>) {
        if key.alt && !self.commands.contains_key(&key) {
            (Key::plain(Code::Esc), Some(Key { alt: false, ..key }))
        } else {
            (key, None)
        }
    }

    /// What the key does in the context. A quit key that is no text quits everywhere.
    #[must_use]
    pub fn action(&self, context: Context, key: Key) -> Action {
        let command = self.commands.get(&key).copied();
        match (context, command) {
            (_, Some(Command::Quit)) if !key.is_text() => Action::Leave,
            (_, Some(Command::Suspend)) if !key.is_text() => Action::Command(Command::Suspend),
            (Context::Reader, _) if key == Key::plain(Code::Char(' ')) => {
                Action::Command(Command::PageDown)
            }
            (Context::Choices, _) => match (choice(key), command) {
                (Some(choice), _) => Action::Choice(choice),
                (None, Some(command)) => Action::Command(command),
                (None, None) => Action::Nothing,
            },
            (Context::Deck | Context::Reader, Some(command)) => Action::Command(command),
            (Context::Deck | Context::Reader, None) => Action::Nothing,
            (Context::Field, _) => edit(key).map_or(Action::Nothing, Action::Edit),
            (Context::Question, _) => Action::Answer(key == Key::plain(Code::Char('y'))),
        }
    }

    /// The table as Markdown, for the README.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::from("| key | what it does |\n|---|---|\n");
        for scope in Scope::ALL {
            let _ = writeln!(text, "| **{}** | |", scope.heading());
            for binding in TABLE.iter().filter(|binding| binding.scope == scope) {
                let keys: Vec<String> = self
                    .keys_of(binding.command)
                    .iter()
                    .map(|key| format!("`{key}`"))
                    .collect();
                let _ = writeln!(text, "| {} | {} |", keys.join(" "), binding.help);
            }
        }
        let _ = writeln!(text, "| **{CHOOSING}** | |");
        for (letter, _, help) in CHOICES {
            let _ = writeln!(text, "| `{letter}` | {help} |");
        }
        text
    }
}

/// The defaults as the config would write them, commented out, for the example.
#[must_use]
pub fn example() -> String {
    let mut text = String::new();
    for binding in TABLE {
        let keys: Vec<String> = binding.keys.iter().map(|key| format!("{key:?}")).collect();
        let _ = writeln!(text, "# {} = [{}]", binding.name, keys.join(", "));
    }
    text
}

/// The action whose name is most like the text.
fn nearest(text: &str) -> &'static str {
    TABLE
        .iter()
        .map(|binding| binding.name)
        .min_by_key(|name| strsim::damerau_levenshtein(name, text))
        .unwrap_or_default()
}

/// What the key means only where one chooses what to import.
fn choice(key: Key) -> Option<Choice> {
    let found = CHOICES
        .iter()
        .find(|(letter, ..)| key == Key::plain(Code::Char(*letter)));
    found.map(|(_, choice, _)| *choice)
}

/// What the key does in a text field. These keys are the same for everyone.
fn edit(key: Key) -> Option<Edit> {
    if key.alt {
        return None;
    }
    match (key.ctrl, key.code) {
        (false, Code::Char(c)) => Some(Edit::Insert(c.to_string())),
        (_, Code::Enter) | (true, Code::Char('j' | 'm')) => Some(Edit::Accept),
        (_, Code::Esc) => Some(Edit::Cancel),
        (_, Code::Left) => Some(Edit::Left),
        (_, Code::Right) => Some(Edit::Right),
        (_, Code::Home) | (true, Code::Char('a')) => Some(Edit::Home),
        (_, Code::End) | (true, Code::Char('e')) => Some(Edit::End),
        (_, Code::Backspace) | (true, Code::Char('h')) => Some(Edit::Backspace),
        (_, Code::Delete) => Some(Edit::Delete),
        (true, Code::Char('w')) => Some(Edit::DeleteWord),
        (true, Code::Char('u')) => Some(Edit::DeleteToStart),
        (_, Code::Up) => Some(Edit::Up),
        (_, Code::Down) => Some(Edit::Down),
        (_, Code::Tab) => Some(Edit::NextField),
        (_, Code::BackTab) => Some(Edit::PreviousField),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn overrides(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        pairs
            .iter()
            .map(|(action, keys)| {
                (
                    (*action).to_owned(),
                    keys.iter().map(|key| (*key).to_owned()).collect(),
                )
            })
            .collect()
    }

    fn defaults() -> Keymap {
        Keymap::new(&BTreeMap::new()).unwrap()
    }

    fn error(pairs: &[(&str, &[&str])]) -> String {
        Keymap::new(&overrides(pairs)).unwrap_err().to_string()
    }

    fn press(keymap: &Keymap, context: Context, key: &str) -> Action {
        keymap.action(context, Key::parse(key).unwrap())
    }

    #[test]
    fn every_command_has_one_row_and_a_key() {
        let keymap = defaults();
        for (index, binding) in TABLE.iter().enumerate() {
            assert!(
                !TABLE[..index]
                    .iter()
                    .any(|other| other.command == binding.command || other.name == binding.name),
                "{} twice",
                binding.name
            );
            assert!(!keymap.keys_of(binding.command).is_empty());
        }
        // Quit is the last of the commands, so that the count is its number.
        assert_eq!(TABLE.len(), Command::Quit as usize + 1);
    }

    #[test]
    fn a_list_replaces_the_default_and_an_empty_one_unbinds() {
        let keymap = Keymap::new(&overrides(&[("toggle", &["X"]), ("sort", &[])])).unwrap();
        let deck = |key| press(&keymap, Context::Deck, key);
        assert_eq!(deck("X"), Action::Command(Command::Toggle));
        assert_eq!(deck("space"), Action::Nothing);
        assert_eq!(deck("s"), Action::Nothing);
        assert_eq!(keymap.shown(Command::Sort), None);
    }

    #[test]
    fn what_cannot_work_is_an_error_that_names_the_action() {
        assert_eq!(
            error(&[("togle", &["x"])]),
            "unknown action `togle` in [keys]; the nearest is `toggle`"
        );
        assert_eq!(
            error(&[("toggle", &["hyper-x"])]),
            "unknown key `hyper-x` for `toggle` in [keys]"
        );
        assert_eq!(
            error(&[("toggle", &["r"])]),
            "key `r` is bound to both `toggle` and `refresh` in [keys]"
        );
        for (key, other) in [
            ("ctrl-i", "Tab"),
            ("ctrl-m", "Enter"),
            ("ctrl-j", "Enter"),
            ("ctrl-h", "Backspace"),
            ("ctrl-[", "Esc"),
        ] {
            assert_eq!(
                error(&[("sort", &[key])]),
                format!("`{key}` for `sort` in [keys] cannot be told from {other} on a terminal")
            );
        }
        assert_eq!(error(&[("quit", &[])]), "[keys] leaves no key for `quit`");
    }

    #[test]
    fn a_key_may_move_from_one_action_to_another() {
        let keymap =
            Keymap::new(&overrides(&[("refresh", &["X"]), ("reconnect", &["r"])])).unwrap();
        assert_eq!(
            press(&keymap, Context::Deck, "r"),
            Action::Command(Command::Reconnect)
        );
    }

    #[test]
    fn in_a_field_everything_printable_is_text() {
        let keymap = defaults();
        let field = |key| press(&keymap, Context::Field, key);
        for text in ["q", "D", "/", "?"] {
            assert_eq!(field(text), Action::Edit(Edit::Insert(text.to_owned())));
        }
        assert_eq!(field("space"), Action::Edit(Edit::Insert(" ".to_owned())));
        assert_eq!(field("ctrl-c"), Action::Leave);
        assert_eq!(field("ctrl-z"), Action::Command(Command::Suspend));
        assert_eq!(field("ctrl-r"), Action::Nothing);
        assert_eq!(field("ctrl-u"), Action::Edit(Edit::DeleteToStart));
        assert_eq!(field("tab"), Action::Edit(Edit::NextField));
        assert_eq!(field("up"), Action::Edit(Edit::Up));
    }

    #[test]
    fn only_y_is_yes() {
        let keymap = defaults();
        let answer = |key| press(&keymap, Context::Question, key);
        assert_eq!(answer("y"), Action::Answer(true));
        for key in ["enter", "Y", "space", "q", "esc"] {
            assert_eq!(answer(key), Action::Answer(false), "{key}");
        }
        assert_eq!(answer("ctrl-c"), Action::Leave);
    }

    #[test]
    fn an_unbound_alt_key_is_esc_and_the_key() {
        let split = |map: &Keymap| map.split(Key::parse("alt-q").unwrap());
        assert_eq!(split(&defaults()), (Key::plain(Code::Esc), Key::parse("q")));
        let bound = Keymap::new(&overrides(&[("quit", &["alt-q"])])).unwrap();
        assert_eq!(split(&bound), (Key::parse("alt-q").unwrap(), None));
    }

    /// The README and the example config show the keys that the program has. With
    /// `MCPDECK_UPDATE_ASSETS` they are brought up to date.
    #[test]
    fn the_documents_show_the_key_map() {
        let check = |document: &str, start: &str, end: &str, expected: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
            let text = std::fs::read_to_string(&path).unwrap();
            let (before, rest) = text.split_once(start).unwrap();
            let (shown, behind) = rest.split_once(end).unwrap();
            if std::env::var_os("MCPDECK_UPDATE_ASSETS").is_some() {
                let text = format!("{before}{start}{expected}{end}{behind}");
                std::fs::write(&path, text).unwrap();
            } else {
                assert_eq!(shown, expected, "run it with MCPDECK_UPDATE_ASSETS=1");
            }
        };
        check(
            "README.md",
            "<!-- keys:start -->\n",
            "<!-- keys:end -->",
            &defaults().markdown(),
        );
        check(
            ".config-example.toml",
            "# BEGIN OF THE ACTIONS\n",
            "# END OF THE ACTIONS",
            &example(),
        );
    }

    /// The lines of the example are TOML, and read back they change nothing.
    #[test]
    fn the_example_equals_the_defaults() {
        let lines: Vec<String> = example().lines().map(|line| line[2..].to_owned()).collect();
        let document: toml_edit::DocumentMut = lines.join("\n").parse().unwrap();
        let table = document.iter().map(|(action, keys)| {
            let keys = keys.as_array().unwrap().iter();
            let keys = keys.map(|key| key.as_str().unwrap().to_owned());
            (action.to_owned(), keys.collect())
        });
        let read = Keymap::new(&table.collect()).unwrap();
        assert_eq!(read.commands, defaults().commands);
    }
}
