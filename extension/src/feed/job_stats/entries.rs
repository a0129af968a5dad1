//! Identifiers and their keys.
//!
//! The key is a hash of the name, so that rows can be written before it is known whether the entry is new. If two names
//! have the same hash, the second one is hashed again with another seed.

use std::collections::{BTreeMap, HashMap};

use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;
use crate::store::formats::{identity_columns, usable_formats};

/// The entries that occur in this feed.
#[derive(Default)]
pub struct Entries {
    ids: HashMap<String, i64>,
    new: BTreeMap<i64, String>,
    /// The number of entries that maintenance had deleted before the first one was looked up.
    deleted: Option<i64>,
}

impl Entries {
    /// Returns the key of a name that [`Self::resolve`] has looked up.
    pub fn id(&self, name: &str) -> Result<i64, Error> {
        let id = self.ids.get(name).copied();
        id.ok_or_else(|| Error::Damaged(format!("entry {name} has no key")))
    }

    /// Returns whether the store lacks a name that [`Self::resolve`] has looked up.
    pub fn is_new(&self, name: &str) -> bool {
        self.ids
            .get(name)
            .is_some_and(|id| self.new.contains_key(id))
    }

    /// Looks up the keys of all these names. Names that the store lacks become new entries.
    pub fn resolve<'n>(
        &mut self,
        client: &SpiClient<'_>,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), Error> {
        let mut pending: Vec<&str> = names.filter(|name| !self.ids.contains_key(*name)).collect();
        pending.sort_unstable();
        pending.dedup();
        if self.deleted.is_none() && !pending.is_empty() {
            self.deleted = client.query_value(DELETED, &[])?;
        }
        for seed in 0.. {
            if pending.is_empty() {
                break;
            }
            pending = self.resolve_with(client, &pending, seed)?;
        }
        Ok(())
    }

    /// Resolves the names whose hash with this seed is their own or free. Returns the names whose hash is taken.
    fn resolve_with<'n>(
        &mut self,
        client: &SpiClient<'_>,
        names: &[&'n str],
        seed: u64,
    ) -> Result<Vec<&'n str>, Error> {
        let hashes: Vec<i64> = names.iter().map(|name| hash(name, seed)).collect();
        let stored = stored_names(client, hashes.clone())?;
        let mut taken = Vec::new();
        for (name, id) in names.iter().zip(hashes) {
            match stored.get(&id).or_else(|| self.new.get(&id)) {
                Some(owner) if owner == name => {}
                Some(_) => {
                    taken.push(*name);
                    continue;
                }
                None => {
                    self.new.insert(id, (*name).to_owned());
                }
            }
            self.ids.insert((*name).to_owned(), id);
        }
        Ok(taken)
    }

    /// Stores the new entries, in order of their keys and as the last step of a feed. Thus feeds that store the same
    /// entries wait for each other as briefly as possible and never deadlock.
    pub fn insert_new(
        &mut self,
        client: &mut SpiClient<'_>,
        first_seen: Micros,
    ) -> Result<(), Error> {
        self.find_again(client)?;
        if self.new.is_empty() {
            return Ok(());
        }
        let formats = usable_formats(client)?;
        let mut values = vec![self.new.keys().copied().collect::<Vec<_>>().into()];
        values.extend(identity_columns(&formats, self.new.values()));
        values.push(timestamptz(first_seen)?.into());
        let inserted = client.execute_rows(
            "INSERT INTO jobstats.entries (entry_id, name, job, uid, gid, node, executable, pid, format, status, workload, first_seen) \
             SELECT *, $12 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], \
             $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[]) ON CONFLICT (entry_id) DO NOTHING \
             RETURNING entry_id",
            &values,
        )?;
        for row in inserted {
            self.new.remove(&row.at::<i64>(1)?);
        }
        self.require_same(client)
    }

    /// Stores again the entries that maintenance has deleted since they were found, and makes maintenance wait for this
    /// feed from now on. Maintenance deletes entries without references, and does not see the references that this feed
    /// has not yet committed.
    fn find_again(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        if self.ids.is_empty() {
            return Ok(());
        }
        client.execute(
            "SELECT FROM jobstats.locks WHERE name = 'entries' FOR KEY SHARE",
            &[],
        )?;
        // These statements take a new snapshot.
        if client.execute_value::<Option<i64>>(DELETED, &[])? == self.deleted {
            return Ok(());
        }
        let stored = stored_names(client, self.ids.values().copied().collect())?;
        for (name, id) in &self.ids {
            match stored.get(id) {
                Some(owner) if owner == name => {}
                Some(_) => return Err(Error::EntryRace),
                None => {
                    self.new.insert(*id, name.clone());
                }
            }
        }
        Ok(())
    }

    /// Checks that the entries which a conflict skipped were stored by another feed with the same names.
    ///
    /// # Errors
    /// [`Error::EntryRace`] if a key belongs to another name.
    fn require_same(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        let skipped = std::mem::take(&mut self.new);
        if skipped.is_empty() {
            return Ok(());
        }
        let stored = stored_names(client, skipped.keys().copied().collect())?;
        if skipped
            .iter()
            .all(|(id, name)| stored.get(id) == Some(name))
        {
            Ok(())
        } else {
            Err(Error::EntryRace)
        }
    }
}

const DELETED: &str = "SELECT (SELECT deleted FROM jobstats.sweep)";

fn hash(name: &str, seed: u64) -> i64 {
    xxh3_64_with_seed(name.as_bytes(), seed).cast_signed()
}

/// Returns the names that are stored under these keys. If this transaction has written, as a feed has when it locked
/// its targets, the statement takes a new snapshot of the database.
fn stored_names(client: &SpiClient<'_>, ids: Vec<i64>) -> Result<HashMap<i64, String>, Error> {
    let rows = client.query(
        "SELECT entry_id, name FROM jobstats.entries WHERE entry_id = ANY ($1)",
        &[ids.into()],
    )?;
    let mut names = HashMap::with_capacity(rows.len());
    for row in rows {
        names.insert(row.at(1)?, row.at(2)?);
    }
    Ok(names)
}
