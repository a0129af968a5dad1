//! Reads a text into snapshots.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, TryReserveError};
use std::ops::Range;

use super::counters::{NUMBERS, are_zero};
use super::hash::hash;
use super::slots::{listed_slot, unlisted_slot};
use super::{Contents, ReadError, Record, Slot, Snapshot, duplicates};
use crate::base::operation;
use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::base::try_vec::push;
use crate::text::additional_parameters::{Other, Parameter};
use crate::text::job_stats::{
    CounterLine, HISTOGRAM_LEN, Problem, Reason, Sink, TimeLine, Unit, ZeroLine, scan,
};

/// The largest number of bytes of a text. Line numbers and places of identifiers and counters have 32 bits: a stored
/// identifier takes less than four times the bytes that it takes in the text.
const TEXT_MAX: usize = 1 << 30;

/// The number of problems that are kept of any text. A long text keeps as many more as fit into its size, up to
/// `PROBLEMS_BYTES`.
const PROBLEMS_KEPT: usize = 1_000;
const PROBLEMS_BYTES: usize = 4 << 20;

/// The number of values of other parameters that are kept of a text.
const OTHERS_MAX: usize = 100_000;

/// Reads all targets of a text, each with its records. An identifier is in the records twice only if it had two epochs.
///
/// # Errors
/// Returns [`ReadError`] if the text is longer than any that PostgreSQL can hold, or if the result does not fit into
/// memory.
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    let mut reader = Reader::of(text, false, pause)?;
    for target in &mut reader.targets {
        duplicates::resolve(
            &mut target.snapshot,
            &target.job_id_lines,
            &mut reader.budget,
            pause,
        )?;
    }
    Ok(reader.finish())
}

/// Reads records that [`super::print()`] printed: one target, in which an identifier may stand any number of times.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn read_carried<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Snapshot<'a>, ReadError> {
    let snapshots = Reader::of(text, true, pause)?.finish().snapshots;
    Ok(snapshots.into_iter().next().unwrap_or_default())
}

/// The memory that problems may still take.
#[derive(Default)]
pub(super) struct Budget {
    bytes: usize,
    dropped: u64,
}

impl Budget {
    fn of(text: &[u8]) -> Self {
        Self {
            bytes: text.len().min(PROBLEMS_BYTES) + PROBLEMS_KEPT * size_of::<Problem<'_>>(),
            dropped: 0,
        }
    }

    /// Keeps a problem of an entry if there is room.
    pub(super) fn report<'a>(
        &mut self,
        problem: Problem<'a>,
        entry: Option<&str>,
        problems: &mut Vec<Problem<'a>>,
    ) -> Result<(), TryReserveError> {
        let bytes = size_of::<Problem<'_>>() + entry.map_or(0, str::len);
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                let entry = entry.map(str::to_owned);
                push(problems, Problem { entry, ..problem })
            }
            None => {
                self.dropped += 1;
                Ok(())
            }
        }
    }
}

/// A snapshot under construction.
struct Target<'a> {
    snapshot: Snapshot<'a>,
    /// The `job_id` line of each record.
    job_id_lines: Vec<&'a [u8]>,
    /// The number of operations of each of the last two records, used or not.
    operations: [u32; 2],
    /// The record that has begun and not ended: the last one.
    open: Option<Open>,
}

/// The state of the target's last record, which is under construction.
#[derive(Default)]
struct Open {
    operations: u32,
    /// True if the lines that follow may be of another record.
    closed: bool,
}

