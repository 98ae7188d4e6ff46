//! The footer: the keys that work here, a notice, or the filter being typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{field, paint};
use crate::domain::text;
use crate::tui::action::Command;
use crate::tui::add::Offer;
use crate::tui::field::Field;
use crate::tui::form::Form;
use crate::tui::format;
use crate::tui::import::{Import, Stage as Importing};
use crate::tui::keymap::binding;
use crate::tui::layer::Layer;
use crate::tui::layout::Pane;
use crate::tui::log_in::Stage;
use crate::tui::offer::commands;
use crate::tui::view_model::ViewModel;

/// Draws the footer, and says where the cursor belongs.
pub fn draw(buffer: &mut Buffer, view: &ViewModel<'_>) -> Option<(u16, u16)> {
    let area = paint::skip(view.areas?.footer, 1);
    if let Some(notice) = &view.model.notice {
        let style = if notice.bad {
            view.theme.warn
        } else {
            view.theme.good
        };
        paint::put(buffer, area, &notice.text, style);
        return None;
    }
    match view.model.layers.top() {
        None => hints(buffer, view, area, &commands(view.model, view.state)),
        Some(Layer::Filter(field)) => return Some(filter(buffer, view, area, field)),
        Some(Layer::Find(find)) => {
            let found = &find.found;
            let count = format!("{} of {}", found.total, found.of);
            let answers = [("Enter", "go there"), ("Esc", "back")];
            return Some(input(
                buffer,
                view,
                area,
                "find: ",
                &find.field,
                &count,
                &answers,
            ));
        }
        Some(Layer::Import(import)) => import_keys(buffer, view, area, import),
        Some(Layer::Reader(reader)) => named(buffer, view, area, &reader.commands()),
        Some(Layer::Search(field)) => return Some(search(buffer, view, area, field)),
        Some(Layer::Form(form)) => keys(buffer, view, area, &form_keys(form)),
        Some(Layer::Add(add)) => keys(buffer, view, area, add_keys(add.offer())),
        Some(Layer::Save(save)) => {
            let answers = [("Enter", "save"), ("Esc", "not at all")];
            let label = "save to: ";
            return Some(input(buffer, view, area, label, &save.field, "", &answers));
        }
        Some(Layer::LogIn(log_in)) => match &log_in.stage {
            Stage::Waiting { field, .. } => {
                let answers = [
                    ("Enter", "take it"),
                    ("Esc", "cancel"),
                    ("Tab", "copy the page's address"),
                ];
                let label = "where it ended: ";
                return Some(input(buffer, view, area, label, field, "", &answers));
            }
            Stage::Asking => keys(buffer, view, area, &[("Esc", "cancel")]),
            Stage::Failed(_) => keys(buffer, view, area, &[("Esc", "close")]),
        },
        Some(Layer::Welcome(_)) => {
            let offered = [Command::Import, Command::Add, Command::Back];
            hints(buffer, view, area, &offered);
        }
        Some(Layer::Help(_)) => hints(buffer, view, area, &[Command::Up, Command::Back]),
        Some(Layer::Question(_)) => keys(buffer, view, area, &YES_OR_NO),
    }
    None
}

/// What to do where there is no config.
pub fn hint(buffer: &mut Buffer, view: &ViewModel<'_>) {
    let Some(areas) = view.areas else {
        return;
    };
    let key = |command: Command| view.keymap.shown(command).unwrap_or_default();
    let text = format!(
        "Built-in demo. Your own servers: {} copies them from other tools, {} adds one",
        key(Command::Import),
        key(Command::Add)
    );
    paint::put(buffer, paint::skip(areas.hint, 1), &text, view.theme.accent);
}

/// How a question is answered.
const YES_OR_NO: [(&str, &str); 2] = [("y", "yes"), ("any other key", "no")];

