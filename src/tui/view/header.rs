//! The title of the window, and the header of the selected server.

use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::paint;
use crate::domain::{ServerSnapshot, text};
use crate::tui::format;
use crate::tui::headline::Headline;
use crate::tui::view_model::ViewModel;

/// ` mcpdeck   6 servers: 4 connected, 1 reconnecting, 1 failed      ~/.config/mcpdeck`.
pub fn title(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let Some(areas) = view.areas else {
        return;
    };
    let theme = view.theme;
    let line = paint::skip(areas.title, 1);
    let name = theme.accent.add_modifier(Modifier::BOLD);
    let mut rest = paint::row(buffer, line, [("mcpdeck", name), ("   ", theme.text)]);
    let servers = format::plural(view.state.servers.len(), "server");
    let tally = tally(view);
    let words = tally
        .iter()
        .map(|(word, count, _)| format!("{count} {word}"));
    let words: usize = words.map(|part| text::width(&part) + 2).sum();
    let in_words = text::width(&servers) + words <= usize::from(rest.width);
    rest = paint::row(buffer, rest, [(servers.as_str(), theme.text)]);
    for (index, (word, count, (glyph, style))) in tally.into_iter().enumerate() {
        let (lead, part) = match (in_words, index) {
            (true, 0) => (": ", format!("{count} {word}")),
            (true, _) => (", ", format!("{count} {word}")),
            (false, _) => (" ", format!("{glyph}{count}")),
        };
        rest = paint::row(buffer, rest, [(lead, theme.dim), (part.as_str(), style)]);
    }
    let label = format!("  {} ", view.model.label);
    paint::put_right(buffer, rest, &label, theme.dim);
}

/// How many servers have each status, in the order in which a person asks.
fn tally(view: &ViewModel<'_>) -> Vec<(&'static str, usize, (&'static str, Style))> {
    const WORDS: [&str; 7] = [
        "connected",
        "connecting",
        "reconnecting",
        "needs-auth",
        "failed",
        "untrusted",
        "disabled",
    ];
    WORDS
        .into_iter()
        .filter_map(|word| {
            let mut servers = view
                .state
                .servers
                .iter()
                .filter(|server| server.status.word() == word);
            let first = servers.next()?;
            let glyph = view.theme.glyph(&first.status);
            Some((word, servers.count() + 1, glyph))
        })
        .collect()
}

/// The header of the server as spans of at most so many columns.
#[must_use]
pub fn server<'a>(view: &ViewModel<'_>, server: &ServerSnapshot, columns: u16) -> Vec<Span<'a>> {
    let theme = view.theme;
    let headline = Headline::of(server, &view.clock, usize::from(columns));
    let (glyph, style) = theme.glyph(&server.status);
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(headline.name, theme.accent.add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::styled(format!("{glyph} {}", headline.status), style),
    ];
    for fact in headline.facts {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(fact.text, theme.tone(fact.tone)));
    }
    spans.push(Span::raw(" "));
    spans
}
