//! Opens a connection to a server that is a child process.

use std::sync::Arc;

use rmcp::transport::Transport as _;
use tokio::process::ChildStdout;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{ConnectOptions, Connection, Parts, last_words, session_of};
use super::handshake::HandshakeError;
use super::lines::LineRing;
use super::negotiate::{Era, Ground, Plan, negotiate};
use super::process::{self, Ladder, Process};
use super::signals::Signals;
use super::traverse::seconds;
use super::wire::Wire;
use crate::domain::{Failure, FailureKind, StdioConfig, TransportKind};

/// Starts the server and shakes hands; see [`Connection::open`].
pub(super) async fn open(
    config: &StdioConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    cancel: &CancellationToken,
) -> Option<Result<Connection, Failure>> {
    let started = Instant::now();
    let first_line = lines.last_seq();
    let mut child = match Child::start(config, options, lines) {
        Ok(child) => child,
        Err(failure) => return Some(Err(failure)),
    };
    let plan = Plan {
        choice: options.protocol,
        known: options.known_era,
        probe_timeout: Some(options.probe_timeout),
    };
    let handshake = timeout(options.connect_timeout, negotiate(&mut child, plan));
    let outcome = tokio::select! {
        outcome = handshake => outcome,
        () = cancel.cancelled() => {
            child.end().await;
            return None;
        }
    };
    let failure = match outcome {
        Ok(Ok(agreed)) => {
            if agreed.era == Era::Modern {
                child.wire.set_modern();
            }
            let parts = Parts {
                session: session_of(agreed, started),
                signals: child.signals,
                lines: Arc::clone(lines),
                first_line,
                process: child.process,
                request_timeout: options.request_timeout,
                command: Some(config.command.clone()),
                transport: TransportKind::Stdio,
                awaits_stream: false,
            };
            return Some(Ok(Connection::establish(child.wire, parts)));
        }
        Ok(Err(HandshakeError::Refused(failure))) => failure,
        Ok(Err(HandshakeError::Ended | HandshakeError::Send(_))) => Failure::new(
            FailureKind::Connect,
            "the connection closed during the handshake",
        ),
        Err(_) => Failure::new(
            FailureKind::Timeout,
            format!(
                "no answer to the handshake within {}",
                seconds(options.connect_timeout)
            ),
        ),
    };
    // A child that could not be started a second time has said why.
    let message = match &mut child.process {
        Some(process) => {
            let words = last_words(process, lines, first_line).await;
            format!("{}: {failure}{words}", config.command)
        }
        None => failure.message.to_string(),
    };
    child.end().await;
    Some(Err(Failure::new(failure.kind, message)))
}

/// A child during its handshakes.
struct Child<'a> {
    config: &'a StdioConfig,
    options: &'a ConnectOptions,
    lines: &'a Arc<LineRing>,
    signals: Arc<Signals>,
    wire: Wire<ChildStdout>,
    process: Option<Process>,
}

impl<'a> Child<'a> {
    fn start(
        config: &'a StdioConfig,
        options: &'a ConnectOptions,
        lines: &'a Arc<LineRing>,
    ) -> Result<Self, Failure> {
        let signals = Arc::new(Signals::default());
        let started =
            process::start(config, &options.parent, lines, &signals).map_err(|cause| {
                Failure::new(FailureKind::Connect, format!("could not start: {cause}"))
            })?;
        let wire = Wire::new(
            started.stdout,
            started.stdin,
            Arc::clone(&signals),
            Arc::clone(lines),
        );
        Ok(Self {
            config,
            options,
            lines,
            signals,
            wire,
            process: Some(started.process),
        })
    }

    /// Ends the process; nothing of it is left.
    async fn end(&mut self) {
        // Closing a pipe cannot fail in a way that matters to a process that is to end.
        let _ = self.wire.close().await;
        if let Some(process) = self.process.take() {
            process.close(Ladder::PATIENT).await;
        }
    }
}

impl Ground for Child<'_> {
    type Transport = Wire<ChildStdout>;

    const FRESH_FOR_INITIALIZE: bool = false;

    fn may_initialize_after(&self, error: &HandshakeError) -> bool {
        // Servers exist that end on a request they do not know.
        matches!(error, HandshakeError::Ended | HandshakeError::Send(_))
    }

    fn transport(&mut self) -> &mut Self::Transport {
        &mut self.wire
    }

    async fn renew(&mut self) -> Result<(), HandshakeError> {
        self.end().await;
        *self =
            Self::start(self.config, self.options, self.lines).map_err(HandshakeError::Refused)?;
        Ok(())
    }
}
