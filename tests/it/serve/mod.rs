//! The face for models, as the contract has it: the real binary, spoken to as a client does.

#[cfg(target_os = "linux")]
mod attacks;
mod calls;
mod changes;
pub mod client;
mod failures;
mod http;
pub mod listening;
mod native;
mod process;
mod reading;
mod readme;
mod size;
