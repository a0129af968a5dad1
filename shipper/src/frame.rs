//! Holds what was read at one time: its texts, divided where the next target begins and compressed as they come.

mod reading;
mod split;
mod storage;

pub use reading::{LCTL, Reading, Recorder, Sender};
