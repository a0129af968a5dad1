//! Packs the details of a row of increments: `detail` (rule 7) and the histograms of sizes.
//!
//! Numbers are varints: seven bits to a byte, the lowest first, and the highest bit of each byte but the last is set. An operation is
//! its position in [`OPERATIONS`] plus 1, or 0 and its name if it is not listed; then bits that show which values follow; then the values.
//! A histogram is a list of the elements that grew: the distance from the previous one, and the growth; then 0. So each value has one
//! form, and equal rows have equal bytes.
//!
//! Stores keep the positions of operations, [units](UNITS) and [numbers](NUMBERS): append to these lists only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Detail;
use crate::base::operation::{OPERATIONS, OperationIndex};
use crate::rules::snapshot::HISTOGRAM_LEN;
use crate::text::job_stats::Unit;

/// The elements of the histogram of `read_bytes`, followed by `write_bytes`.
pub type Histograms = [i64; 2 * HISTOGRAM_LEN];

/// An operation that has a detail. Listed ones come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationName<'a> {
    /// The position in [`OPERATIONS`].
    Listed(OperationIndex),
    /// The name of an operation that is not listed.
    Other(Cow<'a, str>),
}

/// The details of an increment.
pub type Details = BTreeMap<OperationName<'static>, Detail>;

/// The names of the numbers of an operation. The unit comes after them as a number, and then the histogram.
const NUMBERS: [&str; 5] = ["min", "max", "sumsq", "samples", "sum"];

/// The units of operations without columns, by their numbers.
const UNITS: [Unit; 3] = [Unit::Requests, Unit::Bytes, Unit::Microseconds];

/// Packs details, which come in order; `None` without any.
pub(super) fn pack<'a>(
    details: impl IntoIterator<Item = (&'a OperationName<'a>, &'a Detail)>,
) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for (name, detail) in details {
        match name {
            OperationName::Listed(index) => put(&mut bytes, *index as u64 + 1),
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

/// Returns the details of these bytes; `None` if they are not packed details.
pub fn unpack(mut bytes: &[u8]) -> Option<Details> {
    let mut details = Details::new();
    while !bytes.is_empty() {
        let name = match length(&mut bytes)? {
            0 => {
                let length = length(&mut bytes)?;
                let name = str::from_utf8(bytes.split_off(..length)?).ok()?;
                OperationName::Other(name.to_owned().into())
            }
            number => OperationName::Listed(OPERATIONS.get(number - 1).map(|_| number - 1)?),
        };
        let last = details.last_key_value();
        if last.is_some_and(|(last, _)| *last >= name) {
            return None;
        }
        details.insert(name, Detail::unpack(&mut bytes)?);
    }
    Some(details)
}

/// Returns packed details as JSON; `None` if they are damaged.
pub fn json(detail: &[u8]) -> Option<Value> {
    let named = unpack(detail)?
        .into_iter()
        .map(|(name, detail)| match name {
            OperationName::Listed(index) => (OPERATIONS[index].name.to_owned(), detail.json()),
            OperationName::Other(name) => (name.into_owned(), detail.json()),
        });
    Some(named.collect())
}

impl Detail {
    /// Returns the [`NUMBERS`].
    fn numbers(&self) -> [Option<u64>; NUMBERS.len()] {
        [self.min, self.max, self.sumsq, self.samples, self.sum]
    }

    fn pack(&self, bytes: &mut Vec<u8>) {
        let unit = UNITS.iter().position(|it| Some(*it) == self.unit);
        let unit = unit.map(|position| position as u64);
        let numbers = self.numbers().into_iter().chain([unit]);
        let are_set = numbers.clone().map(|it| it.is_some());
        let are_set = (0..).zip(are_set.chain([self.hist.is_some()]));
        put(bytes, are_set.map(|(bit, it)| u64::from(it) << bit).sum());
        numbers.flatten().for_each(|number| put(bytes, number));
        if let Some(elements) = &self.hist {
            put_elements(bytes, &elements[..]);
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let set = number(bytes).filter(|set| set >> (NUMBERS.len() + 2) == 0)?;
        let mut value = |bit: usize| match set >> bit & 1 {
            0 => Some(None),
            _ => number(bytes).map(Some),
        };
        Some(Self {
            min: value(0)?,
            max: value(1)?,
            sumsq: value(2)?,
            samples: value(3)?,
            sum: value(4)?,
            unit: match value(5)? {
                Some(unit) => Some(*UNITS.get(usize::try_from(unit).ok()?)?),
                None => None,
            },
            hist: match set >> 6 {
                0 => None,
                _ => Some(Box::new(elements(bytes)?)),
            },
        })
    }

    fn json(&self) -> Value {
        let numbers = NUMBERS.into_iter().zip(self.numbers());
        let numbers = numbers.filter_map(|(name, number)| Some((name, Value::from(number?))));
        let hist = self.hist.iter().map(|it| ("hist", it.to_vec().into()));
        let unit = self.unit.iter().map(|it| ("unit", it.name().into()));
        numbers.chain(hist).chain(unit).collect()
    }
}

/// Packs histograms.
pub fn pack_sizes(histograms: &Histograms) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_elements(&mut bytes, &histograms.map(i64::cast_unsigned));
    bytes
}

/// Returns the histograms of these bytes; `None` if they are not packed histograms.
pub fn unpack_sizes(mut bytes: &[u8]) -> Option<Histograms> {
    let histograms = elements(&mut bytes)?.map(u64::cast_signed);
    bytes.is_empty().then_some(histograms)
}

fn put_elements(bytes: &mut Vec<u8>, elements: &[u64]) {
    let mut before = 0;
    for (place, growth) in (1..).zip(elements).filter(|it| *it.1 > 0) {
        put(bytes, place - before);
        put(bytes, *growth);
        before = place;
    }
    bytes.push(0);
}

fn elements<const N: usize>(bytes: &mut &[u8]) -> Option<[u64; N]> {
    let (mut elements, mut before) = ([0; N], 0_usize);
    loop {
        match length(bytes)? {
            0 => return Some(elements),
            step => before = before.checked_add(step)?,
        }
        *elements.get_mut(before - 1)? = number(bytes).filter(|it| *it > 0)?;
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the bytes; `None` if they begin without one, or with a form other than the shortest.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u64::from(*bytes.split_off_first()?);
        let bits = byte & 0x7f;
        number |= bits << shift;
        if byte == bits {
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
