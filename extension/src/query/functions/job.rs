//! `jobstats_job()` reports on one job as a whole.

use std::collections::HashSet;

use jobstats_core::instant::Span;
use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::connect;
use crate::pg::time::{micros, timestamptz};
use crate::query::answer::{Columns, Place, SETTINGS};
use crate::query::arguments::{Filters, Period, exactly};
use crate::query::dimension::{By, Dimension, Dimensions};
use crate::query::few::if_few;
use crate::query::measure::{Measure, Measures};
use crate::query::question::{Question, Wanted};
use crate::store;

use work::{Done, Entries, Work};

mod span;
mod work;

/// The usage of a job for one operation on one target.
struct Row {
    dimensions: Dimensions,
    operation: String,
    total: AnyNumeric,
    calls: Option<AnyNumeric>,
    per_call: Option<f64>,
    rate: Option<f64>,
    first: TimestampWithTimeZone,
    last_active: TimestampWithTimeZone,
    nodes: i64,
    coverage: f64,
}

impl Row {
    fn new(target: &Target, measure: &Measure, done: &Done, width: f64) -> Result<Self, Error> {
        let total = total(measure, done.total)?;
        let seconds = target.observed / 1e6;
        Ok(Self {
            dimensions: target.dimensions.clone(),
            operation: measure.name.clone(),
            rate: (seconds > 0.0).then_some(numeric(f64::try_from(total.clone()))? / seconds),
            total,
            calls: done.calls.map(AnyNumeric::from),
            per_call: per_call(done)?,
            first: timestamptz(done.first)?,
            last_active: timestamptz(done.last)?,
            nodes: i64::try_from(done.nodes.len()).unwrap_or(i64::MAX),
            coverage: seconds / width,
        })
    }
}

/// Returns the total of a measure, which is exact, also in seconds.
fn total(measure: &Measure, total: i128) -> Result<AnyNumeric, Error> {
    let total = AnyNumeric::from(total);
    if !measure.total.iter().any(|term| term.in_seconds) {
        return Ok(total);
    }
    let seconds = total * numeric(AnyNumeric::try_from("0.000001"))?;
    numeric(AnyNumeric::try_from(seconds.normalize()))
}

fn numeric<T>(value: Result<T, pgrx::numeric::Error>) -> Result<T, Error> {
    value.map_err(|error| Error::Damaged(error.to_string()))
}

/// Returns the bytes or microseconds per call, if there are at least ten calls.
fn per_call(done: &Done) -> Result<Option<f64>, Error> {
    match (done.spent, done.calls) {
        (Some(spent), Some(calls)) if calls >= 10 => {
            let per_call = AnyNumeric::from(spent) / AnyNumeric::from(calls);
            Ok(Some(numeric(f64::try_from(per_call))?))
        }
        _ => Ok(None),
    }
}

/// A target that was observed.
struct Target {
    id: i32,
    dimensions: Dimensions,
    is_mdt: bool,
    /// The observed time in microseconds.
    observed: f64,
}

impl Target {
    fn read(by: &By, columns: &mut Columns<'_>) -> Result<Self, Error> {
        let missing = || Error::Damaged("a target has no number".to_owned());
        Ok(Self {
            id: columns.take()?.ok_or_else(missing)?,
            dimensions: columns.dimensions(by)?,
            is_mdt: columns.take()?.unwrap_or(false),
            observed: columns.take::<i64>()?.unwrap_or(0) as f64,
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
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz) IS
'What one job did, by target and operation, metadata and service_time too: how much, in how many calls, from when to when and on how many nodes. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the target was observed. Errors: 22023 where job is NULL or the window empty, 55000 where there is no store.';
"#)]
fn jobstats_job(
    job: Option<Short<&str>>,
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
    let job = plain(job).ok_or_else(|| {
        Error::argument(
            "job must not be NULL",
            "Give the identifier of a job, as in '4711'.",
        )
    })?;
    let _pinned = Pinned::new(SETTINGS);
    let rows = connect(|client| {
        store::require(client)?;
        let entries = Entries::of_job(client, job)?;
        match period(client, job, &entries, since, until)? {
            Some(period) => of_job(client, job, &entries, period),
            None => Ok(Vec::new()),
        }
    })?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        (
            dimensions.cluster,
            dimensions.filesystem,
            dimensions.kind,
            dimensions.target,
            row.operation,
            Some(row.total),
            row.calls,
            row.per_call,
            row.rate,
            Some(row.first),
            Some(row.last_active),
            Some(row.nodes),
            row.coverage,
        )
    })))
}

fn of_job(
    client: &SpiClient<'_>,
    job: &str,
    entries: &Entries,
    period: Period,
) -> Result<Vec<Row>, Error> {
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
        wanted: Wanted::All,
    };
    let Some(place) = Place::find(client, &question)? else {
        return Ok(Vec::new());
    };
    let statement = place.statement(&question, if_few(entries.ids()));
    let parameters = place.parameters(&question)?;
    let mut targets = Vec::new();
    for target in client.select(&statement.targets(), None, &parameters)? {
        targets.push(Target::read(&question.by, &mut Columns::of(&target))?);
    }
    let mut work = Work::new(&question.measures);
    let mdts = targets.iter().filter(|it| it.is_mdt).map(|it| it.id);
    let mdts: HashSet<i32> = mdts.collect();
    let rows = statement.rows_of_entries(&work.columns());
    work.add_rows(client, &rows, &parameters, entries, &mdts)?;
    place.note_age()?;
    let width = place.window.step(0).map_or(0.0, |(_, seconds)| seconds);
    let mut rows = Vec::new();
    for target in &targets {
        for (measure, done) in question.measures.list.iter().zip(work.on(target.id)) {
            if let Some(done) = done {
                rows.push(Row::new(target, measure, done, width)?);
            }
        }
    }
    Ok(rows)
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
