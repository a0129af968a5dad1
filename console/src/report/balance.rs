//! The targets of a file system beside each other.

use jobstats_client::answers::{Balance, BalanceRow, Window, exactly};
use jobstats_core::quantity::Quantity;

use super::{Scope, cell};
use crate::ask::error::Error;
use crate::ask::store::{Answered, Store};
use crate::live::users::called;
use crate::show::chart::bars::{Bar, horizontal};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Table};
use crate::values::number::Number;
use crate::values::text::shown;

/// The largest number of targets that are drawn.
const TARGETS: usize = 40;

/// The distance from the median, as a part of it, up to which all targets are called balanced.
const BALANCED: f64 = 0.2;

/// The part of a target's work from which on a single workload explains why the target is busier than others.
const MOST: f64 = 0.5;

/// The targets of a kind, beside each other by an operation.
struct Compared {
    operation: &'static str,
    /// The kind of the targets.
    kind: &'static str,
    heading: &'static str,
}

/// All comparisons.
const COMPARED: [Compared; 3] = [
    Compared {
        operation: "write_bytes",
        kind: "OST",
        heading: "Bytes written to each OST",
    },
    Compared {
        operation: "read_bytes",
        kind: "OST",
        heading: "Bytes read from each OST",
    },
    Compared {
        operation: "metadata",
        kind: "MDT",
        heading: "Metadata requests of each MDT",
    },
];

/// Asks for the pictures.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for compared in COMPARED {
        let mut balance = store.ask(&Balance {
            window: Window::new(scope.window.0, scope.window.1),
            operation: Some(compared.operation.to_owned()),
            cluster: scope.cluster.as_ref().map(|name| vec![exactly(name)]),
            filesystem: Some(vec![exactly(&scope.filesystem)]),
            kind: Some(vec![compared.kind.to_owned()]),
            target: None,
        })?;
        balance.rows.sort_by(|one, other| {
            let rate = |row: &BalanceRow| row.rate.unwrap_or(-1.0);
            rate(other).total_cmp(&rate(one))
        });
        if balance.rows.len() > 1 {
            blocks.push(compared.figure(balance));
        }
    }
    if blocks.is_empty() {
        let text = "There are no two targets of a kind that could be compared.";
        blocks.push(Block::Text(text.to_owned()));
    }
    Ok(blocks)
}

impl Compared {
    fn figure(&self, balance: Answered<BalanceRow>) -> Block {
        Block::Figure(Box::new(Figure {
            heading: self.heading.to_owned(),
            caption: self.caption(&balance.rows),
            chart: self.chart(&balance.rows),
            table: self.table(&balance.rows),
            statements: vec![(self.heading.to_owned(), balance.statement)],
        }))
    }

    fn print(&self, rate: Option<f64>) -> String {
        Number::of(rate, self.operation, Quantity::Rate).text()
    }

    /// Draws the targets, which are sorted.
    fn chart(&self, rows: &[BalanceRow]) -> Chart {
        let bars = rows.iter().take(TARGETS).map(|row| {
            let share = row.share.filter(|_| row.rate > Some(0.0));
            let share = share.map(|share| Number::percent(Some(share)).text());
            Bar {
                name: row.target.clone(),
                value: row.rate,
                label: self.print(row.rate),
                note: share.map(|share| format!("{} {share}", user(row))),
            }
        });
        let bars: Vec<_> = bars.collect();
        let median = rows.iter().find_map(|row| {
            let median = row.rate? / row.ratio?;
            median.is_finite().then_some(median)
        });
        let line = median.map(|median| (median, format!("median {}", self.print(Some(median)))));
        let words = Words {
            title: self.heading.to_owned(),
            description: format!("{} targets, largest first.", rows.len()),
        };
        Chart::new(|size| horizontal(&words, &bars, line.clone(), size))
    }

    /// Says how far the targets are from each other, and why if that is known.
    fn caption(&self, rows: &[BalanceRow]) -> String {
        let mut said = Vec::new();
        said.extend(self.spread(rows));
        said.push(
            "Beside each bar: the user of the largest single workload there, and the share of that workload in the target."
                .to_owned(),
        );
        said.extend(self.advice(rows));
        if rows.len() > TARGETS {
            said.push(format!(
                "The {TARGETS} largest of {} are drawn.",
                rows.len()
            ));
        }
        said.join(" ")
    }

