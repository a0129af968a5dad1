//! The rates of the largest operations, by target.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, RateRow, Rates, TotalRow, Totals, Window};
use jobstats_core::operation::{Kind, OPERATIONS};
use jobstats_core::quantity::Quantity;

use super::{Scope, cell};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::chart::frame::TimeAxis;
use crate::show::chart::line::{LINES, Point, Series, lines as draw};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Table};
use crate::subject::{interval, number, seconds};
use crate::values::number::Number;
use crate::values::text::shown;
use crate::values::when::{self, Clock};

/// The number of operations besides bytes.
const SHOWN: usize = 6;

/// The largest number of rows of the answer.
const MOST: usize = 500_000;

/// The part of all work from which on an operation is drawn.
const LEAST: f64 = 0.01;

/// The largest number of steps.
const STEPS: usize = 97;

/// An operation that is drawn, with its part of all work; `None` for bytes.
type Chosen = (String, Option<f64>);

/// Asks for the pictures: bytes read and written, and the operations that took most of the servers' time.
pub fn ask(store: &mut Store, scope: &Scope, clock: &Clock) -> Result<Vec<Block>, Error> {
    let window = Window::new(scope.window.0, scope.window.1);
    let totals = store.ask(&Totals {
        window,
        operations: Some(names(scope)),
        by: Some(Vec::new()),
        filters: scope.filters(),
    })?;
    let chosen = chosen(&totals.rows);
    // An answer has at most a million rows.
    let most = MOST / (chosen.len() * scope.targets.len().max(1));
    let step = when::step(seconds(scope.window), 600, STEPS.min(most.max(1)));
    let rates = store.ask(&Rates {
        window,
        operations: Some(chosen.iter().map(|(name, _)| name.clone()).collect()),
        by: Some(vec![Dimension::Kind, Dimension::Target]),
        step: Some(interval(step)),
        filters: scope.filters(),
    })?;
    let mut blocks = Vec::new();
    for chosen in chosen {
        let rows = rates.rows.iter().filter(|row| row.operation == chosen.0);
        let rows: Vec<_> = rows.collect();
        let statement = (step, rates.statement.as_str());
        blocks.extend(figure(scope, clock, &chosen, &rows, statement));
    }
    blocks.push(Block::Statements(vec![(
        "All operations".to_owned(),
        totals.statement,
    )]));
    Ok(blocks)
}

/// Returns what tells which operations are the largest: their times or, if no server reports times, their numbers.
fn names(scope: &Scope) -> Vec<String> {
    let requests = OPERATIONS
        .iter()
        .filter(|operation| operation.kind == Kind::Requests && operation.doubles.is_none());
    let names = requests.map(|operation| match scope.measure {
        "service_time" => format!("{}_time", operation.name),
        _ => operation.name.to_owned(),
    });
    names.collect()
}

/// Chooses bytes, and the operations with most work.
fn chosen(totals: &[TotalRow]) -> Vec<Chosen> {
    let known = totals
        .iter()
        .filter_map(|row| Some((row, number(row.total?))));
    let mut largest: Vec<_> = known.filter(|(_, total)| *total > 0.0).collect();
    largest.sort_by(|one, other| other.1.total_cmp(&one.1));
    let whole: f64 = largest.iter().map(|(_, total)| total).sum();
    let mut chosen = vec![
        ("read_bytes".to_owned(), None),
        ("write_bytes".to_owned(), None),
    ];
    let largest = largest.iter().filter(|(_, total)| *total >= LEAST * whole);
    chosen.extend(largest.take(SHOWN).map(|(row, total)| {
        let name = row.operation.trim_end_matches("_time").to_owned();
        (name, Some(total / whole))
    }));
    chosen
}

