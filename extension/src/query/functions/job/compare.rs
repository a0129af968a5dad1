//! `jobstats_compare()` shows the rates of jobs over the time since each began.

use std::collections::HashMap;

use jobstats_core::base::instant::{DAY, Micros, Span};
use jobstats_core::base::pattern::exactly;
use jobstats_core::output::quantity::Quantity;
use jobstats_core::usage::{Amount, Measure, Measures};
use pgrx::datum::Interval;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::json;

use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, shown};
use crate::pg::jsonb::Jsonb;
use crate::pg::pause::pause;
use crate::pg::spi::SqlResult;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{number, require_more, with_settings};
use crate::query::dimension::By;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::functions::job::Subject;
use crate::query::functions::job::accounting::interval;
use crate::query::functions::job::named::NamedJob;
use crate::query::functions::job::time::{RequestedTime, span_of_job};
use crate::query::functions::job::work::{GroupUsage, Work};
use crate::query::labels::{covered, formatted};
use crate::query::measure;
use crate::query::notice::hinted;
use crate::query::window::{STEP_LIMIT, Window};
use crate::store;
use crate::store::rights::caller::{OwnUsage, as_reader};

/// The largest number of jobs. More curves are illegible.
const JOBS_MAX: usize = 100;

/// The default operations.
const OPERATIONS: [&str; 4] = ["read_bytes", "write_bytes", "metadata", "service_time"];

/// The shortest time of a job: schedulers count in seconds.
const SHORTEST: Micros = 1_000_000;

#[pg_extern(sql = false)]
fn jobstats_compare(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let jobs = names(arguments.take()?)?;
    let width = arguments.take::<Interval>()?;
    let width = width.as_ref().map(micros_of).transpose()?;
    let operations = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&OF_TARGETS)?;
    let weights = arguments.take()?;
    let operations = match (operations, &weights) {
        (None, None) => Some(OPERATIONS.join(",")),
        (None, Some(_)) => Some(String::new()),
        (operations, _) => operations,
    };
    let mut comparison = Comparison {
        scheduler: arguments.take()?,
        measures: measure::several(operations, weights)?.list,
        filters,
        width,
        has_noted_age: false,
    };
    Ok(as_reader(|own| {
        with_settings(store::require)?;
        for job in jobs {
            pause();
            // Rows stay in memory as long as their connection.
            with_settings(|client| comparison.add(client, job, own, &mut rows))?;
        }
        Ok(())
    })?)
}

/// Reads the argument `jobs`. A job that is named twice is compared once.
fn names(jobs: Option<Vec<Option<String>>>) -> Result<Vec<String>, Error> {
    const HINT: &str = "Give identifiers of jobs, as in '{4711,123_4}'.";
    let jobs = jobs.ok_or_else(|| Error::argument("jobs must not be NULL", HINT))?;
    let mut names: Vec<String> = Vec::new();
    for job in jobs {
        pause();
        let job = job.ok_or_else(|| Error::argument("a job must not be NULL", HINT))?;
        if !names.contains(&job) {
            names.push(job);
        }
        if names.len() > JOBS_MAX {
            return Err(Error::argument(
                format!("jobs has more than {JOBS_MAX} jobs"),
                "Compare fewer jobs at a time.",
            ));
        }
    }
    Ok(names)
}

/// Returns the width of the steps. Days have 24 hours: jobs do not follow clocks.
fn micros_of(step: &Interval) -> Result<Micros, Error> {
    let days = i64::from(step.days()).checked_mul(DAY);
    let width = days.and_then(|days| days.checked_add(step.micros()));
    if step.months() != 0 {
        return Err(Error::argument(
            "step must not have months",
            "Give days or less, such as '10 minutes'; NULL is one step for each job.",
        ));
    }
    width.filter(|&it| it > 0).ok_or_else(|| {
        Error::argument(
            "step must be positive",
            "Give a span of time such as '10 minutes'; NULL is one step for each job.",
        )
    })
}

/// A comparison of jobs.
struct Comparison {
    /// The scheduler of all jobs; `None` if any may be it.
    scheduler: Option<String>,
    measures: Vec<Measure>,
    filters: Filters,
    /// The width of the steps; `None` for one step for each job.
    width: Option<Micros>,
    has_noted_age: bool,
}

impl Comparison {
    /// Adds the rows of a job.
    fn add(
        &mut self,
        client: &SpiClient<'_>,
        job: String,
        own: Option<&OwnUsage>,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let (scheduler, given) = (self.scheduler.clone(), RequestedTime::default());
        let Some(subject) = Subject::find(client, job, scheduler, own, &given)? else {
            return Ok(());
        };
        let is_of_several = subject
            .accounting
            .note_schedulers(&subject.job, |job, scheduler| {
                format!("Choose one: jobstats_compare(ARRAY[{job}], scheduler => {scheduler}).")
            });
        if is_of_several {
            return Ok(());
        }
        let filters = self.filters.clone();
        let Some(window) = self.window(client, &subject)? else {
            if subject.entries.is_empty() && !subject.accounting.is_known {
                subject.job.note_nothing(client, filters)?;
            }
            return Ok(());
        };
        let by = By::these(&[]);
        let (work, plan) = subject.work(client, window, self.measures(), filters, &by)?;
        if !self.has_noted_age {
            plan.note_age();
            self.has_noted_age = true;
        }
        self.write(&subject.job, &work, rows)
    }

