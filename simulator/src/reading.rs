//! What one reading of a target delivers, with everything that can go wrong while it is read.

use std::rc::Rc;

use crate::cluster::ServerIndex;
use crate::operation::Op;
use crate::plan::{Plan, RETURN};
use crate::random::Seed;
use crate::target::{Change, Life, TargetState};
use crate::time::{Nanos, SECOND};

/// Where the line `job_stats:` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// Where it belongs.
    First,
    /// Nowhere: another reader got it.
    Missing,
    /// Before the record of this position, too: another reader's.
    Extra(usize),
}

/// The text ends inside its last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the last record that were printed.
    pub bytes: usize,
    /// Counters of it whose lines are whole.
    pub operations: usize,
}

/// What one reading of a target delivers.
#[derive(Debug)]
pub struct Reading {
    /// When, in truth.
    pub time: Nanos,
    /// The server that was read.
    pub server: ServerIndex,
    /// Records in the order of the text.
    pub records: Vec<Rc<Life>>,
    /// Lives whose records should be there, but were skipped.
    pub skipped: Vec<Rc<Life>>,
    /// The last record is the second one of its identifier: it was removed and came back during the dump.
    pub doubled: bool,
    /// Where the header is.
    pub header: Header,
    /// Where the text ends too early.
    pub cut: Option<Cut>,
}

/// What becomes of an attempt to read a target.
#[derive(Debug)]
pub enum Outcome {
    /// A text.
    Read(Reading),
    /// Reading failed, and lctl printed nothing.
    Failed,
}

impl Reading {
    /// Reads a target. The first reading that anybody makes of it goes well.
    pub fn take(
        state: &mut TargetState,
        time: Nanos,
        first: bool,
        mut changed: impl FnMut(Change),
    ) -> Outcome {
        state.advance(time, &mut changed);
        let plan = state.plan;
        let layout = state.cluster.layout;
        let mut reading = Self {
            time,
            server: plan.owner(state.target, time),
            records: state.alive.clone(),
            skipped: Vec::new(),
            doubled: false,
            header: Header::First,
            cut: None,
        };
        if first {
            return Outcome::Read(reading);
        }
        if plan.fails(state.target, time) && !state.alive.is_empty() {
            if !layout.prints_partial_text() {
                return Outcome::Failed;
            }
            reading.cut(state);
        } else if let Some(removal) = plan.removal_during(state.target, time) {
            state.returned = None;
            state.advance(removal + RETURN, &mut changed);
            reading.double(state);
        } else if layout.skips_records()
            && let Some(scan) = plan.scan_during(state.target, time)
        {
            reading.skip(state, scan);
        }
        if layout.header_comes_with_records() {
            reading.header = reading.place_header(&plan, state.target);
        }
        Outcome::Read(reading)
    }

    /// The older of the two lives that stand under one identifier.
    pub fn doubled_life(&self) -> Option<u64> {
        let again = self.records.last().filter(|_| self.doubled)?;
        let older = self.records.iter().find(|life| life.entry == again.entry)?;
        Some(older.number)
    }

    /// Those of a record's counters whose lines are whole.
    pub fn whole_counters<'o>(&self, position: usize, ops: &'o [Op]) -> &'o [Op] {
        match self.cut {
            Some(cut) if position + 1 == self.records.len() => &ops[..cut.operations],
            _ => ops,
        }
    }

    /// The same for the whole second.
    fn seed(&self, state: &TargetState) -> Seed {
        state
            .cluster
            .seed
            .of("reading", &[state.target as i64, self.time / SECOND])
    }

    /// Reading fails inside a record that the reading before has shown, so that it is known what its missing counters were.
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
        let text = state.record(&self.records[last]);
        let mut bytes = 1 + seed.of("cut at", &[]).below(text.len() as u64 - 2) as usize;
        // A line that only lacks its newline is as good as whole; the cut has to be inside one.
        while bytes > 1 && text[..bytes].ends_with(b"}") {
            bytes -= 1;
        }
        let operations = text[..bytes]
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.ends_with(b"}\n"))
            .count();
        self.cut = Some(Cut { bytes, operations });
    }

    /// The entry that was removed returns at the end of the text.
    fn double(&mut self, state: &TargetState) {
        let returned = state
            .alive
            .iter()
            .find(|life| Some(life.number) == state.returned);
        if let Some(life) = returned {
            self.records.push(life.clone());
            self.doubled = true;
        }
    }

    /// As many records are skipped as entries before them are removed during the dump.
    fn skip(&mut self, state: &TargetState, scan: Nanos) {
        let expired: Vec<usize> = (0..self.records.len())
            .filter(|&position| state.expires(&self.records[position], scan))
            .collect();
        let Some(&first) = expired.first() else {
            return;
        };
        let from = first
            + 1
            + self
                .seed(state)
                .of("skip", &[])
                .below((self.records.len() - first) as u64) as usize;
        let until = (from + expired.len()).min(self.records.len());
        // Readers tell a target that lost everything from one that skipped records by what is left.
        let left = self.records[..from.min(until)]
            .iter()
            .chain(&self.records[until..]);
        let survivors = left
            .filter(|life| life.is_settled(self.time, state.cluster))
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

    /// The file's text, as a reader gets it.
    pub fn text(&self, state: &TargetState) -> Vec<u8> {
        let mut text = Vec::new();
        let silent = self.records.is_empty() && state.cluster.layout.header_comes_with_records();
        if !silent && self.header != Header::Missing {
            text.extend(b"job_stats:\n");
        }
        for (position, life) in self.records.iter().enumerate() {
            if self.header == Header::Extra(position) {
                text.extend(b"job_stats:\n");
            }
            let record = state.record(life);
            match self.cut {
                Some(cut) if position + 1 == self.records.len() => {
                    text.extend(&record[..cut.bytes])
                }
                _ => text.extend(record),
            }
        }
        text
    }
}
