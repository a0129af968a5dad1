//! `jobstats_retire_target()`: stops to expect anything of a target.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::targets::lock_known;
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::store::rights::owner::as_owner_of_store;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_retire_target(name text, cluster text DEFAULT '') RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_retire_target(text, text) IS
'Retires a target that is gone for good, so that it is no longer silent. What is stored of it stays. jobstats.health says retired, jobstats_metrics() leaves it out, and from its last observation on it neither holds up windows nor lowers their coverage. Its next text takes it back. cluster NULL is the empty name. Errors: 22004 for no name, 22023 for a target that does not exist, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';
"#)]
fn jobstats_retire_target(
    name: Option<Short<String>>,
    cluster: Option<Short<String>>,
) -> SqlResult<()> {
    let name = plain(name).ok_or(Error::Null("name"))?;
    let cluster = plain(cluster).unwrap_or_default();
    Ok(as_owner_of_store(|| {
        connect_mut(|client| retire(client, &cluster, &name))
    })?)
}

fn retire(client: &mut SpiClient<'_>, cluster: &str, name: &str) -> Result<(), Error> {
    // A feed that is at work may be storing a newer observation: the lock waits for it.
    let target = lock_known(client, cluster, name)?;
    client.execute(
        "UPDATE jobstats.targets target SET retired = coalesce(( \
             SELECT observation.\"time\" FROM jobstats.observations observation \
             WHERE observation.target_id = target.target_id ORDER BY observation.\"time\" DESC LIMIT 1), now()) \
         WHERE target.target_id = $1",
        &[target.id.into()],
    )?;
    Ok(())
}
