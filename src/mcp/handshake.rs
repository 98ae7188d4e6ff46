//! The handshakes of both eras, one message at a time: `initialize` (MCP 2025-11-25, lifecycle)
//! and `server/discover` (MCP 2026-07-28).
//!
//! They are done by us and not by rmcp, because a handshake must tell exactly why it failed: rmcp
//! accepts any version, knows no bound of ours, and drops what it cannot decode. In which order
//! they are tried is decided in [`super::negotiate`].

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult,
    DiscoverRequest, DiscoverRequestParams, GetMeta, Implementation, InitializeRequest,
    InitializeRequestParams, InitializedNotification, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerRequest,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;

use super::decode::handshake::{DiscoverReading, InitializeReading, is_discover_result};
use super::reply::{Reply, RpcError};
use crate::domain::text;
use crate::domain::{Failure, FailureKind};

/// The versions that are agreed on in `initialize`, oldest first.
pub const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The version without `initialize`.
pub const MODERN_VERSION: &str = "2026-07-28";

/// The errors that only a server of the modern era gives (MCP 2026-07-28, error codes): header
/// mismatch, missing client capability, unsupported protocol version.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];

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
    /// As the others, and a person is told everything already.
    Told(Failure),
}

/// What an answer to `server/discover` means.
#[derive(Debug)]
pub enum Discovered {
    /// The server is of the modern era and says what it has.
    Modern(DiscoverReading),
    /// The server is of the modern era, refuses, and may name the versions that it speaks.
    Refused {
        /// The error for people.
        failure: Failure,
        /// The versions; empty where none were named.
        versions: Vec<Box<str>>,
    },
    /// The server does not know the modern era.
    Legacy,
}

impl Discovered {
    /// The versions that the server named.
    #[must_use]
    pub fn versions(&self) -> &[Box<str>] {
        match self {
            Self::Modern(reading) => &reading.supported_versions,
            Self::Refused { versions, .. } => versions,
            Self::Legacy => &[],
        }
    }
}

/// Which of our versions could have been agreed on.
#[derive(Debug, Clone, Copy)]
pub enum Ours {
    /// All.
    All,
    /// Those with `initialize`.
    Initialize,
    /// The one without it: the definition wants no other.
    Modern,
}

/// The handshakes on one transport.
#[derive(Debug)]
pub struct Handshake<'a, T> {
    transport: &'a mut T,
    next_id: i64,
}

impl<'a, T: Transport<RoleClient>> Handshake<'a, T> {
    /// Handshakes on a transport that has had none.
    pub const fn new(transport: &'a mut T) -> Self {
        Self {
            transport,
            next_id: FIRST_ID,
        }
    }

    /// Further handshakes on a transport that has had a `server/discover`: its id is not used again.
    pub const fn after_probe(transport: &'a mut T) -> Self {
        Self {
            transport,
            next_id: FIRST_ID + 1,
        }
    }

    /// Sends `server/discover`; returns its id.
    ///
    /// # Errors
    ///
    /// It could not be sent.
    pub async fn send_discover(&mut self) -> Result<i64, HandshakeError> {
        let discover = DiscoverRequest::new(DiscoverRequestParams {});
        let mut request = ClientRequest::DiscoverRequest(discover);
        let info = modern_info();
        let meta = request.get_meta_mut();
        meta.set_protocol_version(info.protocol_version);
        meta.set_client_info(info.client_info);
        meta.set_client_capabilities(info.capabilities);
        self.send_request(request).await
    }

    /// Sends `initialize` with the version; returns its id.
    ///
    /// # Errors
    ///
    /// It could not be sent.
    pub async fn send_initialize(&mut self, version: &str) -> Result<i64, HandshakeError> {
        let mut params = legacy_info();
        if let Some(known) = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .find(|known| known.as_str() == version)
        {
            params.protocol_version = known.clone();
        }
        self.send_request(ClientRequest::InitializeRequest(InitializeRequest::new(
            params,
        )))
        .await
    }

    /// Initializes with the version. An error that names the versions the server supports is
    /// answered once with the newest common one.
    ///
    /// # Errors
    ///
    /// Why the server cannot be spoken to.
    pub async fn initialize(&mut self, version: &str) -> Result<InitializeReading, HandshakeError> {
        let id = self.send_initialize(version).await?;
        let (_, reply) = self.answer(&[id]).await?;
        self.take_initialize(reply).await
    }

    /// Takes the answer to `initialize`, and confirms the session if there is one.
    ///
    /// # Errors
    ///
    /// Why the server cannot be spoken to.
    pub async fn take_initialize(
        &mut self,
        mut reply: Reply,
    ) -> Result<InitializeReading, HandshakeError> {
        if let Reply::Error(error) = &reply {
            let theirs = supported(error);
            if let Some(version) = newest_legacy(&theirs) {
                let id = self.send_initialize(version).await?;
                reply = self.answer(&[id]).await?.1;
            } else if !theirs.is_empty() {
                return Err(HandshakeError::Refused(no_common_version(
                    &theirs,
                    Ours::Initialize,
                )));
            }
        }
        let reading = read_initialize(reply)?;
        self.send(JsonRpcMessage::notification(
            ClientNotification::InitializedNotification(InitializedNotification::default()),
        ))
        .await?;
        Ok(reading)
    }

    /// Discovers, however long the answer takes.
    ///
    /// # Errors
    ///
    /// The connection ended or did not take the message.
    pub async fn discover(&mut self) -> Result<Discovered, HandshakeError> {
        let id = self.send_discover().await?;
        let (_, reply) = self.answer(&[id]).await?;
        Ok(read_discover(reply))
    }

