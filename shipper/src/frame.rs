//! Holds the texts that were read at one time, divided where the next target begins and compressed as they come.

mod buffer;
mod reading;
mod split;

pub use reading::{LCTL, Pieces, Reading, Recorder, ServerName};
