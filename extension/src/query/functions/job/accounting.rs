//! The accounting of a job: its runs, and the values on which all of them agree.

use std::collections::BTreeSet;

use jobstats_core::accounting::matching::APART;
use jobstats_core::base::instant::{DAY, MINUTE, Micros, Span};
use pgrx::datum::Interval;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Row, Statements, values};
use crate::pg::template::sql;
use crate::pg::time::clock_now;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::named::NamedJob;
use crate::query::functions::job::time::{Limits, RequestedTime, span_of_job};
use crate::query::notice::{NAMED, distinct, hinted, listed};
use crate::store::rights::caller::{OWN_FIRST, after_own, seen};

/// The largest number of runs of a number that are read. The oldest ones are left out.
const RUNS_MAX: i64 = 10_000;

/// The memory that a run takes.
const RUN_BYTES: usize = 4 << 10;

/// The time before the start and after the end of a job in which its work may be seen.
const NEAR: Micros = 20 * MINUTE;

/// The accounting of a job.
#[derive(Default)]
pub struct Accounting {
    /// Set if accounting knows the job, or of its number an earlier one.
    pub is_known: bool,
    /// The runs in the order of their starts. Runs that have not begun come last.
    runs: Vec<Run>,
    /// The values of all runs together.
    pub together: Run,
    /// The time up to which the work of a running job is known.
    observed: Micros,
    /// The number of jobs, which had the number at different times.
    jobs: usize,
    /// The times between which no other job had the number; `None` where no other job ever had it.
    pub limits: Limits,
    /// Set if usage outside of these times must not be shown, whatever the arguments are.
    is_strict: bool,
}

/// A run of a job, or all runs together. A value on which the runs do not agree is `None`.
#[derive(Clone, Default)]
pub struct Run {
    /// The texts of [`TEXTS`].
    pub texts: [Option<String>; 6],
    /// The state and the exit code: for all runs together, the last run's.
    pub result: [Option<String>; 2],
    pub submitted: Option<Micros>,
    pub started: Option<Micros>,
    pub ended: Option<Micros>,
    /// The run time: for all runs together, the sum.
    pub run_time: Option<Micros>,
    /// The number of nodes: for all runs together, the last run's.
    pub nodes: Option<i64>,
    pub cpus: Option<i64>,
}

/// The columns of texts on which runs may agree.
const TEXTS: [&str; 6] = [
    "scheduler",
    "label",
    "user_name",
    "account",
    "partition",
    "job_name",
];
/// The store's names of users take precedence over the scheduler's.
const COLUMNS: &str = "coalesce(person.user_name, run.user_name) AS user_name, run.account, run.\"partition\", run.job_name, \
    run.state, run.exit_code, run.submitted, run.cpus";
const NEWEST_FIRST: &str = "run.job = ANY ($3) ORDER BY run.started DESC NULLS FIRST, run.scheduler DESC, run.label DESC LIMIT $4";
const SCHEDULER: usize = 0;
const USER: usize = 2;

impl Accounting {
    /// Returns the accounting of a job: of the requested time, else of the last job with this number.
    pub fn of_job(
        client: &SpiClient<'_>,
        job: &NamedJob,
        entries: &Entries,
        given: &RequestedTime,
    ) -> Result<Self, Error> {
        let own = job.own.as_ref();
        let found = client.query(
            &sql!(
                "runs.sql",
                columns = COLUMNS,
                jobs = seen("jobs", own, OWN_FIRST),
                which = NEWEST_FIRST,
            ),
            &after_own(own, values![job.numbers.clone(), RUNS_MAX]),
        )?;
        require_room(found.len(), RUN_BYTES)?;
        let now = clock_now();
        let runs = PAUSE.among(found).map(|row| Run::read(&row, now));
        let mut runs: Vec<Run> = runs.collect::<Result<_, Error>>()?;
        runs.reverse();
        runs.retain(|run| {
            let is_of_scheduler = job.scheduler.is_none() || job.scheduler == run.texts[SCHEDULER];
            is_of_scheduler && run.touches(given.limits, now)
        });
        // A federation of schedulers revokes the siblings of the job that it has begun elsewhere.
        if !runs.iter().all(Run::is_revoked) {
            runs.retain(|run| !run.is_revoked());
        }
        let Some((runs, jobs, limits)) = chosen(runs, job.started, given.limits, now) else {
            return Ok(Self::default());
        };
        let observed = client.query_time(
            "SELECT max(target.last_observation) FROM jobstats.targets target WHERE target.last_observation <= now()",
            &[],
        )?;
        let mut accounting = Self {
            is_known: true,
            together: Run::of_all(&runs),
            runs,
            jobs,
            observed: observed.unwrap_or(now),
            limits,
            is_strict: entries.are_unnamed,
        };
        let ended = accounting.together.ended.map(|it| it.saturating_add(NEAR));
        if job.is_shared || accounting.is_strict {
            // An identifier may belong to a job of another scheduler before and after.
            let started = accounting.started().map(|it| it.saturating_sub(NEAR));
            accounting.limits = (started, ended);
        }
        let is_last = job.started.is_none() && given.limits.1.is_none() && !accounting.is_strict;
        if is_last && accounting.is_outdated(client, entries, now)? {
            // Of the job in accounting, only its end is used: until then the number had another job.
            accounting.runs.clear();
            accounting.together = Run::default();
            accounting.limits = (ended, None);
        }
        Ok(accounting)
    }

