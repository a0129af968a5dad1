//! Unpacks columns of increments; a damaged value becomes NULL.

use jobstats_core::base::operation::OperationIndex;
use jobstats_core::rules::increment::{json, unpack_sizes};
use jobstats_core::rules::snapshot::HISTOGRAM_LEN;
use pgrx::prelude::*;

use crate::pg::jsonb::Jsonb;

#[pg_extern(sql = false)]
fn jobstats_detail(packed: &[u8]) -> Option<Jsonb<'static>> {
    Jsonb::of(&json(packed)?)
}

#[pg_extern(sql = false)]
fn jobstats_histogram(sizes: &[u8], operation: i32) -> Option<Vec<i64>> {
    histogram(sizes, operation as usize).map(Vec::from)
}

#[pg_extern(sql = false)]
fn jobstats_sized(sizes: &[u8], operation: i32, first: i32) -> Option<i64> {
    let calls = histogram(sizes, operation as usize)?.into_iter();
    let first = usize::try_from(first).unwrap_or(0);
    Some(calls.take(first).fold(0, i64::saturating_add))
}

/// Returns the histogram of `read_bytes` or `write_bytes`; `None` if no call is in it.
pub fn histogram(sizes: &[u8], operation: OperationIndex) -> Option<[i64; HISTOGRAM_LEN]> {
    let histogram = *unpack_sizes(sizes)?.as_chunks().0.get(operation)?;
    Some(histogram).filter(|it| *it != [0; HISTOGRAM_LEN])
}
