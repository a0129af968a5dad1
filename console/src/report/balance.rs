//! Comparison of the targets of a file system.

use jobstats_client::answers::BalanceRow;

use super::vocabulary::*;
use crate::show::chart::bars::{Bar, horizontal};

/// The largest number of targets that are drawn.
const TARGETS: usize = 40;

/// The distance from the median, as a part of it, up to which all targets are called balanced.
const BALANCED: f64 = 0.2;

/// The part of a target's work from which on a single workload explains why the target is busier than others.
const MOST: f64 = 0.5;

/// The targets of a kind, compared by an operation.
struct Comparison {
    operation: &'static str,
    kind: &'static str,
    heading: &'static str,
}

/// All comparisons: an operation, a kind of targets, and a heading.
const COMPARED: [(&str, &str, &str); 3] = [
    ("write_bytes", "OST", "Bytes written to each OST"),
    ("read_bytes", "OST", "Bytes read from each OST"),
    ("metadata", "MDT", "Metadata requests of each MDT"),
];

/// Loads the charts.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for (operation, kind, heading) in COMPARED {
        let compared = Comparison {
            operation,
            kind,
            heading,
        };
        let balance = scope.work().balance(store, operation, kind)?;
        if balance.rows.len() > 1 {
            blocks.push(compared.figure(balance));
        }
    }
    if blocks.is_empty() {
        let text = "No two targets of the same kind to compare.";
        blocks.push(Block::text(text));
    }
    Ok(blocks)
}

impl Comparison {
    fn figure(&self, balance: Answer<BalanceRow>) -> Block {
        Block::from(Figure {
            heading: self.heading.to_owned(),
            caption: self.caption(&balance.rows),
            chart: self.chart(&balance.rows),
            table: self.table(&balance.rows),
            statements: vec![(self.heading.to_owned(), balance.statement)],
        })
    }

    /// Draws the targets, which are sorted.
    fn chart(&self, rows: &[BalanceRow]) -> Chart {
        let bars = rows.iter().take(TARGETS).map(|row| {
            let share = row.leader_share.filter(|_| row.rate > Some(0.0));
            Bar {
                name: row.target.clone(),
                value: row.rate,
                label: rate(row.rate, self.operation),
                note: share.map(|share| format!("{} {}", user(row), percent(share))),
            }
        });
        let bars: Vec<_> = bars.collect();
        let median = rows.iter().find_map(|row| {
            let median = row.rate? / row.ratio?;
            median.is_finite().then_some(median)
        });
        let line = median.map(|it| (it, format!("median {}", rate(it, self.operation))));
        let order = Some("Largest first.".to_owned());
        let said = sentences([self.spread(rows), self.advice(rows), order]);
        horizontal(&Words::new(self.heading, said), &bars, line)
    }

    /// Describes the spread of the targets, with its cause if known.
    fn caption(&self, rows: &[BalanceRow]) -> String {
        let beside = "Next to each bar: the user of the target's largest workload, and that workload's share.";
        let beside = Some(beside.to_owned());
        let drawn = || format!("The {TARGETS} largest of {} are drawn.", rows.len());
        let drawn = (rows.len() > TARGETS).then(drawn);
        sentences([self.spread(rows), beside, self.advice(rows), drawn])
    }

    /// Describes the spread around the median, which must not be 0.
    fn spread(&self, rows: &[BalanceRow]) -> Option<String> {
        let known = rows.iter().filter_map(|row| Some((row, row.ratio?)));
        let known: Vec<_> = known.collect();
        let (first, last) = (known.first()?, known.last()?);
        let far = (first.1 - 1.0).max(1.0 - last.1);
        if far <= BALANCED {
            let all = match known.len() == rows.len() {
                true => "All",
                false => "All observed",
            };
            // Round up, except for floating point error.
            let percent = (100.0 * far - 1e-6).ceil().max(1.0);
            return Some(format!(
                "{all} {}s are within {percent:.0} % of the median.",
                self.kind
            ));
        }
        Some(format!(
            "{} has {} times the median, {} has {} times.",
            shown(&first.0.target),
            ratio(first.1),
            shown(&last.0.target),
            ratio(last.1)
        ))
    }

