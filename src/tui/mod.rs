//! The deck: an interactive face over the engine's snapshots.
//!
//! A terminal event becomes an [`action::Action`] through the key map, [`update::update`] applies
//! it to the [`model::Model`], and [`view::render`] draws the model and the snapshot.

pub mod action;
pub mod add;
pub mod aside;
pub mod ask;
pub mod decoder;
pub mod details;
pub mod document;
pub mod editor;
pub mod event;
pub mod field;
pub mod find;
#[cfg(test)]
mod fixture;
pub mod form;
pub mod format;
#[cfg(test)]
mod harness;
pub mod headline;
pub mod import;
pub mod key;
pub mod keymap;
pub mod layer;
pub mod layout;
pub mod lines;
pub mod list;
pub mod log_in;
pub mod logs;
pub mod model;
pub mod mouse;
pub mod offer;
pub mod open;
pub mod outline;
pub mod pen;
pub mod question;
pub mod reader;
pub mod rows;
pub mod save;
pub mod servers;
pub mod tab_bar;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod update;
pub mod view;
pub mod view_model;
#[cfg(test)]
mod walk;
pub mod welcome;
pub mod wrap;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time;

use self::action::{Action, Effect, Notice};
use self::aside::Aside;
use self::ask::Ticket;
use self::editor::{Editor, Ended};
use self::event::{Input, Keys, Signals};
use self::format::Clock;
use self::key::Key;
use self::keymap::{Context, KeyError, Keymap};
use self::model::Model;
use self::terminal::Screen;
use self::theme::{Environment, Theme};
use self::update::{context, update};
use self::view_model::ViewModel;
use crate::app::{Manager, Told};
use crate::config::theme::ThemeFile;
use crate::domain::{AppState, Origin, Settings};

pub use self::event::Ending;
pub use self::terminal::is_gone;

/// The least time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(33);

/// How long what a person has changed may take to be written when the deck ends.
const LAST_CHANGES: Duration = Duration::from_secs(1);

/// What the deck is started with.
#[derive(Debug)]
pub struct DeckOptions {
    /// Theme, ASCII, mouse.
    pub settings: Settings,
    /// The `[keys]` of the config: action names, each with the keys that replace its own.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The theme file that the settings name, if they name one.
    pub theme: Option<ThemeFile>,
    /// The config file in use, or the one to be written; shown at the upper right.
    pub file: Option<PathBuf>,
    /// The person's home folder, of which paths show only `~`.
    pub home: Option<PathBuf>,
    /// Whether the demo server stands in for a config: the deck says how to add one's own.
    pub demo: bool,
}

/// Why the deck could not run, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum DeckError {
    /// The `[keys]` of the config are wrong; nothing was drawn.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The terminal cannot be used.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// The engine ended while the deck was running.
    #[error("the engine ended; the log file says why")]
    EngineEnded,
}

/// Runs the deck until it is quit, on a current-thread runtime of its own. The terminal is given
/// back before it returns; servers are not closed.
///
/// # Errors
///
/// [`DeckError`]; the terminal is given back then too.
pub async fn run(manager: Manager, options: DeckOptions) -> Result<Ending, DeckError> {
    let keymap = Keymap::new(&options.keys)?;
    let settings = &options.settings;
    let theme = Theme::new(
        &settings.theme,
        options.theme.as_ref(),
        settings.ascii,
        &Environment::read(),
    );
    let screen = Screen::enter(settings.mouse)?;
    let size = screen.size()?;
    let mut states = manager.engine().state();
    let state = Arc::clone(&states.borrow_and_update());
    let file = options.file.as_deref();
    let label = file.map_or_else(String::new, |file| {
        format::path(file, options.home.as_deref())
    });
    let mut model = Model::new(size, &label, options.demo, settings.mouse);
    model.home = options.home.map(Into::into);
    let mut deck = Deck {
        model,
        state,
        keymap,
        theme,
        screen,
        is_stale: false,
        manager,
        jobs: JoinSet::new(),
        asked: HashMap::new(),
        aside: Aside::default(),
        log_in: log_in::Task::default(),
        to_edit: None,
    };
    deck.act(Action::State)?;
    if options.demo {
        deck.act(Action::Welcome)?;
    }
    deck.draw()?;
    // What is not needed for the first frame comes after it.
    let ended = deck
        .listen(&mut states, Keys::read()?, Signals::new()?)
        .await;
    deck.leave().await;
    ended
}

/// The deck while it runs.
#[derive(Debug)]
struct Deck {
    model: Model,
    state: Arc<AppState>,
    keymap: Keymap,
    theme: Theme,
    screen: Screen,
    /// Whether the screen shows less than there is, because the terminal still reads.
    is_stale: bool,
    manager: Manager,
    /// What was asked of the engine and the files, each with what there is to tell afterwards.
    jobs: JoinSet<Option<Action>>,
    /// Those of them whose answer the model awaits: they end when it no longer does.
    asked: HashMap<Ticket, AbortHandle>,
    aside: Aside,
    log_in: log_in::Task,
    /// What the person's editor is to open next.
    to_edit: Option<Arc<Origin>>,
}

