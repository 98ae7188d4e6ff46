//! Plain immutable data and pure rules: what the program knows, and how it may change.
//!
//! Nothing here does I/O, knows a runtime or a screen. Everything is cheap to clone: snapshots
//! are `Arc`s all the way down, so publishing one costs a few pointers.

pub mod backoff;
pub mod catalog;
pub mod diff;
pub mod error;
pub mod event;
pub mod ids;
pub mod item;
pub mod server;
pub mod settings;
pub mod state;
pub mod text;
pub mod uri_template;

pub use catalog::{Catalog, Freshness, Listing};
pub use diff::{Changes, Mark, Names};
pub use error::{DiscoveryError, Failure, FailureKind};
pub use event::{Event, EventKind, RefreshReport};
pub use ids::{Epoch, Generation, Group, ListMethod, Revision, ServerName, TransportKind};
pub use item::{Annotations, Item, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
pub use server::{
    HttpConfig, HttpFlavour, OAuthConfig, ProtocolChoice, Secret, ServerConfig, StdioConfig,
    TransportConfig,
};
pub use settings::{Interest, Settings};
pub use state::{AppState, Origin, ServerSnapshot, Session, Status};
