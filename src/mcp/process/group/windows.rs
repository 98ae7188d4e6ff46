//! A job object: what a member starts is a member too, and all end when the job is closed, also
//! where the system closes it because we were ended.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job, JobError};

/// Nothing to prepare: a child becomes a member once it runs.
pub fn prepare(_command: &mut Command) {}

/// The job; `None` once it was closed.
#[derive(Debug)]
pub struct Members(Mutex<Option<Job>>);

impl Members {
    pub fn of(leader: &Child) -> Self {
        let job = job_of(leader);
        if let Err(error) = &job {
            tracing::error!(%error, "a server's processes cannot be kept together");
        }
        Self(Mutex::new(job.ok()))
    }

    /// There is no way to ask programs without a window: closing their stdin was the way.
    #[expect(clippy::unused_self, reason = "the same as on other platforms")]
    pub fn terminate(&self) {}

    pub fn kill(&self) {
        let mut job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(job.take());
    }

    /// Whether none is left.
    pub fn are_gone(&self) -> bool {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        job.as_ref()
            .and_then(|job| job.query_process_id_list().ok())
            .is_none_or(|members| members.is_empty())
    }
}

fn job_of(leader: &Child) -> Result<Job, JobError> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    // None: it has ended already.
    if let Some(handle) = leader.raw_handle() {
        job.assign_process(handle as isize)?;
    }
    Ok(job)
}
