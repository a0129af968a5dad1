//! Keeps readings that wait in the spool until a courier has sent them, and the clock of the last reading: all that must outlive a call or
//! an outage.

pub mod clock;
pub mod sender;
pub mod spool;
