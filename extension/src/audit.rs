//! `jobstats_audit()`: compares stored values with values computed from the raw text.
//!
//! For each target, [`walk`] recomputes the observations in order, from the raw text of each and its predecessor. [`load`]
//! reads them and checks the digests, [`rows`] compares increments, and [`strays`] finds rows without an observation
//! and checks the observed spans. `jobstats_reprocess()` repairs the observations that the same walk finds.

mod load;
mod reach;
mod reprocess;
mod reread;
mod rows;
mod strays;
mod target_counters;
mod walk;

use jobstats_core::rules::audit::{Findings, Summary};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::job_stats::entries::Entries;
use crate::feed::require_read_committed;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect};
use crate::pg::statement::Snapshot;
use crate::pg::time::{timestamptz, window};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::filters::Filters;
use crate::store;
pub use walk::{Purpose, Walk, WrongObservation, targets};

/// A target of the store.
pub struct Target {
    pub id: i32,
    pub cluster: String,
    pub name: String,
}

/// Begins to write as feeds do, and with their lock: otherwise setup could deadlock over tables.
fn begin_as_feed(client: &mut SpiClient<'_>, action: &'static str) -> Result<(), Error> {
    require_read_committed(client, action)?;
    store::require(client)?;
    client.run("LOCK TABLE jobstats.feed IN ROW EXCLUSIVE MODE", &[])
}

#[pg_extern(sql = false)]
fn jobstats_audit(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    mut rows: Rows,
) -> SqlResult<()> {
    let window = window(since, until)?;
    let _held = Snapshot::OfCall.hold();
    let (settings, targets) = connect(|client| -> Result<_, Error> {
        let settings = store::settings(client)?.require_rows()?;
        Ok((settings, targets(client, &Filters::default())?))
    })?;
    let walk = Walk::new(Purpose::Audit, window, settings, None)?;
    let mut entries = Entries::default();
    let mut findings = Findings::default();
    let mut summary = Summary::default();
    let mut runs = Vec::new();
    for target in &targets {
        let name = || (target.cluster.clone(), target.name.clone());
        let mut report = |finding| Ok(findings.add(name(), finding)?);
        entries.sent_by(&target.cluster);
        let walked = walk.target(target.id, &mut entries, &mut report)?;
        summary.add(walked.computed, walked.left);
        runs.extend(walked.runs);
        target_counters::check(&walk, target.id, &mut report)?;
    }
    connect(|client| strays::rows(client, window, &runs, &mut findings))?;
    connect(|client| strays::spans(client, window, &mut findings))?;
    pgrx::notice!("{summary}");
    for ((cluster, target), finding) in findings.in_order() {
        let time = timestamptz(finding.time)?;
        rows.put(|| {
            [
                cluster.cell(),
                target.cell(),
                time.cell(),
                finding.entry.cell(),
                finding.what.cell(),
                finding.stored.cell(),
                finding.computed.cell(),
            ]
        });
    }
    Ok(())
}
