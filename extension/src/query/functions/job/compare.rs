//! `jobstats_compare()` shows the rates of jobs over the time since each began.

use std::collections::{HashMap, HashSet};

use jobstats_core::instant::{DAY, Micros, Span};
use jobstats_core::pattern::exactly;
use jobstats_core::quantity::Quantity;
use jobstats_core::usage::Amount;
use pgrx::datum::Interval;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::json;

use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, shown};
use crate::pg::guc::Pinned;
use crate::pg::jsonb::Jsonb;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, connect_as_of_call};
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{SETTINGS, total};
use crate::query::dimension::By;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::functions::job::Usage;
use crate::query::functions::job::accounting::{Accounting, interval};
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::named::Named;
use crate::query::functions::job::span;
use crate::query::functions::job::time::Asked;
use crate::query::functions::job::work::{In, Of};
use crate::query::labels::{covered, formatted};
use crate::query::measure::{self, Measure, Measures};
use crate::query::notice::hinted;
use crate::query::window::{ROW_LIMIT, STEP_LIMIT, Window};
use crate::store;
use crate::store::rights::caller::{Own, as_reader};

/// The largest number of jobs. Nobody can tell more curves apart.
const JOBS_MAX: usize = 100;

/// The operations that are compared if none are named.
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
        written: 0,
    };
    Ok(as_reader(|own| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(store::require)?;
        for job in jobs {
            pause();
            // What is read stays in memory as long as its connection.
            connect_as_of_call(|client| comparison.add(client, job, own, &mut rows))?;
        }
        Ok(())
    })?)
}

