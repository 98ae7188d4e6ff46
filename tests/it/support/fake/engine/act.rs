//! What a fake does beside answering.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Action, Ask, Frame, Logged, Notice, Part, Release, subscription};
use super::{Engine, Input};

impl Engine {
    /// Does these things in order, up to an exit; what follows a wait is done later.
    pub(super) fn act(&mut self, actions: Vec<Action>) {
        let mut actions = actions.into_iter();
        while let Some(action) = actions.next() {
            if self.exit.is_some() {
                return;
            }
            if let Action::WaitMs(ms) = action {
                self.act_after(ms, actions.collect());
                return;
            }
            self.act_one(action);
        }
    }

    /// Does these things after a while; at once for 0.
    pub(super) fn act_after(&mut self, ms: u64, actions: Vec<Action>) {
        if ms == 0 {
            self.act(actions);
            return;
        }
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            let _ = inputs.send(Input::Act(actions));
        });
    }

    fn act_one(&mut self, action: Action) {
        match action {
            Action::Notify(notice) => self.notify(notice),
            Action::Ask(ask) => self.ask(ask),
            Action::WriteStdout(parts) => self.write_stdout(&parts),
            Action::WriteStderr(text) => self.write_stderr(&text),
            Action::FloodStderr(bytes) => self.flood_stderr(bytes),
            Action::SetPages(listings) => self.script.listings.extend(listings),
            Action::Rule(rule) => self.script.rules.push(*rule),
            Action::ClearRules(method) => self.script.rules.retain(|rule| rule.method != method),
            Action::Release(release) => self.release(&release),
            Action::WaitMs(_) => {}
            Action::Exit(exit) => {
                if let Some(text) = &exit.stderr {
                    self.write_stderr(text);
                }
                self.log(Logged::event("exit").value(i64::from(exit.code)));
                self.exit = Some(exit);
            }
            Action::CloseStdout | Action::CloseStreams => {
                for stream in self.streams.drain(..) {
                    stream.outlet.send(Frame::Close);
                }
            }
            Action::Grandchild(grandchild) => {
                let pid = self
                    .host
                    .as_mut()
                    .and_then(|host| host.grandchild(&grandchild));
                self.log(Logged::event("grandchild").value(pid.map_or(0, i64::from)));
            }
            Action::EndSubscriptions { graceful } => {
                for subscription in self.subscriptions.drain(..) {
                    if graceful {
                        subscription.complete();
                    }
                }
            }
            Action::ExpireSessions => self.sessions.clear(),
            Action::SetBearer(bearer) => self.script.http.bearer = bearer,
            Action::Sync(number) => {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                self.log(Logged::event("sync").value(number));
            }
        }
    }

    /// Sends a notification: to the subscriptions that want it and, in the legacy era or where
    /// it needs no subscription, as a plain message.
    fn notify(&mut self, notice: Notice) {
        if notice.spacing_ms > 0 && notice.count > 1 {
            self.notify_spaced(notice);
            return;
        }
        let method = notice.method.as_str();
        for subscription in self.subscriptions.iter().filter(|it| it.wants(method)) {
            let message = subscription.notification(method, notice.params.as_ref());
            for _ in 0..notice.count {
                subscription.outlet.send(Frame::Message(message.clone()));
            }
        }
        let needs_subscription = subscription::flag(method).is_some();
        if !needs_subscription || self.legacy || notice.unsolicited {
            let mut message = json!({"jsonrpc": "2.0", "method": method});
            if let Some(params) = notice.params {
                message["params"] = params;
            }
            let message = message.to_string();
            for _ in 0..notice.count {
                self.broadcast(message.clone());
            }
        }
    }

    fn notify_spaced(&self, notice: Notice) {
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            let one = Notice {
                count: 1,
                ..notice.clone()
            };
            for sent in 0..notice.count {
                if sent > 0 {
                    tokio::time::sleep(Duration::from_millis(notice.spacing_ms)).await;
                }
                let action = Action::Notify(one.clone());
                if inputs.send(Input::Act(vec![action])).is_err() {
                    return;
                }
            }
        });
    }

    fn ask(&mut self, ask: Ask) {
        let id = ask.id.unwrap_or_else(|| {
            self.next_ask += 1;
            Value::from(self.next_ask)
        });
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": ask.method});
        if let Some(params) = ask.params {
            message["params"] = params;
        }
        self.asked.insert(id.to_string(), ask.method);
        self.broadcast(message.to_string());
    }

    /// Sends a message to every stream; over HTTP it waits for the first stream to be opened.
    fn broadcast(&mut self, message: String) {
        if self.over_http && self.streams.is_empty() {
            self.backlog.push(message);
            return;
        }
        for stream in &self.streams {
            stream.outlet.send(Frame::Message(message.clone()));
        }
    }

    fn write_stdout(&mut self, parts: &[Part]) {
        let mut bytes = Vec::new();
        for part in parts {
            part.write_to(&mut bytes, &str::to_owned);
        }
        for stream in &self.streams {
            stream.outlet.send(Frame::Raw(bytes.clone()));
        }
    }

    fn write_stderr(&mut self, text: &str) {
        self.log(Logged::event("stderr").text(text));
        if let Some(host) = &mut self.host {
            host.stderr(text.as_bytes().to_vec());
        }
    }

    fn flood_stderr(&mut self, bytes: usize) {
        self.log(Logged::event("stderr").value(i64::try_from(bytes).unwrap_or(i64::MAX)));
        if let Some(host) = &mut self.host {
            let mut text = Vec::with_capacity(bytes + 64);
            let mut number = 0_u64;
            while text.len() < bytes {
                number += 1;
                text.extend_from_slice(format!("flood: line {number:08} of noise\n").as_bytes());
            }
            host.stderr(text);
        }
    }

    fn release(&mut self, release: &Release) {
        let wanted = |method: &str| release.method.is_empty() || release.method == method;
        let keys: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.reply.hold && wanted(&pending.method))
            .map(|(key, _)| *key)
            .take(release.count.unwrap_or(usize::MAX))
            .collect();
        for key in keys {
            if let Some(pending) = self.pending.remove(&key) {
                self.deliver(pending);
            }
        }
    }
}
