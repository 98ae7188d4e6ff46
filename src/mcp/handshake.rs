//! The handshake of the era with `initialize` (MCP 2025-11-25, lifecycle).
//!
//! It is done by us and not by rmcp, because a handshake must tell exactly why it failed: rmcp
//! accepts any version, knows no bound, and drops what it cannot decode.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult,
    Implementation, InitializeRequest, InitializeRequestParams, InitializedNotification,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerRequest,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;

use super::decode::handshake::InitializeReading;
use super::reply::{Reply, RpcError};
use crate::domain::text;
use crate::domain::{Failure, FailureKind};

/// The versions that are agreed on in `initialize`, oldest first.
pub const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The first id of a handshake. rmcp counts from 0, so ids are never used twice on a transport.
const FIRST_ID: i64 = 1_000_000_000;

/// Why a handshake did not succeed. What the process did is added by the one who owns it.
#[derive(Debug)]
pub enum HandshakeError {
    /// The connection ended.
    Ended,
    /// The message could not be delivered, and why.
    Send(Box<dyn std::error::Error + Send + Sync>),
    /// The server answered, and that was the end of it.
    Refused(Failure),
}

/// One handshake on a transport.
#[derive(Debug)]
pub struct Handshake<'a, T> {
    transport: &'a mut T,
    next_id: i64,
}

impl<'a, T: Transport<RoleClient>> Handshake<'a, T> {
    /// A handshake that starts now.
    pub const fn new(transport: &'a mut T) -> Self {
        Self {
            transport,
            next_id: FIRST_ID,
        }
    }

    /// Sends `initialize` and, once a version is agreed on, `notifications/initialized`.
    ///
    /// # Errors
    ///
    /// Why the server cannot be spoken to.
    pub async fn initialize(mut self) -> Result<InitializeReading, HandshakeError> {
        let mut reply = self.ask(ProtocolVersion::LATEST_WITH_INITIALIZE).await?;
        if let Reply::Error(error) = &reply
            && let Some(version) = newest_common(error)
        {
            reply = self.ask(version).await?;
        }
        let reading = match reply {
            Reply::Result(raw) => InitializeReading::read(&raw).map_err(HandshakeError::Refused)?,
            Reply::Malformed(reason) => {
                return Err(refused(
                    FailureKind::Malformed,
                    format!("initialize: {reason}"),
                ));
            }
            Reply::Error(error) => {
                return Err(refused(
                    FailureKind::Connect,
                    format!("initialize was refused: {}", describe(&error)),
                ));
            }
        };
        if !LEGACY_VERSIONS.contains(&&*reading.protocol_version) {
            return Err(refused(
                FailureKind::Connect,
                format!(
                    "no common protocol version: the server speaks {}, mcpdeck speaks {}",
                    reading.protocol_version,
                    LEGACY_VERSIONS.join(", "),
                ),
            ));
        }
        self.send(JsonRpcMessage::notification(
            ClientNotification::InitializedNotification(InitializedNotification::default()),
        ))
        .await?;
        Ok(reading)
    }

    async fn ask(&mut self, version: ProtocolVersion) -> Result<Reply, HandshakeError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut params = client_info();
        params.protocol_version = version;
        let request = ClientRequest::InitializeRequest(InitializeRequest::new(params));
        self.send(JsonRpcMessage::request(request, RequestId::Number(id)))
            .await?;
        self.answer_to(id).await
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), HandshakeError> {
        self.transport
            .send(message)
            .await
            .map_err(|error| HandshakeError::Send(Box::new(error)))
    }

    /// Waits for the answer. The stdio transport answers requests itself; over HTTP a ping may
    /// come here.
    async fn answer_to(&mut self, wanted: i64) -> Result<Reply, HandshakeError> {
        loop {
            match self.transport.receive().await {
                None => return Err(HandshakeError::Ended),
                Some(JsonRpcMessage::Response(response)) => {
                    if response.id == RequestId::Number(wanted) {
                        return Ok(Reply::from(response.result));
                    }
                }
                Some(JsonRpcMessage::Error(error)) => {
                    if error.id.is_none() || error.id == Some(RequestId::Number(wanted)) {
                        return Ok(Reply::Error(RpcError {
                            code: error.error.code.0.into(),
                            message: error.error.message.into_owned(),
                            data: error.error.data,
                        }));
                    }
                }
                Some(JsonRpcMessage::Request(request)) => {
                    if matches!(request.request, ServerRequest::PingRequest(_)) {
                        self.send(JsonRpcMessage::response(
                            ClientResult::empty(()),
                            request.id,
                        ))
                        .await?;
                    }
                }
                Some(JsonRpcMessage::Notification(_)) => {}
            }
        }
    }
}

fn refused(kind: FailureKind, message: String) -> HandshakeError {
    HandshakeError::Refused(Failure::new(kind, message))
}

/// The error as a fragment: code and message, sanitized.
#[must_use]
pub fn describe(error: &RpcError) -> String {
    let message = text::error_text(&error.message);
    if message.is_empty() {
        format!("error {}", error.code)
    } else {
        format!("error {}: {message}", error.code)
    }
}

/// The newest of our versions that the error's `data.supported` names.
fn newest_common(error: &RpcError) -> Option<ProtocolVersion> {
    let supported = error.data.as_ref()?.get("supported")?.as_array()?;
    let newest = LEGACY_VERSIONS
        .iter()
        .rfind(|ours| supported.iter().any(|theirs| theirs == **ours))?;
    ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .find(|known| known.as_str() == *newest)
        .cloned()
}

/// What we tell about ourselves: roots, of which there are none, and nothing else.
#[must_use]
pub fn client_info() -> InitializeRequestParams {
    let mut capabilities = ClientCapabilities::default();
    capabilities.roots = Some(rmcp::model::RootsCapabilities::default());
    let mut info = InitializeRequestParams::new(
        capabilities,
        Implementation::new("mcpdeck", env!("CARGO_PKG_VERSION")),
    );
    info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
    info
}
