//! The integration tests: one binary, one module for each subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod assets;
mod check;
mod cli;
mod client;
mod commands;
mod config;
mod deck;
mod discovery;
mod fake_server;
mod fuzz;
mod http;
mod import;
mod pictures;
#[cfg(target_os = "linux")]
mod process;
mod real;
mod real_clients;
mod reload;
mod serve;
mod support;
mod trust;
mod watch;
