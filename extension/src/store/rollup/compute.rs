//! Computes spans of rollup tables, in steps of `jobstats_maintain()`.

use jobstats_core::base::instant::DAY;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, connect_mut, values};
use crate::pg::time::{micros, timestamptz};
use crate::store::rollup::{Owner, Rollup, owners};

#[pg_extern(sql = false)]
fn jobstats_roll_up(
    level: Option<&str>,
    by_user: Option<bool>,
    span_from: Option<TimestampWithTimeZone>,
    span_to: Option<TimestampWithTimeZone>,
    target_id: Option<i32>,
) -> SqlResult<i64> {
    let (Some(level), Some(by_user), Some(span_from), Some(span_to)) =
        (level, by_user, span_from, span_to)
    else {
        return Err(Error::Null("an argument other than target_id").into());
    };
    let rows = connect_mut(|client| -> Result<usize, Error> {
        let rollup = Rollup::find(level)?;
        let arguments = values![span_from, span_to, target_id];
        let in_span = |table: &str, key: &str| {
            let target = match target_id {
                Some(_) => format!("{table}.target_id = $3"),
                None => "$3::integer IS NULL".to_owned(),
            };
            format!("{table}.{key} > $1 AND {table}.{key} <= $2 AND {target}")
        };
        let old = in_span("old", "bucket");
        let mut replace = |relation: String, insert: String| {
            client.execute(
                &format!("DELETE FROM jobstats.{relation} old WHERE {old}"),
                &arguments,
            )?;
            // Only here: planning a DELETE takes time, and a new partition is empty.
            client.execute(
                "SELECT jobstats_internal.add_partitions($1, $2, $3, $4)",
                &values![relation, rollup.unit, span_from, span_to],
            )?;
            // The order of buckets suits the block ranges of the BRIN index.
            client.execute(&format!("{insert} ORDER BY 1"), &arguments)
        };
        if !by_user {
            let condition = in_span("summed", rollup.source().1);
            return replace(rollup.relation(), rollup.insert(&condition));
        }
        let condition = in_span("summed", "bucket");
        let each = rollup.owners();
        each.map(|it| replace(rollup.owned(it), owners::insert(rollup, it, &condition)))
            .sum()
    })?;
    Ok(rows as i64)
}

#[pg_extern(sql = false)]
fn jobstats_skip_empty_days(
    level: &str,
    by_user: bool,
    span_from: TimestampWithTimeZone,
    span_to: TimestampWithTimeZone,
) -> SqlResult<TimestampWithTimeZone> {
    let rollup = Rollup::find(level)?;
    let (mut from, to) = (micros(span_from)?, micros(span_to)?);
    if to.saturating_sub(from) > 100_000 * DAY {
        return Err(Error::argument(
            "the span is too long",
            "Give a span of less than 100,000 days.",
        )
        .into());
    }
    let (source, time) = summed(rollup, by_user);
    let relation = match by_user {
        true => rollup.owned(Owner::User),
        false => rollup.relation(),
    };
    let has_rows = format!(
        "SELECT EXISTS (SELECT FROM {source} summed WHERE summed.{time} > $1 AND summed.{time} <= $2) \
         OR EXISTS (SELECT FROM jobstats.{relation} held WHERE held.bucket > $1 AND held.bucket <= $2)"
    );
    connect_as_of_call(|client| -> Result<(), Error> {
        // The last day, which usually is the whole span, is not searched: to find the first row of ten minutes, PostgreSQL
        // would read the previous day.
        while to - from > DAY {
            let day = values![timestamptz(from)?, timestamptz(from + DAY)?];
            if client.query_value(&has_rows, &day)? {
                break;
            }
            from += DAY;
        }
        Ok(())
    })?;
    Ok(timestamptz(from)?)
}

/// The largest number of rows of several days in one statement.
const MOST_ROWS: i64 = 50_000;

/// The largest number of days in one statement, which locks partitions of each.
const MOST_DAYS: i64 = 32;

#[pg_extern(sql = false)]
fn jobstats_days_at_once(
    level: &str,
    by_user: bool,
    span_from: TimestampWithTimeZone,
    span_to: TimestampWithTimeZone,
) -> SqlResult<TimestampWithTimeZone> {
    let (source, time) = summed(Rollup::find(level)?, by_user);
    let rows = format!(
        "SELECT count(*) FROM (SELECT FROM {source} summed WHERE summed.{time} > $1 AND summed.{time} <= $2 LIMIT {MOST_ROWS}) few"
    );
    let (from, to) = (micros(span_from)?, micros(span_to)?);
    let end = |days: i64| to.min(from + days * DAY);
    let mut days = MOST_DAYS;
    connect_as_of_call(|client| -> Result<(), Error> {
        // The last day, which usually is the whole span, needs no search.
        while days > 1 && to - from > DAY {
            let span = values![timestamptz(from)?, timestamptz(end(days))?];
            if client.query_value::<i64>(&rows, &span)? < MOST_ROWS {
                break;
            }
            days /= 2;
        }
        Ok(())
    })?;
    Ok(timestamptz(end(days))?)
}

/// Returns the relation that a rollup, or its sums by user, sum, and its column of time.
fn summed(rollup: &Rollup, by_user: bool) -> (String, &'static str) {
    match by_user {
        true => (format!("jobstats.{}", rollup.relation()), "bucket"),
        false => rollup.source(),
    }
}
