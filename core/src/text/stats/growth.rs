//! By how much the named counters of a value grew since an earlier value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Stats;
use crate::base::instant::Micros;

/// The growth from which on a counter is implausible, as for an increment.
const TOO_LARGE: i64 = 1 << 53;

/// The named counters of a value. The serialized form is what a store keeps of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// The time at which all counters were zero, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Micros>,
    /// The count and the sum of each counter that counted something.
    pub counters: BTreeMap<String, [i64; 2]>,
    /// True if a counter that is missing may have counted something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

impl Sums {
    /// Returns the counters of these names.
    pub fn of(stats: &Stats<'_>, names: &[&str]) -> Self {
        let named = stats.counters.iter().filter(|it| names.contains(&it.name));
        let counters = named.map(|counter| {
            let sum = counter.values.map_or(0, |[_, _, sum]| sum);
            (counter.name.to_owned(), [counter.count, sum])
        });
        Self {
            start_time: stats.start_time,
            counters: counters.collect(),
            incomplete: !stats.is_complete,
        }
    }

    /// Returns true if the counters restarted since they were `before`, judged by their values alone.
    fn restarted(&self, before: &Self) -> bool {
        before.counters.iter().any(|(name, was)| {
            let vanished = !self.incomplete && *was != [0, 0];
            let now = self.counters.get(name);
            now.map_or(vanished, |now| fell(*was, *now))
        })
    }
}

/// The growth of named counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    /// The time after which the counters grew: the time of the earlier value, or of the reset.
    pub since: Micros,
    /// True if the counters restarted.
    pub reset: bool,
    /// The growth of the count and of the sum of each counter that grew.
    pub counters: BTreeMap<String, [i64; 2]>,
    /// The counters to compare the next value with: the counters of the later value, and counters of the earlier value
    /// that the later one lacks, or has lower, without a reset.
    pub sums: Sums,
}

/// Returns the growth of counters between two values, each with its time.
///
/// The counters restarted if their `start_time` differs. If one of them is unknown, they restarted if any of them fell
/// or vanished.
pub fn growth((from, before): (Micros, &Sums), (to, after): (Micros, &Sums)) -> Growth {
    let reset = match before.start_time.zip(after.start_time) {
        Some((known, start)) => known != start,
        None => after.restarted(before),
    };
    let start = after.start_time.filter(|_| reset);
    let mut growth = Growth {
        since: start.filter(|it| (from..to).contains(it)).unwrap_or(from),
        reset,
        counters: BTreeMap::new(),
        sums: after.clone(),
    };
    for (name, now) in &after.counters {
        let known = before.counters.get(name).filter(|_| !reset);
        if known.is_none() && !reset && before.incomplete {
            continue;
        }
        let was = known.copied().unwrap_or_default();
        let grown = [now[0].saturating_sub(was[0]), now[1].saturating_sub(was[1])];
        if !fell(was, *now) && grown != [0, 0] && grown.iter().all(|it| *it < TOO_LARGE) {
            growth.counters.insert(name.clone(), grown);
        }
    }
    for (name, was) in before.counters.iter().filter(|_| !reset) {
        let kept = growth.sums.counters.entry(name.clone()).or_insert(*was);
        if fell(*was, *kept) {
            *kept = *was;
        }
    }
    growth
}

fn fell(was: [i64; 2], now: [i64; 2]) -> bool {
    now[0] < was[0] || now[1] < was[1]
}
