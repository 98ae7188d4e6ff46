//! The line of tabs: what each says, and where it stands. The mouse needs both as well.

use std::ops::Range;

use super::rows::{ErrorRow, Tab, Trouble};
use crate::domain::text;
use crate::domain::{Freshness, ServerSnapshot};

/// One tab on the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Which one.
    pub tab: Tab,
    /// Its columns, from the start of the line.
    pub columns: Range<usize>,
    /// Its number on the keyboard, where there is room for it.
    pub number: Option<usize>,
    /// Its title, as short as it has to be; may be empty.
    pub title: &'static str,
    /// How many rows it has.
    pub count: Option<usize>,
    /// Whether it shows old data.
    pub old: bool,
    /// Whether something is wrong there.
    pub bad: bool,
}

/// How much of each tab is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Number, title, count.
    Full,
    /// Titles and counts.
    Titles,
    /// The same, closer together.
    CloseTitles,
    /// Short titles and counts.
    Short,
    /// The same, closer together.
    CloseShort,
    /// Numbers, and the open tab in full.
    OpenOnly,
}

/// The tabs on a line of so many columns, as wordy as it allows. The open one keeps its title.
#[must_use]
pub fn labels(server: Option<&ServerSnapshot>, open: Tab, columns: usize) -> Vec<Label> {
    let fits = |labels: &Vec<Label>| {
        labels
            .last()
            .is_none_or(|label| label.columns.end <= columns)
    };
    [
        Detail::Full,
        Detail::Titles,
        Detail::CloseTitles,
        Detail::Short,
        Detail::CloseShort,
    ]
    .into_iter()
    .map(|detail| at_detail(server, open, detail))
    .find(fits)
    .unwrap_or_else(|| at_detail(server, open, Detail::OpenOnly))
}

fn at_detail(server: Option<&ServerSnapshot>, open: Tab, detail: Detail) -> Vec<Label> {
    let mut end = 0;
    let mut labels: Vec<Label> = Vec::with_capacity(Tab::ALL.len());
    for tab in Tab::ALL {
        let mut label = label(server, tab, tab == open, detail);
        let beside_open = tab == open || labels.last().is_some_and(|label| label.tab == open);
        let gap = match detail {
            _ if labels.is_empty() => 0,
            Detail::Full | Detail::Titles | Detail::Short => 2,
            Detail::OpenOnly if beside_open => 3,
            Detail::CloseTitles | Detail::CloseShort | Detail::OpenOnly => 1,
        };
        let start = end + gap;
        end = start + text::width(&label.text());
        label.columns = start..end;
        labels.push(label);
    }
    labels
}

fn label(server: Option<&ServerSnapshot>, tab: Tab, is_open: bool, detail: Detail) -> Label {
    let (long, short) = tab.titles();
    let (count, old, bad) = server.map_or((None, false, false), |server| facts(server, tab));
    let bare = detail == Detail::OpenOnly && !is_open;
    let numbered = matches!(detail, Detail::Full | Detail::OpenOnly);
    Label {
        tab,
        columns: 0..0,
        number: numbered.then_some(tab.index() + 1),
        title: match detail {
            _ if is_open => long,
            Detail::Full | Detail::Titles | Detail::CloseTitles => long,
            Detail::Short | Detail::CloseShort => short,
            Detail::OpenOnly => "",
        },
        count: count.filter(|_| !bare),
        old,
        bad,
    }
}

impl Label {
    /// What it says: `1 Resources 9 old`.
    #[must_use]
    pub fn text(&self) -> String {
        let number = self.number.map(|number| number.to_string());
        let count = self.count.map(|count| count.to_string());
        let parts = [
            number.as_deref().unwrap_or_default(),
            self.title,
            count.as_deref().unwrap_or_default(),
            if self.old { "old" } else { "" },
            // Without a title there is no count, so the number tells that something is wrong.
            if self.bad && self.title.is_empty() {
                "!"
            } else {
                ""
            },
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Count, whether old, whether something is wrong.
fn facts(server: &ServerSnapshot, tab: Tab) -> (Option<usize>, bool, bool) {
    match tab {
        Tab::Items(method) => {
            let freshness = server.catalog.freshness(method);
            (
                server.catalog.count(method),
                matches!(freshness, Freshness::Old { .. }),
                freshness == Freshness::Failed,
            )
        }
        Tab::Errors => {
            let rows = ErrorRow::of(server);
            let bad = rows.iter().any(|row| matches!(row.what, Trouble::Error(_)));
            ((!rows.is_empty()).then_some(rows.len()), false, bad)
        }
        Tab::Events | Tab::Stderr | Tab::Trace => (None, false, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ListMethod;

    #[test]
    fn the_line_is_as_wordy_as_it_may_be() {
        let check = |columns, expected: &str| {
            let labels = labels(None, Tab::Items(ListMethod::Tools), columns);
            let texts: Vec<String> = labels.iter().map(Label::text).collect();
            assert_eq!(texts.join("  "), expected);
            assert!(labels.last().unwrap().columns.end <= columns);
        };
        check(
            100,
            "1 Resources  2 Templates  3 Tools  4 Prompts  5 Errors  6 Events  7 Stderr  8 Trace",
        );
        check(
            69,
            "Resources  Templates  Tools  Prompts  Errors  Events  Stderr  Trace",
        );
        check(42, "Res  Tpl  Tools  Pro  Err  Ev  Std  Tr");
        check(29, "1  2  3 Tools  4  5  6  7  8");
    }
}
