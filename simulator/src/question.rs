//! What is asked of the reading functions, each time for all that was done in a span.

use crate::cluster::Kind;
use crate::compare::Place;
use crate::database::Key;
use crate::operation::Op::{self, *};
use crate::totals::{Column, Quantity};

/// A question whose answer is known.
pub struct Question {
    /// What it is called.
    pub name: &'static str,
    /// Of a cluster ($1, a pattern) from ($2) until ($3), about operations ($4): target, group, operation and amount.
    pub sql: &'static str,
    sums: Sums,
}

/// How the answer adds up what entries did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sums {
    /// All that a target did, by column.
    Targets,
    /// What a workload did on a target, by column.
    Workloads,
    /// The same, of [`RANKED`].
    Leaders,
}

/// Everything that reading functions say about totals. Windows and steps have edges where no observation is, and those of
/// totals and rates are not the same. A rate and how long was observed give back the total, which is a whole number.
pub static QUESTIONS: &[Question] = &[
    Question {
        name: "jobstats_totals",
        sql: "SELECT target, workload, operation, total::bigint
            FROM jobstats_totals($2, $3, $4, '{target,workload}', cluster => ARRAY[$1])",
        sums: Sums::Workloads,
    },
    Question {
        name: "jobstats_totals in odd windows",
        sql: "SELECT target, workload, operation, sum(total)::bigint
            FROM generate_series($2::timestamptz, $3::timestamptz - interval '1 microsecond', interval '37 minutes 1.7 seconds') AS since,
                jobstats_totals(since, least(since + interval '37 minutes 1.7 seconds', $3), $4, '{target,workload}',
                    cluster => ARRAY[$1])
            GROUP BY target, workload, operation",
        sums: Sums::Workloads,
    },
    Question {
        name: "jobstats_rates × observed seconds",
        sql: "SELECT target, '', operation, sum(round((rate * coverage * seconds)::numeric))::bigint
            FROM jobstats_rates($2, $3, $4, '{target}', '17 minutes 3 seconds', cluster => ARRAY[$1])
            GROUP BY target, operation",
        sums: Sums::Targets,
    },
    Question {
        name: "jobstats_top",
        sql: "SELECT target, workload, operation,
                (CASE operation WHEN 'service_time' THEN total * 1000000 ELSE total END)::bigint
            FROM unnest($4::text[]) AS ranked,
                jobstats_top($2, $3, ranked, '{target,workload}', 1000000, cluster => ARRAY[$1])",
        sums: Sums::Leaders,
    },
];

/// Rule 11 of `docs/rules.md`, of the operations that are played.
const METADATA: [Op; 14] = [
    Open, Close, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs,
    Sync, Migrate,
];
/// Their time is also that of another operation.
const COUNTED_ELSEWHERE: [Op; 6] = [
    Mknod,
    SamedirRename,
    CrossdirRename,
    ParallelRenameFile,
    ParallelRenameDir,
    RenameTrylocks,
];

/// What is ranked by.
const RANKED: [&str; 4] = ["read_bytes", "write_bytes", "metadata", "service_time"];

impl Question {
    /// The operations that it is about, of all that have a column.
    pub fn operations(&self, columns: &[Column]) -> Vec<String> {
        match self.sums {
            Sums::Leaders => RANKED.map(str::to_owned).to_vec(),
            Sums::Targets | Sums::Workloads => columns
                .iter()
                .filter(|column| column.quantity() != Quantity::Histogram)
                .map(|column| column.name())
                .collect(),
        }
    }

    /// The cell of the answer that a cell of the truth goes into, if any.
    pub fn cell(&self, place: &Place, workload: Option<&str>) -> Option<Key> {
        if place.column.quantity() == Quantity::Histogram {
            return None;
        }
        let operation = match self.sums {
            Sums::Leaders => leader(place)?,
            Sums::Targets | Sums::Workloads => place.column.name(),
        };
        let group = match self.sums {
            Sums::Targets => "",
            // What was never stored has no workload, and should have no answer.
            Sums::Workloads | Sums::Leaders => workload.unwrap_or(place.entry),
        };
        Some((place.target.to_owned(), group.to_owned(), operation))
    }
}

/// Of [`RANKED`] what this column is part of.
fn leader(place: &Place) -> Option<String> {
    let op = place.column.op();
    let name = match place.column.quantity() {
        Quantity::Bytes => op.name(),
        Quantity::Calls if place.kind == Kind::Mdt && METADATA.contains(&op) => "metadata",
        Quantity::Usecs if !COUNTED_ELSEWHERE.contains(&op) => "service_time",
        _ => return None,
    };
    Some(name.to_owned())
}
