//! The deck: an interactive face over the engine's snapshots.

pub mod action;
pub mod details;
pub mod field;
pub mod format;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod lines;
pub mod list;
pub mod model;
pub mod rows;
pub mod servers;
pub mod tab_bar;
pub mod update;
pub mod wrap;
