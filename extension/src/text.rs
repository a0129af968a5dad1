//! Functions that need no store: help, and those on text alone, which parse, identify, fold and unpack.

pub mod filter;
pub mod identify;
mod names;
mod operations;
mod parse;
mod unpack;
pub mod zstd;
