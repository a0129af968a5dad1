//! The state of all targets: the last work of each, and which of them are late.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jobstats_core::base::instant::{MINUTE, Micros};
use jobstats_core::base::target::filesystem_and_index;

use crate::live::interval::{Failure, Interval, Round, TargetSnapshot};
use crate::live::owner::Owner;
use crate::live::sums::{ObservedInterval, RunningSums};
use crate::live::view::{By, Key};

/// The longest window over which rates can be averaged.
pub const LONGEST_WINDOW: Micros = 10 * MINUTE;

/// The number of totals that are kept for windows, of all targets together: 100 MB.
const MOST_TOTALS: usize = 4_000_000;

/// The minimum time for which a late target's last rates are shown; five of its intervals may be longer.
const STALE: Micros = MINUTE;

/// The number of loads that are kept for the sparkline.
const MOST_LOADS: usize = 512;

/// The number of loads from which on their median is called typical.
const TYPICAL_FROM: usize = 8;

jobstats_core::named! {
    /// The state of a target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Status {
        /// The last reading had its text, and one before.
        Ok = "ok",
        /// The target has a single snapshot so far.
        First = "first",
        /// The last round had no snapshot of the target. The rates are from an earlier snapshot.
        Late = "late",
        /// The target has been late for so long that its rates are not known.
        Unknown = "unknown",
    }
    /// Returns the name of the status.
    pub fn name;
}

/// A target.
#[derive(Debug, Clone)]
pub struct Target {
    /// The last snapshot, whose interval is the last one of `intervals`.
    pub snapshot: TargetSnapshot,
    pub status: Status,
    /// The last intervals, newest last.
    intervals: VecDeque<Arc<Interval>>,
}

impl Target {
    /// Returns the last interval.
    pub fn last(&self) -> Option<&Interval> {
        self.intervals.back().map(|last| &**last)
    }

    /// Returns the intervals in a window that ends with the last interval, at least that one. A target that is unknown or has a single
    /// snapshot has no intervals.
    pub fn window(&self, window: Micros) -> impl Iterator<Item = &Interval> {
        let until = self.last().map_or(0, |last| last.until);
        let is_known = !matches!(self.status, Status::Unknown | Status::First);
        let before = self
            .intervals
            .partition_point(|it| it.since < until - window);
        let skipped = before.min(self.intervals.len().saturating_sub(1));
        let in_window = self.intervals.iter().skip(skipped);
        in_window.map(|it| &**it).filter(move |_| is_known)
    }

    /// Returns true for a target whose rates are not of the last reading.
    pub const fn is_late(&self) -> bool {
        matches!(self.status, Status::Late | Status::Unknown)
    }

    fn grow_late(&mut self, now: Micros) {
        let usual = self.last().map_or(0, Interval::length);
        self.status = match self.status {
            Status::Ok | Status::Late if now - self.snapshot.time <= STALE.max(5 * usual) => {
                Status::Late
            }
            // A single snapshot has no rates.
            _ => Status::Unknown,
        };
    }
}

/// The loads of file systems by name, oldest first.
pub type Loads = BTreeMap<Box<str>, Vec<Load>>;

/// The numbers of requests in service that are typical of rows at this time of day.
pub type Medians = HashMap<(By, Key), f64>;

/// The load of a file system at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub time: Micros,
    /// The mean number of requests in service; `None` if a server does not report times.
    pub service: Option<f64>,
    /// The requests per second.
    pub requests: f64,
}

/// The state of all targets.
#[derive(Debug, Clone, Default)]
pub struct TargetStates {
    /// The time of the last reading.
    pub time: Micros,
    targets: BTreeMap<Arc<str>, Target>,
    /// The servers that the last reading could not read.
    pub silent: BTreeMap<Arc<str>, Failure>,
    /// Lines about the last reading.
    pub notes: Vec<String>,
    /// The servers that were read, and when.
    read: BTreeMap<Arc<str>, Micros>,
    /// The loads of each file system.
    loads: BTreeMap<Box<str>, VecDeque<Load>>,
    /// The loads of each file system before the first reading, where the source knows them.
    pub past_loads: Loads,
    /// The medians of rows, where the source knows them.
    pub medians: Medians,
    /// The number of readings.
    pub rounds: u64,
}

