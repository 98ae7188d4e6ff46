//! A log-in from the deck: the layer that shows what is awaited, and the task behind it. Closing
//! the layer calls the log-in off.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::action::{Action, Edit, Effect, Notice};
use super::field::Field;
use super::layer::{Layer, Reply};
use super::model::Model;
use crate::app::EngineHandle;
use crate::app::login::{self, Page, Progress};
use crate::domain::{Failure, FailureKind, ServerName, ServerSnapshot, Status, TransportKind};

/// How much may wait to be shown.
const NEWS: usize = 8;

/// The layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogIn {
    /// Where.
    pub server: ServerName,
    /// How far it is.
    pub stage: Stage,
}

/// How far a log-in is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// The servers are asked where to log in.
    Asking,
    /// The person has to log in on this page.
    Waiting {
        /// The page.
        page: Page,
        /// The address that the browser ended at, while it is pasted.
        field: Field,
        /// Whether the last one was of something else.
        foreign: bool,
    },
    /// It failed, and why.
    Failed(Arc<str>),
}

impl LogIn {
    /// A key.
    pub fn edit(&mut self, model: &mut Model, edit: &Edit) -> Reply {
        if *edit == Edit::Cancel {
            return Reply::Close(Some(Effect::EndLogIn));
        }
        match &mut self.stage {
            Stage::Failed(_) if *edit == Edit::Accept => Reply::Close(Some(Effect::EndLogIn)),
            Stage::Asking | Stage::Failed(_) => Reply::Stay(None),
            Stage::Waiting {
                page,
                field,
                foreign,
            } => Reply::Stay(match edit {
                Edit::NextField => {
                    model.notice = Some(Notice::good("copied the page's address"));
                    Some(Effect::Copy(page.url.to_string()))
                }
                Edit::Accept if field.text().trim().is_empty() => None,
                Edit::Accept => {
                    *foreign = false;
                    let pasted = std::mem::take(field);
                    Some(Effect::Pasted(pasted.text().to_owned()))
                }
                edit => {
                    field.apply(edit);
                    None
                }
            }),
        }
    }

    fn take(&mut self, progress: Progress) {
        match (progress, &mut self.stage) {
            (Progress::Page(page), stage) => {
                *stage = Stage::Waiting {
                    page,
                    field: Field::default(),
                    foreign: false,
                };
            }
            (Progress::Foreign, Stage::Waiting { foreign, .. }) => *foreign = true,
            (Progress::Foreign, Stage::Asking | Stage::Failed(_)) => {}
        }
    }
}

/// Begins a log-in at the server, if it is one that takes any.
pub fn begin(model: &mut Model, server: &ServerSnapshot) -> Option<Effect> {
    let name = &server.name;
    let why_not = match (&server.status, server.transport) {
        (Status::Disabled, _) => Some("is switched off"),
        (Status::Untrusted, _) => Some("is not approved"),
        (_, TransportKind::Stdio) => Some("is started by a command, which takes no log-in"),
        (_, TransportKind::Http | TransportKind::Sse) => None,
    };
    if let Some(why) = why_not {
        model.notice = Some(Notice::bad(format!("{name} {why}")));
        return None;
    }
    model.layers.push(Layer::LogIn(LogIn {
        server: name.clone(),
        stage: Stage::Asking,
    }));
    Some(Effect::LogIn(name.clone()))
}

/// Takes what is new of the log-in.
pub fn take(model: &mut Model, progress: Progress) {
    if let Some(log_in) = under_way(model) {
        log_in.take(progress);
    }
}

/// The log-in has ended.
pub fn ended(model: &mut Model, outcome: &Result<(), Failure>) {
    let Some(log_in) = under_way(model) else {
        return;
    };
    match outcome {
        Ok(()) => {
            let words = format!("logged in at {}", log_in.server);
            model.layers.close(|layer| matches!(layer, Layer::LogIn(_)));
            model.notice = Some(Notice::good(words));
        }
        Err(failure) => log_in.stage = Stage::Failed(Arc::clone(&failure.message)),
    }
}

fn under_way(model: &mut Model) -> Option<&mut LogIn> {
    model.layers.iter_mut().find_map(|layer| match layer {
        Layer::LogIn(log_in) => Some(log_in),
        _ => None,
    })
}

/// The task behind the layer; at most one at a time.
#[derive(Debug, Default)]
pub struct Task(Option<Running>);

#[derive(Debug)]
struct Running {
    news: mpsc::Receiver<Action>,
    pasted: mpsc::Sender<String>,
    task: JoinHandle<()>,
}

impl Task {
    /// Begins a log-in at the server. When it is done, the server is connected again.
    pub fn start(&mut self, server: ServerName, engine: EngineHandle) {
        self.stop();
        let (tell, news) = mpsc::channel(NEWS);
        let (pasted, mut texts) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let outcome = log_in(&server, &engine, &mut texts, |progress| {
                // One that finds no room is not the last: nobody can have pasted so fast.
                let _ = tell.try_send(Action::LogIn(progress));
            })
            .await;
            if outcome.is_ok() {
                engine.reconnect(&server).await;
            }
            // A failed send: it was called off.
            let _ = tell.send(Action::LoggedIn(outcome)).await;
        });
        self.0 = Some(Running { news, pasted, task });
    }

    /// Hands over an address that was pasted.
    pub fn paste(&self, text: String) {
        if let Some(running) = &self.0 {
            // One that is still being tried is not overtaken.
            let _ = running.pasted.try_send(text);
        }
    }

    /// Calls the log-in off.
    pub fn stop(&mut self) {
        if let Some(running) = self.0.take() {
            running.task.abort();
        }
    }

    /// What is new; there may never be anything.
    pub async fn next(&mut self) -> Action {
        if let Some(running) = &mut self.0
            && let Some(action) = running.news.recv().await
        {
            return action;
        }
        self.0 = None;
        std::future::pending().await
    }
}

async fn log_in(
    server: &ServerName,
    engine: &EngineHandle,
    pasted: &mut mpsc::Receiver<String>,
    tell: impl FnMut(Progress),
) -> Result<(), Failure> {
    let definition = engine.definition(server).await;
    let definition =
        definition.ok_or_else(|| Failure::new(FailureKind::Closed, "the server was removed"))?;
    login::log_in(&*definition.config.get()?, true, pasted, tell).await
}
