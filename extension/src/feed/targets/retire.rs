//! `jobstats_retire_target()`: stops to expect anything of a target.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::targets::lock_known;
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::store::rights::owner::as_owner_of_store;

#[pg_extern(sql = false)]
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