impl TargetStates {
    /// Takes a reading.
    pub fn take(&mut self, round: Round) {
        self.rounds += 1;
        self.time = round.time;
        let has_intervals = round.snapshots.iter().any(|seen| seen.interval.is_some());
        let seen = round.snapshots.iter().map(|seen| Arc::clone(&seen.target));
        let names: HashSet<_> = seen.chain(round.pending).collect();
        for mut snapshot in round.snapshots {
            let interval = snapshot.interval.take();
            self.read
                .insert(Arc::clone(&snapshot.server), snapshot.time);
            let name = Arc::clone(&snapshot.target);
            let before = interval.as_ref().and_then(|_| self.targets.remove(&name));
            let mut intervals = before.map_or_else(VecDeque::new, |target| target.intervals);
            let status = match interval {
                Some(_) => Status::Ok,
                None => Status::First,
            };
            intervals.extend(interval.map(Arc::new));
            let target = Target {
                snapshot,
                status,
                intervals,
            };
            self.targets.insert(name, target);
        }
        for (name, target) in &mut self.targets {
            if !names.contains(name) {
                target.grow_late(self.time);
            }
        }
        let silent = round.failures.into_iter().map(|failure| {
            let since = failure.since;
            let since = since.or_else(|| self.read.get(&failure.server).copied());
            (Arc::clone(&failure.server), Failure { since, ..failure })
        });
        self.silent = silent.collect();
        self.notes = round.notes;
        self.forget();
        let is_same = |loads: &VecDeque<Load>| loads.back().is_some_and(|it| it.time == self.time);
        if has_intervals || self.loads.values().any(is_same) {
            self.note_load();
        }
    }

    /// Returns the targets by name.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.values()
    }

    /// Returns the file systems by name. Targets without a file system name share an empty one.
    pub fn filesystems(&self) -> Vec<&str> {
        let names: BTreeSet<_> = self.targets.keys().map(|it| filesystem(it)).collect();
        names.into_iter().collect()
    }

    /// Returns the loads of a file system that were read, oldest first.
    pub fn loads(&self, filesystem: &str) -> impl Iterator<Item = &Load> {
        self.loads.get(filesystem).into_iter().flatten()
    }

    /// Returns the owner of work with this identifier, or of any work.
    pub fn owner(&self, entry: Option<&str>) -> Option<&Owner> {
        let work = self
            .targets()
            .filter_map(Target::last)
            .flat_map(|it| &it.work);
        let mut owners = work.map(|work| &*work.owner);
        owners.find(|owner| entry.is_none_or(|entry| entry == &*owner.entry))
    }

    /// Returns the typical number of requests in service of a row, if it is known and no zero.
    pub fn median(&self, by: By, key: &Key) -> Option<f64> {
        let median = self.medians.get(&(by, key.clone())).copied();
        median.filter(|median| *median > 0.0)
    }

    /// Returns the load over time, oldest first: in hours if the source knows the time before the first round, else in rounds.
    pub fn course(&self, filesystem: &str) -> Vec<Load> {
        let last = self.loads(filesystem).last();
        match self.past_loads.get(filesystem).filter(|it| !it.is_empty()) {
            Some(loads) => loads.iter().chain(last).copied().collect(),
            None => self.loads(filesystem).copied().collect(),
        }
    }

    /// Returns the median of the loads before the last one, if there are enough of them.
    pub fn typical(&self, filesystem: &str, of: impl Fn(&Load) -> Option<f64>) -> Option<f64> {
        let course = self.course(filesystem);
        let before = course.len().saturating_sub(1);
        let mut values: Vec<_> = course.iter().take(before).filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        (values.len() >= TYPICAL_FROM).then(|| values[values.len() / 2])
    }

    /// Returns the file system, if all targets are of one.
    pub fn filesystem(&self) -> Option<&str> {
        match self.filesystems()[..] {
            [only] if !only.is_empty() => Some(only),
            _ => None,
        }
    }

    /// Returns the length of the last interval.
    pub fn interval(&self) -> Option<Micros> {
        let fresh = self.targets.values().filter(|target| !target.is_late());
        fresh.filter_map(Target::last).map(Interval::length).max()
    }

    /// Drops intervals that no window reaches, and older ones first if there are too many.
    fn forget(&mut self) {
        let mut retained = 0;
        for target in self.targets.values_mut() {
            let until = target.last().map_or(0, |last| last.until);
            let is_old = |it: &Arc<Interval>| it.since < until - LONGEST_WINDOW;
            while target.intervals.len() > 1 && target.intervals.front().is_some_and(is_old) {
                target.intervals.pop_front();
            }
            retained += target.intervals.iter().map(|it| totals(it)).sum::<usize>();
        }
        while retained > MOST_TOTALS {
            let before = retained;
            let targets = self.targets.values_mut();
            for target in targets.filter(|it| it.intervals.len() > 1) {
                retained -= target.intervals.pop_front().map_or(0, |it| totals(&it));
            }
            if retained == before {
                break;
            }
        }
    }

    fn note_load(&mut self) {
        let mut sums: BTreeMap<&str, RunningSums> = BTreeMap::new();
        for (name, target) in &self.targets {
            for interval in target.window(0) {
                let part = ObservedInterval::of(target, interval, interval.length());
                let sums = sums.entry(filesystem(name)).or_default();
                let work = interval.work.iter();
                work.for_each(|work| sums.add(&part, &work.totals));
            }
        }
        // An unknown load is not zero.
        self.loads.retain(|name, _| sums.contains_key(&**name));
        for (filesystem, sums) in sums {
            let sums = sums.sums();
            let loads = self.loads.entry(filesystem.into()).or_default();
            // A second round of the same time is more complete.
            if loads.back().is_some_and(|it| it.time == self.time) {
                loads.pop_back();
            }
            loads.push_back(Load {
                time: self.time,
                service: sums.service.map(|it| it.rate),
                requests: sums.requests.rate,
            });
            if loads.len() > MOST_LOADS {
                loads.pop_front();
            }
        }
    }
}

