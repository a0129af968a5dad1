//! The questions to the reading functions, each about all work in a span, and their answers in one form.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{
    Dimension, Group, RateRow, Rates, Summary, Top, Totals, Window, words,
};
use jobstats_client::{Decimal, Error, ask};
use postgres::Client;

use crate::lustre::TargetKind;
use crate::lustre::operation::Op::{self, *};
use crate::store::database::{Amounts, Key, Store, of};
use crate::time::{Nanos, timestamp};
use crate::truth::{Column, Quantity};
use crate::world::Target;

/// A question whose answer is known.
pub struct Question {
    pub name: &'static str,
    /// Runs the query with the window, the operations and the filters of [`Totals`].
    ask: fn(&mut Client, &Totals) -> Result<Vec<Amount>, Error>,
    /// True if the window is queried in adjacent parts of an odd width.
    in_parts: bool,
    /// True if the answer is about workloads on targets, and false if it is about targets.
    by_workload: bool,
    /// The operations that the question is about; `None` for one about the columns of `jobstats.increments`.
    operations: Option<&'static [&'static str]>,
}

/// An amount in an answer: the group, the operation and the total, if there is one.
type Amount = (Group, String, Option<i128>);

const TOTALS: Question = Question {
    name: "jobstats_totals",
    ask: totals,
    in_parts: false,
    by_workload: true,
    operations: None,
};

/// Queries for everything that the reading functions return about totals. Windows and steps have edges without an observation, and the
/// edges of the totals differ from those of the rates.
pub static QUESTIONS: [Question; 5] = [
    TOTALS,
    Question {
        name: "jobstats_totals in odd windows",
        in_parts: true,
        ..TOTALS
    },
    Question {
        name: "jobstats_rates × observed seconds",
        ask: rates,
        by_workload: false,
        ..TOTALS
    },
    Question {
        name: "jobstats_top",
        ask: leaders,
        operations: Some(&RANKED),
        ..TOTALS
    },
    Question {
        name: "jobstats_summary",
        ask: summaries,
        operations: Some(&SUMMARISED),
        ..TOTALS
    },
];

/// The metadata operations: rule 11 of `docs/rules.md`, reduced to the operations that are played.
const METADATA: [Op; 14] = [
    Open, Close, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs,
    Sync, Migrate,
];
/// The operations whose time is also counted by another operation.
#[rustfmt::skip]
const COUNTED_ELSEWHERE: [Op; 6] = [
    Mknod, SamedirRename, CrossdirRename, ParallelRenameFile, ParallelRenameDir, RenameTrylocks,
];

/// The operations that leaders are ranked by.
#[rustfmt::skip]
const RANKED: [&str; 5] = ["read_bytes", "write_bytes", "bytes", "metadata", "service_time"];
/// The operations of a summary.
#[rustfmt::skip]
const SUMMARISED: [&str; 7] = ["read_bytes", "write_bytes", "read", "write", "open", "metadata", "service_time"];

impl Question {
    /// Runs the query from one time to another, filtered by cluster; zero amounts are left out.
    pub fn ask(&self, store: &mut Store, (from, until): (Nanos, Nanos)) -> Result<Amounts, Error> {
        let mut asked = Totals {
            operations: words(self.operations(&store.columns()?)),
            by: words(WORKLOADS),
            filter: of(store.cluster),
            ..Totals::default()
        };
        let mut amounts = Amounts::new();
        for (since, until) in windows((timestamp(from), timestamp(until)), self.in_parts) {
            asked.window = Window::new(since, until);
            for (group, operation, total) in (self.ask)(&mut store.client, &asked)? {
                let target = group.target.unwrap_or_default();
                let key = (target, group.workload.unwrap_or_default(), operation);
                *amounts.entry(key).or_default() += total.unwrap_or_default();
            }
        }
        amounts.retain(|_, amount| *amount != 0);
        Ok(amounts)
    }

    /// Returns the operations of the question, given all columns.
    fn operations(&self, columns: &[Column]) -> Vec<String> {
        match self.operations {
            Some(operations) => operations.iter().map(|&name| name.to_owned()).collect(),
            None => columns
                .iter()
                .filter(|column| column.quantity != Quantity::Histogram)
                .map(|column| column.operation())
                .collect(),
        }
    }

    /// Returns the cells of the answer that a cell of the truth is part of.
    pub fn cells(&self, target: &Target, workload: &str, column: Column) -> Vec<Key> {
        if column.quantity == Quantity::Histogram {
            return Vec::new();
        }
        let group = if self.by_workload { workload } else { "" };
        let derived = derived(target.kind, column).filter(|_| self.operations.is_some());
        let names = derived.map(str::to_owned).into_iter();
        let names = names.chain([column.operation()]).filter(|name| {
            let asked = |asked: &[&str]| asked.contains(&name.as_str());
            self.operations.is_none_or(asked)
        });
        names
            .map(|name| (target.name.clone(), group.to_owned(), name))
            .collect()
    }
}

