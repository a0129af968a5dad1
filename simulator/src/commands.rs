//! The commands.

use std::ops::RangeInclusive;

use jiff::SignedDuration;

use crate::time::{Nanos, SECOND};

mod accounting;
pub mod cli;
mod cluster_options;
mod play;
mod report;

/// Parses a whole number of seconds in a range, which is also given in words.
fn whole_seconds(text: &str, range: RangeInclusive<Nanos>, words: &str) -> Result<Nanos, String> {
    let length: SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    let nanos = length.as_secs().saturating_mul(SECOND);
    match length.subsec_nanos() {
        0 if range.contains(&nanos) => Ok(nanos),
        _ => Err(format!("is not a duration in seconds from {words}")),
    }
}
