//! What a form shows, whatever it is for: the drawing and the mouse read it, and neither knows what
//! comes of it.

use std::borrow::Cow;

use super::suggestions::Suggestions;
use crate::domain::text;
use crate::tui::document::line::Line;
use crate::tui::field::Field;
use crate::tui::format;

/// A form as it stands.
#[derive(Debug)]
pub struct Sheet<'a> {
    /// Whose it is; empty: nobody's.
    pub owner: &'a str,
    /// What it is called.
    pub title: &'a str,
    /// What it is about.
    pub about: Cow<'a, str>,
    /// Its lines.
    pub rows: Vec<Row<'a>>,
    /// The place of the one with the focus.
    pub focus: usize,
    /// What comes of it, as far as it is filled in.
    pub preview: Option<&'a Line<'static>>,
    /// What there is to say, whichever line has the focus.
    pub remark: Option<Remark<'a>>,
    /// What may be typed in the line with the focus.
    pub suggestions: Option<&'a Suggestions>,
}

/// A line of a form.
#[derive(Debug)]
pub struct Row<'a> {
    /// What it is called.
    pub label: &'a str,
    /// What it means.
    pub about: Cow<'a, str>,
    /// What is to be filled in.
    pub input: Input<'a>,
    /// What stands behind it.
    pub word: Word,
}

/// What is to be filled in.
#[derive(Debug)]
pub enum Input<'a> {
    /// A text.
    Text(&'a Field),
    /// A text of which a part is not to be seen, as it is shown then.
    Masked(String),
    /// One of several words, and which.
    Choice(&'a [&'a str], usize),
    /// Nothing: Enter does this.
    Deed(&'static str),
}

/// What stands behind a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Nothing.
    None,
    /// Nothing comes of the form without it.
    Required,
    /// It may be left empty.
    Optional,
    /// Left empty, it is what the line shows.
    Proposed,
    /// Nothing comes of the form with it.
    Wrong(&'static str),
}

/// Something that is said below the lines.
#[derive(Debug)]
pub struct Remark<'a> {
    /// What.
    pub text: Cow<'a, str>,
    /// How it is meant.
    pub tone: Tone,
}

/// How a remark is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// By the way.
    Quiet,
    /// Something is not as it should be.
    Warn,
    /// Nothing comes of the form before this is mended: all of it is shown that finds room, rather
    /// than lines that are not being filled in.
    Fault,
    /// It is what everything waits for; shown like a fault.
    Busy,
    /// Something went wrong; shown like a fault, and of a long text the end too.
    Failed,
}

impl Tone {
    /// Whether it comes before the lines.
    #[must_use]
    pub const fn comes_first(self) -> bool {
        matches!(self, Self::Fault | Self::Busy | Self::Failed)
    }
}

impl Row<'_> {
    /// Whether something is missing that has to be filled in.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.word == Word::Required && self.is_empty()
    }

    /// Whether nothing is filled in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.input, Input::Text(field) if field.text().is_empty())
    }

    /// Whether what it means stands in the empty line itself, of so many columns, and is not cut.
    fn says_its_meaning(&self, columns: u16) -> bool {
        let width = text::width(&format::safe(&self.about));
        self.is_empty() && width <= usize::from(columns)
    }
}

impl Sheet<'_> {
    /// What there is to say where the line with the focus has so many columns: the remark, or what
    /// the line means, if it does not say so itself.
    #[must_use]
    pub fn hint(&self, columns: u16) -> (&str, Tone) {
        if let Some(remark) = &self.remark {
            return (&remark.text, remark.tone);
        }
        let row = self.rows.get(self.focus);
        let unsaid = row.filter(|row| !row.says_its_meaning(columns));
        (unsaid.map_or("", |row| &*row.about), Tone::Quiet)
    }
}
