//! The signals that end a run.

use std::io;

/// A wish from outside that the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The terminal went away (SIGHUP).
    HangUp,
    /// Interrupted (SIGINT).
    Interrupt,
    /// Asked to end (SIGTERM).
    Terminate,
}

/// Waits for the first signal. From the first poll on, signals do not end the process by themselves.
///
/// # Errors
///
/// The system lets us listen to none.
#[cfg(unix)]
pub async fn signal() -> io::Result<Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = hangup.recv() => Signal::HangUp,
        _ = interrupt.recv() => Signal::Interrupt,
        _ = terminate.recv() => Signal::Terminate,
    })
}

/// Waits for Ctrl-C.
///
/// # Errors
///
/// The system lets us listen to none.
#[cfg(not(unix))]
pub async fn signal() -> io::Result<Signal> {
    tokio::signal::ctrl_c().await?;
    Ok(Signal::Interrupt)
}
