//! Colours by role. Nothing is told by colour alone, so that without colours nothing is lost.

use ratatui::style::{Color, Modifier, Style};

use super::document::line::Ink;
use super::format::Tone;
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

impl Theme {
    /// The theme of the name in the settings: `dark`, `light`, or `auto`, which takes the dark one
    /// unless the terminal tells that it is light.
    #[must_use]
    pub fn new(name: &str, ascii: bool, environment: &Environment) -> Self {
        let theme = if environment.no_color {
            Self::plain()
        } else if name == "light" || (name != "dark" && environment.is_light()) {
            Self::light()
        } else {
            Self::dark()
        };
        let paint = if ascii || environment.no_color {
            Paint::Characters
        } else if environment.true_color {
            Paint::True
        } else {
            Paint::Indexed
        };
        Self {
            paint,
            ascii,
            ..theme
        }
    }

    fn dark() -> Self {
        let accent = Style::new().fg(Color::Cyan);
        Self {
            text: Style::new(),
            dim: Style::new().fg(Color::Indexed(245)),
            accent,
            border: Style::new().fg(Color::Indexed(240)),
            focus: accent,
            selected: Style::new()
                .fg(Color::Indexed(255))
                .bg(Color::Indexed(24))
                .add_modifier(Modifier::BOLD),
            selected_dim: Style::new().fg(Color::Indexed(254)).bg(Color::Indexed(237)),
            good: Style::new().fg(Color::Green),
            warn: Style::new().fg(Color::Yellow),
            bad: Style::new().fg(Color::LightRed),
            found: Style::new().fg(Color::Indexed(16)).bg(Color::Indexed(222)),
            paint: Paint::Indexed,
            ascii: false,
        }
    }

    fn light() -> Self {
        let accent = Style::new().fg(Color::Indexed(25));
        Self {
            text: Style::new(),
            dim: Style::new().fg(Color::Indexed(243)),
            accent,
            border: Style::new().fg(Color::Indexed(248)),
            focus: accent,
            selected: Style::new()
                .fg(Color::Indexed(16))
                .bg(Color::Indexed(153))
                .add_modifier(Modifier::BOLD),
            selected_dim: Style::new().fg(Color::Indexed(16)).bg(Color::Indexed(254)),
            good: Style::new().fg(Color::Indexed(28)),
            warn: Style::new().fg(Color::Indexed(130)),
            bad: Style::new().fg(Color::Indexed(160)),
            found: Style::new().fg(Color::Indexed(16)).bg(Color::Indexed(222)),
            paint: Paint::Indexed,
            ascii: false,
        }
    }

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
            paint: Paint::Indexed,
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
        let theme = Theme::new(name, false, &environment);
        assert_eq!(theme.selected, expected.selected, "{name} {environment:?}");
    }

    #[test]
    fn the_theme_follows_the_settings_and_the_terminal() {
        let (dark, light, plain) = (Theme::dark(), Theme::light(), Theme::plain());
        check("auto", false, None, &dark);
        check("auto", false, Some("15;0"), &dark);
        check("auto", false, Some("0;15"), &light);
        check("auto", false, Some("0;default;15"), &light);
        check("dark", false, Some("0;15"), &dark);
        check("light", false, None, &light);
        check("light", true, None, &plain);
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
        ] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
