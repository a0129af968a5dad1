//! What is known of a target before a text, by identifier.

use std::collections::TryReserveError;
use std::sync::LazyLock;

use super::life::{Life, Part};
use super::{Micros, Observation};
use crate::pause::Pause;
use crate::scan::Time;
use crate::snapshot::{ByKey, Key, Record, Snapshot};

/// A text that is gone, or that has nothing carried with it.
pub(super) static NOTHING: LazyLock<Snapshot<'static>> = LazyLock::new(Snapshot::default);

/// Position of the first part of an entry in [`Known`].
pub(super) type Head = usize;

/// The records of the text before in its order, then the ones carried with it.
pub(super) struct Known<'a> {
    time: Micros,
    text: &'a Snapshot<'a>,
    carried: &'a Snapshot<'a>,
    found: Vec<bool>,
    claimed: Vec<bool>,
    /// Where an entry may have several parts.
    chains: Option<Chains<'a>>,
    /// Entries of the text that had not been found when one was out of order. Texts that follow each other have nearly
    /// the same entries in the same order.
    rest: Option<ByKey<'a, Head>>,
    /// Where the next entry is, if it is in order.
    cursor: usize,
}

/// Which parts belong to the same identifier.
struct Chains<'a> {
    /// The first parts of entries that have several, or are carried alone.
    heads: ByKey<'a, Head>,
    next: Vec<Option<usize>>,
    is_head: Vec<bool>,
}

impl<'a> Chains<'a> {
    fn new(
        text: &'a Snapshot<'a>,
        carried: &'a Snapshot<'a>,
        pause: Pause<'_>,
    ) -> Result<Self, TryReserveError> {
        let of_text = text.records.len();
        let len = of_text + carried.records.len();
        let mut chains = Self {
            heads: ByKey::default(),
            next: filled(None, len)?,
            is_head: filled(true, len)?,
        };
        let several = if text.has_several_lives {
            len
        } else {
            carried.records.len()
        };
        chains.heads.try_reserve(several)?;
        for (position, record) in pause.among((of_text..len).zip(&carried.records).rev()) {
            chains.add(carried.key(record), position);
        }
        for (position, record) in pause.among((0..of_text).zip(&text.records).rev()) {
            let key = text.key(record);
            // Most entries of a text are in no other part.
            if text.has_several_lives || chains.heads.contains_key(&key) {
                chains.add(key, position);
            }
        }
        Ok(chains)
    }

    /// Adds a part that is before all of its entry so far.
    fn add(&mut self, key: Key<'a>, position: usize) {
        if let Some(later) = self.heads.insert(key, position) {
            self.next[position] = Some(later);
            self.is_head[later] = false;
        }
    }
}

fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(len)?;
    values.resize(len, value);
    Ok(values)
}

impl<'a> Known<'a> {
    pub fn new(observation: &Observation<'a>, pause: Pause<'_>) -> Result<Self, TryReserveError> {
        let [text, carried] = [observation.snapshot, observation.carried]
            .map(|snapshot| snapshot.unwrap_or(&NOTHING));
        let len = text.records.len() + carried.records.len();
        let has_chains = text.has_several_lives || !carried.records.is_empty();
        Ok(Self {
            time: observation.time,
            text,
            carried,
            found: filled(false, len)?,
            claimed: filled(false, len)?,
            chains: has_chains
                .then(|| Chains::new(text, carried, pause))
                .transpose()?,
            rest: None,
            cursor: 0,
        })
    }

