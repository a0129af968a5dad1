//! The state of a run in accounting at a time, and the queries for it.

use strum::VariantArray;

use crate::jobs::{JobRecord, Phase, Query, Run, Scenario, Site};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};

/// The time after its start at which an administrator removes a runaway job from the scheduler's database.
const RUNAWAY_REMOVED: Nanos = 3 * DAY;
/// The length of the daily outage of accounting.
pub const OUTAGE: Nanos = 40 * MINUTE;
/// The overlap of the windows of two queries.
const OVERLAP: Nanos = 15 * MINUTE;
/// The time of day of a query about three days.
const NIGHTLY: Nanos = 2 * HOUR + 30 * MINUTE + 30 * SECOND;
/// The length of the window of such a query.
const NIGHTLY_WINDOW: Nanos = 3 * DAY;

impl Site {
    /// Returns the daily outage of accounting, after which it receives everything at once.
    pub fn outage(&self, cluster: usize, day: i64) -> Span {
        let seed = self.seed.of("outage", &[cluster as i64, day]);
        let minute = seed.below(60) as Nanos;
        Span::new(day * DAY + 22 * HOUR + minute * MINUTE, OUTAGE)
    }

    /// Returns the time at which accounting learns of an event.
    pub fn learns(&self, cluster: usize, happened: Nanos) -> Nanos {
        let outage = self.outage(cluster, happened.div_euclid(DAY));
        let is_late = self.disturbed && outage.contains(happened);
        if is_late { outage.until } else { happened }
    }

    /// Returns the time at which accounting learns that a run came to a phase, if it ever does.
    fn learned(&self, run: &Run, phase: Phase) -> Option<Nanos> {
        let happened = match phase {
            Phase::Pending => run.submitted,
            Phase::Running => run.started?,
            Phase::Ended if run.scenario == Scenario::Runaway => return None,
            Phase::Ended => run.ended,
        };
        Some(self.learns(run.cluster, happened))
    }

    /// Returns the phase in which accounting sees a run at a time; `None` before its submission and after its removal.
    pub fn phase(&self, run: &Run, time: Nanos) -> Option<Phase> {
        let removed = run.started.map(|started| started + RUNAWAY_REMOVED);
        if run.scenario == Scenario::Runaway && removed.is_some_and(|removed| removed <= time) {
            return None;
        }
        last_phase(|phase| {
            self.learned(run, phase)
                .is_some_and(|learned| learned <= time)
        })
    }

    /// Returns the phase in which the text of a query shows a run; `None` if the text does not have the run.
    pub fn shows(&self, run: &Run, query: Query) -> Option<Phase> {
        let is_file = self.scheduler.is_file;
        let lives_on = run.scenario == Scenario::Runaway && !is_file;
        if run.submitted > query.time || (run.ended + OUTAGE < query.since && !lives_on) {
            return None;
        }
        if is_file {
            let written = |phase| self.written(run, phase);
            return last_phase(|phase| written(phase).is_some_and(|time| query.contains(time)));
        }
        let lists_all = self.scheduler.lists_all;
        self.phase(run, query.time).filter(|phase| match phase {
            Phase::Pending => lists_all,
            Phase::Running => true,
            Phase::Ended => (run.started.is_some() || lists_all) && run.ended >= query.since,
        })
    }

    /// Returns the time at which the scheduler's file gets a line about a phase of a run; `None` if it gets no line.
    pub fn written(&self, run: &Run, phase: Phase) -> Option<Nanos> {
        let has_line = (self.scheduler.has_line)(run, phase);
        self.learned(run, phase).filter(|_| has_line)
    }

    /// Returns the runs in the answer to a query; for a file in the order of its lines.
    pub fn shown<'a>(&'a self, query: Query, runs: &'a [Run]) -> Vec<JobRecord<'a>> {
        let shown = |run| {
            Some(JobRecord {
                site: self,
                run,
                phase: self.shows(run, query)?,
                has_submission: false,
            })
        };
        let mut shown: Vec<_> = runs.iter().filter_map(shown).collect();
        if self.scheduler.is_file {
            shown.sort_by_key(|shown| (self.written(shown.run, shown.phase), shown.run.number));
        }
        shown
    }

    /// Returns the queries of a span in the order of time: usually every five minutes about the last 20 minutes, or for a file about the
    /// time since the previous query; and every night one about three days. The daily gap has no query.
    pub fn queries(&self, span: Span, nightly: bool) -> Vec<Query> {
        let every = self.every;
        let mut before = span.from;
        let mut queries = Vec::new();
        let numbers = span.from.div_euclid(every) + 1..=span.until.div_euclid(every);
        for time in numbers.map(|number| number * every) {
            if self.disturbed && self.gap(time.div_euclid(DAY)).contains(time) {
                continue;
            }
            let (is_file, earlier) = (self.scheduler.is_file, time - every - OVERLAP);
            let since = if is_file { before } else { earlier };
            queries.push(Query { time, since });
            before = time;
        }
        let nights = span.days().map(|day| day * DAY + NIGHTLY);
        let nights = nights.filter(|time| nightly && (span.from..=span.until).contains(time));
        queries.extend(nights.map(|time| Query {
            time,
            since: time - NIGHTLY_WINDOW,
        }));
        queries.sort();
        queries
    }
}

/// Returns the last phase that satisfies the condition.
fn last_phase(is_so: impl Fn(Phase) -> bool) -> Option<Phase> {
    let mut phases = Phase::VARIANTS.iter().rev().copied();
    phases.find(|phase| is_so(*phase))
}
