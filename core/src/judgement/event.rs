//! Finds in series of readings when a file system made its users wait, and whose work that was.
//!
//! Each detector is a function from readings to [`Episode`]s, one for each kind of event. It looks back and never ahead: readings that are
//! added at the end change no episode that was over, so that one run over two spans finds what two runs find. A time without readings is
//! unknown, not zero.

pub mod budget;
pub mod culprit;
mod episode;
pub mod full;
mod grouping;
pub mod moved;
pub mod probe;
mod readings;
pub mod rule;
pub mod slow;
pub mod stalled;
#[cfg(test)]
mod tests;
pub mod waiting;

pub use episode::{Episode, MEASURED};
pub use grouping::{Event, join, overlap};
pub use readings::Reading;
