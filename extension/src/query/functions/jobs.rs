//! `jobstats_jobs()` lists jobs.

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::base::pattern::exactly;
use jobstats_core::usage::Measures;
use jobstats_core::usage::dimension::DIMENSIONS;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::sql;
use crate::pg::time::{bound, now, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{number, read, write_rows};
use crate::query::dimension::{By, Dimension, Jobs, Table, join_names};
use crate::query::engine::Request;
use crate::query::filters::{Filters, bind_own};
use crate::query::params::Params;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question, SUMMARY, number_of_rows};
use crate::query::window::ROW_LIMIT;
use crate::store;
use crate::store::rights::caller::{OwnUsage, seen};

/// The default number of rows.
const DEFAULT_N: usize = 20;

/// The default length of the window.
const WEEK: Micros = 7 * DAY;

/// The columns that rows can be ordered by, largest first.
const OPERATIONS: [&str; 5] = [
    "read_bytes",
    "write_bytes",
    "metadata",
    "service_time",
    "energy",
];

/// The jobs of schedulers, whose columns are dimensions.
const JOB: Table = Table {
    name: "job",
    jobs: Jobs::InRows,
};

/// Each node of a front has all jobs.
const OF_FRONT: &str = " AND job.job_no BETWEEN (SELECT jobstats_internal.first_number(name 'job_no', a.node) FROM jobstats.attached a \
        WHERE a.name = jobstats_internal.accounting_node()) \
    AND (SELECT jobstats_internal.first_number(name 'job_no', a.node + 1) - 1 FROM jobstats.attached a \
        WHERE a.name = jobstats_internal.accounting_node())";

/// The condition that finds the summary of a job. A front has them under other numbers, and adds up no more of them than it must.
const DONE: &str = "done.job_no = job.job_no";
const DONE_OF_FRONT: &str = "done.job = job.job AND done.scheduler = job.scheduler AND done.started = job.started \
    AND done.uid IS NOT DISTINCT FROM job.uid";

/// The question.
struct Query {
    since: TimestampWithTimeZone,
    until: TimestampWithTimeZone,
    /// The column that orders rows, largest first; `None`: newest first.
    operation: Option<&'static str>,
    n: usize,
    filters: Filters,
}

#[pg_extern(sql = false)]
fn jobstats_jobs(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let operation: Option<String> = arguments.take()?;
    let n = number_of_rows(arguments.take()?, DEFAULT_N)?;
    let filters = Filters::take(&mut arguments)?;
    let keys = DIMENSIONS
        .iter()
        .filter(|it| it.is_user() || it.is_of_job() || it.name == "job");
    filters.require_keys(&keys.map(|it| it.name).collect::<Vec<_>>())?;
    let now = now()?;
    let until = period.until.map_or(Ok(now), |it| bound(it, now))?;
    let week_before = || timestamptz(until.saturating_sub(WEEK));
    let query = Query {
        since: period.since.map_or_else(week_before, Ok)?,
        until: timestamptz(until)?,
        operation: operation.map(|it| ordered_by(&it)).transpose()?,
        n,
        filters,
    };
    read(|client, own| {
        store::require(client)?;
        let sums = query.running(client, own)?;
        query.write(client, own, sums, &mut rows)
    })
}

fn ordered_by(operation: &str) -> Result<&'static str, Error> {
    let found = OPERATIONS.iter().find(|it| **it == operation);
    found
        .copied()
        .ok_or_else(|| Error::unknown("operation of jobs", operation, OPERATIONS.join(", ")))
}

impl Query {
    /// Returns FROM and WHERE of the jobs that the caller may see, with their summaries and what else is joined.
    fn from(
        &self,
        client: &SpiClient<'_>,
        own: Option<&OwnUsage>,
        params: &Params,
        joined: &str,
    ) -> Result<String, Error> {
        let parameters = bind_own(own, params);
        let jobs = seen("job_ids", own, parameters.each_ref().map(String::as_str));
        let named = self.filters.chosen().chain(Dimension::find("user"));
        let names = join_names(named, JOB, ["jobstats.users", "jobstats.groups"]);
        let conditions = self.filters.conditions_on_jobs(JOB, params);
        let since = params.bind("since", || self.since);
        let until = params.bind("until", || self.until);
        let (done, of_front) = match store::is_front(client)? {
            true => (
                &*format!("{DONE_OF_FRONT} AND done.started <= {until} AND done.ended > {since}"),
                OF_FRONT,
            ),
            false => (DONE, ""),
        };
        Ok(format!(
            "FROM {jobs} job LEFT JOIN jobstats.job_summaries done ON {done}{joined}{names} \
             WHERE job.started <= {until} AND coalesce(job.ended, timestamptz 'infinity') > {since}{conditions}{of_front}"
        ))
    }

    /// Sums up what jobs that are not done did so far, the newest ones: an object with the columns of a summary for each.
    fn running(&self, client: &SpiClient<'_>, own: Option<&OwnUsage>) -> Result<Vec<Value>, Error> {
        let params = Params::default();
        let statement = format!(
            "SELECT array_agg(DISTINCT newest.job) AS jobs, min(newest.started) AS since \
             FROM (SELECT job.job, job.started {} AND done.job_no IS NULL ORDER BY job.started DESC LIMIT 1000) newest",
            self.from(client, own, &params, "")?
        );
        let found = client.query_only(&statement, &params.take(), "job_ids")?;
        let mut sums = Vec::new();
        let Some(jobs) = found.get::<Option<Vec<String>>>("jobs")? else {
            return Ok(sums);
        };
        let names = jobs.iter().map(|it| exactly(it)).collect();
        let mut filters = Filters::default().any_of("job", Some(names));
        filters.own = own.cloned();
        let question = Question {
            period: Period {
                since: found.get("since")?,
                ..Period::default()
            },
            by: By::these(&["job"]),
            measures: Measures::named(SUMMARY.map(|it| it.1), None)?,
            filters,
            wanted: AnswerShape::Summary,
        };
        let Some(plan) = Plan::find(client, &question)? else {
            return Ok(sums);
        };
        let request = Request::new(client, &question, &plan)?;
        let usage = request.read()?;
        usage.each(false, |line| {
            let job = usage.values(&line).pop().flatten();
            let mut sum = json!({ "job": job, "nodes": line.nodes });
            let amounts = question.measures.list.iter().zip(&line.amounts);
            for ((column, _), (measure, amount)) in SUMMARY.iter().zip(amounts) {
                sum[column] = json!(number(measure, amount.total)?.map(|it| it.to_string()));
            }
            sums.push(sum);
            Ok(())
        })?;
        Ok(sums)
    }

    fn write(
        &self,
        client: &SpiClient<'_>,
        own: Option<&OwnUsage>,
        sums: Vec<Value>,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let params = Params::default();
        let order = self.operation;
        let running = " LEFT JOIN running ON running.job = job.job AND done.job_no IS NULL";
        let statement = sql!(
            "jobs.sql",
            sums = params.bind("sums", || Value::Array(sums).to_string()),
            from = self.from(client, own, &params, running)?,
            order = order.map_or_else(String::new, |it| format!("{it} DESC NULLS LAST, ")),
            n = params.bind("n", || self.n as i64),
        );
        write_rows(&statement, &params.take(), rows, ROW_LIMIT)
    }
}
