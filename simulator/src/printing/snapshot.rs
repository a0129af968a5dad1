//! The text of one reading of a target, with everything that can go wrong during a dump.

use std::collections::HashMap;
use std::rc::Rc;

use crate::lustre::Op;
use crate::printing::render::record_of;
use crate::random::Seed;
use crate::time::{Nanos, SECOND};
use crate::world::disturbances::RETURN;
use crate::world::{Change, Epoch, Plan, ServerIndex, TargetState};

/// The position of the line `job_stats:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// The line precedes the first record, where it belongs.
    First,
    /// The line is missing, because another reader got it.
    Missing,
    /// A second line, which belongs to another reader, precedes the record at this position.
    Extra(usize),
}

/// The point inside the last record at which the text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of bytes of the last record that were printed.
    pub bytes: usize,
    /// The number of counters of the last record whose lines are whole.
    pub operations: usize,
}

/// The records of a text by the number of the epoch and the time of its last call.
pub type Records = HashMap<(u64, Nanos), Vec<u8>>;

/// One reading of a target.
#[derive(Debug)]
pub struct Snapshot {
    /// The true time of the reading.
    pub time: Nanos,
    pub server: ServerIndex,
    /// The records in the order of the text.
    pub records: Vec<Rc<Epoch>>,
    /// The epochs whose records should be in the text, but were skipped.
    pub skipped: Vec<Rc<Epoch>>,
    /// True if the last record is the second one of its identifier: the entry was removed and came back during the
    /// dump.
    pub doubled: bool,
    pub header: Header,
    /// The cut, if the text ends too early.
    pub cut: Option<Cut>,
}

impl Snapshot {
    /// Reads a target. Returns `None` if reading failed and lctl printed nothing; the first reading always succeeds.
    pub fn take(
        state: &mut TargetState,
        time: Nanos,
        first: bool,
        mut changed: impl FnMut(Change),
    ) -> Option<Self> {
        state.advance(time, &mut changed);
        let plan = state.plan;
        let layout = state.cluster.layout;
        let mut snapshot = Self {
            time,
            server: plan.owner(state.target, time),
            records: state.alive.clone(),
            skipped: Vec::new(),
            doubled: false,
            header: Header::First,
            cut: None,
        };
        if first {
            return Some(snapshot);
        }
        if plan.fails(state.target, time) && !state.alive.is_empty() {
            if !layout.prints_partial_text() {
                return None;
            }
            snapshot.cut(state);
        } else if let Some(removal) = plan.removal_during(state.target, time) {
            state.returned = None;
            state.advance(removal + RETURN, &mut changed);
            snapshot.double(state);
        } else if layout.skips_records()
            && let Some(scan) = plan.scan_during(state.target, time)
        {
            snapshot.skip(state, scan);
        }
        if layout.header_comes_with_records() {
            snapshot.header = snapshot.place_header(&plan, state.target);
        }
        Some(snapshot)
    }

    /// Returns the older of two epochs with one identifier.
    pub fn doubled_epoch(&self) -> Option<&Epoch> {
        let again = self.records.last().filter(|_| self.doubled)?;
        let mut epochs = self.records.iter();
        epochs
            .find(|epoch| epoch.entry == again.entry)
            .map(Rc::as_ref)
    }

    /// Returns the counters of a record whose lines are whole.
    pub fn complete_counters<'o>(&self, position: usize, ops: &'o [Op]) -> &'o [Op] {
        match self.cut {
            Some(cut) if position + 1 == self.records.len() => &ops[..cut.operations],
            _ => ops,
        }
    }

    /// Returns the seed of the reading, which all readings within one second share.
    fn seed(&self, state: &TargetState) -> Seed {
        let second = self.time / SECOND;
        state
            .cluster
            .seed
            .of("reading", &[state.target as i64, second])
    }

    /// Cuts the text inside a record that the reading before has shown, so that the values of its missing counters are
    /// known.
    fn cut(&mut self, state: &TargetState) {
        let seed = self.seed(state);
        let settled: Vec<usize> = (0..self.records.len())
            .filter(|&position| self.records[position].is_settled(self.time, state.cluster))
            .collect();
        let Some(&last) = settled.get(seed.of("cut", &[]).below(settled.len() as u64) as usize)
        else {
            return;
        };
        self.records.truncate(last + 1);
        let text = record_of(state, &self.records[last]);
        let mut bytes = 1 + seed.of("cut at", &[]).below(text.len() as u64 - 2) as usize;
        // A line that lacks only its newline is as good as whole, so the cut has to be inside a line.
        while bytes > 1 && text[..bytes].ends_with(b"}") {
            bytes -= 1;
        }
        let operations = text[..bytes]
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.ends_with(b"}\n"))
            .count();
        self.cut = Some(Cut { bytes, operations });
    }

    /// Adds the entry that was removed and returned to the end of the text.
    fn double(&mut self, state: &TargetState) {
        let returned = state
            .alive
            .iter()
            .find(|epoch| Some(epoch.number) == state.returned);
        if let Some(epoch) = returned {
            self.records.push(epoch.clone());
            self.doubled = true;
        }
    }

    /// Skips as many records as entries before them are removed during the dump.
    fn skip(&mut self, state: &TargetState, scan: Nanos) {
        let expired: Vec<usize> = (0..self.records.len())
            .filter(|&position| state.expires(&self.records[position], scan))
            .collect();
        let Some(&first) = expired.first() else {
            return;
        };
        let seed = self.seed(state).of("skip", &[]);
        let from = first + 1 + seed.below((self.records.len() - first) as u64) as usize;
        let until = (from + expired.len()).min(self.records.len());
        // The remaining records tell a reader whether the target lost all entries or the text skipped records.
        let left = self.records[..from.min(until)]
            .iter()
            .chain(&self.records[until..]);
        let survivors = left
            .filter(|epoch| epoch.is_settled(self.time, state.cluster))
            .count();
        if from < until && survivors > 0 {
            self.skipped = self.records.drain(from..until).collect();
        }
    }

    fn place_header(&self, plan: &Plan, target: usize) -> Header {
        if !plan.loses_header(target, self.time) || self.records.is_empty() {
            return Header::First;
        }
        match (self.time / SECOND) as usize % (2 * self.records.len()) {
            position if position > 0 && position < self.records.len() => Header::Extra(position),
            _ => Header::Missing,
        }
    }

    /// Returns the text as a reader gets it. Most entries have not changed since the previous text: their records are copied from it, and
    /// this text's records then replace it.
    pub fn text(&self, state: &TargetState, records: &mut Records) -> Vec<u8> {
        let mut before = std::mem::take(records);
        let mut text = Vec::new();
        let silent = self.records.is_empty() && state.cluster.layout.header_comes_with_records();
        if !silent && self.header != Header::Missing {
            text.extend(b"job_stats:\n");
        }
        for (position, epoch) in self.records.iter().enumerate() {
            if self.header == Header::Extra(position) {
                text.extend(b"job_stats:\n");
            }
            let key = (epoch.number, epoch.last);
            let record = before
                .remove(&key)
                .unwrap_or_else(|| record_of(state, epoch));
            let end = match self.cut {
                Some(cut) if position + 1 == self.records.len() => cut.bytes,
                _ => record.len(),
            };
            text.extend(&record[..end]);
            records.insert(key, record);
        }
        text
    }
}
