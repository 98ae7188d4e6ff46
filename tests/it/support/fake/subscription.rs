//! `subscriptions/listen` of the modern era: who listens to what, and the messages for it.

use serde_json::{Map, Value, json};

use super::{Frame, Outlet};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// One open subscription.
#[derive(Debug)]
pub struct Subscription {
    /// The id of the `subscriptions/listen` request, which names the subscription.
    pub id: Value,
    /// What was acknowledged.
    pub filter: Value,
    /// Where its notifications go.
    pub outlet: Outlet,
}

impl Subscription {
    /// The first notification on the stream.
    pub fn acknowledge(&self) {
        let params = json!({
            "_meta": {SUBSCRIPTION_ID: self.id},
            "notifications": self.filter,
        });
        let method = "notifications/subscriptions/acknowledged";
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.outlet.send(Frame::Message(message.to_string()));
    }

    /// The final result.
    pub fn complete(&self) {
        let result = json!({"resultType": "complete", "_meta": {SUBSCRIPTION_ID: self.id}});
        let message = json!({"jsonrpc": "2.0", "id": self.id, "result": result});
        self.outlet.send(Frame::Message(message.to_string()));
    }

    /// Whether the filter has this notification.
    pub fn wants(&self, method: &str) -> bool {
        flag(method).is_some_and(|flag| self.filter.get(flag) == Some(&Value::Bool(true)))
    }

    /// A notification for this subscription.
    pub fn notification(&self, method: &str, params: Option<&Value>) -> String {
        let mut params = match params {
            Some(Value::Object(params)) => params.clone(),
            _ => Map::new(),
        };
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(SUBSCRIPTION_ID.to_owned(), self.id.clone());
        }
        json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
    }
}

/// The member of a filter that stands for a `list_changed`; `None` for other notifications.
pub fn flag(method: &str) -> Option<&'static str> {
    match method {
        "notifications/resources/list_changed" => Some("resourcesListChanged"),
        "notifications/tools/list_changed" => Some("toolsListChanged"),
        "notifications/prompts/list_changed" => Some("promptsListChanged"),
        _ => None,
    }
}
