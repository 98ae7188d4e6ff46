//! The headless face, as the contract has it: the real binary, one case for each promise about
//! `list`, `read`, the servers that they use, and how they end.

mod ends;
mod global;
mod hints;
mod list;
mod read;
mod secrets;
mod servers;
