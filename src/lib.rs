//! mcpdeck: a connection manager for MCP (Model Context Protocol) servers.
//!
//! # Codemap
//!
//! ```text
//! domain  <-  config  <-  mcp  <-  app  <-  { tui, cli, serve }  <-  main
//! ```
//!
//! - [`domain`]: plain immutable data and pure rules. No I/O, no runtime.
//! - [`config`]: text to entries, entries to [`domain::ServerConfig`]; variable expansion.
//! - [`mcp`]: one connection: process owner, transports, handshake, bounded traversal, strict decoding.
//! - [`app`]: the client actor that owns a connection, and the engine that merges all
//!   snapshots into one [`domain::AppState`].
//! - [`tui`], [`cli`], [`serve`]: three faces over the same engine; they never import each other.
//! - [`demo`]: a small real MCP server, so that the program shows something without any config.
//! - [`telemetry`]: the log file.
//!
//! # As a library
//!
//! [`app`] lets a program add, replace and remove servers and read their snapshots; an example is
//! in its docs.
//!
//! # Invariants
//!
//! - Imports go one way along the line above; `tests/it/architecture.rs` proves it.
//! - A connection and its child process have one owner, the actor in [`app::client`]. Everyone
//!   else holds a clonable handle and reads snapshots.
//! - A snapshot is never changed after it was published. Its lists are whole: they come from
//!   complete traversals only, never from a prefix.
//! - Text of a server passes [`domain::text`] before it is stored.

pub mod app;
pub mod cli;
pub mod config;
pub mod demo;
pub mod domain;
pub mod mcp;
pub mod serve;
pub mod telemetry;
pub mod tui;