/// Reads the argument `jobs`. A job that is named twice is compared once.
fn names(jobs: Option<Vec<Option<String>>>) -> Result<Vec<String>, Error> {
    const HINT: &str = "Give identifiers of jobs, as in '{4711,123_4}'.";
    let jobs = jobs.ok_or_else(|| Error::argument("jobs must not be NULL", HINT))?;
    let mut names: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for job in jobs {
        pause();
        let job = job.ok_or_else(|| Error::argument("a job must not be NULL", HINT))?;
        if known.insert(job.clone()) {
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
    /// The number of rows that have been written.
    written: usize,
}

impl Comparison {
    /// Adds the rows of a job.
    fn add(
        &mut self,
        client: &SpiClient<'_>,
        job: String,
        own: Option<&Own>,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let asked = Asked::default();
        let job = Named::find(client, job, self.scheduler.clone(), own)?;
        let entries = Entries::of_job(client, &job)?;
        let accounting = Accounting::of_job(client, &job, &entries, &asked)?;
        let entries = entries.during(accounting.as_ref());
        match &accounting {
            Some(accounting) if accounting.note_schedulers(&job, |job, scheduler| {
                format!("scheduler chooses one: jobstats_compare(ARRAY[{job}], scheduler => {scheduler}).")
            }) => return Ok(()),
            None if job.scheduler.is_some() => return job.note_unknown(client, &asked),
            _ => {}
        }
        let filters = job.filter(self.filters.clone());
        let Some(window) = self.window(client, &job, accounting.as_ref(), &entries)? else {
            if entries.is_empty() && accounting.is_none() {
                job.note_nothing(client, &filters)?;
            }
            return Ok(());
        };
        let Some(usage) = self.usage(client, window, filters, &entries)? else {
            return Ok(());
        };
        if !self.has_noted_age {
            usage.plan.note_age();
            self.has_noted_age = true;
        }
        self.write(&job, &usage, rows)
    }

    /// Reads the usage of entries in a window.
    fn usage<'u>(
        &self,
        client: &SpiClient<'_>,
        window: Window,
        filters: Filters,
        entries: &'u Entries,
    ) -> Result<Option<Usage<'u>>, Error> {
        let measures = Measures::listed(self.measures.clone());
        Usage::read(client, window, measures, filters, entries, &By::these(&[]))
    }

    /// Returns the start of the first work of a number in a span, by any of the operations.
    fn first_work(
        &self,
        client: &SpiClient<'_>,
        job: &Named,
        entries: &Entries,
        (from, until): Span,
    ) -> Result<Option<Micros>, Error> {
        let filters = job.filter(Filters::default());
        let found = self.usage(client, Window::whole(from, until), filters, entries)?;
        Ok(found.and_then(|usage| {
            let active = usage.work.amounts().iter().filter_map(|it| it.active);
            active.map(|it| it.0).min()
        }))
    }

    /// Returns the steps of a job, from its start to its end; `None` if nothing is known of it.
    fn window(
        &self,
        client: &SpiClient<'_>,
        job: &Named,
        accounting: Option<&Accounting>,
        entries: &Entries,
    ) -> Result<Option<Window>, Error> {
        let limits = accounting.map_or((None, None), |it| it.limits);
        let work = match entries.is_empty() {
            true => None,
            false => span::of_job(client, entries)?,
        };
        // Work of other jobs with this number is not known apart from that of this one, but by its time.
        let work = work.map(|(first, last)| {
            let from = limits.0.unwrap_or(first);
            (first.max(from), last.min(limits.1.unwrap_or(last)))
        });
        let mut work = work.filter(|(first, last)| first < last);
        let started = accounting.and_then(Accounting::started);
        if let (None, Some(_), Some((first, last))) = (started, limits.0, work) {
            let first = self.first_work(client, job, entries, (first, last))?;
            work = Some((first.unwrap_or(last - SHORTEST), last));
        }
        if let (Some(accounting), None) = (accounting, work) {
            accounting.note_no_work(job, false);
        }
        let Some(start) = started.or(work.map(|it| it.0)) else {
            return Ok(None);
        };
        if started.is_none() {
            hinted(
                format!("the start of job {} is not known", shown(&job.asked)),
                "It is compared from its first work on. To know starts, feed the accounting of the scheduler.",
            );
        }
        let ended = accounting.filter(|_| started.is_some());
        let ended = ended.map(Accounting::ended);
        let end = ended.into_iter().chain(work.map(|it| it.1)).max();
        let end = end.unwrap_or(start).max(start.saturating_add(SHORTEST));
        let width = self.width.unwrap_or(end - start);
        let steps = (end - start).saturating_add(width - 1) / width;
        if usize::try_from(steps).is_ok_and(|steps| steps > STEP_LIMIT) {
            return Err(Error::TooManySteps);
        }
        let mut edges: Vec<Micros> = (0..steps).map(|step| start + step * width).collect();
        edges.push(end);
        Ok(Some(Window {
            edges,
            ..Window::whole(start, end)
        }))
    }

    fn write(&mut self, job: &Named, usage: &Usage<'_>, rows: &mut Rows) -> Result<(), Error> {
        let (window, work) = (&usage.plan.window, &usage.work);
        self.written += window.steps().saturating_mul(self.measures.len());
        if self.written > ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        let mut amounts: HashMap<usize, Vec<(usize, Amount)>> = HashMap::new();
        work.each(Of::Whole, In::Steps, |done| {
            amounts.insert(done.line.step, done.amounts);
            Ok(())
        })?;
        let of_all_targets = work.scope.together(false, true);
        let start = window.since();
        let labels = json!({ "job": exactly(&job.number) });
        for step in 0..window.steps() {
            pause();
            let Some((time, _)) = window.step(step) else {
                continue;
            };
            let observed = of_all_targets.observed(step);
            let coverage = observed
                .first()
                .map(|it| it.coverage)
                .filter(|it| it.is_finite());
            let (since_start, time) = (interval(time - start), timestamptz(time)?);
            let of_step = amounts.remove(&step).unwrap_or_default();
            for (position, measure) in self.measures.iter().enumerate() {
                // Where no time is told of any work, it is not known.
                let is_used = || {
                    work.amounts()
                        .get(position)
                        .is_some_and(|it| it.active.is_some())
                };
                let is_known = coverage > Some(0.0) && (!measure.is_time() || is_used());
                let amount = of_step.iter().find(|it| it.0 == position).map(|it| it.1);
                let rate = amount.map_or(Some(0.0), |it| it.rate).filter(|_| is_known);
                let amount = Amount {
                    total: amount.map_or(Some(0), |it| it.total).filter(|_| is_known),
                    ..Amount::default()
                };
                let total = total(measure, &amount)?;
                let name = measure.name.as_str();
                rows.put(|| {
                    [
                        job.asked.as_str().cell(),
                        since_start.cell(),
                        name.cell(),
                        formatted(rate, name, Quantity::Rate).cell(),
                        rate.cell(),
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
