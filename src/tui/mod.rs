//! The deck: an interactive face over the engine's snapshots.

pub mod action;
pub mod field;
pub mod format;
pub mod key;
pub mod keymap;
pub mod lines;
pub mod list;
pub mod rows;
pub mod wrap;
