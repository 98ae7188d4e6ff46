//! What the calls of a model ask of the engine, and what they see.
//!
//! A call waits for servers that still connect, up to a bound, and takes what there is then. What
//! is known and clean is answered from memory; after a failure the next call asks again.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::text;
use crate::app::report::ErrorJson;
use crate::app::{ClientHandle, EngineHandle};
use crate::domain::{
    Failure, FailureKind, Freshness, Group, ListMethod, ServerName, ServerSnapshot, Status,
};
use crate::mcp::decode::contents::Content;
use crate::mcp::traverse::seconds;

/// The listings that are served.
pub(super) const METHODS: [ListMethod; 2] = [ListMethod::Resources, ListMethod::ResourceTemplates];

/// Where calls get their answers.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    engine: EngineHandle,
    /// How long a call waits for servers.
    wait: Duration,
    /// How long a read may take; the client has its own bound for each request.
    read_within: Duration,
    /// When serving ends at the latest: no call waits any longer.
    over: Option<Instant>,
}

/// One server, as a call sees it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) server: Arc<ServerSnapshot>,
    /// How old its lists are, where that is known.
    age: Option<Duration>,
    /// How long the call waited in vain.
    waited: Option<Duration>,
}

/// Something that failed, told in JSON and in a line.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    server: Arc<ServerSnapshot>,
    method: Option<ListMethod>,
    failure: Failure,
    /// How old the list is that is shown all the same.
    kept: Option<Duration>,
}

/// Why a server cannot be read.
#[derive(Debug, Clone)]
pub(super) enum Refusal {
    /// There is no such server.
    Unknown,
    /// It is not connected, or has no resources: the message.
    Unable(String),
    /// It did not give the resource.
    Failed(Failure),
}

impl Desk {
    pub(super) const fn new(
        engine: EngineHandle,
        wait: Duration,
        read_within: Duration,
        over: Option<Instant>,
    ) -> Self {
        Self {
            engine,
            wait,
            read_within,
            over,
        }
    }

    /// How long a wait that begins now may take, in whole milliseconds.
    fn patience(&self, within: Duration) -> Duration {
        let left = self.over.map(|over| {
            let left = over.saturating_duration_since(Instant::now());
            Duration::from_secs(left.as_secs()) + Duration::from_millis(left.subsec_millis().into())
        });
        left.map_or(within, |left| left.min(within))
    }

    /// All servers, or the one, with the newest lists that can be had in time.
    pub(super) async fn look(&self, only: Option<&ServerName>) -> Vec<Seen> {
        let patience = self.patience(self.wait);
        let state = self.engine.snapshot();
        let wanted = state
            .servers
            .iter()
            .filter(|server| only.is_none_or(|only| &server.name == only));
        let deadline = Instant::now() + patience;
        join_all(wanted.map(|server| self.look_at(server, deadline, patience))).await
    }

    async fn look_at(
        &self,
        server: &Arc<ServerSnapshot>,
        deadline: Instant,
        patience: Duration,
    ) -> Seen {
        let as_it_stands = |server: &Arc<ServerSnapshot>, waited| Seen {
            server: Arc::clone(server),
            age: None,
            waited,
        };
        match server.status {
            Status::Connecting | Status::Connected(_) | Status::Reconnecting { .. } => {}
            Status::NeedsAuth(_) | Status::Failed(_) | Status::Disabled | Status::Untrusted => {
                return as_it_stands(server, None);
            }
        }
        let Some(client) = self.engine.client(&server.name).await else {
            return as_it_stands(server, None);
        };
        match client.demand(Group::Resources, deadline).await {
            Ok(demand) => Seen {
                server: demand.server,
                age: Some(demand.age),
                waited: None,
            },
            Err(failure) => {
                tracing::debug!(server = %server.name, kind = failure.kind.word(), "a call waits no longer");
                let state = self.engine.snapshot();
                let now = state.server(&server.name).unwrap_or(server);
                as_it_stands(now, Some(patience))
            }
        }
    }

    /// All servers once none of them connects or lists for the first time any more, or in time.
    /// Nothing is asked.
    pub(super) async fn look_around(&self) -> Vec<Seen> {
        let settled = |server: &Arc<ServerSnapshot>| {
            matches!(server.status, Status::Reconnecting { .. }) || server.is_settled()
        };
        let mut states = self.engine.state();
        let all = states.wait_for(|state| state.servers.iter().all(settled));
        let patience = self.patience(self.wait);
        let in_time = timeout(patience, all).await.is_ok();
        let mut seen = self.now();
        for seen in &mut seen {
            if !in_time && !settled(&seen.server) {
                seen.waited = Some(patience);
            }
        }
        seen
    }

    /// All servers as they stand.
    pub(super) fn now(&self) -> Vec<Seen> {
        let see = |server: &Arc<ServerSnapshot>| Seen {
            server: Arc::clone(server),
            age: None,
            waited: None,
        };
        self.engine.snapshot().servers.iter().map(see).collect()
    }

    /// The name, if there is such a server.
    pub(super) fn name(&self, wanted: &str) -> Option<ServerName> {
        let state = self.engine.snapshot();
        let mut names = state.servers.iter().map(|server| &server.name);
        names.find(|name| name.as_str() == wanted).cloned()
    }

    /// What to say where there is no such server.
    pub(super) fn unknown(&self, wanted: &str) -> String {
        let state = self.engine.snapshot();
        let names: Vec<&ServerName> = state.servers.iter().map(|server| &server.name).collect();
        text::unknown(wanted, &names)
    }