/// The keys of the import: those of the key map in its words, and two that work there alone.
fn import_keys(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, import: &Import) {
    let key = |command: Command, words: &str| {
        let key = view.keymap.shown(command)?;
        Some((key, words.to_owned()))
    };
    let fixed = |key: &str, words: &str| Some((key.to_owned(), words.to_owned()));
    let hints = match &import.stage {
        Importing::Asking(_) => return keys(buffer, view, area, &YES_OR_NO),
        Importing::Copying(..) => return,
        Importing::Choosing(choices) if !choices.listing.is_empty() => {
            let secrets = choices.listing.has_secrets;
            let variables = if choices.to_variables {
                "plain secrets"
            } else {
                "use variables"
            };
            vec![
                key(Command::Open, "import").filter(|_| choices.chosen().next().is_some()),
                fixed("v", variables).filter(|_| secrets),
                key(Command::Toggle, "choose").filter(|_| choices.can_toggle()),
                key(Command::Back, "back"),
                fixed("a", "whole file").filter(|_| choices.can_toggle_source()),
                key(Command::Filter, "filter"),
                key(Command::Refresh, "scan again"),
            ]
        }
        Importing::Scanning(_) => vec![key(Command::Back, "back")],
        Importing::Choosing(_) | Importing::Broken(_) | Importing::Done(_) => vec![
            key(Command::Back, "back"),
            key(Command::Refresh, "scan again"),
        ],
    };
    fitted(buffer, view, area, hints.into_iter().flatten());
}

/// The keys of a form. Of a text field they are the same for everyone.
fn form_keys(form: &Form) -> Vec<(&'static str, &'static str)> {
    let suggestions = form.suggestions();
    let mut keys = Vec::new();
    if suggestions.chosen().is_some() {
        keys.extend([("Enter", "take it"), ("Up/Down", "choose")]);
    } else if suggestions.are_open() {
        keys.extend([("Down", "choose"), ("Enter", form.deed())]);
    } else {
        keys.push(("Enter", form.deed()));
    }
    if form.blanks().len() > 1 && suggestions.chosen().is_none() {
        keys.push(("Tab", "next field"));
    }
    let back = if suggestions.are_open() {
        "close the list"
    } else {
        "back"
    };
    keys.push(("Esc", back));
    keys
}

/// The keys of the form for a new server.
const fn add_keys(offer: Offer) -> &'static [(&'static str, &'static str)] {
    match offer {
        Offer::Choose => &[
            ("Left/Right", "choose"),
            ("Tab", "next field"),
            ("Enter", "test and save"),
            ("Esc", "back"),
        ],
        Offer::Fill => &[
            ("Enter", "test and save"),
            ("Tab", "next field"),
            ("Esc", "back"),
        ],
        Offer::Cancel => &[("Esc", "cancel")],
        Offer::Retry => &[
            ("Enter", "retry"),
            ("Down", "to save anyway"),
            ("Esc", "back"),
            ("Tab", "next field"),
        ],
        Offer::Anyway => &[
            ("Enter", "save anyway"),
            ("Up", "to the fields"),
            ("Esc", "back"),
        ],
    }
}

/// The commands, in the words of the key map.
fn hints(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, commands: &[Command]) {
    let named: Vec<(Command, &str)> = commands.iter().copied().map(in_words).collect();
    self::named(buffer, view, area, &named);
}

fn in_words(command: Command) -> (Command, &'static str) {
    let words = match command {
        Command::Up => "scroll",
        command => binding(command).hint,
    };
    (command, words)
}

/// The commands, each with a word or two on what it does here.
fn named(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, commands: &[(Command, &str)]) {
    let shown = |(command, words): &(Command, &'_ str)| {
        let key = view.keymap.shown(*command)?;
        let key = match command {
            Command::Up => format!("{key}/{}", view.keymap.shown(Command::Down)?),
            _ => key,
        };
        Some((key, (*words).to_owned()))
    };
    fitted(buffer, view, area, commands.iter().filter_map(shown));
}

