//! What is known of a target before a text: the text before, overlaid by the records that were carried with it.

use std::collections::{HashMap, TryReserveError};
use std::hash::BuildHasherDefault;

use super::value::{bit, fall, restarted, slot_in, slots};
use super::{Micros, Observation};
use crate::scan::Time;
use crate::snapshot::{Counter, CounterIter, Hashed, Key, Record, Slot, Snapshot};

/// Values of an entry that were seen together.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// When.
    pub since: Micros,
    pub snapshot: &'a Snapshot<'a>,
    pub record: &'a Record<'a>,
}

impl<'a> Part<'a> {
    pub fn id(&self) -> &'a str {
        &self.record.id
    }

    /// Whether the record says exactly what this part says.
    fn unchanged(&self, snapshot: &Snapshot, record: &Record) -> bool {
        let before = self.snapshot.counters.words(self.record.counters.clone());
        let after = snapshot.counters.words(record.counters.clone());
        self.record.start_time == record.start_time
            && self.record.present == record.present
            && before == after
            && self.snapshot.unlisted == snapshot.unlisted
    }

    /// The value of the operation that has this slot in `snapshot`.
    fn value(&self, snapshot: &Snapshot, slot: Slot) -> Option<Counter<'a>> {
        let slot = slot_in(self.snapshot, snapshot, slot)?;
        self.snapshot.value(self.record, slot)
    }

    /// Whether it has the counter of the operation that has this slot in `snapshot`.
    fn has(&self, snapshot: &Snapshot, slot: Slot) -> bool {
        self.value(snapshot, slot).is_some()
    }
}

/// One life of an entry: what is known of its counters.
pub(super) struct Life<'a> {
    main: Part<'a>,
    /// Carried beside it: these counters were missing or lower in the text.
    overlays: Vec<Part<'a>>,
}

impl<'a> Life<'a> {
    pub fn start_time(&self) -> Option<Time> {
        self.main.record.start_time
    }

    /// When it was last really seen.
    pub fn last_seen(&self) -> Micros {
        self.parts()
            .map(|part| part.since)
            .max()
            .unwrap_or(self.main.since)
    }

    /// The listed operations whose counters are known.
    pub fn listed(&self) -> u64 {
        self.parts()
            .fold(0, |known, part| known | part.record.present)
    }

    /// The listed operations that counted something.
    fn counted(&self) -> u64 {
        self.parts()
            .fold(0, |bits, part| bits | counted(part.snapshot, part.record))
    }

    /// The listed operations that counted something, before or now, and of which the record does not say exactly what is
    /// known.
    pub fn changed(&self, snapshot: &Snapshot, record: &Record) -> u64 {
        if !self.overlays.is_empty() {
            return self.counted() | counted(snapshot, record);
        }
        let known = self.main.snapshot.counters_of(self.main.record);
        let changed = known.other_than(snapshot.counters_of(record));
        changed.filter_map(bit).fold(0, |bits, bit| bits | bit)
    }

    /// The known values.
    pub fn values(&self) -> Values<'_, 'a> {
        Values {
            life: self,
            main: self.main.snapshot.counters_of(self.main.record),
        }
    }

    /// The known value of the operation that has this slot in `snapshot`, and when it was seen.
    pub fn value(&self, snapshot: &Snapshot, slot: Slot) -> Option<(Micros, Counter<'a>)> {
        let mut parts = self.overlays.iter().chain(Some(&self.main));
        parts.find_map(|part| Some((part.since, part.value(snapshot, slot)?)))
    }

    /// Since when at the earliest the record's counters restarted, judged by their values alone.
    pub fn restarted(&self, snapshot: &Snapshot, record: &Record) -> Option<Micros> {
        self.where_true(snapshot, record, restarted).max()
    }

    /// Whether a counter is lower in the record.
    pub fn falls(&self, snapshot: &Snapshot, record: &Record) -> bool {
        self.where_true(snapshot, record, |before, now| fall(before, now).is_some())
            .next()
            .is_some()
    }

    /// When the counters were seen, of which that is true; among those that are known and that the record has too, and that
    /// do not say the same.
    fn where_true(
        &self,
        snapshot: &Snapshot,
        record: &Record,
        is_true: impl Fn(&Counter<'_>, &Counter<'_>) -> bool,
    ) -> impl Iterator<Item = Micros> {
        let changed = record.present & self.changed(snapshot, record);
        let (mut known, mut counters) = (self.values(), snapshot.counters_of(record));
        slots(changed)
            .chain(unlisted(snapshot, record))
            .filter_map(move |slot| {
                let (since, before) = known.find(snapshot, slot)?;
                let now = Snapshot::value_among(&mut counters, record, slot)?;
                is_true(&before, &now).then_some(since)
            })
    }

