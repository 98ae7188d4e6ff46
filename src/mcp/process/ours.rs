//! The children that somebody here waits for: nobody else may take their exit status.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::process::{Child, Command};

/// Their numbers. The system has one table of children for the whole process, and so have we.
static OURS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A child is waited for as long as this lives.
#[derive(Debug)]
#[must_use = "the child is anybody's once it is dropped"]
pub struct Ours(Option<u32>);

/// Starts a child that the caller waits for.
///
/// # Errors
///
/// It cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<(Child, Ours)> {
    // It may end before its number is noted.
    let mut ours = lock();
    let child = command.spawn()?;
    let id = child.id();
    ours.extend(id);
    Ok((child, Ours(id)))
}

impl Drop for Ours {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            lock().remove(&id);
        }
    }
}

/// Does something while no child is started, knowing whether a number is one of ours.
#[cfg(target_os = "linux")]
pub(super) fn knowing<T>(look: impl FnOnce(&dyn Fn(u32) -> bool) -> T) -> T {
    let ours = lock();
    look(&|id| ours.contains(&id))
}

fn lock() -> MutexGuard<'static, BTreeSet<u32>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}
