//! Writes the usage of a job as rows: first those of the whole job, then those of each group.

use jobstats_core::distribution::Distribution;
use jobstats_core::per_call::Calls;
use jobstats_core::usage::{Amount, Measure};
use pgrx::AnyNumeric;

use crate::pg::error::Error;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::functions::job::grouping::Grouping;
use crate::query::functions::job::row::Row;
use crate::query::functions::job::time::Chosen;
use crate::query::functions::job::work::In;
use crate::query::functions::job::{Usage, details};
use crate::query::labels::decimal;

/// Writes all rows. Those of the whole window have the rates in its buckets, and details of single calls if they are known.
pub fn write(
    usage: &Usage<'_>,
    chosen: &Chosen,
    grouping: &Grouping,
    rows: &mut Rows,
) -> Result<(), Error> {
    let (work, edges, has_buckets) = (&usage.work, &usage.plan.window.edges, chosen.has_buckets);
    let details = match chosen.is_whole && has_buckets {
        true => details::of_job(usage)?,
        false => None,
    };
    let during = if has_buckets { In::Buckets } else { In::Steps };
    for of in grouping.told() {
        work.each(of, during, |mut done| {
            let (start, end) = match has_buckets {
                true => (edges[0], edges[edges.len() - 1]),
                false => (edges[done.line.step], edges[done.line.step + 1]),
            };
            for (measure, amount) in std::mem::take(&mut done.amounts) {
                if amount.total == Some(0) {
                    continue;
                }
                let asked = &work.measures.list[measure];
                let calls = details.as_ref();
                let calls = calls.and_then(|it| it.get(&(done.group.clone(), measure)));
                let (min, max, stddev) = spread(asked, calls)?;
                let active = amount.active.map(|it| match has_buckets {
                    true => it,
                    false => (it.0.clamp(start, end), it.1.clamp(start, end)),
                });
                let (name, labels) = grouping.named(&done.group);
                let rates = done.rates.as_mut();
                let row = Row {
                    name,
                    time: Some(timestamptz(start)?),
                    rate: amount.rate,
                    rates: rates.and_then(|it| Distribution::of(&mut it[measure])),
                    min,
                    max,
                    stddev,
                    coverage: Some(done.line.observed.coverage).filter(|it| it.is_finite()),
                    labels,
                    ..Row::of(asked, &Amount { active, ..amount })?
                };
                row.put(rows);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns a sum as it is told: times in seconds, all else as it is stored. It is exact.
pub fn told(sum: i128, is_time: bool) -> Result<AnyNumeric, Error> {
    let unit = if is_time { 1_000_000 } else { 1 };
    decimal(sum, unit).map_err(Error::damaged_value)
}

/// The smallest and the largest amount of a call and the standard deviation, where they are stored.
type CallSpread = (Option<AnyNumeric>, Option<AnyNumeric>, Option<f64>);

fn spread(measure: &Measure, calls: Option<&Calls>) -> Result<CallSpread, Error> {
    // Calls are told by their time or by their bytes.
    let is_time = measure.spent.as_ref().is_some_and(|sum| sum.time);
    let bounds = calls.and_then(Calls::bounds);
    let bound = |value: Option<u64>| value.map(|it| told(it.into(), is_time)).transpose();
    let deviation = calls.and_then(Calls::deviation);
    let microseconds = if is_time { 1e6 } else { 1.0 };
    Ok((
        bound(bounds.map(|it| it.0))?,
        bound(bounds.map(|it| it.1))?,
        deviation.map(|it| it / microseconds),
    ))
}
