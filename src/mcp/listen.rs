//! Keeps a subscription open in the era without `initialize`, where a server notifies only those
//! who listen (MCP 2026-07-28, `subscriptions/listen`).

use std::time::Duration;

use rmcp::model::{
    ClientRequest, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use tokio::time::{Instant, sleep};

use super::connection::{CallError, Requester};
use super::signals::{Signals, Subscription};
use crate::domain::Group;

/// The wait before a stream that ended is opened again: doubled each time, up to the most.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A stream that lived this long starts the waits anew.
const STABLE_AFTER: Duration = Duration::from_mins(1);

/// Listens for changes of the groups until the server refuses or the connection ends. With
/// every opening after the first, and again when it is acknowledged, the lists are suspect: what
/// changed while nobody listened is unknown.
pub async fn listen(requester: &Requester, signals: &Signals, groups: &[Group]) {
    let mut wait = FIRST_WAIT;
    loop {
        let opened = Instant::now();
        let outcome = requester.call_unbounded(request(groups)).await;
        let acknowledged = matches!(signals.subscription(), Subscription::Acknowledged(_));
        match outcome {
            Err(CallError::Closed) => return,
            Err(CallError::Rpc(_) | CallError::Malformed(_) | CallError::Refused(_))
                if !acknowledged =>
            {
                signals.set_subscription(Subscription::Refused);
                return;
            }
            Ok(_) | Err(_) => {}
        }
        if opened.elapsed() >= STABLE_AFTER {
            wait = FIRST_WAIT;
        }
        sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
        signals.set_subscription(Subscription::Reopening);
        for group in groups {
            signals.suspect(*group);
        }
    }
}

fn request(groups: &[Group]) -> ClientRequest {
    let filter = groups
        .iter()
        .fold(SubscriptionFilter::builder(), |filter, group| match group {
            Group::Resources => filter.resources_list_changed(),
            Group::Tools => filter.tools_list_changed(),
            Group::Prompts => filter.prompts_list_changed(),
        })
        .build();
    let params = SubscriptionsListenRequestParams::new(filter);
    ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(params))
}
