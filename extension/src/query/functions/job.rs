//! `jobstats_job_usage()` reports what one job did.

use pgrx::datum::Interval;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::time::is_finite;
use crate::pg::tuplestore::Rows;
use crate::query::answer::read;
use crate::query::dimension::{By, Level};
use crate::query::engine::Request;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::measure::Measures;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::window::Window;
use crate::store;

use accounting::Accounting;
use attributed::{Attributed, note_claimed};
use energy::Energy;
use entries::{Entries, note_unmatched};
use grouping::Grouping;
use named::Named;
use time::{Asked, Chosen};
use work::Work;

mod accounting;
mod attributed;
mod compare;
mod details;
mod energy;
mod entries;
mod grouping;
mod named;
mod one;
mod report;
mod row;
mod span;
mod time;
mod work;

#[pg_extern(sql = false)]
fn jobstats_job_usage(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<String>()?;
    answer(job, arguments, rows)
}

#[pg_extern(sql = false)]
fn jobstats_job_usage_of_number(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<i64>()?;
    answer(job.map(|job| job.to_string()), arguments, rows)
}

/// Returns the argument `job`.
///
/// # Errors
/// [`Error::argument`] if it is NULL.
pub fn required(job: Option<String>) -> Result<String, Error> {
    job.ok_or_else(|| {
        Error::argument(
            "job must not be NULL",
            "Give the identifier of a job, as in '4711'.",
        )
    })
}

/// Answers for a job. The other arguments are still to be taken.
fn answer(job: Option<String>, mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let grouping = Grouping::parse(arguments.take()?)?;
    let step = arguments.take::<Interval>()?;
    let asked = Asked {
        // An infinite bound is that of the job, as one that is not given.
        since: arguments.take()?.filter(is_finite),
        until: arguments.take()?.filter(is_finite),
        step,
    };
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&OF_TARGETS)?;
    let scheduler = arguments.take::<String>()?;
    let job = required(job)?;
    read(|client, own| {
        store::require(client)?;
        let job = Named::find(client, job, scheduler, own)?;
        let Some(subject) = Subject::find(client, &job, &asked)? else {
            return Ok(());
        };
        if let Some(accounting) = &subject.accounting
            && accounting.note(&job, &asked)
        {
            return Ok(());
        }
        let bounds = asked.bounds()?;
        let usage = subject.usage(client, &job, asked, filters, &grouping)?;
        if let Some((usage, chosen)) = &usage {
            report::write(usage, chosen, &grouping, &mut rows)?;
        }
        let total = |names: &[&str]| {
            usage
                .as_ref()
                .map_or(0, |(usage, _)| usage.work.total(names))
        };
        let Some(accounting) = &subject.accounting else {
            return Ok(());
        };
        if let Some(energy) = Energy::of_job(client, &job, accounting, bounds)? {
            energy.write(total(&["read_bytes", "write_bytes"]), &mut rows)?;
        }
        if let Some(work) = Attributed::of_job(client, &job, accounting, bounds)? {
            work.write(client, &grouping, &mut rows)?;
        }
        if let Some(work) = Attributed::claimed(client, &job, accounting, bounds)? {
            let claimed = work.write(client, &grouping, &mut rows)?;
            note_claimed(&job, claimed, total(&["service_time"]));
        }
        Ok(())
    })
}

/// The job that an answer is about.
struct Subject {
    entries: Entries,
    /// Set if the answer is about a part of the job's time.
    is_cut: bool,
    accounting: Option<Accounting>,
}

impl Subject {
    /// Finds the entries and the accounting of a job; `None`, with a notice, if the scheduler that is asked for does not know it.
    fn find(client: &SpiClient<'_>, job: &Named, asked: &Asked) -> Result<Option<Self>, Error> {
        let entries = Entries::of_job(client, job)?;
        let accounting = Accounting::of_job(client, job, &entries, asked)?;
        if accounting.is_none() && job.scheduler.is_some() {
            job.note_unknown(client, asked)?;
            return Ok(None);
        }
        if accounting.is_some() && job.is_shared && job.own.is_none() {
            note_unmatched(client, job)?;
        }
        Ok(Some(Self {
            entries: entries.during(accounting.as_ref()),
            is_cut: asked.is_limited(),
            accounting,
        }))
    }

    /// Reads its usage. Raises a notice if there is none.
    fn usage<'u>(
        &'u self,
        client: &SpiClient<'_>,
        job: &Named,
        mut asked: Asked,
        filters: Filters,
        grouping: &Grouping,
    ) -> Result<Option<(Usage<'u>, Chosen)>, Error> {
        let filters = job.filter(filters);
        if let Some(accounting) = &self.accounting {
            accounting.limit(&mut asked)?;
        }
        let chosen = asked.choose(client, &self.entries, &filters)?;
        let chosen = match (chosen, &self.accounting) {
            (Some(chosen), _) if !self.entries.is_empty() => chosen,
            (_, Some(accounting)) => {
                accounting.note_no_work(job, self.is_cut);
                return Ok(None);
            }
            (_, None) => {
                if self.entries.is_empty() {
                    job.note_nothing(client, &filters)?;
                }
                return Ok(None);
            }
        };
        let (entries, measures) = (&self.entries, Measures::every());
        let window = chosen.window.clone();
        let usage = Usage::read(client, window, measures, filters, entries, &grouping.by)?;
        if let Some(usage) = &usage {
            usage.plan.note_behind()?;
            usage.plan.note_age();
        }
        Ok(usage.map(|usage| (usage, chosen)))
    }
}

/// The usage of entries in a window.
struct Usage<'u> {
    plan: Plan,
    work: Work<'u>,
}

impl<'u> Usage<'u> {
    /// Reads the usage by target, step and, if the groups tell them apart, node. Returns `None` if there are no measures.
    fn read(
        client: &SpiClient<'_>,
        window: Window,
        measures: Measures,
        filters: Filters,
        entries: &'u Entries,
        by: &By,
    ) -> Result<Option<Self>, Error> {
        let of_targets: Vec<&str> = by.of(&[Level::Target]).map(|it| it.name).collect();
        let question = Question {
            period: Period::default(),
            by: By::these(&of_targets),
            measures,
            filters,
            wanted: Wanted::Totals,
        };
        let Some(plan) = Plan::with(client, &question, window, entries.state.clone())? else {
            return Ok(None);
        };
        let ids = entries.ids();
        let scope = Request::of(&question, &plan, None, None).scope()?;
        let window = (plan.window.since(), plan.window.until());
        let work = Work::new(question.measures, by, entries, scope, plan.state.limit);
        let work = work.read(&plan.sources.parts, &ids, |_, _| Some(window))?;
        Ok(Some(Self { plan, work }))
    }
}
