//! What a server may ask of us and tell us (MCP 2025-11-25, client features).
//!
//! We declare roots and have none; everything else we did not declare, so it is refused.

use rmcp::model::SubscriptionFilter;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{LineKind, LineRing};
use super::signals::Signals;
use crate::domain::Group;

/// The line that answers a request of the server in the era with `initialize`.
#[must_use]
pub fn answer(id: &str, method: &str) -> Vec<u8> {
    let outcome = match method {
        "ping" => r#""result":{}"#,
        "roots/list" => r#""result":{"roots":[]}"#,
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{outcome}}}\n").into_bytes()
}

/// Takes a notification: a changed list raises a counter, a log message goes to the lines, and
/// everything else has no meaning for us.
pub fn notified(method: &str, params: Option<&str>, signals: &Signals, lines: &LineRing) {
    let group = match method {
        "notifications/resources/list_changed" => Group::Resources,
        "notifications/tools/list_changed" => Group::Tools,
        "notifications/prompts/list_changed" => Group::Prompts,
        "notifications/subscriptions/acknowledged" => {
            signals.acknowledged(acknowledged(params));
            return;
        }
        "notifications/message" => {
            lines.push(LineKind::Log, log_line(params).as_bytes());
            signals.wake();
            return;
        }
        _ => return,
    };
    signals.list_changed(group);
}

/// The groups of an acknowledged filter (MCP 2026-07-28, `SubscriptionFilter`).
fn acknowledged(params: Option<&str>) -> [bool; 3] {
    #[derive(Deserialize, Default)]
    struct Acknowledged {
        #[serde(default)]
        notifications: SubscriptionFilter,
    }
    let Acknowledged {
        notifications: filter,
    } = params
        .and_then(|raw| serde_json::from_str(raw).ok())
        .unwrap_or_default();
    Group::ALL.map(|group| {
        let flag = match group {
            Group::Resources => filter.resources_list_changed,
            Group::Tools => filter.tools_list_changed,
            Group::Prompts => filter.prompts_list_changed,
        };
        flag == Some(true)
    })
}

/// `level logger: data`, as much of it as there is.
fn log_line(params: Option<&str>) -> String {
    #[derive(Deserialize, Default)]
    struct Message<'a> {
        level: Option<String>,
        logger: Option<String>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let message: Message = params
        .and_then(|raw| serde_json::from_str(raw).ok())
        .unwrap_or_default();
    let data = message.data.map_or("", RawValue::get);
    let data = serde_json::from_str::<String>(data).unwrap_or_else(|_| data.to_owned());
    let level = message.level.unwrap_or_else(|| "log".to_owned());
    match message.logger {
        Some(logger) => format!("{level} {logger}: {data}"),
        None => format!("{level}: {data}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_and_roots_are_answered_and_all_else_refused() {
        let check = |method, expected: &str| {
            let line = String::from_utf8(answer("\"a\"", method)).unwrap();
            assert_eq!(
                line,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":\"a\",{expected}}}\n")
            );
        };
        check("ping", r#""result":{}"#);
        check("roots/list", r#""result":{"roots":[]}"#);
        let refused = r#""error":{"code":-32601,"message":"Method not found"}"#;
        check("sampling/createMessage", refused);
        check("elicitation/create", refused);
    }

    #[test]
    fn a_log_message_becomes_a_line() {
        let check = |params, expected| assert_eq!(log_line(params), expected);
        check(
            Some(r#"{"level":"info","logger":"db","data":"up"}"#),
            "info db: up",
        );
        check(
            Some(r#"{"level":"error","data":{"a":1}}"#),
            "error: {\"a\":1}",
        );
        check(None, "log: ");
    }

    #[test]
    fn list_changed_raises_its_groups_counter() {
        let (signals, lines) = (Signals::default(), LineRing::default());
        notified("notifications/tools/list_changed", None, &signals, &lines);
        notified("notifications/tools/list_changed", None, &signals, &lines);
        notified("notifications/progress", None, &signals, &lines);
        assert_eq!(signals.take_list_changed(Group::Tools), 2);
        assert_eq!(signals.take_list_changed(Group::Resources), 0);
    }
}
