//! Opens a connection in a task of its own, when it is its turn.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message::{Opened, Report};
use super::slots::{ConnectSlots, HELD_AT_MOST, Seat};
use crate::domain::server::Mask;
use crate::domain::{Epoch, Failure, ServerConfig};
use crate::mcp::{ConnectOptions, Connection, LineRing};

/// What it takes to open a connection.
pub(super) struct Connecting {
    pub(super) epoch: Epoch,
    pub(super) config: Arc<ServerConfig>,
    pub(super) options: ConnectOptions,
    pub(super) slots: Arc<ConnectSlots>,
    pub(super) seat: Seat,
    pub(super) lines: Arc<LineRing>,
    pub(super) mask: Mask,
    pub(super) reports: mpsc::Sender<Report>,
}

impl Connecting {
    /// Starts; the returned token calls it off. Either way one report comes. What a failed
    /// attempt leaves is ended behind it, and keeps the seat until then.
    pub(super) fn start(self) -> CancellationToken {
        let cancel = CancellationToken::new();
        let called_off = cancel.clone();
        tokio::spawn(async move {
            let reports = self.reports.clone();
            let report = Report::Connected(self.epoch, self.open(&called_off).await);
            // The actor is gone only when nobody is left to tell.
            let _ = reports.send(report).await;
        });
        cancel
    }

    async fn open(self, cancel: &CancellationToken) -> Option<Result<Opened, Failure>> {
        let turn = async {
            let seat = self.seat.take().await;
            (seat, self.slots.take(&self.config).await)
        };
        let (seat, slot) = tokio::select! {
            turn = turn => turn,
            () = cancel.cancelled() => return None,
        };
        let keep = Box::new(seat);
        let connect = Connection::open(&self.config, &self.options, &self.lines, keep, cancel);
        tokio::pin!(connect);
        let outcome = tokio::select! {
            outcome = &mut connect => outcome,
            () = tokio::time::sleep(HELD_AT_MOST) => {
                drop(slot);
                connect.await
            }
        };
        outcome.map(|result| {
            let opened = |connection| Opened {
                connection: Box::new(connection),
                mask: self.mask.clone(),
            };
            result
                .map(opened)
                .map_err(|failure| self.mask.failure(failure))
        })
    }
}
