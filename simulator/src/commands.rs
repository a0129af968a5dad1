//! The commands.

mod accounting;
pub mod cli;
mod play;
mod report;
