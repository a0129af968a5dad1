//! The aggregates that the statements of the reading functions call.

mod observed;
mod rate;
