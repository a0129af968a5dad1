//! What must outlive a call or an outage: readings that wait in the spool, and the clock of the last reading.

pub mod backlog;
pub mod clock;
