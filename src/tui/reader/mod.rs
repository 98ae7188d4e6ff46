//! The reader: shows a document over the whole window, one that is read from a server among
//! others. It asks a server only when a person's key says so.

pub mod page;
pub mod search;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::layout::Rect;

use self::page::{Page, Room};
use self::search::Search;
use super::action::{Command, Effect, Notice};
use super::ask::{Answer, Ask, Source, Ticket};
use super::document::picture::Dots;
use super::document::{Document, Part, Raw, View};
use super::field::Field;
use super::format::{self, Clock};
use super::layer::{Layer, Reply};
use super::layout::{cover_area, inside};
use super::model::Model;
use super::save::{Save, proposal};
use crate::domain::{Failure, ServerName, text};

/// The longest text that is put on the clipboard, in bytes: terminals drop longer ones (OSC 52
/// takes 100,000 bytes of Base64 at most in many).
const MOST_COPIED: usize = 74_000;

/// The reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// What is read, for the title.
    pub title: Box<str>,
    /// The server that it is of.
    pub server: Option<ServerName>,
    /// Where it can be read again.
    source: Option<(ServerName, Source)>,
    /// How far it is.
    pub stage: Stage,
    room: Room,
}

/// How far a reader is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// The server was asked.
    Asking {
        /// Whose answer is awaited.
        ticket: Ticket,
        /// When it was asked.
        since: Instant,
    },
    /// There is nothing to show.
    Failed(Failure),
    /// Here it is.
    Shown(Box<Shown>),
}

/// A document and where a person is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The document.
    pub document: Arc<Document>,
    /// The part that is shown.
    pub part: usize,
    pages: Vec<Page>,
    /// What is looked for in it.
    pub search: Search,
    /// Who looks for it.
    ticket: Option<Ticket>,
    /// The line on top when the search began.
    origin: usize,
    /// The picture for the window as it is.
    pub dots: Option<Dots>,
}

impl Shown {
    fn new(document: Arc<Document>) -> Self {
        Self {
            pages: vec![Page::default(); document.parts.len()],
            document,
            part: 0,
            search: Search::default(),
            ticket: None,
            origin: 0,
            dots: None,
        }
    }

    /// The part that is shown.
    #[must_use]
    pub fn part(&self) -> &Part {
        &self.document.parts[self.part]
    }

    /// Where a person is in it.
    #[must_use]
    pub fn page(&self) -> &Page {
        &self.pages[self.part]
    }

    fn with_page(&mut self, act: impl FnOnce(&mut Page, &Part)) {
        act(&mut self.pages[self.part], &self.document.parts[self.part]);
    }
}

impl Reader {
    /// A reader of what the server is asked for, and the question.
    #[must_use]
    pub fn asking(
        model: &mut Model,
        server: ServerName,
        source: Source,
        clock: &Clock,
    ) -> (Self, Effect) {
        let ticket = model.next_ticket();
        let title = match &source {
            Source::Resource(uri) => uri,
            Source::Prompt(name, _) => name,
        };
        let reader = Self {
            title: format::exact(title).into(),
            server: Some(server.clone()),
            source: Some((server.clone(), source.clone())),
            stage: Stage::Asking {
                ticket,
                since: clock.now,
            },
            room: Room::default(),
        };
        (reader, Effect::Ask(ticket, Ask::Read(server, source)))
    }

    /// A reader of a document.
    #[must_use]
    pub fn showing(title: &str, server: Option<ServerName>, document: Document) -> Self {
        Self {
            title: title.into(),
            server,
            source: None,
            stage: Stage::Shown(Box::new(Shown::new(Arc::new(document)))),
            room: Room::default(),
        }
    }

