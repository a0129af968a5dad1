//! Writes the notices of the reading functions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use crate::pg::error::shown;

/// The number of targets, schedulers or users that a notice names.
pub const NAMED: usize = 5;

/// Raises a notice with a hint.
pub fn hinted(message: impl Into<Cow<'static, str>>, hint: impl Into<String>) {
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        message,
        "jobstats",
    )
    .set_hint(hint)
    .report(PgLogLevel::NOTICE);
}

/// Returns names as they are shown, in order and each of them once.
pub fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: BTreeSet<String> = names.map(|it| shown(it).into_owned()).collect();
    names.into_iter().collect()
}

/// Lists the first of some names, and the number of the others: `a, b, and 3 more`.
pub fn listed(names: &[String], most: usize) -> String {
    let mut listed: Vec<String> = names.iter().take(most).cloned().collect();
    if names.len() > most {
        listed.push(format!("and {} more", names.len() - most));
    }
    listed.join(", ")
}
