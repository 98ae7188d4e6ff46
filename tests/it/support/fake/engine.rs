//! The engine: one task that owns a fake's state and plays its script.
//!
//! This file takes the inputs apart. `reply` answers, `act` does what the script says beside
//! answering, `session` knows HTTP.

mod act;
mod reply;
mod session;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::reply::Pending;
pub use self::session::HttpRequest;
use self::session::Stream;
use super::subscription::Subscription;
use super::{Action, Era, Exit, Frame, Grandchild, Logged, Outlet, Record, Reply, Script, Sigterm};

/// What the engine reacts to.
#[derive(Debug)]
pub enum Input {
    /// One line of a byte stream.
    Line {
        /// The bytes, as they came.
        body: Vec<u8>,
        /// Where answers go.
        outlet: Outlet,
    },
    /// An HTTP request.
    Http(HttpRequest),
    /// The client closed this HTTP response before its end.
    Gone(u64),
    /// A delayed answer is due.
    Due(u64),
    /// Things to do now.
    Act(Vec<Action>),
    /// The byte stream has ended.
    Eof,
    /// TERM was received.
    Signal,
}

/// What only a process can do; in-process fakes do nothing.
pub trait Host: Send {
    /// Writes to stderr.
    fn stderr(&mut self, bytes: Vec<u8>);
    /// Starts a grandchild, and returns its pid.
    fn grandchild(&mut self, grandchild: &Grandchild) -> Option<u32>;
}

/// A fake server.
pub struct Engine {
    script: Script,
    inputs: UnboundedSender<Input>,
    records: Vec<Box<dyn Record>>,
    host: Option<Box<dyn Host>>,
    started: Instant,
    entries: u64,
    counts: HashMap<String, u64>,
    pending: BTreeMap<u64, Pending>,
    next_pending: u64,
    asked: HashMap<String, String>,
    next_ask: u64,
    over_http: bool,
    streams: Vec<Stream>,
    backlog: Vec<String>,
    sessions: Vec<String>,
    next_session: u64,
    subscriptions: Vec<Subscription>,
    legacy: bool,
    last_outlet: Option<Outlet>,
    exit: Option<Exit>,
}

/// A message of the client on its way through the engine.
struct Message {
    method: String,
    id: Option<Value>,
    params: Option<Value>,
    outlet: Outlet,
    http: Option<BTreeMap<String, String>>,
}

impl Engine {
    /// An engine for a script, and the channel that it reads.
    pub fn new(script: Script) -> (Self, UnboundedSender<Input>, UnboundedReceiver<Input>) {
        let (inputs, receiver) = mpsc::unbounded_channel();
        let engine = Self {
            legacy: script.era == Era::Legacy,
            script,
            inputs: inputs.clone(),
            records: Vec::new(),
            host: None,
            started: Instant::now(),
            entries: 0,
            counts: HashMap::new(),
            pending: BTreeMap::new(),
            next_pending: 0,
            asked: HashMap::new(),
            next_ask: 0,
            over_http: true,
            streams: Vec::new(),
            backlog: Vec::new(),
            sessions: Vec::new(),
            next_session: 0,
            subscriptions: Vec::new(),
            last_outlet: None,
            exit: None,
        };
        (engine, inputs, receiver)
    }

    /// Adds a place that keeps entries.
    #[must_use]
    pub fn record_to(mut self, record: Box<dyn Record>) -> Self {
        self.records.push(record);
        self
    }

    /// Gives it the abilities of a process.
    #[must_use]
    pub fn with_host(mut self, host: Box<dyn Host>) -> Self {
        self.host = Some(host);
        self
    }

    /// Sends the server's own messages to this byte stream.
    #[must_use]
    pub fn with_stream(mut self, outlet: Outlet) -> Self {
        self.over_http = false;
        self.streams.push(Stream {
            outlet,
            session: None,
        });
        self
    }

