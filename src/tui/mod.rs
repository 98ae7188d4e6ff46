//! The deck: an interactive face over the engine's snapshots.

pub mod action;
pub mod details;
pub mod field;
#[cfg(test)]
mod fixture;
pub mod format;
#[cfg(test)]
mod harness;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod lines;
pub mod list;
pub mod model;
pub mod rows;
pub mod servers;
pub mod tab_bar;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod update;
pub mod view;
pub mod view_model;
pub mod wrap;
