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
    /// The same, of [`SUMMARISED`].
    Summaries,
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
    Question {
        name: "jobstats_summary",
        sql: "SELECT a.target, a.workload, v.operation, v.amount::bigint
            FROM jobstats_summary($2, $3, '{target,workload}', cluster => ARRAY[$1]) AS a,
                LATERAL (VALUES ('read_bytes', a.read_bytes), ('write_bytes', a.write_bytes), ('read', a.read),
                    ('write', a.write), ('open', a.opens), ('metadata', a.metadata),
                    ('service_time', a.service_time * 1000000)) AS v (operation, amount)
            WHERE v.operation = ANY ($4::text[])",
        sums: Sums::Summaries,
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
/// What a summary has.
#[rustfmt::skip]
const SUMMARISED: [&str; 7] = ["read_bytes", "write_bytes", "read", "write", "open", "metadata", "service_time"];

impl Question {
    /// The operations that it is about, of all that have a column.
    pub fn operations(&self, columns: &[Column]) -> Vec<String> {
        match self.sums {
            Sums::Leaders => RANKED.map(str::to_owned).to_vec(),
            Sums::Summaries => SUMMARISED.map(str::to_owned).to_vec(),
            Sums::Targets | Sums::Workloads => columns
                .iter()
                .filter(|column| column.quantity() != Quantity::Histogram)
                .map(|column| column.name())
                .collect(),
        }
    }

    /// The cells of the answer that a cell of the truth goes into.
    pub fn cells(&self, place: &Place, workload: Option<&str>) -> Vec<Key> {
        if place.column.quantity() == Quantity::Histogram {
            return Vec::new();
        }
        let group = match self.sums {
            Sums::Targets => "",
            // What was never stored has no workload, and should have no answer.
            Sums::Workloads | Sums::Leaders | Sums::Summaries => workload.unwrap_or(place.entry),
        };
        let key = |operation: String| (place.target.to_owned(), group.to_owned(), operation);
        let own = place.column.name();
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

/// The derived operation that this column is part of.
fn derived(place: &Place) -> Option<&'static str> {
    let op = place.column.op();
    match place.column.quantity() {
        Quantity::Calls if place.kind == Kind::Mdt && METADATA.contains(&op) => Some("metadata"),
        Quantity::Usecs if !COUNTED_ELSEWHERE.contains(&op) => Some("service_time"),
        _ => None,
    }
}
