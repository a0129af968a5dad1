//! The sources of texts: lctl, commands, files that grow and text from elsewhere, and when each is read.

pub mod error;
pub mod follow;
mod input;
mod lctl;
pub mod options;
pub mod pace;
pub mod parameters;
pub mod schedule;
mod script;
pub mod sources;
