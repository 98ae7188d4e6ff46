//! The bounded walk over all pages of one listing.
//!
//! A walk ends whole or not at all: there is no way to get the items of a walk that failed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams,
};
use tokio::time::Instant;

use super::connection::{CallError, Requester};
use super::cursors::hide;
use super::decode::{self, Accumulator, Cursor, Decode};
use crate::domain::{Failure, FailureKind, ListMethod};

/// The most pages of one walk.
pub const MAX_PAGES: usize = 100;

/// JSON-RPC 2.0, section 5.1: the method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// All items of one listing.
#[derive(Debug)]
pub struct Traversed<T> {
    /// In the server's order.
    pub items: Arc<[T]>,
    /// What was left out of items that are kept all the same.
    pub notes: Arc<[Arc<str>]>,
    /// Until when the server thinks all its pages good, where it says so.
    pub good_until: Option<Instant>,
}

/// Walks over all pages within one deadline.
///
/// # Errors
///
/// Why there is no listing; its message holds no cursor.
pub async fn traverse<T: Decode>(
    requester: &Requester,
    within: Duration,
) -> Result<Traversed<T>, Failure> {
    let deadline = Instant::now() + within;
    let mut seen: HashSet<Cursor> = HashSet::new();
    let walk = requester.walk(T::METHOD);
    let mut accumulator = Accumulator::<T>::default();
    let mut cursor: Option<Cursor> = None;
    let mut asked_again = false;
    let mut good_until = None;
    for page in 1..=MAX_PAGES {
        let ask = || requester.call(list_request(T::METHOD, cursor.as_ref()), Some(deadline));
        let mut answer = ask().await;
        // In the era without `initialize` a stream that breaks has lost its request for good.
        if matches!(answer, Err(CallError::Lost(_)))
            && requester.is_modern_http()
            && !std::mem::replace(&mut asked_again, true)
        {
            answer = ask().await;
        }
        let raw = match answer {
            Ok(raw) => raw,
            Err(CallError::Rpc(error))
                if error.code == METHOD_NOT_FOUND
                    && page == 1
                    && T::METHOD == ListMethod::ResourceTemplates =>
            {
                break;
            }
            Err(error) => return Err(failure(error, &seen, within)),
        };
        let read = decode::page(&raw, page, &mut accumulator)?;
        drop(raw);
        // A time so far ahead that the clock cannot tell it never comes.
        let until = read.ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        good_until = earliest([good_until, until]);
        let Some(next) = read.next else { break };
        if seen.contains(&next) {
            return Err(Failure::new(
                FailureKind::RepeatedCursor,
                format!("page {page} ended with a cursor that an earlier page had"),
            ));
        }
        if page == MAX_PAGES {
            return Err(Failure::new(
                FailureKind::PageLimit,
                format!("more than {MAX_PAGES} pages"),
            ));
        }
        walk.meet(&next);
        seen.insert(next.clone());
        cursor = Some(next);
    }
    if requester.is_modern_http() {
        accumulator.leave_out(T::misfit_over_http);
    }
    let (items, notes) = accumulator.finish();
    Ok(Traversed {
        items,
        notes,
        good_until,
    })
}

/// The earliest of the moments that are known.
#[must_use]
pub fn earliest<const N: usize>(moments: [Option<Instant>; N]) -> Option<Instant> {
    moments.into_iter().flatten().min()
}

/// The failure for people. The server's message may quote a cursor; ours never does.
fn failure(error: CallError, seen: &HashSet<Cursor>, within: Duration) -> Failure {
    match error {
        CallError::Rpc(mut error) => {
            error.message = without_cursors(&error.message, seen);
            CallError::Rpc(error).into_failure()
        }
        CallError::Transport(failure) => {
            let message = without_cursors(&failure.message, seen);
            CallError::Transport(Failure::new(failure.kind, message)).into_failure()
        }
        CallError::Deadline => Failure::new(
            FailureKind::Timeout,
            format!("not all pages came within {}", seconds(within)),
        ),
        other => other.into_failure(),
    }
}

fn without_cursors(message: &str, seen: &HashSet<Cursor>) -> String {
    hide(message, seen.iter().map(Cursor::value), false).into_owned()
}

/// A duration as people write it: `60 s`, `250 ms`.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

fn list_request(method: ListMethod, cursor: Option<&Cursor>) -> ClientRequest {
    let cursor = cursor.map(|cursor| cursor.value().to_owned());
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    match method {
        ListMethod::Resources => {
            ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params))
        }
        ListMethod::ResourceTemplates => ClientRequest::ListResourceTemplatesRequest(
            ListResourceTemplatesRequest::with_param(params),
        ),
        ListMethod::Tools => ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params)),
        ListMethod::Prompts => {
            ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params))
        }
    }
}
