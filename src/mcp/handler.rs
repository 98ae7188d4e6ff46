//! What rmcp wants to know of a client. The transports take requests and notifications of the
//! server before rmcp sees them, so there is nothing to handle.

use rmcp::ErrorData;
use rmcp::model::{ClientConfig, ClientResult, ErrorCode, ServerNotification, ServerRequest};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};

use super::handshake::{legacy_info, modern_info};

/// A client of one of the eras.
#[derive(Debug)]
pub struct Handler {
    modern: bool,
}

impl Handler {
    /// A handler of a connection of that era.
    #[must_use]
    pub const fn new(modern: bool) -> Self {
        Self { modern }
    }
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        _request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            "Method not found",
            None,
        ))
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
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