fn figure(
    scope: &Scope,
    clock: &Clock,
    (operation, share): &Chosen,
    rows: &[&RateRow],
    (step, statement): (i64, &str),
) -> Option<Block> {
    let lines = Lines::of(rows);
    if lines.drawn.is_empty() {
        return None;
    }
    let print = |rate: f64| Number::of(Some(rate), operation, Quantity::Rate).text();
    let name = match operation.as_str() {
        "read_bytes" => "Bytes read".to_owned(),
        "write_bytes" => "Bytes written".to_owned(),
        call => format!("Calls of {call}"),
    };
    let drawn = lines.drawn.iter().map(|series| shown(&series.name));
    let words = Words {
        title: format!("{name}, per second"),
        description: format!(
            "The targets with most of it: {}.",
            drawn.collect::<Vec<_>>().join(", ")
        ),
    };
    let axis = TimeAxis {
        window: scope.window,
        clock,
    };
    let mut said = Vec::new();
    if let Some(share) = share {
        let share = Number::percent(Some(*share)).text();
        let of = match scope.measure {
            "service_time" => "the time that servers spent on requests",
            _ => "all requests",
        };
        said.push(format!("{share} of {of}."));
    }
    said.push(lines.said(step));
    Some(Block::Figure(Box::new(Figure {
        heading: name,
        caption: said.join(" "),
        chart: Chart::new(|size| draw(&words, &axis, &lines.drawn, print, size)),
        table: table(operation, rows, clock),
        statements: vec![("All of these operations".to_owned(), statement.to_owned())],
    })))
}

fn table(operation: &str, rows: &[&RateRow], clock: &Clock) -> Table {
    let cells = rows.iter().map(|row| {
        let cells = vec![
            Cell::text(row.group.target.as_deref().unwrap_or_default()),
            Cell::text(&clock.minute(row.time)),
            cell(row.rate, operation, Quantity::Rate),
        ];
        (row.rate.unwrap_or(-1.0), cells)
    });
    let table = Table::new("steps, largest first", &["Target", "Step", "#Rate"]);
    table.largest(cells.collect())
}

/// A target with its rates.
struct Target {
    kind: String,
    series: Series,
}

impl Target {
    fn work(&self) -> f64 {
        let points = self.series.points.iter();
        points
            .filter_map(|point| Some(point.rate? * point.seconds))
            .sum()
    }
}

/// The lines of an operation.
struct Lines {
    /// The targets with most work, and the mean of the others of a kind as the last line.
    drawn: Vec<Series>,
    /// The name of the mean, if there is one.
    mean: Option<String>,
    /// True if there are targets of another kind that did any of it, and are not drawn.
    leaves_out: bool,
}

impl Lines {
    /// Returns the targets with most work as lines, and the mean of the others as the last one. A sum of them would be far
    /// above every single target, and hide how these differ. The mean is that of one kind: an MDT that holds small files
    /// reads too, and says nothing about OSTs.
    fn of(rows: &[&RateRow]) -> Self {
        let mut targets: Vec<_> = targets(rows);
        targets.sort_by(|one, other| other.work().total_cmp(&one.work()));
        let busy = targets
            .iter()
            .take_while(|target| target.work() > 0.0)
            .count();
        if busy <= LINES {
            targets.truncate(busy);
            return Self {
                drawn: targets.into_iter().map(|target| target.series).collect(),
                mean: None,
                leaves_out: false,
            };
        }
        let others = targets.split_off(LINES - 1);
        let kind = others
            .first()
            .map_or_else(String::new, |target| target.kind.clone());
        let leaves_out = others
            .iter()
            .any(|target| target.kind != kind && target.work() > 0.0);
        // A target that was idle is one of the others too.
        let is_known = |target: &&Target| {
            target
                .series
                .points
                .iter()
                .any(|point| point.rate.is_some())
        };
        let others = others
            .iter()
            .filter(|target| target.kind == kind)
            .filter(is_known);
        let others: Vec<_> = others.map(|target| &target.series).collect();
        let ending = if others.len() == 1 { "" } else { "s" };
        let name = format!("mean of {} other {kind}{ending}", others.len());
        let mut drawn: Vec<_> = targets.into_iter().map(|target| target.series).collect();
        drawn.push(mean(&others, name.clone()));
        Self {
            drawn,
            mean: Some(name),
            leaves_out,
        }
    }

