//! From an observation to the next: which life every record belongs to, and what follows from that.

use std::collections::{HashMap, HashSet, TryReserveError};
use std::sync::LazyLock;

use super::carry::{Carry, Withheld};
use super::known::{Head, Known, Life, counted, unlisted};
use super::row::Rows;
use super::value::{Value, slots};
use super::{CompareError, Comparison, Micros, Observation, Problem, Reason};
use crate::scan::{Clock, Time};
use crate::snapshot::{Record, Snapshot};

const SECOND: Micros = 1_000_000;
const DAY: Micros = 86_400 * SECOND;

/// What is known of a target whose raw text is gone.
static NOTHING: LazyLock<Snapshot<'static>> = LazyLock::new(Snapshot::default);

/// Compares an observation with the one before it.
///
/// `cleanup_interval` is the target's, in seconds: after this time of idleness Lustre may drop an entry; 0 is never.
pub fn compare<'a>(
    previous: Option<&Observation<'a>>,
    next: &Observation<'a>,
    cleanup_interval: u32,
) -> Result<Comparison<'a>, CompareError> {
    let text = next.snapshot.unwrap_or(&NOTHING);
    let Some(previous) = previous else {
        // A first observation is a baseline (rule 2).
        return Ok(Comparison {
            entries: text.records.len() as u64,
            carried: Carry::with(text).finish().0,
            ..Comparison::default()
        });
    };
    let comparing = Comparing::new(previous, next, text)?;
    Ok(comparing.run(retention(cleanup_interval))?)
}

/// How long an entry without `start_time` may be missing and still be the same: Lustre looks for idle entries every half
/// cleanup interval.
fn retention(cleanup_interval: u32) -> Micros {
    match cleanup_interval {
        0 => DAY,
        seconds => Micros::from(seconds) * SECOND * 3 / 2,
    }
}

/// The time in microseconds since 1970, where it is on that clock.
pub(super) fn wall(time: Option<Time>) -> Option<Micros> {
    let time = time.filter(|time| time.clock == Clock::Epoch)?;
    let seconds = Micros::try_from(time.seconds).ok()?;
    seconds
        .checked_mul(SECOND)?
        .checked_add(Micros::from(time.nanos / 1_000))
}

/// When the latest life of every entry began.
pub(super) fn latest_start_times<'a>(
    text: &'a Snapshot<'_>,
) -> Result<HashMap<&'a str, Option<Time>>, TryReserveError> {
    let mut latest = HashMap::new();
    latest.try_reserve(text.records.len())?;
    for record in &text.records {
        let start_time = latest.entry(&*record.id).or_default();
        *start_time = record.start_time.max(*start_time);
    }
    Ok(latest)
}

/// Where a record's counters come from.
enum Origin<'a> {
    /// The entry goes on.
    Same(Life<'a>),
    /// Its counters began at zero after `since`.
    Zero { since: Micros, reset: bool },
    /// Nobody knows.
    Unknown,
    /// It is of an older life than the one known.
    Older,
}

struct Comparing<'a, 'o> {
    previous: &'o Observation<'a>,
    next: &'o Observation<'a>,
    text: &'a Snapshot<'a>,
    known: Known<'a>,
    /// Whether an entry that was not known is proven to have been born.
    previous_is_whole: bool,
    /// The listed operations that any record of the text has.
    in_text: u64,
    carry: Carry<'a>,
    /// Whether any entry goes on.
    survived: bool,
    /// Whether the last record lacks counters that it had.
    cut: bool,
    latest_in_text: Option<HashMap<&'a str, Option<Time>>>,
    /// Entries whose `start_time` appeared or vanished, once a record has been taken for theirs.
    claimed: HashSet<Head>,
    result: Comparison<'a>,
}

