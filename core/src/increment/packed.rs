//! Packs what a row of increments holds beside its counts: `detail` (rule 7) and the histograms of sizes.
//!
//! All numbers are varints: seven bits to a byte, the lowest first, and the highest bit of each byte but the last is set. Of a
//! histogram only elements that grew are stored: how far each is from the one before, and its growth; 0 ends them. Of an
//! operation are stored how far its position in [`OPERATIONS`] is from the one before, or 0 and its name if it has none; which
//! of its values follow; and these. So each value has one form, and equal rows have equal bytes.
//!
//! Stores keep the positions, [units](UNITS) and the order of [values](NAMES): these lists may only be appended to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Detail;
use crate::job_stats::Unit;
use crate::operation::{OPERATIONS, OperationIndex};
use crate::snapshot::HISTOGRAM_LEN;

/// The growth of the elements of a histogram.
pub type Growth = [i64; HISTOGRAM_LEN];

/// An operation that has a detail. Those that are listed come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationName<'a> {
    /// The position in [`OPERATIONS`].
    Listed(OperationIndex),
    /// The name of an operation that is not listed.
    Other(Cow<'a, str>),
}

/// The details of an increment.
pub type Details = BTreeMap<OperationName<'static>, Detail>;

/// The names of the numbers of an operation.
const NAMES: [&str; 5] = ["min", "max", "sumsq", "samples", "sum"];

/// The units of operations without columns.
const UNITS: [Unit; 3] = [Unit::Requests, Unit::Bytes, Unit::Microseconds];

/// The bit of the histogram among the values of an operation, after the numbers. The unit has those above.
const HISTOGRAM: usize = NAMES.len();

impl OperationName<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Listed(index) => OPERATIONS[*index].name,
            Self::Other(name) => name,
        }
    }
}

/// Packs details, which come in order; `None` if there are none.
pub fn pack<'a>(
    details: impl IntoIterator<Item = (&'a OperationName<'a>, &'a Detail)>,
) -> Option<Vec<u8>> {
    let (mut bytes, mut before) = (Vec::new(), 0);
    for (name, detail) in details {
        match name {
            OperationName::Listed(index) => {
                put(&mut bytes, (index + 1 - before) as u64);
                before = index + 1;
            }
            OperationName::Other(name) => {
                bytes.push(0);
                put(&mut bytes, name.len() as u64);
                bytes.extend(name.as_bytes());
            }
        }
        detail.pack(&mut bytes);
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Returns the details of these bytes; `None` if they are not what [`pack`] makes.
pub fn unpack(mut bytes: &[u8]) -> Option<Details> {
    let (mut details, mut before) = (Details::new(), 0);
    while !bytes.is_empty() {
        let name = match length(&mut bytes)? {
            0 => {
                let length = length(&mut bytes)?;
                let (name, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                OperationName::Other(Cow::Owned(str::from_utf8(name).ok()?.to_owned()))
            }
            step => {
                before = step.checked_add(before)?;
                OPERATIONS.get(before - 1)?;
                OperationName::Listed(before - 1)
            }
        };
        let last = details.last_key_value();
        if last.is_some_and(|(last, _)| *last >= name) {
            return None;
        }
        details.insert(name, Detail::unpack(&mut bytes)?);
    }
    Some(details)
}

/// Returns details as JSON, by the names of operations and values.
pub fn json(details: &Details) -> Value {
    let named = details.iter().map(|it| (it.0.name(), it.1.json()));
    named.collect()
}

impl Detail {
    /// Returns the numbers in the order of [`NAMES`].
    fn numbers(&self) -> [Option<u64>; NAMES.len()] {
        [self.min, self.max, self.sumsq, self.samples, self.sum]
    }

    fn pack(&self, bytes: &mut Vec<u8>) {
        let numbers = self.numbers();
        let are_set = numbers.iter().map(Option::is_some);
        let are_set = are_set.chain([self.hist.is_some()]).enumerate();
        let set = are_set.fold(0, |set, (bit, is_set)| set | u64::from(is_set) << bit);
        let unit = UNITS.iter().position(|it| Some(*it) == self.unit);
        let unit = unit.map_or(0, |position| position as u64 + 1);
        put(bytes, set | unit << (HISTOGRAM + 1));
        let numbers = numbers.into_iter().flatten();
        numbers.for_each(|number| put(bytes, number));
        if let Some(elements) = &self.hist {
            put_elements(bytes, elements);
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let set = length(bytes)?;
        let mut number = |bit: usize| match set >> bit & 1 {
            0 => Some(None),
            _ => number(bytes).map(Some),
        };
        let detail = Self {
            min: number(0)?,
            max: number(1)?,
            sumsq: number(2)?,
            samples: number(3)?,
            sum: number(4)?,
            hist: None,
            unit: match set >> (HISTOGRAM + 1) {
                0 => None,
                unit => Some(*UNITS.get(unit - 1)?),
            },
        };
        let hist = match set >> HISTOGRAM & 1 {
            0 => None,
            _ => Some(Box::new(elements(bytes)?)),
        };
        Some(Self { hist, ..detail })
    }

    fn json(&self) -> Value {
        let numbers = NAMES.into_iter().zip(self.numbers());
        let numbers = numbers.filter_map(|(name, number)| Some((name, Value::from(number?))));
        let hist = self.hist.iter().map(|it| ("hist", it.to_vec().into()));
        let unit = self.unit.iter().map(|it| ("unit", it.name().into()));
        numbers.chain(hist).chain(unit).collect()
    }
}

/// Packs the histograms of reads and writes; `None` if there is neither.
pub fn pack_sizes(histograms: [Option<&Growth>; 2]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for histogram in histograms {
        let growth = histogram.copied().unwrap_or([0; HISTOGRAM_LEN]);
        put_elements(&mut bytes, &growth.map(i64::cast_unsigned));
    }
    histograms.iter().any(Option::is_some).then_some(bytes)
}

/// Returns the histograms of reads and writes; `None` if the bytes are not what [`pack_sizes`] makes.
pub fn unpack_sizes(mut bytes: &[u8]) -> Option<[Option<Growth>; 2]> {
    let mut histogram = || {
        let growth = elements(&mut bytes)?.map(u64::cast_signed);
        let are_counts = growth.iter().all(|it| *it >= 0);
        are_counts.then(|| growth.iter().any(|it| *it > 0).then_some(growth))
    };
    let histograms = [histogram()?, histogram()?];
    bytes.is_empty().then_some(histograms)
}

fn put_elements(bytes: &mut Vec<u8>, elements: &[u64; HISTOGRAM_LEN]) {
    let mut before = 0;
    for (place, growth) in (1..).zip(elements).filter(|it| *it.1 > 0) {
        put(bytes, place - before);
        put(bytes, *growth);
        before = place;
    }
    bytes.push(0);
}

fn elements(bytes: &mut &[u8]) -> Option<[u64; HISTOGRAM_LEN]> {
    let (mut elements, mut before) = ([0; HISTOGRAM_LEN], 0_usize);
    loop {
        match length(bytes)? {
            0 => return Some(elements),
            step => before = step.checked_add(before)?,
        }
        let growth = number(bytes).filter(|it| *it > 0)?;
        *elements.get_mut(before - 1)? = growth;
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the bytes; `None` if they begin with none, or with another form of it than the shortest.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        number |= bits << shift;
        if byte & 0x80 == 0 {
            let is_shortest = bits > 0 || shift == 0;
            return (is_shortest && number >> shift == bits).then_some(number);
        }
    }
    None
}

fn length(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(number(bytes)?).ok()
}

#[cfg(test)]
pub(super) mod tests;
