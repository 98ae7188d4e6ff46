//! The title of the window, and the header of the selected server.

use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::paint;
use crate::domain::{ServerSnapshot, Status, text};
use crate::tui::format;
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

/// The header as spans of at most so many columns; what matters less goes first.
#[must_use]
pub fn server<'a>(view: &ViewModel<'_>, server: &'a ServerSnapshot, columns: u16) -> Vec<Span<'a>> {
    let theme = view.theme;
    let (glyph, style) = theme.glyph(&server.status);
    let columns = usize::from(columns.saturating_sub(2));
    let state = format!("{glyph} {}", server.status.word());
    let room = columns.saturating_sub(text::width(&state) + 2);
    let name = paint::safe(server.name.as_str());
    let name = text::fit(&name, room).into_owned();
    let mut left = room.saturating_sub(text::width(&name));
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(name, theme.accent.add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::styled(state, style),
    ];
    for (value, style) in facts(view, server) {
        let value = paint::safe(&value).into_owned();
        let width = text::width(&value) + 2;
        if width > left {
            break;
        }
        left -= width;
        spans.push(Span::raw("  "));
        spans.push(Span::styled(value, style));
    }
    spans.push(Span::raw(" "));
    spans
}

/// What else the header tells, the most important first.
fn facts(view: &ViewModel<'_>, server: &ServerSnapshot) -> Vec<(String, Style)> {
    let theme = view.theme;
    let mut facts = Vec::new();
    if let Status::Reconnecting {
        attempt,
        limit,
        due,
        ..
    } = server.status
    {
        let text = format::attempt(attempt, limit, due, &view.clock);
        facts.push((text, theme.warn));
    }
    if let Some(since) = server.catalog.old_since() {
        let text = format!("old since {}", view.clock.time(since));
        facts.push((text, theme.warn));
    }
    facts.push((server.transport.word().to_owned(), theme.text));
    let Some(session) = server.status.session() else {
        return facts;
    };
    if server.no_live_updates {
        facts.push(("no live updates".to_owned(), theme.warn));
    }
    facts.push((session.protocol_version.to_string(), theme.text));
    let up = format::lasting(view.clock.since(session.since));
    facts.push((format!("up {up}"), theme.text));
    if let Some(latency) = server.latency {
        facts.push((format::brief(latency), theme.text));
    }
    facts.push((format!("generation {}", server.generation), theme.dim));
    if !server.refreshing.is_empty() {
        facts.push(("↻ refreshing".to_owned(), theme.warn));
    }
    facts
}
