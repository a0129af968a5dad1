//! Writes the usage of a job as rows: first those of the whole job, then those of each group.

use jobstats_core::distribution::Distribution;
use jobstats_core::per_call::Calls;
use jobstats_core::usage::{Amount, Measure};
use pgrx::AnyNumeric;

use crate::pg::error::Error;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::functions::job::details::{self, Details};
use crate::query::functions::job::grouping::Grouping;
use crate::query::functions::job::row::Row;
use crate::query::functions::job::time::Chosen;
use crate::query::functions::job::work::Work;
use crate::query::labels::decimal;

/// Writes all rows. Those of the whole window have the rates in its buckets, and details of single calls if they are known.
pub fn write(
    work: &Work<'_>,
    chosen: &Chosen,
    grouping: &Grouping,
    rows: &mut Rows,
) -> Result<(), Error> {
    let details = match chosen.is_whole && chosen.has_buckets {
        true => details::of_job(work)?,
        false => Details::new(),
    };
    for by in grouping.told() {
        for mut done in work.done(by, chosen.has_buckets)? {
            let (start, end) = done.span;
            let mut rates = done.rates.take();
            for (measure, amount) in done.told() {
                let asked = &work.measures.list[*measure];
                let calls = details.get(&(done.group.clone(), *measure));
                let (min, max, stddev) = spread(asked, calls)?;
                let active = amount.active;
                let amount = Amount {
                    active: active.map(|it| (it.0.clamp(start, end), it.1.clamp(start, end))),
                    ..*amount
                };
                let row = Row {
                    time: Some(timestamptz(start)?),
                    rate: amount.rate,
                    rates: rates
                        .as_mut()
                        .and_then(|it| Distribution::of(&mut it[*measure])),
                    min,
                    max,
                    stddev,
                    coverage: Some(done.observed.coverage).filter(|it| it.is_finite()),
                    ..Row::of(asked, &amount, grouping.named(&done.group))?
                };
                row.put(rows);
            }
        }
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
