//! What may be asked of a client. Each request carries its own reply channel; dropping the
//! receiver cancels the call.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::{Catalog, Failure, Group};

/// A clonable handle to one client actor.
#[derive(Debug, Clone)]
pub struct ClientHandle {
    mailbox: mpsc::Sender<()>,
}

/// What a demand got: the catalog, and where it is a kept one also why and how old it is.
#[derive(Debug, Clone)]
pub struct Demand {
    /// The newest catalog there is.
    pub catalog: Arc<Catalog>,
    /// Why it could not be renewed.
    pub error: Option<Failure>,
    /// How old it is.
    pub age: Duration,
}

/// What a resource holds, exactly as the server sent it.
#[derive(Debug, Clone)]
pub struct ReadContents(pub Vec<ResourceContent>);

/// One content of a resource.
#[derive(Debug, Clone)]
pub struct ResourceContent {
    /// Its URI.
    pub uri: String,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// Text or bytes in base64.
    pub body: Body,
}

/// Text or bytes.
#[derive(Debug, Clone)]
pub enum Body {
    /// Text.
    Text(String),
    /// Base64 (RFC 4648, section 4) as the server sent it.
    Blob(String),
}
