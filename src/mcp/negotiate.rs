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
use tokio::time::timeout;

use super::decode::handshake::{InitializeReading, ServerReading};
use super::handshake::{
    Discovered, Handshake, HandshakeError, LEGACY_VERSIONS, MODERN_VERSION, newest_legacy,
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
            let discovered = Handshake::new(ground.transport()).discover().await?;
            match version_rule(discovered)? {
                Ruling::Modern(agreed) => Ok(agreed),
                Ruling::Initialize(_) => Err(HandshakeError::Refused(Failure::new(
                    FailureKind::Connect,
                    format!(
                        "the server does not speak {MODERN_VERSION}, which protocol = \"modern\" asks for"
                    ),
                ))),
            }
        }
        (ProtocolChoice::Auto, Some(Era::Modern)) => {
            let discovered = Handshake::new(ground.transport()).discover().await?;
            settle(ground, discovered).await
        }
        (ProtocolChoice::Auto, None) => probe(ground, plan.probe_timeout).await,
    }
}

async fn initialize<G: Ground>(ground: &mut G, version: &str) -> Result<Agreed, HandshakeError> {
    let mut handshake = Handshake::new(ground.transport());
    Ok(handshake.initialize(version).await?.into())
}

async fn probe<G: Ground>(
    ground: &mut G,
    probe_timeout: Option<Duration>,
) -> Result<Agreed, HandshakeError> {
    let mut handshake = Handshake::new(ground.transport());
    let asked = async {
        let id = handshake.send_discover().await?;
        let wanted = [id];
        let answer = handshake.answer(&wanted);
        let answer = match probe_timeout {
            Some(bound) => timeout(bound, answer).await.ok().transpose()?,
            None => Some(answer.await?),
        };
        Ok((id, answer))
    };
    match asked.await {
        Ok((_, Some((_, reply)))) => settle(ground, read_discover(reply)).await,
        Ok((probe, None)) => after_silence(ground, probe).await,
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
    match version_rule(discovered)? {
        Ruling::Modern(agreed) => Ok(agreed),
        Ruling::Initialize(version) => {
            if G::FRESH_FOR_INITIALIZE {
                ground.renew().await?;
            }
            let mut handshake = Handshake::after_probe(ground.transport());
            Ok(handshake.initialize(version).await?.into())
        }
    }
}

/// The probe was met with silence: `initialize`, while a modern answer may still come late.
async fn after_silence<G: Ground>(ground: &mut G, probe: i64) -> Result<Agreed, HandshakeError> {
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
    let failed = match outcome.await {
        Ok(Some(reading)) => return Ok(reading.into()),
        Ok(None) => None,
        Err(error) => Some(error),
    };
    // A modern server that was slow, or one that does not take `initialize`.
    let retried = async {
        ground.renew().await?;
        let discovered = Handshake::new(ground.transport()).discover().await?;
        match (discovered, failed.is_some()) {
            (Discovered::Legacy, true) => Err(HandshakeError::Ended),
            (discovered, _) => settle(ground, discovered).await,
        }
    };
    match (retried.await, failed) {
        (Err(_), Some(first)) => Err(first),
        (outcome, _) => outcome,
    }
}

enum Ruling {
    Modern(Agreed),
    Initialize(&'static str),
}

/// The modern version if the server has it, else `initialize` with the newest common one.
fn version_rule(discovered: Discovered) -> Result<Ruling, HandshakeError> {
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
                .ok_or_else(|| {
                    let theirs: Vec<&str> = versions.iter().map(|version| &**version).collect();
                    HandshakeError::Refused(no_common_version(&theirs))
                })
        }
        Discovered::Refused { failure, versions } => {
            if versions.is_empty() || versions.iter().any(|version| version == MODERN_VERSION) {
                return Err(HandshakeError::Refused(failure));
            }
            newest_legacy(&versions)
                .map(Ruling::Initialize)
                .ok_or_else(|| {
                    let theirs: Vec<&str> = versions.iter().map(String::as_str).collect();
                    HandshakeError::Refused(no_common_version(&theirs))
                })
        }
        Discovered::Legacy => Ok(Ruling::Initialize(NEWEST_LEGACY)),
    }
}
