//! `jobstats_job()` reports on one job as a whole.

use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::tuplestore::Rows;
use crate::query::answer::read;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::statement::Statement;
use crate::query::window::Window;
use crate::store;

use accounting::Accounting;
use attributed::{Attributed, note_claimed};
use energy::Energy;
use entries::{Entries, note_unmatched};
use grouping::{Grouping, OF_TARGETS};
use named::Named;
use report::Report;
use scope::Scope;
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
mod report;
mod scope;
mod span;
mod time;
mod work;

#[pg_extern(sql = false)]
fn jobstats_job(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<String>()?;
    answer(job, arguments, rows)
}

#[pg_extern(sql = false)]
fn jobstats_job_of_number(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
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
    let asked = Asked {
        since: arguments.take::<TimestampWithTimeZone>()?,
        until: arguments.take()?,
        step: arguments.take::<Interval>()?,
    };
    let grouping = Grouping::parse(arguments.take()?)?;
    let scheduler = arguments.take::<String>()?;
    let job = required(job)?;
    read(|client, own| {
        store::require(client)?;
        let job = Named::find(client, job, scheduler, own)?;
        let entries = Entries::of_job(client, &job)?;
        let accounting = Accounting::of_job(client, &job, &entries, &asked)?;
        let entries = entries.during(accounting.as_ref());
        if let Some(accounting) = &accounting {
            let is_of_several_schedulers = accounting.note(&job, &asked);
            accounting.write_runs(&mut rows)?;
            if is_of_several_schedulers {
                return Ok(());
            }
            if job.is_shared && job.own.is_none() {
                note_unmatched(client, &job)?;
            }
        } else if job.scheduler.is_some() {
            return job.note_unknown(client, &asked);
        }
        let subject = Subject {
            entries,
            is_cut: asked.is_limited(),
            accounting,
        };
        let bounds = asked.bounds()?;
        let [bytes, service_time] = subject.report(client, &job, asked, &grouping, &mut rows)?;
        let Some(accounting) = &subject.accounting else {
            return Ok(());
        };
        if let Some(energy) = Energy::of_job(client, &job, accounting, bounds)? {
            energy.write(accounting, bytes, &mut rows)?;
        }
        if let Some(work) = Attributed::of_job(client, &job, accounting, bounds)? {
            work.write(client, &grouping, &mut rows)?;
        }
        if let Some(work) = Attributed::claimed(client, &job, accounting, bounds)? {
            let claimed = work.write(client, &grouping, &mut rows)?;
            note_claimed(&job, claimed, service_time);
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
    /// Writes the rows of its usage, and returns the bytes that it read and wrote, and its service time.
    fn report(
        &self,
        client: &SpiClient<'_>,
        job: &Named,
        mut asked: Asked,
        grouping: &Grouping,
        rows: &mut Rows,
    ) -> Result<[i128; 2], Error> {
        let filters = job.filter(Filters::default());
        if let Some(accounting) = &self.accounting {
            accounting.limit(&mut asked)?;
        }
        let chosen = asked.choose(client, &self.entries, &filters)?;
        match (chosen, &self.accounting) {
            (Some(chosen), _) if !self.entries.is_empty() => {
                self.report_usage(client, filters, grouping, chosen, rows)
            }
            (_, Some(accounting)) => {
                accounting.note_no_work(job, self.is_cut);
                Ok([0; 2])
            }
            (_, None) if self.entries.is_empty() => {
                job.note_nothing(client, &filters).map(|()| [0; 2])
            }
            (_, None) => Ok([0; 2]),
        }
    }

    fn report_usage(
        &self,
        client: &SpiClient<'_>,
        filters: Filters,
        grouping: &Grouping,
        chosen: Chosen,
        rows: &mut Rows,
    ) -> Result<[i128; 2], Error> {
        let (entries, measures) = (&self.entries, Measures::every()?);
        let found = Usage::read(client, chosen.window, measures, filters, entries, grouping)?;
        let Some(usage) = found else {
            return Ok([0; 2]);
        };
        let Usage {
            plan,
            measures,
            scope,
            work,
        } = &usage;
        plan.note_behind()?;
        plan.note_age();
        let details = if chosen.is_whole && chosen.has_buckets {
            details::of_job(client, plan, measures, work, entries, scope, grouping)?
        } else {
            None
        };
        let report = Report {
            window: &plan.window,
            has_buckets: chosen.has_buckets,
            by_node: grouping.by_node,
            measures: &measures.list,
            scope,
            entries,
            details: details.as_ref(),
            accounting: self.accounting.as_ref(),
            is_cut: self.is_cut,
        };
        report.write(work, rows)?;
        let total = |names: &[&str]| work.total(measures, names);
        Ok([
            total(&["read_bytes", "write_bytes"]),
            total(&["service_time"]),
        ])
    }
}

/// The usage of entries in a window, with the targets in scope.
struct Usage {
    plan: Plan,
    measures: Measures,
    scope: Scope,
    work: Work,
}

impl Usage {
    /// Reads the usage by target, step and, if the grouping tells them apart, node. Returns `None` if there are no measures.
    fn read(
        client: &SpiClient<'_>,
        window: Window,
        measures: Measures,
        filters: Filters,
        entries: &Entries,
        grouping: &Grouping,
    ) -> Result<Option<Self>, Error> {
        let question = Question {
            period: Period::default(),
            by: By::these(&OF_TARGETS),
            measures,
            filters,
            wanted: Wanted::Totals,
        };
        let Some(plan) = Plan::over(client, &question, window)? else {
            return Ok(None);
        };
        let statement = Statement::new(&question, &plan, entries.few(&plan));
        let targets = statement.targets();
        let targets = client.query(&targets.sql, &targets.params)?;
        let scope = Scope::read(targets, plan.window.steps(), grouping)?;
        let mut work = Work::new(&question.measures, grouping.by_node);
        if !entries.is_empty() {
            let usage = statement.rows_of_entries(&work.columns());
            work.add_rows(client, &usage, entries, &scope)?;
        }
        Ok(Some(Self {
            plan,
            measures: question.measures,
            scope,
            work,
        }))
    }
}
