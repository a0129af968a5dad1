//! The targets of a text, known or new. Each is locked until the end of the transaction.

mod alter;
mod rename;

use std::collections::{HashMap, HashSet};

use jobstats_core::base::instant::Micros;
use jobstats_core::base::pattern::Pattern;
use jobstats_core::base::target::{TargetName, filesystem_and_index};
use jobstats_core::rules::snapshot::{Snapshot, cleanup_interval};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};

/// The number of times that targets are looked for. A target that is renamed while a feed waits for its lock has another
/// name afterwards.
const ATTEMPTS: usize = 5;

/// A row of `jobstats.targets`, locked.
#[derive(Debug, Clone)]
pub struct Target {
    /// The key of the target.
    pub id: i32,
    /// The name, such as `scratch-MDT0000`.
    pub name: String,
    /// The cleanup interval in seconds; `None` if it has never been shipped.
    pub cleanup_interval: Option<u32>,
    /// The time of the newest observation, if there is one.
    pub last_observation: Option<Micros>,
    /// Set if the target is retired.
    pub retired: bool,
}

impl Target {
    /// Returns the cleanup interval of a snapshot in seconds, or else of the target.
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
        client.run(
            "UPDATE jobstats.targets SET cleanup_interval = make_interval(secs => $2) WHERE target_id = $1",
            &values![self.id, self.cleanup_interval.map(f64::from)],
        )
    }

    /// Takes a retired target back, because it has reported again.
    pub fn take_back(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        if self.retired {
            self.retired = false;
            client.execute(
                "UPDATE jobstats.targets SET retired = NULL WHERE target_id = $1",
                &values![self.id],
            )?;
        }
        Ok(())
    }
}

/// Returns the targets of a text by their names in the text as they are stored, all of them locked in order of
/// `target_id`.
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
    for _ in 0..ATTEMPTS {
        let renamed = renamed(client, cluster, &names)?;
        let new = targets.clone();
        let new = new.filter(|target| !renamed.contains_key(&target.shown()));
        insert_missing(client, cluster, new)?;
        let now = |name: &String| renamed.get(name).unwrap_or(name).clone();
        let locked = lock(client, cluster, names.iter().map(now).collect())?;
        let find = |name: &String| Some((name.clone(), locked.get(&now(name))?.clone()));
        let found: HashMap<String, Target> = names.iter().filter_map(find).collect();
        if names.iter().all(|name| found.contains_key(name)) {
            return Ok(found);
        }
    }
    Err(Error::Damaged("a target vanished".to_owned()))
}

/// Returns the present names of targets by names that they had until lately. A text that was read before its target was
/// renamed may come as long as raw text is kept.
fn renamed(
    client: &mut SpiClient<'_>,
    cluster: &str,
    names: &[String],
) -> Result<HashMap<String, String>, Error> {
    let rows = plans::rows(
        client,
        "SELECT earlier.name, target.name AS present FROM jobstats.earlier_names earlier \
         JOIN jobstats.targets target ON target.target_id = earlier.target_id \
         WHERE earlier.cluster = $1 AND earlier.name = ANY ($2) \
         AND earlier.renamed >= now() - (SELECT raw_retention FROM jobstats.settings) \
         AND NOT EXISTS (SELECT FROM jobstats.targets other WHERE other.cluster = $1 AND other.name = earlier.name)",
        &values![cluster, names.to_vec()],
    )?;
    rows.map(|row| Ok((row.get("name")?, row.get("present")?)))
        .collect()
}

/// Returns the names that one of the patterns matches.
pub fn matching(names: &[Option<String>], patterns: &[String]) -> HashSet<String> {
    let patterns: Vec<_> = patterns.iter().map(|it| Pattern::new(it)).collect();
    let matches = |name: &&String| patterns.iter().any(|it| it.matches(name));
    names.iter().flatten().filter(matches).cloned().collect()
}

/// Inserts the rows of new targets in order of their names, so that feeds which insert the same ones wait for each
/// other and never deadlock.
fn insert_missing<'t>(
    client: &mut SpiClient<'_>,
    cluster: &str,
    targets: impl Iterator<Item = TargetName<'t>>,
) -> Result<(), Error> {
    let rows = targets.map(|target| {
        let name = target.shown();
        let (filesystem, index) = filesystem_and_index(&name);
        let filesystem = filesystem.map(str::to_owned);
        (name, filesystem, target.kind.as_str(), index)
    });
    let (names, filesystems, kinds, indexes): (Vec<_>, Vec<_>, Vec<_>, Vec<_>) = rows.collect();
    plans::run(
        client,
        "INSERT INTO jobstats.targets (cluster, name, filesystem, kind, index) \
         SELECT $1, n.name, n.filesystem, n.kind, n.index \
         FROM unnest($2::text[], $3::text[], $4::text[], $5::integer[]) AS n (name, filesystem, kind, index) \
         WHERE NOT EXISTS (SELECT FROM jobstats.targets t WHERE t.cluster = $1 AND t.name = n.name) \
         ORDER BY n.name ON CONFLICT (cluster, name) DO NOTHING",
        &values![cluster, names, filesystems, kinds, indexes],
    )
}

/// Locks the rows of targets, and returns each as it is after the lock is taken.
fn lock(
    client: &mut SpiClient<'_>,
    cluster: &str,
    names: Vec<String>,
) -> Result<HashMap<String, Target>, Error> {
    let rows = plans::rows(
        client,
        "SELECT target_id, name, extract(epoch FROM cleanup_interval)::bigint AS seconds, last_observation, \
         retired IS NOT NULL AS retired \
         FROM jobstats.targets WHERE cluster = $1 AND name = ANY ($2) ORDER BY target_id FOR NO KEY UPDATE",
        &values![cluster, names],
    )?;
    let mut targets = HashMap::with_capacity(rows.len());
    for row in rows {
        let name: String = row.get("name")?;
        let seconds: Option<i64> = row.get("seconds")?;
        let target = Target {
            id: row.get("target_id")?,
            name: name.clone(),
            cleanup_interval: seconds.and_then(|seconds| u32::try_from(seconds).ok()),
            last_observation: row.time_opt("last_observation")?,
            retired: row.get("retired")?,
        };
        targets.insert(name, target);
    }
    Ok(targets)
}

/// Locks a target that the caller names.
///
/// # Errors
/// [`Error::Unknown`] if the cluster has no target of this name; its hint names targets that there are.
fn lock_known(client: &mut SpiClient<'_>, cluster: &str, name: &str) -> Result<Target, Error> {
    let mut locked = lock(client, cluster, vec![name.to_owned()])?;
    if let Some(target) = locked.remove(name) {
        return Ok(target);
    }
    let known: Option<String> = client.execute_value(
        "SELECT string_agg(known.name, text ', ') FROM ( \
             SELECT concat_ws(text ' of cluster ', target.name, nullif(target.cluster, '')) AS name FROM jobstats.targets target \
             ORDER BY target.cluster <> $1, target.cluster, target.name LIMIT 10) known",
        &values![cluster],
    )?;
    let known = known.as_deref();
    let valid = known.unwrap_or("names of fed targets; none has been fed yet");
    Err(Error::unknown("target", name, valid))
}
