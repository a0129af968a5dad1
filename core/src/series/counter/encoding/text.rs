//! The text of a summary.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::super::summary::Total;
use super::super::{CounterError, Modulus, Reading, Summary};
use crate::base::instant::Micros;

/// An example of the text.
pub const TEXT_EXAMPLE: &str = "v1 increase=110 resets=1 first=1762156800.000000:100 \
     last=1762158600.000000:60 known=60 peak=100 turn=1762157400.000000:150";

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let version = if self.modulus.is_some() { 2 } else { 1 };
        write!(f, "v{version} increase={}", self.increase())?;
        write!(f, " resets={} first={}", self.resets, self.first)?;
        write!(f, " last={}", self.last)?;
        if let Some(modulus) = self.modulus {
            return write!(f, " wraps_at={}", modulus.get());
        }
        write!(f, " known={} peak={}", self.known, self.peak)?;
        self.turn.map_or(Ok(()), |it| write!(f, " turn={it}"))
    }
}

/// Writes the time in seconds since 1970, a colon and the value. If the start of the counter's epoch is known, it
/// follows after `@`.
impl Display for Reading {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Seconds(self.time), self.value)?;
        self.start()
            .map_or(Ok(()), |it| write!(f, "@{}", Seconds(it)))
    }
}

struct Seconds(Micros);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

impl Summary {
    /// Reads a summary from its text.
    pub fn from_text(text: &str) -> Result<Self, CounterError> {
        let summary = read(text).filter(Self::is_consistent);
        // Numbers can be written in several ways ("+1", "01"), but a summary has only one text.
        let same = summary.filter(|it| it.to_string() == text);
        same.ok_or(CounterError::Text)
    }
}

fn read(text: &str) -> Option<Summary> {
    let mut words = text.split(' ');
    let version = words.next()?;
    let mut word = |name: &str| words.next()?.strip_prefix(name);
    let increase = Total(number(word("increase=")?)?);
    let resets = number(word("resets=")?)?;
    let first = read_reading(word("first=")?)?;
    let last = read_reading(word("last=")?)?;
    let mut summary = Summary {
        last,
        known: last.value,
        increase,
        resets,
        ..Summary::new(first)
    };
    match version {
        "v1" => {
            summary.known = number(word("known=")?)?;
            summary.peak = number(word("peak=")?)?;
            if let Some(turn) = word("turn=") {
                summary.turn = Some(read_reading(turn)?);
            }
        }
        "v2" => summary.modulus = Some(Modulus::new(number(word("wraps_at=")?)?).ok()?),
        _ => return None,
    }
    Some(summary)
}

fn number<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

fn read_reading(text: &str) -> Option<Reading> {
    let (time, rest) = text.split_once(':')?;
    let (value, start) = match rest.split_once('@') {
        Some((value, start)) => (value, Some(read_seconds(start)?)),
        None => (rest, None),
    };
    Reading::new(read_seconds(time)?, value.parse().ok()?, start).ok()
}

fn read_seconds(text: &str) -> Option<Micros> {
    let (seconds, micros) = text.split_once('.')?;
    // "-0" has a sign too, which the parsed seconds would lose.
    let micros: Micros = micros.parse().ok()?;
    let micros = if text.starts_with('-') {
        -micros
    } else {
        micros
    };
    let seconds: Micros = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}
