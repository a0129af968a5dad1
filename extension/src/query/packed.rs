//! Reads what is packed in rows of increments.

use jobstats_core::increment::{Growth, json, unpack, unpack_sizes};
use jobstats_core::operation::OperationIndex;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::SqlResult;

#[pg_extern(sql = false)]
fn jobstats_detail(packed: &[u8]) -> SqlResult<Option<Jsonb<'static>>> {
    let details = unpack(packed).ok_or_else(|| damaged("detail"))?;
    Ok(Jsonb::of(&json(&details)))
}

#[pg_extern(sql = false)]
fn jobstats_histogram(sizes: &[u8], operation: i32) -> SqlResult<Option<Vec<i64>>> {
    Ok(histogram(sizes, operation)?.map(Vec::from))
}

#[pg_extern(sql = false)]
fn jobstats_sized(sizes: &[u8], operation: i32, first: i32) -> SqlResult<Option<i64>> {
    let first = usize::try_from(first).unwrap_or(0);
    let sum = |it: Growth| it.into_iter().take(first).fold(0, i64::saturating_add);
    Ok(histogram(sizes, operation)?.map(sum))
}

fn histogram(sizes: &[u8], operation: i32) -> Result<Option<Growth>, Error> {
    let operation = OperationIndex::try_from(operation).ok();
    let histograms = histograms(sizes)?;
    Ok(operation.and_then(|it| *histograms.get(it)?))
}

/// Returns the histograms of `read_bytes` and `write_bytes`, which are the first operations.
///
/// # Errors
/// [`Error::DamagedValue`]
pub fn histograms(sizes: &[u8]) -> Result<[Option<Growth>; 2], Error> {
    unpack_sizes(sizes).ok_or_else(|| damaged("sizes"))
}

fn damaged(column: &str) -> Error {
    Error::damaged_value(format!("{column} of a row of increments"))
}
