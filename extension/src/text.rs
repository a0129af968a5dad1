//! Functions on text alone, which need no store: parsing, identifying and unpacking.

pub mod identify;
mod operations;
mod parse;
mod unpack;
pub mod zstd;
