//! Follows targets from snapshot to snapshot: compares each snapshot with the previous one, by the rules of `docs/rules.md`.

use std::collections::{HashMap, TryReserveError};
use std::ops::Range;
use std::sync::Arc;

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::base::operation::{Kind, OPERATIONS};
use jobstats_core::base::pause::Pause;
use jobstats_core::base::target::TargetKind;
use jobstats_core::identity::entry_id::FormatError;
use jobstats_core::rules::increment::{
    Column, Comparison, Increment, MAX_RATE, Observation, compare, share,
};
use jobstats_core::rules::snapshot::{ReadError, Snapshot, cleanup_interval, read};
use jobstats_core::text::job_stats::Unit;
use jobstats_core::usage::times::calls_have_times;

use crate::live::interval::{EntryUsage, Interval, TargetSnapshot};
use crate::live::owner::Names;
use crate::live::state::target_counters::{LastCounters, TargetCounters};
use crate::live::user_names::UserNames;

mod target_counters;

/// The time after which the last snapshot of a target is too old to be compared with.
const FORGOTTEN: Micros = 2 * DAY;

/// The text of a server, as it was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scrape {
    pub text: Vec<u8>,
    /// The time at which each piece of the text arrived.
    pub arrivals: Vec<Arrival>,
}

/// The arrival of a piece of a scrape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The position of its first byte.
    pub from: usize,
    pub at: Micros,
}

/// A scrape by target.
#[derive(Debug, Clone, PartialEq)]
pub struct ScrapeParts {
    pub snapshots: Vec<TargetSnapshot>,
    pub parts: Vec<ScrapePart>,
}

/// The part of a scrape that belongs to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrapePart {
    /// The name of the target with its kind, such as `mdt.scratch-MDT0000`; `None` for text without a name.
    pub name: Option<String>,
    /// The time at which the statistics began to arrive.
    pub time: Micros,
    /// The time at which the last byte arrived.
    pub until: Micros,
    /// The places of its lines in the text.
    pub ranges: Vec<Range<usize>>,
}

/// An error that makes a scrape useless.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Memory(#[from] TryReserveError),
    #[error("the output names no target: use lctl get_param without -n")]
    Nameless,
    #[error("{0} printed the same targets: is a server read twice?")]
    Twice(Arc<str>),
    #[error("the output has no job_stats: the command must run lctl get_param '*.*.job_stats'")]
    Nothing,
}

/// The last snapshot of a target.
struct LastSnapshot {
    time: Micros,
    /// The number of the round.
    round: u64,
    server: Arc<str>,
    snapshot: Snapshot<'static>,
    carried: Snapshot<'static>,
    own: Option<LastCounters>,
    cleanup_interval: u32,
    timed: Option<bool>,
}

/// The targets seen so far.
pub struct Tracker {
    targets: HashMap<Arc<str>, LastSnapshot>,
    names: Names,
    /// The number of the current round.
    round: u64,
}

impl Tracker {
    /// Starts without snapshots. Without `formats` of entry IDs, they are guessed. Known users show which number is the user.
    pub fn new(formats: &[String], users: UserNames) -> Result<Self, FormatError> {
        Ok(Self {
            targets: HashMap::new(),
            names: Names::new(formats, users)?,
            round: 0,
        })
    }

    /// Begins a round, in which each target has one snapshot.
    pub fn begin(&mut self) {
        self.round += 1;
        self.names.doubt.clear();
    }

    /// Returns what a person should know of the readings of this round.
    pub fn notes(&self) -> Vec<String> {
        self.names.doubt.clone()
    }

    /// Forgets the snapshots, so that the next one of each target is its first again.
    pub fn restart(&mut self) {
        self.targets.clear();
    }

