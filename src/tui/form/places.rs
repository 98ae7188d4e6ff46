//! Where everything of a form stands: in a box over the panes, as high as what it holds, and as
//! much of that as a small window has room for. The drawing and the mouse share it.

use ratatui::layout::{Position, Rect};

use super::sheet::Sheet;
use crate::domain::text;
use crate::tui::layout::{cover_area, inside};
use crate::tui::wrap::wrap;

/// The widest box.
const WIDEST: u16 = 96;

/// Below this many columns the box is as wide as the window.
const NARROW: u16 = 64;

/// The most rows of what the form is about, of the hint, of the preview, and of the suggestions.
const MOST: Rows = Rows {
    about: 3,
    hint: 2,
    meaning: 2,
    preview: 4,
};

/// The most rows of a remark that comes before the fields.
const MOST_NEWS: usize = 24;

const MOST_SUGGESTIONS: usize = 8;

/// The columns of `required` and `optional`.
pub const WORD: u16 = 8;

/// The columns of what stands before the preview.
pub const LABEL: u16 = 5;

/// The rows of the parts around the fields.
#[derive(Debug, Clone, Copy)]
struct Rows {
    about: usize,
    hint: usize,
    /// Those of the hint that the meaning of a field may take.
    meaning: u16,
    preview: usize,
}

/// The places. What has no room is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// The box with its frame.
    pub frame: Rect,
    /// What the form is about.
    pub about: Rect,
    /// The URI so far: above the fields, where no suggestions hide it.
    pub preview: Rect,
    /// The fields, each on a line.
    pub blanks: Rect,
    /// The first field that is shown.
    pub first: usize,
    /// What there is to say on the field with the focus.
    pub hint: Rect,
    /// The suggestions.
    pub popup: Option<Popup>,
    labels: u16,
    /// How many fields there are.
    count: usize,
}

/// Where the suggestions stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Popup {
    /// With the frame, if there is one.
    pub area: Rect,
    /// A line for each that is shown.
    pub rows: Rect,
    /// The first one that is shown.
    pub first: usize,
}

/// The parts of the line of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlankPlaces {
    /// The whole line.
    pub line: Rect,
    /// The label.
    pub label: Rect,
    /// The text.
    pub input: Rect,
    /// Whether it is required.
    pub word: Rect,
}

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// A field.
    Blank(usize),
    /// A suggestion.
    Suggestion(usize),
}

impl Places {
    /// The places in a window.
    #[must_use]
    pub fn of(sheet: &Sheet<'_>, window: Rect) -> Self {
        let room = cover_area(window);
        let columns = if room.width < NARROW {
            room.width
        } else {
            (room.width - 4).min(WIDEST)
        };
        let inner = Rect {
            x: room.x + (room.width - columns) / 2 + 2,
            width: columns.saturating_sub(4),
            ..room
        };
        let wanted = Rows::wanted(sheet, inner.width);
        let remark = sheet.remark.as_ref();
        let has_news = remark.is_some_and(|remark| remark.tone.comes_first());
        let rows = room.height.saturating_sub(2);
        let heights = Heights::of(wanted, sheet.rows.len(), rows, has_news);
        let height = heights.total() + 2;
        // A URI that grows makes the box grow upwards, and a remark downwards, so that the fields
        // stay where they are.
        let more = heights.preview.saturating_sub(1);
        let below = heights.hint.saturating_sub(wanted.meaning);
        let above = room.height.saturating_sub(height - more - below) / 3;
        let lowest = room.height.saturating_sub(height);
        let y = room.y + above.saturating_sub(more).min(lowest);
        let frame = Rect {
            x: inner.x.saturating_sub(2),
            y,
            width: columns,
            height: height.min(room.height),
        };
        let mut next = y + 1 + heights.padding;
        let mut part = |rows: u16| {
            let area = Rect {
                y: next,
                height: rows,
                ..inner
            };
            next += if rows > 0 { rows + heights.gap } else { 0 };
            area
        };
        let about = part(heights.about);
        let preview = part(heights.preview);
        let blanks = part(heights.blanks);
        let hint = part(heights.hint);
        let shown = usize::from(blanks.height);
        let widths = sheet.rows.iter().map(|row| columns_of(row.label));
        let mut places = Self {
            frame,
            about,
            preview,
            blanks,
            first: around(sheet.focus, shown, sheet.rows.len()),
            count: sheet.rows.len(),
            hint,
            popup: None,
            labels: widths.max().unwrap_or(0).min(inner.width / 3),
        };
        let Some(BlankPlaces { input, .. }) = places.blank(sheet.focus) else {
            return places;
        };
        if sheet.hint(input.width).0.is_empty() && places.hint.height > 0 {
            // The box ends above, and everything else stays where it is.
            places.frame.height -= places.hint.height + heights.gap;
            places.hint.height = 0;
        }
        places.popup = Popup::of(sheet, input, room);
        places
    }

    /// The parts of the line of the field, if it is shown.
    #[must_use]
    pub fn blank(&self, index: usize) -> Option<BlankPlaces> {
        let row = u16::try_from(index.checked_sub(self.first)?).ok()?;
        if row >= self.blanks.height {
            return None;
        }
        let line = Rect {
            y: self.blanks.y + row,
            height: 1,
            ..self.blanks
        };
        let part = |x: u16, width: u16| Rect { x, width, ..line };
        let label = part(line.x + 2, self.labels);
        let start = label.right() + 2;
        let end = line.right().saturating_sub(WORD + 2);
        Some(BlankPlaces {
            line,
            label,
            input: part(start, end.saturating_sub(start)),
            word: part(line.right().saturating_sub(WORD), WORD.min(line.width)),
        })
    }

