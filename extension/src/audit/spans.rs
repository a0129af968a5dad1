//! Compares the spans in which targets were observed with their observations.

use jobstats_core::base::instant::Span;
use jobstats_core::rules::audit::{Finding, Findings};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// Adds a finding for each target whose stored spans differ from its observations in the window.
pub fn find(client: &SpiClient<'_>, window: Span, findings: &mut Findings) -> Result<(), Error> {
    let rows = client.query(
        include_str!("spans.sql"),
        &values![timestamptz(window.0)?, timestamptz(window.1)?],
    )?;
    for row in rows {
        let [stored, computed] = ["stored", "computed"].map(|name| row.get::<Option<String>>(name));
        let finding = Finding::new(row.time("time")?, "spans", stored?, computed?);
        findings.add((row.get("cluster")?, row.get("target")?), finding)?;
    }
    Ok(())
}
