//! The target counters of a scrape, which count requests with and without an identifier.

use std::collections::HashMap;
use std::sync::LazyLock;

use jobstats_core::base::instant::Micros;
use jobstats_core::base::pause::Pause;
use jobstats_core::base::target::TargetKind;
use jobstats_core::rules::increment::{Increment, MAX_RATE};
use jobstats_core::rules::snapshot::ReadError;
use jobstats_core::rules::target_counters;
pub use jobstats_core::rules::target_counters::TargetCounters;
use jobstats_core::text::additional_parameters::{Other, Problems};
use jobstats_core::usage::{Counting, in_no_entry};

use super::FORGOTTEN;
use crate::live::interval::{EntryUsage, OWN, TargetCounters as CounterTotals};

/// Returns the target counters of a scrape, by the names of targets.
pub fn read<'o>(others: &'o [Other<'o>]) -> Result<HashMap<String, TargetCounters<'o>>, ReadError> {
    let own = target_counters::read(others, &mut Problems::default(), Pause::NEVER)?;
    let own = own.into_iter().map(|it| (it.target.shown(), it));
    Ok(own.collect())
}

/// The target counters of the last snapshot of a target.
pub struct LastCounters {
    time: Micros,
    body: String,
}

/// The work of a target by its own counters; `None` where it is not known.
pub type Growth = Option<Vec<Increment<'static>>>;

/// Compares target counters with the previous ones. `time` is the time of the snapshot.
pub fn compare(
    last: Option<LastCounters>,
    own: Option<TargetCounters<'_>>,
    time: Micros,
) -> Result<(Option<LastCounters>, Growth), ReadError> {
    let Some(own) = own else {
        return Ok((None, None));
    };
    let time = own.time.unwrap_or(time);
    let last = last.filter(|last| (1..FORGOTTEN).contains(&(time - last.time)));
    let before = last.as_ref().map(|last| (last.time, last.body.as_str()));
    let compared = target_counters::compare(before, (time, &own.body), MAX_RATE, Pause::NEVER)?;
    let lacks = |last: &LastCounters| compared.lacks_exports(&own.not_of_servers, time - last.time);
    if last.as_ref().is_some_and(lacks) {
        return Ok((last, None));
    }
    let grown = last.map(|_| compared.increments);
    let body = compared.body;
    Ok((Some(LastCounters { time, body }), grown))
}

/// The columns of the counters of targets.
static COUNTERS: LazyLock<Counting> = LazyLock::new(|| {
    let terms = OWN.iter().flat_map(|it| &it.total);
    Counting::new(&terms.map(|it| it.sum.clone()).collect::<Vec<_>>())
});

/// Returns the work of a target by its own counters, and by its entries.
pub fn totals(grown: &[Increment<'_>], work: &[EntryUsage], kind: TargetKind) -> CounterTotals {
    let [mut all, mut accounted] = [(); 2].map(|()| vec![0; OWN.len()]);
    let grown = grown.iter().map(|it| &it.totals);
    grown.for_each(|it| COUNTERS.add(it, kind, &mut all));
    let work = work.iter().map(|it| &it.totals);
    work.for_each(|it| COUNTERS.add(it, kind, &mut accounted));
    let mut counters = CounterTotals::default();
    for (own, (all, accounted)) in OWN.iter().zip(all.into_iter().zip(accounted)) {
        counters.add(&own.name, all, in_no_entry(all, accounted));
    }
    counters
}
