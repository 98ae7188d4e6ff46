//! Where everything stands, worked out from the window's size and the focus alone.
//!
//! Plain arithmetic: the update needs the heights of lists, and the mouse needs to know what it
//! hit, so both share this with the drawing.

use ratatui::layout::Rect;

/// The panes that can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The servers, on the left.
    Servers,
    /// The open tab of the selected server.
    List,
    /// Everything about the selected row or server.
    Details,
}

/// Below this many columns one pane is shown at a time.
pub const NARROW: u16 = 80;

/// The smallest window that is drawn in: columns and rows.
pub const SMALLEST: (u16, u16) = (30, 7);

/// The areas of a window. Those that are not shown are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Areas {
    /// The whole window.
    pub window: Rect,
    /// The program's name, and how the servers stand.
    pub title: Rect,
    /// The servers with their frame.
    pub servers: Rect,
    /// Header, tabs and list with their frame.
    pub main: Rect,
    /// The details with their frame.
    pub details: Rect,
    /// How to add servers, where there is no config.
    pub hint: Rect,
    /// The newest event.
    pub event: Rect,
    /// The keys that work here.
    pub footer: Rect,
}

/// What of the content decides on the areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Whether there is a line on how to add servers.
    pub hint: bool,
    /// Whether the details say more than the list.
    pub tall_details: bool,
}

impl Areas {
    /// The areas of a window of the size; `None` where it is too small.
    #[must_use]
    pub fn of((columns, rows): (u16, u16), focus: Pane, shape: Shape) -> Option<Self> {
        if columns < SMALLEST.0 || rows < SMALLEST.1 {
            return None;
        }
        let window = Rect::new(0, 0, columns, rows);
        let line = |y: u16, shown: bool| Rect::new(0, y, columns, u16::from(shown));
        let event_rows = u16::from(rows >= 12);
        let hint_rows = u16::from(shape.hint && rows >= 12);
        let body = Rect::new(0, 1, columns, rows - 2 - event_rows - hint_rows);
        let mut areas = Self {
            window,
            title: line(0, true),
            hint: line(body.bottom(), hint_rows > 0),
            event: line(body.bottom() + hint_rows, event_rows > 0),
            footer: line(rows - 1, true),
            ..Self::default()
        };
        if columns >= NARROW {
            let left = (columns * 3 / 10).clamp(28, 48);
            areas.servers = Rect {
                width: left,
                ..body
            };
            areas.stack(
                Rect {
                    x: left,
                    width: columns - left,
                    ..body
                },
                focus == Pane::Details,
                shape.tall_details,
            );
        } else {
            match focus {
                Pane::Servers => areas.servers = body,
                Pane::List => areas.main = body,
                Pane::Details => areas.details = body,
            }
        }
        Some(areas)
    }

    /// The list above the details; details with the focus, or that say more than the list, get
    /// more. Where there is no room for both, one of them is shown.
    fn stack(&mut self, right: Rect, focused: bool, tall: bool) {
        if right.height < 13 {
            if focused {
                self.details = right;
            } else {
                self.main = right;
            }
            return;
        }
        let details = if focused || tall {
            (right.height * 2 / 3).min(right.height - 7)
        } else {
            (right.height * 3 / 10).clamp(6, 16)
        };
        let main = right.height - details;
        self.main = Rect {
            height: main,
            ..right
        };
        self.details = Rect {
            y: right.y + main,
            height: details,
            ..right
        };
    }

    /// The line of the tabs.
    #[must_use]
    pub const fn tabs(&self) -> Rect {
        let inner = inside(self.main);
        Rect {
            height: if inner.height > 0 { 1 } else { 0 },
            ..inner
        }
    }

    /// The line of the column titles; none where the list is low.
    #[must_use]
    pub const fn columns(&self) -> Rect {
        let inner = inside(self.main);
        Rect {
            y: inner.y + 1,
            height: if inner.height >= 5 { 1 } else { 0 },
            ..inner
        }
    }

    /// The rows of the list.
    #[must_use]
    pub const fn rows(&self) -> Rect {
        let inner = inside(self.main);
        let above = 1 + self.columns().height;
        Rect {
            y: inner.y + above,
            height: inner.height.saturating_sub(above),
            ..inner
        }
    }

    /// Which pane is at the place.
    #[must_use]
    pub fn pane_at(&self, x: u16, y: u16) -> Option<Pane> {
        let at = ratatui::layout::Position::new(x, y);
        [
            (Pane::Servers, self.servers),
            (Pane::List, self.main),
            (Pane::Details, self.details),
        ]
        .into_iter()
        .find(|(_, area)| area.contains(at))
        .map(|(pane, _)| pane)
    }
}

/// The area inside a frame.
#[must_use]
pub const fn inside(area: Rect) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect {
            width: 0,
            height: 0,
            ..area
        };
    }
    Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width - 2,
        height: area.height - 2,
    }
}

/// The area of a layer over all panes: all but the title and the footer.
#[must_use]
pub const fn cover_area(window: Rect) -> Rect {
    Rect {
        y: window.y + 1,
        height: window.height.saturating_sub(2),
        ..window
    }
}

/// The area of the help screen.
#[must_use]
pub const fn help_area(window: Rect) -> Rect {
    let columns = if window.width < 80 { window.width } else { 76 };
    let rows = window.height.saturating_sub(2);
    Rect {
        x: window.x + (window.width - columns) / 2,
        y: window.y + 1,
        width: columns,
        height: rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_filled_without_overlap_or_is_too_small() {
        for columns in 0..200 {
            for rows in 0..70 {
                for focus in [Pane::Servers, Pane::List, Pane::Details] {
                    for bits in 0..4 {
                        let shape = Shape {
                            hint: bits & 1 > 0,
                            tall_details: bits & 2 > 0,
                        };
                        check((columns, rows), focus, shape);
                    }
                }
            }
        }
    }

    fn check(size: (u16, u16), focus: Pane, shape: Shape) {
        let Some(areas) = Areas::of(size, focus, shape) else {
            assert!(size.0 < SMALLEST.0 || size.1 < SMALLEST.1);
            return;
        };
        let parts = [
            areas.title,
            areas.servers,
            areas.main,
            areas.details,
            areas.hint,
            areas.event,
            areas.footer,
        ];
        let sum: u32 = parts.iter().map(|part| part.area()).sum();
        assert_eq!(sum, areas.window.area(), "{size:?} {focus:?}");
        for part in parts {
            assert_eq!(part.intersection(areas.window).area(), part.area());
        }
        let focused = match focus {
            Pane::Servers => areas.servers,
            Pane::List => areas.main,
            Pane::Details => areas.details,
        };
        assert!(focused.height >= 4, "{size:?} {focus:?}: {focused:?}");
    }

    #[test]
    fn a_narrow_window_shows_one_pane() {
        let areas = Areas::of((79, 24), Pane::List, Shape::default()).unwrap();
        assert_eq!((areas.servers.area(), areas.details.area()), (0, 0));
        assert_eq!(areas.pane_at(5, 5), Some(Pane::List));
        assert_eq!(areas.pane_at(5, 0), None);
    }
}
