//! Finds the slot of a counter line.

use std::borrow::Cow;
use std::collections::TryReserveError;

use super::counters::SLOTS_MAX;
use super::{Slot, Snapshot};
use crate::base::operation::{self, OperationIndex};
use crate::base::try_vec::push;
use crate::text::job_stats::{Reason, Unit};

/// The largest number of unlisted operations of a target, many times as many as Lustre has.
const UNLISTED_MAX: usize = 256;

// Carried records can have the unlisted operations of two texts and of the records that were carried before.
const _: () = assert!(operation::OPERATIONS.len() + 3 * UNLISTED_MAX <= SLOTS_MAX);

/// Returns the slot of a listed operation.
pub(super) fn listed_slot(index: OperationIndex, unit: Unit) -> Option<Slot> {
    let index = match (index, unit) {
        (operation::READ, Unit::Bytes) => operation::READ_BYTES,
        (operation::WRITE, Unit::Bytes) => operation::WRITE_BYTES,
        _ => index,
    };
    Slot::try_from(index).ok()
}

/// Returns the slot of an unlisted operation, or the reason why it cannot have a slot. A new name is borrowed from the
/// line.
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
    push(&mut snapshot.unlisted, Cow::Borrowed(name))?;
    Ok(snapshot
        .unlisted_slot(name)
        .ok_or(Reason::TooManyOperations))
}
