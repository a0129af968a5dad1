//! Checks the tables, columns, keys, indexes and triggers of the store, and repairs them.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::store::rollup;
use crate::store::tables;

/// The result of a check.
pub struct CheckResult {
    /// The repaired parts, if there are any.
    pub mended: Option<String>,
    /// The missing parts and rows, if there are any.
    pub damage: Option<String>,
}

/// Updates the list `jobstats.parts`, and repairs missing parts.
pub fn check(client: &mut SpiClient<'_>) -> Result<CheckResult, Error> {
    note_parts(client)?;
    let mended = client.execute_value("SELECT jobstats_internal.mend()", &[])?;
    let damage = client.execute_value(
        "SELECT nullif(concat_ws(', ', jobstats_internal.damage_in_words(), jobstats_internal.lost_increments(), \
         jobstats_internal.lost_rollups()), '')",
        &[],
    )?;
    Ok(CheckResult { mended, damage })
}

/// Fills `jobstats.parts` by creating all tables in a temporary schema; triggers are read from the store itself. An owner
/// without the right to create a schema keeps the list of the last setup.
fn note_parts(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let schema: Option<String> = client.execute_value(
        "SELECT 'jobstats_pattern_' || pg_current_xact_id() \
         WHERE has_database_privilege(current_database(), 'CREATE')",
        &[],
    )?;
    let Some(schema) = schema else {
        return Ok(());
    };
    let definitions = format!("{};\n{}", tables::definitions(""), rollup::definitions());
    let definitions = definitions.replace("jobstats.", &format!("{schema}."));
    client.execute(&format!("CREATE SCHEMA {schema};\n{definitions}"), &[])?;
    client.execute("DELETE FROM jobstats.parts", &[])?;
    client.execute(
        "INSERT INTO jobstats.parts SELECT p.* FROM jobstats_internal.parts($1) p \
         UNION ALL SELECT p.* FROM jobstats_internal.parts(text 'jobstats') p WHERE p.kind = 'trigger'",
        &values![schema.as_str()],
    )?;
    client.run(&format!("DROP SCHEMA {schema} CASCADE"), &[])
}