    /// Takes a scrape, and returns the usage of its targets since their previous snapshots. Fails if it has no statistics of a target.
    pub fn take(&mut self, server: &str, scrape: &Scrape) -> Result<ScrapeParts, Error> {
        let contents = read(&scrape.text, Pause::NEVER)?;
        let observed = || contents.snapshots.iter().filter(|it| it.observed);
        if observed().any(|it| it.target.is_none()) {
            return Err(Error::Nameless);
        }
        // A server may have targets without entries, which lctl omits since Lustre 2.17.
        if contents.snapshots.is_empty() {
            return Err(Error::Nothing);
        }
        let ids = observed().flat_map(|it| it.records.iter().map(|record| it.id(record)));
        if self.names.formats.is_none() {
            self.names.learn(ids);
        }
        let server: Arc<str> = server.into();
        let parts = contents
            .snapshots
            .iter()
            .map(|it| part(it, scrape))
            .collect();
        let mut own = target_counters::read(&contents.others)?;
        let mut seen = Vec::new();
        let mut other = None;
        let named = contents.snapshots.into_iter().filter(|it| it.observed);
        for (name, snapshot) in named.filter_map(|it| Some((it.target?, it))) {
            let target: Arc<str> = name.shown().into();
            match self.targets.get(&target) {
                // The server has printed the same target in this round.
                Some(last) if last.round == self.round => other = Some(Arc::clone(&last.server)),
                _ => {
                    let own = own.remove(&*target);
                    let time = time_of(&snapshot, scrape);
                    seen.push(self.snapshot(snapshot, own, (target, name.kind), time, &server)?);
                }
            }
        }
        match other {
            Some(other) if seen.is_empty() => Err(Error::Twice(other)),
            _ => Ok(ScrapeParts {
                snapshots: seen,
                parts,
            }),
        }
    }

    /// Takes a snapshot of a target.
    fn snapshot(
        &mut self,
        snapshot: Snapshot<'_>,
        own: Option<TargetCounters<'_>>,
        (target, kind): (Arc<str>, TargetKind),
        time: Micros,
        server: &Arc<str>,
    ) -> Result<TargetSnapshot, Error> {
        let (entries, problems) = (snapshot.records.len() as u64, snapshot.problems_found);
        // After a backward clock step, comparison is impossible.
        let last = self.targets.remove(&target);
        let mut last = last.filter(|last| (1..FORGOTTEN).contains(&(time - last.time)));
        let last_own = last.as_mut().and_then(|last| last.own.take());
        let (own, grown) = target_counters::compare(last_own, own, time)?;
        let last = last.as_ref();
        let timed = timed(&snapshot).or(last.and_then(|last| last.timed));
        let before = last.map(|last| last.cleanup_interval);
        let cleanup_interval = cleanup_interval(Some(&snapshot), before);
        let comparison = compared(last, &snapshot, (time, server), cleanup_interval)?;
        let problems = problems + comparison.problems_found;
        let mut interval =
            last.map(|last| interval(&comparison, (last.time, time), timed, &mut self.names));
        if let Some((interval, grown)) = interval.as_mut().zip(grown) {
            interval.counters = Some(target_counters::totals(&grown, &interval.work, kind));
        }
        let next = LastSnapshot {
            time,
            round: self.round,
            server: Arc::clone(server),
            cleanup_interval,
            timed,
            carried: comparison.carried.keep().map_err(ReadError::from)?,
            own,
            snapshot: snapshot.keep().map_err(ReadError::from)?,
        };
        self.targets.insert(Arc::clone(&target), next);
        Ok(TargetSnapshot {
            target,
            kind,
            server: Arc::clone(server),
            time,
            entries,
            problems,
            interval,
        })
    }
}

/// Compares a snapshot with the last one, if there is one.
fn compared<'s>(
    last: Option<&'s LastSnapshot>,
    snapshot: &'s Snapshot<'s>,
    (time, server): (Micros, &'s str),
    seconds: u32,
) -> Result<Comparison<'s>, Error> {
    let next = Observation {
        time,
        server,
        snapshot: Some(snapshot),
        carried: None,
    };
    let previous = last.map(|last| Observation {
        time: last.time,
        server: &last.server,
        snapshot: Some(&last.snapshot),
        carried: Some(&last.carried),
    });
    let mut comparison = compare(previous.as_ref(), &next, seconds, Pause::NEVER)?;
    if let Some(last) = last {
        comparison.limit(time - last.time, MAX_RATE)?;
    }
    Ok(comparison)
}