    fn measures(&self) -> Measures {
        Measures::listed(self.measures.clone())
    }

    /// Returns the time between the first and the last work of a job, by any of the operations. Work of other jobs with its number is not known
    /// apart from its own, but by its time.
    fn worked(&self, client: &SpiClient<'_>, subject: &Subject) -> Result<Option<Span>, Error> {
        let (since, until) = subject.accounting.limits;
        let stored = span_of_job(client, &subject.entries)?;
        let limited = |(first, last): Span| {
            let since = since.map_or(first, |it| it.max(first));
            (since, until.map_or(last, |it| it.min(last)))
        };
        let Some((first, last)) = stored.map(limited).filter(|it| it.0 < it.1) else {
            return Ok(None);
        };
        if subject.accounting.started().is_some() || since.is_none() {
            return Ok(Some((first, last)));
        }
        let window = Window::whole(first, last);
        let (filters, by) = (Filters::default(), By::these(&[]));
        let (work, _) = subject.work(client, window, self.measures(), filters, &by)?;
        let active = work.amounts().iter().filter_map(|it| it.active);
        let first = active.map(|it| it.0).min();
        Ok(Some((first.unwrap_or(last - SHORTEST), last)))
    }

    /// Returns the steps of a job, from its start to its end; `None` if it is unknown.
    fn window(&self, client: &SpiClient<'_>, subject: &Subject) -> Result<Option<Window>, Error> {
        let (job, accounting) = (&subject.job, &subject.accounting);
        let worked = self.worked(client, subject)?;
        if accounting.is_known && worked.is_none() {
            accounting.note_no_work(job, &RequestedTime::default());
        }
        let started = accounting.started();
        let Some(start) = started.or(worked.map(|it| it.0)) else {
            return Ok(None);
        };
        if started.is_none() {
            hinted(
                format!("the start of job {} is unknown", shown(&job.given)),
                "It is compared from its first I/O on. To provide starts, feed the accounting of the scheduler.",
            );
        }
        let ended = started.map(|_| accounting.ended());
        let ended = ended.max(worked.map(|it| it.1));
        let end = ended.unwrap_or(start).max(start.saturating_add(SHORTEST));
        let width = self.width.unwrap_or(end - start);
        let steps = (end - start).saturating_add(width - 1) / width;
        if usize::try_from(steps).is_ok_and(|steps| steps > STEP_LIMIT) {
            return Err(Error::TooManySteps);
        }
        let starts = (0..steps).map(|step| start + step * width);
        Ok(Some(Window::of_steps(starts.chain([end]).collect())))
    }

    fn write(&self, job: &NamedJob, work: &Work<'_>, rows: &mut Rows) -> Result<(), Error> {
        let edges = &work.scope.edges;
        let done = work.done(&[], false)?.into_iter();
        let done = done.flat_map(|GroupUsage { step, amounts, .. }| {
            let amounts = amounts.into_iter();
            amounts.map(move |(position, amount)| ((step, position), amount))
        });
        let done: HashMap<(usize, usize), Amount> = done.collect();
        let labels = json!({ "job": exactly(&job.number) });
        for (step, time) in edges.iter().enumerate().take(work.scope.steps()) {
            pause();
            let observed = work.scope.observed(step);
            let coverage = observed.first().map(|it| it.coverage);
            let coverage = coverage.filter(|it| it.is_finite());
            let (since_start, time) = (interval(time - edges[0]), timestamptz(*time)?);
            for (position, measure) in self.measures.iter().enumerate() {
                // Without the time of any work, the time is unknown.
                let is_used = || {
                    let amount = work.amounts().get(position);
                    amount.is_some_and(|it| it.active.is_some())
                };
                let is_known = coverage > Some(0.0) && (!measure.is_time() || is_used());
                let amount = match done.get(&(step, position)) {
                    _ if !is_known => Amount::default(),
                    Some(amount) => *amount,
                    None => Amount {
                        total: Some(0),
                        rate: Some(0.0),
                        ..Amount::default()
                    },
                };
                let (total, name) = (number(measure, amount.total)?, measure.name.as_str());
                require_more(rows)?;
                rows.put(|| {
                    [
                        job.given.as_str().cell(),
                        since_start.cell(),
                        name.cell(),
                        formatted(amount.rate, name, Quantity::Rate).cell(),
                        amount.rate.cell(),
                        total.cell(),
                        coverage.map(covered).cell(),
                        time.cell(),
                        Jsonb::of(&labels).cell(),
                    ]
                });
            }
        }
        Ok(())
    }
}
