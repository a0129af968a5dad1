//! Finds rows that belong to no observation.

use std::collections::HashMap;

use jobstats_core::increment::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::audit::Window;
use crate::audit::finding::{Finding, Findings};
use crate::audit::rows::{Run, shown};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::time::{micros, timestamptz};

/// Adds the increments and raw texts of the window that belong to no observation, except increments that were already
/// compared with those of a run of observations.
pub fn find(
    client: &SpiClient<'_>,
    window: Window,
    runs: &[Run],
    findings: &mut Findings,
) -> Result<(), Error> {
    let mut compared: HashMap<i32, Vec<&Run>> = HashMap::new();
    for run in runs {
        compared.entry(run.target_id).or_default().push(run);
    }
    let statement =
        include_str!("strays.sql").replace("@shown@", &shown("s", "s.row", "s.own", "NULL::jsonb"));
    let rows = client.select(
        &statement,
        None,
        &[
            timestamptz(window.since)?.into(),
            timestamptz(window.until)?.into(),
        ],
    )?;
    for row in rows {
        pause();
        let time = |position| -> Result<Option<Micros>, Error> {
            let time = row.get::<TimestampWithTimeZone>(position)?;
            time.map(micros).transpose()
        };
        let target_id = row.get::<i32>(1)?.unwrap_or_default();
        let observed = time(4)?.unwrap_or_default();
        let runs = compared.get(&target_id).map_or(&[][..], Vec::as_slice);
        if let Some(end) = time(5)?
            && runs.iter().any(|run| run.holds(observed, end))
        {
            continue;
        }
        let target = (
            row.get(2)?.unwrap_or_default(),
            row.get(3)?.unwrap_or_default(),
        );
        let what = match row.get::<&str>(7)? {
            Some("raw text of no observation") => "raw text of no observation",
            _ => "increment of no observation",
        };
        let finding = Finding {
            time: observed,
            entry: row.get(6)?,
            what,
            stored: row.get(8)?,
            computed: None,
        };
        findings.add_named(target, finding)?;
    }
    Ok(())
}

impl Run {
    /// Returns whether a row of increments is among those that were compared.
    fn holds(&self, observed: Micros, end: Micros) -> bool {
        self.after < observed && observed <= self.until && self.earliest < end && end <= self.until
    }
}
