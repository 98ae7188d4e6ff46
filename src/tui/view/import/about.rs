//! What is to be said of the selected line.

use std::path::Path;

use ratatui::style::Style;

use super::at_home;
use crate::app::import::{Found, Source, State};
use crate::config::import::{Candidate, LeftOut, Scope};
use crate::tui::format;
use crate::tui::import::choices::Choices;
use crate::tui::import::listing::Line;
use crate::tui::import::outcome::place;
use crate::tui::view_model::ViewModel;

/// All that is to be said of the selected line.
pub fn lines(view: &ViewModel<'_>, choices: &Choices, line: Line<'_>) -> Vec<(String, Style)> {
    let theme = view.theme;
    match line {
        Line::Source(source) => {
            let mut texts = vec![(whole_place(view, source), theme.text)];
            texts.push((counts(source), theme.dim));
            texts
        }
        Line::Broken(source) => {
            let error = source.error.as_ref();
            let error = error.map_or_else(String::new, crate::config::ConfigError::one_line);
            let error = at_home(&error, view.model.home.as_deref());
            vec![(error, theme.bad)]
        }
        Line::Server(_, found) => server(view, choices, found),
        Line::LeftOut(
            _,
            LeftOut {
                name,
                file,
                line,
                reason,
            },
        ) => {
            let file = format::path(file, view.model.home.as_deref());
            vec![
                (format!("{name} cannot be imported: {reason}"), theme.text),
                (format!("{file}:{line}"), theme.dim),
            ]
        }
        Line::LookedAt(_) => vec![(
            "Are yours elsewhere? On the command line: mcpdeck import FILE".to_owned(),
            theme.dim,
        )],
    }
}

fn whole_place(view: &ViewModel<'_>, source: &Source) -> String {
    let home = view.model.home.as_deref();
    let file = format::path(&source.file, home);
    match &source.scope {
        Scope::User => file,
        Scope::Project(folder) => {
            format!("{file}, for the project {}", format::path(folder, home))
        }
    }
}

fn counts(source: &Source) -> String {
    let of = |state| {
        source
            .servers
            .iter()
            .filter(move |found| found.state == state)
    };
    let parts = [
        (of(State::New).count(), "new"),
        (of(State::Different).count(), "different from yours"),
        (of(State::Equal).count(), "equal to yours"),
        (source.left_out.len(), "left out"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, words)| format!("{} {words}", format::grouped(*count)))
        .collect();
    parts.join(", ")
}

fn server(view: &ViewModel<'_>, choices: &Choices, found: &Found) -> Vec<(String, Style)> {
    let theme = view.theme;
    let home = view.model.home.as_deref();
    let Candidate {
        name,
        definition,
        file,
        line,
        ..
    } = &found.candidate;
    let mut texts = vec![(definition.target(), theme.text)];
    let ours = || ours(found, home);
    match found.state {
        State::New => {}
        State::Equal => texts.push((format!("You have the same in {}.", ours()), theme.good)),
        State::Different => {
            let words = format!(
                "You have another {name} in {}; if chosen, this one takes its place.",
                ours()
            );
            texts.push((words, theme.warn));
        }
    }
    for secret in &found.candidate.secrets {
        let place = place(&found.candidate, secret, home);
        let words = if choices.to_variables {
            format!(
                "${{{}}} takes the place of the secret in {place}.",
                secret.variable
            )
        } else {
            format!("A secret stands in plain text in {place}.")
        };
        texts.push((words, theme.warn));
    }
    let others = choices.others(found);
    if !others.is_empty() {
        let words = format!(
            "Also in {}; only one of a name can be chosen.",
            others.join(", ")
        );
        texts.push((words, theme.dim));
    }
    if !found.candidate.enabled {
        texts.push((
            "It is switched off there, and will be here.".to_owned(),
            theme.dim,
        ));
    }
    let remarks = found.candidate.remarks.iter();
    texts.extend(remarks.map(|remark| (remark.clone(), theme.dim)));
    texts.push((format!("{}:{line}", format::path(file, home)), theme.dim));
    texts
}

fn ours(found: &Found, home: Option<&Path>) -> String {
    let file = found.ours.as_deref();
    file.map_or_else(|| "your file".to_owned(), |file| format::path(file, home))
}
