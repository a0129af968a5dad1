//! Compares an observation with the next one: finds the life of every record and the increments that follow.

use std::collections::TryReserveError;

use super::carried::{CarriedRecords, InText, Withheld};
use super::cut::is_any_active;
use super::epoch::{Life, counted, unlisted};
use super::history::{Head, History, NOTHING};
use super::limit::active;
use super::row::Rows;
use super::value::{fall, slots};
use super::{CompareError, Comparison, Increment, Observation, Problem, Reason};
use crate::base::instant::{DAY, Micros, SECOND};
use crate::base::pause::Pause;
use crate::rules::snapshot::{ByKey, Counter, Record, Snapshot};
use crate::text::job_stats::{Clock, Time, Unit};

/// The number of entries with `start_time` that are carried for a day with any text. A text with more records carries
/// as many entries as it has itself. Without a limit the finished jobs of a busy day would outweigh the text: five
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
) -> Result<Comparison<'a>, CompareError> {
    let text = next.snapshot.unwrap_or(&NOTHING);
    let Some(previous) = previous else {
        // A first observation is a baseline (rule 2).
        return Ok(Comparison {
            entries: text.records.len() as u64,
            carried: CarriedRecords::with(text).finish().0,
            ..Comparison::default()
        });
    };
    let comparing = Comparing::new(previous, next, text, pause)?;
    Ok(comparing.run(cleanup_interval)?)
}

/// Returns the time for which an entry without `start_time` may be missing and still be in the same life. This is 1.5
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

/// Returns the `start_time` of the latest life of every entry.
pub(super) fn latest_start_times<'a>(
    text: &'a Snapshot<'_>,
    pause: Pause<'_>,
) -> Result<ByKey<'a, Option<Time>>, TryReserveError> {
    let mut latest = ByKey::default();
    latest.try_reserve(text.records.len())?;
    for record in pause.among(&text.records) {
        let start_time = latest.entry(text.key(record)).or_default();
        *start_time = record.start_time.max(*start_time);
    }
    Ok(latest)
}

/// The values with which a record's counters are compared. Without `life` and `zero`, the counters are a baseline.
#[derive(Default)]
struct Before<'a> {
    /// The known values of the same life.
    life: Option<Life<'a>>,
    /// The time at which all counters without a known value were zero.
    zero: Option<Micros>,
    /// True if the counters were zero because they restarted.
    reset: bool,
}

impl<'a> Before<'a> {
    fn same(life: Life<'a>) -> Self {
        Self {
            life: Some(life),
            ..Self::default()
        }
    }
}

struct Comparing<'a, 'o> {
    previous: &'o Observation<'a>,
    next: &'o Observation<'a>,
    text: &'a Snapshot<'a>,
    pause: Pause<'o>,
    history: History<'a>,
    /// True if the previous text had every record. An entry that was not known is then proven to be born since, even
    /// without a `start_time`.
    previous_is_whole: bool,
    /// The time after which certainly no text had an entry that is not known.
    never_seen_since: Micros,
    in_text: InText,
    carry: CarriedRecords<'a>,
    /// True if any known entry goes on.
    survived: bool,
    /// True if the last record lacks counters that its entry had.
    cut: bool,
    /// The entry of the last record, if it is known.
    last: Option<Head>,
    latest_in_text: Option<ByKey<'a, Option<Time>>>,
    result: Comparison<'a>,
}

impl<'a, 'o> Comparing<'a, 'o> {
    fn new(
        previous: &'o Observation<'a>,
        next: &'o Observation<'a>,
        text: &'a Snapshot<'a>,
        pause: Pause<'o>,
    ) -> Result<Self, TryReserveError> {
        let history = History::new(previous, pause)?;
        Ok(Self {
            previous,
            next,
            text,
            pause,
            previous_is_whole: is_whole(previous, &history),
            never_seen_since: history.never_seen_since().unwrap_or(previous.time),
            history,
            in_text: InText::of(text),
            carry: CarriedRecords::with(text),
            survived: false,
            cut: false,
            last: None,
            latest_in_text: None,
            result: Comparison::default(),
        })
    }

