//! The records of a target before a snapshot, by identifier.

use std::collections::TryReserveError;
use std::sync::LazyLock;

use super::Observation;
use super::compare::wall;
use super::epoch::{Epoch, SeenValues};
use crate::base::instant::Micros;
use crate::base::pause::Pause;
use crate::base::try_vec::filled;
use crate::rules::snapshot::{ByKey, Key, Keys, Record, Snapshot};
use crate::text::job_stats::Time;

/// The snapshot of a deleted observation, and the carried records of an observation without any.
pub(super) static NOTHING: LazyLock<Snapshot<'static>> = LazyLock::new(Snapshot::default);

/// The position of the first part of an entry in [`History`].
pub(super) type Head = usize;

/// The records of the previous snapshot in its order, then the records carried with it.
pub(super) struct History<'a> {
    time: Micros,
    snapshot: &'a Snapshot<'a>,
    carried: &'a Snapshot<'a>,
    found: Vec<bool>,
    claimed: Vec<bool>,
    /// The parts of each identifier, if an entry may have several.
    chains: Option<Chains<'a>>,
    /// The entries of the snapshot that had not been found when one was out of order. This index is seldom needed: snapshots
    /// that follow each other have nearly the same entries in the same order.
    rest: Option<ByKey<'a, Head>>,
    /// The position of the next entry, if the entries are in order.
    cursor: usize,
}

/// The parts that belong to each identifier.
struct Chains<'a> {
    /// The first parts of entries that have several parts or are only carried.
    heads: ByKey<'a, Head>,
    next: Vec<Option<usize>>,
    is_head: Vec<bool>,
    /// The entries with an epoch in the snapshot that ended while it was printed (rule 5).
    ended: Keys<'a>,
}

impl<'a> Chains<'a> {
    fn new(
        snapshot: &'a Snapshot<'a>,
        carried: &'a Snapshot<'a>,
        pause: Pause<'_>,
    ) -> Result<Self, TryReserveError> {
        let of_text = snapshot.records.len();
        let len = of_text + carried.records.len();
        let mut chains = Self {
            heads: ByKey::default(),
            next: filled(None, len)?,
            is_head: filled(true, len)?,
            ended: Keys::default(),
        };
        let several = if snapshot.has_several_epochs {
            len
        } else {
            carried.records.len()
        };
        chains.heads.try_reserve(several)?;
        for (position, record) in pause.among((of_text..len).zip(&carried.records).rev()) {
            chains.add(carried.key(record), position);
        }
        for (position, record) in pause.among((0..of_text).zip(&snapshot.records).rev()) {
            let key = snapshot.key(record);
            if record.ended {
                chains.is_head[position] = false;
                chains.ended.try_reserve(1)?;
                chains.ended.insert(key);
                continue;
            }
            // Most entries of a snapshot have no other part.
            if snapshot.has_several_epochs || chains.heads.contains_key(&key) {
                chains.add(key, position);
            }
        }
        Ok(chains)
    }

    /// Adds a part that comes before all parts of its entry so far.
    fn add(&mut self, key: Key<'a>, position: usize) {
        if let Some(later) = self.heads.insert(key, position) {
            self.next[position] = Some(later);
            self.is_head[later] = false;
        }
    }
}

impl<'a> History<'a> {
    pub fn new(observation: &Observation<'a>, pause: Pause<'_>) -> Result<Self, TryReserveError> {
        let [snapshot, carried] = [observation.snapshot, observation.carried]
            .map(|snapshot| snapshot.unwrap_or(&NOTHING));
        let len = snapshot.records.len() + carried.records.len();
        let has_chains = snapshot.has_several_epochs || !carried.records.is_empty();
        Ok(Self {
            time: observation.time,
            snapshot,
            carried,
            found: filled(false, len)?,
            claimed: filled(false, len)?,
            chains: has_chains
                .then(|| Chains::new(snapshot, carried, pause))
                .transpose()?,
            rest: None,
            cursor: 0,
        })
    }