    /// Returns whether work with the number was done so long after the end of the job that it is of another job, which accounting
    /// does not know yet.
    fn is_outdated(
        &self,
        client: &SpiClient<'_>,
        entries: &Entries,
        now: Micros,
    ) -> Result<bool, Error> {
        let ended = self.together.ended.filter(|ended| now - ended >= APART);
        let Some(ended) = ended.filter(|_| !entries.is_empty()) else {
            return Ok(false);
        };
        let work = span_of_job(client, entries)?;
        Ok(work.is_some_and(|(_, last)| last.saturating_sub(ended) >= APART))
    }

    /// Returns the number of runs, if accounting knows the job.
    pub fn runs(&self) -> Option<i64> {
        self.is_known.then_some(self.runs.len() as i64)
    }

    /// Returns the start of the first run, if the job has begun.
    pub fn started(&self) -> Option<Micros> {
        self.together.started
    }

    /// Returns the starts of the first and of the last run that has begun.
    pub fn starts(&self) -> Option<Span> {
        let starts = self.runs.iter().filter_map(|run| run.started);
        Some((starts.clone().min()?, starts.max()?))
    }

    /// Returns the end of the last run, or the time up to which the work of a running job is known.
    pub fn ended(&self) -> Micros {
        self.together.ended.unwrap_or(self.observed)
    }

    /// Returns the times between which the job may have usage.
    pub fn near(&self) -> Option<Span> {
        let started = self.started()?;
        Some((
            started.saturating_sub(NEAR),
            self.ended().saturating_add(NEAR),
        ))
    }

    /// Returns the requested time, limited to the time of the job if its number had other jobs.
    pub fn limited(&self, (from, to): Limits) -> Limits {
        let (since, until) = self.limits;
        match self.is_strict {
            true => (since.max(from), until.into_iter().chain(to).min()),
            false => (from.or(since), to.or(until)),
        }
    }

    /// Returns the different values of a column of the runs, in order.
    fn values(&self, column: usize) -> BTreeSet<&str> {
        let values = self.runs.iter();
        let values = values.filter_map(|run| run.texts[column].as_deref());
        values.collect()
    }

    /// Returns the schedulers that have a job with the number.
    pub fn schedulers(&self) -> Vec<String> {
        let names = self.values(SCHEDULER).into_iter();
        names.map(str::to_owned).collect()
    }

    /// Returns the values of a column of the runs as a notice shows them, if there are several.
    fn several(&self, column: usize) -> Option<Vec<String>> {
        let shown = distinct(self.values(column).into_iter());
        (shown.len() > 1).then_some(shown)
    }

    /// Raises a notice if jobs of several schedulers have the number, and returns whether they have. Its hint is made of the job and
    /// of one of the schedulers, as literals.
    pub fn note_schedulers(&self, job: &NamedJob, hint: impl Fn(&str, &str) -> String) -> bool {
        let Some(names) = self.several(SCHEDULER) else {
            return false;
        };
        let number = shown(&job.number);
        let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
        hinted(
            format!(
                "jobs of several schedulers have the number {number}: {}",
                listed(&names, NAMED)
            ),
            hint(&literal(&number), &literal(&names[0])),
        );
        true
    }

    /// Raises a notice if the answer is about more than one job, or about one of several. Returns whether these are jobs of several
    /// schedulers.
    pub fn note(&self, job: &NamedJob, given: &RequestedTime) -> bool {
        let is_of_several = self.note_schedulers(job, |job, scheduler| {
            format!("Choose one: jobstats_job_usage({job}, scheduler => {scheduler}).")
        });
        if is_of_several {
            return true;
        }
        let number = shown(&job.number);
        let of_all = "The answer covers all of them. If they ran at different times, choose one with since and until.";
        let is_left_out = |limit: Option<Micros>, given: Option<Micros>| {
            limit.is_some() && given.is_none() && !job.is_shared && !self.is_strict
        };
        if let Some(names) = self.several(USER) {
            let names = listed(&names, NAMED);
            hinted(
                format!("jobs of several users have the number {number}: {names}"),
                of_all,
            );
        } else if self.jobs > 1 {
            hinted(
                format!("{} jobs had the number {number} in this time", self.jobs),
                of_all,
            );
        } else if is_left_out(self.limits.0, given.limits.0)
            || is_left_out(self.limits.1, given.limits.1)
        {
            hinted(
                format!("other jobs had the number {number} at other times"),
                format!(
                    "For these: jobstats_job_usage('{number}', since => …, until => …). jobstats.jobs has the times."
                ),
            );
        }
        false
    }

