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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_job(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz, interval, text[], text) IS
'Shows what one job did as a whole, then by target, node or step. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. If accounting knows it, the first rows are its runs, with the operation run; then come those of the whole job, with target and node NULL, and those of each group, by default each target. For each operation, and for metadata and service_time, a row says how much, in how many calls, from when to when and on how many nodes. per_call, min, max and stddev are bytes, or seconds of the server, per call; min_rate to max_rate are per second in ten-minute buckets. scheduler to cpus are what accounting says, of a run or of the job: NULL if its runs differ, state and exit_code of the last one. in_service is the mean number of requests in service per node: service_time / (run time x nodes). energy and energy_per_gb are the joules of a job that had its metered nodes for itself, and those per GB that it read and wrote; rate is watts. The last rows, with operations that begin with attributed_, are work without a job that this job is likely to have done, and with claimed_, that of other users who name this job: both are in no sum. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the targets were observed. A NOTICE says so if the job is unknown. If jobs of several schedulers have the number, only their runs are listed, until scheduler chooses one. Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';
"#)]
fn jobstats_job(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<String>()?;
    answer(job, arguments, rows)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_job(
    job bigint, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_job(bigint, timestamptz, timestamptz, interval, text[], text) IS
'Shows what the job of this number did. jobstats_job(4711) is jobstats_job(''4711''). Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';
"#)]
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
