//! The bytes of a summary: the version, then little-endian integers of 8 bytes. An unknown start is −2^63.

use super::super::summary::Total;
use super::super::{CounterError, Modulus, Reading, Start, Summary};

/// The three integers of a missing reading.
const NO_READING: [i64; 3] = [i64::MIN; 3];

impl Summary {
    /// Reads a summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CounterError> {
        let summary = unpack(bytes).filter(Self::is_consistent);
        summary.ok_or(CounterError::Bytes)
    }

    /// Returns the bytes: the version, and integers. Of version 1 these are time, start and value of the first reading; the peak; time,
    /// start and value of the turn, −2^63 if that is missing; time, start and value of the last reading; the known value; the increase as
    /// two integers, lower half first; and the resets. Version 2 has the first and the last reading, the increase, the resets, and the modulus.
    pub fn to_bytes(&self) -> Vec<u8> {
        let [first, last] = [self.first, self.last].map(pack);
        let (increase, resets) = (halves(self.increase()), [self.resets as i64]);
        match self.modulus {
            None => {
                let (peak, known) = ([self.peak], [self.known]);
                let turn = self.turn.map_or(NO_READING, pack);
                let words: [&[_]; 7] = [&first, &peak, &turn, &last, &known, &increase, &resets];
                bytes(1, &words)
            }
            Some(modulus) => bytes(2, &[&first, &last, &increase, &resets, &[modulus.get()]]),
        }
    }
}

fn bytes(version: u8, words: &[&[i64]]) -> Vec<u8> {
    let words = words.iter().copied().flatten();
    let words = words.flat_map(|word| word.to_le_bytes());
    [version].into_iter().chain(words).collect()
}

fn unpack(bytes: &[u8]) -> Option<Summary> {
    let (version, words) = bytes.split_first()?;
    let (mut words, []) = words.as_chunks::<8>() else {
        return None;
    };
    let words = &mut words;
    let mut summary = Summary::new(unpack_reading(take(words)?)?);
    if *version == 1 {
        [summary.peak] = take(words)?;
        summary.turn = match take(words)? {
            NO_READING => None,
            turn => Some(unpack_reading(turn)?),
        };
    }
    summary.last = unpack_reading(take(words)?)?;
    summary.known = summary.last.value;
    if *version == 1 {
        [summary.known] = take(words)?;
    }
    let [low, high, resets] = take(words)?;
    (summary.increase, summary.resets) = (Total(whole(low, high)), resets as u64);
    if *version == 2 {
        let [modulus] = take(words)?;
        summary.modulus = Some(Modulus::new(modulus).ok()?);
    }
    (words.is_empty() && [1, 2].contains(version)).then_some(summary)
}

/// Takes integers from the front.
fn take<const N: usize>(words: &mut &[[u8; 8]]) -> Option<[i64; N]> {
    let (taken, rest) = words.split_first_chunk()?;
    *words = rest;
    Some(taken.map(i64::from_le_bytes))
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

fn halves(increase: u128) -> [i64; 2] {
    [increase as i64, (increase >> 64) as i64]
}

fn whole(low: i64, high: i64) -> u128 {
    (u128::from(high as u64) << 64) | u128::from(low as u64)
}
