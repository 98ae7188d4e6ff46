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

/// The signals, from when they are listened to: they do not end the process by themselves then.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    kinds: [(Signal, tokio::signal::unix::Signal); 3],
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    ///
    /// The system lets us listen to none.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                kinds: [
                    (Signal::HangUp, signal(SignalKind::hangup())?),
                    (Signal::Interrupt, signal(SignalKind::interrupt())?),
                    (Signal::Terminate, signal(SignalKind::terminate())?),
                ],
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one.
    ///
    /// # Errors
    ///
    /// The system does not tell.
    #[cfg(unix)]
    pub async fn next(&mut self) -> io::Result<Signal> {
        let [hangup, interrupt, terminate] = &mut self.kinds;
        Ok(tokio::select! {
            _ = hangup.1.recv() => hangup.0,
            _ = interrupt.1.recv() => interrupt.0,
            _ = terminate.1.recv() => terminate.0,
        })
    }

    /// Waits for an interrupt, whatever else comes; forever where the system does not tell.
    pub async fn interrupt(&mut self) {
        while let Ok(signal) = self.next().await {
            if signal == Signal::Interrupt {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Waits for Ctrl-C.
    ///
    /// # Errors
    ///
    /// The system does not tell.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> io::Result<Signal> {
        tokio::signal::ctrl_c().await?;
        Ok(Signal::Interrupt)
    }
}

/// Waits for the first signal. From the first poll on, signals do not end the process by themselves.
///
/// # Errors
///
/// The system lets us listen to none.
pub async fn signal() -> io::Result<Signal> {
    Signals::listen()?.next().await
}
