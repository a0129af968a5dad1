//! Adds up usage: rows of increments and rollups in, groups with totals, rates and coverage out.
//!
//! A [`Measure`] is a sum of columns. A [`Row`] is the work of an entry on a target in a span of time; [`Cells`] adds rows up by step,
//! target and [`Subject`], which is the entry, or the owner of sums. [`Owners`] finds the user, the job and the
//! names of a subject on the day. [`Condition`]s select by these, and [`Groups`] adds up subjects with the same values. A [`Scope`] has the
//! targets and how long each was observed, which makes rates of totals.
//!
//! Totals are exact: sums of whole numbers. A rate is the sum over targets of total ÷ time observed, rounded once. Neither depends on the
//! order of rows.

use std::hint::black_box;

mod cells;
pub mod columns;
mod condition;
mod counting;
pub mod dimension;
pub mod filter;
mod groups;
mod leading;
mod measure;
mod measure_plan;
mod owners;
pub mod per_call;
mod rates;
mod scope;
mod sizes;
pub mod times;
mod untracked;
pub mod window;

#[cfg(test)]
mod tests;

pub use cells::{Activity, Cells, Layout, Row, Subject, SubjectKind};
pub use condition::{Condition, Conditions, OwnUsage};
pub use counting::Counting;
pub use groups::{Amount, Groups, Line, Shown, Values};
pub use leading::{Leading, leading};
pub use measure::{Measure, MeasureError, Measures};
pub use measure_plan::MeasurePlan;
pub use owners::{Entry, Job, Owners, User};
pub use rates::Rates;
pub use scope::{Observed, Scope, Target};
pub use sizes::{RowOfSizes, Sizes, SizesOfGroup, SizesOfRow};
pub use times::Times;
pub use untracked::{Untracked, in_no_entry, target_counter_sums, untracked};

/// An error that ends an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// More memory would be needed than the answer may take.
    #[error("the answer needs more than {0} bytes of memory")]
    Memory(usize),
    /// The system has no memory for the tables of an answer.
    #[error("out of memory: could not allocate {0} bytes")]
    NoRoom(usize),
    /// A sum is larger than any that can be shown.
    #[error("a sum is out of range")]
    Overflow,
}

/// Fails if the system has no memory for tables that are about to take so many bytes. A table that cannot grow ends the process.
///
/// # Errors
/// [`UsageError::NoRoom`]
pub fn require_room(bytes: usize) -> Result<(), UsageError> {
    let mut room: Vec<u8> = Vec::new();
    let reserved = room.try_reserve_exact(bytes);
    // An allocation that is never looked at might be optimized away.
    black_box(&room);
    reserved.map_err(|_| UsageError::NoRoom(bytes))
}

/// Adds a value, if it is known, to a sum, which is known once any value is.
fn add(sum: &mut Option<i128>, value: Option<i128>) -> Result<(), UsageError> {
    if let Some(value) = value {
        let added = sum.unwrap_or(0).checked_add(value);
        *sum = Some(added.ok_or(UsageError::Overflow)?);
    }
    Ok(())
}