    /// What is at the place.
    #[must_use]
    pub fn spot(&self, (x, y): (u16, u16)) -> Option<Spot> {
        let at = Position::new(x, y);
        if let Some(popup) = self.popup.filter(|popup| popup.area.contains(at)) {
            let row = popup.rows.contains(at).then(|| y - popup.rows.y)?;
            return Some(Spot::Suggestion(popup.first + usize::from(row)));
        }
        let row = self.blanks.contains(at).then(|| y - self.blanks.y)?;
        let place = self.first + usize::from(row);
        (place < self.count).then_some(Spot::Blank(place))
    }
}

impl Popup {
    /// The suggestions stand below their field, or above it where there is more room.
    fn of(sheet: &Sheet<'_>, input: Rect, room: Rect) -> Option<Self> {
        let suggestions = sheet.suggestions?;
        let values = suggestions.values();
        let widest = values.iter().map(|value| columns_of(value)).max()?;
        let x = input.x.saturating_sub(2).max(room.x);
        let least = columns_of(&suggestions.count()) + 4;
        let width = widest.saturating_add(4).max(least).max(12);
        let below = room.bottom().saturating_sub(input.bottom());
        let above = input.y.saturating_sub(room.y);
        let wanted = values.len().min(MOST_SUGGESTIONS) + 2;
        let wanted = u16::try_from(wanted).unwrap_or(u16::MAX);
        let goes_up = below < wanted && above > below;
        let height = wanted.min(if goes_up { above } else { below });
        let area = Rect {
            x,
            y: if goes_up {
                input.y - height
            } else {
                input.bottom()
            },
            width: width.min(room.right().saturating_sub(x)),
            height,
        };
        // Two rows are better used for suggestions than for a frame.
        let rows = if height < 3 { area } else { inside(area) };
        let shown = usize::from(rows.height).min(values.len());
        Some(Self {
            area,
            rows: Rect {
                height: u16::try_from(shown).unwrap_or(rows.height),
                ..rows
            },
            first: around(suggestions.place().unwrap_or(0), shown, values.len()),
        })
    }

    /// Whether there is room for a frame.
    #[must_use]
    pub const fn is_framed(&self) -> bool {
        self.area.x < self.rows.x
    }
}

impl Rows {
    /// How many rows each part would take on so many columns.
    fn wanted(sheet: &Sheet<'_>, columns: u16) -> Self {
        let columns = usize::from(columns);
        let rows = |text: &str, most| wrap(text, columns, most).len();
        let meanings = sheet.rows.iter().map(|row| rows(&row.about, MOST.hint));
        let meaning = meanings.max().unwrap_or(0);
        let remark = sheet.remark.as_ref().map_or(0, |remark| {
            let most = if remark.tone.comes_first() {
                MOST_NEWS
            } else {
                MOST.hint
            };
            rows(&remark.text, most)
        });
        let preview = sheet.preview.map(|line| {
            let rows = line.rows(columns.saturating_sub(usize::from(LABEL)));
            rows.len().min(MOST.preview)
        });
        Self {
            about: rows(&sheet.about, MOST.about),
            hint: meaning.max(remark),
            meaning: u16::try_from(meaning).unwrap_or(u16::MAX),
            preview: preview.unwrap_or(0),
        }
    }
}

/// The rows that each part gets.
#[derive(Debug, Clone, Copy, Default)]
struct Heights {
    padding: u16,
    gap: u16,
    about: u16,
    blanks: u16,
    hint: u16,
    preview: u16,
}

impl Heights {
    /// Shares out the rows: first what one cannot do without, which the hint may be.
    fn of(wanted: Rows, blanks: usize, rows: u16, has_news: bool) -> Self {
        /// So many fields come before everything but a line of preview.
        const FEW: usize = 3;
        let mut left = rows;
        let mut give = |wanted: usize| {
            let given = u16::try_from(wanted).unwrap_or(u16::MAX).min(left);
            left -= given;
            given
        };
        let mut heights = Self {
            blanks: give(1),
            preview: give(wanted.preview.min(1)),
            ..Self::default()
        };
        if has_news {
            heights.hint = give(wanted.hint);
        }
        heights.blanks += give(blanks.min(FEW).saturating_sub(1));
        heights.hint += give(usize::from(wanted.hint > 0 && heights.hint == 0));
        heights.blanks += give(blanks.saturating_sub(FEW));
        heights.preview += give(wanted.preview.saturating_sub(1));
        let parts = [wanted.about, wanted.hint, wanted.preview];
        let gaps = parts.iter().filter(|rows| **rows > 0).count();
        let has_gaps = usize::from(left) >= gaps + wanted.about;
        let mut give = |wanted: usize| {
            let given = u16::try_from(wanted).unwrap_or(u16::MAX).min(left);
            left -= given;
            given
        };
        if has_gaps {
            give(gaps);
            heights.gap = 1;
        }
        heights.about = give(wanted.about);
        heights.hint += give(wanted.hint.saturating_sub(usize::from(heights.hint)));
        heights.padding = give(2) / 2;
        heights
    }

    fn total(&self) -> u16 {
        let parts = [self.about, self.blanks, self.hint, self.preview];
        let shown = parts.iter().filter(|rows| **rows > 0).count();
        let gaps = u16::try_from(shown.saturating_sub(1)).unwrap_or(0) * self.gap;
        parts.iter().sum::<u16>() + gaps + self.padding * 2
    }
}

fn columns_of(value: &str) -> u16 {
    u16::try_from(text::width(&crate::tui::format::safe(value))).unwrap_or(u16::MAX)
}

/// The first of so many shown ones, so that the place is in their middle.
fn around(place: usize, shown: usize, all: usize) -> usize {
    place
        .saturating_sub(shown / 2)
        .min(all.saturating_sub(shown))
}
