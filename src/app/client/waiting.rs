//! Those who wait for a clean catalog (`demand`), and when they are answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::actor::ClientActor;
use super::handle::Demand;
use super::refresh::Ticket;
use super::stage::Stage;
use crate::domain::{DiscoveryError, Failure, FailureKind, Freshness, Group, Status};

/// Somebody waits for a clean catalog.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) group: Group,
    /// The refresh to wait for, once there is a connection.
    pub(super) ticket: Option<Ticket>,
    pub(super) reply: oneshot::Sender<Demand>,
}

impl ClientActor {
    pub(super) fn awaited(&mut self, group: Group) -> Option<Ticket> {
        let Stage::Up(live) = &mut self.stage else {
            return None;
        };
        let catalog = &self.shelf.catalog;
        let fresh = live
            .methods()
            .iter()
            .filter(|method| method.group() == group)
            .all(|method| catalog.freshness(*method) == Freshness::Fresh);
        let healthy = fresh && !live.has_expired(group);
        live.awaited(group, healthy).or(Some(0))
    }

    /// Answers those who waited for what has come, or cannot come.
    pub(super) fn answer_waiters(&mut self) {
        if self.waiters.is_empty() {
            return;
        }
        let unreachable = match &self.stage {
            Stage::Resting(_) | Stage::Ended => Some(self.not_connected()),
            Stage::Waiting(_) | Stage::Connecting { .. } | Stage::Up(_) | Stage::Closing(_) => None,
        };
        let catalog = Arc::new(self.shelf.catalog.clone());
        for waiter in std::mem::take(&mut self.waiters) {
            let Waiter {
                group,
                ticket,
                reply,
            } = waiter;
            let (error, age) = match (&self.stage, ticket) {
                (Stage::Up(live), Some(ticket)) if live.is_done(group, ticket) => {
                    let in_group = |error: &&DiscoveryError| {
                        error.method.is_some_and(|method| method.group() == group)
                    };
                    match self.shelf.errors.iter().find(in_group) {
                        Some(error) => (Some(error.failure.clone()), live.age(group)),
                        None => (None, Duration::ZERO),
                    }
                }
                _ if unreachable.is_some() => (unreachable.clone(), Duration::ZERO),
                _ => {
                    if !reply.is_closed() {
                        self.waiters.push(Waiter {
                            group,
                            ticket,
                            reply,
                        });
                    }
                    continue;
                }
            };
            let _ = reply.send(Demand {
                catalog: Arc::clone(&catalog),
                error,
                age,
            });
        }
    }

    pub(super) fn not_connected(&self) -> Failure {
        let status = self.status();
        let kind = status
            .failure()
            .map_or(FailureKind::Connect, |failure| failure.kind);
        let what = match &status {
            Status::Disabled => "the server is disabled; enable it first".to_owned(),
            Status::Untrusted => {
                "the server is of a project file that was not approved; trust it first".to_owned()
            }
            other => match other.failure() {
                Some(failure) => format!("not connected ({}: {failure})", other.word()),
                None => format!("not connected ({})", other.word()),
            },
        };
        Failure::new(kind, what)
    }
}
