//! Spawns the actors, merges their snapshots and publishes [`AppState`].
//!
//! It never waits for an actor, so actors may wait for it. Publishing costs one pointer a server
//! and one an event, whatever the servers hold.

mod trial;

pub use self::trial::Trial;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use self::trial::Trials;
use super::client::{ClientActor, ClientHandle, ConnectSlots, Context, Seat, Update};
use super::definition::Definition;
use super::engine::EngineOptions;
use super::login;
use crate::domain::state::EVENTS_KEPT;
use crate::domain::{AppState, Event, EventKind, Revision, ServerName, ServerSnapshot, Status};
use crate::mcp::process::{Ladder, Launch, reap_orphans};

/// How many snapshots may wait to be merged.
const UPDATES: usize = 256;

/// How long a killed process may take to be reaped.
const LAST_REAPING: Duration = Duration::from_secs(1);

/// What the supervisor is asked to do.
#[derive(Debug)]
pub(super) enum Command {
    Put(Vec<Definition>),
    Adopt(Vec<Definition>),
    Arrange(Vec<ServerName>),
    Definition(ServerName, oneshot::Sender<Option<Definition>>),
    Insert(usize, Definition),
    Remove(ServerName, oneshot::Sender<Option<(usize, Definition)>>),
    SetEnabled(ServerName, bool),
    Refresh(ServerName),
    RefreshAll,
    Reconnect(ServerName),
    Note(Option<ServerName>, Arc<str>),
    Client(ServerName, oneshot::Sender<Option<ClientHandle>>),
    Try(Definition, oneshot::Sender<Trial>),
    Shutdown(Ladder),
}

/// The one task that knows all servers.
#[derive(Debug)]
pub(super) struct Supervisor {
    context: Context,
    mailbox: mpsc::Receiver<Command>,
    updates: mpsc::Receiver<Update>,
    publish: watch::Sender<Arc<AppState>>,
    broadcast: broadcast::Sender<Arc<Event>>,
    /// How patiently all processes are ended.
    ladder: watch::Sender<Ladder>,
    /// The servers to begin with.
    first: Vec<Definition>,
    members: Vec<Member>,
    trials: Trials,
    seats: HashMap<ServerName, Seat>,
    leaving: JoinSet<()>,
    next_actor: u64,
    next_event: u64,
    revision: Revision,
    events: Arc<VecDeque<Arc<Event>>>,
}

/// A server of the list.
#[derive(Debug)]
struct Member {
    actor: u64,
    name: ServerName,
    definition: Definition,
    letters: Arc<watch::Sender<Letter>>,
    handle: ClientHandle,
    snapshot: Arc<ServerSnapshot>,
}

/// What an actor is told by its postman.
#[derive(Debug)]
enum Mail {
    Replace(Arc<Definition>),
    Relocate(Arc<Definition>),
    SetEnabled(bool),
    Refresh,
    Reconnect,
}

/// What was not delivered yet, as one message: what came later holds. So no order is lost, however
/// many there are, and nothing grows.
#[derive(Debug, Default)]
struct Letter {
    replace: Option<Arc<Definition>>,
    relocate: Option<Arc<Definition>>,
    set_enabled: Option<bool>,
    reconnect: bool,
    refresh: bool,
}

impl Letter {
    fn add(&mut self, mail: Mail) {
        match mail {
            // It says whether the server is switched on, and connects anew.
            Mail::Replace(definition) => {
                *self = Self {
                    replace: Some(definition),
                    ..Self::default()
                }
            }
            Mail::Relocate(definition) => self.relocate = Some(definition),
            Mail::SetEnabled(enabled) => {
                // Off and on again is a fresh start, also where the actor never hears of the off.
                self.reconnect |= enabled && self.set_enabled == Some(false);
                self.set_enabled = Some(enabled);
            }
            Mail::Reconnect => self.reconnect = true,
            Mail::Refresh => self.refresh = true,
        }
    }

    async fn deliver(self, handle: &ClientHandle) {
        if let Some(definition) = self.replace {
            handle.replace(definition).await;
        }
        if let Some(enabled) = self.set_enabled {
            handle.set_enabled(enabled).await;
        }
        // After the switch, which it holds too: it alone moves nothing.
        if let Some(definition) = self.relocate {
            handle.relocate(definition).await;
        }
        if self.reconnect {
            handle.reconnect().await;
        } else if self.refresh {
            handle.refresh().await;
        }
    }
}

