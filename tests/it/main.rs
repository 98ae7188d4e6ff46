//! The integration tests: one binary, one module for each subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod discovery;
mod fake_server;
mod http;
mod real;
mod support;
