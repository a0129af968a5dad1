//! Functions that need no store: help, and those on text alone, which parse, identify, fold and unpack.

pub mod filter;
mod fold;
pub mod identify;
mod nearest;
mod operations;
mod parse;
mod unpack;
pub mod zstd;