impl Supervisor {
    pub(super) fn new(
        options: EngineOptions,
        servers: Vec<Definition>,
        launcher: Arc<dyn Launch>,
        mailbox: mpsc::Receiver<Command>,
        publish: watch::Sender<Arc<AppState>>,
        broadcast: broadcast::Sender<Arc<Event>>,
    ) -> Self {
        let (report, updates) = mpsc::channel(UPDATES);
        let (ladder, climbed) = watch::channel(options.ladder());
        Self {
            context: Context {
                launcher,
                slots: Arc::new(ConnectSlots::new(&options.settings)),
                logins: login::store(),
                options: Arc::new(options),
                ladder: climbed,
                updates: report,
            },
            mailbox,
            updates,
            publish,
            broadcast,
            ladder,
            first: servers,
            members: Vec::new(),
            trials: Trials::default(),
            seats: HashMap::new(),
            leaving: JoinSet::new(),
            next_actor: 1,
            next_event: 1,
            revision: Revision::default(),
            events: Arc::default(),
        }
    }

    pub(super) async fn run(mut self) {
        let first = std::mem::take(&mut self.first);
        self.obey(Command::Put(first));
        // A one-shot command ends before it matters.
        let reaping = || AbortOnDropHandle::new(tokio::spawn(reap_orphans()));
        let _reaping = self.context.options.live.then(reaping);
        let ladder = loop {
            tokio::select! {
                command = self.mailbox.recv() => match command {
                    Some(Command::Shutdown(ladder)) => break ladder,
                    Some(command) => self.obey(command),
                    None => break Ladder::PATIENT,
                },
                Some(update) = self.updates.recv() => {
                    let mut changed = self.take(update);
                    // What has come in the meantime is published with it.
                    while let Ok(update) = self.updates.try_recv() {
                        changed |= self.take(update);
                    }
                    if changed {
                        self.publish();
                    }
                }
                Some(verdict) = self.trials.verdict() => self.judge(verdict),
                Some(_) = self.leaving.join_next() => {
                    let members = || self.members.iter().chain(self.trials.members());
                    self.seats.retain(|name, seat| {
                        !seat.is_free() || members().any(|member| &member.name == name)
                    });
                }
            }
        };
        self.shut_down(ladder).await;
    }

    /// Closes all servers at the same time and waits for the last.
    async fn shut_down(mut self, ladder: Ladder) {
        self.mailbox.close();
        // It holds for what is being closed already, too.
        self.ladder.send_replace(ladder);
        let members = std::mem::take(&mut self.members).into_iter();
        for member in members.chain(self.trials.end()) {
            self.leaving
                .spawn(async move { member.handle.shutdown().await });
        }
        loop {
            tokio::select! {
                left = self.leaving.join_next() => if left.is_none() { break },
                // Actors must not wait for a supervisor that does not listen.
                Some(_) = self.updates.recv() => {}
            }
        }
        // What failed attempts to connect have left is being ended behind the actors' backs.
        let longest = ladder.term + ladder.kill + LAST_REAPING;
        let all_free = async {
            for seat in self.seats.values() {
                drop(seat.take().await);
            }
        };
        if timeout(longest, all_free).await.is_err() {
            tracing::error!("a process could not be ended");
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Put(definitions) => {
                for definition in definitions {
                    self.put(definition);
                }
                self.publish();
            }
            Command::Adopt(definitions) => {
                for definition in definitions {
                    self.adopt(definition);
                }
                self.publish();
            }
            Command::Arrange(order) => {
                let place = |member: &Member| order.iter().position(|name| *name == member.name);
                self.members
                    .sort_by_key(|member| place(member).unwrap_or(usize::MAX));
                self.publish();
            }
            Command::Definition(name, reply) => {
                let member = self.members.iter().find(|member| member.name == name);
                // A failed send: nobody waits for it any more.
                let _ = reply.send(member.map(|member| member.definition.clone()));
            }
            Command::Insert(index, definition) => {
                self.put(definition);
                if let Some(member) = self.members.pop() {
                    let index = index.min(self.members.len());
                    self.members.insert(index, member);
                }
                self.publish();
            }
            Command::Remove(name, reply) => {
                // A failed send: nobody wants it back.
                let _ = reply.send(self.remove(&name));
            }
            Command::SetEnabled(name, enabled) => {
                if let Some(member) = self.members.iter_mut().find(|member| member.name == name) {
                    member.definition.enabled = enabled;
                    member.post(Mail::SetEnabled(enabled));
                }
            }
            Command::Refresh(name) => self.deliver(&name, Mail::Refresh),
            Command::Reconnect(name) => self.deliver(&name, Mail::Reconnect),
            Command::RefreshAll => self.refresh_all(),
            Command::Note(server, text) => {
                self.happened(server, SystemTime::now(), EventKind::Note(text));
                self.publish();
            }
            Command::Client(name, reply) => {
                let member = self.members.iter().find(|member| member.name == name);
                // A failed send: nobody waits for it any more.
                let _ = reply.send(member.map(|member| member.handle.clone()));
            }
            Command::Try(definition, reply) => self.try_out(definition, reply),
            Command::Shutdown(_) => {}
        }
    }

