//! A process group, which gets signals.

use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tokio::process::{Child, Command};

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

/// The group, by the number of its leader; none where the leader has already been reaped.
#[derive(Debug)]
pub struct Members(Option<Pid>);

impl Members {
    pub fn of(leader: &Child) -> Self {
        let id = leader.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Reaps those that ended and are ours, and says whether none is left.
    pub fn are_gone(&self) -> bool {
        let Some(leader) = self.0 else {
            return true;
        };
        while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
        test_kill_process_group(leader).is_err()
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // An error means that nothing is left to be signalled.
            let _ = kill_process_group(leader, signal);
        }
    }
}
