//! `jobstats_audit()`: compares the stored values with those computed from the raw text.
//!
//! Per target, [`walk`] goes from observation to observation, as feeds did, and computes each one from its raw text and
//! that of the one before. [`load`] reads the observations and checks that the text is the one that came, [`rows`]
//! compares the increments, and [`strays`] finds rows that belong to no observation. `jobstats_reprocess()` repairs the
//! observations that the same walk finds.

mod load;
mod reach;
mod reprocess;
mod reread;
mod rows;
mod strays;
mod walk;
mod wholes;

use jobstats_core::audit::{Findings, Summary};
use jobstats_core::instant::Micros;
use pgrx::IntoDatum;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::job_stats::entries::Entries;
use crate::feed::require_read_committed;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect};
use crate::pg::statement::Snapshot;
use crate::pg::time::{timestamptz, window};
use crate::pg::tuplestore::Rows;
use crate::store;
pub use walk::{Purpose, Walk, Wrong, targets};

/// A target of the store.
pub struct Target {
    pub id: i32,
    pub cluster: String,
    pub name: String,
}

/// The window (since, until].
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub since: Micros,
    pub until: Micros,
}

impl Window {
    /// Creates a window from arguments. An argument that is NULL has its default.
    ///
    /// # Errors
    /// [`Error::empty_window`] if the window does not begin before its end.
    pub fn new(
        since: Option<TimestampWithTimeZone>,
        until: Option<TimestampWithTimeZone>,
    ) -> Result<Self, Error> {
        let (since, until) = window(since, until)?;
        Ok(Self { since, until })
    }
}

/// Begins to write under the conditions of feeds, and with their lock: setup waits for us and we for setup, so that no deadlock over
/// tables can arise.
fn begin_as_feed(client: &mut SpiClient<'_>, action: &'static str) -> Result<(), Error> {
    require_read_committed(client, action)?;
    store::require(client)?;
    client.execute("LOCK TABLE jobstats.feed IN ROW EXCLUSIVE MODE", &[])?;
    Ok(())
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_audit(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now()
) RETURNS TABLE (
    cluster text, target text, "time" timestamptz, entry text, what text, stored text, computed text
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_audit(timestamptz, timestamptz) IS
'Checks the store against its raw text and returns what disagrees. Computes the observations in (since, until] again; if all is correct, there is no row. time is that of the observation; what is raw text, bytes, digest, server, since, a count of jobstats.observations, carried records, entry, increment, whole target, or what belongs to no observation. Observations whose raw text, or the previous one, is gone are left out; a NOTICE says how many. Writes nothing. Errors: 22023 for an empty window, 54000 for over 100,000 disagreements, 55000 where there is no store.';
"#)]
fn jobstats_audit(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    mut rows: Rows,
) -> SqlResult<()> {
    let window = Window::new(since, until)?;
    let _held = Snapshot::OfCall.hold();
    let (settings, targets) = connect(|client| -> Result<_, Error> {
        let settings = store::settings(client)?.require_rows()?;
        Ok((settings, targets(client, None)?))
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
        wholes::check(Purpose::Audit, target.id, window, settings, &mut report)?;
    }
    connect(|client| strays::find(client, window, &runs, &mut findings))?;
    pgrx::notice!("{summary}");
    for ((cluster, target), finding) in findings.in_order() {
        let time = timestamptz(finding.time)?;
        rows.put(|| {
            [
                cluster.into_datum(),
                target.into_datum(),
                time.into_datum(),
                finding.entry.into_datum(),
                finding.what.into_datum(),
                finding.stored.into_datum(),
                finding.computed.into_datum(),
            ]
        });
    }
    Ok(())
}