    /// Gives advice if a single workload made a target busier than others.
    fn advice(&self, rows: &[BalanceRow]) -> Option<String> {
        let is_busy = |row: &&BalanceRow| match row.ratio {
            Some(ratio) => ratio > 1.0 + BALANCED,
            None => row.rate > Some(0.0),
        };
        let explained = |row: &&BalanceRow| row.leader_share.is_some_and(|share| share >= MOST);
        let row = rows.iter().filter(is_busy).find(explained)?;
        let why = match self.operation {
            "metadata" => "probably it has a busy directory there.",
            _ => "probably its files are not striped, or a pool has only one target.",
        };
        Some(format!(
            "A single workload of {} makes up {} of {}: {why}",
            user(row),
            percent(row.leader_share),
            shown(&row.target)
        ))
    }

    fn table(&self, rows: &[BalanceRow]) -> Table {
        let cells = |row: &BalanceRow| {
            [
                ("Target", Cell::text(&row.target)),
                ("Rate", Cell::rate(row.rate, self.operation)),
                ("÷ median", Cell::rate(row.ratio, "service_time")),
                ("Largest workload", Cell::name(row.labels.workload.as_ref())),
                ("Its user", Cell::text(&user(row))),
                ("Its account", Cell::name(row.labels.account.as_ref())),
                ("Its share", Cell::percent(row.leader_share)),
            ]
        };
        Table::largest("targets, largest first", rows, |row| row.rate, cells)
    }
}

/// Returns the user of the largest workload on a target.
fn user(row: &BalanceRow) -> String {
    let name = row.labels.user.as_deref();
    name.map_or_else(|| UNKNOWN.to_owned(), shown)
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;

    const WRITES: Comparison = Comparison {
        operation: COMPARED[0].0,
        kind: COMPARED[0].1,
        heading: COMPARED[0].2,
    };

    fn row(target: &str, ratio: f64, share: f64) -> BalanceRow {
        BalanceRow {
            target: target.to_owned(),
            ratio: Some(ratio),
            leader_share: Some(share),
            rate: Some(100e6 * ratio),
            labels: Group {
                user: Some("ada".to_owned()),
                ..Group::default()
            },
        }
    }

    #[test]
    fn balanced_targets_get_no_advice() {
        let rows = [row("OST0001", 1.073, 0.9), row("OST0000", 0.98, 0.05)];
        assert_eq!(
            WRITES.caption(&rows),
            "All OSTs are within 8 % of the median. Next to each bar: the user of the target's largest workload, and that workload's share."
        );
        let mut unobserved = row("OST0002", 1.0, 0.0);
        (unobserved.rate, unobserved.ratio) = (None, None);
        let rows = [
            row("OST0001", 1.0, 0.9),
            row("OST0000", 1.0, 0.9),
            unobserved,
        ];
        let said = WRITES.spread(&rows).unwrap();
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
        let few = WRITES.caption(&rows(0.49));
        assert!(
            few.starts_with("OST0001 has 2.5 times the median, OST0002 has 0.5 times."),
            "{few}"
        );
        assert!(!few.contains("striped"), "{few}");
        let most = WRITES.caption(&rows(0.5));
        assert!(
            most.contains(
                "A single workload of ada makes up 50 % of OST0001: probably its files are not striped"
            ),
            "{most}"
        );
    }

    #[test]
    fn a_label_has_the_rate_and_then_the_user() {
        let chart = WRITES.chart(&[
            row("scratch-OST0001", 1.0, 0.05),
            row("scratch-OST0000", 1.0, 0.05),
        ]);
        assert!(chart.wide.contains(">100 MB/s, ada 5 %<"), "{}", chart.wide);
    }
}