/// Whether the deck goes on.
type Step = Result<Option<Ending>, DeckError>;

impl Deck {
    /// Waits for what happens next, until something ends the deck. A key's effect is drawn at
    /// once; snapshots are drawn at most every [`FRAME`], and not looked at in between. What the
    /// terminal is too slow for is left out.
    async fn listen(
        &mut self,
        states: &mut watch::Receiver<Arc<AppState>>,
        mut keys: Keys,
        mut signals: Signals,
    ) -> Result<Ending, DeckError> {
        let mut drawn = Instant::now();
        let mut dirty = false;
        loop {
            let wake = if dirty {
                Some(drawn + FRAME)
            } else {
                self.model.next_change(&self.state, &clock())
            };
            let ended = tokio::select! {
                biased;
                input = signals.next() => self.take(input)?,
                written = self.screen.written() => {
                    written?;
                    if !self.is_stale {
                        continue;
                    }
                    None
                }
                input = keys.next() => match input {
                    Some(input) => self.take_all(input, &mut keys)?,
                    None => Some(Ending::HungUp),
                },
                () = sleep_until(wake), if !self.is_stale => None,
                Some(done) = self.jobs.join_next(), if !self.jobs.is_empty() => {
                    match done.ok().flatten() {
                        Some(action) => self.act(action)?,
                        None => continue,
                    }
                }
                action = self.log_in.next() => self.act(action)?,
                changed = states.changed(), if !dirty => {
                    changed.map_err(|_| DeckError::EngineEnded)?;
                    dirty = true;
                    if drawn.elapsed() < FRAME {
                        continue;
                    }
                    None
                }
            };
            if let Some(ending) = ended {
                return Ok(ending);
            }
            if let Some(place) = self.to_edit.take()
                && let Some(ending) = self.edit(&place, &mut keys, &mut signals).await?
            {
                return Ok(ending);
            }
            if states.has_changed().unwrap_or(false) || dirty {
                self.state = Arc::clone(&states.borrow_and_update());
                self.act(Action::State)?;
            }
            dirty = false;
            self.draw()?;
            drawn = Instant::now();
        }
    }

    /// Gives the terminal back, and waits a moment for what is being written to files.
    async fn leave(self) {
        let Self {
            screen,
            asked,
            mut jobs,
            ..
        } = self;
        drop(screen);
        for job in asked.values() {
            job.abort();
        }
        let all = async { while jobs.join_next().await.is_some() {} };
        if time::timeout(LAST_CHANGES, all).await.is_err() {
            tracing::warn!("a file was still being written at the end");
        }
    }

    /// Takes an input and what waits behind it: held keys are drawn once, not one by one. Of a
    /// flood as much as fits between two frames, so that the screen and signals keep up.
    fn take_all(&mut self, first: Input, keys: &mut Keys) -> Step {
        let began = Instant::now();
        let mut next = Some(first);
        while let Some(input) = next {
            if let Some(ending) = self.take(input)? {
                return Ok(Some(ending));
            }
            // What comes behind it is for the editor.
            if self.to_edit.is_some() {
                return Ok(None);
            }
            if began.elapsed() >= FRAME {
                return Ok(None);
            }
            next = keys.waiting();
        }
        Ok(None)
    }

    /// Lets the person's editor have the terminal until it is closed.
    async fn edit(&mut self, place: &Origin, keys: &mut Keys, signals: &mut Signals) -> Step {
        let editor = match Editor::of_environment() {
            Ok(editor) => editor,
            Err(error) => return self.act(Action::Notice(Notice::bad(error.to_string()))),
        };
        keys.pause();
        let lent = self.screen.lend();
        let ended = editor.run(place, signals).await;
        let taken = self.screen.take_back(&lent);
        let is_there = keys.resume();
        let name = editor.name();
        let told = match ended {
            Ok(Ended::DeckHasTo(ending)) => return Ok(Some(ending)),
            _ if !is_there => return Ok(Some(Ending::HungUp)),
            Ok(Ended::Closed(status)) if status.success() => None,
            Ok(Ended::Closed(status)) => Some(format!("{name} did not end well: {status}")),
            Err(error) => Some(format!(
                "could not start {name}: {}; $EDITOR says what to start",
                crate::config::io_reason(&error)
            )),
        };
        taken?;
        if let Some(told) = told {
            self.act(Action::Notice(Notice::bad(told)))?;
        }
        self.take(Input::Resized)
    }