    /// Says what is drawn.
    fn said(&self, step: i64) -> String {
        let step = when::width(step);
        let Some(mean) = &self.mean else {
            return format!("Rates in steps of {step}, of all targets that did any of it.");
        };
        let mut said =
            format!("Rates in steps of {step}, of the targets with most of it, and the {mean}.");
        if self.leaves_out {
            said.push_str(" Targets of another kind with less of it are only in the numbers.");
        }
        said
    }
}

/// Collects the rates of each target, in the order of time.
fn targets(rows: &[&RateRow]) -> Vec<Target> {
    let mut targets: BTreeMap<(&str, &str), Vec<Point>> = BTreeMap::new();
    for row in rows {
        let kind = row.group.kind.as_deref().unwrap_or_default();
        let name = row.group.target.as_deref().unwrap_or_default();
        targets.entry((kind, name)).or_default().push(Point {
            time: row.time,
            seconds: row.seconds,
            rate: row.rate,
        });
    }
    let targets = targets.into_iter().map(|((kind, name), mut points)| {
        points.sort_by_key(|point| point.time);
        Target {
            kind: kind.to_owned(),
            series: Series {
                name: name.to_owned(),
                points,
            },
        }
    });
    targets.collect()
}

/// Returns the mean of lines. A step that no target was observed in stays a gap.
fn mean(others: &[&Series], name: String) -> Series {
    let mut points: BTreeMap<_, (f64, f64, u32)> = BTreeMap::new();
    for point in others.iter().flat_map(|series| &series.points) {
        let sum = points.entry(point.time).or_insert((point.seconds, 0.0, 0));
        if let Some(rate) = point.rate {
            sum.1 += rate;
            sum.2 += 1;
        }
    }
    let points = points
        .into_iter()
        .map(|(time, (seconds, sum, count))| Point {
            time,
            seconds,
            rate: (count > 0).then(|| sum / f64::from(count)),
        });
    Series {
        name,
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jobstats_client::answers::Group;

    use super::*;

    #[test]
    fn the_mean_is_that_of_the_other_targets_of_one_kind() {
        let row = |kind: &str, number: usize, rate: f64| RateRow {
            time: Timestamp::UNIX_EPOCH,
            seconds: 600.0,
            group: Group {
                kind: Some(kind.to_owned()),
                target: Some(format!("scratch-{kind}{number:04x}")),
                ..Group::default()
            },
            operation: "read_bytes".to_owned(),
            rate: Some(rate),
            coverage: 1.0,
        };
        let mut rows: Vec<_> = (0..LINES - 1)
            .map(|number| row("OST", number, 100.0))
            .collect();
        rows.extend([
            row("OST", 10, 30.0),
            row("OST", 11, 0.0),
            row("MDT", 0, 1.0),
            row("MDT", 1, 0.0),
        ]);
        let lines = Lines::of(&rows.iter().collect::<Vec<_>>());
        let last = lines.drawn.last().unwrap();
        assert_eq!(
            (lines.drawn.len(), last.name.as_str()),
            (LINES, "mean of 2 other OSTs")
        );
        assert_eq!(last.points[0].rate, Some(15.0));
        assert_eq!(
            lines.said(600),
            "Rates in steps of 10 min, of the targets with most of it, and the mean of 2 other OSTs. Targets \
             of another kind with less of it are only in the numbers."
        );
        let few: Vec<_> = rows.iter().take(2).collect();
        let lines = Lines::of(&few);
        assert_eq!((lines.drawn.len(), lines.mean.as_deref()), (2, None));
    }
}
