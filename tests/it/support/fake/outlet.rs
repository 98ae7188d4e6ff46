//! Where the fake's output goes: a byte stream, an HTTP response or an HTTP stream.

use tokio::sync::{mpsc, oneshot};

/// One piece of output.
#[derive(Debug)]
pub enum Frame {
    /// Status and headers of an HTTP response; nothing on a byte stream.
    Head(Head),
    /// A JSON-RPC message, framed as the transport frames it.
    Message(String),
    /// An SSE event that is no message, as `event` and `data`; nothing on a byte stream.
    Event(&'static str, String),
    /// Exact bytes.
    Raw(Vec<u8>),
    /// Breaks an HTTP body off.
    Abort,
    /// Closes the stream.
    Close,
    /// Tells when everything before is written.
    Flush(oneshot::Sender<()>),
}

/// Status and headers of an HTTP response.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Whether the body is an SSE stream.
    pub stream: bool,
    /// The headers.
    pub headers: Vec<(String, String)>,
}

/// The sending side. `key` names the HTTP response, stream or pipe.
///
/// It is unbounded on purpose: a client that stops reading must not stop the fake from obeying.
#[derive(Debug, Clone)]
pub struct Outlet {
    /// The number of this outlet, unique within one fake.
    pub key: u64,
    sender: mpsc::UnboundedSender<Frame>,
}

impl Outlet {
    /// An outlet and its receiving side.
    pub fn new(key: u64) -> (Self, mpsc::UnboundedReceiver<Frame>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { key, sender }, receiver)
    }

    /// Sends a frame; nobody listening is no error.
    pub fn send(&self, frame: Frame) {
        let _ = self.sender.send(frame);
    }
}
