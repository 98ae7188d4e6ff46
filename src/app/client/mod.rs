//! One MCP client: the actor that owns its connection, and the handle everyone else has.

mod handle;

pub use handle::{ClientHandle, Demand, ReadContents, ResourceContent};
