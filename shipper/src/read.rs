//! The sources of texts: lctl, commands, files that grow and text from elsewhere, and when each is read.

pub mod follow;
pub mod input;
pub mod lctl;
pub mod options;
pub mod pace;
pub mod schedule;
pub mod script;
pub mod sources;
