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
//!
//! # As a library
//!
//! A program adds, replaces and removes servers through an [`EngineHandle`]. What is done to one
//! name happens one after the other: a replaced server's catalog is invalid before its connection
//! is cleaned up, and its successor is started when nothing of it is left.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use mcpdeck::app::{Definition, Engine, EngineOptions, Face, Ladder};
//! use mcpdeck::domain::{
//!     Group, Interest, ProtocolChoice, ServerConfig, ServerName, Settings, StdioConfig,
//!     TransportConfig,
//! };
//! use tokio::time::Instant;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::start(EngineOptions {
//!     face: Face::Cli,
//!     interest: Interest::ALL,
//!     live: true,
//!     settings: Settings::default(),
//! });
//! let handle = engine.handle();
//!
//! // Adds the server; a server of the same name would be replaced.
//! let files = ServerName::new("files")?;
//! let config = ServerConfig {
//!     name: files.clone(),
//!     transport: TransportConfig::Stdio(StdioConfig {
//!         command: "npx".to_owned(),
//!         args: vec!["-y".to_owned(), "@modelcontextprotocol/server-everything".to_owned()],
//!         ..StdioConfig::default()
//!     }),
//!     protocol: ProtocolChoice::Auto,
//!     connect_timeout: None,
//!     request_timeout: None,
//!     traversal_timeout: None,
//! };
//! handle.put(vec![Definition::from(config)]).await;
//!
//! // The newest catalog: from memory, or after one refresh that all who ask share.
//! if let Some(client) = handle.client(&files).await {
//!     let deadline = Instant::now() + Duration::from_secs(30);
//!     let demand = client.demand(Group::Resources, deadline).await?;
//!     if let Some(error) = demand.error {
//!         eprintln!("not renewed for {:?}: {error}", demand.age);
//!     }
//!     for template in demand.catalog.templates.items.iter() {
//!         println!("{} {}", template.uri_template, template.name);
//!     }
//! }
//!
//! // Every snapshot is a value; whoever is slow sees the newest.
//! let mut states = handle.state();
//! while states.changed().await.is_ok() {
//!     let state = states.borrow_and_update().clone();
//!     for server in state.servers.iter() {
//!         println!("{}: {}", server.name, server.status.word());
//!     }
//! #   break;
//! }
//!
//! handle.remove(&files).await;
//! engine.shutdown(Ladder::PATIENT).await;
//! # Ok(())
//! # }
//! ```

pub mod client;
pub mod config_store;
pub mod definition;
pub mod engine;
pub mod import;
pub mod login;
pub mod manager;
pub mod report;
pub mod signal;
pub mod supervisor;

pub use crate::mcp::process::{Ladder, Launch, Launched, Orphans, adopt_orphans, spawn};
pub use client::{ClientHandle, Demand};
pub use config_store::Following;
pub use definition::{Definition, Resolve};
pub use engine::{Engine, EngineHandle, EngineOptions, EngineThread, Face};
pub use manager::{Manager, NewServer, Place, Told};
pub use supervisor::Trial;
