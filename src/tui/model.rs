//! What the deck remembers between two keys. Everything it knows of servers is in the snapshot.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::{Effect, Notice};
use super::add::draft::Draft;
use super::ask::Ticket;
use super::details::Lines;
use super::document::rich::Rich;
use super::form::Filled;
use super::format::{self, Clock};
use super::headline::Headline;
use super::layer::{Layer, Layers};
use super::layout::{Areas, Pane, Shape, inside};
use super::list::{List, Parked};
use super::logs::Logs;
use super::rows::{Anchor, ErrorRow, Rows, Tab, shown_events};
use super::servers::{LINES_EACH, Servers};
use crate::domain::{AppState, Event, ListMethod, ServerName, ServerSnapshot, Status};

/// How long `+` and `~` stand beside a row.
pub const MARKS_LAST: Duration = Duration::from_secs(5);

/// The most rows of the details pane; Enter shows everything.
const MOST_ROWS: usize = 2_000;

/// The details pane.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// What they say.
    pub rich: Rich,
    /// The rows on screen: which line, and which part of it.
    pub rows: Vec<(usize, Range<usize>)>,
    /// The first one on screen.
    pub offset: usize,
    /// How many fit on screen.
    pub height: usize,
    /// What they are about.
    subject: Subject,
    /// What they were made of, so that they are not made again of the same.
    made_of: Option<MadeOf>,
}

/// The server's snapshot, the columns, and the last change of stderr.
#[derive(Debug, Clone)]
struct MadeOf {
    server: Option<Arc<ServerSnapshot>>,
    columns: u16,
    stderr: u64,
}

impl MadeOf {
    fn same(&self, other: &Self) -> bool {
        let servers = match (&self.server, &other.server) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        servers && self.columns == other.columns && self.stderr == other.stderr
    }
}

/// What the details are about: the server, or a row of one of its tabs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Subject {
    server: Option<ServerName>,
    row: Option<(Tab, Anchor)>,
}

impl Details {
    /// Scrolls by so many lines.
    pub fn scroll(&mut self, lines: isize) {
        let last = self.rows.len().saturating_sub(self.height);
        self.offset = self.offset.saturating_add_signed(lines).min(last);
    }
}

/// All events, and those of them that are shown.
type Events = (Arc<VecDeque<Arc<Event>>>, Arc<[Arc<Event>]>);

/// The deck's state.
#[derive(Debug, Clone)]
pub struct Model {
    /// Columns and rows of the window.
    pub size: (u16, u16),
    /// The pane that keys go to.
    pub focus: Pane,
    /// The open tab.
    pub tab: Tab,
    /// What lies over the panes.
    pub layers: Layers,
    /// The Servers pane.
    pub servers: Servers,
    /// The open tab's list.
    pub list: List,
    /// The details pane.
    pub details: Details,
    /// What was filled in into forms.
    pub filled: Filled,
    /// A server that was not added after all.
    pub draft: Option<Box<Draft>>,
    /// Shown in the footer until the next key.
    pub notice: Option<Notice>,
    /// Came while the footer was needed for something else; shown when it is free again.
    waiting_notice: Option<Notice>,
    /// Whether the mouse is listened to.
    pub mouse: bool,
    /// Whether only the demo server is there, so that the deck says how to add others.
    pub demo: bool,
    /// The config file, for the title.
    pub label: Arc<str>,
    /// The person's home folder.
    pub home: Option<Arc<Path>>,
    /// The last ticket that was given out.
    ticket: Ticket,
    /// What the selected server says.
    pub logs: Logs,
    events: Events,
    list_of: (Option<ServerName>, Tab),
    parked: HashMap<(Option<ServerName>, Tab), Parked>,
}

impl Model {
    /// The state at the start, for a window of the size.
    #[must_use]
    pub fn new(size: (u16, u16), label: &str, demo: bool, mouse: bool) -> Self {
        let tab = Tab::Items(ListMethod::Resources);
        Self {
            size,
            focus: Pane::Servers,
            tab,
            layers: Layers::default(),
            servers: Servers::default(),
            list: List::default(),
            details: Details::default(),
            filled: Filled::default(),
            draft: None,
            notice: None,
            waiting_notice: None,
            mouse,
            demo,
            label: label.into(),
            home: None,
            ticket: Ticket::default(),
            logs: Logs::default(),
            events: Events::default(),
            list_of: (None, tab),
            parked: HashMap::new(),
        }
    }

    /// Something has happened that the person should hear of, now or when the footer is free.
    pub fn tell(&mut self, notice: Notice) {
        self.waiting_notice = Some(notice);
        self.show_waiting_notice();
    }

