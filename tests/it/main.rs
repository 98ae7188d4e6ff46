//! The integration tests: one binary, one module for each subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod cli;
mod client;
mod deck;
mod discovery;
mod fake_server;
#[cfg(target_os = "linux")]
mod process;
mod real;
mod support;