fn interval(
    comparison: &Comparison<'_>,
    (since, until): (Micros, Micros),
    timed: Option<bool>,
    names: &mut Names,
) -> Interval {
    let increments = comparison.increments.iter();
    let work = increments.map(|increment| (increment.id, totals(increment, since)));
    let work: Vec<_> = work.filter(|(_, totals)| !totals.is_empty()).collect();
    names.learn(work.iter().map(|(id, _)| *id));
    let work = work.into_iter().map(|(id, totals)| EntryUsage {
        owner: names.owner(id),
        totals,
    });
    Interval {
        since,
        until,
        timed,
        work: work.collect(),
        counters: None,
        added: comparison.added,
        resets: comparison.resets,
        removed: comparison.removed,
    }
}

/// Returns the part of the totals that belongs to the time after `since`. Only entries that the previous snapshot lacked have
/// increments that begin earlier.
fn totals(increment: &Increment<'_>, since: Micros) -> Vec<(Column, i64)> {
    if increment.since >= since {
        return increment.totals.clone();
    }
    let (begin, end) = (increment.since, increment.time);
    let totals = increment.totals.iter();
    let totals = totals.map(|(column, total)| (*column, share(*total, begin, end, since, end)));
    totals.filter(|(_, total)| *total > 0).collect()
}

/// Returns whether the counters have times; `None` if no counter shows it.
fn timed(snapshot: &Snapshot<'_>) -> Option<bool> {
    let counters = snapshot.records.iter();
    let counters = counters.flat_map(|record| snapshot.counters_of(record));
    calls_have_times(counters.filter_map(|counter| {
        let operation = OPERATIONS.get(usize::from(counter.slot))?;
        match (operation.kind, counter.unit) {
            (Kind::Requests, Unit::Microseconds) => Some(true),
            (Kind::Requests, Unit::Requests) if counter.samples > 0 => Some(false),
            _ => None,
        }
    }))
}

fn part(snapshot: &Snapshot<'_>, scrape: &Scrape) -> ScrapePart {
    let kind = |kind| match kind {
        TargetKind::Mdt => "mdt",
        TargetKind::Ost => "obdfilter",
    };
    let name = snapshot.target;
    let end = snapshot.text.last();
    let end = end.map_or(0, |range| range.end.saturating_sub(1));
    ScrapePart {
        name: name.map(|name| format!("{}.{}", kind(name.kind), name.shown())),
        time: time_of(snapshot, scrape),
        until: arrival(scrape, end),
        ranges: snapshot.text.clone(),
    }
}

/// Returns the time at which the byte at this position arrived.
fn arrival(scrape: &Scrape, at: usize) -> Micros {
    let mut arrivals = scrape.arrivals.iter();
    let arrival = arrivals.rfind(|arrival| arrival.from <= at);
    arrival.map_or(0, |arrival| arrival.at)
}

/// Returns the time at which the first byte of the statistics arrived. The cleanup interval may have come before.
fn time_of(snapshot: &Snapshot<'_>, scrape: &Scrape) -> Micros {
    let is_interval = |line: &[u8]| {
        let end = line.iter().position(|byte| b"=:".contains(byte));
        line[..end.unwrap_or(line.len())].ends_with(b".job_cleanup_interval")
    };
    // The lines of one target that follow each other are one range.
    let statistics = |range: &Range<usize>| {
        let mut from = range.start;
        let lines = scrape.text.get(range.clone()).unwrap_or_default();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if !is_interval(line) {
                return Some(from);
            }
            from += line.len();
        }
        None
    };
    let first = snapshot.text.iter().find_map(statistics);
    arrival(scrape, first.unwrap_or(0))
}

#[cfg(test)]
mod tests;
