//! Identifies stored entries again after a change of the formats: in maintenance, a portion per transaction, or all at once by
//! `jobstats_reidentify()`.
//!
//! `jobstats.identification` has the formats by which all entries are identified. If they differ from `jobstats.entry_formats`,
//! maintenance identifies all entries in the order of their keys, which are hashes. Meanwhile feeds use the new formats for new
//! entries. Each portion also updates the dependent sums by user and jobs.
//!
//! Locks are taken in this order: the store, jobs, entries by key.

use std::borrow::Cow;
use std::collections::HashMap;

use jobstats_core::identity::entry_id::{Formats, Identity, likely_format};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::matching;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Rows, SqlResult, Statements, connect_as_of_call, connect_mut, values};
use crate::pg::template::sql;
use crate::store;
use crate::store::columns::{arrays, list};
use crate::store::formats::{
    CLUSTERS_MAX, CONFIGURED, SAMPLE, SentName, clusters, configured_formats, identity_columns,
    notice,
};
use crate::store::rights::owner::as_owner_of_store;
use crate::store::rollup;

/// The number of entries that are in memory at once, and that maintenance identifies in a transaction.
const BATCH: i64 = 10_000;

#[pg_extern(sql = false)]
fn jobstats_reidentify() -> SqlResult<i64> {
    Ok(as_owner_of_store(|| {
        connect_mut(|client| {
            store::lock(client)?;
            let changed = reidentify(client)?;
            matching::forget(client)?;
            notice_if_most_unmatched(client)?;
            Ok(changed)
        })
    })?)
}

#[pg_extern(sql = false)]
fn jobstats_reidentify_some() -> SqlResult<Option<i64>> {
    Ok(connect_mut(step)?)
}

#[pg_extern(sql = false)]
fn jobstats_is_reidentifying() -> SqlResult<bool> {
    Ok(connect_as_of_call(|client| {
        Ok(State::read(client)?.is_under_way)
    })?)
}

/// The progress of identifying the entries by the formats of the store.
struct State {
    is_due: bool,
    is_under_way: bool,
    after: Option<i64>,
    /// True if the clusters of entries are known.
    knows_clusters: bool,
}

impl State {
    fn read(client: &SpiClient<'_>) -> Result<Self, Error> {
        let state = sql!("reidentify/state.sql", configured = CONFIGURED);
        let row = client.query_only(state.as_str(), &[], "identification")?;
        Ok(Self {
            is_due: row.get("is_due")?,
            is_under_way: row.get("is_under_way")?,
            after: row.get("after")?,
            knows_clusters: row.get("knows_clusters")?,
        })
    }
}

/// Takes the next step: begins, identifies a portion, or ends. Returns the number of changed entries; `None` at the end.
fn step(client: &mut SpiClient<'_>) -> Result<Option<i64>, Error> {
    store::lock(client)?;
    let state = State::read(client)?;
    if !state.is_due {
        return identify_queued(client);
    }
    // An invalid format fails here, before anything has changed.
    let pass = Pass::new(client, &state)?;
    if !state.is_under_way {
        let begun =
            format!("UPDATE jobstats.identification SET under_way = ({CONFIGURED}), after = NULL");
        client.execute(&begun, &[])?;
        // Feeds that know former formats must have stored their entries.
        client.execute("SELECT jobstats_internal.await_entries()", &[])?;
        return Ok(Some(0));
    }
    let portion = portion(client, state.after)?;
    let Some(last) = portion.last().map(|entry| entry.id) else {
        client.execute(
            "UPDATE jobstats.identification SET formats = under_way, under_way = NULL, after = NULL, again = false",
            &[],
        )?;
        return Ok(Some(0));
    };
    let changed = pass.identify(client, portion)?;
    client.execute(
        "UPDATE jobstats.identification SET after = $1",
        &values![last],
    )?;
    changed.follow(client).map(Some)
}

