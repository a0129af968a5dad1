//! Compares the stored values of an observation, except its increments, with the computed ones.

use jobstats_core::instant::Micros;

use crate::audit::finding::{Finding, first_difference};
use crate::audit::load::{Carried, Loaded};
use crate::feed::job_stats::compute::{Computation, Counts};
use crate::pg::error::Error;
use crate::pg::spi::{Statements, connect};
use crate::pg::time::timestamptz;

/// Returns all findings about an observation, including the findings from when it was read.
pub fn findings(loaded: &Loaded, computed: &Computation<'_>) -> Result<Vec<Finding>, Error> {
    let mut findings = loaded.findings.clone();
    if loaded.since != computed.since {
        let [stored, since] = [loaded.since, computed.since].map(shown);
        findings.push(Finding::new(loaded.time, "since", stored?, since?));
    }
    let counts = named(&loaded.counts)
        .into_iter()
        .zip(named(&computed.counts));
    for ((what, stored), (_, computed)) in counts.filter(|(stored, computed)| stored != computed) {
        let (stored, computed) = (stored.to_string(), computed.to_string());
        findings.push(Finding::new(loaded.time, what, stored, computed));
    }
    // Carried records that cannot be read were reported when the observation was read.
    if let Carried::Readable(stored) = &loaded.carried
        && *stored != computed.carried
    {
        let (stored, computed) = first_difference(stored.as_deref(), computed.carried.as_deref());
        let finding = Finding::new(loaded.time, "carried records", stored, computed);
        findings.push(finding);
    }
    Ok(findings)
}

/// Returns the counts with the names of their columns.
fn named(counts: &Counts) -> [(&'static str, i32); 8] {
    [
        ("entries", counts.entries),
        ("active", counts.active),
        ("added", counts.added),
        ("resets", counts.resets),
        ("removed", counts.removed),
        ("carried", counts.carried),
        ("unknown", counts.unknown),
        ("problems", counts.problems),
    ]
}

/// Returns a time as text in the format of the session's settings, which the type's own text ignores.
fn shown(time: Option<Micros>) -> Result<Option<String>, Error> {
    let Some(time) = time.map(timestamptz).transpose()? else {
        return Ok(None);
    };
    connect(|client| client.query_value("SELECT $1::text", &[time.into()]))
}
