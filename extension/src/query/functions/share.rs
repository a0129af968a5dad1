//! `jobstats_share()` returns the part of a row's value that lies in a window.

use jobstats_core::increment::share;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::TimestampTz;
use pgrx::prelude::*;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_share(
    value bigint, row_since timestamptz, row_time timestamptz, since timestamptz, until timestamptz
) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_share(bigint, timestamptz, timestamptz, timestamptz, timestamptz) IS
'Returns the part of a value that lies in a window. The value counted in (row_since, row_time] is divided at the edges of (since, until], as if it had happened evenly: a difference of cumulative floors, so that adjacent parts add up to the value.';
"#)]
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
