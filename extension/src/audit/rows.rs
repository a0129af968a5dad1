//! Compares the stored increments of a run of observations with the computed ones.

use jobstats_core::rules::audit::{Finding, Run};
use pgrx::spi::SpiClient;

use crate::audit::Purpose;
use crate::feed::job_stats::rows::{EntryIncrement, staged_rows, with_rows};
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::store::views::shown_columns;

/// The rows of a repair have only the time of the observation, and not the stored and the computed row: texts cost more than the rows.
const TIMES: &str = "SELECT d.observed, NULL::text AS entry, NULL::text AS stored, NULL::text AS computed \
    FROM (SELECT observed FROM extra UNION SELECT observed FROM missing) d";

/// Returns the rows that differ.
pub fn differences(
    client: &SpiClient<'_>,
    run: Run,
    computed: Vec<EntryIncrement>,
    purpose: Purpose,
) -> Result<Vec<Finding>, Error> {
    let (names, select) = staged_rows();
    let answer = match purpose {
        Purpose::Audit => described(),
        Purpose::Repair => TIMES.to_owned(),
    };
    let statement = sql!(
        "rows.sql",
        names = names,
        computed = select,
        answer = answer,
    );
    with_rows(run.target_id, computed, || {
        let rows = client.query(
            &statement,
            &values![
                run.target_id,
                timestamptz(run.after)?,
                timestamptz(run.until)?,
                timestamptz(run.earliest)?
            ],
        )?;
        rows.map(|row| {
            Ok(Finding {
                time: row.time("observed")?,
                entry: row.get("entry")?,
                what: "increment",
                stored: row.get("stored")?,
                computed: row.get("computed")?,
            })
        })
        .collect()
    })
}

/// Returns the SELECT that shows the rows side by side, as text.
fn described() -> String {
    sql!(
        "described.sql",
        extra = shown_rows("extra"),
        missing = shown_rows("missing"),
        stored_text = shown("p", "p.stored_row", "p.stored", "p.computed"),
        computed_text = shown("p", "p.computed_row", "p.computed", "p.stored"),
    )
}

/// Returns a SELECT of rows of increments with unpacked values.
pub fn shown_rows(relation: &str) -> String {
    format!(
        "SELECT increment.\"time\", increment.since, increment.observed, increment.last_active, increment.entry_id, \
         increment.target_id, increment.reset, {} FROM {relation} increment",
        shown_columns()
    )
}

/// Returns an SQL expression that shows a row of increments as text. The row is json in `row` and jsonb in `own`, its
/// span is in `table`. If `other` is a row, the text has only the columns that differ from it, else all columns with a
/// value.
pub fn shown(table: &str, row: &str, own: &str, other: &str) -> String {
    sql!(
        "shown.sql",
        table = table,
        row = row,
        own = own,
        other = other
    )
}
