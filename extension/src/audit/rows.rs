//! The increments of a run of observations, compared with what was computed.

use jobstats_core::increment::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use super::finding::Finding;
use crate::error::Error;
use crate::staged::{Row, Source, source, with_rows};
use crate::time::{micros, timestamptz};

/// Observations that follow each other and were all computed: rows of their target observed in (after, until] are theirs,
/// and none of these begins before `earliest`.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub target_id: i32,
    pub after: Micros,
    pub until: Micros,
    pub earliest: Micros,
}

/// The rows that differ.
pub fn differences(
    client: &SpiClient<'_>,
    run: Run,
    computed: Vec<Row>,
) -> Result<Vec<Finding>, Error> {
    let Source { names, select } = source()?;
    let statement = include_str!("../sql/audit_rows.sql")
        .replace("@names@", &names)
        .replace("@computed@", &select)
        .replace("@stored_text@", &shown("p", "p.stored", "p.computed"))
        .replace("@computed_text@", &shown("p", "p.computed", "p.stored"));
    with_rows(run.target_id, computed, || {
        let rows = client.select(
            &statement,
            None,
            &[
                run.target_id.into(),
                timestamptz(run.after)?.into(),
                timestamptz(run.until)?.into(),
                timestamptz(run.earliest)?.into(),
            ],
        )?;
        rows.map(|row| {
            let time = row.get::<TimestampWithTimeZone>(1)?;
            Ok(Finding {
                time: time.map_or(Ok(0), micros)?,
                entry: row.get(2)?,
                what: "increment",
                stored: row.get(3)?,
                computed: row.get(4)?,
            })
        })
        .collect()
    })
}

/// An SQL expression that shows a row of increments, which is in `json`, with the span in `table`: all that it counts, or
/// only what `other` has not the same.
pub fn shown(table: &str, json: &str, other: &str) -> String {
    include_str!("../sql/audit_shown.sql")
        .replace("@table@", table)
        .replace("@json@", json)
        .replace("@other@", other)
}