    /// What of it was seen later.
    pub fn seen_after(&self, time: Micros) -> Option<Self> {
        let mut parts = self.parts().copied().filter(|part| part.since > time);
        Some(Self {
            main: parts.next()?,
            overlays: parts.collect(),
        })
    }

    /// Every part with the counters that it alone has the say of.
    pub fn shares(&self) -> impl Iterator<Item = Share<'a, '_>> {
        let overlaid = self
            .overlays
            .iter()
            .fold(0, |bits, part| bits | part.record.present);
        let main = Share {
            part: self.main,
            listed: self.main.record.present & !overlaid,
            overlays: &self.overlays,
        };
        let overlays = self.overlays.iter().map(|part| Share {
            part: *part,
            listed: part.record.present,
            overlays: &[],
        });
        std::iter::once(main).chain(overlays)
    }

    fn parts(&self) -> impl Iterator<Item = &Part<'a>> {
        std::iter::once(&self.main).chain(&self.overlays)
    }

    /// Whether the record is cut: it lacks counters that its entry had.
    pub fn is_missing_in(&self, snapshot: &Snapshot, record: &Record) -> bool {
        let unlisted_missing = |part: &Part| {
            unlisted(part.snapshot, part.record).any(|slot| {
                let slot = slot_in(snapshot, part.snapshot, slot);
                slot.is_none_or(|slot| snapshot.value(record, slot).is_none())
            })
        };
        self.listed() & !record.present != 0 || self.parts().any(unlisted_missing)
    }
}

/// The known values of a life, asked for in order of slot: looking for each from the first counter on took a tenth of a
/// comparison.
pub(super) struct Values<'l, 'a> {
    life: &'l Life<'a>,
    /// Those of its main part that have not been passed.
    main: CounterIter<'a>,
}

impl<'a> Values<'_, 'a> {
    /// The known value of the operation that has this slot in `snapshot`, and when it was seen.
    pub fn find(&mut self, snapshot: &Snapshot, slot: Slot) -> Option<(Micros, Counter<'a>)> {
        let main = &self.life.main;
        if bit(slot).is_none() || !self.life.overlays.is_empty() {
            return self.life.value(snapshot, slot);
        }
        let value = Snapshot::value_among(&mut self.main, main.record, slot)?;
        Some((main.since, value))
    }
}

/// The counters of a part that no other part of its life overlays.
pub(super) struct Share<'a, 'l> {
    pub part: Part<'a>,
    pub listed: u64,
    overlays: &'l [Part<'a>],
}

impl Share<'_, '_> {
    /// Whether the operation that has this slot in the part's snapshot is this part's to tell.
    pub fn has_say(&self, slot: Slot) -> bool {
        let mut overlays = self.overlays.iter();
        !overlays.any(|part| part.has(self.part.snapshot, slot))
    }
}

/// The slots of a record's operations that are not in the list.
pub(super) fn unlisted(snapshot: &Snapshot, record: &Record) -> impl Iterator<Item = Slot> {
    let slots = snapshot.counters_of(record).slots();
    slots.filter(|slot| bit(*slot).is_none())
}

/// The listed operations of which a record counted something.
pub(super) fn counted(snapshot: &Snapshot, record: &Record) -> u64 {
    let slots = snapshot.counters_of(record).slots();
    slots.filter_map(bit).fold(0, |bits, bit| bits | bit)
}

/// Position of the first part of an entry in [`Known`].
pub(super) type Head = usize;

/// All that is known, by identifier.
pub(super) struct Known<'a> {
    /// The records of the text in its order, then the carried ones.
    parts: Vec<Part<'a>>,
    of_text: usize,
    found: Vec<bool>,
    index: Option<Index<'a>>,
    cursor: usize,
}

/// Which parts belong to the same identifier. Made only when it is needed: texts that follow each other have nearly
/// the same entries in the same order.
struct Index<'a> {
    heads: HashMap<Key<'a>, Head, BuildHasherDefault<Hashed>>,
    next: Vec<Option<usize>>,
    is_head: Vec<bool>,
}

impl<'a> Index<'a> {
    fn new(parts: &[Part<'a>]) -> Result<Self, TryReserveError> {
        let mut heads = HashMap::default();
        heads.try_reserve(parts.len())?;
        let mut index = Self {
            heads,
            next: filled(None, parts.len())?,
            is_head: filled(true, parts.len())?,
        };
        for (position, part) in parts.iter().enumerate().rev() {
            if let Some(later) = index.heads.insert(part.record.key(), position) {
                index.next[position] = Some(later);
                index.is_head[later] = false;
            }
        }
        Ok(index)
    }
}

fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(len)?;
    values.resize(len, value);
    Ok(values)
}

