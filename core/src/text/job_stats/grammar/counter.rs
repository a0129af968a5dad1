//! Reads counters: `{ samples: 2, unit: bytes, min: 4096, max: 8192, sum: 12288, sumsq: …, hist: { 4K: 1, 8K: 1 } }`.

use super::histogram::{self, HISTOGRAM_LEN};
use super::line::{Line, is_word, key_value};
use crate::base::operation::{self, OperationIndex};
use crate::text::field::is_number;
use crate::text::job_stats::Reason;
use crate::text::job_stats::lctl::lines::{LINE_MAX, Lines, Piece};

crate::named! {
    /// The unit of a counter.
    #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Unit {
        /// Calls alone are counted.
        #[default]
        Requests = "reqs",
        /// `sum` is in bytes.
        Bytes = "bytes",
        /// `sum` is in microseconds.
        Microseconds = "usecs",
        /// The unit is another one; the counter is kept in `detail`.
        Other = "other",
    }
    /// Returns its name.
    pub fn name;
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
    pub(in crate::text::job_stats) fn is_zero(&self) -> bool {
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
pub(in crate::text::job_stats) const OPERATION_MAX: usize = 64;

/// Reads a counter from the operation's name and the text between the braces.
pub(in crate::text::job_stats) fn parse<'a>(
    name: &'a [u8],
    body: &'a [u8],
) -> Result<CounterLine<'a>, Reason> {
    let (mut line, mut samples, mut unit) = (CounterLine::default(), None, None);
    for field in split(body) {
        let (key, value) = key_value(field).ok_or(Reason::UnreadableCounter)?;
        match key {
            b"samples" => once(&mut samples, number(value)?)?,
            b"unit" => once(&mut unit, word(value)?)?,
            b"min" => once(&mut line.min, number(value)?)?,
            b"max" => once(&mut line.max, number(value)?)?,
            b"sum" => once(&mut line.sum, number(value)?)?,
            b"sumsq" => once(&mut line.sumsq, number(value)?)?,
            b"hist" => once(&mut line.histogram, histogram::parse(inside(value)?)?)?,
            _ => {}
        }
    }
    if name.len() > OPERATION_MAX {
        return Err(Reason::UnreadableCounter);
    }
    line.unit_name = unit.ok_or(Reason::UnreadableCounter)?;
    Ok(CounterLine {
        operation: word(name)?,
        listed: operation::find(name),
        unit: Unit::find(line.unit_name).unwrap_or(Unit::Other),
        samples: samples.ok_or(Reason::UnreadableCounter)?,
        ..line
    })
}

/// Returns the text before and after the `}` of a counter. `fields` is the text after `{` on the line that was taken
/// last. Takes further lines until the `}` is found. Returns `None` if a line comes that begins something else.
pub(in crate::text::job_stats) fn body<'a>(
    lines: &mut Lines<'a, '_>,
    line: Piece<'a>,
    fields: &'a [u8],
) -> Option<(&'a [u8], &'a [u8])> {
    let from = line.offset_of(fields);
    let (mut depth, mut text, mut begin) = (1, fields, from);
    loop {
        if let Some(close) = closing(text, &mut depth) {
            return Some((&lines.text[from..begin + close], &text[close + 1..]));
        }
        let mut ahead = *lines;
        let next = ahead.take_of_value()?;
        if next.next - from > LINE_MAX || Line::of(next.text).ends_counter() {
            return None;
        }
        *lines = ahead;
        (text, begin) = (next.text, next.offset_of(next.text));
    }
}

/// Returns the text before and after the `}` of a counter, whose fields stand in a text that ends with the counter.
pub(in crate::text::job_stats) fn body_in(fields: &[u8]) -> Option<(&[u8], &[u8])> {
    let close = closing(fields, &mut 1)?;
    Some((&fields[..close], &fields[close + 1..]))
}

/// Returns the position of the brace that closes the `depth` open ones.
fn closing(text: &[u8], depth: &mut u32) -> Option<usize> {
    for brace in memchr::memchr2_iter(b'{', b'}', text) {
        if text[brace] == b'{' {
            *depth += 1;
        } else {
            *depth -= 1;
            if *depth == 0 {
                return Some(brace);
            }
        }
    }
    None
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
pub(in crate::text::job_stats) fn number(digits: &[u8]) -> Result<u64, Reason> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|_| is_number(digits));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or(Reason::BadNumber)
}
