//! Queries the requests of targets outside their entries, and computes the expected answer.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, Untracked, UntrackedRow, Window, words};
use jobstats_client::{Error, ask};

use crate::store::database::{Amounts, Key, Store, of};
use crate::store::question::{whole_units, windows};
use crate::time::{Nanos, timestamp};
use crate::truth::target_counters::TargetCountersTruth;
use crate::truth::{Cell, Column, Quantity, TargetTruth};
use crate::world::{Cluster, Due};

/// The share of the entries' observed time, in percent, that target counters must cover. Below it the database reports no difference.
const KNOWN: i128 = 98;

/// The targets of a cluster as a whole.
#[derive(Debug)]
pub struct ObservedCounters {
    /// The readings of each target's own counters that the database has.
    pub readings: Vec<Vec<Due>>,
    /// The truth about the work between these readings.
    pub truths: Vec<TargetCountersTruth>,
    /// The expected number of readings; `None` accepts any number.
    pub planned: Option<usize>,
}

impl ObservedCounters {
    /// Returns the number of readings that the database has.
    pub fn count(&self) -> usize {
        self.readings.iter().map(Vec::len).sum()
    }

    /// Returns true if the database has all readings.
    pub fn is_complete(&self) -> bool {
        self.planned.is_none_or(|planned| planned == self.count())
    }

    /// Returns the times of the first and the last reading of each target.
    pub fn observed(&self) -> impl Iterator<Item = Option<(Nanos, Nanos)>> {
        let ends = |readings: &Vec<Due>| Some((readings.first()?.label, readings.last()?.label));
        self.readings.iter().map(ends)
    }

    /// Returns what the database should answer, given the truth about entries. The differences of parts of a window do not add up.
    pub fn cells(
        &self,
        cluster: &Cluster,
        entries: &[TargetTruth],
        in_parts: bool,
    ) -> BTreeMap<Key, Cell> {
        let mut cells = BTreeMap::new();
        let targets = cluster.targets.iter().zip(entries);
        let counters = self.truths.iter().zip(self.observed());
        for ((target, of_entries), (truth, observed)) in targets.zip(counters) {
            let total = truth.of_clients();
            let accounted = accounted(of_entries);
            let is_known = is_known(observed, of_entries.observed) && !in_parts;
            for column in Column::all().filter(|it| it.quantity != Quantity::Histogram) {
                let mut put = |name: &str, cell: Cell| {
                    let key = (target.name.clone(), name.to_owned(), column.operation());
                    cells.extend((cell != Cell::default()).then_some((key, cell)));
                };
                let accounted = accounted.get(&column).copied().unwrap_or_default();
                let total = i128::from(total.get(column));
                put("total", Cell::known(total));
                put("accounted", accounted);
                if is_known {
                    put("untracked", Cell::known(total - accounted.stored()));
                }
            }
        }
        cells
    }
}

/// Returns the sums of all entries of a target.
fn accounted(truth: &TargetTruth) -> BTreeMap<Column, Cell> {
    let mut sums: BTreeMap<Column, Cell> = BTreeMap::new();
    for ((_, column), cell) in &truth.cells {
        sums.entry(*column).or_default().plus(cell);
    }
    sums
}

fn is_known(counters: Option<(Nanos, Nanos)>, entries: Option<(Nanos, Nanos)>) -> bool {
    let length = |span: Option<(Nanos, Nanos)>| span.map_or(0, |(first, last)| last - first);
    let [counters, entries] = [counters, entries].map(length).map(i128::from);
    entries > 0 && 100 * counters >= KNOWN * entries
}

/// Queries the requests of targets, in parts of the window or in one; zero amounts are left out.
pub fn ask_all(
    store: &mut Store,
    (from, until): (Nanos, Nanos),
    in_parts: bool,
) -> Result<Amounts, Error> {
    let columns = store.columns()?.into_iter();
    let columns = columns.filter(|it| it.quantity != Quantity::Histogram);
    let operations = words(columns.map(|it| it.operation()));
    let mut amounts = Amounts::new();
    for (since, until) in windows((timestamp(from), timestamp(until)), in_parts) {
        let question = Untracked {
            window: Window::new(since, until),
            operations: operations.clone(),
            by: words([Dimension::Target]),
            filter: of(store.cluster),
        };
        for row in ask(&mut store.client, &question)? {
            for (name, amount) in parts(&row, in_parts) {
                let target = row.labels.target.clone().unwrap_or_default();
                let key = (target, name.to_owned(), row.operation.clone());
                *amounts.entry(key).or_default() += amount;
            }
        }
    }
    amounts.retain(|_, amount| *amount != 0);
    Ok(amounts)
}

/// Returns the amounts in a row. A difference that contradicts the others becomes a separate amount, which the truth never has.
fn parts(row: &UntrackedRow, in_parts: bool) -> Vec<(&'static str, i128)> {
    let amounts = [row.total, row.accounted, row.untracked];
    let amounts = amounts.map(|amount| amount.map(|it| whole_units(&row.operation, it)));
    let [total, accounted, untracked] = amounts.map(Option::unwrap_or_default);
    let mut parts = vec![("total", total), ("accounted", accounted)];
    if row.untracked.is_some() && untracked != (total - accounted).max(0) {
        parts.push(("at odds", 1));
    }
    if !in_parts {
        parts.push(("untracked", untracked));
    }
    parts
}
