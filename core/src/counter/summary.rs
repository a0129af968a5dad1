//! What is kept of a counter's readings.

use super::{CounterError, Micros, Reading};

/// What the readings of a span say about their counter.
///
/// One reading follows another by rule 4 of `docs/rules.md`: where both tell when their life began, it is a reset exactly
/// if that differs, and a value that is lower within a life counts for nothing, nor does what is made up for afterwards.
/// Else it is a reset if the value is lower. After a reset the whole value is new.
///
/// So only the beginning of a summary depends on what was before it: the readings of the life that it begins in, and the
/// one after them. They are kept, as far as they matter, so that [`Summary::append`] can see them follow another summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    pub(super) first: Reading,
    /// The highest value of the life that it begins in.
    pub(super) peak: i64,
    /// The first reading that is not known to be of that life.
    pub(super) turn: Option<Reading>,
    pub(super) last: Reading,
    /// The value that the next reading is compared with: the highest of the life that it ends in.
    pub(super) known: i64,
    pub(super) increase: Total,
    pub(super) resets: u64,
}

/// PostgreSQL's bigint holds no more; so many readings and more can still be added in 64 bits.
pub(super) const MAX_RESETS: u64 = i64::MAX as u64;

/// A sum of increments, which may exceed 64 bits. Packed, as PostgreSQL aligns memory to 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(Rust, packed(8))]
pub(super) struct Total(pub u128);

impl Summary {
    /// Of one reading.
    pub fn new(first: Reading) -> Self {
        Self {
            first,
            peak: first.value,
            turn: None,
            last: first,
            known: first.value,
            increase: Total(0),
            resets: 0,
        }
    }

    /// Adds the next reading, a later one.
    pub fn push(&mut self, next: Reading) -> Result<(), CounterError> {
        let same_life = self.last.is_of_life(&next);
        let lives_known = self.last.start().is_some() && next.start().is_some();
        let reset = !same_life && (lives_known || next.value < self.known);
        let from = if reset { 0 } else { self.known };
        let known = if same_life {
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

    /// Adds what follows: a summary that begins after this one ends.
    pub fn append(&mut self, next: &Self) -> Result<(), CounterError> {
        if next.first.time <= self.last.time {
            return Err(CounterError::Overlap);
        }
        let alone = next.opening()?;
        self.push_opening(next)?;
        // What comes after the opening is the same whatever was before.
        let increase = next.increase.0.checked_sub(alone.increase.0);
        self.add(increase.ok_or(CounterError::Range)?)?;
        let resets = next.resets.checked_sub(alone.resets);
        self.resets = resets
            .and_then(|it| it.checked_add(self.resets))
            .filter(|&it| it <= MAX_RESETS)
            .ok_or(CounterError::Range)?;
        self.last = next.last;
        if next.turn.is_some() {
            self.known = next.known;
        }
        Ok(())
    }

    /// What its opening says alone: first reading, highest of that life, and the one after.
    pub(super) fn opening(&self) -> Result<Self, CounterError> {
        let mut opening = Self::new(self.first);
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

    /// The first reading.
    pub fn first(&self) -> Reading {
        self.first
    }

    /// The last reading.
    pub fn last(&self) -> Reading {
        self.last
    }

    /// How much was counted from the first reading to the last.
    pub fn increase(&self) -> u128 {
        self.increase.0
    }

    /// How often the counter began anew.
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// Microseconds from the first reading to the last, which may be more than 64 bits hold.
    pub fn elapsed(&self) -> u64 {
        self.last.time.abs_diff(self.first.time)
    }

    /// Increase per second; of one reading, or none that differ in time, there is none.
    pub fn rate(&self) -> Option<f64> {
        let elapsed = self.elapsed();
        (elapsed > 0).then(|| self.increase.0 as f64 * 1e6 / elapsed as f64)
    }

    /// The time of the first reading.
    pub fn since(&self) -> Micros {
        self.first.time
    }

    /// The time of the last reading.
    pub fn until(&self) -> Micros {
        self.last.time
    }
}
