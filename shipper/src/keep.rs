//! Keeps readings that wait in the spool, and the clock of the last reading: what must outlive a call or an outage.

pub mod backlog;
pub mod clock;
