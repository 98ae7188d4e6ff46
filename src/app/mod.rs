//! app

pub mod config_store;
