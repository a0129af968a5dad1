//! Groups as values here.

use crate::pg::error::Error;
use crate::pg::memory;

/// The values of the dimensions of a group, as texts, in the order of the dimensions.
pub type Group = Vec<Option<String>>;

/// The memory that a group takes, and the value of one of its dimensions.
const GROUP_BYTES: usize = 512;
const VALUE_BYTES: usize = 96;

/// Requires room for so many groups of so many values.
pub fn require_room(groups: usize, values: usize) -> Result<(), Error> {
    memory::require_room(groups, GROUP_BYTES + VALUE_BYTES * values)
}
