//! The engine: one client actor a server, and the supervisor that merges their snapshots.
//!
//! ```text
//!  ClientActor --Update--> Supervisor --watch--> Arc<AppState>
//!       ^                       ^
//!  ClientHandle            EngineHandle
//! ```
//!
//! The engine knows no screen and writes nothing to standard output. It runs on one thread with a
//! current-thread runtime that lives until exit, because a child's parent-death signal is tied to
//! the thread that spawned it.

pub mod client;
pub mod config_store;
pub mod definition;
pub mod engine;
pub mod manager;
pub mod supervisor;

pub use crate::mcp::process::{Ladder, Launch, Launched};
pub use client::{ClientHandle, Demand};
pub use definition::{Definition, Resolve};
pub use engine::{Engine, EngineHandle, EngineOptions, EngineThread, Face};
pub use manager::{Manager, Place, Told};
