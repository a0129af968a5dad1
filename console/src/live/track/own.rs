//! The own counters of targets in a text, which count requests with and without an identifier.

use std::collections::{BTreeMap, HashMap};

use jobstats_core::increment::{Column, Increment, MAX_RATE};
use jobstats_core::instant::Micros;
use jobstats_core::operation::{Kind, OPERATIONS};
use jobstats_core::parameter::{Other, Problems};
use jobstats_core::pause::Pause;
use jobstats_core::snapshot::ReadError;
use jobstats_core::target::TargetKind;
use jobstats_core::whole;

use super::FORGOTTEN;
use crate::live::interval::{Counter, Whole, Work};

/// The own counters of a target in a text.
pub struct Own {
    /// The time at which they were read, by the clock of the server where that tells it.
    time: Option<Micros>,
    body: String,
    /// The connections that are none of a metadata server.
    ended: Vec<String>,
}

/// Returns the own counters in a text, by the names of targets.
pub fn read(others: &[Other<'_>]) -> Result<HashMap<String, Own>, ReadError> {
    let found = whole::read(others, &mut Problems::default(), Pause::NEVER)?.into_iter();
    let own = found.map(|it| {
        let name = it.target.shown();
        let (time, body, ended) = (it.time, it.body, it.ended);
        (name, Own { time, body, ended })
    });
    Ok(own.collect())
}

/// The own counters of a target in its last text.
pub struct LastOwn {
    time: Micros,
    body: String,
}

/// The work of a target by its own counters; `None` where it is not known.
pub type Grown = Option<Vec<Increment<'static>>>;

/// Compares the own counters with those of the text before. `time` is that of the text.
pub fn compare(
    last: Option<LastOwn>,
    own: Option<Own>,
    time: Micros,
) -> Result<(Option<LastOwn>, Grown), ReadError> {
    let Some(own) = own else {
        return Ok((None, None));
    };
    let time = own.time.unwrap_or(time);
    let last = last.filter(|last| (1..FORGOTTEN).contains(&(time - last.time)));
    let before = last.as_ref().map(|last| (last.time, last.body.as_str()));
    let compared = whole::compare(before, (time, &own.body), MAX_RATE, Pause::NEVER)?;
    let lacks = |last: &LastOwn| compared.lacks_exports(&own.ended, time - last.time);
    if last.as_ref().is_some_and(lacks) {
        return Ok((last, None));
    }
    let grown = last.map(|_| compared.increments);
    let body = compared.body;
    Ok((Some(LastOwn { time, body }), grown))
}

/// Returns what a target did by its own counters, beside the work of its entries.
pub fn wholes(grown: &[Increment<'_>], work: &[Work], kind: TargetKind) -> Vec<Whole> {
    let mut sums = BTreeMap::<Counter, [i64; 2]>::new();
    let mut add = |place: usize, totals: &[(Column, i64)]| {
        for (column, total) in totals {
            for counter in counters(*column, kind).into_iter().flatten() {
                sums.entry(counter).or_default()[place] += total;
            }
        }
    };
    grown.iter().for_each(|it| add(0, &it.totals));
    work.iter().for_each(|it| add(1, &it.totals));
    let whole = |(counter, [total, accounted]): (Counter, [i64; 2])| {
        let unit = if counter == Counter::Service {
            1e6
        } else {
            1.0
        };
        Whole {
            counter,
            total: total as f64 / unit,
            untracked: (total - accounted).max(0) as f64 / unit,
        }
    };
    let sums = sums.into_iter().filter(|(_, [total, _])| *total > 0);
    sums.map(whole).collect()
}

/// Returns the counters that a column counts in.
fn counters(column: Column, kind: TargetKind) -> [Option<Counter>; 2] {
    match column {
        Column::Usecs(index) => {
            let is_part = OPERATIONS[index].in_service_time();
            [is_part.then_some(Counter::Service), None]
        }
        Column::Total(index) => {
            let operation = &OPERATIONS[index];
            let is_own = operation.in_service_time() || operation.kind == Kind::Bytes;
            let is_metadata = operation.metadata && kind == TargetKind::Mdt;
            [
                is_own.then_some(Counter::Operation(index)),
                is_metadata.then_some(Counter::Metadata),
            ]
        }
    }
}
