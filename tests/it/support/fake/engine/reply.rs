//! How a message is answered: at once, later, when released, wrongly or never.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::answer::{Answer, default_answer};
use super::super::outlet::Head;
use super::super::script::LIST_METHODS;
use super::super::subscription::Subscription;
use super::super::{Era, Frame, Logged, Outlet, Reply};
use super::{Engine, Input, Message};

/// A message that is being answered.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) method: String,
    pub(super) reply: Reply,
    id: Option<Value>,
    params: Option<Value>,
    /// The default answer, unless it is computed when it is sent.
    answer: Option<Answer>,
    outlet: Outlet,
    /// Whether the rule gave a result.
    answered_with_result: bool,
    /// What is still to be sent of the HTTP head.
    head: Option<Head>,
}

impl Engine {
    /// Finds out how a message is answered.
    pub(super) fn request(&mut self, message: Message) {
        let rule = self.rule_for(&message.method, message.params.as_ref());
        let reply = rule.unwrap_or_default();
        let refusal = self.refuse(&message, &reply);
        self.reply_with(message, refusal.unwrap_or(reply));
    }

    /// Answers like this, now or later.
    pub(super) fn reply_with(&mut self, message: Message, reply: Reply) {
        let head = message
            .http
            .is_some()
            .then(|| self.head_for(&message, &reply));
        let mut pending = Pending {
            method: message.method,
            answered_with_result: reply.result.is_some() || reply.result_text.is_some(),
            reply,
            id: message.id,
            params: message.params,
            answer: None,
            outlet: message.outlet,
            head,
        };
        // An SSE stream starts before its answer is there.
        if pending.head.as_ref().is_some_and(|head| head.stream) {
            pending.send_head();
        }
        if !pending.reply.fresh {
            pending.answer = self.compute(&pending);
        }
        self.schedule(pending);
    }

