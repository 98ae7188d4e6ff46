//! Colours by role. Nothing is told by colour alone, so that without colours nothing is lost.

use std::path::Path;

use ratatui::style::{Color, Modifier, Style};

use super::document::line::Ink;
use super::format::Tone;
use crate::config::theme::{self, Base, Colour, Look, Role, ThemeFile};
use crate::domain::Status;

/// The styles of the roles.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// What is read.
    pub text: Style,
    /// What is secondary.
    pub dim: Style,
    /// What the eye should find first: titles, keys, the open tab.
    pub accent: Style,
    /// The frame of a pane without the focus.
    pub border: Style,
    /// The frame of the pane with the focus.
    pub focus: Style,
    /// The selected row of the pane with the focus.
    pub selected: Style,
    /// The selected row of another pane.
    pub selected_dim: Style,
    /// All is well.
    pub good: Style,
    /// Something is on its way, or old.
    pub warn: Style,
    /// Something failed.
    pub bad: Style,
    /// What was looked for and found.
    pub found: Style,
    /// How pictures are drawn.
    pub paint: Paint,
    /// Whether only ASCII may be drawn.
    pub ascii: bool,
}

/// How pictures are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// In any colour, two dots in a cell.
    True,
    /// In the 256 colours that most terminals have.
    Indexed,
    /// With characters that are dark or light.
    Characters,
}

/// What of the environment decides on colours.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Whether `NO_COLOR` is set and not empty (<https://no-color.org>).
    pub no_color: bool,
    /// Whether `COLORTERM` says that any colour can be shown.
    pub true_color: bool,
    /// `COLORFGBG`, by which some terminals tell their background: `15;0`.
    pub colorfgbg: Option<String>,
}

impl Environment {
    /// Reads it.
    #[must_use]
    pub fn read() -> Self {
        Self {
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            true_color: std::env::var("COLORTERM")
                .is_ok_and(|value| matches!(&*value, "truecolor" | "24bit")),
            colorfgbg: std::env::var("COLORFGBG").ok(),
        }
    }

    /// Whether the terminal tells that its background is light.
    fn is_light(&self) -> bool {
        let background = self
            .colorfgbg
            .as_deref()
            .and_then(|value| value.rsplit(';').next());
        matches!(background, Some("7" | "15"))
    }
}

/// The files of the themes that come with the program.
const fn shipped(base: Base) -> &'static str {
    match base {
        Base::Dark => include_str!("../../assets/themes/dark.toml"),
        Base::Light => include_str!("../../assets/themes/light.toml"),
        Base::HighContrast => include_str!("../../assets/themes/high-contrast.toml"),
    }
}

impl Theme {
    /// The theme of the file, if there is one, else that of the name in the settings: `dark`,
    /// `light`, `high-contrast`, or `auto`, which takes the dark one unless the terminal tells
    /// that it is light.
    #[must_use]
    pub fn new(
        name: &str,
        file: Option<&ThemeFile>,
        ascii: bool,
        environment: &Environment,
    ) -> Self {
        let paint = if ascii || environment.no_color {
            Paint::Characters
        } else if environment.true_color {
            Paint::True
        } else {
            Paint::Indexed
        };
        let start = Self {
            paint,
            ascii,
            ..Self::plain()
        };
        if environment.no_color {
            return start;
        }
        match (file, Base::named(name)) {
            (Some(file), _) => start
                .shipped(file.base.unwrap_or(Base::Dark))
                .dressed(&file.looks),
            (None, Some(base)) => start.shipped(base),
            (None, None) if environment.is_light() => start.shipped(Base::Light),
            (None, None) => start.shipped(Base::Dark),
        }
    }

    /// The theme that comes with the program. That it can be read and has all roles is proved by a
    /// test.
    fn shipped(self, base: Base) -> Self {
        match theme::read(Path::new("assets/themes"), shipped(base)) {
            Ok(file) => self.dressed(&file.looks),
            Err(_) => self,
        }
    }

    /// With these looks in the place of its own.
    fn dressed(mut self, looks: &[(Role, Look)]) -> Self {
        for (role, look) in looks {
            let style = style(look, self.paint);
            match role {
                Role::Text => self.text = style,
                Role::Dim => self.dim = style,
                Role::Accent => self.accent = style,
                Role::Border => self.border = style,
                Role::Focus => self.focus = style,
                Role::Selected => self.selected = style,
                Role::SelectedDim => self.selected_dim = style,
                Role::Good => self.good = style,
                Role::Warn => self.warn = style,
                Role::Bad => self.bad = style,
                Role::Found => self.found = style,
            }
        }
        self
    }