    /// Raises a notice that no work of the job was seen.
    pub fn note_no_work(&self, job: &NamedJob, given: &RequestedTime) {
        let name = shown(&job.given);
        if self.started().is_none() {
            pgrx::notice!("job {name} has not started");
            return;
        }
        let then = given.in_this_window();
        hinted(
            format!("job {name} is in accounting, but no I/O of it was observed{then}"),
            "It did no I/O on these file systems, or its identifiers lack the number: see jobstats.quality.",
        );
    }

    /// Returns the mean number of requests in service per node: service time in microseconds ÷ (run time × nodes).
    pub fn in_service(&self, service_time: i128) -> Option<f64> {
        let mut node_time = 0;
        for run in &self.runs {
            let Some(started) = run.started else {
                continue;
            };
            let ended = run.ended.unwrap_or(self.observed);
            let time = ended.saturating_sub(started).max(0);
            node_time += i128::from(time) * i128::from(run.nodes?);
        }
        (node_time > 0).then(|| service_time as f64 / node_time as f64)
    }
}

/// Chooses the job that began at `started`, or else the last job with the number; and all before and after it if the arguments give the start and the
/// end of the window. Runs that lie seven days apart are of different jobs. Returns also the number of the jobs, and the limits of their time.
fn chosen(
    runs: Vec<Run>,
    started: Option<Micros>,
    given: Limits,
    now: Micros,
) -> Option<(Vec<Run>, usize, Limits)> {
    let mut jobs: Vec<Vec<Run>> = Vec::new();
    let mut known = Micros::MIN;
    for run in runs {
        let begins = |started: Micros| started.saturating_sub(known) >= APART;
        let is_next = run.started.is_some_and(begins);
        known = known.max(run.end(now));
        match jobs.last_mut() {
            Some(job) if !is_next => job.push(run),
            _ => jobs.push(vec![run]),
        }
    }
    let has_begun = |job: &Vec<Run>| job.iter().any(|run| run.started == started);
    let found = started.and_then(|_| jobs.iter().position(has_begun));
    let last = jobs.len().checked_sub(1)?;
    let position = found.unwrap_or(last);
    let first = given.0.map_or(position, |_| 0);
    let last = given.1.map_or(position, |_| last);
    let start = |position: usize| jobs.get(position)?.first()?.started;
    let near = |start: Micros| start.saturating_sub(NEAR);
    let limits = (
        start(first).filter(|_| first > 0).map(near),
        start(last + 1).map(near),
    );
    let count = last + 1 - first;
    let chosen = jobs.into_iter().skip(first).take(count);
    Some((chosen.flatten().collect(), count, limits))
}

impl Run {
    fn read(row: &Row<'_>, now: Micros) -> Result<Self, Error> {
        let mut texts = [const { None }; TEXTS.len()];
        for (text, column) in texts.iter_mut().zip(TEXTS) {
            *text = row.get(column)?;
        }
        let (started, ended) = (row.time_opt("started")?, row.time_opt("ended")?);
        let run_time = |started: Micros| ended.unwrap_or(now).saturating_sub(started).max(0);
        Ok(Self {
            texts,
            result: [row.get("state")?, row.get("exit_code")?],
            submitted: row.time_opt("submitted")?,
            started,
            ended,
            run_time: started.map(run_time),
            nodes: row.get("nodes")?,
            cpus: row.get("cpus")?,
        })
    }

    /// Returns whether work of the run may be seen in a window. A run that has not begun is at the end of all time.
    fn touches(&self, (since, until): Limits, now: Micros) -> bool {
        let Some(started) = self.started else {
            return until.is_none();
        };
        until.is_none_or(|until| started.saturating_sub(NEAR) <= until)
            && since.is_none_or(|since| self.end(now).saturating_add(NEAR) > since)
    }

    fn is_revoked(&self) -> bool {
        self.started.is_none() && self.result[0].as_deref() == Some("REVOKED")
    }

    fn end(&self, now: Micros) -> Micros {
        let ended = self.ended.unwrap_or(now);
        self.started.map_or(Micros::MIN, |it| ended.max(it))
    }

    fn of_all(runs: &[Self]) -> Self {
        let mut all = runs.first().cloned().unwrap_or_default();
        for other in runs.iter().skip(1) {
            for (text, other) in all.texts.iter_mut().zip(&other.texts) {
                if text != other {
                    *text = None;
                }
            }
            all.cpus = all.cpus.filter(|_| all.cpus == other.cpus);
            all.nodes = other.nodes.or(all.nodes);
            all.result.clone_from(&other.result);
            all.submitted = earlier(all.submitted, other.submitted);
            all.started = earlier(all.started, other.started);
            let ended = all.ended.zip(other.ended);
            all.ended = ended.map(|(one, other)| one.max(other));
            let run_times = all.run_time.into_iter().chain(other.run_time);
            all.run_time = run_times.reduce(Micros::saturating_add);
        }
        all
    }
}

fn earlier(one: Option<Micros>, other: Option<Micros>) -> Option<Micros> {
    one.into_iter().chain(other).min()
}

/// Returns a length of time as PostgreSQL prints it best: in days, and the rest.
pub fn interval(length: Micros) -> Option<Interval> {
    let days = i32::try_from(length.div_euclid(DAY)).ok()?;
    Interval::new(0, days, length.rem_euclid(DAY)).ok()
}
