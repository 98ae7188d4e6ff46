//! The deck: an interactive face over the engine's snapshots.

pub mod action;
pub mod key;
pub mod keymap;
pub mod lines;
