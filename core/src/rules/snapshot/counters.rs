//! Packed counters. The text of a busy server has a million counters, and half of the reading time went into memory
//! that was touched for the first time: 56 bytes for a counter and 256 for a histogram. Most packed counters take 8 to
//! 40 bytes.
//!
//! A counter is a sequence of 32-bit words: the head; the numbers that are not zero, lower half first, and the upper
//! half only if it is not zero; and for a histogram, a word with a bit for each element that is not zero, and the
//! counts of these elements. Equal counters are therefore equal words.

use std::cmp::Ordering;
use std::collections::TryReserveError;
use std::ops::Range;

use super::Slot;
use crate::text::job_stats::{HISTOGRAM_LEN, Unit};

/// The values of a counter as printed. A field that the line lacks is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter<'a> {
    /// The slot of the operation.
    pub slot: Slot,
    /// The unit. `read_bytes` in requests (2.12 MDT) has its min, max, sum and sumsq dropped.
    pub unit: Unit,
    /// The number of calls.
    pub samples: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    /// The sum of the values.
    pub sum: u64,
    /// The sum of squares, which wraps or saturates.
    pub sumsq: u64,
    /// The histogram, if it is not empty.
    pub histogram: Option<Histogram<'a>>,
}

impl Counter<'_> {
    /// Returns a counter of a slot without calls.
    pub fn zero(slot: Slot, unit: Unit) -> Self {
        Self {
            slot,
            unit,
            ..Self::default()
        }
    }

    /// Returns true if the counter is zero.
    pub fn is_zero(&self) -> bool {
        are_zero(&self.numbers()) && self.histogram.is_none()
    }

    /// Returns true if the counter restarted before it was `now`, judged by its values alone. `sumsq` wraps or saturates, so
    /// that it is no evidence.
    pub(crate) const fn restarted(&self, now: &Counter<'_>) -> bool {
        let bounds_shrank = now.max < self.max || now.min > self.min;
        now.samples < self.samples || now.sum < self.sum || (self.samples > 0 && bounds_shrank)
    }

    pub(crate) const fn numbers(&self) -> [u64; NUMBERS] {
        [self.samples, self.min, self.max, self.sum, self.sumsq]
    }
}

/// The elements of a histogram that counted something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram<'a> {
    /// A bit for each element that is not zero.
    elements: u32,
    /// The lower halves of the counts, then, if any is not zero, the upper halves.
    counts: &'a [u32],
}

impl Histogram<'_> {
    /// Returns the elements with their counts, in order.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let (low, high) = self.counts.split_at(self.elements.count_ones() as usize);
        let high = high.iter().chain(std::iter::repeat(&0));
        let counts = low.iter().zip(high).map(|(low, high)| join(*low, *high));
        set_bits(self.elements.into()).zip(counts)
    }

    /// Returns the counts of all elements.
    pub fn sizes(&self) -> [u64; HISTOGRAM_LEN] {
        let mut sizes = [0; HISTOGRAM_LEN];
        for (element, count) in self.counts() {
            sizes[element] = count;
        }
        sizes
    }
}

/// Returns the positions of the bits that are set.
pub(crate) fn set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

/// The number of a counter's numbers: samples, min, max, sum and sumsq.
pub(crate) const NUMBERS: usize = 5;

/// Returns true if all numbers are zero, without a branch and without a comparison of memory that has just been
/// written.
pub(super) fn are_zero(numbers: &[u64]) -> bool {
    numbers.iter().fold(0, |bits, number| bits | number) == 0
}

/// The first word of a counter. From its lowest bit: the slot, the number of words of the head and the numbers, the
/// unit, the number of words of each number, and the histogram.
#[derive(Clone, Copy)]
struct Head(u32);

/// The number of slots that there can be.
pub(super) const SLOTS_MAX: usize = 1 << SLOT_BITS;

const SLOT_BITS: u32 = 14;
const LEN_BITS: u32 = 4;
const UNIT_BITS: u32 = 2;
const HAS_SIZES: u32 = 1 << 30;
const HAS_LARGE_SIZES: u32 = 1 << 31;

