//! Renaming a target.

use jobstats_core::base::target::{TargetKind, filesystem_and_index, kind_in_name};
use pgrx::spi::SpiClient;

use crate::feed::delivery::require_short;
use crate::feed::targets::lock_known;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};

/// Gives a target another name.
///
/// # Errors
/// - [`Error::argument`] for a target that is not known, or an empty name.
/// - [`Error::LongName`] for a name that is too long.
/// - [`Error::TargetExists`] if a target has the name.
pub fn rename(
    client: &mut SpiClient<'_>,
    cluster: &str,
    old: &str,
    new: &str,
) -> Result<(), Error> {
    if new.is_empty() {
        return Err(Error::argument(
            "the new name must not be empty",
            "Give the name that lctl prints, as in 'scratch-OST0000'.",
        ));
    }
    require_short("target", new)?;
    let target = lock_known(client, cluster, old)?;
    if old == new {
        return Ok(());
    }
    require_free(client, cluster, new)?;
    let (filesystem, index) = filesystem_and_index(new);
    client.execute(
        "UPDATE jobstats.targets SET name = $2, filesystem = $3, kind = coalesce($4, kind), index = $5 WHERE target_id = $1",
        &values![target.id, new, filesystem, kind_in_name(new).map(TargetKind::as_str), index],
    )?;
    note_earlier_name(client, cluster, target.id, old, new)?;
    rename_expected(client, cluster, old, new)
}

/// Fails if a target has the name. Waits for a feed that is just giving it to a new target, by inserting one as feeds do.
fn require_free(client: &mut SpiClient<'_>, cluster: &str, name: &str) -> Result<(), Error> {
    let parameters = values![cluster, name];
    let inserted = client.execute(
        "INSERT INTO jobstats.targets (cluster, name, kind) VALUES ($1, $2, 'MDT') ON CONFLICT (cluster, name) DO NOTHING",
        &parameters,
    )?;
    if inserted == 0 {
        return Err(Error::TargetExists {
            name: name.to_owned(),
        });
    }
    client.run(
        "DELETE FROM jobstats.targets WHERE cluster = $1 AND name = $2",
        &parameters,
    )
}

/// Keeps the name that a target had, for text that still has it.
fn note_earlier_name(
    client: &mut SpiClient<'_>,
    cluster: &str,
    target_id: i32,
    old: &str,
    new: &str,
) -> Result<(), Error> {
    client.execute(
        "DELETE FROM jobstats.earlier_names WHERE cluster = $1 AND name = $2",
        &values![cluster, new],
    )?;
    client.run(
        "INSERT INTO jobstats.earlier_names (cluster, name, target_id, renamed) VALUES ($1, $2, $3, now()) \
         ON CONFLICT (cluster, name) DO UPDATE SET target_id = excluded.target_id, renamed = excluded.renamed",
        &values![cluster, old, target_id],
    )
}

/// Makes the expectations of a target follow its name.
fn rename_expected(
    client: &mut SpiClient<'_>,
    cluster: &str,
    old: &str,
    new: &str,
) -> Result<(), Error> {
    client.run(
        "WITH old AS (DELETE FROM jobstats.expected WHERE cluster = $1 AND target = $2 RETURNING server) \
         INSERT INTO jobstats.expected (cluster, server, target) SELECT $1, old.server, $3 FROM old ON CONFLICT DO NOTHING",
        &values![cluster, old, new],
    )
}
