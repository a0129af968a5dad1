//! Text → snapshots.

use std::borrow::Cow;
use std::collections::{HashMap, TryReserveError};
use std::ops::Range;

use super::slots::{listed_slot, unlisted_slot};
use super::{Counter, ReadError, Reading, Record, Slot, Snapshot, duplicates};
use crate::operation;
use crate::scan::{
    CounterLine, HISTOGRAM_LEN, Problem, Reason, Sink, TargetName, TimeLine, Unit, scan,
};

/// Problems that are kept of any text; of a long one as many as fit into its size.
const PROBLEMS_KEPT: usize = 1_000;

/// Read a text: all its targets, each with its records, of which the same identifier stands twice only where it had two
/// lives.
pub fn read(text: &[u8]) -> Result<Reading<'_>, ReadError> {
    let mut reader = Reader::of(text)?;
    for target in &mut reader.targets {
        duplicates::resolve(
            &mut target.snapshot,
            &target.job_id_lines,
            &mut reader.budget,
        )?;
    }
    Ok(reader.finish())
}

/// Read records that [`super::print()`] printed: one target; an identifier may stand there any number of times.
pub fn read_carried(text: &[u8]) -> Result<Snapshot<'_>, ReadError> {
    let snapshots = Reader::of(text)?.finish().snapshots;
    Ok(snapshots.into_iter().next().unwrap_or_default())
}

/// How much memory problems may yet take.
pub(super) struct Budget {
    bytes: usize,
    dropped: u64,
}

impl Budget {
    const fn of(text: &[u8]) -> Self {
        Self {
            bytes: text.len() + PROBLEMS_KEPT * size_of::<Problem<'_>>(),
            dropped: 0,
        }
    }

    /// Keep a problem if there is room.
    pub(super) fn report<'a>(
        &mut self,
        problem: Problem<'a>,
        problems: &mut Vec<Problem<'a>>,
    ) -> Result<(), TryReserveError> {
        let entry = problem.entry.as_ref().map_or(0, |entry| entry.len());
        match self.bytes.checked_sub(size_of::<Problem<'_>>() + entry) {
            Some(left) => {
                self.bytes = left;
                push(problems, problem)
            }
            None => {
                self.dropped += 1;
                Ok(())
            }
        }
    }
}

/// A snapshot in the making.
struct Target<'a> {
    snapshot: Snapshot<'a>,
    /// Of each record.
    job_id_lines: Vec<&'a [u8]>,
    /// Operations of the last two records, used or not.
    operations: [u32; 2],
}

/// A record in the making; its counters are the last ones of the snapshot.
struct Open<'a> {
    record: Record<'a>,
    job_id_line: &'a [u8],
    operations: u32,
    /// What follows cannot be trusted to be of this record.
    closed: bool,
}

struct Reader<'a> {
    targets: Vec<Target<'a>>,
    positions: HashMap<Option<TargetName<'a>>, usize>,
    /// The target that has begun and not ended.
    current: Option<usize>,
    /// Its record that has begun and not ended.
    open: Option<Open<'a>>,
    /// Problems outside of targets.
    problems: Vec<Problem<'a>>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn of(text: &'a [u8]) -> Result<Self, ReadError> {
        let mut reader = Self {
            targets: Vec::new(),
            positions: HashMap::new(),
            current: None,
            open: None,
            problems: Vec::new(),
            budget: Budget::of(text),
        };
        scan(text, &mut reader)?;
        Ok(reader)
    }

    /// A target that only an error message names is none.
    fn finish(mut self) -> Reading<'a> {
        for target in &mut self.targets {
            let problems = &mut target.snapshot.problems;
            problems.sort_unstable_by_key(|problem| (problem.line, problem.reason));
        }
        Reading {
            snapshots: self
                .targets
                .into_iter()
                .map(|target| target.snapshot)
                .filter(|snapshot| snapshot.observed || snapshot.cleanup_interval.is_some())
                .collect(),
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
        };
        push(&mut self.targets, target)?;
        Ok(position)
    }

    /// The target of this name; it is made if it is new.
    fn named(
        &mut self,
        name: Option<TargetName<'a>>,
        lines: Range<usize>,
    ) -> Result<&mut Snapshot<'a>, TryReserveError> {
        let position = self.position(name)?;
        let snapshot = &mut self.targets[position].snapshot;
        match snapshot.text.last_mut() {
            // A message can stand where a value was to come.
            Some(last) if lines.start <= last.end => {
                *last = last.start.min(lines.start)..lines.end.max(last.end);
            }
            _ => push(&mut snapshot.text, lines)?,
        }
        Ok(snapshot)
    }

    fn report(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), TryReserveError> {
        let mut target = self
            .current
            .and_then(|current| self.targets.get_mut(current));
        if let Some(target) = &mut target {
            target.snapshot.problems_found += 1;
        }
        let entry = self.open.as_ref().map(|open| open.record.id.clone());
        let problem = Problem {
            line,
            target: target.as_ref().and_then(|target| target.snapshot.target),
            entry,
            reason,
            text,
        };
        let problems = match target {
            Some(target) => &mut target.snapshot.problems,
            None => &mut self.problems,
        };
        self.budget.report(problem, problems)
    }

    fn hide_records(&mut self) {
        if let Some(target) = self
            .current
            .and_then(|current| self.targets.get_mut(current))
        {
            target.snapshot.complete = false;
        }
    }

    /// Why the counter cannot be used, if it cannot.
    fn add(
        &mut self,
        line: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<Option<Reason>, TryReserveError> {
        let (Some(current), Some(open)) = (self.current, self.open.as_mut()) else {
            return Ok(None);
        };
        let snapshot = &mut self.targets[current].snapshot;
        open.operations += 1;
        let listed = line.listed.and_then(|index| listed_slot(index, line.unit));
        let slot = match listed {
            Some(slot) => slot,
            None => match unlisted_slot(snapshot, line.operation, text)? {
                Ok(slot) => slot,
                Err(reason) => return Ok(Some(reason)),
            },
        };
        let begin = open.record.counters.start as usize;
        let own = &snapshot.counters[begin..];
        let is_duplicate = match listed {
            Some(slot) => open.record.has(slot),
            None => own.iter().any(|counter| counter.slot == slot),
        };
        if is_duplicate {
            open.closed = true;
            return Ok(Some(Reason::DuplicateOperation));
        }
        if listed.is_some() {
            open.record.present |= 1 << slot;
        }
        let (mut counter, histogram) = values(line, slot);
        if let Some(histogram) = histogram {
            counter.histogram = u32::try_from(snapshot.histograms.len()).ok();
            push(&mut snapshot.histograms, *histogram)?;
        }
        if listed.is_some() && counter.is_zero() {
            return Ok(None);
        }
        let place = match own.last() {
            Some(last) if last.slot > slot => own.partition_point(|own| own.slot < slot),
            _ => own.len(),
        };
        snapshot.counters.try_reserve(1)?;
        snapshot.counters.insert(begin + place, counter);
        Ok(None)
    }
}