    /// Reads a resource of the server; the URI is sent as it is.
    pub(super) async fn read(&self, server: &str, uri: &str) -> Result<Vec<Content>, Refusal> {
        let name = self.name(server).ok_or(Refusal::Unknown)?;
        let client = self.connected(&name).await?;
        let deadline = Instant::now() + self.patience(self.read_within);
        client.read(uri, deadline).await.map_err(Refusal::Failed)
    }

    /// The server's client, once it is connected.
    async fn connected(&self, name: &ServerName) -> Result<ClientHandle, Refusal> {
        let under_way =
            |status: &Status| matches!(status, Status::Connecting | Status::Reconnecting { .. });
        let mut states = self.engine.state();
        let decided = states.wait_for(|state| {
            let server = state.server(name);
            server.is_none_or(|server| !under_way(&server.status))
        });
        let patience = self.patience(self.wait);
        let in_time = timeout(patience, decided).await.is_ok();
        let state = self.engine.snapshot();
        let server = state.server(name).ok_or(Refusal::Unknown)?;
        let seen = Seen {
            server: Arc::clone(server),
            age: None,
            waited: (!in_time).then_some(patience),
        };
        if let Some(message) = seen.unable() {
            return Err(Refusal::Unable(message));
        }
        self.engine.client(name).await.ok_or(Refusal::Unknown)
    }
}

impl Seen {
    /// Why the server cannot be asked for resources at all, if it cannot.
    pub(super) fn unable(&self) -> Option<String> {
        let server = &self.server;
        match &server.status {
            Status::Connected(session) => {
                (!session.declares(Group::Resources)).then(|| text::no_resources(&server.name))
            }
            Status::Disabled | Status::Untrusted => {
                Some(text::not_connected(&server.name, &server.status, None))
            }
            Status::Connecting
            | Status::Reconnecting { .. }
            | Status::NeedsAuth(_)
            | Status::Failed(_) => self
                .connection_problem()
                .map(|problem| problem.line(text::MESSAGE)),
        }
    }

    /// Whether the server should have lists: it is to be connected, and has not said that it
    /// knows no resources.
    pub(super) fn counts(&self) -> bool {
        match &self.server.status {
            Status::Disabled | Status::Untrusted => false,
            Status::Connected(session) => session.declares(Group::Resources),
            Status::Connecting
            | Status::Reconnecting { .. }
            | Status::NeedsAuth(_)
            | Status::Failed(_) => true,
        }
    }

    /// What is wrong with the connection.
    pub(super) fn connection_problem(&self) -> Option<Problem> {
        let failure = match &self.server.status {
            Status::Connected(_) | Status::Disabled | Status::Untrusted => return None,
            Status::Connecting => Failure::new(FailureKind::Timeout, self.not_ready()),
            Status::Reconnecting { cause, .. } => cause.clone(),
            Status::NeedsAuth(failure) | Status::Failed(failure) => failure.clone(),
        };
        Some(self.problem(None, failure))
    }

    /// What is wrong with the listing of a connected server.
    pub(super) fn listing_problem(&self, method: ListMethod) -> Option<Problem> {
        if self.server.status.session().is_none() || !self.counts() {
            return None;
        }
        let own = self.server.error(Some(method));
        let any = METHODS
            .iter()
            .find_map(|method| self.server.error(Some(*method)));
        let error = match self.server.catalog.freshness(method) {
            Freshness::Fresh => None,
            Freshness::Failed | Freshness::Absent => own,
            // The other listing of the two has failed, and they are renewed together.
            Freshness::Old { .. } => own.or(any),
        };
        let has_list = self.server.catalog.count(method).is_some();
        if let Some(error) = error {
            let mut problem = self.problem(error.method, error.failure.clone());
            problem.kept = self.age.filter(|_| has_list);
            return Some(problem);
        }
        self.waited.map(|_| {
            let mut message = self.not_ready();
            if has_list {
                message.insert_str(0, "a newer list is ");
            }
            self.problem(Some(method), Failure::new(FailureKind::Timeout, message))
        })
    }

    /// Whether the call has no list of the method from this server, although it should have one.
    pub(super) fn lacks(&self, method: ListMethod) -> bool {
        self.counts() && self.server.catalog.count(method).is_none()
    }

    fn not_ready(&self) -> String {
        let waited = seconds(self.waited.unwrap_or_default());
        format!("not ready after {waited}; ask again")
    }

    fn problem(&self, method: Option<ListMethod>, failure: Failure) -> Problem {
        Problem {
            server: Arc::clone(&self.server),
            method,
            failure,
            kept: None,
        }
    }
}

impl Problem {
    /// Its JSON, with a message of at most so many characters.
    pub(super) fn json(&self, most: usize) -> ErrorJson<'_> {
        ErrorJson {
            server: self.server.name.as_str(),
            method: self.method.map(ListMethod::name),
            kind: self.failure.kind.word(),
            code: self.failure.kind.code(),
            message: text::cut(&self.failure.message, most),
        }
    }

    /// Its line, with a message of at most so many characters.
    pub(super) fn line(&self, most: usize) -> String {
        let Some(method) = self.method else {
            let why = text::cut(&self.failure.message, most);
            let why = one_line(why);
            return text::not_connected(&self.server.name, &self.server.status, Some(&why));
        };
        let what = one_line(&text::coded(&self.failure, most));
        let mut line = format!("{}: {}: {what}", self.server.name, method.name());
        if let Some(age) = self.kept {
            let age = Duration::from_secs(age.as_secs());
            // Writing to a string does not fail.
            let _ = write!(line, " (the list is kept from {} ago)", seconds(age));
        }
        line
    }
}

/// The text without line breaks.
fn one_line(text: &str) -> String {
    crate::domain::text::cell(text).into_owned()
}
