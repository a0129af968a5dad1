//! Groups as values here.

use std::collections::BTreeMap;

pub use jobstats_core::usage::Values as Group;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::query::window::ROW_LIMIT;

/// The memory that a group takes, and the value of one of its dimensions.
const GROUP_BYTES: usize = 512;
const VALUE_BYTES: usize = 96;

/// Returns what is held of a group. There are at most as many groups as an answer has rows.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Memory`] if there is no room for another group.
pub fn held<T: Default>(groups: &mut BTreeMap<Group, T>, group: Group) -> Result<&mut T, Error> {
    if !groups.contains_key(&group) {
        if groups.len() >= ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        require_room(groups.len() + 1, GROUP_BYTES + VALUE_BYTES * group.len())?;
    }
    Ok(groups.entry(group).or_default())
}