    /// Waits for the answer to any of the requests. The stdio transport answers requests of the
    /// server itself; over HTTP a ping may come here.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub async fn answer(&mut self, wanted: &[i64]) -> Result<(i64, Reply), HandshakeError> {
        let is_wanted = |id: &RequestId| match id {
            RequestId::Number(id) => wanted.iter().find(|wanted| *wanted == id).copied(),
            RequestId::String(_) => None,
        };
        loop {
            match self.transport.receive().await {
                None => return Err(HandshakeError::Ended),
                Some(JsonRpcMessage::Response(response)) => {
                    if let Some(id) = is_wanted(&response.id) {
                        return match Reply::from(response.result) {
                            Reply::Undelivered(undelivered) => {
                                Err(HandshakeError::Refused(undelivered.failure))
                            }
                            reply => Ok((id, reply)),
                        };
                    }
                }
                Some(JsonRpcMessage::Error(error)) => {
                    let id = match &error.id {
                        Some(id) => is_wanted(id),
                        None => wanted.last().copied(),
                    };
                    if let Some(id) = id {
                        let error = RpcError {
                            code: error.error.code.0.into(),
                            message: error.error.message.into_owned(),
                            data: error.error.data,
                        };
                        return Ok((id, Reply::Error(error)));
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

    async fn send_request(&mut self, request: ClientRequest) -> Result<i64, HandshakeError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(JsonRpcMessage::request(request, RequestId::Number(id)))
            .await?;
        Ok(id)
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), HandshakeError> {
        self.transport
            .send(message)
            .await
            .map_err(|error| HandshakeError::Send(Box::new(error)))
    }
}

fn refused(kind: FailureKind, message: String) -> HandshakeError {
    HandshakeError::Refused(Failure::new(kind, message))
}

fn read_initialize(reply: Reply) -> Result<InitializeReading, HandshakeError> {
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
        Reply::Undelivered(undelivered) => {
            return Err(HandshakeError::Refused(undelivered.failure));
        }
    };
    if LEGACY_VERSIONS.contains(&&*reading.protocol_version) {
        Ok(reading)
    } else {
        Err(HandshakeError::Refused(no_common_version(
            &[reading.protocol_version],
            Ours::Initialize,
        )))
    }
}

/// What the answer to `server/discover` means.
#[must_use]
pub fn read_discover(reply: Reply) -> Discovered {
    match reply {
        Reply::Result(raw) if is_discover_result(&raw) => match DiscoverReading::read(&raw) {
            Ok(reading) => Discovered::Modern(reading),
            Err(failure) => Discovered::Refused {
                failure,
                versions: Vec::new(),
            },
        },
        Reply::Error(error) if MODERN_ERRORS.contains(&error.code) => Discovered::Refused {
            failure: Failure::new(
                FailureKind::Connect,
                format!("server/discover was refused: {}", describe(&error)),
            ),
            versions: supported(&error),
        },
        Reply::Result(_) | Reply::Error(_) | Reply::Malformed(_) | Reply::Undelivered(_) => {
            Discovered::Legacy
        }
    }
}

/// The failure that names the versions of both sides.
#[must_use]
pub fn no_common_version(theirs: &[Box<str>], ours: Ours) -> Failure {
    let theirs = if theirs.is_empty() {
        "none".to_owned()
    } else {
        text::error_text(&theirs.join(", "))
    };
    let legacy = LEGACY_VERSIONS.join(", ");
    let ours = match ours {
        Ours::All => format!("{legacy}, {MODERN_VERSION}"),
        Ours::Initialize => format!("{legacy} in initialize"),
        Ours::Modern => format!("{MODERN_VERSION} (protocol = \"modern\")"),
    };
    Failure::new(
        FailureKind::Connect,
        format!("no common protocol version: the server speaks {theirs}, mcpdeck speaks {ours}"),
    )
}

/// The error as a fragment: code and message, sanitized.
fn describe(error: &RpcError) -> String {
    let message = text::error_text(&error.message);
    if message.is_empty() {
        format!("error {}", error.code)
    } else {
        format!("error {}: {message}", error.code)
    }
}

/// The versions that an error's `data.supported` names.
fn supported(error: &RpcError) -> Vec<Box<str>> {
    let named = error.data.as_ref().and_then(|data| data.get("supported"));
    named
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|version| version.as_str().map(Box::from))
        .collect()
}

/// The newest of our versions with `initialize` that is among them.
#[must_use]
pub fn newest_legacy(theirs: &[impl AsRef<str>]) -> Option<&'static str> {
    LEGACY_VERSIONS
        .into_iter()
        .rfind(|ours| theirs.iter().any(|version| version.as_ref() == *ours))
}

fn implementation() -> Implementation {
    Implementation::new("mcpdeck", env!("CARGO_PKG_VERSION"))
}

/// What we tell about ourselves in `initialize`: roots, of which there are none, and nothing else.
#[must_use]
pub fn legacy_info() -> InitializeRequestParams {
    let mut capabilities = ClientCapabilities::default();
    capabilities.roots = Some(rmcp::model::RootsCapabilities::default());
    let mut info = InitializeRequestParams::new(capabilities, implementation());
    info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
    info
}

/// What we tell about ourselves with every request of the modern era: no capability at all.
#[must_use]
pub fn modern_info() -> InitializeRequestParams {
    let mut info = InitializeRequestParams::new(ClientCapabilities::default(), implementation());
    info.protocol_version = ProtocolVersion::V_2026_07_28;
    info
}
