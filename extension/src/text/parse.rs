//! `jobstats_parse()` and `jobstats_problems()`: return as rows what the scanner finds.

use jobstats_core::escape::escape;
use jobstats_core::job_stats::{
    Clock, CounterLine, Lines, Place, Reason, Time, histogram_json, list,
};
use pgrx::prelude::*;
use pgrx::{AnyNumeric, IntoDatum};

use crate::pg::ballast;
use crate::pg::jsonb::jsonb;
use crate::pg::pause::PAUSE;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    target text, entry text, snapshot_time numeric, start_time numeric, clock text, operation text, samples numeric,
    unit text, min numeric, max numeric, sum numeric, sumsq numeric, hist jsonb, line integer
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_parse(text) IS
'Splits a text of job_stats into rows, one per operation. Each line is as printed; only the lines that jobstats_problems() shows are left out. target is NULL where the text has no name, entry is empty where the identifier is blank. Times are in seconds on the clock epoch or boot (Lustre 2.15.0 and 2.15.1); what a line does not have is NULL. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';
"#)]
fn jobstats_parse(body: &str, rows: Rows) -> SqlResult<()> {
    ballast::hold()?;
    list(body.as_bytes(), &mut Counters(rows), PAUSE);
    Ok(())
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_problems(body text) RETURNS TABLE (
    line integer, target text, entry text, reason text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_problems(text) IS
'Lists the lines of a text of job_stats that cannot be used. Columns: line (from 1), target and entry where known, reason and the line itself, of a long one the first 64 kB. Other parameters of lctl, its error messages and unknown lines of the form key: value inside a record are not listed. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';
"#)]
fn jobstats_problems(body: &str, rows: Rows) -> SqlResult<()> {
    ballast::hold()?;
    list(body.as_bytes(), &mut Problems(rows), PAUSE);
    Ok(())
}

/// The rows of `jobstats_parse()`.
struct Counters(Rows);

impl Lines for Counters {
    fn counter(&mut self, place: &Place, counter: &CounterLine<'_>) {
        let number = |field: Option<u64>| field.map(AnyNumeric::from).into_datum();
        self.0.put(|| {
            [
                place.target.as_deref().into_datum(),
                place.entry.as_deref().unwrap_or_default().into_datum(),
                place.snapshot_time.and_then(seconds).into_datum(),
                place.start_time.and_then(seconds).into_datum(),
                place.clock().map(Clock::as_str).into_datum(),
                counter.operation.into_datum(),
                number(Some(counter.samples)),
                counter.unit_name.into_datum(),
                number(counter.min),
                number(counter.max),
                number(counter.sum),
                number(counter.sumsq),
                counter
                    .histogram
                    .as_ref()
                    .and_then(|histogram| jsonb(&histogram_json(histogram))),
                integer(place.line).into_datum(),
            ]
        });
    }
}

/// The rows of `jobstats_problems()`.
struct Problems(Rows);

impl Lines for Problems {
    fn problem(&mut self, place: &Place, reason: Reason, text: &[u8]) {
        self.0.put(|| {
            [
                integer(place.line).into_datum(),
                place.target.as_deref().into_datum(),
                place.entry.as_deref().into_datum(),
                reason.code().into_datum(),
                escape(text).as_ref().into_datum(),
            ]
        });
    }
}

fn integer(line: u32) -> i32 {
    i32::try_from(line).unwrap_or(i32::MAX)
}

/// Converts a time to seconds, exactly: a double would lose the nanoseconds.
fn seconds(time: Time) -> Option<AnyNumeric> {
    AnyNumeric::try_from(time.to_string().as_str()).ok()
}