    /// Shows what had to wait, unless a text field or a question still has the footer.
    pub fn show_waiting_notice(&mut self) {
        if !self.layers.top().is_some_and(Layer::has_footer) {
            self.notice = self.waiting_notice.take().or(self.notice.take());
        }
    }

    /// A ticket that was not given out yet, for what a layer asks for.
    pub const fn next_ticket(&mut self) -> Ticket {
        self.ticket = self.ticket.next();
        self.ticket
    }

    /// Where everything stands; `None` where the window is too small.
    #[must_use]
    pub fn areas(&self) -> Option<Areas> {
        let shape = Shape {
            hint: self.demo,
            tall_details: self.tab == Tab::Errors && self.focus == Pane::List,
        };
        Areas::of(self.size, self.focus, shape)
    }

    /// Brings everything that depends on the snapshot, the focus or the size in line with them.
    /// Called after every action, so that drawing only has to read.
    pub fn settle(&mut self, state: &AppState, clock: &Clock) {
        let areas = self.areas().unwrap_or_default();
        for layer in self.layers.iter_mut() {
            layer.settle(areas.window);
        }
        // Only servers of files have a place: the demo has given way to them.
        self.demo &= !state.servers.iter().any(|server| server.origin.is_some());
        if !self.demo {
            self.layers
                .close(|layer| matches!(layer, Layer::Welcome(_)));
        }
        self.servers.put(state);
        self.servers.set_height(
            usize::from(inside(areas.servers).height) / LINES_EACH,
            state,
        );
        let server = self.servers.snapshot(state).cloned();
        self.logs.of(server.as_ref().map(|server| &server.name));
        self.open_list(server.as_deref());
        let rows = self.rows(server.as_deref(), state);
        self.list.put(rows);
        self.list.set_height(usize::from(areas.rows().height));
        self.settle_details(server.as_ref(), &areas, clock);
    }

    /// Makes the list that of the open tab of the selected server. The former one is parked.
    fn open_list(&mut self, server: Option<&ServerSnapshot>) {
        let name = match self.tab {
            Tab::Events => None,
            Tab::Items(_) | Tab::Errors | Tab::Stderr | Tab::Trace => {
                server.map(|server| server.name.clone())
            }
        };
        let wanted = (name, self.tab);
        if wanted == self.list_of {
            return;
        }
        let height = self.list.height();
        let parked = self
            .parked
            .remove(&wanted)
            .unwrap_or_else(|| Parked::new(self.tab.is_log()));
        let former = std::mem::replace(&mut self.list, List::resume(parked, height));
        let of = std::mem::replace(&mut self.list_of, wanted);
        self.parked.insert(of, former.park());
    }

    /// Lets the list of the open tab stand at an item of the server, unfiltered.
    pub fn seek(&mut self, server: &ServerName, anchor: Anchor) {
        let place = (Some(server.clone()), self.tab);
        if self.list_of == place {
            self.list.seek(anchor);
        } else {
            self.parked.insert(place, Parked::at(anchor));
        }
    }

    /// The events that are shown; the same ones as before if none came.
    fn events(&mut self, state: &AppState) -> Arc<[Arc<Event>]> {
        if !Arc::ptr_eq(&self.events.0, &state.events) {
            let shown = shown_events(&state.events).cloned().collect();
            self.events = (Arc::clone(&state.events), shown);
        }
        Arc::clone(&self.events.1)
    }

    fn rows(&mut self, server: Option<&ServerSnapshot>, state: &AppState) -> Rows {
        match (self.tab, server) {
            (Tab::Events, _) => Rows::Events(self.events(state)),
            (Tab::Stderr, _) => Rows::Stderr(Arc::clone(self.logs.stderr())),
            (Tab::Trace, _) => Rows::Messages(Arc::clone(self.logs.messages())),
            (_, None) => Rows::default(),
            (Tab::Errors, Some(server)) => Rows::Errors(ErrorRow::of(server).into()),
            (Tab::Items(method), Some(server)) => {
                let catalog = &server.catalog;
                match method {
                    ListMethod::Resources => Rows::Resources(Arc::clone(&catalog.resources.items)),
                    ListMethod::ResourceTemplates => {
                        Rows::Templates(Arc::clone(&catalog.templates.items))
                    }
                    ListMethod::Tools => Rows::Tools(Arc::clone(&catalog.tools.items)),
                    ListMethod::Prompts => Rows::Prompts(Arc::clone(&catalog.prompts.items)),
                }
            }
        }
    }

