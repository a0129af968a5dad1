//! The questions to the reading functions, each about everything that was done in a span.

use jobstats_client::Error;
use postgres::Client;

use crate::lustre::Kind;
use crate::lustre::operation::Op::{self, *};
use crate::store::answer::{self, Subject};
use crate::store::compare::Place;
use crate::store::database::{Amounts, Key};
use crate::truth::totals::{Column, Quantity};

/// A question whose answer is known.
pub struct Question {
    /// The name of the question.
    pub name: &'static str,
    /// Asks the question.
    pub ask: fn(&mut Client, &Subject) -> Result<Amounts, Error>,
    sums: Sums,
}

/// The way in which the answer sums up the work of entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sums {
    /// The work of all entries on a target, by column.
    Targets,
    /// The work of a workload on a target, by column.
    Workloads,
    /// The work of a workload on a target, by operation of [`RANKED`].
    Leaders,
    /// The work of a workload on a target, by operation of [`SUMMARISED`].
    Summaries,
}

/// Questions about everything that the reading functions say about totals. Windows and steps have edges at which there
/// is no observation, and the edges of the totals differ from those of the rates.
pub static QUESTIONS: &[Question] = &[
    Question {
        name: "jobstats_totals",
        ask: answer::totals,
        sums: Sums::Workloads,
    },
    Question {
        name: "jobstats_totals in odd windows",
        ask: answer::totals_in_odd_windows,
        sums: Sums::Workloads,
    },
    Question {
        name: "jobstats_rates × observed seconds",
        ask: answer::rates,
        sums: Sums::Targets,
    },
    Question {
        name: "jobstats_top",
        ask: answer::leaders,
        sums: Sums::Leaders,
    },
    Question {
        name: "jobstats_summary",
        ask: answer::summaries,
        sums: Sums::Summaries,
    },
];

/// The metadata operations: rule 11 of `docs/rules.md`, reduced to the operations that are played.
const METADATA: [Op; 14] = [
    Open, Close, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs,
    Sync, Migrate,
];
/// The operations whose time is also that of another operation.
const COUNTED_ELSEWHERE: [Op; 6] = [
    Mknod,
    SamedirRename,
    CrossdirRename,
    ParallelRenameFile,
    ParallelRenameDir,
    RenameTrylocks,
];

/// The operations that leaders are ranked by.
#[rustfmt::skip]
const RANKED: [&str; 5] = ["read_bytes", "write_bytes", "bytes", "metadata", "service_time"];
/// The operations of a summary.
#[rustfmt::skip]
const SUMMARISED: [&str; 7] = ["read_bytes", "write_bytes", "read", "write", "open", "metadata", "service_time"];

impl Question {
    /// Returns the operations of the question, given all columns.
    pub fn operations(&self, columns: &[Column]) -> Vec<String> {
        match self.sums {
            Sums::Leaders => RANKED.map(str::to_owned).to_vec(),
            Sums::Summaries => SUMMARISED.map(str::to_owned).to_vec(),
            Sums::Targets | Sums::Workloads => columns
                .iter()
                .filter(|column| column.quantity() != Quantity::Histogram)
                .map(|column| column.operation())
                .collect(),
        }
    }

    /// Returns the cells of the answer that a cell of the truth is part of.
    pub fn cells(&self, place: &Place, workload: Option<&str>) -> Vec<Key> {
        if place.column.quantity() == Quantity::Histogram {
            return Vec::new();
        }
        let group = match self.sums {
            Sums::Targets => "",
            // An entry that was never stored has no workload, and should have no answer.
            Sums::Workloads | Sums::Leaders | Sums::Summaries => workload.unwrap_or(place.entry),
        };
        let key = |operation: String| (place.target.to_owned(), group.to_owned(), operation);
        let own = place.column.operation();
        match self.sums {
            Sums::Targets | Sums::Workloads => vec![key(own)],
            Sums::Leaders | Sums::Summaries => {
                let asked = self.operations(&[]);
                let derived = derived(place).map(str::to_owned);
                let operations = derived.into_iter().chain([own]);
                operations
                    .filter(|name| asked.contains(name))
                    .map(key)
                    .collect()
            }
        }
    }
}

/// Returns the derived operation that this column is part of.
fn derived(place: &Place) -> Option<&'static str> {
    let op = place.column.op();
    match place.column.quantity() {
        Quantity::Calls if place.kind == Kind::Mdt && METADATA.contains(&op) => Some("metadata"),
        Quantity::Bytes => Some("bytes"),
        Quantity::Usecs if !COUNTED_ELSEWHERE.contains(&op) => Some("service_time"),
        _ => None,
    }
}
