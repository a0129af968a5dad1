//! Judges what can be known about the work under an identifier: the same rules that a reader of accounting must follow, made
//! a second time, and beside them the truth.

use std::collections::BTreeMap;
use std::collections::HashMap;

use serde::Serialize;

use crate::time::{DAY, MINUTE, Nanos};
use crate::world::schedule::Span;

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::jobs::job::Run;
use crate::jobs::work::{Doing, Seen, Work};
use crate::jobs::{CLUSTERS, LONGEST_LIFE, Site};

/// A job may work so long before its start, in the prolog.
const EARLY: Nanos = 2 * MINUTE;
/// The work of a job may be seen so long after its end: the cleanup interval, and an interval between readings.
const LATE: Nanos = 10 * MINUTE + 5 * MINUTE;
/// A running job that no text has named for so long was lost when last named.
const LOST: Nanos = 2 * DAY;
/// The largest number of a system user is below this.
const SYSTEM: u32 = 1_000;

/// The texts that were taken, and what they say in the end.
pub struct Accounting<'a> {
    pub(super) site: &'a Site,
    pub(super) runs: &'a [Run],
    pub(super) span: Span,
    /// The last call that shows each run, and the stage at which it does.
    pub(super) last: Vec<Option<(Call, Phase)>>,
    /// The runs that the texts have, by job.
    known: HashMap<String, Vec<Known<'a>>>,
    /// The spans that the texts cover, in order.
    pub(super) covered: Vec<(Nanos, Nanos)>,
}

/// A run as the texts have it.
#[derive(Clone, Copy)]
struct Known<'a> {
    run: &'a Run,
    started: Nanos,
    /// The end, or a time after everything.
    ended: Nanos,
}

/// The most that can be known about the work under an identifier on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The job.
    Known,
    /// The job, from an identifier of which only the job is left.
    Partial,
    /// Several jobs with different owners, of which nobody can tell which it was.
    Ambiguous,
    /// The texts have one job that fits, but work of another owner is under the identifier too, or instead. Nobody can
    /// know: there are two clusters, the identifier tells neither node nor user, and no text has the other job.
    Misleading,
    /// The job was over long before.
    Stale,
    /// Accounting was read for this time, and has no such job.
    Unconfirmed,
    /// Accounting was not read for this time, and has no such job.
    Uncovered,
    /// The identifier has no job.
    None,
}

/// The answer that a reader must give. The scheduler is null if jobs of the same owner on two clusters fit.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Answer<'a> {
    /// The cluster.
    pub scheduler: Option<&'static str>,
    /// The job as `job_stats` shows it.
    pub job: String,
    /// The number of the owner.
    pub uid: u32,
    /// The name of the owner.
    pub user_name: &'a str,
}

/// The work under an identifier on a UTC day.
pub struct Entry<'a> {
    /// The time of the first and of the last work at most.
    pub first: Nanos,
    /// The time of the last work.
    pub last: Nanos,
    /// The pieces of work, each with its run.
    pub works: Vec<(&'a Run, Work)>,
}

impl<'a> Accounting<'a> {
    /// Collects what the texts of the calls to each cluster say about the runs. The span is that of the calls.
    pub fn new(site: &'a Site, runs: &'a [Run], calls: &[Call], span: Span) -> Self {
        let last: Vec<_> = runs
            .iter()
            .map(|run| last_shown(site, run, calls))
            .collect();
        let end = calls.last().map_or(span.until, |call| call.time);
        let mut known: HashMap<String, Vec<Known>> = HashMap::new();
        for (run, last) in runs.iter().zip(&last) {
            let (Some((call, phase)), Some(started)) = (last, run.started) else {
                continue;
            };
            let ended = match phase {
                Phase::Pending => continue,
                Phase::Ended => run.ended,
                Phase::Running if end - call.time > LOST => call.time,
                Phase::Running => Nanos::MAX - LATE,
            };
            let runs = known.entry(run.job(site)).or_default();
            runs.push(Known {
                run,
                started,
                ended,
            });
        }
        Self {
            site,
            runs,
            span,
            last,
            known,
            covered: covered(calls),
        }
    }

