//! Opens a connection to a server that is a child process.

use std::sync::Arc;

use rmcp::transport::Transport as _;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connection::{ConnectOptions, Connection, Keep, Parts, last_words, session_of};
use super::handshake::HandshakeError;
use super::lines::LineRing;
use super::negotiate::{Era, Ground, Plan, negotiate};
use super::process::{Process, Stdout};
use super::signals::Signals;
use super::traverse::seconds;
use super::wire::Wire;
use crate::domain::{Failure, FailureKind, StdioConfig, TransportKind};

/// Starts the server and shakes hands; see [`Connection::open`].
pub(super) async fn open(
    config: &StdioConfig,
    options: &ConnectOptions,
    lines: &Arc<LineRing>,
    keep: Keep,
    cancel: &CancellationToken,
) -> Option<Result<Connection, Failure>> {
    let started = Instant::now();
    let mut child = match Child::start(config, options, lines) {
        Ok(child) => child,
        Err(failure) => return Some(Err(failure)),
    };
    let deadline = started + options.connect_timeout;
    let plan = Plan {
        choice: options.protocol,
        known: options.known_era,
        probe_timeout: Some(options.probe_timeout),
        deadline,
    };
    let handshake = timeout_at(deadline, negotiate(&mut child, plan));
    let outcome = tokio::select! {
        outcome = handshake => outcome,
        () = cancel.cancelled() => {
            child.end().await;
            return None;
        }
    };
    let error = match outcome {
        Ok(Ok(agreed)) => {
            if agreed.era == Era::Modern {
                child.wire.set_modern();
            }
            let parts = Parts {
                session: session_of(agreed, started),
                signals: child.signals,
                lines: Arc::clone(lines),
                first_line: child.first_line,
                process: child.process,
                request_timeout: options.request_timeout,
                command: Some(config.command.clone()),
                keep,
                transport: TransportKind::Stdio,
                awaits_stream: false,
            };
            return Some(Ok(Connection::establish(child.wire, parts)));
        }
        Ok(Err(error)) => error,
        Err(_) => HandshakeError::Refused(Failure::new(
            FailureKind::Timeout,
            format!(
                "no answer to the handshake within {}",
                seconds(options.connect_timeout)
            ),
        )),
    };
    let failure = child.explain(error).await;
    let (mut wire, process, ladder) = (child.wire, child.process, options.ladder.clone());
    tokio::spawn(async move {
        // Closing a pipe cannot fail in a way that matters to a process that is to end.
        let _ = wire.close().await;
        if let Some(mut process) = process {
            process.close(ladder).await;
        }
        drop(keep);
    });
    Some(Err(failure))
}

/// A server during its handshakes.
struct Child<'a> {
    config: &'a StdioConfig,
    options: &'a ConnectOptions,
    lines: &'a Arc<LineRing>,
    signals: Arc<Signals>,
    wire: Wire<Stdout>,
    /// The process, if the server is one and was not ended.
    process: Option<Process>,
    /// The number of the last line before it was started.
    first_line: u64,
}

impl<'a> Child<'a> {
    fn start(
        config: &'a StdioConfig,
        options: &'a ConnectOptions,
        lines: &'a Arc<LineRing>,
    ) -> Result<Self, Failure> {
        let signals = Arc::new(Signals::default());
        let first_line = lines.last_seq();
        let launched = options
            .launcher
            .launch(config, lines, &signals)
            .map_err(|cause| {
                Failure::new(FailureKind::Connect, format!("could not start: {cause}"))
            })?;
        let (process, stdin, stdout) = launched.into_parts();
        let wire = Wire::new(stdout, stdin, Arc::clone(&signals), Arc::clone(lines));
        Ok(Self {
            config,
            options,
            lines,
            signals,
            wire,
            process,
            first_line,
        })
    }

    /// Ends the process; nothing of it is left.
    async fn end(&mut self) {
        // Closing a pipe cannot fail in a way that matters to a process that is to end.
        let _ = self.wire.close().await;
        // It stays ours until it is gone: this may be called off, and is begun again then.
        if let Some(process) = &mut self.process {
            process.close(self.options.ladder.clone()).await;
        }
        self.process = None;
    }
}

impl Ground for Child<'_> {
    type Transport = Wire<Stdout>;

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
        *self = Self::start(self.config, self.options, self.lines).map_err(HandshakeError::Told)?;
        Ok(())
    }

    async fn explain(&mut self, error: HandshakeError) -> Failure {
        let failure = match error {
            HandshakeError::Told(failure) => return failure,
            HandshakeError::Refused(failure) => failure,
            HandshakeError::Ended | HandshakeError::Send(_) => Failure::new(
                FailureKind::Connect,
                "the connection closed during the handshake",
            ),
        };
        let words = last_words(self.process.as_mut(), self.lines, self.first_line).await;
        let message = format!("{}: {failure}{words}", self.config.command);
        Failure::new(failure.kind, message)
    }
}
