//! `jobstats_job_usage()` reports the usage of one job.

use jobstats_core::base::instant::Micros;
use jobstats_core::usage::Measures;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::time::{is_finite, micros};
use crate::pg::tuplestore::Rows;
use crate::query::answer::read;
use crate::query::dimension::By;
use crate::query::engine::Request;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};
use crate::query::window::Window;
use crate::store;
use crate::store::rights::caller::OwnUsage;

use accounting::Accounting;
use attributed::{UsageOfOthers, note_claimed};
use energy::Energy;
use entries::Entries;
use named::NamedJob;
use report::Grouping;
use time::{AnsweredTime, RequestedTime};
use work::Work;

mod accounting;
mod attributed;
mod compare;
mod details;
mod energy;
mod entries;
mod named;
mod one;
mod report;
mod time;
mod work;

#[pg_extern(sql = false)]
fn jobstats_job_usage(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    answer::<String>(arguments, rows)
}

#[pg_extern(sql = false)]
fn jobstats_job_usage_of_number(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    answer::<i64>(arguments, rows)
}

/// Returns the argument `job`.
///
/// # Errors
/// [`Error::argument`] if it is NULL.
fn required(job: Option<impl ToString>) -> Result<String, Error> {
    job.map(|it| it.to_string()).ok_or_else(|| {
        Error::argument(
            "job must not be NULL",
            "Give the identifier of a job, as in '4711'.",
        )
    })
}

/// Answers for a job, which is named by a text or by a number.
fn answer<T: FromDatum + IntoDatum + ToString>(
    mut arguments: Arguments<'_>,
    mut rows: Rows,
) -> SqlResult<()> {
    let job = arguments.take::<T>()?;
    let grouping = Grouping::parse(arguments.take()?)?;
    let step = arguments.take::<Interval>()?;
    let (since, until) = (limit(arguments.take()?), limit(arguments.take()?));
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&OF_TARGETS)?;
    let scheduler = arguments.take::<String>()?;
    let job = required(job)?;
    let given = RequestedTime {
        limits: (since?, until?),
        step,
    };
    read(|client, own| {
        store::require(client)?;
        let Some(subject) = Subject::find(client, job, scheduler, own, &given)? else {
            return Ok(());
        };
        let (job, accounting) = (&subject.job, &subject.accounting);
        job.note_unmatched(client)?;
        if accounting.note(job, &given) {
            return Ok(());
        }
        let found = subject.usage(client, &given, filters, &grouping.by)?;
        if let Some((work, chosen)) = &found {
            report::write(work, chosen, &grouping, &mut rows)?;
        }
        let total = |names: &[&str]| found.as_ref().map_or(0, |it| it.0.total(names));
        if let Some(energy) = Energy::of_job(client, &subject, given.limits)? {
            energy.write(total(&["read_bytes", "write_bytes"]), &mut rows)?;
        }
        if let Some(work) = UsageOfOthers::of_job(client, &subject, given.limits)? {
            work.write(client, &grouping, &mut rows)?;
        }
        if let Some(work) = UsageOfOthers::claimed(client, &subject, given.limits)? {
            let claimed = work.write(client, &grouping, &mut rows)?;
            note_claimed(job, claimed, total(&["service_time"]));
        }
        Ok(())
    })
}

/// Returns a given bound. An infinite bound is the bound of the job.
fn limit(time: Option<TimestampWithTimeZone>) -> Result<Option<Micros>, Error> {
    time.filter(is_finite).map(micros).transpose()
}

/// The job that an answer is about.
struct Subject {
    job: NamedJob,
    entries: Entries,
    accounting: Accounting,
}

impl Subject {
    /// Finds a job, its entries and its accounting; `None`, with a notice, if the requested scheduler does not know it.
    fn find(
        client: &SpiClient<'_>,
        job: String,
        scheduler: Option<String>,
        own: Option<&OwnUsage>,
        given: &RequestedTime,
    ) -> Result<Option<Self>, Error> {
        let job = NamedJob::find(client, job, scheduler, own)?;
        let mut entries = Entries::of_job(client, &job)?;
        let accounting = Accounting::of_job(client, &job, &entries, given)?;
        if !accounting.is_known && job.scheduler.is_some() {
            job.note_unknown(given);
            return Ok(None);
        }
        if entries.are_unnamed && accounting.started().is_none() {
            // Their work is the reader's own only during runs that are known.
            entries.nodes.clear();
        }
        Ok(Some(Self {
            job,
            entries,
            accounting,
        }))
    }

    /// Reads its usage in the requested time. Raises a notice if there is no usage.
    fn usage(
        &self,
        client: &SpiClient<'_>,
        given: &RequestedTime,
        filters: Filters,
        by: &By,
    ) -> Result<Option<(Work<'_>, AnsweredTime)>, Error> {
        let (entries, accounting) = (&self.entries, &self.accounting);
        let limits = accounting.limited(given.limits);
        let chosen = AnsweredTime::of_job(client, entries, limits, given.step.as_ref())?;
        let Some(chosen) = chosen.filter(|_| !entries.is_empty()) else {
            if accounting.is_known {
                accounting.note_no_work(&self.job, given);
            } else if entries.is_empty() {
                self.job.note_nothing(client, filters)?;
            }
            return Ok(None);
        };
        let window = chosen.window.clone();
        let (work, plan) = self.work(client, window, Measures::every(), filters, by)?;
        plan.note_age();
        Ok(Some((work, chosen)))
    }

    /// Reads its usage in a window by target, step and, for groups by node, node.
    fn work(
        &self,
        client: &SpiClient<'_>,
        window: Window,
        measures: Measures,
        filters: Filters,
        by: &By,
    ) -> Result<(Work<'_>, Plan), Error> {
        let question = Question {
            period: Period::default(),
            by: by.clone(),
            measures,
            filters: self.job.filter(filters),
            wanted: AnswerShape::Totals,
        };
        let plan = Plan::of(client, &question, window, self.entries.state.clone())?;
        let scope = Request::of(&question, &plan, None).scope()?;
        let window = (plan.window.since(), plan.window.until());
        let (measures, parts) = (question.measures, &plan.sources.parts);
        let work = Work::read(&self.entries, measures, by, scope, parts, |_, _| {
            Some(window)
        })?;
        Ok((work, plan))
    }
}