    fn put(&mut self, definition: Definition) {
        if let Some(index) = self
            .members
            .iter()
            .position(|member| member.name == definition.name)
        {
            let member = &mut self.members[index];
            member.definition = definition.clone();
            member.post(Mail::Replace(Arc::new(definition)));
            return;
        }
        let member = self.member(definition);
        self.members.push(member);
    }

    /// Spawns the actor of the definition, and its postman.
    fn member(&mut self, definition: Definition) -> Member {
        let name = definition.name.clone();
        let first = Arc::new(definition.first_snapshot());
        let actor = self.next_actor;
        self.next_actor += 1;
        let seat = self.seats.entry(name.clone()).or_default().clone();
        let handle = ClientActor::spawn(actor, definition.clone(), seat, self.context.clone());
        let letters = Arc::new(watch::Sender::default());
        tokio::spawn(deliver_all(
            Arc::downgrade(&letters),
            letters.subscribe(),
            handle.clone(),
        ));
        Member {
            actor,
            name,
            definition,
            letters,
            handle,
            snapshot: first,
        }
    }

    /// Puts the definition, but leaves the connection of a server alone that is the same already.
    fn adopt(&mut self, definition: Definition) {
        let mut members = self.members.iter_mut();
        let same =
            members.find(|member| member.name == definition.name && member.is_same(&definition));
        let Some(member) = same else {
            self.put(definition);
            return;
        };
        if member.definition.enabled != definition.enabled {
            member.post(Mail::SetEnabled(definition.enabled));
        }
        member.definition = definition.clone();
        member.post(Mail::Relocate(Arc::new(definition)));
    }

    /// Takes the server off the list at once; its connection is closed behind our back.
    fn remove(&mut self, name: &ServerName) -> Option<(usize, Definition)> {
        let index = self
            .members
            .iter()
            .position(|member| &member.name == name)?;
        let member = self.members.remove(index);
        let definition = member.definition.clone();
        self.dismiss(member);
        self.publish();
        Some((index, definition))
    }

    /// Closes the connection of one that is on no list any more.
    fn dismiss(&mut self, member: Member) {
        self.leaving
            .spawn(async move { member.handle.shutdown().await });
    }

    fn refresh_all(&mut self) {
        for member in &mut self.members {
            match &member.snapshot.status {
                Status::Connected(_) => member.post(Mail::Refresh),
                Status::Failed(_) | Status::Reconnecting { .. } => {
                    member.post(Mail::Reconnect);
                }
                Status::Connecting
                | Status::NeedsAuth(_)
                | Status::Disabled
                | Status::Untrusted => {}
            }
        }
    }

    fn deliver(&mut self, name: &ServerName, mail: Mail) {
        if let Some(member) = self.members.iter_mut().find(|member| &member.name == name) {
            member.post(mail);
        }
    }

    /// Takes an actor's snapshot, and says whether it is to be published; one of an actor that was
    /// removed is dropped.
    fn take(&mut self, update: Update) -> bool {
        let Some(index) = self
            .members
            .iter()
            .position(|member| member.actor == update.from.0)
        else {
            self.trials.take(update);
            return false;
        };
        self.members[index].snapshot = update.snapshot;
        let name = self.members[index].name.clone();
        for (at, kind) in update.events {
            self.happened(Some(name.clone()), at, kind);
        }
        true
    }

    fn happened(&mut self, server: Option<ServerName>, at: SystemTime, kind: EventKind) {
        let event = Arc::new(Event {
            seq: self.next_event,
            at,
            server,
            kind,
        });
        self.next_event += 1;
        let kept = Arc::make_mut(&mut self.events);
        if kept.len() == EVENTS_KEPT {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&event));
        // A failed send: nobody listens.
        let _ = self.broadcast.send(event);
    }

    fn publish(&mut self) {
        self.revision = self.revision.next();
        let state = AppState {
            revision: self.revision,
            servers: self
                .members
                .iter()
                .map(|member| Arc::clone(&member.snapshot))
                .collect(),
            events: Arc::clone(&self.events),
        };
        self.publish.send_replace(Arc::new(state));
    }
}

impl Member {
    /// Whether the definition starts the same, and may just as well be started.
    fn is_same(&self, definition: &Definition) -> bool {
        self.definition.trusted == definition.trusted && self.definition.is_same(definition)
    }

    /// Hands the message to the actor's postman.
    fn post(&self, mail: Mail) {
        self.letters.send_modify(|letter| letter.add(mail));
    }
}

/// Delivers what an actor is told, so that the supervisor never waits.
async fn deliver_all(
    letters: Weak<watch::Sender<Letter>>,
    mut posted: watch::Receiver<Letter>,
    handle: ClientHandle,
) {
    while posted.changed().await.is_ok() {
        let Some(letters) = letters.upgrade() else {
            return;
        };
        let mut taken = Letter::default();
        letters.send_if_modified(|letter| {
            taken = std::mem::take(letter);
            false
        });
        drop(letters);
        taken.deliver(&handle).await;
    }
}
