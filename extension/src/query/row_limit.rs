//! Groups as values here.

use std::collections::BTreeMap;

pub use jobstats_core::usage::Values as Group;

use crate::pg::error::Error;
use crate::query::window::ROW_LIMIT;

/// Returns the value of a group. [`lines`](jobstats_core::usage::Groups::lines) have reserved its memory. There are at most as many groups as an
/// answer has rows.
///
/// # Errors
/// [`Error::TooManyRows`]
pub fn held<T: Default>(groups: &mut BTreeMap<Group, T>, group: Group) -> Result<&mut T, Error> {
    if groups.len() >= ROW_LIMIT && !groups.contains_key(&group) {
        return Err(Error::TooManyRows);
    }
    Ok(groups.entry(group).or_default())
}
