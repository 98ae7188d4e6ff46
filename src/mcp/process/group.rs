//! The process group of a child: the one place that sends signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The group that a child leads.
#[derive(Debug)]
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    leader_reaped: AtomicBool,
    /// Nothing was left of the group when it was last looked at. Its number may belong to others
    /// by now, so it is never signalled again.
    gone: AtomicBool,
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

#[cfg(unix)]
mod unix {
    use rustix::process::{
        Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
    };
    use std::sync::atomic::Ordering;
    use tokio::process::{Child, Command};

    use super::{AtomicBool, Group};

    /// Makes the command start in a group of its own and, on Linux, die with us.
    pub fn prepare(command: &mut Command) {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        die_with_parent(command);
    }

    #[cfg(target_os = "linux")]
    #[expect(
        unsafe_code,
        reason = "the parent-death signal can only be set in the child, between fork and exec"
    )]
    fn die_with_parent(command: &mut Command) {
        use rustix::process::{getpid, getppid, set_parent_process_death_signal};
        let parent = getpid();
        // SAFETY: the closure only makes two system calls, both async-signal-safe; it does not
        // allocate, lock or touch memory that the parent's threads may hold.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // Had the parent died before the call above, no signal would ever come.
                if getppid() == Some(parent) {
                    Ok(())
                } else {
                    Err(std::io::ErrorKind::BrokenPipe.into())
                }
            });
        }
    }

    impl Group {
        /// The group of a child that was started as its leader.
        pub fn of(child: &Child) -> Self {
            Self {
                leader: child
                    .id()
                    .and_then(|id| i32::try_from(id).ok())
                    .and_then(Pid::from_raw),
                leader_reaped: AtomicBool::new(false),
                gone: AtomicBool::new(false),
            }
        }

        /// Asks everything in the group to end.
        pub fn terminate(&self) {
            self.signal(Signal::TERM);
        }

        /// Ends everything in the group.
        pub fn kill(&self) {
            self.signal(Signal::KILL);
        }

        /// Whether nothing is left of the group. Reaps descendants that became ours when their
        /// parents ended; the leader is reaped by its own waiter, so it is waited for first.
        pub fn is_empty(&self) -> bool {
            let Some(leader) = self.leader else {
                return true;
            };
            if self.gone.load(Ordering::Acquire) {
                return true;
            }
            if !self.leader_reaped.load(Ordering::Acquire) {
                return false;
            }
            while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
            let gone = test_kill_process_group(leader).is_err();
            self.gone.store(gone, Ordering::Release);
            gone
        }

        fn signal(&self, signal: Signal) {
            if let Some(leader) = self.leader
                && !self.gone.load(Ordering::Acquire)
            {
                // An error means that nothing is left to be signalled.
                let _ = kill_process_group(leader, signal);
            }
        }
    }
}
#[cfg(unix)]
pub use unix::prepare;

#[cfg(not(unix))]
mod elsewhere {
    use std::sync::atomic::Ordering;
    use tokio::process::{Child, Command};

    use super::{AtomicBool, Group};

    /// Nothing to prepare: the child is killed when its owner is dropped.
    pub fn prepare(_command: &mut Command) {}

    impl Group {
        /// The child alone.
        pub fn of(_child: &Child) -> Self {
            Self {
                leader_reaped: AtomicBool::new(false),
                gone: AtomicBool::new(false),
            }
        }

        /// There is no gentle way.
        pub fn terminate(&self) {}

        /// The child is killed when its owner is dropped.
        pub fn kill(&self) {}

        /// Whether the child was reaped.
        pub fn is_empty(&self) -> bool {
            self.leader_reaped.load(Ordering::Acquire)
        }
    }
}
#[cfg(not(unix))]
pub use elsewhere::prepare;
