//! Asks the reading functions, and brings their answers into one form: amounts by target, group and operation.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, Group, Rates, Summary, Top, Totals, Window};
use jobstats_client::{Decimal, Error, ask};
use postgres::Client;

use crate::store::database::Amounts;

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
    /// The operations.
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
            let end = since
                .checked_add(ODD_WINDOW)
                .map_or(until, |end| end.min(until));
            windows.push(Window::new(since, end));
            since = end;
        }
        windows
    }

    fn totals(&self, window: Window) -> Totals {
        Totals {
            window,
            operations: Some(self.operations.clone()),
            by: workloads(),
            filters: self.filters.clone(),
        }
    }
}

/// Returns the groups of the questions about workloads.
fn workloads() -> Option<Vec<Dimension>> {
    Some(vec![Dimension::Target, Dimension::Workload])
}

/// Adds an amount, if there is one, to the cell of a group and an operation.
fn add(amounts: &mut Amounts, group: &Group, operation: &str, amount: Option<i128>) {
    let key = (
        group.target.clone().unwrap_or_default(),
        group.workload.clone().unwrap_or_default(),
        operation.to_owned(),
    );
    *amounts.entry(key).or_default() += amount.unwrap_or_default();
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
fn whole(total: Decimal, operation: &str) -> i128 {
    (total * Decimal::from(unit(operation))).round().mantissa()
}

/// Asks for the totals of a window.
pub fn totals(client: &mut Client, subject: &Subject) -> Result<Amounts, Error> {
    totals_of(client, subject, &[subject.window()])
}

/// Asks for the totals of windows that lie side by side.
pub fn totals_in_odd_windows(client: &mut Client, subject: &Subject) -> Result<Amounts, Error> {
    totals_of(client, subject, &subject.odd_windows())
}

fn totals_of(client: &mut Client, subject: &Subject, windows: &[Window]) -> Result<Amounts, Error> {
    let mut amounts = Amounts::new();
    for window in windows {
        for row in ask(client, &subject.totals(*window))? {
            let total = row.total.map(|total| whole(total, &row.operation));
            add(&mut amounts, &row.group, &row.operation, total);
        }
    }
    Ok(amounts)
}

/// Asks for rates by target. A rate times the observed seconds gives back the total, which is a whole number.
pub fn rates(client: &mut Client, subject: &Subject) -> Result<Amounts, Error> {
    let question = Rates {
        window: subject.window(),
        operations: Some(subject.operations.clone()),
        by: Some(vec![Dimension::Target]),
        step: Some(ODD_STEP.into()),
        filters: subject.filters.clone(),
    };
    let mut amounts = Amounts::new();
    for row in ask(client, &question)? {
        let observed = row.coverage * row.seconds * f64::from(unit(&row.operation));
        let total = row.rate.map(|rate| (rate * observed).round() as i128);
        add(&mut amounts, &row.group, &row.operation, total);
    }
    Ok(amounts)
}

/// Asks for the leaders in each operation.
pub fn leaders(client: &mut Client, subject: &Subject) -> Result<Amounts, Error> {
    let mut amounts = Amounts::new();
    for operation in &subject.operations {
        let question = Top {
            window: subject.window(),
            operation: Some(operation.clone()),
            by: workloads(),
            n: Some(ALL),
            min_rate: None,
            filters: subject.filters.clone(),
        };
        for row in ask(client, &question)? {
            let total = row.total.map(|total| whole(total, operation));
            add(&mut amounts, &row.group, operation, total);
        }
    }
    Ok(amounts)
}

/// Asks for summaries.
pub fn summaries(client: &mut Client, subject: &Subject) -> Result<Amounts, Error> {
    let question = Summary {
        window: subject.window(),
        by: workloads(),
        filters: subject.filters.clone(),
    };
    let mut amounts = Amounts::new();
    for row in ask(client, &question)? {
        let totals = [
            ("read_bytes", row.read_bytes),
            ("write_bytes", row.write_bytes),
            ("read", row.read),
            ("write", row.write),
            ("open", row.opens),
            ("metadata", row.metadata),
            ("service_time", row.service_time),
        ];
        for (operation, total) in totals {
            let total = total.map(|total| whole(total, operation));
            add(&mut amounts, &row.group, operation, total);
        }
    }
    Ok(amounts)
}
