//! The targets of a text, known or new. Each is locked until the end of the transaction.

use std::collections::{HashMap, HashSet};

use jobstats_core::snapshot::{Snapshot, cleanup_interval};
use jobstats_core::target::{TargetName, filesystem_and_index};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;

/// A row of `jobstats.targets`, locked.
#[derive(Debug, Clone)]
pub struct Target {
    /// The key of the target.
    pub id: i32,
    /// The name, such as `scratch-MDT0000`.
    pub name: String,
    /// The cleanup interval in seconds; `None` if it has never been shipped.
    pub cleanup_interval: Option<u32>,
}

impl Target {
    /// Returns the cleanup interval of a text in seconds: its own one, or else the one that was shipped before.
    pub fn cleanup_interval(&self, text: &Snapshot<'_>) -> u32 {
        cleanup_interval(Some(text), self.cleanup_interval)
    }

    /// Stores the cleanup interval of the target's newest text.
    pub fn note_cleanup_interval(
        &mut self,
        client: &mut SpiClient<'_>,
        text: &Snapshot<'_>,
    ) -> Result<(), Error> {
        if text.cleanup_interval.is_none() || text.cleanup_interval == self.cleanup_interval {
            return Ok(());
        }
        self.cleanup_interval = text.cleanup_interval;
        client.execute(
            "UPDATE jobstats.targets SET cleanup_interval = make_interval(secs => $2) WHERE target_id = $1",
            &[self.id.into(), self.cleanup_interval.map(f64::from).into()],
        )?;
        Ok(())
    }
}

/// Returns the targets of a text by their names as they are stored, all of them locked in order of `target_id`.
///
/// The locks come first and in this order, so that two texts with common targets wait for each other and never
/// deadlock. The feed reads the rows of a target only afterwards, by statements that take a new snapshot of the
/// database, and so sees everything that earlier holders of the lock have committed.
pub fn find_and_lock<'t>(
    client: &mut SpiClient<'_>,
    cluster: &str,
    targets: impl Iterator<Item = TargetName<'t>> + Clone,
) -> Result<HashMap<String, Target>, Error> {
    let names: Vec<String> = targets.clone().map(TargetName::shown).collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    insert_missing(client, cluster, targets)?;
    lock(client, cluster, names)
}

/// Returns the names that are LIKE one of the patterns.
pub fn matching(
    client: &SpiClient<'_>,
    names: &[Option<String>],
    patterns: &[String],
) -> Result<HashSet<String>, Error> {
    let rows = client.query(
        "SELECT n.name FROM unnest($1::text[]) AS n (name) WHERE n.name LIKE ANY ($2::text[])",
        &[names.to_vec().into(), patterns.to_vec().into()],
    )?;
    rows.map(|row| row.get("name")).collect()
}

/// Inserts the rows of new targets in order of their names, so that feeds which insert the same ones wait for each
/// other and never deadlock.
fn insert_missing<'t>(
    client: &mut SpiClient<'_>,
    cluster: &str,
    targets: impl Iterator<Item = TargetName<'t>>,
) -> Result<(), Error> {
    let (mut names, mut filesystems, mut kinds, mut indexes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for target in targets {
        let name = target.shown();
        let (filesystem, index) = filesystem_and_index(&name);
        filesystems.push(filesystem.map(str::to_owned));
        indexes.push(index);
        kinds.push(target.kind.as_str());
        names.push(name);
    }
    client.execute(
        "INSERT INTO jobstats.targets (cluster, name, filesystem, kind, index) \
         SELECT $1, n.name, n.filesystem, n.kind, n.index \
         FROM unnest($2::text[], $3::text[], $4::text[], $5::integer[]) AS n (name, filesystem, kind, index) \
         WHERE NOT EXISTS (SELECT FROM jobstats.targets t WHERE t.cluster = $1 AND t.name = n.name) \
         ORDER BY n.name ON CONFLICT (cluster, name) DO NOTHING",
        &[cluster.into(), names.into(), filesystems.into(), kinds.into(), indexes.into()],
    )?;
    Ok(())
}

/// Locks the rows of targets, and returns each as it is after the lock is taken.
fn lock(
    client: &mut SpiClient<'_>,
    cluster: &str,
    names: Vec<String>,
) -> Result<HashMap<String, Target>, Error> {
    let rows = client.execute_rows(
        "SELECT target_id, name, extract(epoch FROM cleanup_interval)::bigint AS seconds FROM jobstats.targets \
         WHERE cluster = $1 AND name = ANY ($2) ORDER BY target_id FOR NO KEY UPDATE",
        &[cluster.into(), names.into()],
    )?;
    let mut targets = HashMap::with_capacity(rows.len());
    for row in rows {
        let name: String = row.get("name")?;
        let seconds: Option<i64> = row.get("seconds")?;
        let target = Target {
            id: row.get("target_id")?,
            name: name.clone(),
            cleanup_interval: seconds.and_then(|seconds| u32::try_from(seconds).ok()),
        };
        targets.insert(name, target);
    }
    Ok(targets)
}
