//! The questions to the reading functions, each about all work in a span, and their answers in one form.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, Group, Rates, Summary, Top, Totals, Window};
use jobstats_client::{Decimal, Error, ask};
use postgres::Client;

use crate::lustre::TargetKind;
use crate::lustre::operation::Op::{self, *};
use crate::store::database::Key;
use crate::truth::totals::{Column, Quantity};
use crate::world::cluster::Target;

/// A question whose answer is known.
pub struct Question {
    pub name: &'static str,
    /// Asks the question.
    pub ask: Ask,
    /// True if the answer is about workloads on targets, and false if it is about targets.
    by_workload: bool,
    /// The operations that the question is about; `None` for one about the columns of `jobstats.increments`.
    operations: Option<&'static [&'static str]>,
}

type Ask = fn(&mut Client, &Subject) -> Result<Vec<Amount>, Error>;
/// An amount in an answer: the group, the operation and the total, if there is one.
type Amount = (Group, String, Option<i128>);

const fn by_workload(
    name: &'static str,
    ask: Ask,
    operations: Option<&'static [&'static str]>,
) -> Question {
    Question {
        name,
        ask,
        by_workload: true,
        operations,
    }
}

/// Questions about everything that the reading functions say about totals. Windows and steps have edges at which there
/// is no observation, and the edges of the totals differ from those of the rates.
pub static QUESTIONS: [Question; 5] = [
    by_workload("jobstats_totals", totals, None),
    by_workload(
        "jobstats_totals in odd windows",
        totals_in_odd_windows,
        None,
    ),
    Question {
        by_workload: false,
        ..by_workload("jobstats_rates × observed seconds", rates, None)
    },
    by_workload("jobstats_top", leaders, Some(&RANKED)),
    by_workload("jobstats_summary", summaries, Some(&SUMMARISED)),
];

/// The metadata operations: rule 11 of `docs/rules.md`, reduced to the operations that are played.
const METADATA: [Op; 14] = [
    Open, Close, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs,
    Sync, Migrate,
];
/// The operations whose time is also that of another operation.
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
    /// Returns the operations of the question, given all columns.
    pub fn operations(&self, columns: &[Column]) -> Vec<String> {
        match self.operations {
            Some(operations) => operations.iter().map(|&name| name.to_owned()).collect(),
            None => columns
                .iter()
                .filter(|column| column.quantity() != Quantity::Histogram)
                .map(|column| column.operation())
                .collect(),
        }
    }

    /// Returns the cells of the answer that a cell of the truth is part of.
    pub fn cells(&self, target: &Target, workload: &str, column: Column) -> Vec<Key> {
        if column.quantity() == Quantity::Histogram {
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
    match column.quantity() {
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
/// More rows than any answer has.
const ALL: i32 = 1_000_000;

/// The subject of a question.
pub struct Subject {
    /// The filters, which let one cluster through.
    pub filters: Filters,
    /// The first and the last time of the window.
    pub window: (Timestamp, Timestamp),
    pub operations: Vec<String>,
}

impl Subject {
    fn window(&self) -> Window {
        Window::new(self.window.0, self.window.1)
    }

    /// Returns windows of an odd width that cover the window side by side.
    fn odd_windows(&self) -> Vec<Window> {
        let (mut since, until) = self.window;
        let mut windows = Vec::new();
        while since < until {
            let end = since.checked_add(ODD_WINDOW);
            let end = end.map_or(until, |end| end.min(until));
            windows.push(Window::new(since, end));
            since = end;
        }
        windows
    }
}

/// Returns the groups of the questions about workloads.
fn workloads() -> Option<Vec<Dimension>> {
    Some(vec![Dimension::Target, Dimension::Workload])
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

/// Returns an amount in calls, bytes or microseconds, which is a whole number.
fn amount(group: Group, operation: &str, total: Option<Decimal>) -> Amount {
    let whole = |total: Decimal| (total * Decimal::from(unit(operation))).round().mantissa();
    (group, operation.to_owned(), total.map(whole))
}

fn totals(client: &mut Client, subject: &Subject) -> Result<Vec<Amount>, Error> {
    totals_of(client, subject, &[subject.window()])
}

fn totals_in_odd_windows(client: &mut Client, subject: &Subject) -> Result<Vec<Amount>, Error> {
    totals_of(client, subject, &subject.odd_windows())
}

/// Asks for the totals of windows that lie side by side.
fn totals_of(
    client: &mut Client,
    subject: &Subject,
    windows: &[Window],
) -> Result<Vec<Amount>, Error> {
    let mut amounts = Vec::new();
    for &window in windows {
        let question = Totals {
            window,
            operations: Some(subject.operations.clone()),
            by: workloads(),
            filters: subject.filters.clone(),
        };
        let rows = ask(client, &question)?.into_iter();
        amounts.extend(rows.map(|row| amount(row.group, &row.operation, row.total)));
    }
    Ok(amounts)
}

/// Asks for rates by target. A rate times the observed seconds gives back the total, which is a whole number.
fn rates(client: &mut Client, subject: &Subject) -> Result<Vec<Amount>, Error> {
    let question = Rates {
        window: subject.window(),
        operations: Some(subject.operations.clone()),
        by: Some(vec![Dimension::Target]),
        step: Some(ODD_STEP.into()),
        filters: subject.filters.clone(),
    };
    let rows = ask(client, &question)?.into_iter();
    let amounts = rows.map(|row| {
        let observed = row.coverage * row.seconds * f64::from(unit(&row.operation));
        let total = row.rate.map(|rate| (rate * observed).round() as i128);
        (row.group, row.operation, total)
    });
    Ok(amounts.collect())
}

/// Asks for the leaders in each operation.
fn leaders(client: &mut Client, subject: &Subject) -> Result<Vec<Amount>, Error> {
    let mut amounts = Vec::new();
    for operation in &subject.operations {
        let question = Top {
            window: subject.window(),
            operation: Some(operation.clone()),
            by: workloads(),
            n: Some(ALL),
            min_rate: None,
            filters: subject.filters.clone(),
        };
        let rows = ask(client, &question)?.into_iter();
        amounts.extend(rows.map(|row| amount(row.group, operation, row.total)));
    }
    Ok(amounts)
}

fn summaries(client: &mut Client, subject: &Subject) -> Result<Vec<Amount>, Error> {
    let question = Summary {
        window: subject.window(),
        by: workloads(),
        filters: subject.filters.clone(),
    };
    let rows = ask(client, &question)?.into_iter();
    let amounts = rows.flat_map(|row| {
        // In the order of `SUMMARISED`.
        let totals = [
            row.read_bytes,
            row.write_bytes,
            row.read,
            row.write,
            row.opens,
            row.metadata,
            row.service_time,
        ];
        let of_operation = |(name, total): (&str, _)| amount(row.group.clone(), name, total);
        SUMMARISED
            .into_iter()
            .zip(totals)
            .map(of_operation)
            .collect::<Vec<_>>()
    });
    Ok(amounts.collect())
}
