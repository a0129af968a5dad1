//! Compares an observation with the next one: finds the epoch of every record and the increments that follow.

use std::collections::TryReserveError;

use super::carried::{CarriedRecords, InSnapshot, Withheld};
use super::epoch::{Epoch, counted, unlisted};
use super::history::{Head, History, NOTHING};
use super::limit::active;
use super::row::Rows;
use super::truncated::is_any_active;
use super::value::{fall, slots};
use super::{Comparison, Increment, Observation, Problem, Reason};
use crate::base::instant::{DAY, Micros, SECOND};
use crate::base::pause::Pause;
use crate::rules::snapshot::{ByKey, Counter, Record, Snapshot};
use crate::text::job_stats::{Clock, Time, Unit};

/// The number of entries with `start_time` that are carried for a day with any snapshot. A snapshot with more records carries
/// as many entries as it has itself. Without a limit the finished jobs of a busy day would outweigh the snapshot: five
/// times, with 28 targets of 90 entries each.
const CARRIED_AT_LEAST: usize = 100;

/// Compares an observation with the one before it.
///
/// `cleanup_interval` is the target's cleanup interval in seconds: Lustre may drop an entry that was idle for so long;
/// 0 means never.
pub fn compare<'a>(
    previous: Option<&Observation<'a>>,
    next: &Observation<'a>,
    cleanup_interval: u32,
    pause: Pause<'_>,
) -> Result<Comparison<'a>, TryReserveError> {
    let snapshot = next.snapshot.unwrap_or(&NOTHING);
    let Some(previous) = previous else {
        // A first observation is a baseline (rule 2).
        return Ok(Comparison {
            entries: snapshot.records.len() as u64,
            carried: CarriedRecords::with(snapshot).snapshot,
            ..Comparison::default()
        });
    };
    Comparer::new(previous, next, snapshot, pause)?.run(cleanup_interval)
}

/// Returns the time for which an entry without `start_time` may be missing and still be in the same epoch. This is 1.5
/// cleanup intervals, because Lustre looks for idle entries every half cleanup interval.
fn retention(cleanup_interval: u32) -> Micros {
    match cleanup_interval {
        0 => DAY,
        seconds => Micros::from(seconds) * SECOND * 3 / 2,
    }
}

/// Returns the time in microseconds since 1970, or `None` if it is not on the wall clock.
pub(crate) fn wall(time: Option<Time>) -> Option<Micros> {
    let time = time.filter(|time| time.clock == Clock::Epoch)?;
    let seconds = Micros::try_from(time.seconds).ok()?;
    seconds
        .checked_mul(SECOND)?
        .checked_add(Micros::from(time.nanos / 1_000))
}

/// Returns the `start_time` of the latest epoch of every entry.
pub(super) fn latest_start_times<'a>(
    snapshot: &'a Snapshot<'_>,
    pause: Pause<'_>,
) -> Result<ByKey<'a, Option<Time>>, TryReserveError> {
    let mut latest = ByKey::default();
    latest.try_reserve(snapshot.records.len())?;
    for record in pause.among(&snapshot.records) {
        let start_time = latest.entry(snapshot.key(record)).or_default();
        *start_time = record.start_time.max(*start_time);
    }
    Ok(latest)
}

/// The reference values of a record's counters. Without `epoch` and `zero`, the counters are a baseline.
#[derive(Default)]
struct Reference<'a> {
    /// The known values of the same epoch.
    epoch: Option<Epoch<'a>>,
    /// The time at which all counters without a known value were zero.
    zero: Option<Micros>,
    /// True if the counters were zero because they restarted.
    reset: bool,
}

impl<'a> Reference<'a> {
    fn same(epoch: Epoch<'a>) -> Self {
        Self {
            epoch: Some(epoch),
            ..Self::default()
        }
    }
}

struct Comparer<'a, 'o> {
    previous: &'o Observation<'a>,
    next: &'o Observation<'a>,
    snapshot: &'a Snapshot<'a>,
    pause: Pause<'o>,
    history: History<'a>,
    /// True if the previous snapshot had every record. An entry that was not known is then proven to be born since, even
    /// without a `start_time`.
    previous_is_complete: bool,
    /// The time after which certainly no snapshot had an entry that is not known.
    never_seen_since: Micros,
    in_snapshot: InSnapshot,
    carry: CarriedRecords<'a>,
    /// True if any known entry goes on.
    survived: bool,
    /// True if the last record lacks counters that its entry had.
    cut: bool,
    /// The entry of the last record, if it is known.
    last: Option<Head>,
    latest_in_snapshot: Option<ByKey<'a, Option<Time>>>,
    result: Comparison<'a>,
}

