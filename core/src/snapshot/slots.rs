//! Which counter of a record a line is.

use std::collections::TryReserveError;

use super::read::push;
use super::{Slot, Snapshot};
use crate::operation::{self, OPERATIONS, OperationIndex};
use crate::scan::{Reason, Unit};

/// Different unlisted operations that a target can have. Lustre's own list has 33.
const UNLISTED_MAX: usize = 256;

/// Operations of a record whose places are remembered; Lustre prints up to 28.
const PLACES: usize = 64;

/// The operations of the records so far, by their place: all records of a target have the same in the same order, which
/// saves looking each of them up.
pub(super) struct Order([OperationIndex; PLACES]);

impl Default for Order {
    fn default() -> Self {
        Self([0; PLACES])
    }
}

impl Order {
    /// The slot of a listed operation, which stands at this place in its record.
    pub(super) fn listed_slot(&mut self, place: usize, name: &str, unit: Unit) -> Option<Slot> {
        let index = match (self.find(place, name)?, unit) {
            (operation::READ, Unit::Bytes) => operation::READ_BYTES,
            (operation::WRITE, Unit::Bytes) => operation::WRITE_BYTES,
            (index, _) => index,
        };
        Slot::try_from(index).ok()
    }

    fn find(&mut self, place: usize, name: &str) -> Option<OperationIndex> {
        let known = self.0.get(place).copied();
        if let Some(index) = known.filter(|index| OPERATIONS[*index].name == name) {
            return Some(index);
        }
        let index = operation::find(name.as_bytes())?;
        if let Some(known) = self.0.get_mut(place) {
            *known = index;
        }
        Some(index)
    }
}

/// The slot of an operation that is not in the list, or why it has none. A new name is kept as it stands in the line.
pub(super) fn unlisted_slot<'a>(
    snapshot: &mut Snapshot<'a>,
    name: &str,
    text: &'a [u8],
) -> Result<Result<Slot, Reason>, TryReserveError> {
    if let Some(slot) = snapshot.unlisted_slot(name) {
        return Ok(Ok(slot));
    }
    if snapshot.unlisted.len() == UNLISTED_MAX {
        return Ok(Err(Reason::TooManyOperations));
    }
    let found = memchr::memmem::find(text, name.as_bytes());
    let name = found.and_then(|from| std::str::from_utf8(&text[from..from + name.len()]).ok());
    let Some(name) = name else {
        return Ok(Err(Reason::UnreadableCounter));
    };
    push(&mut snapshot.unlisted, name)?;
    Ok(snapshot
        .unlisted_slot(name)
        .ok_or(Reason::TooManyOperations))
}
