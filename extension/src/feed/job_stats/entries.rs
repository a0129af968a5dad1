//! Stores identifiers under their keys.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::base::instant::Micros;
use jobstats_core::identity::entry_id::{Formats, Identity, Keys, StoredNames};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::store::columns::{arrays, list};
use crate::store::formats::{CLUSTERS_MAX, SentName, identity_columns, usable_formats};
use crate::store::personal::secrets;

/// The clusters that send entries.
#[derive(Default)]
enum Senders {
    /// Entries are not stored.
    #[default]
    Unknown,
    /// All entries belong to one cluster.
    One(String),
    /// The keys of the entries of each cluster, and the cluster that is sending.
    Several(BTreeMap<String, BTreeSet<i64>>, String),
}

/// The entries that occur in this feed.
#[derive(Default)]
pub struct Entries {
    keys: Keys,
    senders: Senders,
    /// The number of entries that maintenance had deleted before the first one was looked up; `None` before that.
    deleted: Option<i64>,
    /// The formats of identifiers, once they were needed to fold entries.
    formats: Option<Formats>,
}

/// Maps entries to the entry that they are folded into.
pub struct Folding<'e> {
    limit: u32,
    formats: Option<&'e Formats>,
    cluster: &'e [String],
}

impl Folding<'_> {
    /// Returns whether any entry may be folded.
    pub fn is_any(&self) -> bool {
        self.formats.is_some()
    }

    /// Returns the user into whose entry this one is folded.
    pub fn uid(&self, entry: &str) -> Option<u32> {
        let identity = self.formats?.identify_in(self.cluster, entry);
        identity.folded_below(self.limit)
    }
}

impl Entries {
    /// Returns the entries of a feed of one cluster.
    pub fn of_cluster(cluster: &str) -> Self {
        Self {
            senders: Senders::One(cluster.to_owned()),
            ..Self::default()
        }
    }

    /// Sets the cluster of the names that are looked up from now on.
    pub fn sent_by(&mut self, cluster: &str) {
        let senders = match std::mem::take(&mut self.senders) {
            Senders::Several(senders, _) => senders,
            _ => BTreeMap::new(),
        };
        self.senders = Senders::Several(senders, cluster.to_owned());
    }

    /// Returns which entries of the cluster that is sending are folded, under a limit of the numbers of their users.
    pub fn folding(&mut self, client: &SpiClient<'_>, limit: u32) -> Result<Folding<'_>, Error> {
        if limit > 0 && self.formats.is_none() {
            self.formats = Some(usable_formats(client)?);
        }
        let cluster = match &self.senders {
            Senders::Unknown => &[],
            Senders::One(cluster) | Senders::Several(_, cluster) => std::slice::from_ref(cluster),
        };
        Ok(Folding {
            limit,
            formats: self.formats.as_ref().filter(|_| limit > 0),
            cluster,
        })
    }

    /// Returns the key of a name that [`Self::resolve`] has looked up.
    pub fn id(&self, name: &str) -> Result<i64, Error> {
        let id = self.keys.id(name);
        id.ok_or_else(|| Error::Damaged(format!("entry {name} has no key")))
    }

    /// Returns whether the store lacks a name that [`Self::resolve`] has looked up.
    pub fn is_new(&self, name: &str) -> bool {
        self.keys.is_new(name)
    }

    /// Looks up the keys of all these names. Names that the store lacks become new entries.
    pub fn resolve<'n>(
        &mut self,
        client: &SpiClient<'_>,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), Error> {
        if self.deleted.is_none() && names.clone().next().is_some() {
            self.keys = Keys::of(secrets(client)?);
            self.deleted = plans::query_value(client, DELETED)?;
        }
        self.keys
            .resolve(names.clone(), |ids| stored_names(client, ids))?;
        if let Senders::Several(senders, cluster) = &mut self.senders {
            let ids = names.filter_map(|name| self.keys.id(name));
            senders.entry(cluster.clone()).or_default().extend(ids);
        }
        Ok(())
    }

