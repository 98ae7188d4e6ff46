//! The integration tests, in one binary.

mod architecture;
mod real;
