//! Whether a remote server is still there after the machine has slept: a connection that died
//! meanwhile looks as open as any other.

use std::time::{Duration, SystemTime};

use rmcp::model::{ClientRequest, DiscoverRequest, DiscoverRequestParams, PingRequest};
use tokio::time::{Instant, sleep};

use super::connection::{CallError, Requester};
use super::signals::Signals;
use crate::domain::{Failure, FailureKind};

/// How often the clocks are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// By how much they drift apart in a sleep that counts: the monotonic one stands still meanwhile.
const DRIFT: Duration = Duration::from_secs(10);

/// How long an answer may take then.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Looks for sleep as long as the connection lives, and asks for a sign of life after each.
pub async fn watch_over(requester: &Requester, signals: &Signals) {
    loop {
        slept(SystemTime::now).await;
        ensure(requester, signals).await;
    }
}

/// Asks for a sign of life; whatever the server answers is one. Without any the connection is over.
pub async fn ensure(requester: &Requester, signals: &Signals) {
    // The era without `initialize` has no ping.
    let request = if requester.is_modern_http() {
        let params = DiscoverRequestParams {};
        ClientRequest::DiscoverRequest(DiscoverRequest::new(params))
    } else {
        ClientRequest::PingRequest(PingRequest::default())
    };
    let deadline = Instant::now() + ANSWER_WITHIN;
    if let Err(CallError::Deadline | CallError::Timeout(_)) =
        requester.call(request, Some(deadline)).await
    {
        signals.end(Some(Failure::new(
            FailureKind::Closed,
            "the server did not answer within 5 s after a sleep",
        )));
    }
}

/// Waits until the wall clock has drifted from the monotonic one, in either direction.
async fn slept(wall: impl Fn() -> SystemTime) {
    loop {
        let before = (wall(), Instant::now());
        sleep(LOOK_EVERY).await;
        let passed = before.1.elapsed();
        let drift = match wall().duration_since(before.0) {
            Ok(on_the_wall) => on_the_wall.abs_diff(passed),
            Err(back) => back.duration() + passed,
        };
        if drift > DRIFT {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tokio::time::timeout;

    /// When sleeps are noticed, in seconds of the monotonic clock, if the wall clock jumps by so
    /// many seconds at that moment.
    async fn noticed(jump_at: u64, jump: i64) -> Vec<u64> {
        let start = Instant::now();
        let wall = || {
            let passed = start.elapsed();
            let now = SystemTime::UNIX_EPOCH + Duration::from_hours(10) + passed;
            let by = Duration::from_secs(jump.unsigned_abs());
            match (passed.as_secs() >= jump_at, jump < 0) {
                (false, _) => now,
                (true, false) => now + by,
                (true, true) => now - by,
            }
        };
        let mut noticed = Vec::new();
        let watch = async {
            loop {
                slept(wall).await;
                noticed.push(start.elapsed().as_secs());
                // A server that takes its time is no sleep.
                sleep(ANSWER_WITHIN).await;
            }
        };
        let ended: Result<(), _> = timeout(Duration::from_mins(10), watch).await;
        assert!(ended.is_err());
        noticed
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleep_is_noticed_once_within_30_s() {
        let none: Vec<u64> = Vec::new();
        assert_eq!(noticed(100, 0).await, none);
        assert_eq!(noticed(100, 10).await, none);
        assert_eq!(noticed(100, 11).await, [120]);
        assert_eq!(noticed(121, 8 * 3_600).await, [150]);
        assert_eq!(noticed(100, -10).await, none);
        assert_eq!(noticed(100, -11).await, [120]);
        assert_eq!(noticed(100, -3_600).await, [120]);
    }
}
