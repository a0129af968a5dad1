//! Functions that read a density.

use jobstats_core::series::density::Bucket;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::summaries::density::stored;

#[pg_extern(sql = false)]
fn jobstats_density_buckets(
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

#[pg_extern(sql = false)]
fn jobstats_density_count(density: &[u8]) -> SqlResult<i64> {
    Ok(bigint(stored(density)?.count())?)
}

#[pg_extern(sql = false)]
fn jobstats_density_zeros(density: &[u8]) -> SqlResult<i64> {
    Ok(bigint(stored(density)?.zeros())?)
}

/// Converts a count. A density counts no more than a bigint holds.
fn bigint(count: u64) -> Result<i64, Error> {
    i64::try_from(count).map_err(Error::damaged_value)
}
