//! What rmcp hands to us over HTTP: notifications and requests of the server. Over stdio the
//! transport takes them before rmcp sees them.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{ClientConfig, ClientResult, ErrorCode, ServerNotification, ServerRequest};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};

use super::handshake::{legacy_info, modern_info};
use super::lines::LineRing;
use super::requests;
use super::signals::Signals;

/// Answers what it must, and turns notifications into signals.
#[derive(Debug)]
pub struct Handler {
    modern: bool,
    signals: Arc<Signals>,
    lines: Arc<LineRing>,
}

impl Handler {
    /// A handler of a connection of that era, which signals there.
    #[must_use]
    pub const fn new(modern: bool, signals: Arc<Signals>, lines: Arc<LineRing>) -> Self {
        Self {
            modern,
            signals,
            lines,
        }
    }
}

impl Service<RoleClient> for Handler {
    #[expect(
        deprecated,
        reason = "MCP 2026-07-28 deprecates roots; servers of the older era ask for them all the same"
    )]
    async fn handle_request(
        &self,
        request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        match request {
            ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
            ServerRequest::ListRootsRequest(_) => {
                let none = rmcp::model::ListRootsResult::new(Vec::new());
                Ok(ClientResult::ListRootsResult(none))
            }
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "Method not found",
                None,
            )),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // Typed by rmcp; as text it takes the same way as over stdio.
        let text = serde_json::to_value(&notification).unwrap_or_default();
        if let Some(method) = text.get("method").and_then(serde_json::Value::as_str) {
            let params = text.get("params").map(ToString::to_string);
            requests::notified(method, params.as_deref(), &self.signals, &self.lines);
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        if self.modern {
            modern_info()
        } else {
            legacy_info()
        }
    }
}
