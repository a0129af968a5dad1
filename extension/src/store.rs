//! The store: its tables, views and rollups, its settings, who may use it, and its maintenance.

mod comments;
mod convert;
pub mod formats;
mod front;
mod growing;
mod installation;
mod maintain;
pub mod personal;
mod realtime;
mod relations;
mod repair;
pub(crate) mod rights;
pub mod rollup;
mod settings;
mod setup;
pub mod spans;
mod tables;
mod version;
pub mod views;

pub use front::{is_front, leaves_out, limit, on_nodes, read, require_rows};
pub use jobstats_core::usage::columns::{self, sum};
pub use maintain::{lock, register_memory};
pub use relations::{add_operations, kind};
pub use settings::{Reduction, Settings, settings, uid_limit};
pub use version::{VERSION, exists, extension_schema, require};
