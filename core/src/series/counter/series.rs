//! Collects the readings of one counter as they come.

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;

use crate::base::pause::Pause;

use super::{CounterError, Modulus, Reading, Summary};

/// The number of readings that are kept while all come in the order of time. At least half as many always stay, because
/// a late reading needs the readings around it.
const KEPT: usize = 1 << 20;

/// The number of readings that fit into a gigabyte.
const MOST: usize = (1 << 30) / size_of::<Reading>();

/// The readings of one counter, in any order, in memory of `A`.
///
/// Readings in the order of time take bounded memory, because readings older than the latest `KEPT` are summed up and
/// forgotten. Otherwise all readings are kept, up to `MOST`. A reading has 24 bytes, and the memory doubles as it
/// grows, which makes up to 48 bytes per reading.
#[derive(Debug)]
pub struct Series<A: Allocator + Clone, const KEEP: usize = KEPT, const LIMIT: usize = MOST> {
    readings: Vec<Reading, A>,
    modulus: Option<Modulus>,
    /// True if the times of the readings ascend.
    in_order: bool,
    forgotten: Option<Box<Summary, A>>,
    /// The summary of all readings but the last, so that a window that grows row by row is not summed up anew for each
    /// row.
    counted: Option<Box<Prefix, A>>,
}

#[derive(Debug, Clone, Copy)]
struct Prefix {
    summary: Summary,
    /// The number of readings in the summary.
    readings: usize,
}

impl<A: Allocator + Clone, const KEEP: usize, const LIMIT: usize> Series<A, KEEP, LIMIT> {
    /// Creates a series without readings, of a counter with this modulus or of one without any.
    pub fn wrapping_in(memory: A, modulus: Option<Modulus>) -> Self {
        Self {
            readings: Vec::new_in(memory),
            modulus,
            in_order: true,
            forgotten: None,
            counted: None,
        }
    }

    /// Returns an error if the counter has another modulus.
    pub fn require_modulus(&self, modulus: Option<Modulus>) -> Result<(), CounterError> {
        match self.modulus == modulus {
            true => Ok(()),
            false => Err(CounterError::Moduli(self.modulus, modulus)),
        }
    }

    /// Adds a reading. A value that the modulus does not admit is an error.
    pub fn push(&mut self, next: Reading) -> Result<(), CounterError> {
        let value = next.value;
        if let Some(modulus) = self.modulus.filter(|it| !it.admits(value)) {
            return Err(CounterError::BeyondModulus { value, modulus });
        }
        if let Some(last) = self.readings.last_mut().filter(|_| self.in_order) {
            if next.time == last.time {
                *last = next.max(*last);
                return Ok(());
            }
            self.in_order = last.time < next.time;
        }
        if !self.in_order {
            self.counted = None;
            let forgotten = self.forgotten.as_ref();
            if forgotten.is_some_and(|it| (it.first.time..=it.last.time).contains(&next.time)) {
                return Err(CounterError::TooLate(KEEP / 2));
            }
        }
        if self.readings.len() == self.readings.capacity() {
            self.make_room()?;
        }
        self.readings.push(next);
        Ok(())
    }

    fn make_room(&mut self) -> Result<(), CounterError> {
        let len = self.readings.len();
        if self.in_order && len >= KEEP {
            return self.forget(len - KEEP / 2);
        }
        if len >= LIMIT {
            return Err(CounterError::TooMany(LIMIT));
        }
        let more = len.max(4).min(LIMIT - len);
        let room = self.readings.try_reserve_exact(more);
        room.map_err(|_| CounterError::Memory)
    }

    /// Replaces the earliest readings with their summary.
    fn forget(&mut self, readings: usize) -> Result<(), CounterError> {
        let summary = self.sum_up(None, readings, Pause::NEVER)?;
        self.forgotten = summary.map(|it| self.keep(it)).transpose()?;
        self.counted = None;
        self.readings.drain(..readings);
        Ok(())
    }

    fn keep<T>(&self, value: T) -> Result<Box<T, A>, CounterError> {
        let memory = self.readings.allocator().clone();
        Box::try_new_in(value, memory).map_err(|_| CounterError::Memory)
    }

    /// Returns the summary of all readings, if any. More readings can be added afterwards. Calls `pause` regularly,
    /// which may unwind.
    pub fn summary(&mut self, pause: Pause<'_>) -> Result<Option<Summary>, CounterError> {
        self.put_in_order(pause);
        let Some(&last) = self.readings.last() else {
            return Ok(None);
        };
        let counted = self.counted.as_deref().copied();
        let before = self.readings.len() - 1;
        let Some(mut summary) = self.sum_up(counted, before, pause)? else {
            return Ok(Some(Summary::wrapping(last, self.modulus)));
        };
        self.counted = Some(self.keep(Prefix {
            summary,
            readings: before,
        })?);
        summary.push(last)?;
        Ok(Some(summary))
    }

    fn put_in_order(&mut self, pause: Pause<'_>) {
        if self.in_order {
            return;
        }
        self.readings.sort_unstable_by(|one, other| {
            pause.now();
            one.cmp(other)
        });
        // The greatest of several readings of the same time is kept, which comes last.
        self.readings.dedup_by(|next, kept| {
            let same = next.time == kept.time;
            if same {
                *kept = *next;
            }
            same
        });
        self.in_order = true;
    }

    /// Sums up the first `until` readings, which are in order, together with the forgotten readings, which lie between
    /// them.
    fn sum_up(
        &self,
        counted: Option<Prefix>,
        until: usize,
        pause: Pause<'_>,
    ) -> Result<Option<Summary>, CounterError> {
        let mut summary = counted.map(|it| it.summary);
        let mut done = counted.map_or(0, |it| it.readings);
        if let (None, Some(forgotten)) = (summary, self.forgotten.as_deref()) {
            let earlier = |it: &Reading| it.time < forgotten.first.time;
            done = self.readings[..until].partition_point(earlier);
            self.push_all(&mut summary, &self.readings[..done], pause)?;
            match &mut summary {
                Some(summary) => summary.append(forgotten)?,
                None => summary = Some(*forgotten),
            }
        }
        self.push_all(&mut summary, &self.readings[done..until], pause)?;
        Ok(summary)
    }

    fn push_all(
        &self,
        summary: &mut Option<Summary>,
        readings: &[Reading],
        pause: Pause<'_>,
    ) -> Result<(), CounterError> {
        let mut readings = readings.iter();
        if summary.is_none() {
            let first = readings.next().copied();
            *summary = first.map(|it| Summary::wrapping(it, self.modulus));
        }
        let Some(summary) = summary else {
            return Ok(());
        };
        readings.try_for_each(|&it| {
            pause.now();
            summary.push(it)
        })
    }
}
