//! A theme as it is written: the colours and attributes of each role.
//!
//! What a role is for, and how a terminal shows it, is the business of the deck. The themes that
//! are shipped (`assets/themes`) are read in the same way as a person's own.

use std::path::Path;

use super::fields::Fields;
use super::problem::{ConfigProblem, ProblemKind};
use super::source::{Source, Spot};
use super::suggest::nearest;
use super::tree::{Node, Value, parse_toml};

/// The themes that come with the program, as the settings and a `base` name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// For a dark background.
    Dark,
    /// For a light one.
    Light,
    /// For eyes that need it.
    HighContrast,
}

/// The words for them.
const BASES: [(&str, Base); 3] = [
    ("dark", Base::Dark),
    ("light", Base::Light),
    ("high-contrast", Base::HighContrast),
];

impl Base {
    /// The theme of the name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = BASES.iter().find(|(word, _)| *word == name);
        found.map(|(_, base)| *base)
    }
}

/// What is drawn in a style of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "assets/themes/dark.toml says what they are")]
pub enum Role {
    Text,
    Dim,
    Accent,
    Border,
    Focus,
    Selected,
    SelectedDim,
    Good,
    Warn,
    Bad,
    Found,
}

impl Role {
    /// All of them, with their names in a file.
    pub const ALL: [(&str, Self); 11] = [
        ("text", Self::Text),
        ("dim", Self::Dim),
        ("accent", Self::Accent),
        ("border", Self::Border),
        ("focus", Self::Focus),
        ("selected", Self::Selected),
        ("selected-dim", Self::SelectedDim),
        ("good", Self::Good),
        ("warn", Self::Warn),
        ("bad", Self::Bad),
        ("found", Self::Found),
    ];
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of the terminal's 256; the first 16 are the terminal's choice.
    Indexed(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}

/// The first colours of a terminal (ECMA-48), by name; from the 9th on they are bright.
const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

/// How a role looks; without a colour as the terminal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a terminal has these attributes, and any may go with any"
)]
#[expect(missing_docs, reason = "the names are those of a terminal")]
pub struct Look {
    pub fg: Option<Colour>,
    pub bg: Option<Colour>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub reverse: bool,
}

/// A theme file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThemeFile {
    /// Which theme has the roles that are left out.
    pub base: Option<Base>,
    /// The roles that it has, in its order.
    pub looks: Vec<(Role, Look)>,
}

/// Reads a theme file. The path is what messages name.
///
/// # Errors
///
/// [`ConfigProblem`]: what is wrong first, with its place.
pub fn read(path: &Path, text: &str) -> Result<ThemeFile, ConfigProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::new(path.into(), text, Vec::new());
    let tree = parse_toml(text).map_err(|error| {
        Spot::new(&source, &error.span).problem(ProblemKind::Syntax(error.message))
    })?;
    let pairs = tree.table().unwrap_or_default();
    let mut fields = Fields::new(&source, pairs);
    let known: Vec<&str> = ["base"]
        .into_iter()
        .chain(Role::ALL.map(|(name, _)| name))
        .collect();
    fields.only(&known);
    let mut theme = ThemeFile {
        base: fields.word("base", &BASES),
        looks: Vec::new(),
    };
    for (name, role) in Role::ALL {
        let Some(pair) = fields.pair(name) else {
            continue;
        };
        let Value::Table(inner) = &pair.value.value else {
            fields.wrong(
                name,
                &pair.value,
                "a table such as { fg = \"cyan\", bold = true }",
            );
            continue;
        };
        let mut table = Fields::new(&source, inner);
        theme.looks.push((role, look(&mut table)));
        fields.take_problems(table);
    }
    match fields.first_problem() {
        Some(problem) => Err(problem),
        None => Ok(theme),
    }
}

fn look(fields: &mut Fields<'_>) -> Look {
    fields.only(&["fg", "bg", "bold", "dim", "italic", "underline", "reverse"]);
    let mut flag = |key: &str| fields.flag(key).unwrap_or(false);
    Look {
        bold: flag("bold"),
        dim: flag("dim"),
        italic: flag("italic"),
        underline: flag("underline"),
        reverse: flag("reverse"),
        fg: colour(fields, "fg"),
        bg: colour(fields, "bg"),
    }
}

fn colour(fields: &mut Fields<'_>, key: &str) -> Option<Colour> {
    let node = &fields.pair(key)?.value;
    let colour = parse_colour(node);
    if colour.is_none() {
        let near = match &node.value {
            Value::Text(text) => nearest(text, NAMES),
            _ => None,
        };
        let kind = ProblemKind::BadValue {
            key: key.to_owned(),
            expected: "a colour: a name such as \"red\" or \"bright-red\", a number from 0 to 255, or \"#rrggbb\"".to_owned(),
            nearest: near.map(str::to_owned),
        };
        fields.report(&node.span, kind);
    }
    colour
}

fn parse_colour(node: &Node) -> Option<Colour> {
    match &node.value {
        Value::Number(number) => number.parse().ok().map(Colour::Indexed),
        Value::Text(text) => match text.strip_prefix('#') {
            Some(hex) if hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
                Some(Colour::Rgb([part(0)?, part(2)?, part(4)?]))
            }
            Some(_) => None,
            None => {
                let index = NAMES.iter().position(|name| name == text)?;
                u8::try_from(index).ok().map(Colour::Indexed)
            }
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ThemeFile, ConfigProblem> {
        read(Path::new("my.toml"), text)
    }

    #[test]
    fn roles_have_colours_and_attributes() {
        let theme = parse(
            "base = \"light\"\nbad = { fg = \"#ff8000\", bg = 16, bold = true }\n[dim]\nfg = \"bright-black\"\nitalic = true\n",
        );
        let expected = ThemeFile {
            base: Some(Base::Light),
            looks: vec![
                (
                    Role::Dim,
                    Look {
                        fg: Some(Colour::Indexed(8)),
                        italic: true,
                        ..Look::default()
                    },
                ),
                (
                    Role::Bad,
                    Look {
                        fg: Some(Colour::Rgb([255, 128, 0])),
                        bg: Some(Colour::Indexed(16)),
                        bold: true,
                        ..Look::default()
                    },
                ),
            ],
        };
        assert_eq!(theme, Ok(expected));
        assert_eq!(parse(""), Ok(ThemeFile::default()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let check = |text: &str, expected: &str| {
            let told = parse(text).unwrap_err().one_line();
            assert!(told.starts_with(expected), "{told}");
        };
        check(
            "acent = {}",
            "my.toml:1:1: unknown key `acent`, did you mean `accent`?",
        );
        check(
            "\ndim = { bolt = true }",
            "my.toml:2:9: unknown key `bolt`, did you mean `bold`?",
        );
        check("bad = { fg = \"rde\" }", "my.toml:1:14: ");
        check("bad = { fg = 256 }", "my.toml:1:14: ");
        check("bad = { fg = \"#ff80\" }", "my.toml:1:14: ");
        check("bad = { fg = \"#ff80ég\" }", "my.toml:1:14: ");
        check("bad = \"red\"", "my.toml:1:7: ");
        check("base = \"drak\"", "my.toml:1:8: ");
        check("text = {", "my.toml:1:");
        let near = parse("bad = { fg = \"bright-rde\" }").unwrap_err();
        assert!(near.message().ends_with("did you mean `bright-red`?"));
    }
}
