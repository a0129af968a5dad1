//! Says which observations can be computed again from their raw text, and what of the stored values differs then.

mod finding;
mod run;
mod summary;

pub use finding::{Finding, Findings, TooManyFindings};
pub use run::{Predecessor, Run, earliest_possible, earliest_start};
pub use summary::Summary;
