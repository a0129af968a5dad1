//! Reads the values of all parameters `…stats`, which have one grammar, and the counters of services' queues.
//!
//! ```text
//! snapshot_time             1510781853.009826353 secs.nsecs
//! start_time                1510700000.000000000 secs.nsecs
//! open                      12 samples [usecs] 5 90 400 15000
//! ```
//!
//! `snapshot_time` is the time at which the value was read. A line is printed only for a counter above zero, so that a
//! missing line is zero. Names can be wider than their column. Lustre up to 2.11 prints the counters of older methods
//! behind the counters of the target, some with the same names: the first line of a name counts.

mod growth;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

pub use growth::{Growth, Sums, growth};

use crate::base::instant::{MINUTE, Micros, SECOND};
use crate::base::pause::Pause;
use crate::text::additional_parameters::{Other, Problems, Reason, number};
use crate::text::field;

/// The counters of a service about its queue: microseconds of waiting, and the queued and active requests when a request
/// arrives.
pub const QUEUE: [&str; 3] = ["req_waittime", "req_qdepth", "req_active"];

/// The largest number of counters of a value, several times as many as any has.
const COUNTERS_MAX: usize = 256;

/// The largest number of bytes of a counter's name. Names in Lustre have up to 31.
const NAME_MAX: usize = 64;

/// The seconds below which a time is on the clock that counts from boot.
const EPOCH_FROM: Micros = 1_000_000_000;

/// A value of a parameter `…stats`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats<'o> {
    /// The time at which the value was read, if the server printed it on the wall clock.
    pub snapshot_time: Option<Micros>,
    /// The time at which all counters were zero, if the server printed it on the wall clock.
    pub start_time: Option<Micros>,
    /// The counters in the order of the text, each name once.
    pub counters: Vec<Counter<'o>>,
    /// True if every line could be read, so that a counter that is missing was zero.
    pub is_complete: bool,
}

/// A counter. Its numbers are below 2^63, but for the sum of squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter<'o> {
    /// The name.
    pub name: &'o str,
    /// The unit as printed, such as `usecs`.
    pub unit: &'o str,
    /// The number of samples.
    pub count: i64,
    /// The smallest and the largest sample and their sum, where the server adds them up.
    pub values: Option<[i64; 3]>,
    /// The sum of the squares modulo 2^64, where the server adds them up. Lustre up to 2.9 prints it with a sign.
    pub sumsq: Option<u64>,
}

/// Returns the time of a value in a text: the time at which the value was read, if that is within a minute of the text's
/// time, so that the two clocks agree.
pub fn time_in(read: Option<Micros>, text: Micros) -> Micros {
    let agrees = |read: &Micros| read.abs_diff(text) <= MINUTE.unsigned_abs();
    read.filter(agrees).unwrap_or(text)
}

/// Reads a value.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory.
pub fn read<'o>(
    other: &'o Other<'_>,
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<Stats<'o>, TryReserveError> {
    let mut stats = Stats {
        is_complete: true,
        ..Stats::default()
    };
    let (cut, mut has_time) = (other.cut().map(|(line, _)| line), false);
    for line in other.lines(pause) {
        has_time |= line.1.starts_with(b"snapshot_time");
        let added = match cut == Some(line.0) {
            true => Err(Reason::CutLine),
            false => stats.add(line.1),
        };
        if let Err(reason) = added {
            stats.is_complete = false;
            problems.report(other, line, reason)?;
            if reason == Reason::TooManyLines {
                break;
            }
        }
    }
    stats.is_complete &= has_time;
    Ok(stats)
}

impl<'o> Stats<'o> {
    /// Adds a line.
    fn add(&mut self, line: &'o [u8]) -> Result<(), Reason> {
        let mut words = field::words(line);
        let mut next = || words.next().ok_or(Reason::UnreadableLine);
        let (name, number, unit) = (next()?, next()?, next()?);
        if unit == b"samples" {
            let counter = counter(name, number, next()?, words)?;
            let is_known = self.counters.iter().any(|it| it.name == counter.name);
            return match self.counters.len() {
                _ if is_known => Ok(()),
                COUNTERS_MAX => Err(Reason::TooManyLines),
                _ => {
                    self.counters.push(counter);
                    Ok(())
                }
            };
        }
        // A later version may print other times.
        if !name.ends_with(b"_time") || words.next().is_some() {
            return Err(Reason::UnreadableLine);
        }
        let time = time(number, unit)?;
        match name {
            b"snapshot_time" => self.snapshot_time = self.snapshot_time.or(time),
            b"start_time" => self.start_time = self.start_time.or(time),
            _ => {}
        }
        Ok(())
    }
}

/// Reads the counter of a name. `rest` are the words behind the unit.
fn counter<'o>(
    name: &'o [u8],
    count: &[u8],
    unit: &'o [u8],
    rest: impl Iterator<Item = &'o [u8]>,
) -> Result<Counter<'o>, Reason> {
    let unit = unit.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]"));
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| Reason::UnreadableLine);
    let numbers: Vec<_> = rest.take(5).collect();
    let (values, sumsq) = match numbers[..] {
        [] => (None, None),
        [min, max, sum, ref squares @ ..] if squares.len() < 2 => {
            let sumsq = squares.first().map(|squares| wrapped(squares));
            (
                Some([number(min)?, number(max)?, number(sum)?]),
                sumsq.transpose()?,
            )
        }
        _ => return Err(Reason::UnreadableLine),
    };
    let is_name = name.len() <= NAME_MAX && name.iter().all(u8::is_ascii_graphic);
    Ok(Counter {
        name: text(name)?,
        unit: text(unit.filter(|_| is_name).ok_or(Reason::UnreadableLine)?)?,
        count: number(count)?,
        values,
        sumsq,
    })
}

/// Reads a number of 64 bits with or without a sign.
fn wrapped(digits: &[u8]) -> Result<u64, Reason> {
    let negative = || Some(field::number::<u64>(digits.strip_prefix(b"-")?)?.wrapping_neg());
    let number = field::number(digits).or_else(negative);
    number.ok_or(Reason::BadNumber)
}

/// Reads a time; `None` if it is not on the wall clock. Lustre up to 2.9 does not pad microseconds with zeros.
fn time(digits: &[u8], unit: &[u8]) -> Result<Option<Micros>, Reason> {
    let (seconds, fraction) = field::split_once(digits, b'.').ok_or(Reason::UnreadableLine)?;
    let (seconds, fraction) = (number(seconds)?, number(fraction)?);
    let (micros, limit) = match unit {
        b"secs.nsecs" => (fraction / 1_000, 1_000_000_000),
        b"secs.usecs" => (fraction, SECOND),
        _ => return Err(Reason::UnreadableLine),
    };
    let time = seconds
        .checked_mul(SECOND)
        .and_then(|it| it.checked_add(micros));
    let time = time.filter(|_| fraction < limit).ok_or(Reason::BadNumber)?;
    Ok((seconds >= EPOCH_FROM).then_some(time))
}
