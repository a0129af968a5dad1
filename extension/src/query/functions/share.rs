//! `jobstats_internal.share()` returns the part of a row's value that lies in a window.

use jobstats_core::rules::increment::share;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::TimestampTz;
use pgrx::prelude::*;

#[pg_extern(sql = false)]
fn jobstats_share(
    value: i64,
    row_since: TimestampWithTimeZone,
    row_time: TimestampWithTimeZone,
    since: TimestampWithTimeZone,
    until: TimestampWithTimeZone,
) -> i64 {
    let [row_since, row_time, since, until] =
        [row_since, row_time, since, until].map(TimestampTz::from);
    share(value, row_since, row_time, since, until)
}
