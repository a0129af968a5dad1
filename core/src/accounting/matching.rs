//! Decides which job an entry of `job_stats` belongs to, by the accounting of the jobs of that number.
//!
//! Numbers come back, two clusters may count alike, and work goes on after a job is over. So the number alone is not enough: the
//! time must fit, and the user, if the identifier has one. The node only decides between several jobs of a number, because not
//! every run has a list of nodes, and a list may lack the name of an interface. No job is better than a wrong one.
//!
//! [`add()`] makes jobs of the runs of a number, [`decide()`] looks at an entry on one UTC day, and [`ranges()`] puts its days
//! together. An identifier may name a user and a node but no job: [`attributed()`] finds the job of that user on the node.

mod attribution;
mod day;
mod job;
mod range;
#[cfg(test)]
mod tests;

pub use attribution::{Stay, attributed};
pub use day::{Activity, Entry, Verdict, decide};
pub use job::{Job, Owner, Run, Values, add, end};
pub use range::{FOREVER, Range, ranges};

use crate::base::instant::{DAY, MINUTE, Micros};

/// A job may work so long before its start, in its prolog.
pub const EARLY: Micros = 2 * MINUTE;

/// Runs of a number that lie so far apart are different jobs: the scheduler has begun to count anew.
pub const APART: Micros = 7 * DAY;

/// A running job that no text has named for so long was lost when it was last named.
pub const LOST: Micros = 2 * DAY;

/// Returns the number of the UTC day in which the row of an instant lies: midnight is the end of a day.
pub fn day_of(instant: Micros) -> i64 {
    instant.saturating_sub(1).div_euclid(DAY)
}