    /// Returns the work of each identifier on each day of the span.
    pub fn entries(&self) -> BTreeMap<(Vec<u8>, i64), Entry<'a>> {
        let mut entries: BTreeMap<(Vec<u8>, i64), Entry> = BTreeMap::new();
        for run in self.runs {
            for work in self.site.work(run) {
                let (from, until) = (
                    work.from.max(self.span.from),
                    work.until.min(self.span.until),
                );
                if from >= until {
                    continue;
                }
                for day in from.div_euclid(DAY)..=(until - 1).div_euclid(DAY) {
                    let first = from.max(day * DAY);
                    let last = until.min((day + 1) * DAY);
                    let entry = entries.entry((work.id.clone(), day)).or_insert(Entry {
                        first,
                        last,
                        works: Vec::new(),
                    });
                    entry.first = entry.first.min(first);
                    entry.last = entry.last.max(last);
                    entry.works.push((run, work.clone()));
                }
            }
        }
        entries
    }

    /// Returns what can be known about the work under an identifier on a day, by the rules of the match: candidates are
    /// the runs of that job, on a cluster with that node, of that user unless it is a system user, which the work touches;
    /// those whose own time it touches go first.
    pub fn judge(&self, entry: &Entry<'a>) -> (Status, Option<Answer<'a>>) {
        let Some((run, work)) = entry.works.first() else {
            return (Status::None, None);
        };
        if !work.seen.job {
            return (Status::None, None);
        }
        let job = run.job(self.site);
        let all = self.known.get(&job).map_or(&[][..], Vec::as_slice);
        let fitting: Vec<&Known> = all
            .iter()
            .filter(|known| self.fits(known, run, work))
            .collect();
        let touching = |early: Nanos, late: Nanos| -> Vec<&Run> {
            let touch = |known: &&&Known| {
                known.started - early <= entry.last && entry.first <= known.ended + late
            };
            fitting
                .iter()
                .filter(touch)
                .map(|known| known.run)
                .collect()
        };
        let mut candidates = touching(0, 0);
        if candidates.is_empty() {
            candidates = touching(EARLY, LATE);
        }
        match candidates[..] {
            [] => (self.without_candidate(entry, &fitting), None),
            [first, ref others @ ..] => {
                if others.iter().any(|other| other.person != first.person) {
                    return (Status::Ambiguous, None);
                }
                if entry
                    .works
                    .iter()
                    .any(|(run, _)| run.person != first.person)
                {
                    return (Status::Misleading, None);
                }
                let status = match work.doing {
                    Doing::Damaged => Status::Partial,
                    _ => Status::Known,
                };
                let alone = others.iter().all(|other| other.cluster == first.cluster);
                let owner = first.owner(self.site);
                let answer = Answer {
                    scheduler: alone.then_some(CLUSTERS[first.cluster]),
                    job,
                    uid: owner.uid,
                    user_name: &owner.name,
                };
                (status, Some(answer))
            }
        }
    }

    fn fits(&self, known: &Known, run: &Run, work: &Work) -> bool {
        let Seen { uid, node, .. } = work.seen;
        let cluster = !node || known.run.cluster == run.cluster;
        let user = !uid || work.uid < SYSTEM || known.run.owner(self.site).uid == work.uid;
        cluster && user
    }

    fn without_candidate(&self, entry: &Entry, fitting: &[&Known]) -> Status {
        let over =
            |known: &&Known| known.ended < entry.first && entry.first - known.ended < 7 * DAY;
        let covers = |(from, until): &(Nanos, Nanos)| *from <= entry.first && entry.last <= *until;
        if fitting.iter().any(over) {
            Status::Stale
        } else if self.covered.iter().any(covers) {
            Status::Unconfirmed
        } else {
            Status::Uncovered
        }
    }
}

/// Returns what the texts of the calls say last about a run, and the call that says it.
fn last_shown(site: &Site, run: &Run, calls: &[Call]) -> Option<(Call, Phase)> {
    let first = calls.partition_point(|call| call.time < run.submitted);
    let latest = run.ended.max(run.submitted + LONGEST_LIFE) + LONGEST_LIFE + DAY;
    let end = calls.partition_point(|call| call.time <= latest);
    let calls = calls.get(first..end)?;
    let shown = |call: &Call| site.shows(run, *call).map(|phase| (*call, phase));
    calls.iter().rev().find_map(shown)
}

/// Returns the spans that calls cover, joined.
fn covered(calls: &[Call]) -> Vec<(Nanos, Nanos)> {
    let mut windows: Vec<_> = calls.iter().map(|call| (call.since, call.time)).collect();
    windows.sort_unstable();
    let mut covered: Vec<(Nanos, Nanos)> = Vec::new();
    for (since, time) in windows {
        match covered.last_mut() {
            Some(last) if since <= last.1 => last.1 = last.1.max(time),
            _ => covered.push((since, time)),
        }
    }
    covered
}