    /// Plays the script until it ends, and says how it ended.
    pub async fn run(mut self, mut inputs: UnboundedReceiver<Input>) -> Exit {
        self.log(Logged::event("started").value(i64::from(std::process::id())));
        if let Some(grandchild) = self.script.process.grandchild.clone() {
            self.act(vec![Action::Grandchild(grandchild)]);
        }
        self.act(self.script.start.clone());
        if self.script.process.start_delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.script.process.start_delay_ms)).await;
        }
        loop {
            if let Some(exit) = self.exit.take() {
                self.flush().await;
                return exit;
            }
            // The engine holds a sender itself, so the channel never ends.
            if let Some(input) = inputs.recv().await {
                self.take(input);
            }
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Line { body, outlet } => self.body(&body, &outlet, None),
            Input::Http(request) => self.http(request),
            Input::Gone(key) => self.gone(key),
            Input::Due(key) => {
                if let Some(pending) = self.pending.remove(&key) {
                    self.deliver(pending);
                }
            }
            Input::Act(actions) => self.act(actions),
            Input::Eof => {
                self.log(Logged::event("eof"));
                if !self.script.process.ignore_eof {
                    let exit = Action::exit(self.script.process.eof_code, "");
                    self.act_after(self.script.process.linger_ms, vec![exit]);
                }
            }
            Input::Signal => {
                self.log(Logged::event("signal").text("TERM"));
                if let Sigterm::Exit(code) = self.script.process.sigterm {
                    self.act(vec![Action::exit(code, "")]);
                }
            }
        }
    }

    /// Takes one line or one POST body.
    fn body(&mut self, body: &[u8], outlet: &Outlet, http: Option<BTreeMap<String, String>>) {
        if body.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(batch)) => {
                for message in batch {
                    self.message(message, outlet.clone(), http.clone());
                }
            }
            Ok(message) => self.message(message, outlet.clone(), http),
            Err(_) => {
                let mut entry =
                    Logged::event("unparsed").text(String::from_utf8_lossy(body).into_owned());
                entry.headers = http;
                self.log(entry);
                self.answer_bare(outlet, 400);
            }
        }
    }

    fn message(
        &mut self,
        mut message: Value,
        outlet: Outlet,
        http: Option<BTreeMap<String, String>>,
    ) {
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            self.response(message, &outlet, http);
            return;
        };
        let mut member = |name: &str| message.as_object_mut()?.shift_remove(name);
        let message = Message {
            method,
            id: member("id"),
            params: member("params"),
            outlet,
            http,
        };
        self.log(Logged {
            method: Some(message.method.clone()),
            id: message.id.clone(),
            params: message.params.clone(),
            headers: message.http.clone(),
            ..Logged::default()
        });
        if message.id.is_some() && !self.script.each_request.is_empty() {
            self.act(self.script.each_request.clone());
        }
        if message.method == "notifications/cancelled" {
            let id = message.params.as_ref().map(|params| &params["requestId"]);
            self.cancel(id);
        }
        self.request(message);
    }

    /// An answer of the client to a request of ours.
    fn response(
        &mut self,
        mut message: Value,
        outlet: &Outlet,
        http: Option<BTreeMap<String, String>>,
    ) {
        let id = message.get("id").cloned();
        let method = id
            .as_ref()
            .and_then(|id| self.asked.remove(&id.to_string()));
        let mut member = |name: &str| message.as_object_mut()?.shift_remove(name);
        self.log(Logged {
            method,
            id,
            result: member("result"),
            error: member("error"),
            headers: http,
            ..Logged::default()
        });
        self.answer_bare(outlet, 202);
    }

    /// The rule for a message, after it was counted.
    fn rule_for(&mut self, method: &str, params: Option<&Value>) -> Option<Reply> {
        let count = self.counts.entry(method.to_owned()).or_default();
        *count += 1;
        let nth = *count;
        // `max_by_key` returns the last of equals, which is the newest.
        self.script
            .rules
            .iter()
            .filter_map(|rule| Some((rule.matches(method, nth, params)?, rule)))
            .max_by_key(|(specific, _)| *specific)
            .map(|(_, rule)| rule.reply.clone())
    }

    fn log(&mut self, mut entry: Logged) {
        entry.n = self.entries;
        entry.at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.entries += 1;
        for record in &mut self.records {
            record.record(&entry);
        }
    }

    /// Waits, within a bound, until what was sent is written.
    async fn flush(&mut self) {
        let streams = self.streams.iter().map(|stream| &stream.outlet);
        let outlets: Vec<_> = streams.chain(&self.last_outlet).cloned().collect();
        for outlet in outlets {
            let (done, written) = oneshot::channel();
            outlet.send(Frame::Flush(done));
            let _ = tokio::time::timeout(Duration::from_secs(1), written).await;
        }
    }
}
