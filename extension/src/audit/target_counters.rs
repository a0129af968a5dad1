//! Compares the stored increments of target counters with their snapshots, and repairs them.

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::rules::audit::{Finding, Predecessor};
use pgrx::spi::SpiClient;

use crate::audit::walk::{Purpose, Report, Walk};
use crate::feed::job_stats::rows::{staged_pieces, with_pieces};
use crate::feed::target_counters::{Recomputation, StoredCounters};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, connect, connect_mut, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::store::rollup;

/// The result for the snapshots of a target.
#[derive(Default)]
pub struct CheckResult {
    /// The number of snapshots that were compared, or have no predecessor.
    pub computed: u64,
    /// The number of snapshots whose predecessor is gone.
    pub left: u64,
    /// The times of the snapshots whose increments differ.
    pub wrong: Vec<Micros>,
    /// The numbers of rows that were replaced.
    pub deleted: usize,
    pub inserted: usize,
}

/// Reports differences in the window of a walk. To repair is to replace them, also after the window as long as the carried records differ,
/// and to recompute the sums. The caller holds the lock of the target.
pub fn check(walk: &Walk, target_id: i32, report: Report<'_>) -> Result<CheckResult, Error> {
    let (purpose, window) = (walk.purpose, walk.window);
    let mut checked = CheckResult::default();
    let next_to =
        |time, side| connect(|client| StoredCounters::next_to(client, target_id, time, side));
    let mut former = next_to(window.0, StoredCounters::UNTIL)?;
    let (mut after, mut goes_beyond) = (window.0, false);
    // The sums of a bucket that begins before the window may be incomplete.
    let near = former.as_ref().filter(|it| window.0 - it.time < DAY);
    let mut span = near.map(|it| (it.time - 1, it.time));
    while let Some(this) = next_to(after, StoredCounters::AFTER)? {
        pause();
        if this.time > window.1 && !goes_beyond {
            break;
        }
        after = this.time;
        let before = former.as_ref().map(|it| it.time);
        let predecessor = Predecessor::of(before, after, this.since, walk.settings.raw_retention);
        let Some(before) = former.filter(|_| predecessor == Predecessor::Before) else {
            match predecessor {
                Predecessor::Gone => checked.left += 1,
                _ => checked.computed += 1,
            }
            former = Some(this);
            goes_beyond = false;
            continue;
        };
        checked.computed += 1;
        let recomputation = Recomputation::new(&before, &this, walk.settings.max_rate)?;
        span = Some((span.map_or(before.time, |(from, _)| from), after));
        let findings = connect(|client| differences(client, target_id, &this, &recomputation))?;
        goes_beyond = purpose == Purpose::Repair && recomputation.compared.body != this.body;
        if !findings.is_empty() {
            checked.wrong.push(after);
            findings.into_iter().try_for_each(&mut *report)?;
            if purpose == Purpose::Repair {
                let replaced = connect_mut(|client| recomputation.replace(client, target_id))?;
                checked.deleted += replaced.0;
                checked.inserted += replaced.1;
            }
        }
        former = Some(recomputation.into_stored(this));
    }
    if let (Purpose::Repair, Some(span)) = (purpose, span) {
        connect_mut(|client| rollup::sum_target_counters(client, &[target_id], span, true))?;
    }
    Ok(checked)
}

fn differences(
    client: &SpiClient<'_>,
    target_id: i32,
    this: &StoredCounters,
    recomputation: &Recomputation,
) -> Result<Vec<Finding>, Error> {
    let what = "whole target";
    let bodies = [&this.body, &recomputation.compared.body].map(|body| Some(body.as_bytes()));
    let body = Finding::of_carried(recomputation.time, bodies[0], bodies[1]);
    let body = body.map(|body| Ok(Finding { what, ..body }));
    let statement = sql!("target_counters.sql", computed = staged_pieces());
    with_pieces(recomputation.pieces(target_id)?, || {
        let rows = client.query(
            &statement,
            &values![
                target_id,
                timestamptz(recomputation.since)?,
                timestamptz(recomputation.time)?
            ],
        )?;
        let rows = rows.map(|row| {
            let [stored, computed] =
                ["stored", "computed"].map(|name| row.get::<Option<String>>(name));
            Ok(Finding::new(recomputation.time, what, stored?, computed?))
        });
        body.into_iter().chain(rows).collect()
    })
}
