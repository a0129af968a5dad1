//! The values of one counter, and what two of them say about each other.

use super::Reason;
use crate::operation::OPERATIONS;
use crate::scan::Unit;
use crate::snapshot::{Counter, HISTOGRAM_LEN, Record, Slot, Snapshot};

/// One element per power of two.
pub(super) type Histogram = [u64; HISTOGRAM_LEN];

const NO_SIZES: Histogram = [0; HISTOGRAM_LEN];

/// A counter with its histogram.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub counter: Counter,
    pub histogram: Option<&'a Histogram>,
}

impl<'a> Value<'a> {
    /// What every counter of an entry starts from.
    pub const fn zero(slot: Slot) -> Self {
        Self {
            counter: Counter::zero(slot, Unit::Other),
            histogram: None,
        }
    }

    /// What a record says about the operation; None where it does not have its counter.
    pub fn of(snapshot: &'a Snapshot, record: &Record, slot: Slot) -> Option<Self> {
        let counter = snapshot.value(record, slot)?;
        let histogram = snapshot.histogram(&counter);
        Some(Self { counter, histogram })
    }

    /// The histogram, where what it says can be compared: one without sizes says that nothing was counted, and
    /// nothing at all where something was.
    pub fn sizes(&self) -> Option<&'a Histogram> {
        match self.histogram {
            None if self.counter.samples == 0 => Some(&NO_SIZES),
            sizes => sizes,
        }
    }

    /// The first number that is lower `now`, though no number of the same life ever falls.
    pub fn fall(&self, now: &Value) -> Option<Reason> {
        let (before, after) = (&self.counter, &now.counter);
        let numbers = [
            ("samples", before.samples, after.samples),
            ("sum", before.sum, after.sum),
        ];
        let sizes = self.histogram.zip(now.histogram).into_iter();
        let sizes = sizes.flat_map(|(before, after)| before.iter().zip(after));
        numbers
            .into_iter()
            .chain(sizes.map(|(before, after)| ("hist", *before, *after)))
            .find(|(_, from, to)| to < from)
            .map(|(field, from, to)| Reason::Fell { field, from, to })
    }

    /// Whether the counter restarted, judged by its values alone. `sumsq` wraps or saturates and proves nothing.
    pub fn restarted(&self, now: &Value) -> bool {
        let (before, after) = (&self.counter, &now.counter);
        let bounds_shrank = after.max < before.max || after.min > before.min;
        after.samples < before.samples
            || after.sum < before.sum
            || (before.samples > 0 && bounds_shrank)
    }
}

/// Whether both counters say the same; where their histograms stand does not matter.
pub(super) fn same(a: (&Snapshot, &Counter), b: (&Snapshot, &Counter)) -> bool {
    let apart = |counter: &Counter| Counter {
        histogram: None,
        ..*counter
    };
    apart(a.1) == apart(b.1) && a.0.histogram(a.1) == b.0.histogram(b.1)
}

/// The operation's bit in [`Record::present`]; None for one that is not in the list.
pub(super) fn bit(slot: Slot) -> Option<u64> {
    (usize::from(slot) < OPERATIONS.len()).then(|| 1 << slot)
}

/// The slot in `snapshot` of the operation that has this slot in `of`.
///
/// Each snapshot numbers the operations that are not in the list anew; texts that follow each other, mostly alike.
pub(super) fn slot_in(snapshot: &Snapshot, of: &Snapshot, slot: Slot) -> Option<Slot> {
    let is_same = bit(slot).is_some() || snapshot.slot_name(slot) == of.slot_name(slot);
    if is_same {
        return Some(slot);
    }
    snapshot.unlisted_slot(of.slot_name(slot))
}

/// The slots of these bits.
pub(super) fn slots(mut bits: u64) -> impl Iterator<Item = Slot> {
    std::iter::from_fn(move || {
        let slot = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (slot < u64::BITS).then_some(slot as Slot)
    })
}
