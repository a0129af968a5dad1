//! Finds rows without an observation, and spans in which targets were observed that differ from their observations.

use std::collections::HashMap;

use jobstats_core::base::instant::Span;
use jobstats_core::rules::audit::{Finding, Findings, Run};
use pgrx::spi::SpiClient;

use crate::audit::rows::{shown, shown_rows};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// Adds increments and raw texts of the window that have no observation, except increments that a walk has compared.
pub fn rows(
    client: &SpiClient<'_>,
    window: Span,
    runs: &[Run],
    findings: &mut Findings,
) -> Result<(), Error> {
    let mut compared: HashMap<i32, Vec<&Run>> = HashMap::new();
    for run in runs {
        compared.entry(run.target_id).or_default().push(run);
    }
    let statement = sql!(
        "strays.sql",
        increments = shown_rows("jobstats.increments"),
        shown = shown("s", "s.row", "s.own", "NULL::jsonb")
    );
    let rows = client.query(
        &statement,
        &values![timestamptz(window.0)?, timestamptz(window.1)?],
    )?;
    for row in rows {
        pause();
        let observed = row.time("observed")?;
        let end = row.time_opt("ends")?;
        let runs = compared.get(&row.get("target_id")?);
        if let (Some(end), Some(runs)) = (end, runs)
            && runs.iter().any(|run| run.holds(observed, end))
        {
            continue;
        }
        let what = match end {
            None => "raw text of no observation",
            Some(_) => "increment of no observation",
        };
        let finding = Finding {
            time: observed,
            entry: row.get("entry")?,
            what,
            stored: row.get("stored")?,
            computed: None,
        };
        findings.add((row.get("cluster")?, row.get("target")?), finding)?;
    }
    Ok(())
}

/// Adds a finding for each target whose stored spans differ from its observations in the window.
pub fn spans(client: &SpiClient<'_>, window: Span, findings: &mut Findings) -> Result<(), Error> {
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