    fn take(&mut self, input: Input) -> Step {
        match input {
            Input::Key(key) => {
                let (key, behind) = self.keymap.split(key);
                if let Some(ending) = self.press(key)? {
                    return Ok(Some(ending));
                }
                behind.map_or(Ok(None), |key| self.press(key))
            }
            Input::Paste(text) => match context(&self.model) {
                Context::Field => self.act(event::pasted(&text)),
                Context::Deck | Context::Reader | Context::Choices | Context::Question => Ok(None),
            },
            Input::Action(action) => self.act(action),
            Input::Resized => {
                let (columns, rows) = self.screen.size()?;
                self.act(Action::Resize(columns, rows))
            }
            Input::Continued => {
                self.screen.resume()?;
                self.take(Input::Resized)
            }
            Input::End(ending) => Ok(Some(ending)),
        }
    }

    fn press(&mut self, key: Key) -> Step {
        let action = self.keymap.action(context(&self.model), key);
        self.act(action)
    }

    /// Applies the action and does what it asks for.
    fn act(&mut self, action: Action) -> Step {
        let effect = update(&mut self.model, &self.state, action, &clock());
        let wanted = self.model.wanted_news();
        self.asked.retain(|ticket, job| {
            let awaited = self.model.awaits(*ticket);
            if !awaited {
                job.abort();
            }
            awaited
        });
        if let Some(effect) = wanted {
            self.perform(effect)?;
        }
        effect.map_or(Ok(None), |effect| self.perform(effect))
    }

    fn perform(&mut self, effect: Effect) -> Step {
        let manager = self.manager.clone();
        let engine = manager.engine().clone();
        match effect {
            Effect::Quit => return Ok(Some(Ending::Quit)),
            Effect::Suspend => {
                self.screen.suspend()?;
                return self.take(Input::Resized);
            }
            Effect::Mouse(on) => self.screen.set_mouse(on),
            Effect::Copy(text) => self.screen.copy(text),
            Effect::AskRemoval(name) => {
                let place = manager.place(&name);
                return self.act(Action::Place(name, place));
            }
            Effect::Refresh(name) => self.job(async move {
                engine.refresh(&name).await;
                None
            }),
            Effect::RefreshAll => self.job(async move {
                engine.refresh_all().await;
                None
            }),
            Effect::Reconnect(name) => self.job(async move {
                engine.reconnect(&name).await;
                None
            }),
            Effect::SetEnabled(name, enabled) => {
                self.tell(async move { manager.set_enabled(name, enabled).await });
            }
            Effect::Remove(name) => self.tell(async move { manager.remove(name).await }),
            Effect::AskTrust(name) => self.job(async move {
                let lines = manager.describe(&name).await?;
                Some(Action::Described(name, lines))
            }),
            Effect::Trust(name) => self.tell(async move { manager.trust(name).await }),
            Effect::Edit(place) => self.to_edit = Some(place),
            Effect::Undo => self.tell(async move { manager.undo().await }),
            Effect::LogIn(name) => self.log_in.start(name, engine),
            Effect::Pasted(text) => self.log_in.paste(text),
            Effect::EndLogIn => self.log_in.stop(),
            Effect::Jump(hit) => return self.act(Action::Jump(hit)),
            Effect::Follow(ticket, log, name, after) => {
                let job = lines::follow(engine, log, name, after);
                self.ask(ticket, async move { Some(job.await) });
            }
            Effect::Save(file) => self
                .job(async move { tokio::task::spawn_blocking(move || file.write()).await.ok() }),
            Effect::Ask(ticket, ask) => {
                let aside = self.aside.clone();
                self.ask(ticket, async move {
                    let answer = ask::answer(ask, manager, aside).await;
                    Some(Action::Answered(ticket, answer))
                });
            }
        }
        Ok(None)
    }

    /// Starts what ends with something to tell.
    fn tell(&mut self, job: impl Future<Output = Option<Told>> + Send + 'static) {
        self.job(async move { job.await.map(|told| Action::Notice(told.into())) });
    }

    /// Starts what ends early where nobody waits for it any more.
    fn ask(&mut self, ticket: Ticket, job: impl Future<Output = Option<Action>> + Send + 'static) {
        let job = self.jobs.spawn(job);
        self.asked.insert(ticket, job);
    }

    fn job(&mut self, job: impl Future<Output = Option<Action>> + Send + 'static) {
        self.jobs.spawn(job);
    }

    fn draw(&mut self) -> io::Result<()> {
        self.is_stale = !self.screen.is_ready();
        if self.is_stale {
            return Ok(());
        }
        let view = ViewModel::new(&self.model, &self.state, clock(), &self.theme, &self.keymap);
        self.screen.draw(|frame| view::render(frame, &view))
    }
}

/// Now, and the time zone of the machine.
fn clock() -> Clock {
    Clock {
        now: Instant::now(),
        zone: *chrono::Local::now().offset(),
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
