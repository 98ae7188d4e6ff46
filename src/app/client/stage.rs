//! Where an actor stands, and what follows when nothing of a connection is alive any more.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::live::Live;
use crate::domain::Failure;
use crate::domain::backoff::Backoff;

/// Where the actor stands. Only `Up` and what is behind `Connecting` and `Closing` is alive.
#[derive(Debug)]
pub(super) enum Stage {
    Resting(Rest),
    Waiting(Retry),
    Connecting {
        cancel: CancellationToken,
        retry: Option<Retry>,
    },
    Up(Box<Live>),
    Closing(Next),
    Ended,
}

/// Why nothing is alive.
#[derive(Debug, Clone)]
pub(super) enum Rest {
    Disabled,
    Untrusted,
    NeedsAuth(Failure),
    Failed(Failure),
}

/// A connection that was lost and will be tried again.
#[derive(Debug, Clone)]
pub(super) struct Retry {
    pub(super) attempt: u32,
    pub(super) due: Instant,
    pub(super) cause: Failure,
}

/// What follows when nothing is alive any more.
#[derive(Debug)]
pub(super) enum Next {
    Rest(Rest),
    Retry(Retry),
    Connect,
    /// The connection was lost `life` after it was established; how is still being found out.
    Judge {
        life: Duration,
    },
    End,
}

/// What follows a lost connection: another attempt, or the end of trying.
pub(super) fn judge(backoff: &mut Backoff, live: bool, cause: Failure) -> Next {
    let jitter = RandomState::new().hash_one(0_u8) % 1_000;
    #[expect(clippy::cast_precision_loss, reason = "the number is below 1,000")]
    let jitter = jitter as f64 / 1_000.0;
    match backoff.next(jitter).filter(|_| live) {
        Some((attempt, wait)) => Next::Retry(Retry {
            attempt,
            due: Instant::now() + wait,
            cause,
        }),
        None => Next::Rest(Rest::Failed(cause)),
    }
}

pub(super) async fn ended(stage: &Stage) {
    match stage {
        Stage::Up(live) => live.ended().await,
        _ => std::future::pending().await,
    }
}

pub(super) async fn signalled(stage: &Stage) {
    match stage {
        Stage::Up(live) => live.signals().changed().await,
        _ => std::future::pending().await,
    }
}

pub(super) async fn at(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
