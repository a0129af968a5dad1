//! `jobstats_job()`: one job as a whole.

use jobstats_core::level::Span;
use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::error::Error;
use crate::reading::answer::{Columns, Step, ask_for};
use crate::reading::arguments::{Filters, Period, exactly};
use crate::reading::dimension::{By, Dimension, Dimensions};
use crate::reading::measure::Measures;
use crate::reading::question::{Question, Wanted};
use crate::store;
use crate::time::{micros, timestamptz};

mod span;

/// What a job did of one operation on one target.
struct Row {
    dimensions: Dimensions,
    operation: String,
    total: Option<AnyNumeric>,
    calls: Option<AnyNumeric>,
    per_call: Option<f64>,
    rate: Option<f64>,
    first: Option<TimestampWithTimeZone>,
    last_active: Option<TimestampWithTimeZone>,
    nodes: Option<i64>,
    coverage: f64,
}

impl Row {
    fn read(question: &Question, step: Step, columns: &mut Columns<'_>) -> Result<Self, Error> {
        let dimensions = columns.dimensions(&question.by)?;
        let number = columns.take::<i32>()?.and_then(|n| usize::try_from(n).ok());
        let measure = number.and_then(|n| question.measures.list.get(n));
        let measure =
            measure.ok_or_else(|| Error::Damaged("an operation is missing".to_owned()))?;
        Ok(Self {
            dimensions,
            operation: measure.name.clone(),
            total: columns.take()?,
            calls: columns.take()?,
            per_call: columns.take()?,
            rate: columns.take()?,
            first: columns.take()?,
            last_active: columns.take()?,
            nodes: columns.take()?,
            coverage: columns.take()?.unwrap_or(0.0) / step.seconds,
        })
    }
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_job(job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, operation text, total numeric, calls numeric,
    per_call double precision, rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz) IS
'What one job did, by target and operation, metadata and service_time too: how much, in how many calls, from when to when and on how many nodes. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the target was observed. Errors: 22023 where job is NULL or the window empty, 55000 where there is no store.';
"#)]
fn jobstats_job(
    job: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(cluster, Option<String>),
            name!(filesystem, Option<String>),
            name!(kind, Option<String>),
            name!(target, Option<String>),
            name!(operation, String),
            name!(total, Option<AnyNumeric>),
            name!(calls, Option<AnyNumeric>),
            name!(per_call, Option<f64>),
            name!(rate, Option<f64>),
            name!(first, Option<TimestampWithTimeZone>),
            name!(last_active, Option<TimestampWithTimeZone>),
            name!(nodes, Option<i64>),
            name!(coverage, f64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let job = job.ok_or_else(|| Error::Argument("job must not be NULL".to_owned()))?;
    let rows = match period(job, since, until)? {
        Some(period) => of_job(job, period)?,
        None => Vec::new(),
    };
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        (
            dimensions.cluster,
            dimensions.filesystem,
            dimensions.kind,
            dimensions.target,
            row.operation,
            row.total,
            row.calls,
            row.per_call,
            row.rate,
            row.first,
            row.last_active,
            row.nodes,
            row.coverage,
        )
    })))
}

fn of_job(job: &str, period: Period) -> Result<Vec<Row>, Error> {
    let question = Question {
        period,
        by: By::these(&[
            Dimension::Cluster,
            Dimension::Filesystem,
            Dimension::Kind,
            Dimension::Target,
        ]),
        measures: Measures::every()?,
        filters: Filters::default().only(Dimension::Job, exactly(job)),
        totals: true,
        calls: true,
        wanted: Wanted::Operations,
    };
    ask_for(&question, |step, columns| {
        Row::read(&question, step, columns)
    })
}

/// The window; what was left open of it is where the job's rows begin and end. None if it has none.
fn period(
    job: &str,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<Option<Period>, Error> {
    let whole = |since, until| Period {
        since,
        until,
        step: None,
        // What is known of the job is wanted, although other targets may have been observed since.
        fixed: true,
    };
    if since.is_some() && until.is_some() {
        return Ok(Some(whole(since, until)));
    }
    let [from, to] = [since, until].map(|time| time.map(micros).transpose());
    let (from, to) = (from?, to?);
    let span = Spi::connect(|client| {
        store::require(client)?;
        span::of_job(client, job)
    })?;
    let reaches = |&(first, last): &Span| {
        from.is_none_or(|from| last > from) && to.is_none_or(|to| first < to)
    };
    let Some((first, last)) = span.filter(reaches) else {
        return Ok(None);
    };
    let (first, last) = (timestamptz(first)?, timestamptz(last)?);
    Ok(Some(whole(since.or(Some(first)), until.or(Some(last)))))
}
