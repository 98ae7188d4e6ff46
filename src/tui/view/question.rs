//! A question over the panes. Only `y` is yes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};

use super::paint;
use crate::tui::layout::inside;
use crate::tui::question::Question;
use crate::tui::save;
use crate::tui::view_model::ViewModel;
use crate::tui::wrap::wrap;

/// Draws the question in the middle of the window.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, question: &Question) {
    let (title, lines) = words(question);
    ask(buffer, view, title, &lines);
}

/// Draws a question of the words in the middle of the window.
pub fn ask(buffer: &mut Buffer, view: &ViewModel<'_>, title: &str, lines: &[String]) {
    let Some(areas) = view.areas else {
        return;
    };
    let theme = view.theme;
    let columns = areas.window.width.saturating_sub(4).min(64);
    let most = usize::from(areas.window.height.saturating_sub(4)).max(1);
    let mut text = wrap(&lines.join("\n"), usize::from(columns - 4), most + 1);
    // What is approved unseen is no question.
    if text.len() > most {
        text.truncate(most - 1);
        text.push("... more: enlarge the window".to_owned());
    }
    let rows = u16::try_from(text.len() + 4).unwrap_or(u16::MAX);
    let area = middle(areas.window, columns, rows.min(areas.window.height));
    boxed(buffer, area, title, theme.warn);
    let inner = paint::skip(inside(area), 1);
    for (index, text) in text.iter().enumerate() {
        paint::put(buffer, paint::line(inner, index), text, theme.text);
    }
    let bold = theme.accent.add_modifier(Modifier::BOLD);
    let answers = paint::line(inner, usize::from(inner.height.saturating_sub(1)));
    paint::row(
        buffer,
        answers,
        [
            ("y", bold),
            (" yes   ", theme.dim),
            ("any other key", bold),
            (" no", theme.dim),
        ],
    );
}

/// An empty box with a title.
pub fn boxed(buffer: &mut Buffer, area: Rect, title: &str, style: Style) {
    Clear.render(area, buffer);
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(style)
        .title_top(Line::from(Span::styled(format!(" {title} "), style)))
        .render(area, buffer);
}

/// An area of the size in the middle of another.
#[must_use]
pub const fn middle(window: Rect, columns: u16, rows: u16) -> Rect {
    Rect {
        x: window.x + window.width.saturating_sub(columns) / 2,
        y: window.y + window.height.saturating_sub(rows) / 2,
        width: columns,
        height: rows,
    }
}

fn words(question: &Question) -> (&'static str, Vec<String>) {
    match question {
        Question::Enable(name) => (
            "enable?",
            vec![format!("{name} is switched off. Enable it?")],
        ),
        Question::Replace(file) => (
            "Replace?",
            vec![format!(
                "{} is there already. Replace it?",
                save::shown(&file.path)
            )],
        ),
        Question::Trust(name, described) => {
            let mut lines = vec![
                format!("{name} is of a project file. Start it, now and from now on?"),
                String::new(),
            ];
            lines.extend(described.iter().map(ToString::to_string));
            ("Trust?", lines)
        }
        Question::Remove(name, place) => {
            let mut lines = vec![match &place.file {
                Some(file) => format!("Remove {name} from {}?", file.display()),
                None => format!("Remove {name} for this run? No file is changed."),
            }];
            if let Some(file) = &place.uncovers {
                let file = file.display();
                lines.push(format!("Then the entry in {file} will apply again."));
            }
            ("Remove?", lines)
        }
    }
}