    /// Without colours.
    fn plain() -> Self {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().add_modifier(Modifier::DIM);
        Self {
            text: Style::new(),
            dim,
            accent: bold,
            border: dim,
            focus: bold,
            selected: Style::new().add_modifier(Modifier::REVERSED),
            selected_dim: Style::new().add_modifier(Modifier::UNDERLINED),
            good: Style::new(),
            warn: bold,
            bad: bold,
            found: Style::new().add_modifier(Modifier::REVERSED),
            paint: Paint::Characters,
            ascii: false,
        }
    }

    /// The style of a tone.
    #[must_use]
    pub const fn tone(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => self.text,
            Tone::Dim => self.dim,
            Tone::Warn => self.warn,
            Tone::Bad => self.bad,
        }
    }

    /// The style of a part of a document.
    #[must_use]
    pub const fn ink(&self, ink: Ink) -> Style {
        match ink {
            Ink::Plain => self.text,
            Ink::Dim => self.dim,
            Ink::Heading => self.accent.add_modifier(Modifier::BOLD),
            Ink::Strong => self.text.add_modifier(Modifier::BOLD),
            Ink::Emphasis => self.text.add_modifier(Modifier::ITALIC),
            Ink::Link => self.accent.add_modifier(Modifier::UNDERLINED),
            Ink::Key => self.accent,
            Ink::String | Ink::Good => self.good,
            Ink::Code | Ink::Number | Ink::Warn => self.warn,
            Ink::Bad => self.bad,
        }
    }

    /// The glyph of a status, and its style. The word always stands beside it.
    #[must_use]
    pub const fn glyph(&self, status: &Status) -> (&'static str, Style) {
        match status {
            Status::Connected(_) => ("●", self.good),
            Status::Connecting => ("◐", self.warn),
            Status::Reconnecting { .. } => ("◑", self.warn),
            Status::NeedsAuth(_) => ("!", self.warn),
            Status::Failed(_) => ("✗", self.bad),
            Status::Disabled => ("○", self.dim),
            Status::Untrusted => ("?", self.warn),
        }
    }
}

/// The look on a terminal that can paint so.
fn style(look: &Look, paint: Paint) -> Style {
    let colour = |colour: Colour| match colour {
        Colour::Indexed(index) => Color::Indexed(index),
        Colour::Rgb(rgb) => nearest(rgb, paint),
    };
    let mut style = Style::new();
    style.fg = look.fg.map(colour);
    style.bg = look.bg.map(colour);
    for (is, modifier) in [
        (look.bold, Modifier::BOLD),
        (look.dim, Modifier::DIM),
        (look.italic, Modifier::ITALIC),
        (look.underline, Modifier::UNDERLINED),
        (look.reverse, Modifier::REVERSED),
    ] {
        if is {
            style = style.add_modifier(modifier);
        }
    }
    style
}

/// The colour, or the nearest one of the 6x6x6 cube and the greys.
#[must_use]
pub fn nearest([red, green, blue]: [u8; 3], paint: Paint) -> Color {
    if paint == Paint::True {
        return Color::Rgb(red, green, blue);
    }
    let near = |a: u8, b: u8| a.abs_diff(b) < 10;
    if near(red, green) && near(green, blue) && (8..=238).contains(&green) {
        return Color::Indexed(232 + (green - 8) / 10);
    }
    // The levels of the cube are 0, 95, 135, 175, 215 and 255.
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    Color::Indexed(16 + 36 * level(red) + 6 * level(green) + level(blue))
}