    /// Returns the clusters that have sent an entry.
    fn clusters_of(&self, id: i64) -> Cow<'_, [String]> {
        match &self.senders {
            Senders::Unknown => Cow::Borrowed(&[]),
            Senders::One(cluster) => Cow::Borrowed(std::slice::from_ref(cluster)),
            Senders::Several(senders, _) => {
                let theirs = senders.iter().filter(|(_, ids)| ids.contains(&id));
                theirs.map(|(cluster, _)| cluster.clone()).collect()
            }
        }
    }

    /// Notes which clusters have sent the entries that are stored already, where formats depend on it.
    fn note_clusters(&self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        let theirs: Vec<(&str, Vec<i64>)> = match &self.senders {
            Senders::Unknown => Vec::new(),
            Senders::One(cluster) => vec![(cluster, self.keys.ids().collect())],
            Senders::Several(senders, _) => {
                let ids = |ids: &BTreeSet<i64>| ids.iter().copied().collect();
                senders
                    .iter()
                    .map(|it| (it.0.as_str(), ids(it.1)))
                    .collect()
            }
        };
        for (cluster, ids) in theirs {
            client.execute(
                include_str!("entries/note_cluster.sql"),
                &values![ids, cluster.to_owned(), CLUSTERS_MAX],
            )?;
        }
        Ok(())
    }

    /// Stores the new entries, in order of their keys and as the last step of a feed. Thus feeds that store the same
    /// entries wait for each other as briefly as possible and never deadlock.
    pub fn insert_new(
        &mut self,
        client: &mut SpiClient<'_>,
        first_seen: Micros,
    ) -> Result<(), Error> {
        self.find_again(client)?;
        if self.keys.ids().len() == 0 {
            return Ok(());
        }
        self.insert(client, first_seen)?;
        if plans::query_value(client, DIFFER)? {
            self.note_clusters(client)?;
        }
        Ok(())
    }

    fn insert(&mut self, client: &mut SpiClient<'_>, first_seen: Micros) -> Result<(), Error> {
        let new = self.keys.new_entries();
        if new.is_empty() {
            return Ok(());
        }
        let formats = usable_formats(client)?;
        let sent = new.iter().map(|(id, name)| SentName {
            name,
            clusters: self.clusters_of(*id),
        });
        let sent: Vec<_> = sent.collect();
        let mut values = vec![new.keys().copied().collect::<Vec<_>>().into()];
        values.push(timestamptz(first_seen)?.into());
        values.extend(identity_columns(&formats, &sent));
        let inserted = client.execute_rows(
            &sql!(
                "entries/insert.sql",
                names = list(&Identity::COLUMNS, "{name}"),
                arrays = arrays(&Identity::COLUMNS, 6),
                values = list(&Identity::COLUMNS, "n.{name}"),
            ),
            &values,
        )?;
        let inserted = inserted.map(|row| row.at::<i64>(1));
        let inserted = inserted.collect::<Result<Vec<_>, _>>()?;
        self.require_same(client, inserted)
    }

    /// Checks that the entries which a conflict skipped were stored by another feed with the same names.
    ///
    /// # Errors
    /// [`Error::EntryRace`] if a key belongs to another name.
    fn require_same(&mut self, client: &SpiClient<'_>, inserted: Vec<i64>) -> Result<(), Error> {
        let skipped = self.keys.take_skipped(inserted);
        if skipped.is_empty() {
            return Ok(());
        }
        let stored = stored_names(client, skipped.keys().copied().collect())?;
        let is_same = |(id, name): (&i64, &String)| {
            let stored = stored.get(id);
            stored.is_some_and(|it| self.keys.is_of(it, name))
        };
        if skipped.iter().all(is_same) {
            Ok(())
        } else {
            Err(Error::EntryRace)
        }
    }

    /// Moves `first_seen` of entries back to this time. Needed for text older than `raw_retention`: no query searches for an
    /// entry long before it was first seen.
    pub fn note_earlier(&self, client: &mut SpiClient<'_>, seen: Micros) -> Result<(), Error> {
        client.run(
            "UPDATE jobstats.entries SET first_seen = $2 FROM (SELECT entry_id AS id FROM jobstats.entries \
             WHERE entry_id = ANY ($1) AND first_seen > $2 ORDER BY entry_id FOR NO KEY UPDATE) AS later \
             WHERE entry_id = later.id",
            &values![self.keys.ids().collect::<Vec<_>>(), timestamptz(seen)?],
        )
    }

    /// Stores again the entries that maintenance has deleted since they were found, and makes maintenance wait for this
    /// feed from now on. Maintenance deletes entries without references, and does not see the references that this feed
    /// has not yet committed.
    fn find_again(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        if self.keys.ids().len() == 0 {
            return Ok(());
        }
        plans::update(
            client,
            "SELECT FROM jobstats.locks WHERE name = 'entries' FOR KEY SHARE",
            &[],
        )?;
        // These statements take a new snapshot.
        if plans::query_value::<Option<i64>>(client, DELETED)? == self.deleted {
            return Ok(());
        }
        let stored = stored_names(client, self.keys.ids().collect())?;
        if self.keys.find_again(&stored) {
            Ok(())
        } else {
            Err(Error::EntryRace)
        }
    }
}

/// The query whether the meaning of an identifier depends on the cluster.
const DIFFER: &str =
    "SELECT EXISTS (SELECT FROM jobstats.entry_formats f WHERE f.cluster IS NOT NULL)";

const DELETED: &str = "SELECT (SELECT deleted FROM jobstats.sweep)";

/// Returns the names that are stored under these keys. If this transaction has written, as a feed has when it locked
/// its targets, the statement takes a new snapshot of the database.
fn stored_names(client: &SpiClient<'_>, ids: Vec<i64>) -> Result<StoredNames, Error> {
    let rows = client.query(
        "SELECT entry_id, name FROM jobstats.entries WHERE entry_id = ANY ($1)",
        &values![ids],
    )?;
    let mut names = StoredNames::with_capacity(rows.len());
    for row in rows {
        names.insert(row.at(1)?, row.at(2)?);
    }
    Ok(names)
}
