//! When a lost connection is tried again: 5 attempts after 1, 2, 4, 8 and 16 s.
//!
//! Each wait is shortened by up to 20 %, so that many servers that died together do not come
//! back together. Every attempt counts, also one that succeeds and dies again; only a connection
//! that lived for 60 s resets the count.

use std::time::Duration;

/// A connection that lived this long resets the count.
pub const STABLE_AFTER: Duration = Duration::from_mins(1);

/// The most by which a wait is shortened, as a fraction.
const MAX_SHORTENING: f64 = 0.2;

/// How many attempts were made since the connection was last stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    attempts: u32,
    limit: u32,
}

impl Backoff {
    /// No attempt made yet, at most `limit` to come.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self { attempts: 0, limit }
    }

    /// The number of the next attempt, from 1, and its wait; `None` when all were used.
    /// `jitter` is from 0 to 1: how much of the allowed shortening is taken.
    #[must_use]
    pub fn next(&mut self, jitter: f64) -> Option<(u32, Duration)> {
        if self.attempts >= self.limit {
            return None;
        }
        let full = Duration::from_secs(1 << self.attempts.min(4));
        self.attempts += 1;
        Some((
            self.attempts,
            full.mul_f64(1.0 - MAX_SHORTENING * jitter.clamp(0.0, 1.0)),
        ))
    }

    /// How many attempts there are at most.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Tells how long a connection lived that has ended.
    pub fn lived(&mut self, life: Duration) {
        if life >= STABLE_AFTER {
            self.attempts = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_attempts_double_from_one_second() {
        let mut backoff = Backoff::new(5);
        let waits: Vec<u64> = std::iter::from_fn(|| backoff.next(0.0))
            .map(|(_, wait)| wait.as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16]);
        backoff.lived(Duration::from_secs(59));
        assert_eq!(backoff.next(0.0), None);
        backoff.lived(Duration::from_mins(1));
        assert_eq!(backoff.next(1.0), Some((1, Duration::from_millis(800))));
    }
}
