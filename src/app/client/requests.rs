//! What handles ask for: calls that run as child tasks, changes of the course, and those who wait
//! for lines and messages.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::actor::ClientActor;
use super::message::Request;
use super::stage::{Next, Stage};
use super::waiting::Waiter;
use crate::domain::Failure;
use crate::mcp::Requester;
use crate::mcp::calls::{complete, get_prompt, read_resource};

impl ClientActor {
    pub(super) fn take_request(&mut self, request: Request) {
        match request {
            Request::Read { uri, reply } => self.call(reply, |requester| async move {
                read_resource(&requester, &uri).await
            }),
            Request::GetPrompt {
                name,
                arguments,
                reply,
            } => self.call(reply, |requester| async move {
                get_prompt(&requester, &name, &arguments).await
            }),
            Request::Complete {
                of,
                argument,
                context,
                reply,
            } => self.call(reply, |requester| async move {
                complete(&requester, of, argument, context).await
            }),
            Request::Demand { group, reply } => {
                // What came before the demand counts, whichever of the two woke us.
                self.take_notifications();
                let ticket = self.awaited(group);
                self.waiters.push(Waiter {
                    group,
                    ticket,
                    reply,
                });
            }
            Request::Refresh => {
                if let Stage::Up(live) = &mut self.stage {
                    live.request_all();
                }
            }
            Request::CheckAlive => {
                if let Stage::Up(live) = &mut self.stage {
                    live.check_alive();
                }
            }
            Request::SetEnabled(enabled) => {
                if self.definition.enabled != enabled {
                    let mut definition = (*self.definition).clone();
                    definition.enabled = enabled;
                    self.redefine(Arc::new(definition));
                }
            }
            Request::Reconnect => self.redefine(Arc::clone(&self.definition)),
            Request::Replace(definition) => {
                self.known_era = None;
                self.redefine(definition);
            }
            Request::Relocate(definition) => {
                self.definition = definition;
                self.shown.dirty = true;
            }
            Request::LinesSince { change, reply } => {
                let _ = reply.send(self.lines.since(change));
            }
            Request::LinesAfter { change, reply } => {
                let lines = Arc::clone(&self.lines);
                self.follow(reply, async move { lines.lines_after(change).await });
            }
            Request::MessagesAfter { seq, reply } => {
                let lines = Arc::clone(&self.lines);
                self.follow(reply, async move { lines.messages_after(seq).await });
            }
            Request::Shutdown => self.turn(Next::End),
        }
    }

    /// Answers when there is something to tell, unless nobody waits for it any more.
    fn follow<T: Send + 'static>(
        &mut self,
        mut reply: oneshot::Sender<T>,
        news: impl Future<Output = T> + Send + 'static,
    ) {
        while self.followers.try_join_next().is_some() {}
        self.followers.spawn(async move {
            tokio::select! {
                told = news => {
                    let _ = reply.send(told);
                }
                () = reply.closed() => {}
            }
        });
    }

    fn call<T, F>(
        &mut self,
        reply: oneshot::Sender<Result<T, Failure>>,
        call: impl FnOnce(Requester) -> F,
    ) where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        if let Stage::Up(live) = &mut self.stage {
            live.call(reply, call);
        } else {
            // A failed send: nobody waits for it any more.
            let _ = reply.send(Err(self.not_connected()));
        }
    }
}
