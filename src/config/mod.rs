//! The configuration: text to [`Entry`]s, entries to [`ServerConfig`](crate::domain::ServerConfig).
//!
//! Everything here is pure: texts and an [`Environment`] come in, values go out. Files are found,
//! read and written by [`crate::app::config_store`].
//!
//! The way of one server: [`read`] makes a file an ordered list of entries, still as written;
//! [`merge`] puts several files together; [`resolve`] expands the variables of one entry.

pub mod adhoc;
mod dotenv;
mod duration;
pub mod edit;
mod entry;
mod environment;
mod example;
mod expand;
mod fields;
mod file;
mod foreign;
pub mod import;
mod keys;
mod merge;
mod problem;
mod proposal;
mod resolve;
pub mod secret;
mod server;
mod settings;
mod source;
mod suggest;
pub mod theme;
mod tree;
mod trust;
mod yaml;

pub use adhoc::{AdHoc, adhoc};
pub use dotenv::is_variable_name;
pub use duration::parse_duration;
pub use entry::{Definition, Dialect, Entry, Http, OAuth, Stdio, Transport, Written};
pub use environment::{Environment, NotUnicode};
pub use example::EXAMPLE;
pub use file::{ConfigFile, FileInput, Format, IgnoredKey, Role, read};
pub use keys::{KeyCheck, Keys, KeysOfAction};
pub use merge::{Merged, Note, Precedence, merge};
pub use problem::{ConfigError, ConfigProblem, Place, ProblemKind, io_reason};
pub use proposal::proposed_name;
pub use resolve::{is_http_url, resolve, resolve_url};
pub use settings::{SettingsPatch, settings_json};
pub use suggest::nearest;
pub use trust::{Approval, Approvals, describe};
