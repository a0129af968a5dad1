//! Attributes identifiers to jobs: a second implementation of the rules that a reader of accounting must follow, and the truth.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::jobs::{Activity, CLUSTERS, LONGEST_LIFE, Origin, Phase, Query, Run, Seen, Site};
use crate::time::{DAY, MINUTE, Nanos, Span};

/// A job may work so long before its start, in the prolog.
const EARLY: Nanos = 2 * MINUTE;
/// The work of a job may be seen so long after its end: the cleanup interval, and an interval between readings.
const LATE: Nanos = 10 * MINUTE + 5 * MINUTE;
/// A running job that no text has named for so long was lost when last named.
const LOST: Nanos = 2 * DAY;
/// The largest number of a system user is below this.
const SYSTEM: u32 = 1_000;

/// The runs of a site as the texts of queries show them in the end.
pub struct Attribution<'a> {
    pub(super) site: &'a Site,
    pub(super) runs: &'a [Run],
    pub(super) span: Span,
    /// The last query that shows each run, and the stage at which it does.
    pub(super) last: Vec<Option<(Query, Phase)>>,
    /// The runs that the texts have, by job.
    by_job: HashMap<String, Vec<AccountedRun<'a>>>,
    /// The windows of all queries, joined, in order. A query has its end, but not its start.
    pub(super) covered: Vec<Span>,
}

/// A run as the texts have it.
struct AccountedRun<'a> {
    run: &'a Run,
    started: Nanos,
    /// The end, or a time after everything.
    ended: Nanos,
}

impl AccountedRun<'_> {
    /// Returns true if work from the first to the last time touches the run, which may work a while before and after itself.
    fn touches(&self, entry: &Entry, early: Nanos, late: Nanos) -> bool {
        self.started - early <= entry.last && entry.first <= self.ended + late
    }
}

/// The most that can be known about the work under an identifier on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The job.
    Known,
    /// The job, from an identifier of which only the job is left.
    Partial,
    /// Several jobs with different owners, which cannot be distinguished.
    Ambiguous,
    /// One job in the texts fits, but the identifier also, or only, has requests of another owner. This cannot be detected: there are two
    /// clusters, the identifier has neither node nor user, and no text has the other job.
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
    pub scheduler: Option<&'static str>,
    pub job: String,
    pub user_name: &'a str,
}

/// The work under an identifier on a UTC day.
pub struct Entry<'a> {
    /// The time of the first and of the last work at most.
    pub first: Nanos,
    pub last: Nanos,
    /// The activities, each with its run.
    pub activities: Vec<(&'a Run, Activity)>,
}

