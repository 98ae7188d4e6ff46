//! A scripted MCP server for tests: it counts what it is asked and misbehaves on demand.
//!
//! A [`Script`] says what the server declares, lists and answers; the [`Engine`] plays it. The
//! engine is one task that owns all state. It reads [`Input`]s (messages, commands, timers) and
//! writes [`Frame`]s, so it runs over any byte stream ([`stream`]), over Streamable HTTP and over
//! the legacy HTTP+SSE transport ([`http`]). Every delay is a `tokio::time` delay.
//!
//! It knows nothing of rmcp and builds its JSON by hand, because it must be able to send bytes
//! that no library would. It holds no test-side helpers: those are in `support::handle`.

mod action;
mod answer;
pub mod engine;
pub mod http;
pub mod listing;
mod outlet;
pub mod record;
pub mod rule;
pub mod script;
pub mod stream;
mod subscription;

pub use action::{Action, Ask, Exit, Notice, Release};
pub use engine::{Engine, HttpRequest, Input};
pub use listing::{Listing, Page};
pub use outlet::{Frame, Outlet};
pub use record::{Logged, Record};
pub use rule::{Part, Reply, Rule};
pub use script::{Era, Grandchild, Route, Script, Sigterm};
