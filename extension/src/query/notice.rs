//! Writes the notices of the reading functions.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

/// Raises a notice with a hint.
pub fn hinted(message: String, hint: String) {
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        message,
        "jobstats",
    )
    .set_hint(hint)
    .report(PgLogLevel::NOTICE);
}

/// Lists the first of some names, and the number of the others: `a, b, and 3 more`.
pub fn listed(names: &[String], most: usize) -> String {
    let mut listed: Vec<String> = names.iter().take(most).cloned().collect();
    if names.len() > most {
        listed.push(format!("and {} more", names.len() - most));
    }
    listed.join(", ")
}