impl<'a> Attribution<'a> {
    /// Collects the runs in the answers to the queries of each cluster. The span is the span of the queries.
    pub fn new(site: &'a Site, runs: &'a [Run], queries: &[Query], span: Span) -> Self {
        let last = runs.iter().map(|run| last_shown(site, run, queries));
        let last: Vec<_> = last.collect();
        let end = queries.last().map_or(span.until, |query| query.time);
        let mut by_job: HashMap<String, Vec<AccountedRun>> = HashMap::new();
        for (run, last) in runs.iter().zip(&last) {
            let (Some((query, phase)), Some(started)) = (last, run.started) else {
                continue;
            };
            let ended = match phase {
                Phase::Pending => continue,
                Phase::Ended => run.ended,
                Phase::Running if end - query.time > LOST => query.time,
                Phase::Running => Nanos::MAX - LATE,
            };
            let runs = by_job.entry(run.job(site)).or_default();
            runs.push(AccountedRun {
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
            by_job,
            covered: covered(queries),
        }
    }

    /// Returns the work of each identifier on each day of the span.
    pub fn entries(&self) -> BTreeMap<(Vec<u8>, i64), Entry<'a>> {
        let mut entries: BTreeMap<(Vec<u8>, i64), Entry> = BTreeMap::new();
        for run in self.runs {
            for activity in self.site.activities(run) {
                let Some(active) = activity.span.overlap(self.span) else {
                    continue;
                };
                for day in active.days() {
                    let Some(Span { from, until }) = active.overlap(Span::day(day)) else {
                        continue;
                    };
                    let key = (activity.id.clone(), day);
                    let entry = entries.entry(key).or_insert(Entry {
                        first: from,
                        last: until,
                        activities: Vec::new(),
                    });
                    entry.first = entry.first.min(from);
                    entry.last = entry.last.max(until);
                    entry.activities.push((run, activity.clone()));
                }
            }
        }
        entries
    }

    /// Returns the best possible attribution of an identifier on a day, by the rules of the match: candidates are the runs of that job, on
    /// a cluster with that node, of that user unless it is a system user, whose extended time overlaps the requests; runs whose exact time
    /// overlaps are preferred.
    pub fn attribute(&self, entry: &Entry<'a>) -> (Status, Option<Answer<'a>>) {
        let Some((run, activity)) = entry.activities.first() else {
            return (Status::None, None);
        };
        if !activity.seen.job {
            return (Status::None, None);
        }
        let job = run.job(self.site);
        let mut fitting = self
            .by_job
            .get(&job)
            .map_or(Vec::new(), |all| all.iter().collect());
        fitting.retain(|accounted| self.fits(accounted, run, activity));
        let touching = |early, late| {
            let all = fitting.iter().copied();
            let touching = all.filter(|accounted| accounted.touches(entry, early, late));
            touching.map(|accounted| accounted.run).collect::<Vec<_>>()
        };
        let mut candidates = touching(0, 0);
        if candidates.is_empty() {
            candidates = touching(EARLY, LATE);
        }
        let [first, others @ ..] = &candidates[..] else {
            return (self.without_candidate(entry, &fitting), None);
        };
        let is_other = |run: &Run| run.person != first.person;
        if others.iter().any(|run| is_other(run)) {
            return (Status::Ambiguous, None);
        }
        if entry.activities.iter().any(|(run, _)| is_other(run)) {
            return (Status::Misleading, None);
        }
        let status = match activity.origin {
            Origin::Damaged => Status::Partial,
            _ => Status::Known,
        };
        let alone = others.iter().all(|other| other.cluster == first.cluster);
        let answer = Answer {
            scheduler: alone.then_some(CLUSTERS[first.cluster]),
            job,
            user_name: &first.owner(self.site).name,
        };
        (status, Some(answer))
    }

    fn fits(&self, accounted: &AccountedRun, run: &Run, activity: &Activity) -> bool {
        let Seen { uid, node, .. } = activity.seen;
        let owner = accounted.run.owner(self.site);
        let cluster = !node || accounted.run.cluster == run.cluster;
        let user = !uid || activity.uid < SYSTEM || owner.uid == activity.uid;
        cluster && user
    }

    fn without_candidate(&self, entry: &Entry, fitting: &[&AccountedRun]) -> Status {
        let over = |accounted: &&AccountedRun| {
            accounted.ended < entry.first && entry.first - accounted.ended < 7 * DAY
        };
        let covers = |span: &Span| span.from <= entry.first && entry.last <= span.until;
        if fitting.iter().any(over) {
            Status::Stale
        } else if self.covered.iter().any(covers) {
            Status::Unconfirmed
        } else {
            Status::Uncovered
        }
    }
}

/// Returns the last query that shows a run, and the stage at which it does.
fn last_shown(site: &Site, run: &Run, queries: &[Query]) -> Option<(Query, Phase)> {
    let first = queries.partition_point(|query| query.time < run.submitted);
    let latest = run.ended.max(run.submitted + LONGEST_LIFE) + LONGEST_LIFE + DAY;
    let end = queries.partition_point(|query| query.time <= latest);
    let shown = |query: &Query| site.shows(run, *query).map(|phase| (*query, phase));
    queries.get(first..end)?.iter().rev().find_map(shown)
}

/// Returns the windows of queries, joined.
fn covered(queries: &[Query]) -> Vec<Span> {
    let windows = queries.iter().map(|query| Span {
        from: query.since,
        until: query.time,
    });
    let mut windows: Vec<_> = windows.collect();
    windows.sort_unstable();
    windows.dedup_by(|next, span| {
        let joined = next.from <= span.until;
        if joined {
            span.until = span.until.max(next.until);
        }
        joined
    });
    windows
}
