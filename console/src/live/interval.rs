//! The work on a target between two of its texts.

use std::sync::{Arc, LazyLock};

use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::{Kind, OPERATIONS, find};
use jobstats_core::base::target::TargetKind;
use jobstats_core::rules::increment::Column;
use jobstats_core::usage::Measure;

use crate::live::owner::Owner;
use crate::live::sums::{COLUMNS, METADATA, SERVICE, Totals};

/// The work of one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryUsage {
    pub owner: Arc<Owner>,
    /// The growth of the columns: calls, bytes, and microseconds.
    pub totals: Vec<(Column, i64)>,
}

/// The counts that targets keep by themselves: all time, the metadata operations of MDTs, and each operation.
pub static OWN: LazyLock<Vec<Measure>> = LazyLock::new(|| {
    let operations = OPERATIONS.iter();
    let own = operations.filter(|it| it.in_service_time() || it.kind == Kind::Bytes);
    let names = ["service_time", "metadata"].into_iter();
    let names = names.chain(own.map(|it| it.name));
    names.filter_map(|it| Measure::find(it).ok()).collect()
});

/// The work of a target by its own counters, which count requests with and without an identifier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetCounters {
    pub all: Totals,
    /// The part that is in no entry.
    pub rest: Totals,
}

impl TargetCounters {
    /// Adds the work by one of [`OWN`], which has this name, in parts of its unit.
    pub fn add(&mut self, name: &str, all: i128, rest: i128) {
        let sums = match (name, find(name.as_bytes())) {
            ("service_time", _) => &[SERVICE],
            ("metadata", _) => &[METADATA],
            // What counts as metadata on an MDT has been added as such.
            (_, Some(index)) => COLUMNS.sums(Column::Total(index), TargetKind::Ost),
            _ => &[],
        };
        for sum in sums {
            self.all[*sum] += all;
            self.rest[*sum] += rest;
        }
    }
}

/// The work on a target in a span of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The time of the text before.
    pub since: Micros,
    /// The time of this text.
    pub until: Micros,
    /// True if the server reports service times; `None` if no request has shown it yet.
    pub timed: Option<bool>,
    /// The work of the entries that did something.
    pub work: Vec<EntryUsage>,
    /// The work by the target's own counters; `None` where these are not known.
    pub counters: Option<TargetCounters>,
    /// The number of entries that were born.
    pub added: u64,
    /// The number of entries whose counters restarted.
    pub resets: u64,
    /// The number of entries that are gone.
    pub removed: u64,
}

impl Interval {
    /// Returns the length of the span in microseconds.
    pub const fn length(&self) -> Micros {
        self.until - self.since
    }
}

/// One text of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSnapshot {
    /// The name of the target, such as `scratch-OST0000`.
    pub target: Arc<str>,
    pub kind: TargetKind,
    pub server: Arc<str>,
    pub time: Micros,
    /// The number of entries in the text.
    pub entries: u64,
    /// The number of lines and values that could not be used.
    pub problems: u64,
    /// The usage since the previous snapshot; `None` for the first snapshot of a target.
    pub interval: Option<Interval>,
}

/// The name of a store in the list of servers.
pub const STORE: &str = "store";

/// A server that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub server: Arc<str>,
    pub reason: String,
    /// The time of the last scrape; in a round `None` if the targets have it, in a history `None` if there was no scrape.
    pub since: Option<Micros>,
}

/// The texts of all servers, read at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// The time of the last snapshot.
    pub time: Micros,
    /// The texts of the targets.
    pub snapshots: Vec<TargetSnapshot>,
    /// The targets that are not late, with or without a snapshot in this round.
    pub pending: Vec<Arc<str>>,
    pub failures: Vec<Failure>,
    /// Lines about the readings.
    pub notes: Vec<String>,
}

impl Round {
    /// Notes that a server could not be read.
    pub fn fail(&mut self, server: &str, reason: impl ToString) {
        self.failures.push(Failure {
            server: server.into(),
            reason: reason.to_string(),
            since: None,
        });
    }

    /// Returns the time of the last text, if there is one.
    pub fn last(&self) -> Option<Micros> {
        self.snapshots.iter().map(|seen| seen.time).max()
    }
}