    /// Answers now, or keeps the message until its time comes.
    fn schedule(&mut self, pending: Pending) {
        let waits = pending.reply.hold
            || pending.reply.delay_ms > 0
            || (pending.reply.silence && pending.id.is_some());
        if !waits {
            self.deliver(pending);
            return;
        }
        let key = self.next_pending;
        self.next_pending += 1;
        if pending.reply.delay_ms > 0 && !pending.reply.hold {
            let inputs = self.inputs.clone();
            let delay = Duration::from_millis(pending.reply.delay_ms);
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = inputs.send(Input::Due(key));
            });
        }
        self.pending.insert(key, pending);
    }

    /// The default answer, where it is needed.
    fn compute(&self, pending: &Pending) -> Option<Answer> {
        pending.id.as_ref()?;
        let needed = pending.reply.is_default() || pending.reply.raw.is_some();
        (needed && !self.is_listen(pending))
            .then(|| default_answer(&self.script, &pending.method, pending.params.as_ref()))
    }

    fn is_listen(&self, pending: &Pending) -> bool {
        pending.method == "subscriptions/listen" && self.script.era != Era::Legacy
    }

    /// Sends the answer and does what belongs to it.
    pub(super) fn deliver(&mut self, mut pending: Pending) {
        self.act(std::mem::take(&mut pending.reply.before));
        if self.exit.is_some() {
            return;
        }
        if pending.answer.is_none() {
            pending.answer = self.compute(&pending);
        }
        // Without a word to say, an HTTP request is left open.
        if pending.id.is_none() || pending.reply.is_explicit() || pending.reply.is_default() {
            pending.send_head();
        }
        if pending.reply.is_explicit() {
            pending.send_explicit();
        } else if let Some(answer) = pending.answer.take() {
            pending.send(answer);
        } else if pending.reply.is_default() && pending.id.is_some() && self.is_listen(&pending) {
            self.subscribe(&pending);
        }
        if pending.reply.http.abort {
            pending.outlet.send(Frame::Abort);
        }
        self.last_outlet = Some(pending.outlet.clone());
        self.after(pending);
        // Whoever holds the outlet keeps an HTTP body open.
        if self.exit.is_none() {
            self.last_outlet = None;
        }
    }

    /// What follows an answer.
    fn after(&mut self, mut pending: Pending) {
        match pending.method.as_str() {
            "initialize" => {
                let default = pending.reply.is_default() && self.script.era != Era::Modern;
                self.legacy |= default || pending.answered_with_result;
            }
            "notifications/initialized" => self.act(self.script.initialized.clone()),
            "subscriptions/listen" if pending.reply.is_default() && self.is_listen(&pending) => {
                self.act(self.script.listening.clone());
            }
            _ => {}
        }
        self.act(std::mem::take(&mut pending.reply.after));
        if LIST_METHODS.contains(&pending.method.as_str()) {
            self.act(self.script.each_list.clone());
        }
        if pending.reply.close_stdout {
            self.act(vec![super::Action::CloseStdout]);
        }
        if let Some(exit) = pending.reply.exit.take() {
            self.act(vec![super::Action::Exit(exit)]);
        }
    }

    fn subscribe(&mut self, pending: &Pending) {
        let asked = pending
            .params
            .as_ref()
            .map(|it| it["notifications"].clone());
        let subscription = Subscription {
            id: pending.id.clone().unwrap_or_default(),
            filter: self
                .script
                .acknowledge
                .clone()
                .or(asked)
                .unwrap_or_else(|| json!({})),
            outlet: pending.outlet.clone(),
        };
        subscription.acknowledge();
        self.subscriptions.push(subscription);
    }

    /// The client cancelled a request.
    pub(super) fn cancel(&mut self, id: Option<&Value>) {
        let Some(id) = id else { return };
        self.subscriptions
            .retain(|subscription| subscription.id != *id);
        self.drop_pending(|pending| pending.id.as_ref() == Some(id), "cancelled");
    }

    /// The client closed an HTTP response or stream.
    pub(super) fn gone(&mut self, key: u64) {
        self.streams.retain(|stream| stream.outlet.key != key);
        let before = self.subscriptions.len();
        self.subscriptions
            .retain(|subscription| subscription.outlet.key != key);
        if self.subscriptions.len() < before {
            let mut entry = Logged::event("gone");
            entry.method = Some("subscriptions/listen".to_owned());
            self.log(entry);
        }
        self.drop_pending(|pending| pending.outlet.key == key, "gone");
    }

    /// Forgets pending requests, unless they are answered in spite of it; records each.
    fn drop_pending(&mut self, is: impl Fn(&Pending) -> bool, event: &str) {
        let keys: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, pending)| is(pending))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            let mut entry = Logged::event(event);
            if let Some(pending) = self.pending.get(&key) {
                entry.method = Some(pending.method.clone());
                entry.id.clone_from(&pending.id);
                if !pending.reply.ignore_cancel {
                    self.pending.remove(&key);
                }
            }
            self.log(entry);
        }
    }
}

impl Pending {
    fn send_head(&mut self) {
        if let Some(head) = self.head.take() {
            self.outlet.send(Frame::Head(head));
        }
    }

    /// Sends the result or error in an envelope.
    fn send(&self, answer: Answer) {
        let id = self.id.clone().unwrap_or_default();
        let body = match answer {
            Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
            Err(error) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}"),
        };
        self.outlet.send(Frame::Message(body));
    }

    /// Sends what the rule spells out.
    fn send_explicit(&mut self) {
        if let Some(parts) = &self.reply.raw {
            let id = self.id.clone().unwrap_or_default().to_string();
            let result = match self.answer.take() {
                Some(Ok(result)) => result,
                Some(Err(error)) => error.to_string(),
                None => "{}".to_owned(),
            };
            let substitute = |text: &str| text.replace("{id}", &id).replace("{result}", &result);
            let mut bytes = Vec::new();
            for part in parts {
                part.write_to(&mut bytes, &substitute);
            }
            self.outlet.send(Frame::Raw(bytes));
        } else if self.id.is_none() {
            // A notification is not answered; the rule is for its HTTP status.
        } else if let Some(error) = self.reply.error.take() {
            self.send(Err(error));
        } else if let Some(text) = self.reply.result_text.take() {
            self.send(Ok(text));
        } else if let Some(result) = self.reply.result.take() {
            self.send(Ok(result.to_string()));
        }
    }
}
