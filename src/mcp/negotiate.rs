//! Which era is spoken with a server, and with which version.
//!
//! ```text
//!  auto:  server/discover --result, or a modern error--> version rule --> modern | initialize | failure
//!              |--any other answer----------------------> initialize, same transport
//!              |--silence for probe_timeout-------------> initialize; a late modern answer wins,
//!              |                                          and if initialize fails, discover again
//!              +--the server ended----------------------> fresh server, initialize
//! ```
//!
//! A fresh server is got from a [`Ground`], which closes the former one first; so one negotiation
//! never has two processes alive.

use std::time::Duration;

use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::time::{Instant, timeout, timeout_at};

use super::decode::handshake::{InitializeReading, ServerReading};
use super::handshake::{
    Discovered, Handshake, HandshakeError, LEGACY_VERSIONS, MODERN_VERSION, Ours, newest_legacy,
    no_common_version, read_discover,
};
use crate::domain::{Failure, FailureKind, ProtocolChoice};

/// The era of a server, once it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`.
    Legacy,
    /// Without it.
    Modern,
}

/// What was agreed on.
#[derive(Debug)]
pub struct Agreed {
    /// The era.
    pub era: Era,
    /// The version.
    pub version: Box<str>,
    /// What the server says of itself.
    pub server: ServerReading,
}

impl From<InitializeReading> for Agreed {
    fn from(reading: InitializeReading) -> Self {
        Self {
            era: Era::Legacy,
            version: reading.protocol_version,
            server: reading.server,
        }
    }
}

/// Where a negotiation gets its transports from.
pub trait Ground: Send {
    /// The transport.
    type Transport: Transport<RoleClient>;

    /// Whether `initialize` after `server/discover` needs another transport.
    const FRESH_FOR_INITIALIZE: bool;

    /// The transport in use.
    fn transport(&mut self) -> &mut Self::Transport;

    /// Whether a probe that failed so says nothing about `initialize`.
    fn may_initialize_after(&self, error: &HandshakeError) -> bool;

    /// Ends the transport in use, process and all, and opens a new one.
    ///
    /// # Errors
    ///
    /// It could not be opened.
    fn renew(&mut self) -> impl Future<Output = Result<(), HandshakeError>> + Send;

    /// The error for people, with what is known for as long as the transport is in use: how its
    /// process ended, and what it wrote last.
    fn explain(&mut self, error: HandshakeError) -> impl Future<Output = Failure> + Send;
}

/// What to try first.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// What the definition says.
    pub choice: ProtocolChoice,
    /// What an earlier connection of the definition found out.
    pub known: Option<Era>,
    /// How long silence after the probe means "ask otherwise"; `None`: only an answer decides.
    pub probe_timeout: Option<Duration>,
    /// When there is no time left.
    pub deadline: Instant,
}

const NEWEST_LEGACY: &str = LEGACY_VERSIONS[LEGACY_VERSIONS.len() - 1];

/// Agrees on an era and a version.
///
/// # Errors
///
/// Why the server cannot be spoken to.
pub async fn negotiate<G: Ground>(ground: &mut G, plan: Plan) -> Result<Agreed, HandshakeError> {
    match (plan.choice, plan.known) {
        (ProtocolChoice::Legacy, _) | (ProtocolChoice::Auto, Some(Era::Legacy)) => {
            initialize(ground, NEWEST_LEGACY).await
        }
        (ProtocolChoice::Modern, _) => {
            modern_only(Handshake::new(ground.transport()).discover().await?)
        }
        (ProtocolChoice::Auto, Some(Era::Modern)) => {
            let discovered = Handshake::new(ground.transport()).discover().await?;
            settle(ground, discovered).await
        }
        (ProtocolChoice::Auto, None) => probe(ground, plan).await,
    }
}

/// What a definition that wants the modern era makes of the answer to `server/discover`.
fn modern_only(discovered: Discovered) -> Result<Agreed, HandshakeError> {
    let theirs = discovered.versions().to_vec();
    match version_rule(discovered) {
        Ok(Ruling::Modern(agreed)) => Ok(agreed),
        Ok(Ruling::Initialize(_)) if theirs.is_empty() => {
            Err(HandshakeError::Refused(Failure::new(
                FailureKind::Connect,
                format!(
                    "the server does not speak {MODERN_VERSION}, which protocol = \"modern\" asks for"
                ),
            )))
        }
        Ok(Ruling::Initialize(_)) | Err(Mismatch::Versions) => Err(HandshakeError::Refused(
            no_common_version(&theirs, Ours::Modern),
        )),
        Err(Mismatch::Refused(failure)) => Err(HandshakeError::Refused(failure)),
    }
}

async fn initialize<G: Ground>(ground: &mut G, version: &str) -> Result<Agreed, HandshakeError> {
    let mut handshake = Handshake::new(ground.transport());
    Ok(handshake.initialize(version).await?.into())
}

