//! Finds which observations can be recomputed from their raw text, and which stored values differ then.

mod finding;
mod run;
mod summary;

pub use finding::{Finding, Findings, TooManyFindings};
pub use run::{Predecessor, Run, earliest_possible, earliest_start};
pub use summary::Summary;