/// What stands for a symbol where only ASCII may be drawn; `?` for texts of servers.
#[must_use]
pub fn ascii(symbol: &str) -> &'static str {
    match symbol {
        "─" | "○" => "-",
        "│" => "|",
        "╭" | "╮" | "╰" | "╯" | "├" | "┤" => "+",
        "●" => "*",
        "◑" => "@",
        "✗" => "x",
        "◐" | "↻" => "o",
        "▌" | "›" => ">",
        "‹" => "<",
        "…" => "~",
        "█" => "#",
        "·" => ".",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, no_color: bool, colorfgbg: Option<&str>, expected: &Theme) {
        let environment = Environment {
            no_color,
            colorfgbg: colorfgbg.map(str::to_owned),
            ..Environment::default()
        };
        let theme = Theme::new(name, None, false, &environment);
        assert_eq!(theme.selected, expected.selected, "{name} {environment:?}");
    }

    fn of(base: Base) -> Theme {
        Theme::plain().shipped(base)
    }

    #[test]
    fn the_theme_follows_the_settings_and_the_terminal() {
        let (dark, light, plain) = (of(Base::Dark), of(Base::Light), Theme::plain());
        check("auto", false, None, &dark);
        check("auto", false, Some("15;0"), &dark);
        check("auto", false, Some("0;15"), &light);
        check("auto", false, Some("0;default;15"), &light);
        check("dark", false, Some("0;15"), &dark);
        check("light", false, None, &light);
        check("high-contrast", false, None, &of(Base::HighContrast));
        check("light", true, None, &plain);
    }

    #[test]
    fn a_file_changes_the_roles_that_it_has() {
        let file = "base = \"light\"\naccent = { fg = \"#ff0000\", bold = true }\n";
        let file = theme::read(Path::new("my.toml"), file).unwrap();
        let check = |true_color: bool, accent: Color| {
            let environment = Environment {
                true_color,
                ..Environment::default()
            };
            let theme = Theme::new("my.toml", Some(&file), false, &environment);
            let expected = Style::new().fg(accent).add_modifier(Modifier::BOLD);
            assert_eq!(theme.accent, expected);
            assert_eq!(theme.selected, of(Base::Light).selected);
        };
        check(true, Color::Rgb(255, 0, 0));
        check(false, Color::Indexed(196));
        let environment = Environment {
            no_color: true,
            ..Environment::default()
        };
        let theme = Theme::new("my.toml", Some(&file), false, &environment);
        assert_eq!(theme.accent, Theme::plain().accent);
    }

    #[test]
    fn shipped_themes_can_be_read_and_have_every_role() {
        for base in [Base::Dark, Base::Light, Base::HighContrast] {
            let file = match theme::read(Path::new("shipped"), shipped(base)) {
                Ok(file) => file,
                Err(error) => panic!("{base:?}: {error}"),
            };
            for (name, role) in Role::ALL {
                let count = file.looks.iter().filter(|(of, _)| *of == role).count();
                assert_eq!(count, 1, "{name} of {base:?}");
            }
            assert_eq!(file.base, None);
        }
    }

    /// Relative luminance (WCAG 2.2) of one of the 240 colours that no terminal chooses itself.
    fn luminance(index: u8) -> f64 {
        let levels = [0, 95, 135, 175, 215, 255];
        let [red, green, blue] = if index >= 232 {
            [8 + 10 * (index - 232); 3]
        } else {
            let cube = usize::from(index) - 16;
            [levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6]]
        };
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    #[test]
    fn texts_have_contrast() {
        let check = |base: Base, background: u8, least: f64| {
            let file = theme::read(Path::new("shipped"), shipped(base)).unwrap();
            for (role, look) in file.looks {
                // A frame is no text; what the terminal chooses is not known.
                let Some(Colour::Indexed(fg @ 16..)) = look.fg else {
                    continue;
                };
                if role == Role::Border && base != Base::HighContrast {
                    continue;
                }
                let bg = match look.bg {
                    Some(Colour::Indexed(bg)) => bg,
                    _ => background,
                };
                let (one, two) = (luminance(fg), luminance(bg));
                let ratio = (one.max(two) + 0.05) / (one.min(two) + 0.05);
                assert!(ratio >= least, "{role:?} of {base:?}: {ratio:.1}");
            }
        };
        check(Base::Dark, 16, 4.5);
        check(Base::Light, 231, 4.5);
        check(Base::HighContrast, 16, 7.0);
    }

    #[test]
    fn without_colours_no_style_has_one() {
        let theme = Theme::plain();
        for style in [
            theme.text,
            theme.dim,
            theme.accent,
            theme.border,
            theme.focus,
            theme.selected,
            theme.selected_dim,
            theme.good,
            theme.warn,
            theme.bad,
            theme.found,
        ] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