impl<'a> Known<'a> {
    pub fn new(observation: &Observation<'a>) -> Result<Self, TryReserveError> {
        let mut parts = Vec::new();
        for snapshot in [observation.snapshot, observation.carried]
            .into_iter()
            .flatten()
        {
            parts.try_reserve_exact(snapshot.records.len())?;
            parts.extend(snapshot.records.iter().map(|record| Part {
                since: record.last_seen.unwrap_or(observation.time),
                snapshot,
                record,
            }));
        }
        let of_text = observation.snapshot.map_or(0, |text| text.records.len());
        // A carried record may complete one of the text: the text's own order does not find all of that entry.
        let index = if parts.len() > of_text {
            Some(Index::new(&parts)?)
        } else {
            None
        };
        Ok(Self {
            of_text,
            found: filled(false, parts.len())?,
            parts,
            index,
            cursor: 0,
        })
    }

    fn index(&mut self) -> Result<&Index<'a>, TryReserveError> {
        let index = match self.index.take() {
            Some(index) => index,
            None => Index::new(&self.parts)?,
        };
        Ok(self.index.insert(index))
    }

    /// The entry of this record.
    pub fn find(&mut self, record: &Record) -> Result<Option<Head>, TryReserveError> {
        let head = if self.is_at_cursor(record) {
            Some(self.cursor)
        } else {
            self.index()?.heads.get(&record.key()).copied()
        };
        self.cursor = head.map_or(self.cursor, |head| head + 1);
        Ok(head)
    }

    /// Whether the part at the cursor is the first of the record's entry. Without an index only the same life is sure
    /// to be.
    fn is_at_cursor(&self, record: &Record) -> bool {
        let at_cursor = |part: &Part| {
            part.record.key() == record.key()
                && match &self.index {
                    None => part.record.start_time == record.start_time,
                    Some(index) => index.is_head[self.cursor],
                }
        };
        self.parts.get(self.cursor).is_some_and(at_cursor)
    }

    /// Whether the record says exactly what is known of its entry.
    pub fn is_unchanged(&self, head: Head, snapshot: &Snapshot, record: &Record) -> bool {
        let mut parts = self.entry(head);
        parts
            .next()
            .is_some_and(|part| part.unchanged(snapshot, record))
            && parts.next().is_none()
    }

    fn positions(&self, head: Head) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(head), |position| self.index.as_ref()?.next[*position])
    }

    fn entry(&self, head: Head) -> impl Iterator<Item = &Part<'a>> {
        self.positions(head).map(|position| &self.parts[position])
    }

    /// The life of the entry that began at this time; None is the one without a `start_time`.
    pub fn life(&self, head: Head, start_time: Option<Time>) -> Option<Life<'a>> {
        let mut parts = self
            .entry(head)
            .filter(|part| part.record.start_time == start_time);
        Some(Life {
            main: *parts.next()?,
            overlays: parts.copied().collect(),
        })
    }

    /// The latest life of the entry.
    pub fn latest_life(&self, head: Head) -> Option<Life<'a>> {
        let start_times = self.entry(head).map(|part| part.record.start_time);
        self.life(head, start_times.max()?)
    }

    /// The life that this record of the text is a part of, where carried records may have more parts of it.
    pub fn completed_life(&self, record: &Record) -> Option<Life<'a>> {
        let head = *self.index.as_ref()?.heads.get(&record.key())?;
        self.life(head, record.start_time)
    }

    /// Notes that the following text has this entry.
    pub fn mark(&mut self, head: Head) {
        let mut position = Some(head);
        while let Some(found) = position {
            self.found[found] = true;
            position = self.index.as_ref().and_then(|index| index.next[found]);
        }
    }

    /// The entries that the following text does not have.
    pub fn missing(&mut self) -> Result<Vec<Head>, TryReserveError> {
        let mut missing = Vec::new();
        missing.try_reserve_exact(self.found.iter().filter(|found| !**found).count())?;
        if missing.capacity() == 0 {
            return Ok(missing);
        }
        self.index()?;
        let is_head = |head: &Head| {
            self.index
                .as_ref()
                .is_some_and(|index| index.is_head[*head])
        };
        let is_missing = |head: &Head| self.positions(*head).all(|position| !self.found[position]);
        let heads = (0..self.parts.len()).filter(is_head);
        missing.extend(heads.filter(is_missing));
        Ok(missing)
    }

    /// Whether the text itself had the entry.
    pub fn is_of_text(&self, head: Head) -> bool {
        head < self.of_text
    }
}