    fn part(&self, position: usize) -> SeenValues<'a> {
        let (snapshot, carried) = (self.snapshot, self.carried);
        let (snapshot, record) = match snapshot.records.get(position) {
            Some(record) => (snapshot, record),
            None => (carried, &carried.records[position - snapshot.records.len()]),
        };
        SeenValues {
            since: record.last_seen.unwrap_or(self.time),
            snapshot,
            record,
        }
    }

    fn is_head(&self, position: usize) -> bool {
        self.chains
            .as_ref()
            .is_none_or(|chains| chains.is_head[position])
    }

    /// Returns the entry of a record of a snapshot. Either all entries of the snapshot that were found before must be
    /// [marked](Self::mark), or no entry.
    pub fn find(
        &mut self,
        snapshot: &Snapshot,
        record: &Record,
    ) -> Result<Option<Head>, TryReserveError> {
        let key = snapshot.key(record);
        let head = if self.is_at(self.cursor, key) {
            Some(self.cursor)
        } else if let Some(head) = self.in_chains(key) {
            // Carried records are in no order.
            return Ok(Some(head));
        } else {
            self.out_of_order(key, snapshot.has_several_epochs)?
        };
        self.cursor = head.map_or(self.cursor, |head| head + 1);
        Ok(head)
    }

    /// Returns true if the first part of the entry of this key is at this position of the snapshot.
    fn is_at(&self, position: usize, key: Key<'_>) -> bool {
        let record = self.snapshot.records.get(position);
        record.is_some_and(|record| self.snapshot.key(record) == key && self.is_head(position))
    }

    fn in_chains(&self, key: Key<'_>) -> Option<Head> {
        self.chains.as_ref()?.heads.get(&key).copied()
    }

    /// Finds an entry that is not at the cursor, as entries before it may be gone. Searches further on as long as
    /// entries are found there, which passes each record once, and then in an index of the rest.
    fn out_of_order(
        &mut self,
        key: Key<'_>,
        can_repeat: bool,
    ) -> Result<Option<Head>, TryReserveError> {
        let rest = match self.rest.take() {
            Some(rest) => rest,
            None => {
                let mut further = self.cursor..self.snapshot.records.len();
                if let Some(head) = further.find(|position| self.is_at(*position, key)) {
                    return Ok(Some(head));
                }
                self.rest(can_repeat)?
            }
        };
        Ok(self.rest.insert(rest).get(&key).copied())
    }

    /// Returns an index of the entries of the snapshot to which further records can belong: all entries if an identifier
    /// can repeat in their snapshot, else the entries that were not found yet.
    fn rest(&self, can_repeat: bool) -> Result<ByKey<'a, Head>, TryReserveError> {
        let records = self.snapshot.records.iter().enumerate();
        let entries = records
            .filter(|(head, _)| self.is_head(*head) && (can_repeat || !self.found[*head]))
            .map(|(head, record)| (self.snapshot.key(record), head));
        let mut rest = ByKey::default();
        rest.try_reserve(entries.clone().count())?;
        rest.extend(entries);
        Ok(rest)
    }

    /// Returns true if the record equals the known values of its entry.
    pub fn is_unchanged(&self, head: Head, snapshot: &Snapshot, record: &Record) -> bool {
        let mut parts = self.entry(head);
        parts
            .next()
            .is_some_and(|part| part.unchanged(snapshot, record))
            && parts.next().is_none()
    }

    fn entry(&self, head: Head) -> impl Iterator<Item = SeenValues<'a>> {
        positions(self.chains.as_ref(), head).map(|position| self.part(position))
    }

    /// Returns the epoch of the entry that began at this time; `None` is the epoch without a `start_time`.
    pub fn epoch(&self, head: Head, start_time: Option<Time>) -> Option<Epoch<'a>> {
        let parts = self.entry(head);
        Epoch::of(parts.filter(|part| part.record.start_time == start_time))
    }

    /// Returns the latest epoch of the entry.
    pub fn latest_epoch(&self, head: Head) -> Option<Epoch<'a>> {
        let start_times = self.entry(head).map(|part| part.record.start_time);
        self.epoch(head, start_times.max()?)
    }

    /// Returns the time after which no snapshot had an entry that is not known, if all `start_time` are on the wall clock.
    ///
    /// The previous snapshot lacks such an entry. If an earlier snapshot had had the entry after the last carried record was seen,
    /// the entry would be carried too: records that are no longer carried were seen before all carried ones.
    pub fn never_seen_since(&self) -> Option<Micros> {
        let lengths = self.snapshot.records.len()..self.found.len();
        let carries_entries = lengths.into_iter().any(|position| self.is_head(position));
        let mut records = self.snapshot.records.iter().chain(&self.carried.records);
        let is_dated = records.all(|record| wall(record.start_time).is_some());
        let seen = self.carried.last_seen();
        seen.filter(|seen| carries_entries && is_dated && *seen < self.time)
    }

    /// Returns the epoch of a record of the previous snapshot, if carried records may have more parts of that epoch.
    pub fn completed_epoch(&self, record: &Record) -> Option<Epoch<'a>> {
        let head = self.in_chains(self.snapshot.key(record))?;
        self.epoch(head, record.start_time)
    }

    /// Notes that the following snapshot has this entry.
    pub fn mark(&mut self, head: Head) {
        for position in positions(self.chains.as_ref(), head) {
            self.found[position] = true;
        }
    }

    /// Returns true if an epoch of the entry had already ended in the snapshot, so that another ended epoch would repeat
    /// it.
    pub fn has_ended(&self, snapshot: &Snapshot, record: &Record) -> bool {
        let chains = self.chains.as_ref();
        record.ended && chains.is_some_and(|chains| chains.ended.contains(&snapshot.key(record)))
    }

    /// Notes that a record is taken for this entry without proof. Returns true if it is the first such record.
    pub fn claim(&mut self, head: Head) -> bool {
        !std::mem::replace(&mut self.claimed[head], true)
    }

    /// Returns the entries that the following snapshot does not have.
    pub fn missing(&self) -> Result<Vec<Head>, TryReserveError> {
        let all = self.found.iter().enumerate();
        let heads = all.filter(|(head, found)| !**found && self.is_head(*head));
        let mut missing = Vec::new();
        missing.try_reserve_exact(heads.clone().count())?;
        missing.extend(heads.map(|(head, _)| head));
        Ok(missing)
    }

    /// Returns the records of the snapshot behind this entry, if the following snapshot lacks all of them.
    pub fn missing_behind(&self, head: Head) -> &'a [Record] {
        let behind = head + 1..self.snapshot.records.len();
        let has_any = self.found[behind.clone()].contains(&true);
        match self.snapshot.records.get(behind) {
            Some(records) if !has_any => records,
            _ => &[],
        }
    }

    /// Returns true if the snapshot itself had the entry.
    pub fn is_of_snapshot(&self, head: Head) -> bool {
        head < self.snapshot.records.len()
    }
}

/// Returns the positions of the parts of an entry.
fn positions(chains: Option<&Chains<'_>>, head: Head) -> impl Iterator<Item = usize> {
    let next = chains.map(|chains| &chains.next);
    std::iter::successors(Some(head), move |position| next?[*position])
}
