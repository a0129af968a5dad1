//! `jobstats_alter_target()`: renames a target, or stops to expect anything of it.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::targets::lock_known;
use crate::feed::targets::rename::rename;
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::store::rights::owner::as_owner_of_store;

#[pg_extern(sql = false)]
fn jobstats_alter_target(
    name: Option<Short<String>>,
    cluster: Option<Short<String>>,
    rename_to: Option<Short<String>>,
    retired: Option<bool>,
) -> SqlResult<()> {
    let name = plain(name).ok_or(Error::Null("name"))?;
    let (cluster, new) = (plain(cluster).unwrap_or_default(), plain(rename_to));
    if new.is_none() && retired.is_none() {
        return Err(Error::argument(
            "neither rename_to nor retired is given",
            "Give rename_to => 'scratch-OST0001', or retired => true.",
        )
        .into());
    }
    Ok(as_owner_of_store(|| {
        connect_mut(|client| {
            if let Some(retired) = retired {
                retire(client, &cluster, &name, retired)?;
            }
            new.map_or(Ok(()), |new| rename(client, &cluster, &name, &new))
        })
    })?)
}

fn retire(
    client: &mut SpiClient<'_>,
    cluster: &str,
    name: &str,
    retired: bool,
) -> Result<(), Error> {
    // A feed that is at work may be storing a newer observation: the lock waits for it.
    let target = lock_known(client, cluster, name)?;
    client.run(
        "UPDATE jobstats.targets target SET retired = CASE WHEN $2 THEN coalesce(( \
             SELECT observation.\"time\" FROM jobstats.observations observation \
             WHERE observation.target_id = target.target_id ORDER BY observation.\"time\" DESC LIMIT 1), now()) END \
         WHERE target.target_id = $1",
        &values![target.id, retired],
    )
}