/// Returns the file system of a target, possibly empty.
pub fn filesystem(target: &str) -> &str {
    filesystem_and_index(target).0.unwrap_or_default()
}

/// Returns the number of totals of an interval.
fn totals(interval: &Interval) -> usize {
    interval.work.iter().map(|work| work.totals.len()).sum()
}

#[cfg(test)]
mod tests {
    use jobstats_core::base::instant::SECOND;

    use super::*;
    use crate::live::interval::Failure;
    use crate::testing::{interval, round};

    #[test]
    fn a_server_that_fails_makes_its_targets_late_and_not_zero() {
        let mut history = TargetStates::default();
        history.take(round(
            10,
            &[("scratch-OST0000", None), ("scratch-OST0001", None)],
        ));
        let work = interval(10, 20, &[("a", "open", 50)]);
        history.take(round(
            20,
            &[
                ("scratch-OST0000", Some(work.clone())),
                ("scratch-OST0001", Some(work.clone())),
            ],
        ));
        let mut failed = round(30, &[("scratch-OST0000", Some(interval(20, 30, &[])))]);
        failed.failures.push(Failure {
            server: "oss-of-scratch-OST0001".into(),
            reason: "gone".into(),
            since: None,
        });
        history.take(failed);
        let status: Vec<_> = history.targets().map(|it| it.status).collect();
        assert_eq!(status, [Status::Ok, Status::Late]);
        assert_eq!(
            history.loads("scratch").last().unwrap().requests,
            5.0,
            "the late target counts as before"
        );
        let silent = history.silent.values().next().unwrap();
        assert_eq!(silent.since, Some(20 * SECOND));
        history.take(round(
            300,
            &[("scratch-OST0000", Some(interval(30, 300, &[])))],
        ));
        let status: Vec<_> = history.targets().map(|it| it.status).collect();
        assert_eq!(status, [Status::Ok, Status::Unknown]);
        assert_eq!(history.loads("scratch").last().unwrap().requests, 0.0);
    }

    #[test]
    fn a_target_that_was_read_once_and_never_again_is_not_known() {
        let mut history = TargetStates::default();
        history.take(round(10, &[("scratch-OST0000", None)]));
        assert_eq!(history.targets().next().unwrap().status, Status::First);
        history.take(round(11, &[]));
        assert_eq!(history.targets().next().unwrap().status, Status::Unknown);
    }

    #[test]
    fn a_window_has_at_least_the_last_interval() {
        let mut history = TargetStates::default();
        for end in 1..8 {
            let work = interval(10 * (end - 1), 10 * end, &[("a", "open", end)]);
            history.take(round(10 * end, &[("scratch-OST0000", Some(work))]));
        }
        let target = history.targets().next().unwrap();
        assert_eq!(target.window(0).count(), 1);
        assert_eq!(target.window(30 * SECOND).count(), 3);
        assert_eq!(target.window(LONGEST_WINDOW).count(), 7);
        assert_eq!(history.filesystem(), Some("scratch"));
        assert_eq!(history.typical("scratch", |load| Some(load.requests)), None);
        assert_eq!(history.interval(), Some(10 * SECOND));
    }
}
