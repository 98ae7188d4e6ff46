//! Exit codes: a promise to scripts.

use std::process::ExitCode;

use crate::app::signal::Signal;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Success,
    /// Something is wrong inside.
    Internal,
    /// Wrong usage or config.
    Usage,
    /// A server failed to connect, or a listing failed.
    Failed,
    /// There is no such server or resource.
    NotFound,
    /// The only failures are missing log-ins.
    NeedsAuth,
    /// The terminal went away (SIGHUP).
    HungUp,
    /// Interrupted (SIGINT).
    Interrupted,
    /// Asked to end (SIGTERM).
    Terminated,
}

impl Exit {
    /// The number. Those of signals are 128 and the signal's number, as shells have it.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::NotFound => 4,
            Self::NeedsAuth => 5,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

impl From<Signal> for Exit {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::HangUp => Self::HungUp,
            Signal::Interrupt => Self::Interrupted,
            Signal::Terminate => Self::Terminated,
        }
    }
}