impl Head {
    const fn slot(self) -> Slot {
        (self.0 & ((1 << SLOT_BITS) - 1)) as Slot
    }

    const fn unit(self) -> Unit {
        Unit::ALL[(self.0 >> (SLOT_BITS + LEN_BITS)) as usize % Unit::ALL.len()]
    }

    /// Returns the number of words of the head and the numbers.
    const fn len(self) -> usize {
        (self.0 >> SLOT_BITS) as usize % (1 << LEN_BITS)
    }

    /// Returns the number of words of a number.
    const fn words(self, number: usize) -> usize {
        (self.0 >> Self::shift(number)) as usize % 4
    }

    const fn shift(number: usize) -> u32 {
        SLOT_BITS + LEN_BITS + UNIT_BITS + 2 * number as u32
    }
}

const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Returns the lower and the upper half, and how many of them are needed.
const fn split(number: u64) -> ([u32; 2], usize) {
    let halves = [number as u32, (number >> 32) as u32];
    (halves, (number != 0) as usize + (halves[1] != 0) as usize)
}

/// The counters of records, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    pub(super) words: Vec<u32>,
    /// The position of the last counter.
    last: usize,
}

/// The largest number of words of a counter without histogram.
const COUNTER_MAX: usize = 1 + 2 * NUMBERS;

/// The largest number of words of a histogram.
const SIZES_MAX: usize = 1 + 2 * HISTOGRAM_LEN;

impl Counters {
    /// Returns the position at which the next counter will begin.
    pub(crate) fn end(&self) -> u32 {
        self.words.len() as u32
    }

    /// Returns the words of the counters in a range. Equal counters have equal words.
    pub(crate) fn words(&self, range: Range<u32>) -> &[u32] {
        let range = range.start as usize..range.end as usize;
        self.words.get(range).unwrap_or_default()
    }

    /// Returns the counters in a range.
    pub(super) fn iter(&self, range: Range<u32>) -> CounterIter<'_> {
        CounterIter(self.words(range))
    }

    /// Adds a counter to the counters of the last record, which begin at `begin` and are in order of slot. `sizes` are
    /// not all zero.
    pub(crate) fn insert(
        &mut self,
        begin: u32,
        (slot, unit): (Slot, Unit),
        numbers: &[u64; NUMBERS],
        sizes: Option<&[u64; HISTOGRAM_LEN]>,
    ) -> Result<(), TryReserveError> {
        self.words.try_reserve(COUNTER_MAX + SIZES_MAX)?;
        let slot = u32::from(slot) % (1 << SLOT_BITS);
        let mut head = Head(slot | (unit as u32) << (SLOT_BITS + LEN_BITS));
        let end = self.words.len();
        // The counter is written where it stays: memory that has just been written cannot be copied without waiting for
        // it.
        self.words.resize(end + COUNTER_MAX, 0);
        let counter = &mut self.words[end..];
        let mut len = 1;
        // Most counters of Lustre up to 2.13 have calls alone.
        let used = if are_zero(&numbers[1..]) { 1 } else { NUMBERS };
        for (place, number) in numbers[..used].iter().enumerate() {
            let (halves, needed) = split(*number);
            // The upper half is overwritten if it is not needed.
            counter[len..len + 2].copy_from_slice(&halves);
            len += needed;
            head.0 |= (needed as u32) << Head::shift(place);
        }
        head.0 |= (len as u32) << SLOT_BITS;
        head.0 |= if sizes.is_some() { HAS_SIZES } else { 0 };
        counter[0] = head.0;
        self.words.truncate(end + len);
        if let Some(sizes) = sizes {
            self.extend_with_sizes(end, sizes);
        }
        self.put_in_order(begin as usize, end);
        Ok(())
    }

    fn extend_with_sizes(&mut self, head: usize, sizes: &[u64; HISTOGRAM_LEN]) {
        let bits = sizes.iter().zip(0_u32..);
        let elements = bits.fold(0, |bits, (count, bit)| bits | u32::from(*count != 0) << bit);
        let counts = || set_bits(elements.into()).map(|element| sizes[element]);
        self.words.push(elements);
        self.words.extend(counts().map(|count| count as u32));
        if counts().any(|count| count > u32::MAX.into()) {
            self.words[head] |= HAS_LARGE_SIZES;
            self.words
                .extend(counts().map(|count| (count >> 32) as u32));
        }
    }

    /// Moves the counter at the end to its place in the order of slots. Nearly all counters belong at the end.
    fn put_in_order(&mut self, begin: usize, end: usize) {
        let slot = Head(self.words[end]).slot();
        let last = self.last;
        self.last = end;
        if begin < end && Head(self.words[last]).slot() > slot {
            let len = self.words.len() - end;
            let mut before = CounterIter(&self.words[begin..end]);
            let mut place = begin;
            while before.next_head().is_some_and(|head| head.slot() < slot) {
                before.take_one();
                place = end - before.0.len();
            }
            self.words[place..].rotate_right(len);
            self.last = last + len;
        }
    }
}