/// Identifies queued entries again, which another cluster has sent since or which got their job back. Returns the number of changed
/// entries; `None` if the queue is empty.
fn identify_queued(client: &mut SpiClient<'_>) -> Result<Option<i64>, Error> {
    let queued = client.execute_rows(include_str!("reidentify/queued.sql"), &values![BATCH])?;
    let queued = entries(queued)?;
    if queued.is_empty() {
        return Ok(None);
    }
    let pass = Pass {
        formats: configured_formats(client)?,
        senders: Senders::Noted,
    };
    let changed = pass.identify(client, queued)?;
    changed.follow(client).map(Some)
}

/// Identifies all entries, and returns how many changed.
fn reidentify(client: &mut SpiClient<'_>) -> Result<i64, Error> {
    let pass = Pass::new(client, &State::read(client)?)?;
    let (mut count, mut after) = (0, None);
    loop {
        pause();
        // The end of the connection frees the rows that were read.
        let portion = connect_mut(|client| portion(client, after))?;
        let Some(last) = portion.last().map(|entry| entry.id) else {
            break;
        };
        after = Some(last);
        let changed = connect_mut(|client| pass.identify(client, portion))?;
        count += changed.all;
    }
    if count > 0 {
        rollup::forget_users(client)?;
    }
    // Feeds that began earlier may still store entries by former formats.
    let done = format!(
        "UPDATE jobstats.identification SET formats = ({CONFIGURED}), under_way = NULL, after = NULL, again = true"
    );
    client.execute(&done, &[])?;
    Ok(count)
}

/// A stored entry.
struct Entry {
    id: i64,
    name: String,
    clusters: Option<Vec<String>>,
}

/// Returns the statement that stores what has changed.
fn update() -> String {
    // A claimed entry has another job and status.
    let is_compared = |(name, _): &(&str, &str)| !["job", "status"].contains(name);
    let compared: Vec<_> = Identity::COLUMNS.into_iter().filter(is_compared).collect();
    sql!(
        "reidentify/update.sql",
        names = list(&Identity::COLUMNS, "{name}"),
        arrays = arrays(&Identity::COLUMNS, 5),
        stored = list(&compared, "e.{name}"),
        read = list(&compared, "n.{name}"),
        updates = list(&Identity::COLUMNS, "{name} = n.{name}"),
    )
}

/// Returns the next entries in the order of their keys.
fn portion(client: &mut SpiClient<'_>, after: Option<i64>) -> Result<Vec<Entry>, Error> {
    entries(client.execute_rows(include_str!("reidentify/batch.sql"), &values![after, BATCH])?)
}

fn entries(rows: Rows<'_>) -> Result<Vec<Entry>, Error> {
    let entries = rows.map(|row| {
        Ok(Entry {
            id: row.at(1)?,
            name: row.at(2)?,
            clusters: row.at(3)?,
        })
    });
    entries.collect()
}

/// The place that records the clusters of an entry.
enum Senders {
    /// In its row, or no format depends on them.
    Noted,
    /// The store has one cluster.
    One(String),
    /// In rollups and increments.
    Stored,
}

/// One pass over all entries.
struct Pass {
    formats: Formats,
    senders: Senders,
}

impl Pass {
    fn new(client: &SpiClient<'_>, state: &State) -> Result<Self, Error> {
        let formats = configured_formats(client)?;
        let senders = match formats.differ_by_cluster() && !state.knows_clusters {
            true => match clusters(client)?.as_slice() {
                [one] => Senders::One(one.clone()),
                _ => Senders::Stored,
            },
            false => Senders::Noted,
        };
        Ok(Self { formats, senders })
    }

