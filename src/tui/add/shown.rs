//! What is shown of the form.

use std::borrow::Cow;
use std::time::Duration;

use super::draft::{KINDS, Slot};
use super::{Add, Stage, taken_in};
use crate::domain::{AppState, Failure, FailureKind, TransportKind};
use crate::tui::form::sheet::{Input, Remark, Row, Sheet, Tone, Word};
use crate::tui::format::{self, Clock};

impl Add {
    /// What is shown of it at the moment.
    #[must_use]
    pub fn sheet_at(&self, state: &AppState, clock: &Clock) -> Sheet<'_> {
        let passed = match self.stage {
            Stage::Busy { since, .. } => clock.since(since),
            Stage::Filling | Stage::Faulty(_) | Stage::Failed(_) => Duration::ZERO,
        };
        self.sheet(state, passed)
    }

    pub(super) fn sheet(&self, state: &AppState, passed: Duration) -> Sheet<'_> {
        let slots = self.slots();
        let is_focus = |slot: &Slot| *slot == self.focus;
        Sheet {
            owner: "",
            title: "Add a server",
            about: Cow::Borrowed(
                "Enter connects to it; if it answers, it is saved in your config file.",
            ),
            focus: slots.iter().position(is_focus).unwrap_or(0),
            rows: slots.iter().map(|slot| self.row(*slot, state)).collect(),
            preview: None,
            remark: self.remark(state, passed),
            suggestions: None,
        }
    }

    fn row(&self, slot: Slot, state: &AppState) -> Row<'_> {
        let draft = &self.draft;
        if slot == Slot::Anyway {
            return Row {
                label: label(slot),
                about: Cow::Borrowed(about(slot)),
                input: Input::Deed("Save anyway"),
                word: Word::None,
            };
        }
        let Some(field) = draft.field(slot) else {
            let place = KINDS.iter().position(|kind| *kind == draft.kind);
            return Row {
                label: label(slot),
                about: Cow::Borrowed(about(slot)),
                input: Input::Choice(&WORDS, place.unwrap_or(0)),
                word: Word::None,
            };
        };
        let masked = draft.masked(slot).filter(|_| slot != self.focus);
        let proposal = (slot == Slot::Name && field.text().is_empty())
            .then(|| draft.proposal(taken_in(state)))
            .flatten();
        let word = match slot {
            Slot::Command | Slot::Url => Word::Required,
            Slot::Name => match (draft.wrong_name(taken_in(state)), &proposal) {
                (Some((word, _)), _) => Word::Wrong(word),
                (None, Some(_)) => Word::Proposed,
                (None, None) => Word::None,
            },
            Slot::Variable(index) | Slot::Header(index) if index > 0 => Word::None,
            _ => Word::Optional,
        };
        Row {
            label: label(slot),
            about: proposal.map_or(Cow::Borrowed(about(slot)), Cow::Owned),
            input: masked.map_or(Input::Text(field), Input::Masked),
            word,
        }
    }

    fn remark(&self, state: &AppState, passed: Duration) -> Option<Remark<'_>> {
        let remark = |text: Cow<'static, str>, tone| Some(Remark { text, tone });
        match &self.stage {
            Stage::Busy { tested, .. } => {
                let deed = match (tested, self.draft.kind) {
                    (false, _) => "Saving it",
                    (true, TransportKind::Stdio) => "Starting it and waiting for its answer",
                    (true, TransportKind::Http | TransportKind::Sse) => {
                        "Calling it and waiting for its answer"
                    }
                };
                let text = format!("{deed} ... {} s", passed.as_secs());
                remark(text.into(), Tone::Busy)
            }
            Stage::Faulty(fault) => remark(fault.why.clone().into(), Tone::Fault),
            Stage::Failed(failure) => remark(failed(failure).into(), Tone::Failed),
            Stage::Filling => {
                if let Some((_, why)) = self.draft.wrong_name(taken_in(state)) {
                    return remark(why.into(), Tone::Fault);
                }
                let text = "It will stand in the file as typed; ${NAME} takes it from your \
                            environment instead.";
                let is_secret = self.draft.writes_secret(self.focus);
                is_secret
                    .then(|| remark(text.into(), Tone::Quiet))
                    .flatten()
            }
        }
    }
}

/// Why it was not added, with each line of stderr on a line of its own.
fn failed(failure: &Failure) -> String {
    let whole = format::failure(failure);
    let told = match whole.split_once("; stderr: ") {
        Some((before, stderr)) => format!("{before}; stderr:\n  {}", stderr.replace(" | ", "\n  ")),
        None => whole,
    };
    match failure.kind {
        FailureKind::Auth => format!("{told}\nSave it anyway, then log in with L."),
        _ => told,
    }
}

/// The words of the transports.
const WORDS: [&str; 3] = [KINDS[0].word(), KINDS[1].word(), KINDS[2].word()];

/// The transport whose word is shown at a column of the choice.
pub(super) fn kind_at(column: u16) -> Option<TransportKind> {
    let mut start = 0;
    KINDS.into_iter().find(|kind| {
        // A mark and a gap, and two gaps behind it.
        let end = start + kind.word().len() + 4;
        let is_here = (start..end).contains(&usize::from(column));
        start = end;
        is_here
    })
}

const fn label(slot: Slot) -> &'static str {
    match slot {
        Slot::Transport => "Transport",
        Slot::Command => "Command",
        Slot::Variable(0) => "Variable",
        Slot::Folder => "Folder",
        Slot::Url => "URL",
        Slot::Header(0) => "Header",
        Slot::Variable(_) | Slot::Header(_) => "  another",
        Slot::Name => "Name",
        Slot::Anyway => "",
    }
}

const fn about(slot: Slot) -> &'static str {
    match slot {
        Slot::Transport => "stdio starts a program, http and sse call a URL",
        Slot::Command => "as in a shell: npx -y some-server; or a URL",
        Slot::Variable(_) => "NAME=VALUE; NAME alone: from your environment",
        Slot::Folder => "where it runs, if not where mcpdeck was started",
        Slot::Url => "https://example.org/mcp",
        Slot::Header(_) => "Authorization: Bearer ${TOKEN}",
        Slot::Name => "what it is called here",
        Slot::Anyway => "without a test",
    }
}
