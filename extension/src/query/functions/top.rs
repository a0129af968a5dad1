//! `jobstats_top()` reports the groups with the largest totals.

use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::question::{Period, Question, Wanted};

const DEFAULT_N: i32 = 10;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_top(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid,workload}', n integer DEFAULT 10,
    min_rate double precision DEFAULT NULL,
    @filters@,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL, unaccounted boolean DEFAULT false
) RETURNS TABLE (
    rank bigint,
    @dimensions@,
    operation text, total numeric, rate double precision, share double precision, share_of_target double precision,
    calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_top IS
'Ranks the users, jobs or targets that did most of an operation. Returns the n groups with the largest total in (since, until], of equal ones the first by their dimensions. Without operation that is service_time or, where no target in scope reports times (Lustre before 2.14), first metadata of MDTs and then bytes of OSTs, each with ranks and shares of its own. The rate of service_time is called requests in service. share is the part of the total of all groups under the same filters; groups with a rate under min_rate are left out. share_of_target is the part of all that the targets did, by their own counters; NULL where these were read for less than 98 % of the time in which the entries of a target were observed, and where by or a filter is about servers. unaccounted adds a row without rank for the work that is in no entry, with its part of all as share_of_target, unless a filter is about entries. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window or a negative n, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_top(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let (n, min_rate) = (arguments.take()?, arguments.take()?);
    let filters = Filters::take(&mut arguments)?;
    let weights = arguments.take()?;
    let filters = filters.excluding(arguments.take()?)?;
    let unaccounted = arguments.take()?.unwrap_or(false);
    let question = Question {
        period,
        by: By::parse(by, &["workload", "uid"])?,
        measures: Measures::parse_busy(operation.as_deref(), weights)?,
        filters,
        wanted: Wanted::Top {
            n: rows_wanted(n)?,
            min_rate,
            unaccounted,
        },
    };
    answer(question, rows)
}

/// Returns the argument `n`.
///
/// # Errors
/// [`Error::argument`] if `n` is negative.
pub fn rows_wanted(n: Option<i32>) -> Result<i64, Error> {
    match n.unwrap_or(DEFAULT_N) {
        n if n >= 0 => Ok(n.into()),
        _ => Err(Error::argument(
            "n must not be negative",
            "Give the number of groups wanted, such as 10.",
        )),
    }
}