    /// Identifies entries, which are in the order of their keys, and stores changes.
    fn identify(
        &self,
        client: &mut SpiClient<'_>,
        mut entries: Vec<Entry>,
    ) -> Result<Changed, Error> {
        client.execute(matching::LOCK_JOBS, &[])?;
        if self.formats.differ_by_cluster() {
            self.complete(client, &mut entries)?;
        }
        let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
        let sent = entries.iter().map(|entry| SentName {
            name: &entry.name,
            clusters: Cow::Borrowed(entry.clusters.as_deref().unwrap_or_default()),
        });
        let sent: Vec<_> = sent.collect();
        let mut values = vec![ids.into()];
        values.extend(identity_columns(&self.formats, &sent));
        let rows = client.execute_rows(&update(), &values)?;
        let mut changed = Changed::default();
        for row in rows {
            changed.all += 1;
            changed.has_other_users |= row.at::<bool>(4)?;
            if row.at::<bool>(3)? {
                changed.entries.push(row.at(1)?);
                changed.jobs.push(row.at(2)?);
            }
        }
        Ok(changed)
    }

    /// Locks entries against feeds that add a cluster, and completes their clusters.
    fn complete(&self, client: &mut SpiClient<'_>, entries: &mut [Entry]) -> Result<(), Error> {
        let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
        let (Some(first), Some(last)) = (ids.first().copied(), ids.last().copied()) else {
            return Ok(());
        };
        let mut noted = clusters_by_entry(client.execute_rows(
            "SELECT e.entry_id, e.clusters FROM jobstats.entries e WHERE e.entry_id = ANY ($1) \
             ORDER BY e.entry_id FOR NO KEY UPDATE",
            &values![ids.clone()],
        )?)?;
        let mut stored = match &self.senders {
            Senders::Stored => clusters_by_entry(client.execute_rows(
                include_str!("reidentify/senders.sql"),
                &values![ids, first, last],
            )?)?,
            Senders::One(_) | Senders::Noted => HashMap::new(),
        };
        for entry in entries {
            let mut clusters = noted.remove(&entry.id).unwrap_or_default();
            clusters.extend(stored.remove(&entry.id).unwrap_or_default());
            if let Senders::One(cluster) = &self.senders {
                clusters.push(cluster.clone());
            }
            clusters.sort_unstable();
            clusters.dedup();
            clusters.truncate(usize::try_from(CLUSTERS_MAX).unwrap_or(usize::MAX));
            entry.clusters = Some(clusters);
        }
        Ok(())
    }
}

fn clusters_by_entry(rows: Rows<'_>) -> Result<HashMap<i64, Vec<String>>, Error> {
    let clusters = rows.map(|row| {
        let clusters: Option<Vec<String>> = row.at(2)?;
        Ok((row.at(1)?, clusters.unwrap_or_default()))
    });
    clusters.collect()
}

/// Entries whose identities have changed.
#[derive(Default)]
struct Changed {
    /// The number of entries.
    all: i64,
    has_other_users: bool,
    /// The entries to match again, and their job numbers.
    entries: Vec<i64>,
    jobs: Vec<Option<String>>,
}

impl Changed {
    /// Updates dependent rows in the same transaction. Returns the number of entries.
    fn follow(self, client: &mut SpiClient<'_>) -> Result<i64, Error> {
        if self.has_other_users {
            rollup::forget_users(client)?;
        }
        if !self.entries.is_empty() {
            matching::forget_some(client, self.entries, self.jobs)?;
        }
        Ok(self.all)
    }
}

fn notice_if_most_unmatched(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let counts = client.execute_opt(
        "SELECT count(*) FILTER (WHERE status = 'malformed') AS unmatched, count(*) AS all FROM jobstats.entries",
        &[],
    )?;
    let (unmatched, all): (i64, i64) = match counts {
        Some(counts) => (counts.get("unmatched")?, counts.get("all")?),
        None => return Ok(()),
    };
    if unmatched * 2 <= all {
        return Ok(());
    }
    let rows = client.execute_rows(
        "SELECT name FROM jobstats.entries WHERE status = 'malformed' ORDER BY entry_id LIMIT $1",
        &values![SAMPLE as i64],
    )?;
    let names: Vec<String> = rows.map(|row| row.get("name")).collect::<Result<_, _>>()?;
    let likely = likely_format(names.iter().map(String::as_str));
    notice(
        "the store",
        usize::try_from(unmatched).unwrap_or(0),
        usize::try_from(all).unwrap_or(0),
        likely,
    );
    Ok(())
}
