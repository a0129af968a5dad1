//! `jobstats_job()` reports on one job as a whole.

use std::collections::HashSet;

use jobstats_core::instant::Span;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{AnyNumeric, IntoDatum};

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{Row, SqlResult, Statements, connect};
use crate::pg::time::{micros, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::SETTINGS;
use crate::query::dimension::By;
use crate::query::entries::if_few;
use crate::query::filters::{Filters, exactly};
use crate::query::measure::{CALLS_FOR_MEAN, Measure, Measures, SECONDS};
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::statement::Statement;
use crate::store;

use work::{Done, Entries, Work};

mod span;
mod work;

/// Returns a sum as it is told: times in seconds, all else as it is stored. It is exact.
fn told(sum: i128, is_time: bool) -> Result<AnyNumeric, Error> {
    let sum = AnyNumeric::from(sum);
    if !is_time {
        return Ok(sum);
    }
    let seconds = sum * numeric(AnyNumeric::try_from(SECONDS))?;
    numeric(AnyNumeric::try_from(seconds.normalize()))
}

fn numeric<T>(value: Result<T, pgrx::numeric::Error>) -> Result<T, Error> {
    value.map_err(|error| Error::Damaged(error.to_string()))
}

/// Returns the bytes or seconds per call, unless there are too few calls.
fn per_call(measure: &Measure, done: &Done) -> Result<Option<f64>, Error> {
    match (done.spent, done.calls) {
        (Some(spent), Some(calls)) if calls >= CALLS_FOR_MEAN.into() => {
            let is_time = measure.spent.as_ref().is_some_and(|sum| sum.time);
            let per_call = told(spent, is_time)? / AnyNumeric::from(calls);
            Ok(Some(numeric(f64::try_from(per_call))?))
        }
        _ => Ok(None),
    }
}

/// A target that was observed.
struct Target {
    id: i32,
    cluster: String,
    filesystem: Option<String>,
    kind: String,
    name: String,
    /// The observed time in microseconds.
    observed: i64,
}

impl Target {
    fn read(row: &Row<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("target_id")?,
            cluster: row.get("cluster")?,
            filesystem: row.get("filesystem")?,
            kind: row.get("kind")?,
            name: row.get("target")?,
            observed: row.get::<Option<i64>>("observed")?.unwrap_or(0),
        })
    }

    /// Writes the usage of the job for one operation on this target. `width` is that of the window in seconds.
    fn write(
        &self,
        measure: &Measure,
        done: &Done,
        width: f64,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let total = told(done.total, measure.is_time())?;
        let seconds = self.observed as f64 / 1e6;
        let per_second = numeric(f64::try_from(total.clone()))? / seconds;
        let per_call = per_call(measure, done)?;
        let (first, last_active) = (timestamptz(done.first)?, timestamptz(done.last)?);
        rows.put(|| {
            [
                self.cluster.as_str().into_datum(),
                self.filesystem.as_deref().into_datum(),
                self.kind.as_str().into_datum(),
                self.name.as_str().into_datum(),
                measure.name.as_str().into_datum(),
                total.into_datum(),
                done.calls.map(AnyNumeric::from).into_datum(),
                per_call.into_datum(),
                (seconds > 0.0).then_some(per_second).into_datum(),
                first.into_datum(),
                last_active.into_datum(),
                i64::try_from(done.nodes.len())
                    .unwrap_or(i64::MAX)
                    .into_datum(),
                (seconds / width).into_datum(),
            ]
        });
        Ok(())
    }
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_job(job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, operation text, total numeric, calls numeric,
    per_call double precision, rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz) IS
'Shows what one job did, by target and operation. For each, and for metadata and service_time, it says how much, in how many calls, from when to when and on how many nodes; times are in seconds. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the target was observed. Errors: 22023 where job is NULL or the window empty, 55000 where there is no store.';
"#)]
fn jobstats_job(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<String>()?;
    let (since, until) = (arguments.take()?, arguments.take()?);
    let job = job.ok_or_else(|| {
        Error::argument(
            "job must not be NULL",
            "Give the identifier of a job, as in '4711'.",
        )
    })?;
    let _pinned = Pinned::new(SETTINGS);
    connect(|client| {
        store::require(client)?;
        let entries = Entries::of_job(client, &job)?;
        match period(client, &job, &entries, since, until)? {
            Some(period) => of_job(client, &job, &entries, period, &mut rows),
            None => Ok(()),
        }
    })?;
    Ok(())
}

fn of_job(
    client: &SpiClient<'_>,
    job: &str,
    entries: &Entries,
    period: Period,
    rows: &mut Rows,
) -> Result<(), Error> {
    let question = Question {
        period,
        by: By::these(&["cluster", "filesystem", "kind", "target"]),
        measures: Measures::every()?,
        filters: Filters::default().only("job", exactly(job)),
        totals: true,
        calls: true,
        wanted: Wanted::All,
    };
    let Some(plan) = Plan::find(client, &question)? else {
        return Ok(());
    };
    let statement = Statement::new(&question, &plan, if_few(entries.ids()));
    let targets = statement.targets();
    let targets = client.query(&*targets.sql, &targets.params)?;
    let targets = targets.map(|row| Target::read(&row));
    let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
    let mut work = Work::new(&question.measures);
    let mdts = targets.iter().filter(|it| it.kind == "MDT");
    let mdts: HashSet<i32> = mdts.map(|it| it.id).collect();
    let usage = statement.rows_of_entries(&work.columns());
    work.add_rows(client, &usage, entries, &mdts)?;
    plan.raise_notices();
    let width = plan.window.step(0).map_or(0.0, |(_, seconds)| seconds);
    for target in &targets {
        for (measure, done) in question.measures.list.iter().zip(work.on(target.id)) {
            if let Some(done) = done {
                target.write(measure, done, width, rows)?;
            }
        }
    }
    Ok(())
}

/// Returns the window. A bound that is NULL is the first or last time of the job's rows. Returns `None` if the job has
/// no rows in the window.
fn period(
    client: &SpiClient<'_>,
    job: &str,
    entries: &Entries,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<Option<Period>, Error> {
    let whole = |since, until| Period {
        since,
        until,
        step: None,
        // All stored usage of the job counts, even if some targets have not yet been observed up to the end of the
        // window.
        fixed: true,
    };
    if since.is_some() && until.is_some() {
        return Ok(Some(whole(since, until)));
    }
    let [from, to] = [since, until].map(|time| time.map(micros).transpose());
    let (from, to) = (from?, to?);
    let span = span::of_job(client, job, &entries.ids())?;
    let reaches = |&(first, last): &Span| {
        from.is_none_or(|from| last > from) && to.is_none_or(|to| first < to)
    };
    let Some((first, last)) = span.filter(reaches) else {
        return Ok(None);
    };
    let (first, last) = (timestamptz(first)?, timestamptz(last)?);
    Ok(Some(whole(since.or(Some(first)), until.or(Some(last)))))
}
