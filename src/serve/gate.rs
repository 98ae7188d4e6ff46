//! Bounds what one client on stdin may have under way: whoever asks without reading the answers
//! is not read any further, and costs no more memory.
//!
//! A request holds a place until its answer is written, or until it is cancelled. Where all places
//! are taken, notifications still come through, so that a cancellation can free one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How many requests may be unanswered at once.
const PLACES: usize = 256;

/// How often is looked whether the client has gone, while it is not read.
const LOOK: Duration = Duration::from_millis(200);

/// A transport behind the gate.
pub(super) struct Gate<T> {
    inner: T,
    places: Arc<Semaphore>,
    taken: HashMap<RequestId, OwnedSemaphorePermit>,
    /// A request that was read when no place was left.
    waiting: Option<ClientJsonRpcMessage>,
    /// Cancelled where nobody is left to hear us.
    end: CancellationToken,
}

impl<T> Gate<T> {
    pub(super) fn new(inner: T, end: CancellationToken) -> Self {
        Self {
            inner,
            places: Arc::new(Semaphore::new(PLACES)),
            taken: HashMap::new(),
            waiting: None,
            end,
        }
    }

    /// Lets a message in if it needs no place, or there is one.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                    self.waiting = Some(message);
                    return None;
                };
                // An id that is in use already: the later request is the one that counts.
                self.taken.insert(request.id.clone(), place);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.taken.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Gate<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &item {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let place = id.and_then(|id| self.taken.remove(id));
        let end = self.end.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            drop(place);
            if sent.is_err() {
                end.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = match self.waiting.take() {
                Some(message) => message,
                None => self.inner.receive().await?,
            };
            if let Some(message) = self.admit(message) {
                return Some(message);
            }
            if !has_place(&self.places, &self.end).await {
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Waits for a place; `false` where the client has gone meanwhile.
async fn has_place(places: &Semaphore, end: &CancellationToken) -> bool {
    loop {
        tokio::select! {
            // It is given back at once, and taken by the request that waits.
            place = places.acquire() => return place.is_ok(),
            () = sleep(LOOK) => {
                if has_hung_up() {
                    end.cancel();
                    return false;
                }
            }
        }
    }
}

/// Whether the client has closed its side of our stdin, whatever is still to be read there.
#[cfg(unix)]
fn has_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    // Node gives its children sockets: the end of their input is a half-closed one.
    #[cfg(target_os = "linux")]
    let half = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    let half = PollFlags::empty();
    let mut polled = [PollFd::new(&stdin, half)];
    let gone = half | PollFlags::HUP | PollFlags::ERR;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(gone)
}

#[cfg(not(unix))]
const fn has_hung_up() -> bool {
    false
}
