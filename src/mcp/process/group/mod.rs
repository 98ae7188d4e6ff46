//! The group of a child: the child, which leads it, and all that it starts. The one place that
//! ends processes.
//!
//! How the members are found and ended is the platform's matter: a process group on Unix, a job
//! object on Windows.

#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::Child;

use platform::Members;
pub use platform::prepare;

/// The group that a child leads.
#[derive(Debug)]
pub struct Group {
    members: Members,
    leader_reaped: AtomicBool,
    /// Nothing was left of the group when it was last looked at. Its number may belong to others
    /// by now, so it is never signalled again.
    gone: AtomicBool,
}

impl Group {
    /// The group of a child that was started as its leader, see [`prepare`].
    pub fn of(child: &Child) -> Self {
        Self {
            members: Members::of(child),
            leader_reaped: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        }
    }

    /// Asks everything in the group to end, where the platform has a way to ask.
    pub fn terminate(&self) {
        if !self.gone.load(Ordering::Acquire) {
            self.members.terminate();
        }
    }

    /// Ends everything in the group.
    pub fn kill(&self) {
        if !self.gone.load(Ordering::Acquire) {
            self.members.kill();
        }
    }

    /// Whether nothing is left of the group. Reaps descendants that became ours when their
    /// parents ended; the leader is reaped by its own waiter, so it is waited for first.
    pub fn is_empty(&self) -> bool {
        if self.gone.load(Ordering::Acquire) {
            return true;
        }
        if !self.leader_reaped.load(Ordering::Acquire) {
            return false;
        }
        let gone = self.members.are_gone();
        self.gone.store(gone, Ordering::Release);
        gone
    }
}

impl Drop for Group {
    /// The last owner is gone: so is everything in the group. Descendants that outlived the
    /// leader and every rung of the ladder end here.
    fn drop(&mut self) {
        if !self.is_empty() {
            self.kill();
            let _ = self.is_empty();
        }
    }
}

/// Kills the group when dropped before the leader was reaped: a task that is aborted, a runtime
/// that is dropped, or a panic leaves nothing behind.
#[derive(Debug)]
pub struct KillOnDrop(Arc<Group>);

impl KillOnDrop {
    /// Guards the group.
    pub const fn new(group: Arc<Group>) -> Self {
        Self(group)
    }

    /// The leader ended and was reaped. What it left in its group is the ladder's work.
    pub fn leader_reaped(&self) {
        self.0.leader_reaped.store(true, Ordering::Release);
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if !self.0.leader_reaped.load(Ordering::Acquire) {
            self.0.kill();
        }
    }
}