/// The values of a line, and its histogram if that is not empty.
fn values<'c>(line: &CounterLine<'c>, slot: Slot) -> (Counter, Option<&'c [u64; HISTOGRAM_LEN]>) {
    let mut counter = Counter::zero(slot, line.unit);
    counter.samples = line.samples;
    let in_bytes = [operation::READ_BYTES, operation::WRITE_BYTES].contains(&usize::from(slot));
    if in_bytes && line.unit == Unit::Requests {
        return (counter, None);
    }
    counter.min = line.min.unwrap_or(0);
    counter.max = line.max.unwrap_or(0);
    counter.sum = line.sum.unwrap_or(0);
    counter.sumsq = line.sumsq.unwrap_or(0);
    let filled = |histogram: &&[u64; HISTOGRAM_LEN]| histogram.iter().any(|count| *count != 0);
    (counter, line.histogram.filter(filled))
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
        let Some(target) = self
            .current
            .take()
            .map(|current| &mut self.targets[current])
        else {
            return Ok(());
        };
        let [before, last] = target.operations;
        if last < before {
            target.snapshot.complete = false;
        }
        let name = target.snapshot.target;
        self.named(name, lines)?;
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

    fn record(
        &mut self,
        line: u32,
        id: Cow<'a, str>,
        text: &'a [u8],
    ) -> Result<(), TryReserveError> {
        let Some(target) = self.current.map(|current| &self.targets[current]) else {
            return Ok(());
        };
        let end = target.snapshot.counters.len() as u32;
        self.open = Some(Open {
            record: Record {
                id,
                line,
                snapshot_time: None,
                start_time: None,
                last_seen: None,
                present: 0,
                counters: end..end,
            },
            job_id_line: text,
            operations: 0,
            closed: false,
        });
        Ok(())
    }

    fn record_ends(&mut self) -> Result<(), TryReserveError> {
        if self.open.as_ref().is_some_and(|open| open.operations == 0) {
            self.hide_records();
            if let Some((line, text)) = self
                .open
                .as_ref()
                .map(|open| (open.record.line, open.job_id_line))
            {
                self.report(line, Reason::RecordWithoutCounters, text)?;
            }
            self.open = None;
        }
        let (Some(current), Some(open)) = (self.current, self.open.take()) else {
            return Ok(());
        };
        let target = &mut self.targets[current];
        let mut record = open.record;
        record.counters.end = target.snapshot.counters.len() as u32;
        target.operations = [target.operations[1], open.operations];
        push(&mut target.job_id_lines, open.job_id_line)?;
        push(&mut target.snapshot.records, record)
    }

    fn time(&mut self, _: u32, time: TimeLine) -> Result<(), TryReserveError> {
        if let Some(open) = &mut self.open {
            match time {
                TimeLine::Snapshot(time) => open.record.snapshot_time = Some(time),
                TimeLine::Start(time) => open.record.start_time = Some(time),
                TimeLine::LastSeen(micros) => open.record.last_seen = Some(micros),
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
        if self.open.as_ref().is_some_and(|open| open.closed) {
            return self.report(line, Reason::LineWithoutRecord, text);
        }
        match self.add(counter, text)? {
            None => Ok(()),
            Some(reason) => {
                if reason == Reason::DuplicateOperation {
                    self.hide_records();
                }
                self.report(line, reason, text)
            }
        }
    }

    fn problem(
        &mut self,
        line: u32,
        reason: Reason,
        text: &'a [u8],
    ) -> Result<(), TryReserveError> {
        if let (Some(open), true) = (&mut self.open, reason.rejects_counter()) {
            open.operations += 1;
        }
        self.report(line, reason, text)
    }

    fn may_hide_records(&mut self) -> Result<(), TryReserveError> {
        self.hide_records();
        Ok(())
    }
}

pub(super) fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}