#[derive(Default)]
struct Reader<'a> {
    /// True if jobstats printed the records, which then may have the time at which they were last seen. No server
    /// prints that, but a user who can name a job freely could, with a name of several lines.
    is_carried: bool,
    targets: Vec<Target<'a>>,
    positions: HashMap<Option<TargetName<'a>>, usize>,
    /// The target that has begun and not ended.
    current: Option<usize>,
    /// The values of other parameters, and the parameters that have one.
    others: Vec<Other<'a>>,
    seen: HashSet<Parameter<'a>>,
    /// The problems outside of targets.
    problems: Vec<Problem<'a>>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn of(text: &'a [u8], is_carried: bool, pause: Pause<'_>) -> Result<Self, ReadError> {
        if text.len() > TEXT_MAX {
            return Err(ReadError::TooLong(text.len()));
        }
        let mut reader = Self {
            is_carried,
            budget: Budget::of(text),
            ..Self::default()
        };
        scan(text, &mut reader, pause)?;
        Ok(reader)
    }

    /// Returns the snapshots, without targets that only an error message names.
    fn finish(mut self) -> Contents<'a> {
        for target in &mut self.targets {
            let problems = &mut target.snapshot.problems;
            problems.sort_unstable_by_key(|problem| (problem.line, problem.reason));
        }
        Contents {
            snapshots: self
                .targets
                .into_iter()
                .map(|target| target.snapshot)
                .filter(|snapshot| snapshot.observed || snapshot.cleanup_interval.is_some())
                .collect(),
            others: self.others,
            problems: self.problems,
            problems_dropped: self.budget.dropped,
        }
    }

    fn position(&mut self, name: Option<TargetName<'a>>) -> Result<usize, TryReserveError> {
        if let Some(position) = self.positions.get(&name) {
            return Ok(*position);
        }
        let position = self.targets.len();
        self.positions.try_reserve(1)?;
        self.positions.insert(name, position);
        let target = Target {
            snapshot: Snapshot {
                target: name,
                complete: true,
                ..Snapshot::default()
            },
            job_id_lines: Vec::new(),
            operations: [0, 0],
            open: None,
        };
        push(&mut self.targets, target)?;
        Ok(position)
    }

    /// Returns the target of this name after adding lines to it. A new target is created.
    fn named(
        &mut self,
        name: Option<TargetName<'a>>,
        lines: Range<usize>,
    ) -> Result<&mut Snapshot<'a>, TryReserveError> {
        let position = self.position(name)?;
        let snapshot = &mut self.targets[position].snapshot;
        match snapshot.text.last_mut() {
            // An error message can stand where a value was to come: its lines come first and lie among these.
            Some(last) if lines.start <= last.end => {
                *last = last.start.min(lines.start)..lines.end.max(last.end);
            }
            _ => push(&mut snapshot.text, lines)?,
        }
        Ok(snapshot)
    }

    fn report(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), TryReserveError> {
        let problem = |target| Problem {
            line,
            target,
            entry: None,
            reason,
            text,
        };
        let current = self.current.and_then(|it| self.targets.get_mut(it));
        let Some(Target { snapshot, open, .. }) = current else {
            return self.budget.report(problem(None), None, &mut self.problems);
        };
        snapshot.problems_found += 1;
        let problem = problem(snapshot.target);
        let record = snapshot.records.last().filter(|_| open.is_some());
        let entry = record.map(|record| snapshot.ids.get(&record.id));
        self.budget.report(problem, entry, &mut snapshot.problems)
    }

    /// Returns the target that has begun and not ended.
    fn current(&mut self) -> Option<&mut Target<'a>> {
        self.targets.get_mut(self.current?)
    }

    /// Returns the record of that target that has begun and not ended, with the snapshot.
    fn open(&mut self) -> Option<(&mut Snapshot<'a>, &mut Open)> {
        let target = self.current()?;
        Some((&mut target.snapshot, target.open.as_mut()?))
    }

    /// Adds zero counters. Returns `None` if each of them needs a closer look.
    fn add_zeros(&mut self, zeros: &[ZeroLine<'_>]) -> Option<()> {
        let (snapshot, open) = self.open().filter(|(_, open)| !open.closed)?;
        let record = snapshot.records.last_mut()?;
        let bits = bits_of(zeros).filter(|bits| record.present & bits == 0)?;
        record.present |= bits;
        open.operations += zeros.len() as u32;
        Some(())
    }

    /// Adds a counter. Returns the reason if the counter cannot be used.
    fn add(
        &mut self,
        line: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<Option<Reason>, TryReserveError> {
        let Some((snapshot, open)) = self.open() else {
            return Ok(None);
        };
        open.operations += 1;
        let listed = line.listed.and_then(|index| listed_slot(index, line.unit));
        let slot = match listed {
            Some(slot) => slot,
            None => match unlisted_slot(snapshot, line.operation, text)? {
                Ok(slot) => slot,
                Err(reason) => return Ok(Some(reason)),
            },
        };
        let (counters, Some(record)) = (&mut snapshot.counters, snapshot.records.last_mut()) else {
            return Ok(None);
        };
        let begin = record.counters.start;
        let is_duplicate = match listed {
            Some(slot) => record.has(slot),
            None => {
                let mut own = counters.iter(begin..counters.end());
                own.any(|counter| counter.slot == slot)
            }
        };
        if is_duplicate {
            open.closed = true;
            return Ok(Some(Reason::DuplicateOperation));
        }
        if listed.is_some() {
            record.present |= 1 << slot;
        }
        let (numbers, sizes) = values(line, slot);
        let sizes = sizes.filter(|sizes| !are_zero(*sizes));
        if listed.is_none() || !are_zero(&numbers) || sizes.is_some() {
            counters.insert(begin, (slot, line.unit), &numbers, sizes)?;
        }
        Ok(None)
    }
}

/// Returns the bits in [`Record::present`] of the counters of these lines, or `None` if an operation is unlisted or
/// repeated.
fn bits_of(zeros: &[ZeroLine<'_>]) -> Option<u64> {
    zeros.iter().try_fold(0, |bits, zero| {
        let bit = 1 << listed_slot(zero.counter.listed?, zero.counter.unit)?;
        (bits & bit == 0).then_some(bits | bit)
    })
}

/// Returns the values of a counter's line that are kept. A counter that has calls in place of bytes has no bytes (rule
/// 6).
fn values<'c>(
    line: &'c CounterLine<'_>,
    slot: Slot,
) -> ([u64; NUMBERS], Option<&'c [u64; HISTOGRAM_LEN]>) {
    let in_bytes = [operation::READ_BYTES, operation::WRITE_BYTES].contains(&usize::from(slot));
    if in_bytes && line.unit == Unit::Requests {
        return ([line.samples, 0, 0, 0, 0], None);
    }
    let [min, max, sum, sumsq] =
        [line.min, line.max, line.sum, line.sumsq].map(Option::unwrap_or_default);
    (
        [line.samples, min, max, sum, sumsq],
        line.histogram.as_ref(),
    )
}

impl<'a> Sink<'a> for Reader<'a> {
    type Stop = TryReserveError;

    fn target(&mut self, _: u32, target: Option<TargetName<'a>>) -> Result<(), TryReserveError> {
        let position = self.position(target)?;
        self.targets[position].snapshot.observed = true;
        self.current = Some(position);
        Ok(())
    }

    fn target_ends(&mut self, lines: Range<usize>) -> Result<(), TryReserveError> {
        if let Some(target) = self.current() {
            let [before, last] = target.operations;
            target.snapshot.complete &= last >= before;
            let name = target.snapshot.target;
            self.named(name, lines)?;
        }
        self.current = None;
        Ok(())
    }

    fn cleanup_interval(
        &mut self,
        target: TargetName<'a>,
        seconds: u32,
        lines: Range<usize>,
    ) -> Result<(), TryReserveError> {
        self.named(Some(target), lines)?.cleanup_interval = Some(seconds);
        Ok(())
    }

    fn read_failed(
        &mut self,
        target: TargetName<'a>,
        lines: Range<usize>,
    ) -> Result<(), TryReserveError> {
        self.named(Some(target), lines)?.complete = false;
        Ok(())
    }

    fn other(&mut self, other: Other<'a>) -> Result<(), TryReserveError> {
        if self.seen.contains(&other.parameter) || self.others.len() == OTHERS_MAX {
            return Ok(());
        }
        self.seen.try_reserve(1)?;
        self.seen.insert(other.parameter);
        push(&mut self.others, other)
    }

    fn record(
        &mut self,
        line: u32,
        id: Cow<'a, str>,
        text: &'a [u8],
    ) -> Result<(), TryReserveError> {
        let Some(target) = self.current() else {
            return Ok(());
        };
        push(&mut target.job_id_lines, text)?;
        let end = target.snapshot.counters.end();
        let record = Record {
            hash: hash(&id),
            id: target.snapshot.ids.push(&id)?,
            line,
            counters: end..end,
            ..Record::default()
        };
        target.open = Some(Open::default());
        push(&mut target.snapshot.records, record)
    }

    fn record_ends(&mut self) -> Result<(), TryReserveError> {
        let Some(current) = self.current else {
            return Ok(());
        };
        let target = &mut self.targets[current];
        let record = target.snapshot.records.last_mut();
        let Some((open, record)) = target.open.as_ref().zip(record) else {
            return Ok(());
        };
        if open.operations > 0 {
            target.operations = [target.operations[1], open.operations];
            record.counters.end = target.snapshot.counters.end();
        } else if let Some(text) = target.job_id_lines.pop() {
            target.snapshot.complete = false;
            let line = record.line;
            self.report(line, Reason::RecordWithoutCounters, text)?;
            self.targets[current].snapshot.records.pop();
        }
        self.targets[current].open = None;
        Ok(())
    }

    fn time(&mut self, _: u32, time: TimeLine) -> Result<(), TryReserveError> {
        let is_carried = self.is_carried;
        let record = self.open().map(|(snapshot, _)| snapshot.records.last_mut());
        if let Some(record) = record.flatten() {
            match time {
                TimeLine::Snapshot(time) => record.snapshot_time = Some(time),
                TimeLine::Start(time) => record.start_time = Some(time),
                TimeLine::LastSeen(micros) => record.last_seen = is_carried.then_some(micros),
            }
        }
        Ok(())
    }

    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<(), TryReserveError> {
        if self.open().is_some_and(|(_, open)| open.closed) {
            return self.report(line, Reason::LineWithoutRecord, text);
        }
        let Some(reason) = self.add(counter, text)? else {
            return Ok(());
        };
        if reason == Reason::DuplicateOperation {
            self.may_hide_records()?;
        }
        self.report(line, reason, text)
    }

    fn zeros(&mut self, line: u32, zeros: &[ZeroLine<'a>]) -> Result<(), TryReserveError> {
        if self.add_zeros(zeros).is_some() {
            return Ok(());
        }
        let mut numbered = (0..).zip(zeros);
        numbered.try_for_each(|(before, zero)| {
            self.counter(line.saturating_add(before), &zero.counter, zero.text())
        })
    }

    fn problem(
        &mut self,
        line: u32,
        reason: Reason,
        text: &'a [u8],
    ) -> Result<(), TryReserveError> {
        if let Some((_, open)) = self.open().filter(|_| reason.rejects_counter()) {
            open.operations += 1;
        }
        self.report(line, reason, text)
    }

    fn may_hide_records(&mut self) -> Result<(), TryReserveError> {
        if let Some(target) = self.current() {
            target.snapshot.complete = false;
        }
        Ok(())
    }
}
