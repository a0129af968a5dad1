//! The summary of a counter's readings.

use super::{CounterError, Modulus, Reading};

/// A summary of the readings of one counter in a span of time.
///
/// A reading is compared with the one before by rule 4 of `docs/rules.md`. If both readings have a start, there is a
/// reset exactly if the starts differ. A lower value within an epoch then adds 0, and so does the growth back to the
/// highest value. If a start is missing, there is a reset if the value is lower. After a reset the whole value is new.
///
/// Therefore only the beginning of a summary depends on earlier readings: the readings of the epoch in which the summary
/// begins, and the first reading after that epoch. The summary keeps the parts of these readings that matter, so that
/// [`Summary::append`] can compare them with the end of another summary.
///
/// A counter with a modulus has wrapped if its value is lower, and was reset only if both readings have a start and the
/// starts differ. So a reading is compared only with the reading before. The summary of such a counter has no turn, its
/// peak is the first value, and its known value is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The first reading.
    pub first: Reading,
    /// The highest value of the epoch in which the summary begins.
    pub(super) peak: i64,
    /// The first reading that is not known to be of the epoch in which the summary begins.
    pub(super) turn: Option<Reading>,
    /// The last reading.
    pub last: Reading,
    /// The reference value of the next reading: the highest of the epoch in which the summary ends.
    pub(super) known: i64,
    pub(super) increase: Total,
    /// The number of resets.
    pub resets: u64,
    pub(super) modulus: Option<Modulus>,
}

/// The largest number of resets, which is the largest bigint of PostgreSQL. A u64 has room for as many more, so that
/// adding readings cannot overflow.
pub(super) const MAX_RESETS: u64 = i64::MAX as u64;

/// A sum of increments, which may exceed 64 bits. The sum is packed because PostgreSQL aligns memory to 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(Rust, packed(8))]
pub(super) struct Total(pub u128);

impl Summary {
    /// Creates the summary of one reading of a counter that does not wrap.
    pub fn new(first: Reading) -> Self {
        Self::wrapping(first, None)
    }

    /// Creates the summary of one reading, whose value the modulus admits.
    pub(super) fn wrapping(first: Reading, modulus: Option<Modulus>) -> Self {
        Self {
            first,
            peak: first.value,
            turn: None,
            last: first,
            known: first.value,
            increase: Total(0),
            resets: 0,
            modulus,
        }
    }

    /// Adds the next reading, which must be later than the last one.
    pub fn push(&mut self, next: Reading) -> Result<(), CounterError> {
        match self.modulus {
            Some(modulus) => self.push_wrapping(next, modulus),
            None => self.push_plain(next),
        }
    }

    fn push_wrapping(&mut self, next: Reading, modulus: Modulus) -> Result<(), CounterError> {
        let reset = self.last.is_of_other_epoch(&next);
        let increase = if reset {
            next.value.unsigned_abs()
        } else {
            modulus.distance(self.last.value, next.value)
        };
        self.add(increase.into())?;
        self.known = next.value;
        self.resets += u64::from(reset);
        self.last = next;
        Ok(())
    }

    fn push_plain(&mut self, next: Reading) -> Result<(), CounterError> {
        let same_epoch = self.last.is_of_epoch(&next);
        let reset = !same_epoch && (self.last.is_of_other_epoch(&next) || next.value < self.known);
        let from = if reset { 0 } else { self.known };
        let known = if same_epoch {
            next.value.max(self.known)
        } else {
            self.turn.get_or_insert(next);
            next.value
        };
        self.add(known.abs_diff(from).into())?;
        self.known = known;
        if self.turn.is_none() {
            self.peak = self.known;
        }
        self.resets += u64::from(reset);
        self.last = next;
        Ok(())
    }

    /// Adds a summary, which must begin after this one ends and have the same modulus.
    pub fn append(&mut self, next: &Self) -> Result<(), CounterError> {
        if self.modulus != next.modulus {
            return Err(CounterError::Moduli(self.modulus, next.modulus));
        }
        if next.first.time <= self.last.time {
            return Err(CounterError::Overlap);
        }
        let alone = next.opening()?;
        self.push_opening(next)?;
        // Earlier readings change only the opening of `next`. Its other readings add as much as they add alone.
        let increase = next.increase.0.checked_sub(alone.increase.0);
        self.add(increase.ok_or(CounterError::Range)?)?;
        let resets = next.resets.checked_sub(alone.resets);
        self.resets = resets
            .and_then(|it| it.checked_add(self.resets))
            .filter(|&it| it <= MAX_RESETS)
            .ok_or(CounterError::Range)?;
        self.last = next.last;
        if next.turn.is_some() || next.modulus.is_some() {
            self.known = next.known;
        }
        Ok(())
    }

    /// Returns the summary of the opening alone: the first reading, the highest value of its epoch, and the turn.
    pub(super) fn opening(&self) -> Result<Self, CounterError> {
        let mut opening = Self::wrapping(self.first, self.modulus);
        opening.push_rest_of_opening(self)?;
        Ok(opening)
    }

    fn push_opening(&mut self, next: &Self) -> Result<(), CounterError> {
        self.push(next.first)?;
        self.push_rest_of_opening(next)
    }

    fn push_rest_of_opening(&mut self, next: &Self) -> Result<(), CounterError> {
        self.push(Reading {
            value: next.peak,
            ..next.first
        })?;
        next.turn.map_or(Ok(()), |turn| self.push(turn))
    }

    fn add(&mut self, increase: u128) -> Result<(), CounterError> {
        let sum = self.increase.0.checked_add(increase);
        self.increase = Total(sum.ok_or(CounterError::Range)?);
        Ok(())
    }

    /// Returns the increase from the first reading to the last.
    pub fn increase(&self) -> u128 {
        self.increase.0
    }
}