impl<'a, 'o> Comparer<'a, 'o> {
    fn new(
        previous: &'o Observation<'a>,
        next: &'o Observation<'a>,
        snapshot: &'a Snapshot<'a>,
        pause: Pause<'o>,
    ) -> Result<Self, TryReserveError> {
        let history = History::new(previous, pause)?;
        Ok(Self {
            previous,
            next,
            snapshot,
            pause,
            previous_is_complete: is_complete(previous, &history),
            never_seen_since: history.never_seen_since().unwrap_or(previous.time),
            history,
            in_snapshot: InSnapshot::of(snapshot),
            carry: CarriedRecords::with(snapshot),
            survived: false,
            cut: false,
            last: None,
            latest_in_snapshot: None,
            result: Comparison::default(),
        })
    }

    fn run(mut self, cleanup_interval: u32) -> Result<Comparison<'a>, TryReserveError> {
        for record in self.pause.among(&self.snapshot.records) {
            self.record(record)?;
        }
        self.result.ends_early = self.ends_early(cleanup_interval);
        self.carry_missing(retention(cleanup_interval))?;
        Ok(Comparison {
            carried: self.carry.snapshot,
            carried_count: self.carry.entries,
            entries: self.snapshot.records.len() as u64,
            active: active(&self.result.increments),
            ..self.result
        })
    }

    fn record(&mut self, record: &'a Record) -> Result<(), TryReserveError> {
        if self.history.has_ended(self.snapshot, record) {
            return self.problem(record, None, Reason::OlderEpoch);
        }
        let head = self.history.find(self.snapshot, record)?;
        self.last = head;
        let before = match head {
            Some(head) => {
                self.history.mark(head);
                if self.history.is_unchanged(head, self.snapshot, record) {
                    self.survived = true;
                    return Ok(());
                }
                self.before(head, record)?
            }
            None => Some(self.birth(record)),
        };
        match before {
            Some(before) => self.difference(record, &before),
            None => self.problem(record, None, Reason::OlderEpoch),
        }
    }

    /// Returns the previous values of an entry that is not known (rule 3).
    fn birth(&self, record: &Record) -> Reference<'a> {
        let is_proven = match wall(record.start_time) {
            Some(start) => start > self.never_seen_since,
            None => self.previous_is_complete,
        };
        Reference {
            zero: is_proven.then(|| self.beginning(record, self.never_seen_since)),
            ..Reference::default()
        }
    }

    /// Returns true if the record's epoch is proven to have begun after the previous observation.
    fn began_later(&self, record: &Record) -> bool {
        wall(record.start_time).is_some_and(|start| start > self.previous.time)
    }

    /// Returns the time at which an epoch began that is not the one last seen at `seen` (rules 3 and 4).
    ///
    /// This is the epoch's `start_time`, if it is on the wall clock and lies between `seen` and this snapshot. It does not if
    /// the server's clock was set, or if the epoch began while this snapshot was printed. The epoch then began after the
    /// previous observation, whose snapshot would have had it, or after `seen` if that snapshot may lack records.
    fn beginning(&self, record: &Record, seen: Micros) -> Micros {
        let start =
            wall(record.start_time).filter(|start| seen < *start && *start < self.next.time);
        match start {
            Some(start) => start,
            None if self.previous_is_complete || self.began_later(record) => self.previous.time,
            None => seen,
        }
    }

    /// Returns the previous values of a known entry: of the same epoch, or of a new one (rules 4 and 5). Returns `None`
    /// if the record is of an older epoch.
    fn before(
        &mut self,
        head: Head,
        record: &Record,
    ) -> Result<Option<Reference<'a>>, TryReserveError> {
        let same = self.history.epoch(head, record.start_time);
        let Some(epoch) = same.or_else(|| self.history.latest_epoch(head)) else {
            return Ok(Some(self.birth(record)));
        };
        Ok(Some(match epoch.start_time().zip(record.start_time) {
            Some((known, start)) if known == start => Reference::same(epoch),
            Some((known, start)) if start < known && self.is_stale(record, known)? => {
                return Ok(None);
            }
            Some(_) => self.restart(epoch, None, record),
            // One of the two has no start_time, for example because the stats header was switched on or off. If the
            // snapshot has two epochs, only the older one, which comes first, can be the known one.
            None if self.history.claim(head) => match epoch.restarted(self.snapshot, record) {
                None => Reference::same(epoch),
                fell => self.restart(epoch, fell, record),
            },
            None => self.restart(epoch, None, record),
        }))
    }

    /// Returns the previous values of an epoch other than the known one. All that the new epoch counted is new, unless a
    /// snapshot that is gone may have had it already.
    ///
    /// `fell` is the latest time at which a counter that fell was last seen. If only a counter that had been missing
    /// fell, values that were seen after `fell` may already be of the new epoch. This holds even for an epoch that began
    /// after the previous observation, which is the time of the first byte: the epoch may have begun while that snapshot was
    /// printed.
    fn restart(&self, known: Epoch<'a>, fell: Option<Micros>, record: &Record) -> Reference<'a> {
        let began_later = self.began_later(record);
        if self.previous.snapshot.is_none() && !began_later {
            return Reference::default();
        }
        let last_seen = known.last_seen();
        let (zero, epoch) = match fell.filter(|fell| *fell < last_seen) {
            None => (self.beginning(record, last_seen), None),
            Some(fell) if began_later => (self.previous.time, known.seen_after(fell)),
            Some(fell) => (fell, known.seen_after(fell)),
        };
        Reference {
            zero: Some(zero),
            epoch,
            reset: true,
        }
    }

    /// Returns true if an epoch that began before the known one is only a remainder. If the snapshot has no epoch that can be
    /// the known one or a later one, the server's clock was set back and the epoch of this record is new.
    fn is_stale(&mut self, record: &Record, known: Time) -> Result<bool, TryReserveError> {
        if self.latest_in_snapshot.is_none() {
            self.latest_in_snapshot = Some(latest_start_times(self.snapshot, self.pause)?);
        }
        let starts = self.latest_in_snapshot.iter();
        let mut latest = starts.filter_map(|it| *it.get(&self.snapshot.key(record))?);
        Ok(latest.any(|latest| latest == known || (latest > known && known.clock == Clock::Epoch)))
    }

    /// Compares every counter of a record.
    fn difference(
        &mut self,
        record: &'a Record,
        before: &Reference<'a>,
    ) -> Result<(), TryReserveError> {
        let (snapshot, epoch) = (self.snapshot, before.epoch.as_ref());
        let known = epoch.map_or(0, Epoch::listed);
        let in_snapshot = before.zero.map_or(0, |_| self.in_snapshot.listed);
        let apart = known | record.present | in_snapshot;
        let mut withheld = Withheld {
            listed: known & !record.present,
            lower: Vec::new(),
        };
        let mut is_unknown = before.zero.is_none() && record.present & !known != 0;
        let changed = match epoch {
            Some(epoch) => epoch.changed(snapshot, record),
            None => counted(snapshot, record),
        };
        let changed = changed & record.present;
        let mut rows = Rows::of(changed.count_ones() as usize);
        let (mut values, mut counters) = (epoch.map(Epoch::values), snapshot.counters_of(record));
        for slot in slots(changed).chain(unlisted(snapshot, record)) {
            let value = values.as_mut().and_then(|known| known.find(snapshot, slot));
            let value = value.or(before
                .zero
                .map(|since| (since, Counter::zero(slot, Unit::Other))));
            let now = Snapshot::value_among(&mut counters, record, slot);
            let (Some((since, value)), Some(now)) = (value, now) else {
                is_unknown = true;
                continue;
            };
            let name = snapshot.slot_name(slot);
            match fall(&value, &now) {
                Some(reason) => {
                    self.problem(record, Some(name), reason)?;
                    withheld.add(slot);
                }
                None => rows.add(self.earliest(since), name, &value, &now, apart),
            }
        }
        self.count(before, is_unknown);
        let reset = before.zero.filter(|_| before.reset);
        self.store(record, rows, reset.map(|since| self.earliest(since)))?;
        if let Some(epoch) = epoch {
            let last = snapshot.records.last();
            let last = last.filter(|last| std::ptr::eq(*last, record));
            self.cut |= last.is_some_and(|last| epoch.is_missing_in(snapshot, last));
            self.carry.withheld(epoch, (snapshot, record), &withheld)?;
        }
        let Some(since) = before.zero else {
            return Ok(());
        };
        let record = (snapshot, record);
        self.carry.zeros(since, record, epoch, &self.in_snapshot)
    }

    /// Returns the beginning of a row whose counters were last seen at an instant. A row begins at most a day before
    /// the previous observation, however long a counter was missing, so that the number of rows into which it is
    /// divided is limited.
    fn earliest(&self, since: Micros) -> Micros {
        since.max(self.previous.time.saturating_sub(DAY))
    }

    fn count(&mut self, before: &Reference, is_unknown: bool) {
        self.survived |= before.epoch.is_some();
        self.result.unknown += u64::from(is_unknown);
        self.result.resets += u64::from(before.reset);
        self.result.added += u64::from(before.zero.is_some() && !before.reset);
    }

    /// Adds the rows of a record. The counters of the row since `reset` began at zero.
    fn store(
        &mut self,
        record: &'a Record,
        mut rows: Rows<'a>,
        reset: Option<Micros>,
    ) -> Result<(), TryReserveError> {
        for (operation, reason) in std::mem::take(&mut rows.problems) {
            self.problem(record, Some(operation), reason)?;
        }
        let increments = &mut self.result.increments;
        increments.try_reserve(rows.rows.len())?;
        let last_active = wall(record.snapshot_time);
        let rows = rows.into_increments(!self.snapshot.has_several_epochs);
        increments.extend(rows.map(|row| Increment {
            line: record.line,
            id: self.snapshot.id(record),
            time: self.next.time,
            reset: Some(row.since) == reset,
            // An earlier time means a wrong clock. After splitting, it would look like a time before the part.
            last_active: last_active.filter(|&at| at > row.since),
            ..row
        }));
        Ok(())
    }

    fn problem(
        &mut self,
        record: &'a Record,
        operation: Option<&'a str>,
        reason: Reason,
    ) -> Result<(), TryReserveError> {
        self.result.report(Problem {
            line: record.line,
            entry: self.snapshot.id(record),
            operation,
            reason,
        })
    }

    /// Returns true if the snapshot ends too early, though its last line is whole (rule 3). New entries and new epochs stand
    /// at the end, so a snapshot that has any was printed to its end.
    fn ends_early(&self, cleanup_interval: u32) -> bool {
        let Some(last) = self.last.filter(|last| self.history.is_of_snapshot(*last)) else {
            return false;
        };
        let is_new = self.result.added + self.result.resets + self.result.unknown > 0;
        if is_new || self.previous.server != self.next.server {
            return false;
        }
        let missing = self.history.missing_behind(last);
        is_any_active(missing, self.previous, self.next, cleanup_interval)
    }

    /// Carries the entries that are missing from the snapshot, as long as they may still exist (rule 3).
    fn carry_missing(&mut self, retention: Micros) -> Result<(), TryReserveError> {
        let is_complete = self.snapshot.complete && !self.cut && !self.result.ends_early;
        let same_server = self.previous.server == self.next.server;
        // An entry that is in the snapshot twice restarted while the snapshot was printed. Its first epoch is not in the
        // records, but had survived until then.
        let survived = self.survived || self.snapshot.has_duplicates;
        if self.previous.snapshot.is_none() {
            // Records that were carried before the deleted snapshot do not show which entries that snapshot had.
            return Ok(());
        }
        let missing = self.history.missing()?;
        let oldest = self.oldest_carried(&missing)?;
        for head in self.pause.among(missing) {
            let is_of_snapshot = self.history.is_of_snapshot(head);
            self.result.removed += u64::from(is_complete && is_of_snapshot);
            let Some(epoch) = self.history.latest_epoch(head) else {
                continue;
            };
            let age = self.next.time.saturating_sub(epoch.last_seen());
            let stays = match epoch.start_time() {
                _ if !is_complete => is_of_snapshot || age < DAY,
                Some(_) => age < DAY && epoch.last_seen() >= oldest,
                None => same_server && survived && age < retention,
            };
            if stays {
                self.carry.entry(&epoch)?;
            }
        }
        Ok(())
    }

    /// Returns the time since which an entry with `start_time` must have been seen to be carried: only the entries that
    /// were seen latest are.
    fn oldest_carried(&self, missing: &[Head]) -> Result<Micros, TryReserveError> {
        let room = self.snapshot.records.len().max(CARRIED_AT_LEAST);
        let mut seen = Vec::new();
        seen.try_reserve_exact(missing.len())?;
        let epochs = missing
            .iter()
            .filter_map(|head| self.history.latest_epoch(*head));
        let dated = epochs.filter(|epoch| epoch.start_time().is_some());
        seen.extend(dated.map(|epoch| epoch.last_seen()));
        if seen.len() <= room {
            return Ok(Micros::MIN);
        }
        let (_, oldest, _) = seen.select_nth_unstable_by(room - 1, |one, other| other.cmp(one));
        Ok(*oldest)
    }
}

/// Returns true if the observation's snapshot had every record that Lustre printed. The records carried with the snapshot show
/// whether its last record was cut.
fn is_complete<'a>(observation: &Observation<'a>, history: &History<'a>) -> bool {
    let Some(snapshot) = observation.snapshot.filter(|snapshot| snapshot.complete) else {
        return false;
    };
    let Some(last) = snapshot.records.last() else {
        return true;
    };
    let epoch = history.completed_epoch(last);
    !epoch.is_some_and(|epoch| epoch.is_missing_in(snapshot, last))
}
