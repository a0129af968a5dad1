//! The own counters of targets in a text, which count requests with and without an identifier.

use std::collections::HashMap;
use std::sync::LazyLock;

use jobstats_core::base::instant::Micros;
use jobstats_core::base::pause::Pause;
use jobstats_core::base::target::TargetKind;
use jobstats_core::rules::increment::{Increment, MAX_RATE};
use jobstats_core::rules::snapshot::ReadError;
use jobstats_core::rules::target_counters;
use jobstats_core::text::additional_parameters::{Other, Problems};
use jobstats_core::usage::{Counting, in_no_entry};

use super::FORGOTTEN;
use crate::live::interval::{EntryUsage, OWN, TargetCounters};

/// The own counters of a target in a text.
pub struct OwnCounters {
    /// The snapshot time by the server's clock, if the server prints it.
    time: Option<Micros>,
    body: String,
    /// The exports that are not of a metadata server.
    ended: Vec<String>,
}

/// Returns the own counters in a text, by the names of targets.
pub fn read(others: &[Other<'_>]) -> Result<HashMap<String, OwnCounters>, ReadError> {
    let found = target_counters::read(others, &mut Problems::default(), Pause::NEVER)?.into_iter();
    let own = found.map(|it| {
        let name = it.target.shown();
        let (time, body, ended) = (it.time, it.body, it.ended);
        (name, OwnCounters { time, body, ended })
    });
    Ok(own.collect())
}

/// The own counters of a target in its last text.
pub struct LastCounters {
    time: Micros,
    body: String,
}

/// The work of a target by its own counters; `None` where it is not known.
pub type Growth = Option<Vec<Increment<'static>>>;

/// Compares target counters with the previous ones. `time` is the time of the snapshot.
pub fn compare(
    last: Option<LastCounters>,
    own: Option<OwnCounters>,
    time: Micros,
) -> Result<(Option<LastCounters>, Growth), ReadError> {
    let Some(own) = own else {
        return Ok((None, None));
    };
    let time = own.time.unwrap_or(time);
    let last = last.filter(|last| (1..FORGOTTEN).contains(&(time - last.time)));
    let before = last.as_ref().map(|last| (last.time, last.body.as_str()));
    let compared = target_counters::compare(before, (time, &own.body), MAX_RATE, Pause::NEVER)?;
    let lacks = |last: &LastCounters| compared.lacks_exports(&own.ended, time - last.time);
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
pub fn totals(grown: &[Increment<'_>], work: &[EntryUsage], kind: TargetKind) -> TargetCounters {
    let [mut all, mut accounted] = [(); 2].map(|()| vec![0; OWN.len()]);
    let grown = grown.iter().map(|it| &it.totals);
    grown.for_each(|it| COUNTERS.add(it, kind, &mut all));
    let work = work.iter().map(|it| &it.totals);
    work.for_each(|it| COUNTERS.add(it, kind, &mut accounted));
    let mut whole = TargetCounters::default();
    for (own, (all, accounted)) in OWN.iter().zip(all.into_iter().zip(accounted)) {
        whole.add(&own.name, all, in_no_entry(all, accounted));
    }
    whole
}