async fn probe<G: Ground>(ground: &mut G, plan: Plan) -> Result<Agreed, HandshakeError> {
    let mut handshake = Handshake::new(ground.transport());
    let asked = async {
        let id = handshake.send_discover().await?;
        let wanted = [id];
        let answer = handshake.answer(&wanted);
        let answer = match plan.probe_timeout {
            Some(bound) => timeout(bound, answer).await.ok().transpose()?,
            None => Some(answer.await?),
        };
        Ok((id, answer))
    };
    match asked.await {
        Ok((_, Some((_, reply)))) => settle(ground, read_discover(reply)).await,
        Ok((probe, None)) => after_silence(ground, probe, plan.deadline).await,
        Err(error) if ground.may_initialize_after(&error) => {
            ground.renew().await?;
            initialize(ground, NEWEST_LEGACY).await
        }
        Err(error) => Err(error),
    }
}

/// Goes on with what the answer to `server/discover` says.
async fn settle<G: Ground>(
    ground: &mut G,
    discovered: Discovered,
) -> Result<Agreed, HandshakeError> {
    let theirs = discovered.versions().to_vec();
    match version_rule(discovered) {
        Err(Mismatch::Refused(failure)) => Err(HandshakeError::Refused(failure)),
        Err(Mismatch::Versions) => Err(HandshakeError::Refused(no_common_version(
            &theirs,
            Ours::All,
        ))),
        Ok(Ruling::Modern(agreed)) => Ok(agreed),
        Ok(Ruling::Initialize(version)) => {
            if G::FRESH_FOR_INITIALIZE {
                ground.renew().await?;
            }
            let mut handshake = Handshake::after_probe(ground.transport());
            Ok(handshake.initialize(version).await?.into())
        }
    }
}

/// The probe was met with silence: `initialize`, while a modern answer may still come late.
async fn after_silence<G: Ground>(
    ground: &mut G,
    probe: i64,
    deadline: Instant,
) -> Result<Agreed, HandshakeError> {
    let mut handshake = Handshake::after_probe(ground.transport());
    let outcome = async {
        let asked = handshake.send_initialize(NEWEST_LEGACY).await?;
        loop {
            let (id, reply) = handshake.answer(&[probe, asked]).await?;
            if id == asked {
                return Ok(Some(handshake.take_initialize(reply).await?));
            }
            if !matches!(read_discover(reply), Discovered::Legacy) {
                return Ok(None);
            }
        }
    };
    match outcome.await {
        Ok(Some(reading)) => Ok(reading.into()),
        // A modern server that was slow.
        Ok(None) => {
            let discovered = discover_anew(ground).await?;
            settle(ground, discovered).await
        }
        // Perhaps a modern one that was not ready; if not, it is this that went wrong.
        Err(error) => {
            let failure = ground.explain(error).await;
            let retried = async {
                match discover_anew(ground).await? {
                    Discovered::Legacy => Err(HandshakeError::Ended),
                    discovered => settle(ground, discovered).await,
                }
            };
            match timeout_at(deadline, retried).await {
                Ok(Ok(agreed)) => Ok(agreed),
                Ok(Err(_)) | Err(_) => Err(HandshakeError::Told(failure)),
            }
        }
    }
}

/// Discovers over a fresh transport, however long the answer takes.
async fn discover_anew<G: Ground>(ground: &mut G) -> Result<Discovered, HandshakeError> {
    ground.renew().await?;
    Handshake::new(ground.transport()).discover().await
}

enum Ruling {
    Modern(Agreed),
    Initialize(&'static str),
}

/// Why neither era can be spoken with the server.
enum Mismatch {
    /// It says so.
    Refused(Failure),
    /// No version is known to both sides.
    Versions,
}

/// The modern version if the server has it, else `initialize` with the newest common one.
fn version_rule(discovered: Discovered) -> Result<Ruling, Mismatch> {
    match discovered {
        Discovered::Modern(reading) => {
            let versions = &reading.supported_versions;
            if versions.iter().any(|version| &**version == MODERN_VERSION) {
                return Ok(Ruling::Modern(Agreed {
                    era: Era::Modern,
                    version: MODERN_VERSION.into(),
                    server: reading.server,
                }));
            }
            newest_legacy(versions)
                .map(Ruling::Initialize)
                .ok_or(Mismatch::Versions)
        }
        Discovered::Refused { failure, versions } => {
            let has_ours = versions.iter().any(|version| &**version == MODERN_VERSION);
            if versions.is_empty() || has_ours {
                return Err(Mismatch::Refused(failure));
            }
            newest_legacy(&versions)
                .map(Ruling::Initialize)
                .ok_or(Mismatch::Versions)
        }
        Discovered::Legacy => Ok(Ruling::Initialize(NEWEST_LEGACY)),
    }
}
