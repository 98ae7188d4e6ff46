//! One connection to one MCP server: process or HTTP client, transport, handshake, requests, and
//! the bounded traversal of its lists.
//!
//! rmcp routes requests and answers; what crosses the wire is read by us: answers reach their
//! caller as raw JSON text ([`reply`]), because rmcp's own types hide why a page is malformed.
//! Nothing here knows of refreshes, statuses or snapshots of a server; that is the actor's.

pub mod alive;
pub mod auth;
pub mod calls;
pub mod connection;
pub mod cursors;
pub mod decode;
pub mod envelope;
pub mod handler;
pub mod handshake;
pub mod http;
pub mod lines;
pub mod listen;
pub mod masking;
pub mod negotiate;
pub mod process;
pub mod read;
pub mod reply;
pub mod requests;
pub mod scan;
pub mod signals;
pub mod stdio;
pub mod trace;
pub mod traverse;
pub mod wire;

pub use connection::{ConnectOptions, Connection, Requester};
pub use lines::{Line, LineKind, LineRing};
pub use signals::{Signals, Subscription};
pub use trace::{Direction, Message, MessageKind};
