//! The targets of a text: known or new, each locked until the end of the transaction.

use jobstats_core::scan::{TargetKind, TargetName};
use jobstats_core::snapshot::Snapshot;
use pgrx::spi::SpiClient;

use crate::error::Error;

/// First key of the advisory locks that order the feeds of a target; the second is its target_id.
const LOCK_CLASS: i32 = 0x6a_6f_62_73;

/// Seconds, where the text does not say: Lustre's own default.
const CLEANUP_INTERVAL: i32 = 600;

/// A row of `jobstats.targets`, locked.
pub struct Target {
    /// Key.
    pub id: i32,
    /// `scratch-MDT0000`.
    pub name: String,
    /// Seconds.
    pub cleanup_interval: u32,
}

/// The targets that the snapshots name, in order of target_id, all of them locked.
///
/// The locks come first and in this order, so that two texts with common targets wait for each other and never
/// deadlock. Locking is done by a statement that takes a new snapshot of the database: what a feed that held the lock
/// has committed is seen from then on.
pub fn find_and_lock<'s, 't>(
    client: &mut SpiClient<'_>,
    cluster: &str,
    snapshots: &'s [Snapshot<'t>],
) -> Result<Vec<(Target, &'s Snapshot<'t>)>, Error> {
    let mut named: Vec<(TargetName<'t>, &Snapshot<'t>)> = snapshots
        .iter()
        .filter_map(|snapshot| Some((snapshot.target?, snapshot)))
        .collect();
    named.sort_by_key(|(target, _)| target.name);
    let mut found = Vec::with_capacity(named.len());
    for (name, snapshot) in named {
        found.push((find(client, cluster, name, snapshot)?, snapshot));
    }
    found.sort_by_key(|(target, _)| target.id);
    let ids: Vec<i32> = found.iter().map(|(target, _)| target.id).collect();
    client.update(
        "SELECT pg_advisory_xact_lock($1, id) FROM (SELECT DISTINCT id FROM unnest($2::integer[]) AS id ORDER BY id) ids",
        None,
        &[LOCK_CLASS.into(), ids.into()],
    )?;
    Ok(found)
}

/// The target's row, made where it is missing, with the cleanup interval that the text brings.
fn find(
    client: &mut SpiClient<'_>,
    cluster: &str,
    target: TargetName<'_>,
    snapshot: &Snapshot<'_>,
) -> Result<Target, Error> {
    let name = crate::unpack::escape(target.name).into_owned();
    let stated = snapshot
        .cleanup_interval
        .and_then(|seconds| i32::try_from(seconds).ok());
    if let Some(found) = select(client, cluster, &name)? {
        if let Some(seconds) =
            stated.filter(|seconds| u32::try_from(*seconds) != Ok(found.cleanup_interval))
        {
            client.update(
                "UPDATE jobstats.targets SET cleanup_interval = make_interval(secs => $2) WHERE target_id = $1",
                None,
                &[found.id.into(), f64::from(seconds).into()],
            )?;
            return Ok(Target {
                cleanup_interval: seconds.unsigned_abs(),
                ..found
            });
        }
        return Ok(found);
    }
    let kind = match target.kind {
        TargetKind::Mdt => "MDT",
        TargetKind::Ost => "OST",
    };
    let (filesystem, index) = filesystem_and_index(&name);
    client.update(
        "INSERT INTO jobstats.targets (cluster, name, filesystem, kind, index, cleanup_interval) \
         VALUES ($1, $2, $3, $4, $5, make_interval(secs => $6)) ON CONFLICT (cluster, name) DO NOTHING",
        None,
        &[
            cluster.into(),
            name.as_str().into(),
            filesystem.into(),
            kind.into(),
            index.into(),
            stated.map(f64::from).into(),
        ],
    )?;
    select(client, cluster, &name)?.ok_or_else(|| Error::Damaged(format!("target {name} vanished")))
}

/// By a statement with a new snapshot: another feed may just have made the row.
fn select(client: &mut SpiClient<'_>, cluster: &str, name: &str) -> Result<Option<Target>, Error> {
    let rows = client.update(
        "SELECT target_id, extract(epoch FROM cleanup_interval)::integer FROM jobstats.targets \
         WHERE cluster = $1 AND name = $2",
        Some(1),
        &[cluster.into(), name.into()],
    )?;
    let Some(row) = rows.into_iter().next() else {
        return Ok(None);
    };
    let id = row
        .get::<i32>(1)?
        .ok_or_else(|| Error::Damaged("a target has no key".to_owned()))?;
    let seconds = row.get::<i32>(2)?.unwrap_or(CLEANUP_INTERVAL);
    Ok(Some(Target {
        id,
        name: name.to_owned(),
        cleanup_interval: seconds.unsigned_abs(),
    }))
}

/// `scratch-OST001f` is file system `scratch`, index 31.
fn filesystem_and_index(name: &str) -> (Option<&str>, Option<i32>) {
    let Some((filesystem, device)) = name.rsplit_once('-') else {
        return (None, None);
    };
    let digits = device
        .strip_prefix("MDT")
        .or_else(|| device.strip_prefix("OST"));
    let index = digits
        .filter(|digits| digits.len() == 4)
        .and_then(|digits| i32::from_str_radix(digits, 16).ok());
    (index.map(|_| filesystem), index)
}
