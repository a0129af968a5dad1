//! Compares two values of one counter.

use super::Reason;
use crate::base::operation::OPERATIONS;
use crate::rules::snapshot::{Counter, HISTOGRAM_LEN, Slot, Snapshot, set_bits};

/// The elements of a histogram, one per power of two.
pub(super) type Histogram = [u64; HISTOGRAM_LEN];

/// Returns the histogram, if it can be compared. A counter without a histogram has an empty one if it is zero, and an
/// unknown one otherwise.
pub(super) fn sizes(counter: &Counter<'_>) -> Option<Histogram> {
    match counter.histogram {
        None if counter.samples == 0 => Some([0; HISTOGRAM_LEN]),
        histogram => histogram.map(|histogram| histogram.sizes()),
    }
}

/// Returns the first number that is lower in `now`. No number of the same epoch ever falls.
pub(super) fn fall(before: &Counter<'_>, now: &Counter<'_>) -> Option<Reason> {
    let numbers = [
        ("samples", before.samples, now.samples),
        ("sum", before.sum, now.sum),
    ];
    let sizes = before.histogram.zip(now.histogram);
    let sizes = sizes.map(|(before, now)| before.sizes().into_iter().zip(now.sizes()));
    let sizes = sizes.into_iter().flatten();
    numbers
        .into_iter()
        .chain(sizes.map(|(before, now)| ("hist", before, now)))
        .find(|(_, from, to)| to < from)
        .map(|(field, from, to)| Reason::Fell { field, from, to })
}

/// Returns the operation's bit in [`crate::rules::snapshot::Record::present`], or `None` for an unlisted operation.
pub(super) fn bit(slot: Slot) -> Option<u64> {
    (usize::from(slot) < OPERATIONS.len()).then(|| 1 << slot)
}

/// Returns the slot in `snapshot` of the operation that has this slot in `of`.
///
/// Each snapshot numbers the unlisted operations anew. Texts that follow each other mostly number them alike.
pub(super) fn slot_in(snapshot: &Snapshot, of: &Snapshot, slot: Slot) -> Option<Slot> {
    let is_same = bit(slot).is_some() || snapshot.slot_name(slot) == of.slot_name(slot);
    if is_same {
        return Some(slot);
    }
    snapshot.unlisted_slot(of.slot_name(slot))
}

/// Returns the slots of these bits.
pub(super) fn slots(bits: u64) -> impl Iterator<Item = Slot> {
    set_bits(bits).map(|bit| bit as Slot)
}
