//! Looking up from long work in a session of PostgreSQL.

use jobstats_core::pause::Pause;
use pgrx::PgSqlErrorCode;

use crate::reserve;

/// Ends the statement where it was cancelled, or where memory has run out.
pub const PAUSE: Pause<'static> = Pause::new(&pause);

/// As [`PAUSE`].
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
