//! Usual values: medians of hours of the last thirty days, as a store keeps them.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{DAY, HOUR, Micros};
use jobstats_core::judgement::event::slow::{self, ByClass, CLASSES, ServedCalls};
use jobstats_core::judgement::event::waiting::Waits;

/// The days that the median covers, and the minimum number of days.
const DAYS: [Micros; 2] = [30 * DAY, 7 * DAY];

/// Sums by hour.
pub struct Hours<K, V>(BTreeMap<(K, Micros), V>);

impl<K, V> Default for Hours<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy, V: Default> Hours<K, V> {
    pub fn at(&mut self, key: K, time: Micros) -> &mut V {
        self.0
            .entry((key, time.div_euclid(HOUR) * HOUR))
            .or_default()
    }

    /// Returns the median over the hours before a time; `None` if they are too few.
    fn median(&self, key: K, time: Micros, value: impl Fn(&V) -> Option<f64>) -> Option<f64> {
        let first = self.0.range((key, Micros::MIN)..(key, time)).next()?;
        if first.0.1 > time - DAYS[1] {
            return None;
        }
        let hours = self.0.range((key, time - DAYS[0])..(key, time));
        let mut values: Vec<_> = hours.filter_map(|(_, it)| value(it)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }
}

impl<K: Ord + Copy> Hours<K, Waits> {
    pub fn wait(&self, key: K, time: Micros) -> Option<f64> {
        self.median(key, time, |it| it.mean())
    }
}

impl<K: Ord + Copy> Hours<K, ByClass> {
    pub fn per_call(&self, key: K, time: Micros) -> [Option<f64>; CLASSES] {
        std::array::from_fn(|class| self.median(key, time, |it| ServedCalls::per_call(it[class])))
    }
}

/// Adds calls to their class.
pub fn served(to: &mut ByClass, is_write: bool, calls: u64, usecs: u64, bytes: u64) {
    if calls > 0 {
        let of = &mut to[slow::class(is_write, calls, bytes)];
        of.calls += calls;
        of.usecs += usecs;
    }
}