impl<'a, 'o> Comparing<'a, 'o> {
    fn new(
        previous: &'o Observation<'a>,
        next: &'o Observation<'a>,
        text: &'a Snapshot<'a>,
    ) -> Result<Self, TryReserveError> {
        let known = Known::new(previous)?;
        let records = text.records.iter();
        Ok(Self {
            previous,
            next,
            text,
            previous_is_whole: is_whole(previous, &known),
            known,
            in_text: records.fold(0, |bits, record| bits | record.present),
            carry: Carry::with(text),
            survived: false,
            cut: false,
            latest_in_text: None,
            claimed: HashSet::new(),
            result: Comparison::default(),
        })
    }

    fn run(mut self, retention: Micros) -> Result<Comparison<'a>, TryReserveError> {
        for record in &self.text.records {
            self.record(record)?;
        }
        self.carry_missing(retention)?;
        let (carried, carried_count) = self.carry.finish();
        Ok(Comparison {
            carried,
            carried_count,
            entries: self.text.records.len() as u64,
            ..self.result
        })
    }

    fn record(&mut self, record: &'a Record<'a>) -> Result<(), TryReserveError> {
        let origin = match self.known.find(record)? {
            Some(head) => {
                self.known.mark(head);
                if self.known.is_unchanged(head, self.text, record) {
                    self.survived = true;
                    return Ok(());
                }
                self.origin(head, record)?
            }
            None => self.birth(record),
        };
        match origin {
            Origin::Same(life) => self.goes_on(record, &life)?,
            Origin::Zero { since, reset } => self.begins(record, since, reset)?,
            Origin::Unknown => self.result.unknown += 1,
            Origin::Older => self.problem(record, None, Reason::OlderLife),
        }
        Ok(())
    }

    /// An entry that is not known (rule 3).
    fn birth(&self, record: &Record) -> Origin<'a> {
        let proven = match wall(record.start_time) {
            Some(start) => start > self.previous.time,
            None => self.previous_is_whole,
        };
        if !proven {
            return Origin::Unknown;
        }
        Origin::Zero {
            since: self.previous.time,
            reset: false,
        }
    }

    /// An entry that is known: the same life, or another (rules 4 and 5).
    fn origin(&mut self, head: Head, record: &Record<'a>) -> Result<Origin<'a>, TryReserveError> {
        if let Some(life) = self.known.life(head, record.start_time) {
            if record.start_time.is_none() && life.restarted(self.text, record) {
                return Ok(self.restart(&life, record));
            }
            return Ok(Origin::Same(life));
        }
        let Some(life) = self.known.latest_life(head) else {
            return Ok(self.birth(record));
        };
        Ok(match life.start_time().zip(record.start_time) {
            Some((known, start)) if start < known && self.is_stale(record, known)? => Origin::Older,
            Some(_) => self.restart(&life, record),
            // The stats header was switched on or off. Of two lives in this text the older one, which comes first, can
            // be the one that was known.
            None if self.claimed.insert(head) && !life.restarted(self.text, record) => {
                Origin::Same(life)
            }
            None => self.restart(&life, record),
        })
    }

    /// Another life than the known one. What it counted is all new, unless a text that is gone had it already.
    fn restart(&self, known: &Life<'a>, record: &Record) -> Origin<'a> {
        let began_later = wall(record.start_time).is_some_and(|start| start > self.previous.time);
        let since = match self.previous.snapshot {
            _ if began_later => self.previous.time,
            Some(_) => known.last_seen(),
            None => return Origin::Unknown,
        };
        Origin::Zero { since, reset: true }
    }

    /// Whether a life that began before the known one is only a remainder. Where the text has none that could be the
    /// known one or follow it, the server's clock was set back and this one is new.
    fn is_stale(&mut self, record: &Record<'a>, known: Time) -> Result<bool, TryReserveError> {
        let starts = match self.latest_in_text.take() {
            Some(starts) => starts,
            None => latest_start_times(self.text)?,
        };
        let latest = starts.get(&*record.id).copied().flatten();
        self.latest_in_text = Some(starts);
        Ok(latest.is_some_and(|latest| {
            latest == known || (latest > known && known.clock == Clock::Epoch)
        }))
    }

    /// The increments of an entry that was there before.
    fn goes_on(&mut self, record: &'a Record<'a>, life: &Life<'a>) -> Result<(), TryReserveError> {
        self.survived = true;
        let text = self.text;
        let known = life.listed();
        let mut withheld = Withheld {
            listed: known & !record.present,
            unlisted: Vec::new(),
        };
        let mut rows = Rows::default();
        let mut is_unknown = record.present & !known != 0;
        let counted = (counted(text, record) | life.counted()) & record.present & known;
        for slot in slots(counted).chain(unlisted(text, record)) {
            let Some(now) = Value::of(text, record, slot) else {
                continue;
            };
            let Some((since, before)) = life.value(text, slot) else {
                is_unknown = true;
                continue;
            };
            let name = text.slot_name(slot);
            match before.fall(&now) {
                Some(reason) => {
                    self.problem(record, Some(name), reason);
                    withheld.add(slot, name);
                }
                None => rows.add(since, name, &before, &now, record.present | known),
            }
        }
        self.result.unknown += u64::from(is_unknown);
        self.finish(record, rows, false)?;
        self.carry.withheld(life, (text, record), &withheld)?;
        let is_last = text
            .records
            .last()
            .is_some_and(|last| std::ptr::eq(last, record));
        self.cut |= is_last && life.is_missing_in(text, record);
        Ok(())
    }

    /// The increments of an entry that counted all it has since then.
    fn begins(
        &mut self,
        record: &'a Record<'a>,
        since: Micros,
        reset: bool,
    ) -> Result<(), TryReserveError> {
        let text = self.text;
        let mut rows = Rows::default();
        for counter in text.counters_of(record) {
            if let Some(now) = Value::of(text, record, counter.slot) {
                let (zero, name) = (Value::zero(counter.slot), text.slot_name(counter.slot));
                rows.add(since, name, &zero, &now, self.in_text);
            }
        }
        self.result.added += u64::from(!reset);
        self.result.resets += u64::from(reset);
        self.finish(record, rows, reset)?;
        self.carry.zeros(since, (text, record), self.in_text)
    }

    fn finish(
        &mut self,
        record: &'a Record<'a>,
        mut rows: Rows<'a>,
        reset: bool,
    ) -> Result<(), TryReserveError> {
        for (operation, reason) in std::mem::take(&mut rows.problems) {
            self.problem(record, Some(operation), reason);
        }
        let increments = &mut self.result.increments;
        let before = increments.len();
        increments.try_reserve(rows.len())?;
        let last_active = wall(record.snapshot_time);
        increments.extend(rows.into_increments(&record.id, self.next.time, reset, last_active));
        self.result.active += u64::from(increments.len() > before);
        Ok(())
    }

    fn problem(&mut self, record: &'a Record<'a>, operation: Option<&'a str>, reason: Reason) {
        self.result.problems.push(Problem {
            line: record.line,
            entry: &record.id,
            operation,
            reason,
        });
    }

    /// Carries the entries that the text lacks as long as it may not be all (rule 3).
    fn carry_missing(&mut self, retention: Micros) -> Result<(), TryReserveError> {
        let is_whole = self.text.complete && !self.cut;
        let same_server = self.previous.server == self.next.server;
        for head in self.known.missing()? {
            let is_of_text = self.known.is_of_text(head);
            self.result.removed += u64::from(is_whole && is_of_text);
            let Some(life) = self.known.latest_life(head) else {
                continue;
            };
            let age = self.next.time - life.last_seen();
            let stays = match life.start_time() {
                _ if !is_whole => is_of_text || age < DAY,
                Some(_) => age < DAY,
                None => same_server && self.survived && age < retention,
            };
            if stays {
                self.carry.entry(&life)?;
            }
        }
        Ok(())
    }
}

/// Whether the observation's text had every record that Lustre printed. What is carried with it tells where its last
/// record was cut.
fn is_whole<'a>(observation: &Observation<'a>, known: &Known<'a>) -> bool {
    let Some(text) = observation.snapshot.filter(|text| text.complete) else {
        return false;
    };
    let Some(last) = text.records.last() else {
        return true;
    };
    let life = known.completed_life(last);
    !life.is_some_and(|life| life.is_missing_in(text, last))
}
