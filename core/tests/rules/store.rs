//! The texts of one target as a store keeps them: each where it belongs, in whatever order they come (rule 8).

use jobstats_core::rules::increment::LateReason;

use crate::support::{Kept, Seen, Target};

/// The stored observations, in order of time.
#[derive(Default)]
pub struct Store {
    placed: Vec<Placed>,
}

struct Placed {
    kept: Kept,
    seen: Seen,
}

impl Store {
    /// Takes a text that was read at this second. The second time, it changes nothing.
    pub fn feed(&mut self, time: i64, text: &str) -> Result<(), LateReason> {
        let place = self.placed.partition_point(|other| other.kept.time < time);
        if let Some(next) = self.placed.get(place) {
            if next.kept.time == time {
                assert_eq!(next.kept.text.as_deref(), Some(text), "two texts at {time}");
                return Ok(());
            }
            let mut following = self.texts().skip(place);
            let (next, after) = (following.next().unwrap(), following.next());
            self.before(place).admits_text(time, text, next, after)?;
        }
        let placed = self.compute(place, time, text);
        self.placed.insert(place, placed);
        // Until the carried records no longer change.
        for place in place + 1..self.placed.len() {
            let after = self.compute_again(place);
            let is_settled = after.kept.carried == self.placed[place].kept.carried;
            self.placed[place] = after;
            if is_settled {
                break;
            }
        }
        Ok(())
    }

    /// Computes everything again from all texts.
    pub fn recomputed(mut self) -> Self {
        for place in 0..self.placed.len() {
            self.placed[place] = self.compute_again(place);
        }
        self
    }

    /// A stored text: its time and the result of comparing it, with the carried records.
    pub fn stored(&self) -> impl Iterator<Item = (i64, &Seen, &[u8])> {
        let placed = self.placed.iter();
        placed.map(|Placed { kept, seen }| (kept.time, seen, kept.carried.as_slice()))
    }

    /// The texts with their times.
    pub fn texts(&self) -> impl Iterator<Item = (i64, &str)> {
        let kept = self.placed.iter().map(|placed| &placed.kept);
        kept.map(|kept| (kept.time, kept.text.as_deref().unwrap()))
    }

    /// The target as it was known before the text at this place.
    fn before(&self, place: usize) -> Target {
        let last = place
            .checked_sub(1)
            .map(|last| self.placed[last].kept.clone());
        Target {
            last,
            ..Target::default()
        }
    }

    fn compute(&self, place: usize, time: i64, text: &str) -> Placed {
        let mut target = self.before(place);
        let seen = target.observe_text(time, text);
        let kept = target.last.unwrap();
        Placed { kept, seen }
    }

    fn compute_again(&self, place: usize) -> Placed {
        let Kept { time, text, .. } = &self.placed[place].kept;
        self.compute(place, *time, text.as_deref().unwrap())
    }
}