/// The counters of a record, in order of slot.
#[derive(Debug, Clone)]
pub struct CounterIter<'a>(&'a [u32]);

impl<'a> CounterIter<'a> {
    fn next_head(&self) -> Option<Head> {
        self.0.first().copied().map(Head)
    }

    /// Returns the counter of a slot, and takes the counters before it.
    pub(super) fn find(&mut self, slot: Slot) -> Option<Counter<'a>> {
        loop {
            match self.next_head()?.slot().cmp(&slot) {
                Ordering::Less => _ = self.take_one(),
                Ordering::Equal => return self.next(),
                Ordering::Greater => return None,
            }
        }
    }

    /// Returns the slots of the counters.
    pub(crate) fn slots(mut self) -> impl Iterator<Item = Slot> {
        std::iter::from_fn(move || {
            let head = self.next_head()?;
            self.take_one();
            Some(head.slot())
        })
    }

    /// Returns the slots of counters that differ, or that are in one of the two alone.
    pub(crate) fn other_than(mut self, mut other: CounterIter<'_>) -> impl Iterator<Item = Slot> {
        const NONE: Slot = Slot::MAX;
        std::iter::from_fn(move || {
            loop {
                let [own, others] =
                    [self.next_head(), other.next_head()].map(|head| head.map_or(NONE, Head::slot));
                match own.cmp(&others) {
                    Ordering::Equal if own == NONE => return None,
                    Ordering::Equal if self.take_one() == other.take_one() => {}
                    Ordering::Equal => return Some(own),
                    Ordering::Less => {
                        self.take_one();
                        return Some(own);
                    }
                    Ordering::Greater => {
                        other.take_one();
                        return Some(others);
                    }
                }
            }
        })
    }

    /// Takes the next counter and returns its words.
    fn take_one(&mut self) -> &'a [u32] {
        let begin = self.0;
        if let Some(head) = self.next_head() {
            self.take(head.len());
            self.take_histogram(head);
        }
        &begin[..begin.len() - self.0.len()]
    }

    fn take(&mut self, words: usize) -> &'a [u32] {
        let (taken, rest) = self.0.split_at_checked(words).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }

    fn take_number(&mut self, words: usize) -> u64 {
        match *self.take(words) {
            [low] => low.into(),
            [low, high] => join(low, high),
            _ => 0,
        }
    }

    fn take_histogram(&mut self, head: Head) -> Option<Histogram<'a>> {
        if head.0 & HAS_SIZES == 0 {
            return None;
        }
        let elements = *self.take(1).first()?;
        let halves = if head.0 & HAS_LARGE_SIZES == 0 { 1 } else { 2 };
        let counts = self.take(halves * elements.count_ones() as usize);
        Some(Histogram { elements, counts })
    }
}

impl<'a> Iterator for CounterIter<'a> {
    type Item = Counter<'a>;

    fn next(&mut self) -> Option<Counter<'a>> {
        let head = self.next_head()?;
        self.take(1);
        let [samples, min, max, sum, sumsq] =
            std::array::from_fn(|number| self.take_number(head.words(number)));
        Some(Counter {
            slot: head.slot(),
            unit: head.unit(),
            samples,
            min,
            max,
            sum,
            sumsq,
            histogram: self.take_histogram(head),
        })
    }
}

#[cfg(test)]
mod tests;