    fn part(&self, position: usize) -> Part<'a> {
        let (text, carried) = (self.text, self.carried);
        let (snapshot, record) = match text.records.get(position) {
            Some(record) => (text, record),
            None => (carried, &carried.records[position - text.records.len()]),
        };
        Part {
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

    /// The entry of this record of a text. All entries of the text that were found before are [marked](Self::mark), or none.
    pub fn find(
        &mut self,
        text: &Snapshot,
        record: &Record,
    ) -> Result<Option<Head>, TryReserveError> {
        let key = text.key(record);
        let head = if self.is_at(self.cursor, key) {
            Some(self.cursor)
        } else if let Some(head) = self.in_chains(key) {
            // What is carried stands in no order.
            return Ok(Some(head));
        } else {
            self.out_of_order(key, text.has_several_lives)?
        };
        self.cursor = head.map_or(self.cursor, |head| head + 1);
        Ok(head)
    }

    /// Whether this is the position in the text of the first part of an entry.
    fn is_at(&self, position: usize, key: Key<'_>) -> bool {
        let record = self.text.records.get(position);
        record.is_some_and(|record| self.text.key(record) == key && self.is_head(position))
    }

    fn in_chains(&self, key: Key<'_>) -> Option<Head> {
        self.chains.as_ref()?.heads.get(&key).copied()
    }

    /// An entry that is not where the order of texts has it: those before it may be gone. It is looked for further on as long
    /// as any is found there, which passes each record once.
    fn out_of_order(
        &mut self,
        key: Key<'_>,
        can_repeat: bool,
    ) -> Result<Option<Head>, TryReserveError> {
        let rest = match self.rest.take() {
            Some(rest) => rest,
            None => {
                let mut further = self.cursor..self.text.records.len();
                if let Some(head) = further.find(|position| self.is_at(*position, key)) {
                    return Ok(Some(head));
                }
                self.rest(can_repeat)?
            }
        };
        Ok(self.rest.insert(rest).get(&key).copied())
    }

    /// The entries of the text that records can be of: if none stands in their text twice, those that were not found yet.
    fn rest(&self, can_repeat: bool) -> Result<ByKey<'a, Head>, TryReserveError> {
        let records = self.text.records.iter().enumerate();
        let entries = records
            .filter(|(head, _)| self.is_head(*head) && (can_repeat || !self.found[*head]))
            .map(|(head, record)| (self.text.key(record), head));
        let mut rest = ByKey::default();
        rest.try_reserve(entries.clone().count())?;
        rest.extend(entries);
        Ok(rest)
    }

    /// Whether the record says exactly what is known of its entry.
    pub fn is_unchanged(&self, head: Head, snapshot: &Snapshot, record: &Record) -> bool {
        let mut parts = self.entry(head);
        parts
            .next()
            .is_some_and(|part| part.unchanged(snapshot, record))
            && parts.next().is_none()
    }

    fn positions(&self, head: Head) -> impl Iterator<Item = usize> + Clone {
        let next = self.chains.as_ref().map(|chains| &chains.next);
        std::iter::successors(Some(head), move |position| next?[*position])
    }

    fn entry(&self, head: Head) -> impl Iterator<Item = Part<'a>> {
        self.positions(head).map(|position| self.part(position))
    }

    /// The life of the entry that began at this time; None is the one without a `start_time`.
    pub fn life(&self, head: Head, start_time: Option<Time>) -> Option<Life<'a>> {
        Life::of(
            self.entry(head)
                .filter(|part| part.record.start_time == start_time),
        )
    }

    /// The latest life of the entry.
    pub fn latest_life(&self, head: Head) -> Option<Life<'a>> {
        let start_times = self.entry(head).map(|part| part.record.start_time);
        self.life(head, start_times.max()?)
    }

    /// The life that this record of the text is a part of, where carried records may have more parts of it.
    pub fn completed_life(&self, record: &Record) -> Option<Life<'a>> {
        let head = self.in_chains(self.text.key(record))?;
        self.life(head, record.start_time)
    }

    /// Notes that the following text has this entry.
    pub fn mark(&mut self, head: Head) {
        let next = self.chains.as_ref().map(|chains| &chains.next);
        let mut position = Some(head);
        while let Some(found) = position {
            self.found[found] = true;
            position = next.and_then(|next| next[found]);
        }
    }

    /// Notes that a record is taken for this entry without proof: whether it is the first one.
    pub fn claim(&mut self, head: Head) -> bool {
        !std::mem::replace(&mut self.claimed[head], true)
    }

    /// The entries that the following text does not have.
    pub fn missing(&self) -> Result<Vec<Head>, TryReserveError> {
        let all = self.found.iter().enumerate();
        let heads = all.filter(|(head, found)| !**found && self.is_head(*head));
        let mut missing = Vec::new();
        missing.try_reserve_exact(heads.clone().count())?;
        missing.extend(heads.map(|(head, _)| head));
        Ok(missing)
    }

    /// Whether the text itself had the entry.
    pub fn is_of_text(&self, head: Head) -> bool {
        head < self.text.records.len()
    }
}