    fn run(mut self, cleanup_interval: u32) -> Result<Comparison<'a>, TryReserveError> {
        for record in self.pause.among(&self.text.records) {
            self.record(record)?;
        }
        self.result.ends_early = self.ends_early(cleanup_interval);
        self.carry_missing(retention(cleanup_interval))?;
        let (carried, carried_count) = self.carry.finish();
        Ok(Comparison {
            carried,
            carried_count,
            entries: self.text.records.len() as u64,
            active: active(&self.result.increments),
            ..self.result
        })
    }

    fn record(&mut self, record: &'a Record) -> Result<(), TryReserveError> {
        if self.history.has_ended(self.text, record) {
            return self.problem(record, None, Reason::OlderLife);
        }
        let head = self.history.find(self.text, record)?;
        self.last = head;
        let before = match head {
            Some(head) => {
                self.history.mark(head);
                if self.history.is_unchanged(head, self.text, record) {
                    self.survived = true;
                    return Ok(());
                }
                self.before(head, record)?
            }
            None => Some(self.birth(record)),
        };
        match before {
            Some(before) => self.difference(record, &before),
            None => self.problem(record, None, Reason::OlderLife),
        }
    }

    /// Returns the previous values of an entry that is not known (rule 3).
    fn birth(&self, record: &Record) -> Before<'a> {
        let is_proven = match wall(record.start_time) {
            Some(start) => start > self.never_seen_since,
            None => self.previous_is_whole,
        };
        Before {
            zero: is_proven.then(|| self.beginning(record, self.never_seen_since)),
            ..Before::default()
        }
    }

    /// Returns true if the record's life is proven to have begun after the previous observation.
    fn began_later(&self, record: &Record) -> bool {
        wall(record.start_time).is_some_and(|start| start > self.previous.time)
    }

    /// Returns the time at which a life began that is not the one last seen at `seen` (rules 3 and 4).
    ///
    /// This is the life's `start_time`, if it is on the wall clock and lies between `seen` and this text. It does not if
    /// the server's clock was set, or if the life began while this text was printed. The life then began after the
    /// previous observation, whose text would have had it, or after `seen` if that text may lack records.
    fn beginning(&self, record: &Record, seen: Micros) -> Micros {
        let start =
            wall(record.start_time).filter(|start| seen < *start && *start < self.next.time);
        match start {
            Some(start) => start,
            None if self.previous_is_whole || self.began_later(record) => self.previous.time,
            None => seen,
        }
    }

    /// Returns the previous values of an entry that is known: those of the same life, or those of a new one (rules 4
    /// and 5). Returns `None` if the record is of an older life.
    fn before(
        &mut self,
        head: Head,
        record: &Record,
    ) -> Result<Option<Before<'a>>, TryReserveError> {
        let same = self.history.life(head, record.start_time);
        let Some(life) = same.or_else(|| self.history.latest_life(head)) else {
            return Ok(Some(self.birth(record)));
        };
        Ok(Some(match life.start_time().zip(record.start_time) {
            Some((known, start)) if known == start => Before::same(life),
            Some((known, start)) if start < known && self.is_stale(record, known)? => {
                return Ok(None);
            }
            Some(_) => self.restart(life, None, record),
            // One of the two has no start_time, for example because the stats header was switched on or off. Of two
            // lives in the text only the older one, which comes first, can be the known one.
            None if self.history.claim(head) => match life.restarted(self.text, record) {
                None => Before::same(life),
                fell => self.restart(life, fell, record),
            },
            None => self.restart(life, None, record),
        }))
    }

    /// Returns the previous values of a life other than the known one. All that the new life counted is new, unless a
    /// text that is gone may have had it already.
    ///
    /// `fell` is the latest time at which a counter that fell was last seen. If only a counter that had been missing
    /// fell, values that were seen after `fell` may already be of the new life. This holds even for a life that began
    /// after the previous observation, which is the time of the first byte: the life may have begun while that text was
    /// printed.
    fn restart(&self, known: Life<'a>, fell: Option<Micros>, record: &Record) -> Before<'a> {
        let began_later = self.began_later(record);
        if self.previous.snapshot.is_none() && !began_later {
            return Before::default();
        }
        let last_seen = known.last_seen();
        let (zero, life) = match fell.filter(|fell| *fell < last_seen) {
            None => (self.beginning(record, last_seen), None),
            Some(fell) if began_later => (self.previous.time, known.seen_after(fell)),
            Some(fell) => (fell, known.seen_after(fell)),
        };
        Before {
            zero: Some(zero),
            life,
            reset: true,
        }
    }

    /// Returns true if a life that began before the known one is only a remainder. If the text has no life that can be
    /// the known one or a later one, the server's clock was set back and the life of this record is new.
    fn is_stale(&mut self, record: &Record, known: Time) -> Result<bool, TryReserveError> {
        let starts = match self.latest_in_text.take() {
            Some(starts) => starts,
            None => latest_start_times(self.text, self.pause)?,
        };
        let latest = starts.get(&self.text.key(record)).copied().flatten();
        self.latest_in_text = Some(starts);
        Ok(latest.is_some_and(|latest| {
            latest == known || (latest > known && known.clock == Clock::Epoch)
        }))
    }

    /// Compares every counter of a record.
    fn difference(
        &mut self,
        record: &'a Record,
        before: &Before<'a>,
    ) -> Result<(), TryReserveError> {
        let (text, life) = (self.text, before.life.as_ref());
        let known = life.map_or(0, Life::listed);
        let in_text = before.zero.map_or(0, |_| self.in_text.listed);
        let apart = known | record.present | in_text;
        let mut withheld = Withheld {
            listed: known & !record.present,
            lower: Vec::new(),
        };
        let mut is_unknown = before.zero.is_none() && record.present & !known != 0;
        let changed = match life {
            Some(life) => life.changed(text, record),
            None => counted(text, record),
        };
        let changed = changed & record.present;
        let mut rows = Rows::of(changed.count_ones() as usize);
        let (mut values, mut counters) = (life.map(Life::values), text.counters_of(record));
        for slot in slots(changed).chain(unlisted(text, record)) {
            let value = values.as_mut().and_then(|known| known.find(text, slot));
            let value = value.or(before
                .zero
                .map(|since| (since, Counter::zero(slot, Unit::Other))));
            let now = Snapshot::value_among(&mut counters, record, slot);
            let (Some((since, value)), Some(now)) = (value, now) else {
                is_unknown = true;
                continue;
            };
            let name = text.slot_name(slot);
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
        if let Some(life) = life {
            let is_last = text
                .records
                .last()
                .is_some_and(|last| std::ptr::eq(last, record));
            self.cut |= is_last && life.is_missing_in(text, record);
            self.carry.withheld(life, (text, record), &withheld)?;
        }
        match before.zero {
            Some(since) => {
                let record = (text, record);
                self.carry.zeros(since, record, life, &self.in_text)
            }
            None => Ok(()),
        }
    }

    /// Returns the beginning of a row whose counters were last seen at an instant. A row begins at most a day before
    /// the previous observation, however long a counter was missing, so that the number of rows into which it is
    /// divided is limited.
    fn earliest(&self, since: Micros) -> Micros {
        since.max(self.previous.time.saturating_sub(DAY))
    }

    fn count(&mut self, before: &Before, is_unknown: bool) {
        self.survived |= before.life.is_some();
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
        increments.try_reserve(rows.len())?;
        let last_active = wall(record.snapshot_time);
        let rows = rows.into_increments(
            (record.line, self.text.id(record)),
            self.next.time,
            last_active,
            !self.text.has_several_lives,
        );
        increments.extend(rows.map(|row| Increment {
            reset: Some(row.since) == reset,
            // A part of the row could not tell an earlier one, which shows that the clock is wrong, from one that lies before it.
            last_active: row.last_active.filter(|&at| at > row.since),
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
            entry: self.text.id(record),
            operation,
            reason,
        })
    }

    /// Returns true if the text ends too early, though its last line is whole (rule 3). New entries and new lives stand
    /// at the end, so a text that has any was printed to its end.
    fn ends_early(&self, cleanup_interval: u32) -> bool {
        let Some(last) = self.last.filter(|last| self.history.is_of_text(*last)) else {
            return false;
        };
        let is_new = self.result.added + self.result.resets + self.result.unknown > 0;
        if is_new || self.previous.server != self.next.server {
            return false;
        }
        let missing = self.history.missing_behind(last);
        is_any_active(missing, self.previous, self.next, cleanup_interval)
    }

    /// Carries the entries that are missing from the text, as long as they may still exist (rule 3).
    fn carry_missing(&mut self, retention: Micros) -> Result<(), TryReserveError> {
        let is_whole = self.text.complete && !self.cut && !self.result.ends_early;
        let same_server = self.previous.server == self.next.server;
        // An entry that stands in the text twice restarted while the text was printed. Its first life is not in the
        // records, but had survived until then.
        let survived = self.survived || self.text.has_duplicates;
        if self.previous.snapshot.is_none() {
            // Records that were carried before the text that is gone say nothing about the entries of that text.
            return Ok(());
        }
        let missing = self.history.missing()?;
        let oldest = self.oldest_carried(&missing)?;
        for head in self.pause.among(missing) {
            let is_of_text = self.history.is_of_text(head);
            self.result.removed += u64::from(is_whole && is_of_text);
            let Some(life) = self.history.latest_life(head) else {
                continue;
            };
            let age = self.next.time.saturating_sub(life.last_seen());
            let stays = match life.start_time() {
                _ if !is_whole => is_of_text || age < DAY,
                Some(_) => age < DAY && life.last_seen() >= oldest,
                None => same_server && survived && age < retention,
            };
            if stays {
                self.carry.entry(&life)?;
            }
        }
        Ok(())
    }

    /// Returns the time since which an entry with `start_time` must have been seen to be carried: only the entries that
    /// were seen latest are.
    fn oldest_carried(&self, missing: &[Head]) -> Result<Micros, TryReserveError> {
        let room = self.text.records.len().max(CARRIED_AT_LEAST);
        if missing.len() <= room {
            return Ok(Micros::MIN);
        }
        let mut seen = Vec::new();
        seen.try_reserve_exact(missing.len())?;
        let lives = missing
            .iter()
            .filter_map(|head| self.history.latest_life(*head));
        let dated = lives.filter(|life| life.start_time().is_some());
        seen.extend(dated.map(|life| life.last_seen()));
        if seen.len() <= room {
            return Ok(Micros::MIN);
        }
        let (_, oldest, _) = seen.select_nth_unstable_by(room - 1, |one, other| other.cmp(one));
        Ok(*oldest)
    }
}

/// Returns true if the observation's text had every record that Lustre printed. The records carried with the text tell
/// whether its last record was cut.
fn is_whole<'a>(observation: &Observation<'a>, history: &History<'a>) -> bool {
    let Some(text) = observation.snapshot.filter(|text| text.complete) else {
        return false;
    };
    let Some(last) = text.records.last() else {
        return true;
    };
    let life = history.completed_life(last);
    !life.is_some_and(|life| life.is_missing_in(text, last))
}
