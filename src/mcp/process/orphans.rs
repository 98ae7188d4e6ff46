//! Descendants of servers that left their process group, by `setsid` say, so that no signal to the
//! group reaches them.
//!
//! On Linux a process can ask to become the parent of its orphaned descendants (`prctl(2)`,
//! `PR_SET_CHILD_SUBREAPER`) instead of init. Whoever owns the process does so at its start, and
//! at its end everything that carries our mark in its environment is told to end. What has no
//! mark is not a server's: a browser that was opened for a log-in goes on. A descendant that
//! cleared its environment as well is not found; nor is any on other systems.
//!
//! An orphan that ends by itself is reaped by [`reap_orphans`].

/// Keeps orphans ours. When dropped, also by a panic, what is left of the servers is ended and
/// reaped; it takes 100 ms at most where everything ends on TERM.
#[derive(Debug)]
#[must_use = "orphans are ended when it is dropped"]
pub struct Orphans(());

/// From now on descendants whose parents end become ours. For programs alone: a library does not
/// own its process.
pub fn adopt_orphans() -> Orphans {
    platform::adopt();
    Orphans(())
}

/// Reaps orphans as they end, where they are ours; otherwise it ends at once. It sleeps until a
/// child has ended, and takes no exit status that somebody waits for.
pub async fn reap_orphans() {
    platform::reap().await;
}

impl Drop for Orphans {
    fn drop(&mut self) {
        platform::sweep();
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::collections::HashSet;
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    use tokio::signal::unix::{SignalKind, signal};

    use super::super::environment::PARENT;
    use super::super::ours;

    /// Whether orphans become ours.
    static ADOPTING: AtomicBool = AtomicBool::new(false);

    /// How long an orphan may take to end on TERM: its server has had the whole ladder.
    const GRACE: Duration = Duration::from_millis(100);

    /// How long one may take to be gone after KILL.
    const GONE: Duration = Duration::from_secs(1);

    const POLL: Duration = Duration::from_millis(5);

    pub fn adopt() {
        match set_child_subreaper(Some(getpid())) {
            Ok(()) => ADOPTING.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "orphans of servers go to init"),
        }
    }

    pub async fn reap() {
        if !ADOPTING.load(Ordering::Relaxed) {
            return;
        }
        match signal(SignalKind::child()) {
            Ok(mut ended) => loop {
                reap_ended();
                if ended.recv().await.is_none() {
                    return;
                }
            },
            Err(error) => tracing::warn!(%error, "orphans are reaped at the end only"),
        }
    }

    /// Reaps what has ended and nobody waits for.
    fn reap_ended() {
        ours::knowing(|is_ours| {
            let is_ours = |child: &Pid| is_ours(child.as_raw_nonzero().get().cast_unsigned());
            for orphan in children().into_iter().filter(|child| !is_ours(child)) {
                // It lives on, or is reaped.
                let _ = has_ended(orphan);
            }
        });
    }

    /// Ends the orphans. Those below them become ours as they end, so it goes on until there are
    /// none.
    pub fn sweep() {
        let start = Instant::now();
        let mut told = HashSet::new();
        loop {
            let mut orphans = children();
            orphans.retain(|orphan| !has_ended(*orphan) && is_of_server(*orphan));
            let age = start.elapsed();
            if orphans.is_empty() || age > GRACE + GONE {
                return;
            }
            for orphan in orphans {
                // An error means that it has just ended.
                if age > GRACE {
                    let _ = kill_process(orphan, Signal::KILL);
                } else if told.insert(orphan) {
                    let _ = kill_process(orphan, Signal::TERM);
                }
            }
            thread::sleep(POLL);
        }
    }

    /// Reaps it if it has ended. Until then nobody else can have its number.
    fn has_ended(child: Pid) -> bool {
        !matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None))
    }

    /// The children of all our threads: proc(5), `/proc/pid/task/tid/children`.
    fn children() -> Vec<Pid> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
        let lists = threads
            .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
        lists
            .flat_map(|list| {
                let pids = list.split_whitespace().map(str::parse).map(Result::ok);
                pids.map(|pid| pid.and_then(Pid::from_raw))
                    .collect::<Vec<_>>()
            })
            .flatten()
            .collect()
    }

    fn is_of_server(child: Pid) -> bool {
        let path = format!("/proc/{}/environ", child.as_raw_nonzero());
        let environment = fs::read(path).unwrap_or_default();
        let is_mark = |variable: &[u8]| {
            let rest = variable.strip_prefix(PARENT.as_bytes());
            rest.is_some_and(|rest| rest.starts_with(b"="))
        };
        environment.split(|byte| *byte == 0).any(is_mark)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    pub fn adopt() {}

    #[expect(clippy::unused_async, reason = "the same as where there are orphans")]
    pub async fn reap() {}

    pub fn sweep() {}
}
