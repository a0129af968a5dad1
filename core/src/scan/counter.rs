//! Reads counters: `{ samples: 2, unit: bytes, min: 4096, max: 8192, sum: 12288, sumsq: …, hist: { 4K: 1, 8K: 1 } }`.

use super::Reason;
use super::histogram::{self, HISTOGRAM_LEN};
use super::line::{is_word, key_value};
use crate::operation::{self, OperationIndex};

/// The unit of a counter.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Calls alone are counted.
    #[default]
    Requests,
    /// `sum` is in bytes.
    Bytes,
    /// `sum` is in microseconds.
    Microseconds,
    /// The unit is another one; the counter is kept in `detail`.
    Other,
}

impl Unit {
    /// Returns the unit of this name.
    pub fn named(name: &str) -> Self {
        match name {
            "reqs" => Self::Requests,
            "bytes" => Self::Bytes,
            "usecs" => Self::Microseconds,
            _ => Self::Other,
        }
    }
}

/// A counter as printed. A field that the line does not have is `None`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CounterLine<'a> {
    /// The name of the operation, listed or not.
    pub operation: &'a str,
    /// The position in [`operation::OPERATIONS`], if the operation is listed.
    pub listed: Option<OperationIndex>,
    /// The unit.
    pub unit: Unit,
    /// The unit as printed.
    pub unit_name: &'a str,
    /// The number of calls.
    pub samples: u64,
    /// The smallest value.
    pub min: Option<u64>,
    /// The largest value.
    pub max: Option<u64>,
    /// The sum of the values.
    pub sum: Option<u64>,
    /// The sum of the squares of the values.
    pub sumsq: Option<u64>,
    /// The histogram; empty buckets are 0.
    pub histogram: Option<[u64; HISTOGRAM_LEN]>,
}

impl CounterLine<'_> {
    /// Returns true if all numbers are zero.
    pub(super) fn is_zero(&self) -> bool {
        let numbers = [self.min, self.max, self.sum, self.sumsq];
        let sizes = self.histogram.iter().flatten();
        self.samples == 0
            && numbers
                .iter()
                .flatten()
                .chain(sizes)
                .all(|number| *number == 0)
    }
}

/// The largest number of bytes of an operation's name. Names in Lustre have up to 20.
pub(super) const OPERATION_MAX: usize = 64;

/// The fields of a counter, in any order; unknown ones are ignored.
#[derive(Default)]
struct Fields<'a> {
    samples: Option<u64>,
    unit: Option<&'a str>,
    min: Option<u64>,
    max: Option<u64>,
    sum: Option<u64>,
    sumsq: Option<u64>,
    histogram: Option<[u64; HISTOGRAM_LEN]>,
}

/// Reads a counter from the operation's name and the text between the braces.
pub(super) fn parse<'a>(name: &'a [u8], body: &'a [u8]) -> Result<CounterLine<'a>, Reason> {
    let mut fields = Fields::default();
    for field in split(body) {
        let (key, value) = key_value(field).ok_or(Reason::UnreadableCounter)?;
        match key {
            b"samples" => once(&mut fields.samples, number(value)?)?,
            b"unit" => once(&mut fields.unit, word(value)?)?,
            b"min" => once(&mut fields.min, number(value)?)?,
            b"max" => once(&mut fields.max, number(value)?)?,
            b"sum" => once(&mut fields.sum, number(value)?)?,
            b"sumsq" => once(&mut fields.sumsq, number(value)?)?,
            b"hist" => once(&mut fields.histogram, histogram::parse(inside(value)?)?)?,
            _ => {}
        }
    }
    if name.len() > OPERATION_MAX {
        return Err(Reason::UnreadableCounter);
    }
    let unit_name = fields.unit.ok_or(Reason::UnreadableCounter)?;
    Ok(CounterLine {
        operation: word(name)?,
        listed: operation::find(name),
        unit: Unit::named(unit_name),
        unit_name,
        samples: fields.samples.ok_or(Reason::UnreadableCounter)?,
        min: fields.min,
        max: fields.max,
        sum: fields.sum,
        sumsq: fields.sumsq,
        histogram: fields.histogram,
    })
}

/// Splits at the commas that are not inside of braces.
fn split(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut depth = 0_u32;
    body.split(move |byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *byte == b',' && depth == 0
    })
}

fn once<T>(field: &mut Option<T>, value: T) -> Result<(), Reason> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(Reason::UnreadableCounter),
    }
}

fn inside(value: &[u8]) -> Result<&[u8], Reason> {
    value
        .strip_prefix(b"{")
        .and_then(|value| value.strip_suffix(b"}"))
        .ok_or(Reason::UnreadableCounter)
}

fn word(value: &[u8]) -> Result<&str, Reason> {
    match std::str::from_utf8(value) {
        Ok(text) if is_word(value) => Ok(text),
        _ => Err(Reason::UnreadableCounter),
    }
}

/// Reads a number of digits without a sign.
pub(super) fn number(digits: &[u8]) -> Result<u64, Reason> {
    if digits.is_empty() {
        return Err(Reason::BadNumber);
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        let tens = number.checked_mul(10).ok_or(Reason::BadNumber)?;
        tens.checked_add(digit.ok_or(Reason::BadNumber)?)
            .ok_or(Reason::BadNumber)
    })
}
