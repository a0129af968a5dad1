//! The two forms in which a summary is stored: text for people and bytes for tables. Each summary has exactly one text
//! and one sequence of bytes, so that equal summaries are equal in either form.

use std::fmt::{self, Display, Formatter};

use super::summary::{MAX_RESETS, Total};
use super::{CounterError, Reading, Start, Summary};
use crate::instant::Micros;

/// An example of the text.
pub const TEXT_EXAMPLE: &str = "v1 increase=110 resets=1 first=1762156800.000000:100 \
     last=1762158600.000000:60 known=60 peak=100 turn=1762157400.000000:150";

/// The version of the bytes.
const VERSION: u8 = 1;
/// The number of 8-byte integers that follow the version.
const WORDS: usize = 14;
/// The three integers of a missing reading.
const NO_READING: [i64; 3] = [i64::MIN; 3];

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v1 increase={} resets={}", self.increase(), self.resets)?;
        write!(f, " first={} last={}", self.first, self.last)?;
        write!(f, " known={} peak={}", self.known, self.peak)?;
        self.turn.map_or(Ok(()), |it| write!(f, " turn={it}"))
    }
}

/// Writes the time in seconds since 1970, a colon and the value. If the start of the counter's life is known, it
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

    /// Reads a summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CounterError> {
        let summary = unpack(bytes).filter(Self::is_consistent);
        summary.ok_or(CounterError::Bytes)
    }

    /// Returns the bytes: the version, then 14 little-endian integers of 8 bytes. These are time, start and value of
    /// the first reading; the peak; time, start and value of the turn; time, start and value of the last reading; the
    /// known value; the increase as two integers, lower half first; and the resets. An unknown start and the integers
    /// of a missing turn are −2^63.
    pub fn to_bytes(&self) -> [u8; 1 + 8 * WORDS] {
        let [first_time, first_start, first_value] = pack(self.first);
        let [turn_time, turn_start, turn_value] = self.turn.map_or(NO_READING, pack);
        let [last_time, last_start, last_value] = pack(self.last);
        let increase = self.increase();
        let words: [i64; WORDS] = [
            first_time,
            first_start,
            first_value,
            self.peak,
            turn_time,
            turn_start,
            turn_value,
            last_time,
            last_start,
            last_value,
            self.known,
            increase as i64,
            (increase >> 64) as i64,
            self.resets as i64,
        ];
        let mut bytes = [VERSION; 1 + 8 * WORDS];
        let places = bytes[1..].chunks_exact_mut(8);
        places
            .zip(words)
            .for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Returns true if readings can have produced this summary, as far as the other functions rely on that.
    fn is_consistent(&self) -> bool {
        let Ok(opening) = self.opening() else {
            return false;
        };
        let values_are_possible = self.peak >= self.first.value
            && self.known >= self.last.value
            && self.resets <= MAX_RESETS
            && (self.first.start().is_some() || self.peak == self.first.value)
            && (self.last.start().is_some() || self.known == self.last.value);
        let rest_is_possible = match self.turn {
            Some(turn) => {
                !self.first.is_of_life(&turn)
                    && self.first.time < turn.time
                    && turn.time <= self.last.time
                    && (turn.time < self.last.time || self.last == turn)
                    && self.increase() >= opening.increase()
                    && self.resets >= opening.resets
                    && (turn != self.last || self.ends_like(&opening))
            }
            None => {
                let one = self.first == self.last;
                (one || self.first.is_of_life(&self.last) && self.first.time < self.last.time)
                    && self.ends_like(&opening)
                    && (!one || self.peak == self.first.value)
            }
        };
        values_are_possible && rest_is_possible
    }

    /// Returns true if the known value, the increase and the resets are those of the opening, so that nothing follows
    /// it.
    fn ends_like(&self, opening: &Self) -> bool {
        self.known == opening.known
            && self.increase == opening.increase
            && self.resets == opening.resets
    }
}

fn read(text: &str) -> Option<Summary> {
    let mut words = text.split(' ');
    let mut word = |name: &str| words.next()?.strip_prefix(name);
    word("v1")?;
    Some(Summary {
        increase: Total(word("increase=")?.parse().ok()?),
        resets: word("resets=")?.parse().ok()?,
        first: read_reading(word("first=")?)?,
        last: read_reading(word("last=")?)?,
        known: word("known=")?.parse().ok()?,
        peak: word("peak=")?.parse().ok()?,
        turn: match word("turn=") {
            Some(turn) => Some(read_reading(turn)?),
            None => None,
        },
    })
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

fn pack(reading: Reading) -> [i64; 3] {
    [reading.time, reading.start.0, reading.value]
}

fn unpack_reading([time, start, value]: [i64; 3]) -> Option<Reading> {
    (value >= 0).then_some(Reading {
        time,
        start: Start(start),
        value,
    })
}

fn unpack(bytes: &[u8]) -> Option<Summary> {
    let (&VERSION, bytes) = bytes.split_first()? else {
        return None;
    };
    let (chunks, []) = bytes.as_chunks::<8>() else {
        return None;
    };
    let words: [[u8; 8]; WORDS] = chunks.try_into().ok()?;
    let [
        f1,
        f2,
        f3,
        peak,
        t1,
        t2,
        t3,
        l1,
        l2,
        l3,
        known,
        low,
        high,
        resets,
    ] = words.map(i64::from_le_bytes);
    let turn = match [t1, t2, t3] {
        NO_READING => None,
        turn => Some(unpack_reading(turn)?),
    };
    Some(Summary {
        first: unpack_reading([f1, f2, f3])?,
        peak,
        turn,
        last: unpack_reading([l1, l2, l3])?,
        known,
        increase: Total((u128::from(high as u64) << 64) | u128::from(low as u64)),
        resets: resets as u64,
    })
}
