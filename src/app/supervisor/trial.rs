//! Servers that are tried out before they are on the list.
//!
//! A trial has an actor like any other server, so that what it proves holds: if it is kept, it
//! comes onto the list with its connection, and nothing is started a second time.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::{oneshot, watch};
use tokio::task::{JoinError, JoinSet};

use super::{Member, Supervisor, Update};
use crate::app::definition::Definition;
use crate::domain::{EventKind, ServerSnapshot, Status};

/// A server that is connected to, but is not on the list. Dropping it closes the connection.
#[derive(Debug)]
pub struct Trial {
    shown: watch::Receiver<Arc<ServerSnapshot>>,
    keep: oneshot::Sender<oneshot::Sender<()>>,
}

impl Trial {
    /// How it stands when connecting has ended, well or not; `None` where the engine has ended.
    pub async fn outcome(&mut self) -> Option<Arc<ServerSnapshot>> {
        let ended = |server: &Arc<ServerSnapshot>| server.status != Status::Connecting;
        Some(Arc::clone(&*self.shown.wait_for(ended).await.ok()?))
    }

    /// Puts it at the end of the list, as it is. A server that has got there under its name
    /// meanwhile stays, and this one is closed.
    pub async fn keep(self) {
        let (done, is_done) = oneshot::channel();
        if self.keep.send(done).is_ok() {
            // An error means that the engine has ended, and everything with it.
            let _ = is_done.await;
        }
    }
}

/// All trials under way.
#[derive(Debug, Default)]
pub(super) struct Trials {
    tried: Vec<Tried>,
    verdicts: JoinSet<Verdict>,
}

/// Which trial has ended, and who is told when it is on the list, if it is to be there.
type Verdict = (u64, Option<oneshot::Sender<()>>);

#[derive(Debug)]
struct Tried {
    member: Member,
    shown: watch::Sender<Arc<ServerSnapshot>>,
    /// What is told if it is kept.
    events: Vec<(SystemTime, EventKind)>,
}

impl Trials {
    /// The next end of a trial; none where none is under way.
    pub(super) async fn verdict(&mut self) -> Option<Result<Verdict, JoinError>> {
        self.verdicts.join_next().await
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tried.iter().map(|tried| &tried.member)
    }

    /// Ends all of them.
    pub(super) fn end(&mut self) -> impl Iterator<Item = Member> + use<> {
        self.verdicts.abort_all();
        let tried = std::mem::take(&mut self.tried).into_iter();
        tried.map(|tried| tried.member)
    }

    /// Takes the snapshot of an actor, if it is of a trial.
    pub(super) fn take(&mut self, update: Update) {
        let mut tried = self.tried.iter_mut();
        if let Some(tried) = tried.find(|tried| tried.member.actor == update.from.0) {
            tried.member.snapshot = Arc::clone(&update.snapshot);
            tried.events.extend(update.events);
            tried.shown.send_replace(update.snapshot);
        }
    }

    fn remove(&mut self, actor: u64) -> Option<Tried> {
        let mut tried = self.tried.iter();
        let index = tried.position(|tried| tried.member.actor == actor)?;
        Some(self.tried.swap_remove(index))
    }
}

impl Supervisor {
    /// Begins a trial.
    pub(super) fn try_out(&mut self, definition: Definition, reply: oneshot::Sender<Trial>) {
        let member = self.member(definition);
        let (show, shown) = watch::channel(Arc::clone(&member.snapshot));
        let (keep, kept) = oneshot::channel();
        let actor = member.actor;
        // Whoever drops the trial drops the sender: that is the other verdict.
        self.trials
            .verdicts
            .spawn(async move { (actor, kept.await.ok()) });
        self.trials.tried.push(Tried {
            member,
            shown: show,
            events: Vec::new(),
        });
        // A failed send drops the trial.
        let _ = reply.send(Trial { shown, keep });
    }

    /// Ends a trial: it comes onto the list, or is closed.
    pub(super) fn judge(&mut self, verdict: Result<Verdict, JoinError>) {
        let Ok((actor, kept)) = verdict else {
            return;
        };
        let Some(Tried { member, events, .. }) = self.trials.remove(actor) else {
            return;
        };
        let is_taken = self.members.iter().any(|other| other.name == member.name);
        let Some(done) = kept.filter(|_| !is_taken) else {
            self.dismiss(member);
            return;
        };
        let name = member.name.clone();
        self.members.push(member);
        for (at, kind) in events {
            self.happened(Some(name.clone()), at, kind);
        }
        self.publish();
        // A failed send: nobody waits for it any more.
        let _ = done.send(());
    }
}