/// Keys and what they do, as many as there is room for. Help always fits, and on the main screen
/// quit: elsewhere its key only closes what is open.
fn fitted(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    hints: impl Iterator<Item = (String, String)>,
) {
    let shown = |(command, words): &(Command, &str)| {
        Some((view.keymap.shown(*command)?, (*words).to_owned()))
    };
    let always: &[Command] = match view.model.layers.top() {
        None => &[Command::Help, Command::Quit],
        Some(_) => &[Command::Help],
    };
    let always = always.iter().copied().map(in_words);
    let always: Vec<(String, String)> = always.filter_map(|hint| shown(&hint)).collect();
    let width = |hint: &(String, String)| text::width(&hint.0) + text::width(&hint.1) + 3;
    let mut room = usize::from(area.width).saturating_sub(always.iter().map(width).sum());
    let mut chosen: Vec<(String, String)> = Vec::new();
    for hint in hints {
        if width(&hint) > room {
            break;
        }
        room -= width(&hint);
        chosen.push(hint);
    }
    chosen.extend(always);
    let chosen: Vec<(&str, &str)> = chosen
        .iter()
        .map(|(key, words)| (&**key, &**words))
        .collect();
    keys(buffer, view, area, &chosen);
}

/// Keys and what they do.
fn keys(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, keys: &[(&str, &str)]) {
    let theme = view.theme;
    let mut rest = area;
    for (key, words) in keys {
        // Half a word says nothing.
        if text::width(key) + 1 + text::width(words) > usize::from(rest.width) {
            continue;
        }
        let bold = theme.accent.add_modifier(Modifier::BOLD);
        rest = paint::row(
            buffer,
            rest,
            [
                (*key, bold),
                (" ", theme.dim),
                (*words, theme.dim),
                ("  ", theme.dim),
            ],
        );
    }
}

/// The field of the filter, and what it leaves.
fn filter(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, field: &Field) -> (u16, u16) {
    let (shown, total) = match view.model.focus {
        Pane::Servers => (view.model.servers.len(), view.state.servers.len()),
        Pane::List | Pane::Details => (view.model.list.len(), view.model.list.rows().len()),
    };
    let count = format!("{shown} of {total}");
    let answers = [("Enter", "keep"), ("Esc", "clear")];
    input(buffer, view, area, "/", field, &count, &answers)
}

/// The field for what is looked for in the reader or the import.
fn search(buffer: &mut Buffer, view: &ViewModel<'_>, area: Rect, field: &Field) -> (u16, u16) {
    let answers = [("Enter", "keep"), ("Esc", "clear")];
    let left = view.model.layers.seen().find_map(|layer| match layer {
        Layer::Import(import) => Some(import.left()),
        _ => None,
    });
    let remark = left.unwrap_or_default();
    input(buffer, view, area, "/", field, &remark, &answers)
}

/// A text field with a word before it, a remark behind it, and its keys.
fn input(
    buffer: &mut Buffer,
    view: &ViewModel<'_>,
    area: Rect,
    label: &str,
    field: &Field,
    remark: &str,
    answers: &[(&str, &str)],
) -> (u16, u16) {
    let theme = view.theme;
    let rest = paint::row(buffer, area, [(label, theme.accent)]);
    // The remark and the keys have the rest of the line.
    let columns = text::width(&format::safe(field.text())) + 1;
    let columns = u16::try_from(columns).unwrap_or(u16::MAX);
    let place = Rect {
        width: columns.min((area.width / 2).max(8)).min(rest.width),
        ..rest
    };
    let cursor = field::draw(buffer, place, field, theme.text);
    let mut behind = paint::skip(rest, place.width);
    let remark = if remark.is_empty() {
        "  ".to_owned()
    } else {
        format!("  {remark}   ")
    };
    behind = paint::row(buffer, behind, [(remark.as_str(), theme.dim)]);
    keys(buffer, view, behind, answers);
    cursor
}