/// Returns the derived operation that a column is part of.
fn derived(kind: TargetKind, column: Column) -> Option<&'static str> {
    let is_metadata = kind == TargetKind::Mdt && METADATA.contains(&column.op);
    match column.quantity {
        Quantity::Calls if is_metadata => Some("metadata"),
        Quantity::Bytes => Some("bytes"),
        Quantity::Usecs if !COUNTED_ELSEWHERE.contains(&column.op) => Some("service_time"),
        _ => None,
    }
}

/// The width of windows whose edges meet no observation.
const ODD_WINDOW: SignedDuration = SignedDuration::from_millis((37 * 60 + 1) * 1000 + 700);
/// The width of steps whose edges meet no observation.
const ODD_STEP: SignedDuration = SignedDuration::from_secs(17 * 60 + 3);
/// The groups of the questions about workloads.
const WORKLOADS: [Dimension; 2] = [Dimension::Target, Dimension::Workload];
/// More rows than any answer has.
const ALL: i32 = 1_000_000;

/// Returns the parts of a window of an odd width, side by side, or the window.
pub fn windows(
    (mut since, until): (Timestamp, Timestamp),
    in_parts: bool,
) -> impl Iterator<Item = (Timestamp, Timestamp)> {
    std::iter::from_fn(move || {
        let part = since.checked_add(ODD_WINDOW).ok().filter(|_| in_parts);
        let end = part.map_or(until, |end| end.min(until));
        let window = (since, end);
        since = end;
        (window.0 < until).then_some(window)
    })
}

/// Returns the number of units in a second of an operation that is a time, in which its total is a whole number; 1 for other
/// operations.
fn unit(operation: &str) -> i32 {
    if operation.ends_with("_time") {
        1_000_000
    } else {
        1
    }
}

/// Returns a total in calls, bytes or microseconds, which is a whole number.
pub fn whole_units(operation: &str, total: Decimal) -> i128 {
    (total * Decimal::from(unit(operation))).round().mantissa()
}

fn amount(group: Group, operation: &str, total: Option<Decimal>) -> Amount {
    let total = total.map(|total| whole_units(operation, total));
    (group, operation.to_owned(), total)
}

fn totals(client: &mut Client, asked: &Totals) -> Result<Vec<Amount>, Error> {
    let rows = ask(client, asked)?.into_iter();
    let amounts = rows.map(|row| amount(row.labels, &row.operation, row.total));
    Ok(amounts.collect())
}

/// Queries rates by target. A rate that contradicts its total yields an amount that no truth has.
fn rates(client: &mut Client, asked: &Totals) -> Result<Vec<Amount>, Error> {
    let question = Rates {
        window: asked.window,
        operations: asked.operations.clone(),
        by: words([Dimension::Target]),
        step: Some(ODD_STEP.into()),
        filter: asked.filter.clone(),
    };
    let rows = ask(client, &question)?.into_iter();
    let amounts = rows.map(|row| {
        let total = row.total.map(|total| whole_units(&row.operation, total));
        let total = match is_rate_of(&row, total) {
            true => total,
            false => Some(-1),
        };
        (row.labels, row.operation, total)
    });
    Ok(amounts.collect())
}

/// Returns whether the rate of a row, times the observed seconds, is its total. The coverage is rounded down to four decimals.
fn is_rate_of(row: &RateRow, total: Option<i128>) -> bool {
    let (Some(rate), Some(total)) = (row.rate, total) else {
        return row.rate.is_none() && total.is_none_or(|total| total == 0);
    };
    let work = |coverage: f64| rate * coverage * row.seconds * f64::from(unit(&row.operation));
    let (least, most) = (work(row.coverage), work((row.coverage + 1e-4).min(1.0)));
    let rounding = 0.5 + 1e-9 * most;
    (least - rounding..=most + rounding).contains(&(total as f64))
}

/// Queries the leaders in each operation.
fn leaders(client: &mut Client, asked: &Totals) -> Result<Vec<Amount>, Error> {
    let mut amounts = Vec::new();
    for operation in RANKED {
        let question = Top {
            window: asked.window,
            operation: Some(operation.to_owned()),
            by: words(WORKLOADS),
            n: Some(ALL),
            filter: asked.filter.clone(),
            ..Top::default()
        };
        let rows = ask(client, &question)?.into_iter();
        amounts.extend(rows.map(|row| amount(row.labels, operation, row.total)));
    }
    Ok(amounts)
}

fn summaries(client: &mut Client, asked: &Totals) -> Result<Vec<Amount>, Error> {
    let question = Summary {
        window: asked.window,
        by: words(WORKLOADS),
        filter: asked.filter.clone(),
    };
    let mut amounts = Vec::new();
    for row in ask(client, &question)? {
        // In the order of `SUMMARISED`.
        #[rustfmt::skip]
        let totals = [row.read_bytes, row.write_bytes, row.read, row.write, row.opens, row.metadata, row.service_time];
        let totals = SUMMARISED.into_iter().zip(totals);
        amounts.extend(totals.map(|(name, total)| amount(row.labels.clone(), name, total)));
    }
    Ok(amounts)
}
