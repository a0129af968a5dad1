//! Which counter of a record a line is.

use std::collections::TryReserveError;

use super::counters::SLOTS_MAX;
use super::read::push;
use super::{Slot, Snapshot};
use crate::operation::{self, OperationIndex};
use crate::scan::{Reason, Unit};

/// Different unlisted operations that a target can have. Lustre's own list has 33.
const UNLISTED_MAX: usize = 256;

// What is carried can have those of two texts and of what was carried before.
const _: () = assert!(operation::OPERATIONS.len() + 3 * UNLISTED_MAX <= SLOTS_MAX);

/// The slot of a listed operation.
pub(super) fn listed_slot(index: OperationIndex, unit: Unit) -> Option<Slot> {
    let index = match (index, unit) {
        (operation::READ, Unit::Bytes) => operation::READ_BYTES,
        (operation::WRITE, Unit::Bytes) => operation::WRITE_BYTES,
        _ => index,
    };
    Slot::try_from(index).ok()
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
