//! Prints and reads numbers, names and times as people type and read them.

pub mod number;
pub mod text;
pub mod when;
