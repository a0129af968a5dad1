//! Counts the runs of each number in a text, in as much memory for a million numbers as for one.
//!
//! The counters are too few for all numbers. So each counts a number against all others that share it, as an election by majority
//! does: a number that has too many runs is found unless as many runs of the others stand between them, and no other number
//! ever seems to have more runs than it has.

use xxhash_rust::xxh3::xxh3_64;

/// The largest number of runs and array elements of a number in a text. Grid Engine lets an array have 75,000 tasks.
pub const RUNS_MAX: u32 = 100_000;

/// The number of counters.
const COUNTERS: u64 = 1 << 12;

/// The runs of a text that were counted so far.
#[derive(Debug, Default)]
pub struct RunCounts {
    counters: Vec<Counter>,
}

/// The runs that a number has more than all others that share its counter.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    /// The hash of the number.
    number: u64,
    runs: u32,
}

impl RunCounts {
    /// Counts a run of a number, and returns whether the number has not too many.
    pub fn add(&mut self, number: &str) -> bool {
        let hash = xxh3_64(number.as_bytes());
        let place = usize::try_from(hash % COUNTERS).unwrap_or(0);
        if self.counters.len() <= place {
            self.counters.resize(place + 1, Counter::default());
        }
        let counter = &mut self.counters[place];
        if counter.number == hash {
            counter.runs = counter.runs.saturating_add(1);
            return counter.runs <= RUNS_MAX;
        }
        match counter.runs.checked_sub(1) {
            Some(rest) => counter.runs = rest,
            None => {
                *counter = Counter {
                    number: hash,
                    runs: 1,
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_that_has_too_many_runs_is_refused() {
        let mut counts = RunCounts::default();
        let others = (0..50_000)
            .filter(|other| (0..4).all(|_| counts.add("4711")) & counts.add(&format!("9{other}")));
        // Some others share its counter.
        let refused = 50_000 - others.count();
        assert!((24_900..=25_000).contains(&refused), "{refused}");
        assert!((0..50_000).all(|other| counts.add(&format!("9{other}"))));
        assert!(!counts.add("4711"));
    }
}