    /// With the focus on Servers the details are about the server, else about the selected row.
    fn settle_details(
        &mut self,
        server: Option<&Arc<ServerSnapshot>>,
        areas: &Areas,
        clock: &Clock,
    ) {
        let area = inside(areas.details);
        self.details.height = usize::from(area.height);
        if area.height == 0 {
            return;
        }
        let selected = self.list.selected();
        let row = match (self.focus, selected) {
            (Pane::Servers, _) | (_, None) => None,
            (Pane::List | Pane::Details, Some(row)) => {
                self.list.anchor().map(|anchor| (row, (self.tab, anchor)))
            }
        };
        let subject = Subject {
            server: server.map(|server| server.name.clone()),
            row: row.as_ref().map(|(_, anchor)| anchor.clone()),
        };
        let made_of = MadeOf {
            server: server.cloned(),
            columns: area.width,
            stderr: self.logs.last_change(),
        };
        let fresh = self
            .details
            .made_of
            .as_ref()
            .is_some_and(|former| former.same(&made_of));
        if subject != self.details.subject {
            self.details.offset = 0;
        } else if fresh {
            self.details.scroll(0);
            return;
        }
        let mut lines = Lines::default();
        match (row, server) {
            (Some((row, _)), _) => {
                lines.row(self.list.rows(), row, clock, self.logs.stderr());
            }
            (None, Some(server)) => lines.server(server, self.home.as_deref()),
            (None, None) => {}
        }
        let rich = lines.finish();
        let columns = usize::from(area.width.saturating_sub(2));
        self.details.rows = rich.rows(columns, MOST_ROWS);
        self.details.rich = rich;
        self.details.subject = subject;
        self.details.made_of = Some(made_of);
        self.details.scroll(0);
    }

    /// What an open tab lacks.
    pub fn wanted_news(&mut self) -> Option<Effect> {
        let ticket = &mut self.ticket;
        self.logs.wanted(self.tab, || {
            *ticket = ticket.next();
            *ticket
        })
    }

    /// Whether the answer that the ticket stands for is awaited.
    #[must_use]
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.layers.await_answer(ticket) || self.logs.awaits(ticket)
    }

    /// When something on screen will change by itself: a clock, a countdown, marks that end.
    #[must_use]
    pub fn next_change(&self, state: &AppState, clock: &Clock) -> Option<Instant> {
        let areas = self.areas()?;
        let server = self.servers.snapshot(state);
        let mut moments: Vec<Instant> = self
            .layers
            .seen()
            .filter_map(|layer| layer.next_change(clock))
            .collect();
        if self.layers.cover() {
            return moments.into_iter().min();
        }
        if areas.main.height > 0
            && let Some(server) = server
        {
            let columns = usize::from(areas.main.width.saturating_sub(2));
            if let Some(session) = server.status.session()
                && Headline::of(server, clock, columns).ticks()
            {
                moments.push(next_tick(session.since, clock));
            }
            moments.extend(next_count(&server.status, clock));
            if let Tab::Items(method) = self.tab {
                moments.extend(marks_at(server, method).map(|at| at + MARKS_LAST));
            }
        }
        let shown = (0..self.servers.height())
            .filter_map(|line| self.servers.at(self.servers.offset() + line, state));
        moments.extend(shown.filter_map(|server| next_count(&server.status, clock)));
        moments.into_iter().filter(|at| *at > clock.now).min()
    }
}

/// When the last refresh of the method's listing ended, if it left marks.
#[must_use]
pub fn marks_at(server: &ServerSnapshot, method: ListMethod) -> Option<Instant> {
    let catalog = &server.catalog;
    let changes = match method {
        ListMethod::Resources => &catalog.resources.changes,
        ListMethod::ResourceTemplates => &catalog.templates.changes,
        ListMethod::Tools => &catalog.tools.changes,
        ListMethod::Prompts => &catalog.prompts.changes,
    };
    changes
        .as_ref()
        .filter(|changes| changes.counts.added + changes.counts.changed > 0)
        .map(|changes| changes.at)
}

/// When a countdown says something else.
fn next_count(status: &Status, clock: &Clock) -> Option<Instant> {
    let Status::Reconnecting { due, .. } = status else {
        return None;
    };
    let due = (*due)?;
    let left = format::seconds_rounded_up(clock.until(due)).saturating_sub(1);
    due.checked_sub(Duration::from_secs(left))
}

/// When [`format::lasting`] says something else: each second, and each minute from an hour on.
fn next_tick(since: Instant, clock: &Clock) -> Instant {
    let passed = clock.since(since).as_secs();
    let step = if passed < 3_600 { 1 } else { 60 };
    since + Duration::from_secs((passed / step + 1) * step)
}
