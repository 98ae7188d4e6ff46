//! mcp

pub mod decode;
