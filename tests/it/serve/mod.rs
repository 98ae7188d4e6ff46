//! The face for models, as the contract has it: the real binary, spoken to as a client does.

mod calls;
mod changes;
mod client;
mod failures;
pub mod http;
mod native;
mod process;
mod reading;
mod size;
