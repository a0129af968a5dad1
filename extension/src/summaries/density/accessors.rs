//! Functions that read a density.

use jobstats_core::density::Bucket;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::summaries::density::density_type::stored;

#[pg_extern(requires = ["density_type"], sql = r#"
CREATE FUNCTION jobstats_buckets(density jobstats_density) RETURNS TABLE (
    bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 10 AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_buckets(jobstats_density) IS
'Returns the buckets of a density that are not empty. They are in ascending order: count values x with lower <= x < upper, where lower is base^bucket.';
"#)]
fn jobstats_buckets(
    density: &[u8],
) -> Result<
    TableIterator<
        'static,
        (
            name!(bucket, i32),
            name!(lower, f64),
            name!(upper, f64),
            name!(count, i64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let density = stored(density)?;
    let edges = density.edges();
    let row = |&Bucket { bucket, count }: &Bucket| {
        let (lower, upper) = (edges.lower(bucket), edges.upper(bucket));
        Ok((bucket, lower, upper, bigint(count)?))
    };
    let rows: Result<Vec<_>, Error> = density.buckets().iter().map(row).collect();
    Ok(TableIterator::new(rows?))
}

#[pg_extern(requires = ["density_type"], sql = r#"
CREATE FUNCTION jobstats_count(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_count(jobstats_density) IS
'Returns how many values of a density were above zero.';
"#)]
fn jobstats_count(density: &[u8]) -> SqlResult<i64> {
    Ok(bigint(stored(density)?.count())?)
}

#[pg_extern(requires = ["density_type"], sql = r#"
CREATE FUNCTION jobstats_zeros(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_zeros(jobstats_density) IS 'Returns how many values of a density were zero.';
"#)]
fn jobstats_zeros(density: &[u8]) -> SqlResult<i64> {
    Ok(bigint(stored(density)?.zeros())?)
}

/// Converts a count. A density counts no more than a bigint holds.
fn bigint(count: u64) -> Result<i64, Error> {
    i64::try_from(count).map_err(Error::damaged_value)
}
