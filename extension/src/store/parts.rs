//! Checks that the store has all its tables, columns, keys, indexes and triggers, and mends it.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::store::rollup;
use crate::store::tables;

/// The result of a check.
pub struct Checked {
    /// The parts that the store lacked and has again; `None` if there were none.
    pub mended: Option<String>,
    /// The parts, and the rows, that the store lacks; `None` if it has all.
    pub damage: Option<String>,
}

/// Notes in `jobstats.parts` what the store consists of, and mends what it lacks of that.
pub fn check(client: &mut SpiClient<'_>) -> Result<Checked, Error> {
    note_parts(client)?;
    let mended = client.execute_value("SELECT jobstats_internal.mend()", &[])?;
    let damage = client.execute_value(
        "SELECT nullif(concat_ws(', ', jobstats_internal.damage_in_words(), jobstats_internal.lost_increments(), \
         jobstats_internal.lost_rollups()), '')",
        &[],
    )?;
    Ok(Checked { mended, damage })
}

/// Fills `jobstats.parts` from tables that the definitions of the store's tables make in a schema of their own. Triggers have
/// just been made in the store itself. An owner who may not create a schema any more keeps the list of the last setup.
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
        &[schema.as_str().into()],
    )?;
    client.execute(&format!("DROP SCHEMA {schema} CASCADE"), &[])?;
    Ok(())
}
