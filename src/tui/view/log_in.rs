//! A log-in under way: the page to open, and what is awaited. The field is in the footer.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::paint;
use super::question::{boxed, middle};
use crate::domain::text;
use crate::tui::layout::inside;
use crate::tui::log_in::{LogIn, Stage};
use crate::tui::view_model::ViewModel;
use crate::tui::wrap::wrap;

/// The most columns of the box: an address is long, and read by nobody.
const COLUMNS: u16 = 84;

/// Draws the box in the middle of the window.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>, log_in: &LogIn) {
    let Some(areas) = view.areas else {
        return;
    };
    let window = areas.window;
    let theme = view.theme;
    let columns = window.width.saturating_sub(4).min(COLUMNS);
    let width = usize::from(columns.saturating_sub(4));
    let mut lines: Vec<(String, Style)> = Vec::new();
    let mut say = |text: &str, style: Style| {
        lines.extend(wrap(text, width, 20).into_iter().map(|line| (line, style)));
    };
    match &log_in.stage {
        Stage::Asking => say("Asking the server where to log in ...", theme.text),
        Stage::Failed(why) => say(why, theme.warn),
        Stage::Waiting { page, foreign, .. } => {
            let what = if page.opened {
                "A browser was opened. Should it show nothing, open this page:"
            } else {
                "Open this page in a browser:"
            };
            say(what, theme.text);
            say(&page.url, theme.accent);
            say("Waiting until somebody has logged in there ...", theme.text);
            let ends = &page.redirect;
            let elsewhere = format!(
                "Is the browser on another machine? Paste the address that it ends at ({ends}?...) below."
            );
            say(&elsewhere, theme.dim);
            if *foreign {
                let what =
                    "That is not the address that this log-in ends at; paste the whole of it.";
                say(what, theme.warn);
            }
        }
    }
    let rows = lines.len() + 2;
    // The keys below stay seen.
    let most = window.height.saturating_sub(2);
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(most);
    let area = middle(window, columns, rows);
    let title = format!("Log in to {}", text::visible(log_in.server.as_str()));
    boxed(buffer, area, &title, theme.focus);
    let inner = paint::skip(inside(area), 1);
    for (index, (line, style)) in lines.iter().enumerate() {
        paint::put(buffer, paint::line(inner, index), line, *style);
    }
}
