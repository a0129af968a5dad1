//! The check for interrupts of a session of PostgreSQL.

use jobstats_core::base::pause::Pause;
use pgrx::PgSqlErrorCode;

use crate::pg::reserve;

/// Ends the statement if it was cancelled or if memory has run out.
pub const PAUSE: Pause<'static> = Pause::new(&pause);

/// Does what [`PAUSE`] does.
pub fn pause() {
    pgrx::check_for_interrupts!();
    if reserve::is_in_use() {
        pgrx::ereport!(
            ERROR,
            PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            "out of memory"
        );
    }
}