    /// Says how far the targets are from their median. It is unknown if that is 0.
    fn spread(&self, rows: &[BalanceRow]) -> Option<String> {
        let known: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row, row.ratio?)))
            .collect();
        let (first, last) = (known.first()?, known.last()?);
        let far = (first.1 - 1.0).max(1.0 - last.1);
        if far <= BALANCED {
            let all = if known.len() == rows.len() {
                "All"
            } else {
                "All observed"
            };
            // The distance is not said to be smaller than it is, except for what floating point numbers add to it.
            let percent = (100.0 * far - 1e-6).ceil().max(1.0);
            return Some(format!(
                "{all} {}s are within {percent:.0} % of the median.",
                self.kind
            ));
        }
        let times = |ratio| Number::of(Some(ratio), "service_time", Quantity::Rate).text();
        Some(format!(
            "{} has {} times the median, {} has {} times.",
            shown(&first.0.target),
            times(first.1),
            shown(&last.0.target),
            times(last.1)
        ))
    }

    /// Says what to look at if a single workload made a target busier than others.
    fn advice(&self, rows: &[BalanceRow]) -> Option<String> {
        let is_busy = |row: &&BalanceRow| match row.ratio {
            Some(ratio) => ratio > 1.0 + BALANCED,
            None => row.rate > Some(0.0),
        };
        let explained = |row: &&BalanceRow| row.share.is_some_and(|share| share >= MOST);
        let row = rows.iter().filter(is_busy).find(explained)?;
        let why = match self.operation {
            "metadata" => "probably it has a busy directory there.",
            _ => "probably its files are not striped, or a pool has only one target.",
        };
        Some(format!(
            "A single workload of {} has {} of {}: {why}",
            user(row),
            Number::percent(row.share).text(),
            shown(&row.target)
        ))
    }

    fn table(&self, rows: &[BalanceRow]) -> Table {
        let cells = rows.iter().map(|row| {
            let cells = vec![
                Cell::text(&row.target),
                cell(row.rate, self.operation, Quantity::Rate),
                cell(row.ratio, "service_time", Quantity::Rate),
                Cell::text(row.workload.as_deref().unwrap_or("–")),
                Cell::text(&user(row)),
                Cell::text(row.account.as_deref().unwrap_or("–")),
                Cell::number(Number::percent(row.share).text()),
            ];
            (row.rate.unwrap_or(-1.0), cells)
        });
        let columns = [
            "Target",
            "#Rate",
            "#÷ median",
            "Largest workload",
            "Its user",
            "Its account",
            "#Its share",
        ];
        Table::new("targets, largest first", &columns).largest(cells.collect())
    }
}

/// Returns the user of the largest workload on a target.
fn user(row: &BalanceRow) -> String {
    let user = called(row.user_name.as_deref(), row.uid);
    user.map_or_else(|| "–".to_owned(), |user| shown(&user))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(target: &str, ratio: f64, share: f64) -> BalanceRow {
        BalanceRow {
            cluster: String::new(),
            filesystem: "scratch".to_owned(),
            kind: "OST".to_owned(),
            target: target.to_owned(),
            rate: Some(100e6 * ratio),
            ratio: Some(ratio),
            workload: Some("11".to_owned()),
            uid: Some(1000),
            user_name: Some("ada".to_owned()),
            account: None,
            share: Some(share),
            coverage: 1.0,
        }
    }

    #[test]
    fn balanced_targets_get_no_advice() {
        let rows = [row("OST0001", 1.073, 0.9), row("OST0000", 0.98, 0.05)];
        assert_eq!(
            COMPARED[0].caption(&rows),
            "All OSTs are within 8 % of the median. Beside each bar: the user of the largest single workload there, and the \
             share of that workload in the target."
        );
        let mut unobserved = row("OST0002", 1.0, 0.0);
        (unobserved.rate, unobserved.ratio) = (None, None);
        let rows = [
            row("OST0001", 1.0, 0.9),
            row("OST0000", 1.0, 0.9),
            unobserved,
        ];
        let said = COMPARED[0].spread(&rows).unwrap();
        assert_eq!(said, "All observed OSTs are within 1 % of the median.");
    }

    #[test]
    fn a_workload_explains_a_target_only_if_half_of_the_work_there_is_its_own() {
        let rows = |share| {
            [
                row("OST0001", 2.5, share),
                row("OST0000", 1.0, 0.9),
                row("OST0002", 0.5, 0.9),
            ]
        };
        let few = COMPARED[0].caption(&rows(0.49));
        assert!(
            few.starts_with("OST0001 has 2.5 times the median, OST0002 has 0.5 times."),
            "{few}"
        );
        assert!(!few.contains("striped"), "{few}");
        let most = COMPARED[0].caption(&rows(0.5));
        assert!(
            most.contains(
                "A single workload of ada has 50 % of OST0001: probably its files are not striped"
            ),
            "{most}"
        );
    }

    #[test]
    fn a_label_has_the_rate_and_then_the_user() {
        let chart = COMPARED[0].chart(&[
            row("scratch-OST0001", 1.0, 0.05),
            row("scratch-OST0000", 1.0, 0.05),
        ]);
        assert!(chart.wide.contains(">100 MB/s, ada 5 %<"), "{}", chart.wide);
    }
}
