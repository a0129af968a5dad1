//! The sources of texts: lctl, commands, files that grow, text from elsewhere and directories that are probed, and when each is read.

pub mod error;
pub mod follow;
mod input;
mod lctl;
pub mod options;
pub mod pace;
pub mod parameters;
pub mod probe;
pub mod schedule;
mod script;
pub mod sources;
