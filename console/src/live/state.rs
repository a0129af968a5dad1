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
#[derive(Debug, Clone, Copy)]
pub struct Scrape<'a> {
    pub server: &'a str,
    pub bytes: &'a [u8],
    /// The time at which each piece of the text arrived.
    pub arrivals: &'a [Arrival],
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
    #[error("the text names no target: print it with lctl get_param, without the option -n")]
    Nameless,
    #[error("its targets were printed by {0} too: is the same server read twice?")]
    Twice(Arc<str>),
    #[error("the text has no job_stats: the command should print lctl get_param '*.*.job_stats'")]
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
    pub fn take(&mut self, scrape: Scrape<'_>) -> Result<ScrapeParts, Error> {
        let contents = read(scrape.bytes, Pause::NEVER)?;
        let observed = || contents.snapshots.iter().filter(|it| it.observed);
        if observed().any(|it| it.target.is_none()) {
            return Err(Error::Nameless);
        }
        // A server may have targets without entries, which lctl omits since Lustre 2.17.
        if contents.snapshots.is_empty() {
            return Err(Error::Nothing);
        }
        let ids = observed().flat_map(|it| it.records.iter().map(|record| it.id(record)));
        if !self.names.has_formats() {
            self.names.learn(ids);
        }
        let server: Arc<str> = scrape.server.into();
        let parts = contents
            .snapshots
            .iter()
            .map(|it| part(it, scrape))
            .collect();
        let mut own = target_counters::read(&contents.others)?;
        let mut seen = Vec::new();
        let mut other = None;
        for snapshot in contents.snapshots.into_iter().filter(|it| it.observed) {
            match self.other_server(&snapshot) {
                Some(server) => other = Some(server),
                None => {
                    let name = snapshot.target.map(|target| target.shown());
                    let own = name.and_then(|name| own.remove(&name));
                    seen.extend(self.snapshot(snapshot, own, scrape, &server)?);
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

    /// Returns the server that has printed the same target in this round.
    fn other_server(&self, snapshot: &Snapshot<'_>) -> Option<Arc<str>> {
        let last = self.targets.get(snapshot.target?.shown().as_str())?;
        (last.round == self.round).then(|| Arc::clone(&last.server))
    }

    /// Takes a snapshot. Returns `None` if it names no target.
    fn snapshot(
        &mut self,
        snapshot: Snapshot<'_>,
        own: Option<TargetCounters<'_>>,
        scrape: Scrape<'_>,
        server: &Arc<str>,
    ) -> Result<Option<TargetSnapshot>, Error> {
        let Some(name) = snapshot.target else {
            return Ok(None);
        };
        let (kind, target): (_, Arc<str>) = (name.kind, name.shown().into());
        let time = time_of(&snapshot, scrape);
        let (entries, problems) = (snapshot.records.len() as u64, snapshot.problems_found);
        // After a backward clock step, comparison is impossible.
        let last = self.targets.remove(&target);
        let mut last = last.filter(|last| (1..FORGOTTEN).contains(&(time - last.time)));
        let last_own = last.as_mut().and_then(|last| last.own.take());
        let (own, grown) = target_counters::compare(last_own, own, time)?;
        let mut compared = compare_with(last.as_ref(), &snapshot, time, server, &mut self.names)?;
        if let Some((interval, grown)) = compared.interval.as_mut().zip(grown) {
            interval.counters = Some(target_counters::totals(&grown, &interval.work, kind));
        }
        let seen = TargetSnapshot {
            target: Arc::clone(&target),
            kind,
            server: Arc::clone(server),
            time,
            entries,
            problems: problems + compared.problems,
            interval: compared.interval,
        };
        let last = LastSnapshot {
            time,
            round: self.round,
            server: Arc::clone(server),
            cleanup_interval: compared.cleanup_interval,
            timed: compared.timed,
            carried: compared.carried,
            own,
            snapshot: keep(snapshot)?,
        };
        self.targets.insert(target, last);
        Ok(Some(seen))
    }
}

/// The result of comparing a snapshot with the previous one.
struct ComparedSnapshot {
    interval: Option<Interval>,
    carried: Snapshot<'static>,
    cleanup_interval: u32,
    timed: Option<bool>,
    problems: u64,
}

fn compare_with(
    last: Option<&LastSnapshot>,
    snapshot: &Snapshot<'_>,
    time: Micros,
    server: &str,
    names: &mut Names,
) -> Result<ComparedSnapshot, Error> {
    let timed = timed(snapshot).or(last.and_then(|last| last.timed));
    let seconds = cleanup_interval(Some(snapshot), last.map(|last| last.cleanup_interval));
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
    let since = last.map(|last| last.time);
    if let Some(since) = since {
        comparison.limit(time - since, MAX_RATE)?;
    }
    let interval = since.map(|since| interval(&comparison, (since, time), timed, names));
    Ok(ComparedSnapshot {
        interval,
        problems: comparison.problems_found,
        carried: keep(comparison.carried)?,
        cleanup_interval: seconds,
        timed,
    })
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

fn part(snapshot: &Snapshot<'_>, scrape: Scrape<'_>) -> ScrapePart {
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
fn arrival(scrape: Scrape<'_>, at: usize) -> Micros {
    let after = scrape
        .arrivals
        .partition_point(|arrival| arrival.from <= at);
    let arrival = scrape.arrivals.get(after.saturating_sub(1));
    arrival.map_or(0, |arrival| arrival.at)
}

/// Returns the time at which the first byte of the statistics arrived. The cleanup interval may have come before.
fn time_of(snapshot: &Snapshot<'_>, scrape: Scrape<'_>) -> Micros {
    let is_interval = |line: &[u8]| {
        let end = line.iter().position(|byte| b"=:".contains(byte));
        line[..end.unwrap_or(line.len())].ends_with(b".job_cleanup_interval")
    };
    // The lines of one target that follow each other are one range.
    let statistics = |range: &Range<usize>| {
        let mut from = range.start;
        let lines = scrape.bytes.get(range.clone()).unwrap_or_default();
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

/// Separates a snapshot from its text.
fn keep(snapshot: Snapshot<'_>) -> Result<Snapshot<'static>, ReadError> {
    Ok(snapshot.keep()?)
}

#[cfg(test)]
mod tests;