    /// What it is that the server was asked for.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match &self.source {
            Some((_, Source::Prompt(..))) => "prompt",
            Some((_, Source::Resource(_))) | None => "resource",
        }
    }

    /// How much room there is for the text.
    #[must_use]
    pub const fn room(&self) -> Room {
        self.room
    }

    /// What is shown, if something is.
    #[must_use]
    pub fn shown(&self) -> Option<&Shown> {
        match &self.stage {
            Stage::Shown(shown) => Some(shown),
            Stage::Asking { .. } | Stage::Failed(_) => None,
        }
    }

    fn shown_mut(&mut self) -> Option<&mut Shown> {
        match &mut self.stage {
            Stage::Shown(shown) => Some(shown),
            Stage::Asking { .. } | Stage::Failed(_) => None,
        }
    }

    /// The commands that do something, the most useful first, with a word or two on what.
    #[must_use]
    pub fn commands(&self) -> Vec<(Command, &'static str)> {
        let shown = match &self.stage {
            Stage::Asking { .. } => return vec![(Command::Back, "cancel")],
            Stage::Failed(_) => {
                return vec![
                    (Command::Back, "back"),
                    (Command::Refresh, "try again"),
                    (Command::Copy, "copy the error"),
                ];
            }
            Stage::Shown(shown) => shown,
        };
        let mut commands = vec![(Command::Back, "back")];
        let part = shown.part();
        if shown.document.parts.len() > 1 {
            commands.push((Command::NextTab, "next part"));
        }
        if matches!(&part.view, View::Json(json) if json.openings().next().is_some()) {
            commands.push((Command::Fold, "fold"));
        }
        if !shown.search.needle.is_empty() {
            commands.push((Command::NextMatch, "next match"));
        }
        if part.is_text() {
            commands.push((Command::Filter, "find"));
        }
        commands.push((Command::Save, "save"));
        if matches!(&part.raw, Raw::Text(text) if text.len() <= MOST_COPIED) {
            commands.push((Command::Copy, "copy"));
        }
        if self.source.is_some() {
            commands.push((Command::Refresh, "read again"));
        }
        commands
    }

    /// A bound key.
    pub fn command(&mut self, model: &mut Model, command: Command, clock: &Clock) -> Reply {
        let room = self.room;
        let page = isize::try_from(room.rows.max(2) - 1).unwrap_or(isize::MAX);
        match command {
            Command::Up => self.step(-1),
            Command::Down => self.step(1),
            Command::PageUp => self.scroll(-page),
            Command::PageDown => self.scroll(page),
            Command::HalfPageUp => self.scroll(-(page / 2).max(1)),
            Command::HalfPageDown => self.scroll((page / 2).max(1)),
            Command::First => self.with_page(|page, _| page.to_start()),
            Command::Last => self.with_page(|page, part| page.to_end(part, room)),
            Command::Fold | Command::Open => self.with_page(|page, part| page.fold(part, room)),
            Command::NextTab | Command::RightPane => self.turn(1),
            Command::PreviousTab | Command::LeftPane => self.turn(-1),
            Command::NextMatch => self.go_on(1),
            Command::PreviousMatch => self.go_on(-1),
            Command::Filter => return self.start_search(model),
            Command::Copy => return Reply::Stay(self.copy(model)),
            Command::Save => return self.save(model),
            Command::Refresh => return self.again(model, clock),
            Command::Back => return self.back(),
            _ => {}
        }
        Reply::Stay(None)
    }

    fn with_page(&mut self, act: impl FnOnce(&mut Page, &Part)) {
        if let Some(shown) = self.shown_mut() {
            shown.with_page(act);
        }
    }

    fn step(&mut self, rows: isize) {
        let room = self.room;
        self.with_page(|page, part| page.step(part, room, rows));
    }

    /// Scrolls by so many rows.
    pub fn scroll(&mut self, rows: isize) {
        let room = self.room;
        self.with_page(|page, part| page.scroll(part, room, rows));
    }

    /// Shows another part.
    fn turn(&mut self, by: isize) {
        if let Some(shown) = self.shown_mut() {
            let last = shown.document.parts.len() - 1;
            shown.part = shown.part.saturating_add_signed(by).min(last);
            shown.search = Search::default();
            shown.ticket = None;
            shown.dots = None;
        }
    }

    fn go_on(&mut self, by: isize) {
        let room = self.room;
        if let Some(shown) = self.shown_mut()
            && let Some(line) = shown.search.go_on(by)
        {
            shown.with_page(|page, part| page.to_line(part, room, line));
        }
    }

    fn start_search(&mut self, model: &mut Model) -> Reply {
        match self.shown_mut() {
            Some(shown) if shown.part().is_text() => {
                shown.origin = shown.page().first();
                Reply::Open(Layer::Search(Field::new(&shown.search.needle)), None)
            }
            Some(_) => {
                model.notice = Some(Notice::bad("there is no text to look for words in"));
                Reply::Stay(None)
            }
            None => Reply::Stay(None),
        }
    }

    /// Looks for the text from where the search began.
    pub fn search(&mut self, model: &mut Model, needle: &str) -> Option<Effect> {
        let room = self.room;
        let shown = self.shown_mut()?;
        if shown.search.needle == needle {
            return None;
        }
        shown.search = Search {
            needle: needle.to_owned(),
            ..Search::default()
        };
        shown.ticket = None;
        if needle.is_empty() {
            let origin = shown.origin;
            shown.with_page(|page, part| page.to_line(part, room, origin));
            return None;
        }
        let ticket = model.next_ticket();
        shown.ticket = Some(ticket);
        let document = Arc::clone(&shown.document);
        let ask = Ask::Search(document, shown.part, needle.to_owned());
        Some(Effect::Ask(ticket, ask))
    }

    fn back(&mut self) -> Reply {
        match self.shown_mut() {
            Some(shown) if !shown.search.needle.is_empty() => {
                shown.search = Search::default();
                shown.ticket = None;
                Reply::Stay(None)
            }
            _ => Reply::Close(None),
        }
    }

    /// Asks the server once more.
    fn again(&mut self, model: &mut Model, clock: &Clock) -> Reply {
        let Some((server, source)) = self.source.clone() else {
            return Reply::Stay(None);
        };
        let (reader, effect) = Self::asking(model, server, source, clock);
        self.stage = reader.stage;
        Reply::Stay(Some(effect))
    }

    fn copy(&self, model: &mut Model) -> Option<Effect> {
        let raw = match &self.stage {
            Stage::Asking { .. } => return None,
            Stage::Failed(failure) => {
                let message = format::failure(failure);
                model.notice = Some(Notice::good("copied the error"));
                return Some(Effect::Copy(text::cell(&message).into_owned()));
            }
            Stage::Shown(shown) => &shown.part().raw,
        };
        let refused = match raw {
            Raw::Bytes(_) => "what is binary is not copied; save it to a file".to_owned(),
            Raw::Text(text) if text.len() > MOST_COPIED => format!(
                "{} are too much for the clipboard of a terminal; save it to a file",
                format::size(text.len() as u64)
            ),
            Raw::Text(text) => {
                // What steers a terminal must not get into a shell by way of the clipboard.
                let clean = text::contents(text).text;
                let size = format::size(clean.len() as u64);
                model.notice = Some(Notice::good(format!("copied the text, {size}")));
                return Some(Effect::Copy(clean));
            }
        };
        model.notice = Some(Notice::bad(refused));
        None
    }

    fn save(&self, model: &mut Model) -> Reply {
        let Some(shown) = self.shown() else {
            model.notice = Some(Notice::bad("there is nothing to save yet"));
            return Reply::Stay(None);
        };
        let part = shown.part();
        let name = proposal(&part.name, part.ending());
        Reply::Open(Layer::Save(Save::new(&name, part.raw.clone())), None)
    }

    /// Brings it in line with the window.
    pub fn settle(&mut self, window: Rect) {
        let area = inside(cover_area(window));
        let room = Room {
            columns: usize::from(area.width.saturating_sub(2)),
            rows: usize::from(area.height),
        };
        let same = std::mem::replace(&mut self.room, room) == room;
        let Some(shown) = self.shown_mut() else {
            return;
        };
        if let View::Picture(picture) = &shown.part().view
            && (!same || shown.dots.is_none())
        {
            shown.dots = Some(picture.dots(room.columns, room.rows * 2));
        }
        if !same {
            shown.with_page(|page, part| page.settle(part, room));
        }
    }

    /// Whether it waits for the answer that the ticket stands for.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        match &self.stage {
            Stage::Asking { ticket: asked, .. } => *asked == ticket,
            Stage::Failed(_) => false,
            Stage::Shown(shown) => shown.ticket == Some(ticket),
        }
    }

    /// Takes an answer that it awaits.
    pub fn take(&mut self, answer: Answer) {
        let room = self.room;
        match answer {
            Answer::Read(Ok(document)) => {
                self.stage = Stage::Shown(Box::new(Shown::new(document)));
                // The picture is made for the window, which settles the reader after this.
                self.room = Room::default();
            }
            Answer::Read(Err(failure)) => self.stage = Stage::Failed(failure),
            Answer::Hits(_)
            | Answer::Scanned(_)
            | Answer::Imported(_)
            | Answer::Completed(_)
            | Answer::Added(_) => {}
            Answer::Found(lines) => {
                if let Some(shown) = self.shown_mut() {
                    shown.ticket = None;
                    shown.search.lines = Some(lines);
                    let origin = shown.origin;
                    if let Some(line) = shown.search.start_at(origin) {
                        shown.with_page(|page, part| page.to_line(part, room, line));
                    }
                }
            }
        }
    }

    /// When something of it will change by itself: how long it has been waiting.
    #[must_use]
    pub fn next_change(&self, clock: &Clock) -> Option<Instant> {
        match &self.stage {
            Stage::Asking { since, .. } => {
                let waited = clock.since(*since).as_secs();
                Some(*since + Duration::from_secs(waited + 1))
            }
            Stage::Failed(_) | Stage::Shown(_) => None,
        }
    }
}
